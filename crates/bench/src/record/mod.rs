//! What happened: per second and per job, with full latency histograms.

#[cfg(test)]
pub(crate) mod testing;

use crate::device::{Counters, TargetFacts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::check::{SelfCheck, failures};
use ssdlab_base::latencies::{Latencies, latencies, merge_latencies};
use ssdlab_ssd::{Nanos, Op};

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
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize, PartialEq)]
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
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema, Deserialize, PartialEq)]
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
    /// 99.9th percentile. Not in `series.csv`; recovered from the histograms.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub p999_ns: u64,
    /// Longest.
    pub max_ns: u64,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// How a run ended.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum RunEnding {
    /// As planned.
    Complete,
    /// The user stopped it (Ctrl-C); the measurements up to then are valid.
    Interrupted,
    /// The target failed; the measurements up to then are valid.
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
    pub ending: RunEnding,
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
    /// Self-checks.
    pub checks: Vec<SelfCheck>,
    /// What the reader of the result should know of how it ran.
    pub notes: Vec<String>,
}

/// Device counters around a phase.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
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
    /// Counts one finished command.
    #[inline]
    pub fn record(&mut self, latency: Nanos, bytes: u32) {
        let ns = latency.0;
        self.count += 1;
        self.bytes += u64::from(bytes);
        self.latency_ns_sum += u128::from(ns);
        // One instruction converts a signed number, eight an unsigned one; 292 years are enough.
        let latency = ns.min(i64::MAX as u64) as i64 as f64;
        self.latency_ns_sum_squares += latency * latency;
        self.latency_ns_min = self.latency_ns_min.min(ns);
        self.latency_ns_max = self.latency_ns_max.max(ns);
        // Latencies below 1 ns or above 1 h are put into the outermost buckets; the exact sums,
        // minimum and maximum above are not affected.
        self.latencies.saturating_record(ns);
    }

    /// Adds everything `other` has counted.
    pub fn merge(&mut self, other: &OpStats) {
        self.errors += other.errors;
        if other.count == 0 {
            return;
        }
        self.count += other.count;
        self.bytes += other.bytes;
        self.latency_ns_sum += other.latency_ns_sum;
        self.latency_ns_sum_squares += other.latency_ns_sum_squares;
        self.latency_ns_min = self.latency_ns_min.min(other.latency_ns_min);
        self.latency_ns_max = self.latency_ns_max.max(other.latency_ns_max);
        merge_latencies(&mut self.latencies, &other.latencies);
    }

    /// Back to nothing, keeping the histogram's memory.
    pub fn clear(&mut self) {
        self.errors = 0;
        if self.count == 0 {
            return;
        }
        self.count = 0;
        self.bytes = 0;
        self.latency_ns_sum = 0;
        self.latency_ns_sum_squares = 0.0;
        self.latency_ns_min = u64::MAX;
        self.latency_ns_max = 0;
        self.latencies.reset();
    }

    /// Mean latency in ns; 0 when nothing completed.
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.latency_ns_sum as f64 / self.count as f64
        }
    }

    /// Standard deviation of latency in ns (of the sample, n - 1); 0 below two commands.
    pub fn stddev_ns(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let n = self.count as f64;
        let mean = self.mean_ns();
        let variance = (self.latency_ns_sum_squares - n * mean * mean) / (n - 1.0);
        variance.max(0.0).sqrt()
    }

    /// Latency in ns that the share `quantile` (0 to 1) of commands does not exceed, to within
    /// the histogram's 1 % and never beyond the exact extremes; 0 when nothing completed.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        if self.count == 0 {
            return 0;
        }
        self.latencies
            .value_at_quantile(quantile)
            .clamp(self.latency_ns_min, self.latency_ns_max)
    }
}

impl RunRecord {
    /// The self-checks that failed, as `name: what`; empty when the numbers can be believed.
    pub fn failed_checks(&self) -> Vec<String> {
        failures(&self.checks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(values: &[u64]) -> OpStats {
        let mut stats = OpStats::default();
        for &ns in values {
            stats.record(Nanos(ns), 512);
        }
        stats
    }

    #[test]
    fn merging_equals_recording_all() {
        let mut left = stats(&[10, 2_000, 300_000]);
        left.merge(&stats(&[5, 70_000_000]));
        let both = stats(&[10, 2_000, 300_000, 5, 70_000_000]);
        assert_eq!((left.count, left.bytes), (both.count, both.bytes));
        assert_eq!(left.latency_ns_sum, both.latency_ns_sum);
        assert_eq!((left.latency_ns_min, left.latency_ns_max), (5, 70_000_000));
        assert_eq!(left.latencies, both.latencies);
        assert!((left.stddev_ns() - both.stddev_ns()).abs() < 1e-3);
    }

    #[test]
    fn clearing_leaves_nothing() {
        let mut some = stats(&[10, 20]);
        some.errors = 3;
        some.clear();
        assert_eq!((some.count, some.errors, some.latencies.len()), (0, 0, 0));
        assert_eq!(
            (some.mean_ns(), some.stddev_ns(), some.quantile_ns(0.5)),
            (0.0, 0.0, 0)
        );
    }

    #[test]
    fn standard_deviation_is_the_samples() {
        assert!((stats(&[2, 4, 4, 4, 5, 5, 7, 9]).stddev_ns() - 2.138).abs() < 1e-3);
        assert_eq!(stats(&[7]).stddev_ns(), 0.0);
    }

    #[test]
    fn out_of_range_latencies_stay_in_the_exact_sums() {
        let long = stats(&[7_200_000_000_000]);
        assert_eq!(long.latency_ns_max, 7_200_000_000_000);
        assert_eq!(long.latencies.len(), 1);
        assert_eq!(stats(&[0]).quantile_ns(0.5), 0);
    }
}
