//! From recorded seconds to plain numbers: one rate per whole second of a phase's counted part.

use crate::record::Second;
use ssdlab_ssd::Op;

/// Seconds shorter than this are cut off, not slow.
const LENGTH_WHOLE_S: f64 = 0.999;

/// The seconds of `phase` that were counted and are whole, in order of time.
pub fn whole_seconds(seconds: &[Second], phase: usize) -> impl Iterator<Item = &Second> {
    seconds
        .iter()
        .filter(move |s| s.phase == phase && s.t_s >= 0 && s.length_s >= LENGTH_WHOLE_S)
}

/// Commands of the given kinds per second, for every whole second of `phase`.
pub fn iops(seconds: &[Second], phase: usize, ops: &[Op]) -> Vec<f64> {
    rates(seconds, phase, ops, |count, _| count)
}

/// Bytes per second of the given kinds, for every whole second of `phase`.
pub fn bytes_per_second(seconds: &[Second], phase: usize, ops: &[Op]) -> Vec<f64> {
    rates(seconds, phase, ops, |_, bytes| bytes)
}

fn rates(seconds: &[Second], phase: usize, ops: &[Op], pick: impl Fn(u64, u64) -> u64) -> Vec<f64> {
    whole_seconds(seconds, phase)
        .map(|s| {
            let picked = ops.iter().map(|&op| s.ops[op as usize]);
            let total: f64 = picked.map(|o| pick(o.count, o.bytes) as f64).sum();
            total / s.length_s
        })
        .collect()
}
