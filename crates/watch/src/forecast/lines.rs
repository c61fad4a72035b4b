//! A forecast in sentences.

use super::outlook::{
    ExpectedEvent, ForecastCause, ForecastInterval, ForecastOutlook, WatchForecast,
};
use ssdlab_view::{text, units};

/// Lines for the end of a report.
pub fn lines(forecast: &WatchForecast) -> String {
    let mut out = String::new();
    let parts = [
        ("write cliff", &forecast.cliff),
        ("throttling", &forecast.throttling),
        ("rated life", &forecast.life),
    ];
    for (name, outlook) in parts {
        out += &text::paragraph(name, &sentence(outlook));
    }
    out
}

fn sentence(outlook: &ForecastOutlook) -> String {
    match outlook {
        ForecastOutlook::Expected { event } => expected(event),
        ForecastOutlook::NotExpected { why, .. } => format!("none at the present load: {why}"),
        ForecastOutlook::Unknown { why, settled_by } => {
            format!("unknown: {why}; it needs {settled_by}")
        }
    }
}

fn expected(event: &ExpectedEvent) -> String {
    let event_text = match event.cause {
        ForecastCause::CacheFull => "the pSLC cache is full",
        ForecastCause::SpareExhausted => "free space runs out and reclaim works for each write",
        ForecastCause::Throttling => "the drive throttles",
        ForecastCause::RatedLife => "what the maker warrants is written",
    };
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
