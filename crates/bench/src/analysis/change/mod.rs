//! The write cliff: where a series of rates drops for good.
//!
//! A fresh drive writes at the speed of its buffer or its SLC cache; when the free superblocks
//! run out, it falls to what reclaim allows. [`drop_for_good`] finds that moment:
//!
//! 1. The series is cut into at most 240 blocks of equal length and each is replaced by its
//!    median.
//! 2. The blocks get the best piecewise-constant fit in least absolute deviations
//!    (`segments.rs`), with segments of at least max(10 s, 5 % of the run) and a BIC-like penalty
//!    of 3 mean absolute deviations x ln(blocks) per segment. The noise is measured around a
//!    running median, so that a sawtooth counts as noise; it is taken to be at least 1 % of the
//!    level. Dips shorter than the shortest segment vanish here.
//! 3. Every boundary at which the level falls is a candidate. A short sloping stretch between
//!    two levels is part of the fall. The boundary is then placed to the second by the best
//!    two-level fit, which for a gradual fall is the crossing of the half-way level.
//! 4. A candidate is a cliff when the level drops by at least 5 %; by at least 2 robust standard
//!    deviations of the noise around both levels; two levels explain it better than one slope;
//!    at least two thirds of all seconds before it lie above the half-way level and two thirds of
//!    all seconds after it below; the run ends below the half-way level; and the change of level
//!    there is at least 3.5 times the upper quartile of what the level does elsewhere, both over
//!    windows of the shortest level's length (in a run too short to tell: at least 6 robust
//!    standard deviations instead of 2).
//! 5. Of several cliffs (a staircase), the one with the largest drop is returned.
//!
//! Not cliffs, by decision: a slow decline (a fall that takes more than roughly a third of the
//! stretch it divides), a dip that recovers, a square wave, anything within the first or last
//! max(10 s, 5 %) of the run, and a run that spends half its time at the old speed afterwards.
//!
//! Also missed: one step among more than four others like it.
//!
//! Rates over 1000 seeded series each, 20 to 1100 s long (tests.rs). On stationary noise of 0.5
//! to 30 %, a cliff is seen in 0 with normal, heavy-tailed (t2) or stalling noise, in 0 with
//! autocorrelation 0.7 and in 3 with autocorrelation 0.9. Of cliffs of 15 to 90 % that are at
//! least four standard deviations deep, missed: 0 normal, 1 heavy-tailed, 0 stalling, 7 and 21
//! autocorrelated. Of those found, 50 % are placed to the second, 95 % within 1 s, 99 % within
//! 2 s. A slow decline, dips, sawtooth and square waves with 0.2 to 10 % noise: 0 of 700.
//!
//! Sources: S. Jackson et al., "An algorithm for optimal partitioning of data on an interval"
//! (2005), for the dynamic program; Y.-C. Yao, "Estimating the number of change-points via
//! Schwarz' criterion" (1988), for the penalty; P. K. Sen (1968) for the robust slope.

mod segments;
#[cfg(test)]
mod tests;

use super::{WriteCliff, series, stats};
use crate::record::Second;
use ssdlab_ssd::Op;

/// Least length of a level, in seconds.
pub const LEVEL_LENGTH_MIN_S: usize = 10;
/// Least length of a level, as a divisor of the run's length: 5 %.
const LEVEL_LENGTH_DIVISOR: usize = 20;
/// Least drop, as a share of the level before.
pub const DROP_SHARE_MIN: f64 = 0.05;
/// Least drop over the noise.
pub const SIGNAL_TO_NOISE_MIN: f64 = 2.0;
/// The same where a run is too short to see what the level does elsewhere.
pub const SIGNAL_TO_NOISE_MIN_SHORT: f64 = 6.0;
/// Least contrast at the cliff over the upper quartile of the contrasts elsewhere.
const CONTRAST_MIN: f64 = 3.5;
/// Most blocks; bounds the quadratic part.
const BLOCKS_MAX: usize = 240;
/// Noise is taken to be at least this share of the level.
const NOISE_SHARE_MIN: f64 = 0.01;
/// Noise for [`LevelDrop::signal_to_noise`] is at least this share of the level before, so that a
/// noiseless series gives a finite number.
const NOISE_SHARE_FLOOR: f64 = 0.001;
/// Penalty per segment in mean absolute deviations, times ln(blocks).
const PENALTY: f64 = 3.0;
/// A step must leave at most this share of the residual that a slope leaves.
const STEP_OVER_SLOPE_MAX: f64 = 0.95;
/// Share of seconds that must lie on their side of the half-way level.
const SIDE_SHARE_MIN: f64 = 2.0 / 3.0;

/// A lasting drop in a plain series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelDrop {
    /// First index at the lower level.
    pub at: usize,
    /// Median of the level before.
    pub before: f64,
    /// Median of the level after.
    pub after: f64,
    /// Drop over the robust standard deviation around both levels; at most 1000.
    pub signal_to_noise: f64,
}

/// The write cliff of one phase: the largest lasting drop in IOPS of all kinds together over the
/// whole seconds of its counted part; in a mixed load the reads fall with the writes, and their
/// sum is what the published curves show. `at_s` counts from the start of the counted part,
/// `after_bytes` also has what the ramp wrote. `None` without such a drop, or when the run is
/// shorter than 20 s.
pub fn write_cliff(seconds: &[Second], phase: usize) -> Option<WriteCliff> {
    let rates = series::iops(seconds, phase, &Op::ALL);
    let found = drop_for_good(&rates)?;
    let at_s = series::whole_seconds(seconds, phase).nth(found.at)?.t_s;
    let before = |s: &&Second| s.phase == phase && s.t_s < at_s;
    let written = seconds
        .iter()
        .filter(before)
        .map(|s| s.ops[Op::Write as usize].bytes);
    Some(WriteCliff {
        at_s: at_s as f64,
        after_bytes: written.fold(0, u64::saturating_add),
        before: found.before,
        after: found.after,
        signal_to_noise: found.signal_to_noise,
    })
}

/// The largest lasting drop of `y`, one value per second; see the module's text for what counts.
/// `None` as well when a value is negative or not finite. O(n) beyond a constant of about 3 ms.
pub fn drop_for_good(y: &[f64]) -> Option<LevelDrop> {
    if y.len() < 2 * LEVEL_LENGTH_MIN_S || !y.iter().all(|v| v.is_finite() && *v >= 0.0) {
        return None;
    }
    let length_min = LEVEL_LENGTH_MIN_S.max(y.len().div_ceil(LEVEL_LENGTH_DIVISOR));
    let levels = LevelFit::fit(y, length_min);
    let candidates = (0..levels.starts.len()).flat_map(|first| levels.falls_after(first));
    candidates
        .filter_map(|stretch| assess(y, stretch, length_min))
        .max_by(|a, b| (a.before - a.after).total_cmp(&(b.before - b.after)))
}

/// A candidate: one level from `start` to `fall_start`, another from `fall_end` to `end`.
#[derive(Clone, Copy, Debug)]
struct DropCandidate {
    start: usize,
    fall_start: usize,
    fall_end: usize,
    end: usize,
}

/// The piecewise-constant fit, in seconds.
struct LevelFit<'a> {
    y: &'a [f64],
    length_min: usize,
    /// First second of each level, ascending from 0.
    starts: Vec<usize>,
}

impl LevelFit<'_> {
    fn fit(y: &[f64], length_min: usize) -> LevelFit<'_> {
        let block = y.len().div_ceil(BLOCKS_MAX);
        let blocks = block_medians(y, block);
        let window = length_min.div_ceil(block);
        let noise = mean_deviation(&blocks, window)
            .max(NOISE_SHARE_MIN * stats::median(&blocks))
            .max(f64::MIN_POSITIVE);
        let penalty = PENALTY * noise * (blocks.len() as f64).ln();
        let starts = segments::segments(&blocks, window, penalty);
        LevelFit {
            y,
            length_min,
            starts: starts.iter().map(|&start| start * block).collect(),
        }
    }

    fn end(&self, level: usize) -> usize {
        self.starts.get(level + 1).copied().unwrap_or(self.y.len())
    }

    fn values(&self, level: usize) -> &[f64] {
        &self.y[self.starts[level]..self.end(level)]
    }

    /// The falls that begin at the end of level `first`: to the next level, and across a next
    /// level that is itself a short slope to the one after that.
    fn falls_after(&self, first: usize) -> Vec<DropCandidate> {
        let median = |level: usize| stats::median(self.values(level));
        let stretch = |last: usize| DropCandidate {
            start: self.starts[first],
            fall_start: self.end(first),
            fall_end: self.starts[last],
            end: self.end(last),
        };
        let mut found = Vec::new();
        if first + 1 < self.starts.len() && median(first + 1) < median(first) {
            found.push(stretch(first + 1));
            let across = first + 2 < self.starts.len()
                && median(first + 2) < median(first + 1)
                && self.values(first + 1).len() < 2 * self.length_min
                && slopes(self.values(first + 1));
            if across {
                found.push(stretch(first + 2));
            }
        }
        found
    }
}

/// Medians of consecutive blocks; the remainder joins the last block.
fn block_medians(y: &[f64], block: usize) -> Vec<f64> {
    let count = y.len() / block;
    let end = |index: usize| {
        if index + 1 == count {
            y.len()
        } else {
            (index + 1) * block
        }
    };
    (0..count)
        .map(|index| stats::median(&y[index * block..end(index)]))
        .collect()
}

/// Mean absolute deviation of normal noise as wide as the residuals around a running median.
fn mean_deviation(y: &[f64], window: usize) -> f64 {
    let half = window.div_ceil(2);
    let residuals: Vec<f64> = (0..y.len())
        .map(|i| y[i] - stats::median(&y[i.saturating_sub(half)..(i + half + 1).min(y.len())]))
        .collect();
    let sigma = stats::SIGMA_PER_MAD * stats::mad(&residuals, 0.0);
    sigma * (2.0 / std::f64::consts::PI).sqrt()
}

/// Whether a slope describes `y` clearly better than one level does.
fn slopes(y: &[f64]) -> bool {
    let blocks = block_medians(y, y.len().div_ceil(BLOCKS_MAX).max(1));
    line_residual(&blocks) < 0.7 * level_residual(&blocks)
}

fn level_residual(y: &[f64]) -> f64 {
    let level = stats::median(y);
    y.iter().map(|v| (v - level).abs()).sum()
}

fn line_residual(y: &[f64]) -> f64 {
    let (intercept, slope) = stats::robust_line(y);
    let at = |x: usize| intercept + slope * x as f64;
    y.iter().enumerate().map(|(x, v)| (v - at(x)).abs()).sum()
}

/// Places the boundary of a candidate and holds it against every condition.
fn assess(y: &[f64], stretch: DropCandidate, length_min: usize) -> Option<LevelDrop> {
    let DropCandidate {
        start,
        fall_start,
        fall_end,
        end,
    } = stretch;
    let mut before = stats::median(&y[start..fall_start]);
    let mut after = stats::median(&y[fall_end..end]);
    let mut at = fall_start;
    // Levels fix the boundary and the boundary fixes the levels: two rounds settle both.
    for _ in 0..2 {
        at = start + two_level_split(&y[start..end], before, after)?;
        before = stats::median(&y[start..at.min(fall_start)]);
        after = stats::median(&y[at.max(fall_end)..end]);
    }
    let drop = before - after;
    let signal_to_noise = drop / noise(&y[start..at], before, &y[at..end], after);
    let cliff = drop >= DROP_SHARE_MIN * before
        && signal_to_noise >= SIGNAL_TO_NOISE_MIN
        && persists(y, at, (before + after) / 2.0, length_min)
        && stands_out(y, at, length_min, signal_to_noise)
        && is_step(&y[start..end], at - start);
    cliff.then_some(LevelDrop {
        at,
        before,
        after,
        signal_to_noise,
    })
}

/// Where to change from `before` to `after` for the least sum of absolute deviations; `None`
/// when one of the two levels would get nothing.
fn two_level_split(y: &[f64], before: f64, after: f64) -> Option<usize> {
    let mut gain = 0.0;
    let mut best = (0.0, 0);
    for (index, v) in y.iter().enumerate() {
        gain += (v - after).abs() - (v - before).abs();
        if gain > best.0 {
            best = (gain, index + 1);
        }
    }
    (best.1 > 0 && best.1 < y.len()).then_some(best.1)
}

fn noise(left: &[f64], before: f64, right: &[f64], after: f64) -> f64 {
    let residuals: Vec<f64> = left
        .iter()
        .map(|v| v - before)
        .chain(right.iter().map(|v| v - after))
        .collect();
    let sigma = stats::SIGMA_PER_MAD * stats::mad(&residuals, 0.0);
    sigma.max(NOISE_SHARE_FLOOR * before).max(f64::MIN_POSITIVE)
}

/// Above before, below after, and still below at the end.
fn persists(y: &[f64], position: usize, half_way: f64, length_min: usize) -> bool {
    let (left, right) = y.split_at(position);
    let above = left.iter().filter(|v| **v > half_way).count();
    let below = right.iter().filter(|v| **v < half_way).count();
    let share = |part: usize, whole: &[f64]| part as f64 >= SIDE_SHARE_MIN * whole.len() as f64;
    left.len() >= length_min
        && right.len() >= length_min
        && share(above, left)
        && share(below, right)
        && stats::median(&y[y.len() - length_min..]) < half_way
}

/// Whether the change of level at `position` is large against the changes elsewhere: wander,
/// drift and sawtooth raise the bar.
fn stands_out(y: &[f64], position: usize, window: usize, signal_to_noise: f64) -> bool {
    let contrast = |t: usize| stats::median(&y[t - window..t]) - stats::median(&y[t..t + window]);
    let elsewhere: Vec<f64> = (window..=y.len() - window)
        .step_by(window.div_ceil(5))
        .filter(|t| t.abs_diff(position) >= window)
        .map(|t| contrast(t).abs())
        .collect();
    if elsewhere.len() < 2 * 5 {
        return signal_to_noise >= SIGNAL_TO_NOISE_MIN_SHORT;
    }
    contrast(position) >= CONTRAST_MIN * stats::quantile(&elsewhere, 0.75)
}

/// Whether two levels around `position` describe `y` better than one slope does.
fn is_step(y: &[f64], position: usize) -> bool {
    let block = y.len().div_ceil(BLOCKS_MAX);
    let (left, right) = y.split_at(position);
    if left.len() < block || right.len() < block {
        return false;
    }
    let (left, right) = (block_medians(left, block), block_medians(right, block));
    let step = level_residual(&left) + level_residual(&right);
    step <= STEP_OVER_SLOPE_MAX * line_residual(&[left, right].concat())
}
