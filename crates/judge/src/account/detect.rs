//! From the recorded rates to what kind of speed it is, with estimates.

use super::levels::{LevelDrop, RateLevel};
use super::record::{AccountRecord, RateSeries, SeriesPurpose};
use super::start::{ALIKE, drain_of, unit_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_bench::analysis::stats::median;
use ssdlab_volume::AccountUnit;

/// Large commands have the bytes of small ones to this share.
const LARGE_ALIKE: f64 = 0.05;
/// Reads of half the queue have less than this share of the rate where the queue holds them back.
const HALF_QUEUE: f64 = 0.75;
/// Commands four times as large have a quarter of the rate to this share, where few were counted.
const LARGER_ALIKE: f64 = 0.2;
/// What a pause earned may be this far from the base rate.
const REFILL: f64 = 0.15;
/// Not constant by far: no level at all.
const UNSTEADY: f64 = 0.03;

/// What kind of speed a target has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeedKind {
    /// A burst out of a credit, then a base.
    Account,
    /// One limit that lasts, whatever the load.
    Limit,
    /// A drive that fell: its reads did not, or its levels are no constants.
    DriveFall,
    /// No constant: a neighbour, heat or a busy host.
    Unsteady,
    /// Nothing held the load back but its own queue, or the drive itself.
    NoLimit,
    /// The record does not tell.
    Unknown,
}

/// A figure with the interval that the record leaves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct AccountEstimate {
    /// The figure, in units or units a second.
    pub value: f64,
    /// Not less.
    pub low: f64,
    /// Not more.
    pub high: f64,
}

impl AccountEstimate {
    fn around(value: f64, error: f64) -> AccountEstimate {
        AccountEstimate {
            value,
            low: (value - error).max(0.0),
            high: value + error,
        }
    }

    fn times(self, factor: f64) -> AccountEstimate {
        AccountEstimate {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
        }
    }
}

/// What a record shows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct AccountFinding {
    /// Which kind.
    pub kind: SpeedKind,
    /// What is counted, where something is.
    pub unit: Option<AccountUnit>,
    /// Bytes of the commands that were counted.
    pub block: u64,
    /// The rate that lasts, in units a second.
    pub base: Option<AccountEstimate>,
    /// The rate while credit is left.
    pub burst: Option<AccountEstimate>,
    /// Credit spent until the drop, in units: what there was when the record began.
    pub credit: Option<AccountEstimate>,
    /// Credit that a second without load earns, in units.
    pub refill: Option<AccountEstimate>,
    /// How long the burst lasted in the record, s.
    pub burst_s: Option<f64>,
    /// What speaks for it, a sentence each.
    pub why: Vec<String>,
}

impl AccountFinding {
    fn of(kind: SpeedKind, block: u64, why: Vec<String>) -> AccountFinding {
        AccountFinding {
            kind,
            unit: None,
            block,
            base: None,
            burst: None,
            credit: None,
            refill: None,
            burst_s: None,
            why,
        }
    }

    /// How long the credit lasts at this rate of use, s; `None`: for ever, or not known.
    pub fn lasts_s(&self, rate: f64) -> Option<f64> {
        let (base, burst, credit) = (self.base?, self.burst?, self.credit?);
        let spent = rate.min(burst.value) - base.value;
        (spent > 0.0).then(|| credit.value / spent)
    }
}

/// What the record shows.
pub fn detect(record: &AccountRecord) -> AccountFinding {
    match drain_of(record) {
        None => AccountFinding::of(SpeedKind::Unknown, 0, vec!["Nothing was drained.".into()]),
        Some((drain, Some(drop))) => {
            let finding = dropped(record, drain, &drop);
            if finding.kind == SpeedKind::Account {
                return finding;
            }
            limit_of_bytes(record, drain).unwrap_or(finding)
        }
        Some((drain, None)) => lasting(record, drain),
    }
}

/// The limit in bytes that small commands showed, where large ones have the same bytes: a rate of
/// few commands a second swings, and that is no fall.
fn limit_of_bytes(record: &AccountRecord, drain: &RateSeries) -> Option<AccountFinding> {
    let first = record.of(SeriesPurpose::Drain).next()?;
    if std::ptr::eq(first, drain) {
        return None;
    }
    let finding = lasting(record, first);
    let rates = drain.settled();
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let bytes = mean * drain.block as f64;
    let is_same = |limit: AccountEstimate| (bytes / limit.value - 1.0).abs() <= LARGE_ALIKE;
    let is_limit = finding.kind == SpeedKind::Limit && finding.unit == Some(AccountUnit::Bytes);
    (is_limit && finding.base.is_some_and(is_same)).then_some(finding)
}

fn shown(rate: f64) -> String {
    format!("{rate:.0}")
}

/// What pauses earned, a second of each: `None` where the burst did not end within the load.
fn refills(record: &AccountRecord, base: RateLevel) -> Vec<Option<AccountEstimate>> {
    let recovery = record.of(SeriesPurpose::Recovery);
    let refill = recovery.map(|series| {
        let ended = series.rates.len() >= 5
            && series.rates[series.rates.len() - 3..]
                .iter()
                .all(|rate| base.is_like(*rate, 0.05) || base.has(*rate));
        let extra: f64 = series.rates.iter().map(|rate| rate - base.rate).sum();
        let error = base.error() * series.rates.len() as f64 + 2.0;
        let mut earned = AccountEstimate::around(extra, error);
        // What was outstanding when the load before ended was served in the pause, and not counted.
        earned.high += f64::from(series.depth).min(base.rate);
        (ended && series.pause_s > 0.0).then(|| earned.times(1.0 / series.pause_s))
    });
    refill.collect()
}

/// What each pause gave back, a sentence.
fn pauses(record: &AccountRecord, earned: &[Option<AccountEstimate>]) -> Vec<String> {
    let pauses = record.of(SeriesPurpose::Recovery).zip(earned);
    let sentence = |(series, refill): (&RateSeries, &Option<AccountEstimate>)| {
        let pause_s = series.pause_s;
        Some(format!(
            "A pause of {pause_s} s gave back {} for each second of it.",
            shown(refill.as_ref()?.value)
        ))
    };
    pauses.filter_map(sentence).collect()
}

/// Of a series that dropped: an account or a drive.
fn dropped(record: &AccountRecord, drain: &RateSeries, drop: &LevelDrop) -> AccountFinding {
    let (before, after) = (drop.before, drop.after);
    let mut why = vec![format!(
        "Writes fell from {} to {} a second after {} s.",
        shown(before.rate),
        shown(after.rate),
        drop.second + 1
    )];
    let late = |reads: bool| record.of(SeriesPurpose::Late).find(|s| s.reads == reads);
    let read = late(true).map(|series| series.level().rate);
    let apart = record.reads_are_apart(drop);
    if let Some(rate) = read {
        why.push(format!("Reads had {} a second afterwards.", shown(rate)));
    }
    let steps = record.is_step(drain, drop);
    let unit = late(false).and_then(|series| unit_of(after, drain.block, series));
    let earned = refills(record, after);
    let known: Vec<AccountEstimate> = earned.iter().flatten().copied().collect();
    let is_earned = |refill: &AccountEstimate| {
        let slack = REFILL * after.rate;
        refill.high + slack >= after.rate && refill.low - slack <= after.rate
    };
    let contradicted = known.iter().any(|refill| !is_earned(refill));
    let kind = if apart || (!steps && (contradicted || known.is_empty())) {
        SpeedKind::DriveFall
    } else if read.is_some() && unit.is_some() && steps && !contradicted && !known.is_empty() {
        SpeedKind::Account
    } else {
        SpeedKind::Unknown
    };
    why.push(if steps {
        "Both rates are constant to a per cent, with nothing between.".to_owned()
    } else {
        format!(
            "Spread {:.1} % before and {:.1} % after, {} s between.",
            100.0 * before.spread,
            100.0 * after.spread,
            drop.between
        )
    });
    why.extend(pauses(record, &earned));
    let mut finding = AccountFinding::of(kind, drain.block, why);
    if kind == SpeedKind::Account {
        estimates(&mut finding, record, drain, drop, unit, &known);
    }
    finding
}

/// The figures of an account, in its unit.
fn estimates(
    finding: &mut AccountFinding,
    record: &AccountRecord,
    drain: &RateSeries,
    drop: &LevelDrop,
    unit: Option<AccountUnit>,
    refills: &[AccountEstimate],
) {
    let is_bytes = unit == Some(AccountUnit::Bytes);
    let block = drain.block as f64;
    let scale = if is_bytes { block } else { 1.0 };
    let base = drop.after.rate;
    let in_unit = |series: &RateSeries| {
        if is_bytes {
            series.block as f64 / block
        } else {
            1.0
        }
    };
    // What the loads before the drop took above the base was credit; idle time earned it back.
    let (mut spent, mut seconds) = (0.0, 0.0);
    for series in &record.series {
        let ends = std::ptr::eq(series, drain);
        let until = if ends {
            drop.second + 1
        } else {
            series.rates.len()
        };
        spent += series.rates[..until.min(series.rates.len())]
            .iter()
            .map(|rate| rate * in_unit(series) - base)
            .sum::<f64>();
        seconds += until as f64;
        if ends {
            break;
        }
        // Commands outstanding at its end were served, and not counted, while some credit came in.
        let rate = series.level().rate * in_unit(series);
        let uncounted = f64::from(series.depth) * in_unit(series);
        spent += uncounted * (1.0 - base / rate.max(base)).max(0.0);
    }
    let error = drop.after.error() * seconds + drop.before.rate;
    let early = record.of(SeriesPurpose::Early);
    let early = early.map(|series| series.level().rate * in_unit(series));
    let highest = early.fold(drop.before.rate, f64::max);
    finding.unit = unit;
    finding.base = Some(AccountEstimate::around(base, drop.after.error()).times(scale));
    finding.burst = Some(AccountEstimate::around(highest, drop.before.error()).times(scale));
    if !record.began_late {
        finding.credit = Some(AccountEstimate::around(spent, error).times(scale));
        finding.burst_s = Some((drop.second + 1) as f64);
    }
    finding.refill = refill(record, refills).map(|refill| refill.times(scale));
}

/// Reads before the drain.
struct EarlyReads {
    depth: u32,
    level: RateLevel,
    median: f64,
}

impl EarlyReads {
    fn of(series: &RateSeries) -> EarlyReads {
        EarlyReads {
            depth: series.depth,
            level: series.level(),
            median: median(series.settled()),
        }
    }
}

/// What a second without load earns: by two pauses of which one is twice as long, so that what
/// either lost at its ends is in neither; else by the longest, whose relative error is least.
fn refill(record: &AccountRecord, refills: &[AccountEstimate]) -> Option<AccountEstimate> {
    let last = refills.last()?;
    let pauses: Vec<f64> = record
        .of(SeriesPurpose::Recovery)
        .map(|series| series.pause_s)
        .collect();
    match (refills, pauses.as_slice()) {
        ([first, then], [short, long]) if *long >= 2.0 * short => {
            let earned = then.value * long - first.value * short;
            let error = (then.value - then.low) * long + (first.value - first.low) * short;
            let seconds = long - short;
            Some(AccountEstimate::around(earned, error).times(1.0 / seconds))
        }
        _ => Some(*last),
    }
}

/// Of a series that ended as it began: a limit, or none.
fn lasting(record: &AccountRecord, drain: &RateSeries) -> AccountFinding {
    let level = RateLevel::steadiest(drain.settled());
    let early: Vec<&RateSeries> = record.of(SeriesPurpose::Early).collect();
    let reads = early.iter().filter(|s| s.reads && s.block == drain.block);
    let reads: Vec<EarlyReads> = reads.map(|series| EarlyReads::of(series)).collect();
    // A host that stopped for a second moves a mean, and no median.
    let is_alike = |read: &EarlyReads| {
        level.is_alike(&read.level, read.level.rate, ALIKE) || level.is_like(read.median, ALIKE)
    };
    // A busy host holds some load back now and then; what no load does is to exceed a limit. What
    // half a queue has less by half, the queue holds back.
    let is_held = |read: &EarlyReads| {
        let rate = read.level.rate;
        rate < level.rate && (read.depth >= drain.depth || rate > HALF_QUEUE * level.rate)
    };
    let reads_fit = reads.iter().all(|read| is_alike(read) || is_held(read));
    let alike = reads.len() >= 2 && reads.iter().any(is_alike) && reads_fit;
    let mut why = vec![format!(
        "Writes stayed at {} a second for {} s, constant to {:.1} %.",
        shown(level.rate),
        drain.rates.len(),
        100.0 * level.spread
    )];
    why.extend(
        reads
            .iter()
            .map(|read| format!("Reads had {}.", shown(read.level.rate))),
    );
    if alike && level.is_constant() {
        let writes = early.iter().find(|series| !series.reads);
        // Larger commands that another limit holds have neither rate; small ones are then counted.
        let is_by_bytes = |series: &RateSeries| {
            let rate = series.level().rate * series.block as f64 / drain.block as f64;
            level.is_like(rate, LARGER_ALIKE)
        };
        let unit = if writes.is_some_and(|series| is_by_bytes(series)) {
            AccountUnit::Bytes
        } else {
            AccountUnit::Operations
        };
        let scale = if unit == AccountUnit::Bytes {
            drain.block as f64
        } else {
            1.0
        };
        let mut finding = AccountFinding::of(SpeedKind::Limit, drain.block, why);
        finding.unit = Some(unit);
        finding.base = Some(AccountEstimate::around(level.rate, level.error()).times(scale));
        return finding;
    }
    let is_split = |level: &RateLevel| level.spread > UNSTEADY || level.near < 0.75;
    let kind = if is_split(&level) || reads.iter().any(|read| is_split(&read.level)) {
        SpeedKind::Unsteady
    } else if reads.is_empty() {
        SpeedKind::Unknown
    } else {
        SpeedKind::NoLimit
    };
    AccountFinding::of(kind, drain.block, why)
}

#[cfg(test)]
#[path = "detect_tests.rs"]
mod tests;
