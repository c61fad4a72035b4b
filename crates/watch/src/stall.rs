//! Requests that took long, each with what most likely held it up.

use crate::cause::LiveCause;
use crate::request::BlockRequest;
use crate::source::event::RequestKind;
use schemars::JsonSchema;
use serde::Serialize;

/// A request that takes so long is a stall, ns.
pub const STALL_NS: u64 = 100_000_000;

/// A request that took long.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Stall {
    /// When it was handed over, s from the beginning.
    pub at_s: f64,
    /// What it was.
    pub kind: String,
    /// Its bytes.
    pub bytes: u64,
    /// Time in the host, ns.
    pub queue_ns: u64,
    /// Time in the device, ns.
    pub device_ns: u64,
    /// Who asked.
    pub process: String,
    /// What was in the device with it, in words.
    pub beside: String,
    /// What held it up, judged by this one request; `None` where nothing that it met explains it.
    pub cause: Option<LiveCause>,
}

impl Stall {
    /// Of a request; `None` when it is none: nobody waited, or not for long.
    pub fn of(request: &BlockRequest, begun_ns: u64) -> Option<Stall> {
        is_stall(request).then(|| Stall {
            at_s: request.queued_ns.saturating_sub(begun_ns) as f64 / 1e9,
            kind: request.kind.one().to_owned(),
            bytes: request.bytes,
            queue_ns: request.queue_ns(),
            device_ns: request.device_ns(),
            process: request.origin.name.to_string(),
            beside: beside(request),
            cause: stall_cause(request),
        })
    }

    /// All of its time, ns.
    pub fn total_ns(&self) -> u64 {
        self.queue_ns + self.device_ns
    }

    /// What held it up, for tables.
    pub fn cause_name(&self) -> &'static str {
        self.cause.map_or(UNEXPLAINED, LiveCause::name)
    }
}

/// Where nothing that a request met explains its time.
pub const UNEXPLAINED: &str = "unexplained";

/// Causes that one request can show.
pub const STALL_CAUSES: [LiveCause; 5] = [
    LiveCause::HostQueue,
    LiveCause::Discards,
    LiveCause::VolatileBuffer,
    LiveCause::ReadsBehindWrites,
    LiveCause::SlowMedia,
];

/// Whether somebody waited for it, and long.
pub fn is_stall(request: &BlockRequest) -> bool {
    request.is_awaited() && request.total_ns() >= STALL_NS
}

/// What held one request up: where it spent most of its time, and what was in the drive with it.
/// A write among writes is `None`: reclaim, a full pSLC cache and heat look alike in one request.
pub fn stall_cause(request: &BlockRequest) -> Option<LiveCause> {
    if request.queue_ns() > request.device_ns() {
        return Some(LiveCause::HostQueue);
    }
    if request.was_beside(RequestKind::Discard) {
        return Some(LiveCause::Discards);
    }
    let is_beside_writes =
        request.was_beside(RequestKind::Write) || request.was_beside(RequestKind::Flush);
    match request.kind {
        RequestKind::Flush => Some(LiveCause::VolatileBuffer),
        RequestKind::Read if is_beside_writes => Some(LiveCause::ReadsBehindWrites),
        RequestKind::Read => Some(LiveCause::SlowMedia),
        RequestKind::Write if request.was_beside(RequestKind::Flush) => {
            Some(LiveCause::VolatileBuffer)
        }
        RequestKind::Write | RequestKind::Discard => None,
    }
}

fn beside(request: &BlockRequest) -> String {
    let parts: Vec<String> = RequestKind::ALL
        .into_iter()
        .filter(|kind| request.was_beside(*kind))
        .map(|kind| {
            let count = request.beside.count(kind).max(request.joined.count(kind));
            format!("{count} {}", kind.name())
        })
        .collect();
    if parts.is_empty() {
        return "nothing".to_owned();
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::request;
    use crate::request::InFlight;

    const LONG: u64 = 2 * STALL_NS;

    fn beside_one(rwbs: &str, kind: RequestKind) -> BlockRequest {
        let mut request = request(rwbs, 8, 4096, 0, 0, LONG);
        let mut counts = [0; RequestKind::ALL.len()];
        counts[kind as usize] = 1;
        request.joined = InFlight::new(counts);
        request
    }

    #[test]
    fn a_stall_is_laid_to_what_it_met() {
        let cause = |request: &BlockRequest| {
            let cause = stall_cause(request);
            assert!(cause.is_none_or(|cause| STALL_CAUSES.contains(&cause)));
            cause
        };
        let queued = request("R", 8, 4096, 0, LONG, 1000);
        assert_eq!(cause(&queued), Some(LiveCause::HostQueue));
        let discarded = beside_one("FF", RequestKind::Discard);
        assert_eq!(cause(&discarded), Some(LiveCause::Discards));
        let behind = beside_one("R", RequestKind::Write);
        assert_eq!(cause(&behind), Some(LiveCause::ReadsBehindWrites));
        let beside_read = beside_one("R", RequestKind::Read);
        assert_eq!(cause(&beside_read), Some(LiveCause::SlowMedia));
        let flush = request("FF", 0, 0, 0, 0, LONG);
        assert_eq!(cause(&flush), Some(LiveCause::VolatileBuffer));
        let behind_flush = beside_one("WS", RequestKind::Flush);
        assert_eq!(cause(&behind_flush), Some(LiveCause::VolatileBuffer));
        assert_eq!(cause(&beside_one("WS", RequestKind::Write)), None);
    }

    #[test]
    fn what_nobody_waits_for_is_no_stall() {
        assert!(Stall::of(&request("WS", 8, 4096, 0, 0, LONG), 0).is_some());
        assert!(Stall::of(&request("W", 8, 4096, 0, 0, LONG), 0).is_none());
        assert!(Stall::of(&request("WS", 8, 4096, 0, 0, STALL_NS - 1), 0).is_none());
    }
}
