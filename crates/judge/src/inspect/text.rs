//! An inspection as text for a terminal.

use super::drives::InspectedDrive;
use super::forecast::{Forecast, ForecastMethod};
use super::inspection::Inspection;
use super::show::lines;
use ssdlab_base::clock::Utc;
use ssdlab_view::text::wrap;

/// Where the text begins, in columns; the labels stand before it.
const INDENT: usize = 15;
const WIDTH: usize = 80;
/// A forecast further off than this gets no date: no drive lasts so long.
const FAR_S: f64 = 100.0 * 365.25 * 86_400.0;

/// The inspection, its forecasts and where the drive stands, a paragraph each.
pub fn text(drive: &InspectedDrive) -> String {
    let (inspection, forecasts) = (&drive.inspection, &drive.forecasts);
    let when = inspection
        .taken_at
        .and_then(|at| u64::try_from(at).ok())
        .map_or(String::new(), |at| {
            format!(", {}", Utc::from_unix(at).date())
        });
    let mut out = format!("{}{when}\n", inspection.source);
    for (label, text) in lines(inspection) {
        out += &paragraph(label, &text);
    }
    for (n, forecast) in forecasts.iter().enumerate() {
        let label = if n == 0 { "worn out" } else { "" };
        out += &paragraph(label, &sentence(forecast, inspection));
    }
    for (n, text) in in_service(drive).iter().enumerate() {
        let label = if n == 0 { "in service" } else { "" };
        out += &paragraph(label, text);
    }
    out
}

/// The drive among drives of its model, or that there are none to compare with.
fn in_service(drive: &InspectedDrive) -> Vec<String> {
    match &drive.in_service {
        Some(standing) if standing.sentences.is_empty() => {
            let like = if standing.is_sibling {
                format!("the same product, {},", standing.model_code)
            } else {
                "this model".into()
            };
            vec![format!(
                "{} drives of {like} are known; too little is worn or reported to compare",
                standing.drives
            )]
        }
        Some(standing) => standing.sentences.clone(),
        None => vec!["no population: counters of drives of this model are not known".into()],
    }
}

fn paragraph(label: &str, text: &str) -> String {
    let mut out = String::new();
    for (n, line) in wrap(text, WIDTH - INDENT).iter().enumerate() {
        let label = if n == 0 { label } else { "" };
        out += format!("  {label:<13}{line}").trim_end();
        out.push('\n');
    }
    out
}

fn sentence(forecast: &Forecast, inspection: &Inspection) -> String {
    let from = inspection.taken_at.unwrap_or(0) as f64;
    let date = |t: f64| (t - from <= FAR_S).then(|| Utc::from_unix(t as u64).date());
    let by = match forecast.method {
        ForecastMethod::TimedWorkload => "by the timed workload",
        ForecastMethod::WritesPerPercent => "by writes and what each per cent of life took so far",
        ForecastMethod::PercentageUsed => "by the percentage used",
        ForecastMethod::RatedWrites => "by the published rating",
        ForecastMethod::LifetimeAverage => "by the average of its life so far",
    };
    let far = || "100 years and more".to_owned();
    let span = match (date(forecast.earliest), forecast.likely.map(date)) {
        (None, _) => "in more than 100 years".into(),
        (Some(earliest), None) => format!("not before {earliest}"),
        (Some(earliest), Some(None)) => format!("after {earliest}, perhaps long after"),
        (Some(earliest), Some(Some(likely))) => {
            let latest = forecast.latest.and_then(date).unwrap_or_else(far);
            if earliest == likely && likely == latest {
                likely
            } else {
                format!("{likely} ({earliest} to {latest})")
            }
        }
    };
    format!("{span}, {by}: {}", forecast.why)
}
