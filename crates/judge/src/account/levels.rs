//! Levels of a rate, and the second at which it drops to another.

use ssdlab_bench::analysis::stats::{mad, median};

/// MAD to standard deviation of normal noise.
const SIGMA_PER_MAD: f64 = 1.4826;
/// Seconds at the end of a series that tell where it ended.
const END_S: usize = 15;
/// A drop is at least this share of the level before.
const DROP_MIN: f64 = 0.05;

/// A level and how constant it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RateLevel {
    /// Median, a second.
    pub rate: f64,
    /// Robust standard deviation over the median.
    pub spread: f64,
    /// Seconds.
    pub length: usize,
    /// Share of the seconds that lie at it: a rate between two speeds has a median of one of them.
    pub near: f64,
}

/// Seconds this far from a level do not lie at it.
const NEAR: f64 = 0.03;
/// Share of the seconds of a constant rate that lie at its level.
const NEAR_MIN: f64 = 0.9;

impl RateLevel {
    pub fn of(rates: &[f64]) -> RateLevel {
        let rate = median(rates);
        let deviation = SIGMA_PER_MAD * mad(rates, rate);
        RateLevel {
            rate,
            spread: if rate > 0.0 {
                deviation / rate
            } else {
                f64::INFINITY
            },
            length: rates.len(),
            near: {
                let slack = f64::max(NEAR * rate, 1.5);
                let near = rates.iter().filter(|one| (**one - rate).abs() <= slack);
                near.count() as f64 / rates.len().max(1) as f64
            },
        }
    }

    /// Constant to a per cent, or to a command a second where that is more.
    pub fn is_constant(&self) -> bool {
        self.rate > 0.0 && self.near >= NEAR_MIN && self.spread <= f64::max(0.01, 1.5 / self.rate)
    }

    /// How far its rate may be from the true one: three standard errors and a command in the run.
    pub fn error(&self) -> f64 {
        let length = self.length.max(1) as f64;
        3.0 * self.spread * self.rate / length.sqrt() + 1.0 / length
    }

    /// The same level as another, to `share` or a command a second.
    pub fn is_like(&self, rate: f64, share: f64) -> bool {
        (self.rate - rate).abs() <= f64::max(share * self.rate, 1.5)
    }
}

/// A drop from one level to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LevelDrop {
    pub before: RateLevel,
    pub after: RateLevel,
    /// First second of the lower level.
    pub second: usize,
    /// Seconds that lie on neither level.
    pub between: usize,
}

/// The last drop of a series for good; `None` when it ends where it began.
pub(super) fn drop_of(rates: &[f64]) -> Option<LevelDrop> {
    if rates.len() < 2 * END_S {
        return None;
    }
    let after = median(&rates[rates.len() - END_S..]);
    let highest = rates[..rates.len() - END_S].iter().copied();
    let start = median(&rates[..END_S]).max(quarter_high(highest));
    if start <= 0.0 || after >= (1.0 - DROP_MIN) * start {
        return None;
    }
    let half_way = f64::midpoint(start, after);
    let second = rates.iter().rposition(|rate| *rate > half_way)? + 1;
    if second == 0 || second >= rates.len() {
        return None;
    }
    let before = RateLevel::of(&rates[..second]);
    let after = RateLevel::of(&rates[second..]);
    let is_on = |rate: f64, level: RateLevel| level.is_like(rate, 0.03);
    let near = second.saturating_sub(20)..(second + 20).min(rates.len());
    let between = rates[near]
        .iter()
        .filter(|rate| !is_on(**rate, before) && !is_on(**rate, after));
    Some(LevelDrop {
        before,
        after,
        second,
        between: between.count(),
    })
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

    #[test]
    fn a_slope_is_no_pair_of_constants() {
        let rates: Vec<f64> = (0..200).map(|s| 3000.0 - 10.0 * f64::from(s)).collect();
        let drop = drop_of(&rates).expect("it falls");
        assert!(!drop.before.is_constant() && drop.between > 10);
    }
}
