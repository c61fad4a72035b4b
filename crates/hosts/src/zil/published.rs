//! The access pattern that article zil published: the two histograms of `seeksize`.

use std::collections::{BTreeMap, BTreeSet};

/// `zil.seek.five`: lower bound of each bucket in sectors, and its count.
pub const SEEKS_FIVE: [(i64, u64); 27] = [
    (-65536, 12),
    (-32768, 9094),
    (-16384, 4162),
    (-8192, 2328),
    (-4096, 1210),
    (-2048, 824),
    (-1024, 695),
    (-512, 730),
    (-256, 2076),
    (-128, 3498),
    (-64, 3548),
    (-32, 6635),
    (-16, 12743),
    (0, 158_590),
    (8, 18452),
    (16, 10456),
    (32, 5298),
    (64, 3767),
    (128, 3641),
    (256, 2121),
    (512, 952),
    (1024, 743),
    (2048, 852),
    (4096, 1178),
    (8192, 2258),
    (16384, 4132),
    (32768, 9035),
];

/// `zil.seek.one`, the same.
pub const SEEKS_ONE: [(i64, u64); 14] = [
    (-16384, 35),
    (-8192, 234),
    (-2048, 70),
    (-1024, 35),
    (-256, 3),
    (0, 56701),
    (8, 9),
    (16, 11),
    (32, 5),
    (64, 4),
    (128, 14),
    (1024, 35),
    (8192, 218),
    (16384, 1),
];

/// Half the sum of the differences of two histograms' shares: 0 when they are alike, 1 when they
/// have no bucket in common.
pub fn total_variation(ours: &[(i64, u64)], published: &[(i64, u64)]) -> f64 {
    let ours: BTreeMap<i64, u64> = ours.iter().copied().collect();
    let published: BTreeMap<i64, u64> = published.iter().copied().collect();
    let sum = |h: &BTreeMap<i64, u64>| h.values().sum::<u64>() as f64;
    let share = |h: &BTreeMap<i64, u64>, bucket: &i64| *h.get(bucket).unwrap_or(&0) as f64 / sum(h);
    let buckets: BTreeSet<i64> = ours.keys().chain(published.keys()).copied().collect();
    let apart = |bucket: &i64| (share(&ours, bucket) - share(&published, bucket)).abs();
    buckets.iter().map(apart).sum::<f64>() / 2.0
}
