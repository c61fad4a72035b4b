//! When the rated endurance will be used up, with what the counters' resolution leaves open.
//!
//! A forecast divides the remaining life by the rate at which it is used. Both lie between bounds:
//! a percentage is known to one per cent, a count of 32 MiB to 32 MiB, Intel's timed workload to
//! 1/1,024 per cent. The earliest date takes the least that can be left at the fastest rate, the
//! latest the most at the slowest; a slowest rate of nothing gives no latest date. That the load
//! goes on as it was is assumed, and is not part of the bounds.

use super::inspection::Inspection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_bench::device::health::ReportedValue;

/// What a forecast is made from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForecastMethod {
    /// Intel's timed workload: wear to 1/1,024 per cent.
    TimedWorkload,
    /// Bytes written between reports, against the bytes that each per cent of life took so far.
    WritesPerPercent,
    /// Percentage used in two reports.
    PercentageUsed,
    /// Bytes written between reports, against the published rating.
    RatedWrites,
    /// Percentage used over the hours powered, all of its life.
    LifetimeAverage,
}

/// A forecast. Times are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Forecast {
    /// From what.
    pub method: ForecastMethod,
    /// Not before.
    pub earliest: f64,
    /// The middle of what is known; `None` when the counter did not move.
    pub likely: Option<f64>,
    /// Not after, if the load goes on; `None` when the counters are too coarse to say.
    pub latest: Option<f64>,
    /// The numbers, in a sentence without its full stop.
    pub why: String,
}

/// A number between bounds.
#[derive(Clone, Copy, Debug)]
struct BoundedValue {
    low: f64,
    middle: f64,
    high: f64,
}

impl BoundedValue {
    fn new(middle: f64, spread: f64) -> BoundedValue {
        BoundedValue {
            low: middle - spread,
            middle,
            high: middle + spread,
        }
    }

    fn of(reported: &ReportedValue) -> BoundedValue {
        BoundedValue::new(reported.value, reported.resolution)
    }

    /// The remaining life, of 100 per cent.
    fn left(used: &ReportedValue) -> BoundedValue {
        BoundedValue::new(100.0 - used.value, used.resolution)
    }

    fn over(self, seconds: f64) -> BoundedValue {
        BoundedValue {
            low: self.low / seconds,
            middle: self.middle / seconds,
            high: self.high / seconds,
        }
    }
}

/// Divides the remaining life by the rate. `None` when even the fastest rate is nothing.
fn divide(
    from: i64,
    left: BoundedValue,
    rate: BoundedValue,
    method: ForecastMethod,
    why: String,
) -> Option<Forecast> {
    if rate.high <= 0.0 {
        return None;
    }
    let from = from as f64;
    let positive = |value: f64| value > 0.0;
    Some(Forecast {
        method,
        earliest: from + left.low.max(0.0) / rate.high,
        likely: positive(rate.middle).then(|| from + left.middle.max(0.0) / rate.middle),
        latest: positive(rate.low)
            .then(|| from + left.high.max(0.0) / rate.low)
            .filter(|latest| latest.is_finite()),
        why,
    })
}

/// Whether the drive says that its rated life is over.
pub fn is_used_up(inspection: &Inspection) -> bool {
    let used = inspection.life.used_percent.as_ref();
    used.is_some_and(|used| used.value >= 100.0)
}

/// Every forecast that one look, or a first and a last one, allow; the best first.
///
/// # Errors
/// When the looks are of different drives, have no times or are not in order, or a counter went
/// back.
pub fn forecasts(first: Option<&Inspection>, last: &Inspection) -> Result<Vec<Forecast>, LabError> {
    if is_used_up(last) {
        return Ok(Vec::new());
    }
    let Some(now) = last.taken_at else {
        return match first {
            None => Ok(Vec::new()),
            Some(_) => Err(no_time(last)),
        };
    };
    let mut forecasts: Vec<Forecast> = timed(now, last).into_iter().collect();
    if let Some(first) = first {
        let seconds = between(first, last)?;
        forecasts.extend(writes_per_percent(now, first, last, seconds));
        forecasts.extend(percentage(now, first, last, seconds));
        forecasts.extend(rated(now, first, last, seconds));
    }
    if forecasts.is_empty() {
        forecasts.extend(lifetime(now, last));
    }
    Ok(forecasts)
}

fn no_time(inspection: &Inspection) -> LabError {
    LabError::refused(
        format!("{} does not say when it was made", inspection.source),
        "a forecast from two reports takes local_time.time_t in both, as smartctl prints it",
    )
}

/// Seconds from the first to the last look at one drive.
fn between(first: &Inspection, last: &Inspection) -> Result<f64, LabError> {
    let names = |i: &Inspection| (i.identity.model.clone(), i.identity.serial.clone());
    if names(first) != names(last) {
        return Err(LabError::refused(
            format!(
                "{} and {} are of different drives",
                first.source, last.source
            ),
            "a forecast takes two reports of one drive",
        ));
    }
    let from = first.taken_at.ok_or_else(|| no_time(first))?;
    let to = last.taken_at.ok_or_else(|| no_time(last))?;
    if to <= from {
        return Err(LabError::refused(
            format!("{} is not later than {}", last.source, first.source),
            "a forecast takes two reports from different times",
        ));
    }
    let counters = |i: &Inspection| {
        [
            (
                "host bytes written",
                i.life.host_bytes_written.as_ref().map(|t| t.value),
            ),
            ("power-on hours", i.events.power_on_hours),
            (
                "the percentage used",
                i.life.used_percent.as_ref().map(|t| t.value),
            ),
        ]
    };
    for ((name, before), (_, after)) in counters(first).into_iter().zip(counters(last)) {
        if let (Some(before), Some(after)) = (before, after)
            && after < before
        {
            return Err(LabError::refused(
                format!("{name} went back between the reports, from {before} to {after}"),
                "it is another drive, or its counters were reset: make two new reports",
            ));
        }
    }
    Ok((to - from) as f64)
}

/// By how much a counter grew a second.
fn growth(
    first: Option<&ReportedValue>,
    last: Option<&ReportedValue>,
    seconds: f64,
) -> Option<BoundedValue> {
    let (first, last) = (first?, last?);
    // Both ends are rounded the same way, so their difference is off by one unit at most.
    let grown = BoundedValue::new(
        last.value - first.value,
        last.resolution.max(first.resolution),
    );
    Some(grown.over(seconds))
}

const DAY_S: f64 = 86_400.0;

fn a_day(rate: BoundedValue) -> String {
    format!("{:.1} GB a day", rate.middle * DAY_S / 1e9)
}

fn timed(now: i64, last: &Inspection) -> Option<Forecast> {
    let (timed, used) = (last.timed.as_ref()?, last.life.used_percent.as_ref()?);
    let wear = BoundedValue::new(timed.media_wear_percent, 1.0 / 1024.0);
    let why = format!(
        "{:.3} % of the rated cycles in {:.1} hours of the timed workload, {:.0} % used",
        timed.media_wear_percent,
        timed.minutes / 60.0,
        used.value
    );
    let rate = wear.over(60.0 * timed.minutes);
    divide(
        now,
        BoundedValue::left(used),
        rate,
        ForecastMethod::TimedWorkload,
        why,
    )
}

fn percentage(now: i64, first: &Inspection, last: &Inspection, seconds: f64) -> Option<Forecast> {
    let (before, after) = (
        first.life.used_percent.as_ref(),
        last.life.used_percent.as_ref(),
    );
    let rate = growth(before, after, seconds)?;
    let (before, after) = (before?, after?);
    let why = format!(
        "from {:.0} to {:.0} % used in {:.1} days",
        before.value,
        after.value,
        seconds / DAY_S
    );
    divide(
        now,
        BoundedValue::left(after),
        rate,
        ForecastMethod::PercentageUsed,
        why,
    )
}

fn rated(now: i64, first: &Inspection, last: &Inspection, seconds: f64) -> Option<Forecast> {
    let written = last.life.host_bytes_written.as_ref();
    let rate = growth(first.life.host_bytes_written.as_ref(), written, seconds)?;
    let rating = last.known.as_ref()?.rating.as_ref()?;
    let written = BoundedValue::of(written?);
    let rated_bytes = rating.bytes_written as f64;
    let remaining = BoundedValue {
        low: rated_bytes - written.high,
        middle: rated_bytes - written.middle,
        high: rated_bytes - written.low,
    };
    let why = format!(
        "{:.1} of {:.0} TB written, {}, as if that load wore like the one it was rated on ({})",
        written.middle / 1e12,
        rated_bytes / 1e12,
        a_day(rate),
        rating.workload
    );
    divide(now, remaining, rate, ForecastMethod::RatedWrites, why)
}

fn writes_per_percent(
    now: i64,
    first: &Inspection,
    last: &Inspection,
    seconds: f64,
) -> Option<Forecast> {
    let written = last.life.host_bytes_written.as_ref();
    let rate = growth(first.life.host_bytes_written.as_ref(), written, seconds)?;
    let (written, used) = (written?.value, last.life.used_percent.as_ref()?);
    // Below two per cent the bytes of one per cent are anybody's guess.
    if used.value < 2.0 * used.resolution || used.value <= 0.0 {
        return None;
    }
    let remaining_at = |used: f64| (100.0 - used).max(0.0) * written / used;
    let remaining = BoundedValue {
        low: remaining_at(used.value + used.resolution),
        middle: remaining_at(used.value),
        high: remaining_at(used.value - used.resolution),
    };
    let why = format!(
        "{:.0} % used after {:.1} TB, {}",
        used.value,
        written / 1e12,
        a_day(rate)
    );
    divide(now, remaining, rate, ForecastMethod::WritesPerPercent, why)
}

fn lifetime(now: i64, last: &Inspection) -> Option<Forecast> {
    // At 0 per cent nothing is known but a bound that says nothing.
    let used = last
        .life
        .used_percent
        .as_ref()
        .filter(|used| used.value >= used.resolution)?;
    let hours = last.events.power_on_hours.filter(|hours| *hours >= 24.0)?;
    let rate = BoundedValue::of(used).over(3600.0 * hours);
    let why = format!(
        "{:.0} % used in {hours:.0} hours, if it stays powered as it was",
        used.value
    );
    divide(
        now,
        BoundedValue::left(used),
        rate,
        ForecastMethod::LifetimeAverage,
        why,
    )
}
