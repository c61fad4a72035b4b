//! The same commands on a model: what a drive of that kind would have done with them, and what
//! they would have cost it.

use crate::request::BlockRequest;
use crate::source::event::RequestKind;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_judge::ablate::{self, COMMANDS_MAX, HostRelief, HostStream};
use ssdlab_load::trace::{Op, TraceEvent};
use ssdlab_ssd::Drive;

/// Times as long as on the model from which a drive does worse than its kind.
pub const WORSE: f64 = 1.5;

/// A cost of the model under these commands.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ModelledCost {
    /// The causes, in the words of `diagnose`.
    pub cause: String,
    /// Time per command that goes without it, ns.
    pub ns: f64,
}

/// What a model would have done with the commands that were watched.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ModelComparison {
    /// The modelled drive.
    pub drive: String,
    /// Commands that were replayed.
    pub commands: usize,
    /// Time per command as watched, ns.
    pub watched_ns: f64,
    /// Time per command on the model, overwritten until steady, ns.
    pub modelled_ns: f64,
    /// What costs the model most, the largest first.
    pub costs: Vec<ModelledCost>,
}

impl ModelComparison {
    /// Replays the last commands on `drive`, which has none outstanding. `None` without commands.
    pub fn new(drive: &Drive, events: &[TraceEvent]) -> Option<ModelComparison> {
        let events = &events[events.len().saturating_sub(COMMANDS_MAX)..];
        let first = events.iter().map(|event| event.issued_ns).min()?;
        let last = events.iter().filter_map(|event| event.done_ns).max()?;
        let stream = HostStream::new(events)?;
        let diagnosis = ablate::diagnose_stream(drive, &stream);
        let costs = diagnosis.free.iter().flat_map(|load| &load.shares);
        Some(ModelComparison {
            drive: diagnosis.drive.clone(),
            commands: stream.count(),
            watched_ns: (last - first) as f64 / stream.count() as f64,
            modelled_ns: stream.measure(drive.clone(), HostRelief::default()).ns,
            costs: costs
                .map(|share| ModelledCost {
                    cause: share
                        .causes
                        .iter()
                        .map(|cause| cause.name())
                        .collect::<Vec<_>>()
                        .join(" and "),
                    ns: share.ns,
                })
                .collect(),
        })
    }

    /// Times as long as on the model.
    pub fn factor(&self) -> f64 {
        self.watched_ns / self.modelled_ns.max(1.0)
    }

    /// Whether the drive does worse than its kind.
    pub fn is_worse(&self) -> bool {
        self.factor() >= WORSE
    }
}

/// The requests as commands of a trace, by time of issue.
pub fn trace_events<'a>(requests: impl Iterator<Item = &'a BlockRequest>) -> Vec<TraceEvent> {
    let mut events: Vec<TraceEvent> = requests
        .map(|request| {
            let op = match request.kind {
                RequestKind::Read => Op::Read,
                RequestKind::Write => Op::Write,
                RequestKind::Flush => Op::Flush,
                RequestKind::Discard => Op::Trim,
            };
            let mut event =
                TraceEvent::new(request.issued_ns, op, request.sector * 512, request.bytes);
            event.done_ns = Some(request.done_ns);
            event.fua = request.flags.fua;
            event
        })
        .collect();
    events.sort_by_key(|event| event.issued_ns);
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::request;
    use ssdlab_drives::catalogue;
    use ssdlab_drives::scaling::scaled;
    use ssdlab_judge::ablate::steady;

    /// Commits at the pace of a drive whose flush takes `flush` ns.
    fn commits(flush: u64) -> Vec<TraceEvent> {
        let requests: Vec<BlockRequest> = (0..200_u64)
            .flat_map(|i| {
                let begin = i * (flush + 100_000);
                let write = request("WS", 8 * i, 4096, begin, 0, 60_000);
                [write, request("FF", 0, 0, begin + 60_000, 0, flush)]
            })
            .collect();
        trace_events(requests.iter())
    }

    /// A drive as slow as its kind is not worse than it; one that takes ten times as long is. The
    /// null model, that every drive is like any other, would call both worse than a protected one.
    #[test]
    fn a_drive_is_held_against_its_kind() {
        let listed = catalogue::open("consumer-sata-1tb").expect("in the catalogue");
        let config = scaled(&listed.config, 1 << 30).expect("scaled").config;
        let drive = steady(&config, 1).expect("a drive");
        let slow = ModelComparison::new(&drive, &commits(200_000_000)).expect("commands");
        assert!(slow.is_worse(), "{slow:?}");
        let like = commits((2.0 * slow.modelled_ns) as u64);
        let like = ModelComparison::new(&drive, &like).expect("commands");
        assert!(!like.is_worse(), "{like:?}");
        assert_eq!(like.costs[0].cause, "volatile buffer", "{like:?}");
        assert!(ModelComparison::new(&drive, &[]).is_none());
    }
}
