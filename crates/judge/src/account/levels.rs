//! Levels of a rate, and the second at which it drops to another.

use ssdlab_bench::analysis::stats::{mad, median};
use std::ops::RangeInclusive;

/// MAD to standard deviation of normal noise.
const SIGMA_PER_MAD: f64 = 1.4826;
/// Seconds at the end of a series that tell where it ended, and the fewest.
const END_S: usize = 15;
const END_MIN_S: usize = 4;
/// A drop is at least this share of the level before.
const DROP_MIN: f64 = 0.05;

/// A level and how constant it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLevel {
    /// Median, a second; of a limiter by slices the mean.
    pub rate: f64,
    /// Robust standard deviation over the median.
    pub spread: f64,
    /// Seconds.
    pub length: usize,
    /// Share of the seconds that lie at it: a rate between two speeds has a median of one of them.
    pub near: f64,
    /// How far what was served departs from a line, in seconds of the rate.
    pub departure_s: f64,
}

/// Seconds this far from a level do not lie at it.
const NEAR: f64 = 0.03;
/// Share of the seconds of a constant rate that lie at its level.
const NEAR_MIN: f64 = 0.9;
/// A limiter that grants a slice at a time (Linux: 100 ms) departs from its line by little more
/// than a slice, however long it runs.
const SLICES_S: f64 = 0.18;
/// Seconds of a series in which a stop matters, and whose half is long enough to be a level.
const STOPPED_S: RangeInclusive<usize> = 20..=120;
/// And a second has a slice more or less.
const SLICE_S: f64 = 0.1;

impl RateLevel {
    /// The level of rates, one a second.
    pub fn of(rates: &[f64]) -> RateLevel {
        let rate = median(rates);
        let deviation = SIGMA_PER_MAD * mad(rates, rate);
        let slack = f64::max(NEAR * rate, 1.5);
        let near = rates.iter().filter(|one| (**one - rate).abs() <= slack);
        let mut level = RateLevel {
            rate,
            spread: if rate > 0.0 {
                deviation / rate
            } else {
                f64::INFINITY
            },
            length: rates.len(),
            near: near.count() as f64 / rates.len().max(1) as f64,
            departure_s: f64::INFINITY,
        };
        let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
        level.departure_s = departure_s(rates, mean);
        if level.is_by_slices() {
            level.rate = mean;
        }
        level
    }

    /// The level of a series, or of the steadiest half of a short one: a busy host stops a load now
    /// and then, and a limit is a limit all the same.
    pub fn steadiest(rates: &[f64]) -> RateLevel {
        let whole = RateLevel::of(rates);
        if whole.is_constant() || !STOPPED_S.contains(&rates.len()) {
            return whole;
        }
        let halves = rates.windows(rates.len() / 2).map(RateLevel::of);
        let constant = halves.filter(RateLevel::is_constant);
        let steadiest = constant.min_by(|a, b| a.departure_s.total_cmp(&b.departure_s));
        steadiest.unwrap_or(whole)
    }

    /// Constant to a per cent, or to a command a second where that is more; or by slices.
    pub fn is_constant(&self) -> bool {
        self.is_even() || self.is_by_slices()
    }

    fn is_even(&self) -> bool {
        self.rate > 0.0 && self.near >= NEAR_MIN && self.spread <= f64::max(0.01, 1.5 / self.rate)
    }

    /// Not the same each second, but what was served never leaves its line by more than a slice.
    /// Noise leaves it the further the longer it runs.
    fn is_by_slices(&self) -> bool {
        !self.is_even()
            && self.spread <= 1.1 * SIGMA_PER_MAD * SLICE_S
            && self.departure_s <= SLICES_S
    }

    /// How far its rate may be from the true one: three standard errors and a command in the run.
    pub fn error(&self) -> f64 {
        let length = self.length.max(1) as f64;
        if self.is_by_slices() {
            return (self.departure_s * self.rate + 1.0) / length;
        }
        3.0 * self.spread * self.rate / length.sqrt() + 1.0 / length
    }

    /// Whether one second lies at the level.
    pub fn has(&self, rate: f64) -> bool {
        let share = if self.is_by_slices() {
            2.0 * SLICE_S
        } else {
            NEAR
        };
        self.is_like(rate, share)
    }

    /// The same level as `rate`, a level like `other`: to `share`, or by the slice that one of them
    /// may have more.
    pub fn is_alike(&self, other: &RateLevel, rate: f64, share: f64) -> bool {
        let seconds = self.length.min(other.length).max(1) as f64;
        let is_by_slices = self.is_by_slices() || other.is_by_slices();
        let slice = if is_by_slices { SLICE_S / seconds } else { 0.0 };
        self.is_like(rate, share.max(slice))
    }

    /// The same level as another, to `share` or a command a second.
    pub fn is_like(&self, rate: f64, share: f64) -> bool {
        (self.rate - rate).abs() <= f64::max(share * self.rate, 1.5)
    }
}

/// How far the sum of the rates departs from the line of their mean, both sides together, in
/// seconds of the mean.
fn departure_s(rates: &[f64], mean: f64) -> f64 {
    if mean <= 0.0 {
        return f64::INFINITY;
    }
    let (mut sum, mut low, mut high) = (0.0_f64, 0.0_f64, 0.0_f64);
    for rate in rates {
        sum += rate - mean;
        (low, high) = (low.min(sum), high.max(sum));
    }
    (high - low) / mean
}

/// A drop from one level to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LevelDrop {
    pub before: RateLevel,
    pub after: RateLevel,
    /// First second of the lower level.
    pub second: usize,
    /// Seconds on neither level, next to the change.
    pub between: usize,
}

/// Seconds between two levels at most: the second of the change, and one on each side.
pub(super) const BETWEEN_MAX: usize = 3;
/// Seconds on each side of a change that are looked at.
const BESIDE_MAX_S: usize = 20;
/// Fewest seconds of a level beside the second of a change.
const BESIDE_MIN_S: usize = 2;

impl LevelDrop {
    /// From one constant to another, with nothing between.
    pub fn is_step(&self) -> bool {
        self.before.is_constant() && self.after.is_constant() && self.between <= BETWEEN_MAX
    }
}

/// Whether a rate lies a drop below another.
pub(super) fn is_lower(rate: f64, before: f64) -> bool {
    rate < (1.0 - DROP_MIN) * before
}

/// The last drop of a series for good; `None` when it ends where it began.
pub(super) fn drop_of(rates: &[f64]) -> Option<LevelDrop> {
    let end_s = if rates.len() < 2 * END_S {
        rates.len() / 3
    } else {
        END_S
    };
    if end_s < END_MIN_S {
        return None;
    }
    let after = median(&rates[rates.len() - end_s..]);
    let highest = rates[..rates.len() - end_s].iter().copied();
    let start = median(&rates[..end_s]).max(quarter_high(highest));
    if start <= 0.0 || !is_lower(after, start) {
        return None;
    }
    let half_way = f64::midpoint(start, after);
    let second = rates.iter().rposition(|rate| *rate > half_way)? + 1;
    // A level of fewer seconds is the last swing of a rate that swings.
    if second == 0 || rates.len() - second < end_s / 2 {
        return None;
    }
    let before = beside(&rates[..second], &rates[..second - 1]);
    let after = beside(&rates[second..], &rates[second + 1..]);
    if !is_lower(after.rate, before.rate) {
        return None;
    }
    let is_between = |rate: &&f64| !before.has(**rate) && !after.has(**rate);
    let (head, tail) = rates.split_at(second);
    let until = head.iter().rev().take(BESIDE_MAX_S);
    let from = tail.iter().take(BESIDE_MAX_S);
    let between = until.take_while(is_between).count() + from.take_while(is_between).count();
    Some(LevelDrop {
        before,
        after,
        second,
        between,
    })
}

/// The level beside a drop: without the second in which it fell, where the others are constant and
/// that one is not like them.
fn beside(rates: &[f64], without: &[f64]) -> RateLevel {
    let whole = RateLevel::of(rates);
    if whole.is_even() || without.len() < BESIDE_MIN_S {
        return whole;
    }
    let others = RateLevel::of(without);
    if others.is_constant() { others } else { whole }
}

/// The level that a quarter of the rates reach.
fn quarter_high(rates: impl Iterator<Item = f64>) -> f64 {
    let mut rates: Vec<f64> = rates.collect();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() * 3 / 4).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drop_is_found_to_the_second_however_long_the_series() {
        for before in [20, 300, 7200] {
            let rates = [vec![3000.0; before], vec![300.0; 30]].concat();
            let drop = drop_of(&rates).expect("it drops");
            assert_eq!((drop.second, drop.between), (before, 0));
            assert_eq!((drop.before.rate, drop.after.rate), (3000.0, 300.0));
            assert!(drop.before.is_constant() && drop.after.is_constant());
        }
        assert_eq!(drop_of(&[100.0; 500]), None);
        let dip = [vec![100.0; 50], vec![20.0; 5], vec![100.0; 50]].concat();
        assert_eq!(drop_of(&dip), None, "it recovers");
    }

    /// As recorded of a loop device behind blkio.throttle at 1,000 writes a second: slices of
    /// 100 ms, of which a second has nine to eleven.
    const BY_SLICES: [f64; 30] = [
        1068.0, 900.0, 1000.0, 1000.0, 1100.0, 1000.0, 1000.0, 900.0, 1100.0, 900.0, 1100.0,
        1000.0, 1000.0, 900.0, 1001.0, 1056.0, 998.0, 994.0, 982.0, 1033.0, 936.0, 1000.0, 1100.0,
        1000.0, 900.0, 1100.0, 984.0, 1016.0, 924.0, 1008.0,
    ];

    #[test]
    fn a_limit_by_slices_is_constant_and_does_not_drop() {
        let level = RateLevel::of(&BY_SLICES[1..]);
        assert!(level.is_constant(), "{level:?}");
        assert!((level.rate / 1000.0 - 1.0).abs() < 0.005, "{level:?}");
        assert_eq!(drop_of(&BY_SLICES), None);
        let slow: Vec<f64> = BY_SLICES.iter().map(|rate| rate / 4.0).collect();
        let drop = drop_of(&[&BY_SLICES[..], &slow[..]].concat()).expect("it drops");
        assert_eq!((drop.second, drop.between), (30, 0));
        assert!(drop.before.is_constant() && drop.after.is_constant());
    }

    /// Recorded of the same at 1.2 MB/s: the last second but one is high.
    #[test]
    fn the_last_swing_is_no_drop() {
        let rates = [
            299.0, 304.0, 334.0, 273.0, 334.0, 304.0, 303.0, 304.0, 273.0, 305.0, 304.0, 303.0,
            334.0, 303.0, 274.0, 334.0, 303.0, 274.0, 334.0, 274.0, 333.0, 273.0, 334.0, 304.0,
            273.0, 304.0, 334.0, 273.0, 334.0, 275.0,
        ];
        assert_eq!(drop_of(&rates), None);
        assert!(RateLevel::of(&rates).is_constant());
    }

    /// Recorded of a served volume of Azure whose credit ended in the third second, and ten later.
    #[test]
    fn a_short_series_has_its_drop() {
        let rates = [vec![3501.0, 3415.0], vec![240.0; 12]].concat();
        let drop = drop_of(&rates).expect("it drops");
        assert_eq!((drop.second, drop.after.rate), (2, 240.0));
    }

    /// Recorded of qemu's throttle group, which lets twelve commands pass at a time, at 315 and
    /// 376 a second: the second in which the burst ended is on neither level.
    #[test]
    fn the_second_of_the_change_is_of_neither_level() {
        let few = [
            312.0, 312.0, 324.0, 312.0, 312.0, 312.0, 312.0, 324.0, 312.0, 312.0,
        ];
        let more = [
            372.0, 384.0, 372.0, 372.0, 384.0, 372.0, 372.0, 384.0, 372.0,
        ];
        for (burst, mixed, base) in [(1110.0, 504.0, &few[..]), (1704.0, 806.0, &more)] {
            let rates = [&[burst; 9][..], &[mixed], base].concat();
            let drop = drop_of(&rates).expect("it drops");
            assert!(drop.is_step(), "{drop:?}");
            let mean = base.iter().sum::<f64>() / base.len() as f64;
            assert_eq!((drop.before.rate, drop.after.rate), (burst, mean));
        }
    }

    /// Recorded of a served volume of Azure whose credit ended in the third second, and of qemu's
    /// throttle group, whose levels by slices hid the second of the change.
    #[test]
    fn levels_beside_a_change_leave_its_second_out() {
        let rates = [vec![3480.0, 3520.0, 1640.0], vec![120.0; 11]].concat();
        let drop = drop_of(&rates).expect("it drops");
        assert!(drop.is_step(), "{drop:?}");
        assert_eq!((drop.before.rate, drop.after.rate), (3500.0, 120.0));
        let few = [
            384.0, 384.0, 384.0, 384.0, 396.0, 384.0, 384.0, 384.0, 384.0,
        ];
        let rates = [&[1009.0, 1010.0, 999.0, 999.0, 456.0][..], &few].concat();
        let drop = drop_of(&rates).expect("it drops");
        assert!(drop.is_step(), "{drop:?}");
        assert!((drop.after.rate / 385.3 - 1.0).abs() < 0.005, "{drop:?}");
    }

    /// Recorded of nbdkit's rate filter at 1 MB/s on a busy host, which stopped it for a second.
    #[test]
    fn a_stop_of_the_host_leaves_a_limit_constant() {
        let rates = [
            245.0, 254.0, 241.0, 250.0, 253.0, 250.0, 247.0, 244.0, 247.0, 149.0, 71.0, 532.0,
            252.0, 249.0, 244.0, 249.0, 253.0, 248.0, 247.0, 251.0, 250.0, 249.0, 244.0, 255.0,
            240.0, 254.0, 247.0, 246.0, 258.0,
        ];
        assert!(!RateLevel::of(&rates).is_constant());
        let level = RateLevel::steadiest(&rates);
        assert!(level.is_constant(), "{level:?}");
        assert!((level.rate / 248.9 - 1.0).abs() < 0.01, "{level:?}");
    }

    #[test]
    fn noise_of_the_same_size_is_no_constant() {
        let mut rng = ssdlab_ssd::rng::Rng::new(3);
        let constant = (0..50).filter(|_| {
            let noise = |_| 1000.0 + rng.below(241) as f64 - 120.0;
            RateLevel::steadiest(&(0..60).map(noise).collect::<Vec<f64>>()).is_constant()
        });
        assert!(constant.count() <= 1);
    }

    #[test]
    fn a_slope_is_no_pair_of_constants() {
        let rates: Vec<f64> = (0..200).map(|s| 3000.0 - 10.0 * f64::from(s)).collect();
        let drop = drop_of(&rates).expect("it falls");
        assert!(!drop.before.is_constant() && drop.between > 10);
    }
}
