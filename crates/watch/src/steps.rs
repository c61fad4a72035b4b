//! Seconds of a watch, and changes of rate between them.

use crate::request::BlockRequest;
use crate::source::event::RequestKind;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_view::units;

/// Requests of one kind that were done in one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct KindSecond {
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their time in the device, ns.
    pub device_ns: u64,
    /// The longest total time, ns.
    pub max_ns: u64,
}

/// One second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct WatchedSecond {
    /// Reads.
    pub reads: KindSecond,
    /// Writes.
    pub writes: KindSecond,
    /// Flushes.
    pub flushes: KindSecond,
    /// Discards.
    pub discards: KindSecond,
}

impl WatchedSecond {
    /// Requests of all kinds.
    pub fn count(&self) -> u64 {
        self.reads.count + self.writes.count + self.flushes.count + self.discards.count
    }

    /// Counts a request.
    pub fn add(&mut self, request: &BlockRequest) {
        let kind = match request.kind {
            RequestKind::Read => &mut self.reads,
            RequestKind::Write => &mut self.writes,
            RequestKind::Flush => &mut self.flushes,
            RequestKind::Discard => &mut self.discards,
        };
        kind.count += 1;
        kind.bytes += request.bytes;
        kind.device_ns += request.device_ns();
        kind.max_ns = kind.max_ns.max(request.total_ns());
    }
}

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Writes alone.
    Writes,
    /// Reads, where nothing is written.
    Reads,
    /// Reads and writes alike.
    All,
}

/// A fall of rate at the same depth.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RateStep {
    /// What fell.
    pub kind: StepKind,
    /// Second at which it fell.
    pub second: usize,
    /// Bytes per second before.
    pub before: f64,
    /// Bytes per second since.
    pub since: f64,
}

impl RateStep {
    /// How many times as fast it was before.
    pub fn factor(&self) -> f64 {
        self.before / self.since.max(1.0)
    }

    /// With its numbers.
    pub fn sentence(&self) -> String {
        let kind = match self.kind {
            StepKind::Writes => "writes",
            StepKind::Reads => "reads",
            StepKind::All => "reads and writes",
        };
        format!(
            "{kind} fell from {} to {} after {}, with as many under way",
            units::throughput(self.before),
            units::throughput(self.since),
            units::plural(self.second as u64, "second")
        )
    }
}

/// Seconds on each side of a step, at least.
const SIDE: usize = 3;
/// A step falls to this share, at most.
const FALL: f64 = 0.6;
/// And the depth stays above this share of what it was.
const DEPTH_KEPT: f64 = 0.6;

/// Each second after a step is below this share of the mean before it.
const FALL_EACH: f64 = 0.8;

struct SideMean {
    bytes: f64,
    bytes_max: f64,
    depth: f64,
}

fn side(seconds: &[WatchedSecond], kind: impl Fn(&WatchedSecond) -> KindSecond) -> SideMean {
    let count = seconds.len().max(1) as f64;
    SideMean {
        bytes: seconds
            .iter()
            .map(|second| kind(second).bytes as f64)
            .sum::<f64>()
            / count,
        bytes_max: seconds
            .iter()
            .map(|second| kind(second).bytes as f64)
            .fold(0.0, f64::max),
        depth: seconds
            .iter()
            .map(|second| kind(second).device_ns as f64)
            .sum::<f64>()
            / count
            / 1e9,
    }
}

/// The deepest fall of writes, of reads and writes alike, or of reads where nothing is written.
pub fn find_step(seconds: &[WatchedSecond]) -> Option<RateStep> {
    let nothing_is_written = seconds.iter().all(|second| second.writes.count == 0);
    let places = SIDE..seconds.len().checked_sub(SIDE - 1)?;
    let falls = places.filter_map(|place| {
        let (before, since) = seconds.split_at(place);
        let fell = |kind: fn(&WatchedSecond) -> KindSecond| {
            let (before, since) = (side(before, kind), side(since, kind));
            let is_loaded = before.bytes > 0.0 && since.depth >= DEPTH_KEPT * before.depth;
            let fell =
                since.bytes <= FALL * before.bytes && since.bytes_max <= FALL_EACH * before.bytes;
            (is_loaded && fell).then_some((before.bytes, since.bytes))
        };
        let writes = fell(|second| second.writes);
        let reads = fell(|second| second.reads);
        let (kind, (before, since)) = match (writes, reads) {
            (Some(writes), Some(_)) => (StepKind::All, writes),
            (Some(writes), None) => (StepKind::Writes, writes),
            (None, Some(reads)) if nothing_is_written => (StepKind::Reads, reads),
            (None, _) => return None,
        };
        Some(RateStep {
            kind,
            second: place,
            before,
            since,
        })
    });
    falls.max_by(|a, b| (a.before - a.since).total_cmp(&(b.before - b.since)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(writes: u64, reads: u64, depth: f64) -> WatchedSecond {
        let kind = |bytes| KindSecond {
            count: bytes >> 12,
            bytes,
            device_ns: (depth * 1e9) as u64,
            max_ns: 0,
        };
        WatchedSecond {
            writes: kind(writes),
            reads: kind(reads),
            ..WatchedSecond::default()
        }
    }

    #[test]
    fn a_cliff_of_writes_is_found_where_it_is() {
        let mut seconds = vec![second(500 << 20, 1 << 20, 4.0); 6];
        seconds.extend([second(90 << 20, 1 << 20, 4.0); 5]);
        let step = find_step(&seconds).expect("a step");
        assert_eq!((step.kind, step.second), (StepKind::Writes, 6));
        assert!((step.factor() - 5.56).abs() < 0.1, "{}", step.factor());
    }

    #[test]
    fn reads_that_fall_too_are_told_apart() {
        let mut seconds = vec![second(80 << 20, 80 << 20, 4.0); 5];
        seconds.extend([second(20 << 20, 20 << 20, 4.0); 5]);
        assert_eq!(
            find_step(&seconds).map(|step| step.kind),
            Some(StepKind::All)
        );
    }

    #[test]
    fn a_host_that_asks_for_less_is_no_step() {
        let mut seconds = vec![second(500 << 20, 0, 4.0); 6];
        seconds.extend([second(90 << 20, 0, 0.5); 5]);
        assert_eq!(find_step(&seconds), None);
        assert_eq!(find_step(&seconds[..4]), None, "too short");
    }
}
