//! An account that is nearly spent: its drop comes as the drain begins, so that only the loads
//! before it had the burst.

use super::levels::{BETWEEN_MAX, LevelDrop, RateLevel, drop_of, is_lower};
use super::record::{AccountRecord, RateSeries, SeriesPurpose};
use ssdlab_volume::AccountUnit;

/// Two loads on an account have the same rate to this share.
pub(super) const ALIKE: f64 = 0.02;
/// Larger commands have the rate or the bytes of smaller ones to this share: one is four times the
/// other, and a slow limiter lets several pass at a time.
const UNIT_ALIKE: f64 = 0.05;
/// One second of a load has the rate of another to this share.
const NEARLY: f64 = 0.10;
/// Reads this far from writes are not held by one account.
const APART: f64 = 0.10;

impl RateSeries {
    /// Its rates without the first second, in which the queue fills.
    pub(super) fn settled(&self) -> &[f64] {
        self.rates.get(1..).unwrap_or_default()
    }

    pub(super) fn level(&self) -> RateLevel {
        RateLevel::of(self.settled())
    }
}

/// Whether another load has the rate of a level: in commands, in bytes, or in neither.
pub(super) fn unit_of(level: RateLevel, block: u64, other: &RateSeries) -> Option<AccountUnit> {
    let other_level = other.level();
    let rate = other_level.rate;
    let by_bytes = rate * other.block as f64 / block as f64;
    if level.is_alike(&other_level, rate, UNIT_ALIKE) {
        Some(AccountUnit::Operations)
    } else if level.is_alike(&other_level, by_bytes, UNIT_ALIKE) {
        Some(AccountUnit::Bytes)
    } else {
        None
    }
}

/// The level of the first load before a drain by the same commands; `None` where it is not
/// constant, where a deeper queue has more, or where larger commands never had the rate, as on a
/// drive. The credit may have ended in later ones.
pub(super) fn early_level(record: &AccountRecord, block: u64) -> Option<RateLevel> {
    let (mut alike, others): (Vec<&RateSeries>, Vec<&RateSeries>) = record
        .of(SeriesPurpose::Early)
        .partition(|series| series.block == block);
    if alike.is_empty() {
        return None;
    }
    let level = alike.remove(0).level();
    let rates = || alike.iter().map(|series| series.level().rate);
    let is_more = rates().any(|rate| rate > (1.0 + ALIKE) * level.rate);
    let ended = rates().any(|rate| is_lower(rate, level.rate));
    let has_level = |series: &&RateSeries| {
        let factor = series.block as f64 / block as f64;
        let is_like = |rate: f64| level.is_like(rate, NEARLY);
        let mut rates = series.rates.iter();
        rates.any(|rate| is_like(*rate) || is_like(rate * factor))
    };
    let is_counted = ended || others.is_empty() || others.iter().any(has_level);
    (level.is_constant() && !is_more && is_counted).then_some(level)
}

/// From the level of the loads before to that of the drain, where both are constant.
pub(super) fn drop_at_start(record: &AccountRecord, drain: &RateSeries) -> Option<LevelDrop> {
    let before = early_level(record, drain.block)?;
    let after = drain.level();
    (after.is_constant() && is_lower(after.rate, before.rate)).then_some(LevelDrop {
        before,
        after,
        second: 0,
        between: 0,
    })
}

/// The drain that tells most: the last that dropped, else the first.
pub(super) fn drain_of(record: &AccountRecord) -> Option<(&RateSeries, Option<LevelDrop>)> {
    let with_drop = |series: &'_ RateSeries| {
        drop_of(series.settled()).or_else(|| drop_at_start(record, series))
    };
    let drains = || record.of(SeriesPurpose::Drain);
    let dropped = drains()
        .rev()
        .find_map(|series| Some((series, Some(with_drop(series)?))));
    dropped.or_else(|| drains().next().map(|series| (series, None)))
}

impl AccountRecord {
    /// The bytes of the commands whose rate dropped, and the drop.
    pub(super) fn dropped(&self) -> Option<(u32, LevelDrop)> {
        let (series, drop) = drain_of(self)?;
        Some((series.block as u32, drop?))
    }

    /// Whether its rate stepped from one constant to a lower one.
    pub fn has_step(&self) -> bool {
        let Some((drain, Some(drop))) = drain_of(self) else {
            return false;
        };
        self.is_step(drain, &drop)
    }

    /// Whether a drop goes from one constant to another. A host that stopped in the drain hides
    /// that; then each is a constant that another load by the same commands had.
    pub(super) fn is_step(&self, drain: &RateSeries, drop: &LevelDrop) -> bool {
        let is_constant = |level: &RateLevel, purpose: SeriesPurpose| {
            let others = self.of(purpose).filter(|s| s.block == drain.block);
            let mut others = others.map(RateSeries::level).filter(RateLevel::is_constant);
            level.is_constant() || others.any(|other| other.is_alike(level, level.rate, ALIKE))
        };
        drop.is_step()
            || drop.between <= BETWEEN_MAX
                && is_constant(&drop.before, SeriesPurpose::Early)
                && is_constant(&drop.after, SeriesPurpose::Late)
    }

    /// Whether reads after the drop have another rate than writes: no account holds them.
    pub(super) fn reads_are_apart(&self, drop: &LevelDrop) -> bool {
        let read = self.of(SeriesPurpose::Late).find(|series| series.reads);
        let rate = read.map(|series| series.level().rate);
        rate.is_some_and(|rate| (rate / drop.after.rate - 1.0).abs() > APART)
    }
}
