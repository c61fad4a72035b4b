//! A forecast in sentences.

use super::outlook::{
    ExpectedEvent, ForecastCause, ForecastInterval, ForecastOutlook, WatchForecast,
};
use ssdlab_view::{text, units};

/// Lines for the end of a report.
pub fn lines(forecast: &WatchForecast) -> String {
    let parts = forecast.parts().into_iter();
    parts
        .map(|(name, outlook)| text::paragraph(name, &sentence(outlook)))
        .collect()
}

/// What comes first, in one sentence; the rated life only when nothing comes before it.
pub fn next_sentence(forecast: &WatchForecast) -> Option<String> {
    let events = [&forecast.cliff, &forecast.throttling].map(ForecastOutlook::expected);
    let soonest = events
        .into_iter()
        .flatten()
        .min_by(|a, b| a.seconds.median.total_cmp(&b.seconds.median));
    let event = soonest.or_else(|| forecast.life.expected())?;
    Some(format!(
        "{} in {} (80 %: {})",
        event_text(event),
        time(event.seconds.median),
        ends(&event.seconds, time)
    ))
}

/// An outlook as a sentence.
pub fn sentence(outlook: &ForecastOutlook) -> String {
    match outlook {
        ForecastOutlook::Expected { event } => expected(event),
        ForecastOutlook::NotExpected { why, .. } => format!("none at the present load: {why}"),
        ForecastOutlook::Unknown { why, settled_by } => {
            format!("unknown: {why}; it needs {settled_by}")
        }
    }
}

fn event_text(event: &ExpectedEvent) -> &'static str {
    match event.cause {
        ForecastCause::CacheFull => "the pSLC cache is full",
        ForecastCause::SpareExhausted => "free space runs out and reclaim works for each write",
        ForecastCause::Throttling => "the drive throttles",
        ForecastCause::RatedLife => "what the maker warrants is written",
    }
}

fn expected(event: &ExpectedEvent) -> String {
    let event_text = event_text(event);
    let after = event.rate_after.map_or(String::new(), |rate| {
        format!("; writes then come at some {}", units::throughput(rate))
    });
    format!(
        "{event_text} in {} (80 %: {}), after {} more written (80 %: {}){after}",
        time(event.seconds.median),
        ends(&event.seconds, time),
        bytes(event.bytes.median),
        ends(&event.bytes, bytes),
    )
}

fn ends(interval: &ForecastInterval, one: fn(f64) -> String) -> String {
    match interval.high {
        Some(high) => format!("{} to {}", one(interval.low), one(high)),
        None => format!("{} or later, or never", one(interval.low)),
    }
}

fn bytes(bytes: f64) -> String {
    units::decimal_bytes(bytes)
}

const DAY_S: f64 = 86_400.0;

fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 120.0 => (s, "s"),
        s if s < 2.0 * 3600.0 => (s / 60.0, "min"),
        s if s < 2.0 * DAY_S => (s / 3600.0, "h"),
        s if s < 730.0 * DAY_S => (s / DAY_S, "days"),
        s => (s / (365.25 * DAY_S), "years"),
    };
    if value < 9.95 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}
