//! Latency figures from recorded totals.

use super::stats;
use crate::record::OpStats;

/// The percentiles fio prints, in per cent; the ones kept in results.
pub const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Latency that `percent` of the commands do not exceed, in ns: the upper edge of its histogram
/// bucket (at most 1 % too long), never beyond the exact shortest and longest. 0 when there are
/// none.
pub fn percentile_ns(stats: &OpStats, percent: f64) -> u64 {
    if stats.count == 0 {
        return 0;
    }
    let edge = stats
        .latencies
        .value_at_quantile((percent / 100.0).clamp(0.0, 1.0));
    edge.min(stats.latency_ns_max).max(stats.latency_ns_min)
}

/// Shortest latency in ns; 0 when there are none.
pub fn shortest_ns(stats: &OpStats) -> u64 {
    if stats.count == 0 {
        0
    } else {
        stats.latency_ns_min
    }
}

/// Sample standard deviation of the latency in ns; 0 below two commands.
pub fn standard_deviation_ns(stats: &OpStats) -> f64 {
    let sum = stats.latency_ns_sum as f64;
    stats::standard_deviation_of_sums(stats.count, sum, stats.latency_ns_sum_squares)
}

/// All of `parts` together.
pub fn merged<'a>(parts: impl IntoIterator<Item = &'a OpStats>) -> OpStats {
    let mut sum = OpStats::default();
    for part in parts {
        sum.merge(part);
    }
    sum
}
