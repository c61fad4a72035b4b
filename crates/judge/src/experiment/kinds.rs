//! The experiments: what each is, and what it needs.

use schemars::JsonSchema;
use serde::Serialize;

/// Bytes written in order after a rest, first into the write buffer and then, measured, into a
/// pSLC cache, if there is any: less than such a cache has.
pub const AFTER_IDLE: u64 = 256 << 20;
/// The region that this needs.
const IDLE_REGION: u64 = 16 * AFTER_IDLE;

/// Something that is tried on the target; the cheapest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentKind {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentRefusal {
    /// It would write this many bytes, which is more than allowed.
    Writes(u64),
    /// It needs a region of this many bytes.
    Region(u64),
}

impl ExperimentKind {
    /// Why it cannot be carried out on a region of `region` bytes; `None`: it can.
    pub fn refused(self, region: u64, writes_max: u64) -> Option<ExperimentRefusal> {
        let rewritten = region / 4 * 5;
        match self {
            ExperimentKind::Rewrite if rewritten > writes_max => {
                Some(ExperimentRefusal::Writes(rewritten))
            }
            ExperimentKind::Idle if region < IDLE_REGION => {
                Some(ExperimentRefusal::Region(IDLE_REGION))
            }
            _ => None,
        }
    }

    /// As the subject of a sentence.
    pub fn name(self) -> &'static str {
        match self {
            ExperimentKind::Reads => "random reads alone",
            ExperimentKind::Singles => "single writes with pauses, 4 and 128 KiB",
            ExperimentKind::Bursts => "short bursts of writes",
            ExperimentKind::Durable => "single durable writes with pauses",
            ExperimentKind::Near => "random reads within 2 MiB",
            ExperimentKind::ReadBack => "reads of what was just written",
            ExperimentKind::LargeReads => "single random reads of 128 KiB",
            ExperimentKind::Overwrite => "random writes, 32 at a time",
            ExperimentKind::Beside => "single reads beside random writes",
            ExperimentKind::Rewrite => "everything rewritten in order",
            ExperimentKind::Idle => "half a minute's rest, then writes in order",
        }
    }
}
