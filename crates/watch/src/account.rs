//! A volume's account in the seconds of a watch: a rate at which requests are held, and how much
//! credit can be left.

use crate::steps::WatchedSecond;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_judge::account::{RateLevel, words};
use ssdlab_view::units;
use ssdlab_volume::{AccountRates, AccountUnit, VolumeConfig};

/// Seconds of a constant rate, at least, and those looked back at.
const SECONDS_MIN: usize = 8;
const LENGTHS: [usize; 4] = [30, 20, 12, SECONDS_MIN];
/// A limiter that grants slices differs from noise after this time; a rate as even as this needs
/// less.
const BY_SLICES_MIN: usize = 20;
const EVEN: f64 = 0.015;
/// Seconds of another constant rate before it.
const BEFORE_MIN: usize = 5;
/// A change from one rate to another is a fall by this share at least.
const FALL: f64 = 0.8;
/// A rate this near the base, with requests waiting, is the base: the credit is spent.
const AT_BASE: f64 = 0.03;
/// Requests under way from which the host waits for the account.
const WAITING: f64 = 2.0;
/// Seconds at the base, in a row, after which nothing is left.
const SPENT_S: u32 = 3;
/// Seconds of the present load.
const PRESENT_S: usize = 10;

/// Models by which providers' volumes name themselves to the kernel: EBS, persistent disks of
/// Google by NVMe and SCSI, remote disks of Azure by NVMe and SCSI.
const CLOUD_MODELS: [&str; 5] = [
    "Amazon Elastic Block Store",
    "nvme_card-pd",
    "PersistentDisk",
    "MSFT NVMe Accelerator",
    "Virtual Disk",
];

/// Whether a model is that of a provider's volume.
pub fn is_cloud_volume(model: &str) -> bool {
    CLOUD_MODELS.iter().any(|cloud| model.contains(cloud))
}

/// The rate before a fall, by its last seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateBefore {
    /// Units a second.
    pub rate: f64,
    /// Second of the watch at which it ended.
    pub until: usize,
}

/// A rate that is constant to a per cent up to now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldRate {
    /// What is constant.
    pub unit: AccountUnit,
    /// Units a second.
    pub rate: f64,
    /// Reads and writes a second.
    pub operations: f64,
    /// Their bytes a second.
    pub bytes: f64,
    /// Seconds.
    pub seconds: usize,
    /// Reads and writes under way, mean.
    pub depth: f64,
    /// Least share of reads in a second.
    pub reads_min: f64,
    /// And the largest.
    pub reads_max: f64,
    /// Least bytes of a request, mean of a second.
    pub size_min: f64,
    /// And the most.
    pub size_max: f64,
    /// Another constant rate before it.
    pub before: Option<RateBefore>,
}

fn operations(second: &WatchedSecond) -> f64 {
    (second.reads.count + second.writes.count) as f64
}

fn bytes(second: &WatchedSecond) -> f64 {
    (second.reads.bytes + second.writes.bytes) as f64
}

fn depth(second: &WatchedSecond) -> f64 {
    (second.reads.device_ns + second.writes.device_ns) as f64 / 1e9
}

fn rate_in(unit: AccountUnit) -> fn(&WatchedSecond) -> f64 {
    match unit {
        AccountUnit::Operations => operations,
        AccountUnit::Bytes => bytes,
    }
}

fn level(seconds: &[WatchedSecond], unit: AccountUnit) -> Option<RateLevel> {
    let rates: Vec<f64> = seconds.iter().map(rate_in(unit)).collect();
    let level = RateLevel::of(&rates);
    let is_long = seconds.len() >= BY_SLICES_MIN || level.spread <= EVEN;
    (level.is_constant() && is_long).then_some(level)
}

impl HeldRate {
    /// The constant rate of the last seconds, the longest that there is.
    pub fn find(seconds: &[WatchedSecond]) -> Option<HeldRate> {
        // In the first second the load and the watch begin.
        let seconds = seconds.get(1..)?;
        let lengths = LENGTHS
            .into_iter()
            .filter(|length| *length <= seconds.len());
        for length in lengths {
            let (earlier, last) = seconds.split_at(seconds.len() - length);
            for unit in [AccountUnit::Operations, AccountUnit::Bytes] {
                if let Some(level) = level(last, unit) {
                    return Some(HeldRate::new(earlier, last, unit, level));
                }
            }
        }
        None
    }

    fn new(
        earlier: &[WatchedSecond],
        last: &[WatchedSecond],
        unit: AccountUnit,
        level: RateLevel,
    ) -> HeldRate {
        let mean = |value: fn(&WatchedSecond) -> f64| {
            last.iter().map(value).sum::<f64>() / last.len() as f64
        };
        let range = |value: &dyn Fn(&WatchedSecond) -> f64| {
            let values = last.iter().map(value);
            values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let reads = range(&|second| second.reads.count as f64 / operations(second).max(1.0));
        let sizes = range(&|second| bytes(second) / operations(second).max(1.0));
        HeldRate {
            unit,
            rate: level.rate,
            operations: mean(operations),
            bytes: mean(bytes),
            seconds: last.len(),
            depth: mean(depth),
            reads_min: reads.0,
            reads_max: reads.1,
            size_min: sizes.0,
            size_max: sizes.1,
            before: rate_before(earlier, unit, level.rate),
        }
    }

    /// A rate in its unit.
    pub fn shown(&self, rate: f64) -> String {
        shown(self.unit, rate)
    }
}

/// The rate of the last seconds that were higher.
fn rate_before(earlier: &[WatchedSecond], unit: AccountUnit, rate: f64) -> Option<RateBefore> {
    // Seconds of the lower rate that were not looked back at, and the one of the fall.
    let is_higher = |second: &WatchedSecond| rate <= FALL * rate_in(unit)(second);
    let last = earlier.iter().rposition(is_higher)?;
    let before = |end: usize| earlier.get(end.checked_sub(BEFORE_MIN)?..end);
    let level_until = |end: usize| {
        level(before(end)?, unit).map(|level| RateBefore {
            rate: level.rate,
            until: end + 1,
        })
    };
    // The second of the fall has some of both.
    let constant = level_until(last + 1).or_else(|| level_until(last));
    constant.or_else(|| {
        // On a busy host the burst wavers, for the load does.
        let seconds = before(last + 1)?;
        let rates: Vec<f64> = seconds.iter().map(rate_in(unit)).collect();
        seconds.iter().all(is_higher).then(|| RateBefore {
            rate: RateLevel::of(&rates).rate,
            until: last + 2,
        })
    })
}

fn shown(unit: AccountUnit, value: f64) -> String {
    match unit {
        AccountUnit::Operations => units::rate(value),
        AccountUnit::Bytes => units::decimal_bytes(value),
    }
}

/// How much credit an account of a volume has left, from what a watch saw of its use.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CreditLeft {
    /// The volume, as it was named, or its instance.
    pub owner: String,
    /// What is counted.
    pub unit: AccountUnit,
    /// Rate of the last seconds, in units a second.
    pub rate: f64,
    /// The rate that lasts.
    pub base: u64,
    /// The rate while credit is left.
    pub burst: u64,
    /// A full credit.
    pub full: u64,
    /// At least this is left.
    pub low: f64,
    /// At most this is left.
    pub high: f64,
    /// At the present rate it ends in this time at the earliest, s; `None`: never.
    pub ends_low_s: Option<f64>,
    /// And in this at the latest.
    pub ends_high_s: Option<f64>,
}

impl CreditLeft {
    /// Of every account of a volume that has credit.
    pub fn of_volume(volume: &VolumeConfig, seconds: &[WatchedSecond]) -> Vec<CreditLeft> {
        let mut credits = Vec::new();
        let instance = volume.instance.as_ref();
        let instance = instance.map(|(name, limits)| (name, limits));
        let owners = std::iter::once((&volume.name, &volume.volume)).chain(instance);
        for (name, limits) in owners {
            for (unit, rates) in [
                (AccountUnit::Operations, limits.operations),
                (AccountUnit::Bytes, limits.bytes),
            ] {
                let charged = |second: &WatchedSecond| match unit {
                    AccountUnit::Operations => {
                        let size = bytes(second) / operations(second).max(1.0);
                        operations(second) * (size / volume.operation_bytes as f64).ceil().max(1.0)
                    }
                    AccountUnit::Bytes => bytes(second),
                };
                if rates.has_credit() && !seconds.is_empty() {
                    let used: Vec<(f64, f64)> =
                        seconds.iter().map(|s| (charged(s), depth(s))).collect();
                    credits.push(CreditLeft::new(name.clone(), unit, rates, &used));
                }
            }
        }
        credits
    }

    /// From units used and requests under way, second by second.
    fn new(
        owner: String,
        unit: AccountUnit,
        rates: AccountRates,
        used: &[(f64, f64)],
    ) -> CreditLeft {
        let (base, full) = (rates.base as f64, rates.credit as f64);
        let (mut low, mut high) = (0.0, full);
        let mut at_base = 0;
        for (units, depth) in used {
            low = (low + base - units).clamp(0.0, full);
            high = (high + base - units).clamp(low, full);
            let is_held =
                *depth >= WAITING && (units - base).abs() <= f64::max(AT_BASE * base, 1.5);
            at_base = if is_held { at_base + 1 } else { 0 };
            if at_base >= SPENT_S {
                (low, high) = (0.0, 0.0);
            }
        }
        let present = &used[used.len().saturating_sub(PRESENT_S)..];
        let rate =
            present.iter().map(|(units, _)| units).sum::<f64>() / present.len().max(1) as f64;
        let spent = rate - base;
        let ends = |credit: f64| (spent > AT_BASE * base).then(|| credit / spent);
        CreditLeft {
            owner,
            unit,
            rate,
            base: rates.base,
            burst: rates.burst,
            full: rates.credit,
            low,
            high,
            ends_low_s: ends(low),
            ends_high_s: ends(high),
        }
    }

    /// The credit, and when it ends.
    pub fn sentence(&self) -> String {
        let shown = |value: f64| shown(self.unit, value);
        let base = shown(self.base as f64);
        if self.high <= 0.0 {
            return format!("{}: it is spent; {base} a second are left", self.owner);
        }
        let is_known = self.high - self.low <= 0.02 * self.full as f64;
        let left = if is_known {
            format!("{} of {}", shown(self.high), shown(self.full as f64))
        } else if self.low > 0.0 {
            format!(
                "{} to {} of {}",
                shown(self.low),
                shown(self.high),
                shown(self.full as f64)
            )
        } else {
            format!(
                "at most {} of {}",
                shown(self.high),
                shown(self.full as f64)
            )
        };
        let rate = shown(self.rate);
        let ends = match self.ends_high_s {
            None => format!("at the present {rate} a second it never ends"),
            Some(ends_s) => format!(
                "at the present {rate} a second it ends in {}{}, then it is {base}",
                words::time(ends_s),
                if is_known { "" } else { " at the latest" }
            ),
        };
        format!("{}: {left} are left; {ends}", self.owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::KindSecond;

    fn second(reads: u64, writes: u64, depth: f64) -> WatchedSecond {
        let total = (reads + writes).max(1);
        let kind = |count: u64| KindSecond {
            count,
            bytes: count * 4096,
            device_ns: (depth * 1e9) as u64 * count / total,
            max_ns: 0,
        };
        WatchedSecond {
            reads: kind(reads),
            writes: kind(writes),
            ..WatchedSecond::default()
        }
    }

    /// 100 GiB of gp2: 300 for ever, 3,000 out of 5.4 million.
    fn gp2() -> VolumeConfig {
        ssdlab_volume::open("gp2,size=100").expect("it is sold")
    }

    #[test]
    fn a_burst_that_was_not_seen_to_begin_leaves_at_most_the_rest() {
        let credits = CreditLeft::of_volume(&gp2(), &[second(0, 3000, 32.0); 100]);
        let [credit] = credits.as_slice() else {
            panic!("one account has credit: {credits:?}")
        };
        assert_eq!((credit.low, credit.high), (0.0, 5_400_000.0 - 270_000.0));
        // (5,400,000 - 270,000) / 2,700.
        assert_eq!(credit.ends_high_s, Some(1900.0));
        assert!(
            credit.sentence().contains("at most 5.13M of 5.40M"),
            "{credit:?}"
        );
    }

    #[test]
    fn after_the_drop_the_credit_is_known_exactly() {
        let mut seconds = vec![second(0, 3000, 32.0); 20];
        seconds.extend([second(0, 300, 32.0); 10]);
        let spent = CreditLeft::of_volume(&gp2(), &seconds).remove(0);
        assert_eq!((spent.low, spent.high), (0.0, 0.0));
        assert!(
            spent.sentence().contains("it is spent"),
            "{}",
            spent.sentence()
        );
        // 100 s with a third of the base earn 200 each.
        seconds.extend([second(50, 50, 0.1); 100]);
        let earned = CreditLeft::of_volume(&gp2(), &seconds).remove(0);
        assert_eq!((earned.low, earned.high), (20_000.0, 20_000.0));
        assert_eq!(earned.ends_high_s, None);
        // And 1,300 a second spend 1,000: ten seconds of it are behind, ten before it.
        seconds.extend([second(0, 1300, 4.0); 10]);
        let ends = CreditLeft::of_volume(&gp2(), &seconds).remove(0);
        assert_eq!(
            (ends.ends_low_s, ends.ends_high_s),
            (Some(10.0), Some(10.0))
        );
    }

    #[test]
    fn a_rate_is_held_whatever_the_mix_and_has_another_before_it() {
        let mut seconds = vec![second(1500, 1500, 32.0); 15];
        seconds.push(second(800, 800, 32.0));
        seconds.extend((0..12).map(|i| second(25 * i, 300 - 25 * i, 32.0)));
        let held = HeldRate::find(&seconds).expect("it is held");
        assert_eq!((held.rate, held.seconds), (300.0, 12));
        assert!(held.reads_max - held.reads_min > 0.9);
        let before = held.before.expect("a burst");
        assert_eq!((before.rate, before.until), (3000.0, 15));
        for (i, second) in (0..15).zip(&mut seconds) {
            *second = self::second(1300 + 30 * i, 1300 + 30 * i, 32.0);
        }
        let held = HeldRate::find(&seconds).expect("it is held");
        let before = held.before.expect("a burst that wavers");
        assert!((2600.0..3440.0).contains(&before.rate), "{before:?}");
        let wandering: Vec<_> = (0..30).map(|i| second(0, 300 + 7 * i, 32.0)).collect();
        assert_eq!(HeldRate::find(&wandering), None);
    }
}
