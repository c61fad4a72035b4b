//! The experiments: what each is, and what it needs.

use serde::Serialize;

/// Bytes written in order after a rest, first into the write buffer and then, measured, into a
/// pSLC cache, if there is any: less than such a cache has.
pub const AFTER_IDLE: u64 = 256 << 20;
/// The region that this needs.
const IDLE_REGION: u64 = 16 * AFTER_IDLE;

/// Something that is tried on the target; the cheapest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Experiment {
    /// Random reads alone, one at a time and 32 at a time.
    Reads,
    /// Plain writes with pauses, small and large: what the way to the drive costs.
    Singles,
    /// Bursts that the write buffer takes.
    Bursts,
    /// Durable writes with pauses.
    Durable,
    /// The same random reads within a few MiB.
    Near,
    /// Reads of what was just written, which is still in the write buffer.
    ReadBack,
    /// Large random reads, one at a time.
    LargeReads,
    /// Random writes, 32 at a time.
    Overwrite,
    /// Single reads beside random writes.
    Beside,
    /// Leave it idle, then write in order.
    Idle,
    /// In order, from front to back.
    Rewrite,
}

/// Why an experiment was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    /// It would write this many bytes, which is more than allowed.
    Writes(u64),
    /// It needs a region of this many bytes.
    Region(u64),
}

impl Experiment {
    /// Why it cannot be carried out on a region of `region` bytes; `None`: it can.
    pub fn refused(self, region: u64, writes_max: u64) -> Option<Refused> {
        let rewritten = region / 4 * 5;
        match self {
            Experiment::Rewrite if rewritten > writes_max => Some(Refused::Writes(rewritten)),
            Experiment::Idle if region < IDLE_REGION => Some(Refused::Region(IDLE_REGION)),
            _ => None,
        }
    }

    /// As the subject of a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::Reads => "random reads alone",
            Experiment::Singles => "single writes with pauses, 4 and 128 KiB",
            Experiment::Bursts => "short bursts of writes",
            Experiment::Durable => "single durable writes with pauses",
            Experiment::Near => "random reads within 2 MiB",
            Experiment::ReadBack => "reads of what was just written",
            Experiment::LargeReads => "single random reads of 128 KiB",
            Experiment::Overwrite => "random writes, 32 at a time",
            Experiment::Beside => "single reads beside random writes",
            Experiment::Rewrite => "everything rewritten in order",
            Experiment::Idle => "half a minute's rest, then writes in order",
        }
    }
}
