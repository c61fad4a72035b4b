//! Acknowledged bytes over time, at a bounded number of points, and where their rate drops.

use serde::{Deserialize, Serialize};
use ssdlab_ssd::Nanos;

/// Points of a series; with more, two become one.
const POINTS_MAX: usize = 1 << 16;

/// When each further `grid` bytes had been acknowledged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AckSeries {
    /// Bytes between two points.
    pub grid: u64,
    /// Seconds from the start, one for each further `grid` bytes.
    pub at: Vec<f64>,
    #[serde(skip)]
    acked: u64,
    #[serde(skip)]
    began: Option<Nanos>,
}

/// A place at which the rate drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateDrop {
    /// Bytes acknowledged before it.
    pub at: f64,
    /// Rate before, B/s.
    pub before: f64,
    /// Rate after, B/s.
    pub after: f64,
}

impl AckSeries {
    /// A series that begins at `began`.
    pub fn new(grid: u64, began: Nanos) -> AckSeries {
        AckSeries {
            grid,
            began: Some(began),
            ..AckSeries::default()
        }
    }

    /// `bytes` more were acknowledged at `time`.
    pub fn acked(&mut self, bytes: u32, time: Nanos) {
        self.acked += u64::from(bytes);
        let seconds = time
            .saturating_sub(self.began.unwrap_or_default())
            .as_secs_f64();
        while self.acked / self.grid > self.at.len() as u64 {
            self.at.push(seconds);
        }
        if self.at.len() >= POINTS_MAX {
            self.at = self.at.iter().skip(1).step_by(2).copied().collect();
            self.grid *= 2;
        }
    }

    /// Seconds until `points` points; 0 at the start.
    fn time(&self, points: usize) -> f64 {
        points.checked_sub(1).map_or(0.0, |last| self.at[last])
    }

    /// Rate between two points, B/s.
    pub fn rate(&self, from: usize, to: usize) -> f64 {
        let time = self.time(to) - self.time(from);
        ((to - from) as u64 * self.grid) as f64 / time.max(1e-9)
    }

    /// Rate between two places, B/s; `None` where the series does not reach.
    pub fn rate_between(&self, from: f64, to: f64) -> Option<f64> {
        let place = |bytes: f64| (bytes / self.grid as f64).round() as usize;
        let (from, to) = (place(from), place(to));
        (from < to && to <= self.at.len()).then(|| self.rate(from, to))
    }

    /// Bytes of the whole series.
    pub fn bytes(&self) -> f64 {
        (self.at.len() as u64 * self.grid) as f64
    }

    /// Every drop of the rate to less than `ratio`, in order: `window` bytes after it against as
    /// many before, all of them after `from`.
    pub fn drops(&self, from: f64, window: f64, ratio: f64) -> Vec<RateDrop> {
        let w = ((window / self.grid as f64) as usize).max(4);
        let start = (from / self.grid as f64) as usize;
        let steep = |i: usize, w: usize| self.rate(i, i + w) / self.rate(i - w, i);
        let steepest = |range: std::ops::Range<usize>, w: usize| {
            range.min_by(|a, b| steep(*a, w).total_cmp(&steep(*b, w)))
        };
        let mut drops = Vec::new();
        let end = self.at.len().saturating_sub(w);
        let mut i = start + w;
        while i < end {
            if steep(i, w) >= ratio {
                i += 1;
                continue;
            }
            let rough = steepest(i..(i + w).min(end), w).unwrap_or(i);
            // Shorter windows place it better.
            let fine = (w / 6).max(2);
            let best = steepest((rough - w / 2)..(rough + w / 2).min(end), fine).unwrap_or(rough);
            drops.push(RateDrop {
                at: (best as u64 * self.grid) as f64,
                before: self.rate(best.saturating_sub(w).max(start), best),
                after: self.rate(best, best + w),
            });
            i = best + w;
        }
        drops
    }

    /// Bytes acknowledged up to `position` beyond those at a constant `rate` B/s.
    pub fn ahead(&self, position: f64, rate: f64) -> Option<f64> {
        let points = (position / self.grid as f64) as usize;
        (0 < points && points <= self.at.len()).then(|| position - rate * self.time(points))
    }

    /// Points for a chart: bytes and rate, over windows of `window` bytes.
    pub fn rates(&self, window: f64) -> (Vec<f64>, Vec<f64>) {
        let w = ((window / self.grid as f64) as usize).max(1);
        let ends = (w..=self.at.len()).step_by(w);
        ends.map(|i| ((i as u64 * self.grid) as f64, self.rate(i - w, i)))
            .unzip()
    }
}

/// The longest period, in points, at which a train of pulses repeats in `values`; with how far its
/// line stands above the spectrum around it.
///
/// A pulse train of period P has lines at all multiples of 1/P, a faster pattern inside of each
/// period none below its own frequency: the lowest line that stands out is the period.
pub fn period(values: &[f64], least: f64) -> Option<(f64, f64)> {
    let n = values.len();
    if n < 64 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    // A Hann window: lines of other frequencies leak less.
    let tapered: Vec<f64> = (0..n)
        .map(|i| {
            let phase = std::f64::consts::TAU * i as f64 / n as f64;
            (values[i] - mean) * (1.0 - phase.cos())
        })
        .collect();
    let highest = (n as f64 / least) as usize;
    let power: Vec<f64> = (0..=highest)
        .map(|k| at_frequency(&tapered, k as f64))
        .collect();
    // The median of the lines around: the ground that a line stands on.
    let ground = |k: usize| {
        let mut around = power.get(k * 2 / 3..(k * 3 / 2).min(power.len()))?.to_vec();
        around.sort_by(f64::total_cmp);
        around.get(around.len() / 2).copied()
    };
    let stands_out = |k: usize, times: f64| {
        let near = power.get(k.saturating_sub(2)..=k + 2).unwrap_or_default();
        let most = near.iter().copied().fold(0.0, f64::max);
        ground(k).is_some_and(|ground| most > times * ground)
    };
    let lines = (FEWEST..highest).filter(|&k| {
        let local = power[k] >= power[k - 1] && power[k] >= power[k + 1];
        local && stands_out(k, STANDS_OUT) && (2 * k > highest || stands_out(2 * k, OVERTONE))
    });
    // A pulse of t each P points makes a line of 2 t / P: what a period costs, up to a factor.
    let cost = |k: usize| power[k].sqrt() / k as f64;
    let lines: Vec<usize> = lines.collect();
    let dearest = lines.iter().map(|&k| cost(k)).fold(0.0, f64::max);
    let k = lines.into_iter().find(|&k| cost(k) > COSTS * dearest)?;
    // A line at a half or a third of it: every second or third period is another one.
    if [2, 3]
        .into_iter()
        .any(|part| k / part >= FEWEST && stands_out(k / part, STANDS_OUT))
    {
        return None;
    }
    let fine = |step: i32| k as f64 + f64::from(step) / 20.0;
    let best = (-20..=20).max_by(|a, b| {
        let power = |step: i32| at_frequency(&tapered, fine(step));
        power(*a).total_cmp(&power(*b))
    })?;
    Some((n as f64 / fine(best), power[k] / ground(k)?))
}

/// Fewest periods in a series.
const FEWEST: usize = 12;
/// A line this many times the median of the spectrum stands out.
const STANDS_OUT: f64 = 100.0;
/// Of the lines that stand out, those count whose pulses cost this part of the dearest.
const COSTS: f64 = 0.35;
/// Its overtone, this many.
const OVERTONE: f64 = 8.0;

fn at_frequency(values: &[f64], k: f64) -> f64 {
    let step = std::f64::consts::TAU * k / values.len() as f64;
    let (turn_sin, turn_cos) = step.sin_cos();
    let (mut sin, mut cos) = (0.0_f64, 1.0_f64);
    let (mut re, mut im) = (0.0, 0.0);
    for value in values {
        re += value * cos;
        im += value * sin;
        (sin, cos) = (
            sin * turn_cos + cos * turn_sin,
            cos * turn_cos - sin * turn_sin,
        );
    }
    re * re + im * im
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_ssd::rng::Rng;

    #[test]
    fn a_drop_is_found_where_it_is() {
        let mut series = AckSeries::new(1000, Nanos::ZERO);
        let mut at = 0;
        for i in 0..1000 {
            at += if i < 400 { 1000 } else { 3000 };
            series.acked(1000, Nanos(at));
        }
        let drops = series.drops(0.0, 50_000.0, 0.7);
        assert_eq!(drops.len(), 1, "{drops:?}");
        assert!((drops[0].at - 400_000.0).abs() <= 1000.0, "{drops:?}");
        assert!((drops[0].before / drops[0].after - 3.0).abs() < 0.1);
        assert!(series.drops(0.0, 50_000.0, 0.2).is_empty());
    }

    #[test]
    fn the_period_is_that_of_the_pulses_not_of_the_pattern_inside() {
        // Pulses each 37 points, a pattern of 3 points inside, and noise.
        let mut rng = Rng::named(1, "noise");
        let mut noise = || rng.below(1000) as f64 / 1000.0;
        let mut values: Vec<f64> = (0..3000).map(|i| f64::from(i % 3) + noise()).collect();
        for pulse in 0..81 {
            values[pulse * 37] += 6.0;
        }
        let (found, _) = period(&values, 2.5).expect("a period");
        assert!((found / 37.0 - 1.0).abs() < 0.01, "{found}");
        let flat: Vec<f64> = (0..3000).map(|_| noise()).collect();
        assert_eq!(period(&flat, 8.0), None);
    }
}
