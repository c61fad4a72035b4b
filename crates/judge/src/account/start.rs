//! An account that is nearly spent: its drop comes as the drain begins, so that only the loads before
//! it had the burst.

use super::levels::{LevelDrop, RateLevel, is_lower};
use super::record::{AccountRecord, RateSeries, SeriesPurpose};
use ssdlab_volume::AccountUnit;

/// Two loads on an account have the same rate to this share.
pub(super) const ALIKE: f64 = 0.02;

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
    if level.is_alike(&other_level, rate, ALIKE) {
        Some(AccountUnit::Operations)
    } else if level.is_alike(&other_level, by_bytes, ALIKE) {
        Some(AccountUnit::Bytes)
    } else {
        None
    }
}

/// The one level of all loads before a drain by the same commands; `None` where they differ, as on a
/// drive, or where the commands do: another limit may bind those.
pub(super) fn early_level(record: &AccountRecord, block: u64) -> Option<RateLevel> {
    let early: Vec<&RateSeries> = record.of(SeriesPurpose::Early).collect();
    let first = early.first().filter(|series| series.block == block)?;
    let level = first.level();
    let units: Option<Vec<AccountUnit>> = early
        .iter()
        .map(|series| unit_of(level, first.block, series))
        .collect();
    let is_bytes = units?.contains(&AccountUnit::Bytes);
    let rates = early.iter().flat_map(|series| {
        let factor = if is_bytes {
            series.block as f64 / block as f64
        } else {
            1.0
        };
        series.settled().iter().map(move |rate| rate * factor)
    });
    let level = RateLevel::of(&rates.collect::<Vec<f64>>());
    level.is_constant().then_some(level)
}

/// From the level of all loads before to that of the drain, where both are constant.
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
