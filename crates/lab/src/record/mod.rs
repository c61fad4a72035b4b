//! What happened: per second and per job, with full latency histograms.

pub mod run_dir;
#[cfg(test)]
pub(crate) mod testing;

use crate::target::{Counters, TargetFacts};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use ssdlab_ssd::{Nanos, Op};

/// Latency in nanoseconds, 1 ns to 1 h, two significant digits (0.4 % wide buckets at worst 1 %).
pub type Latencies = Histogram<u64>;

/// A new, empty latency histogram.
///
/// # Panics
/// Never: the bounds are constants within the crate's limits.
pub fn latencies() -> Latencies {
    Histogram::new_with_bounds(1, 3_600_000_000_000, 2).expect("constant bounds are valid")
}

/// Counts, bytes and latencies of one kind of command over some span.
#[derive(Clone)]
pub struct OpStats {
    /// Commands completed.
    pub count: u64,
    /// Bytes completed.
    pub bytes: u64,
    /// Commands that failed.
    pub errors: u64,
    /// Sum of latencies, ns (exact, for the mean and Little's law).
    pub latency_ns_sum: u128,
    /// Sum of squared latencies, ns^2 (for the standard deviation).
    pub latency_ns_sum_squares: f64,
    /// Shortest, ns; `u64::MAX` when none.
    pub latency_ns_min: u64,
    /// Longest, ns.
    pub latency_ns_max: u64,
    /// Every latency.
    pub latencies: Latencies,
}

/// One second of a run, all jobs together. This is also a row of `series.csv`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Second {
    /// Phase number, from 0.
    pub phase: usize,
    /// Start of the second since the phase's counted part began (ramp has negative numbers).
    pub t_s: i64,
    /// Length: 1 s, or less for the last.
    pub length_s: f64,
    /// Per kind of command, in `Op` order.
    pub ops: [OpSecond; Op::COUNT],
    /// Bytes programmed into NAND in this second, when the target can tell.
    pub nand_bytes_written: Option<u64>,
    /// Flush commands that reached the device in this second, when it can tell.
    pub device_flushes: Option<u64>,
}

/// One kind of command in one second. Latencies in ns; 0 when `count` is 0.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct OpSecond {
    /// Completed.
    pub count: u64,
    /// Bytes completed.
    pub bytes: u64,
    /// Mean latency.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Longest.
    pub max_ns: u64,
}

/// How a run ended.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// As planned.
    Complete,
    /// The user stopped it (Ctrl-C); what was measured stands.
    Interrupted,
    /// The target failed; what was measured until then stands.
    Failed(String),
}

/// Totals of one job over its counted part.
#[derive(Clone)]
pub struct JobRecord {
    /// Phase number, from 0.
    pub phase: usize,
    /// Position of the job within its phase.
    pub job: usize,
    /// When counting began, on the target's clock.
    pub start: Nanos,
    /// Length of the counted part.
    pub length: Nanos,
    /// Totals per kind of command, in `Op` order.
    pub ops: [OpStats; Op::COUNT],
    /// Each second's IOPS of this job per kind, for fio's `iops_min`, `iops_stddev` and so on.
    pub iops_samples: [Vec<f64>; Op::COUNT],
}

/// Everything a run measured.
#[derive(Clone)]
pub struct RunRecord {
    /// On what.
    pub facts: TargetFacts,
    /// How it ended.
    pub ending: Ending,
    /// Per job, in plan order.
    pub jobs: Vec<JobRecord>,
    /// Per second, in order of time.
    pub seconds: Vec<Second>,
    /// What reached the device from the first to the last counted command of each phase.
    pub counters: Vec<PhaseCounters>,
    /// CPU time of this process while it ran: user and system, ns.
    pub cpu_ns: (u64, u64),
    /// Wall time of the run, ns (differs from the target's clock in virtual time).
    pub wall_ns: u64,
    /// Self-checks: name and outcome, `None` = passed.
    pub checks: Vec<(String, Option<String>)>,
}

/// Device counters around a phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseCounters {
    /// At the start of the counted part.
    pub before: Counters,
    /// At its end.
    pub after: Counters,
}

impl Default for OpStats {
    fn default() -> OpStats {
        OpStats {
            count: 0,
            bytes: 0,
            errors: 0,
            latency_ns_sum: 0,
            latency_ns_sum_squares: 0.0,
            latency_ns_min: u64::MAX,
            latency_ns_max: 0,
            latencies: latencies(),
        }
    }
}

impl OpStats {
    /// Mean latency in ns; 0 when nothing completed.
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.latency_ns_sum as f64 / self.count as f64
        }
    }
}
