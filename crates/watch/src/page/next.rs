//! What comes next, and what of the drive's life is used, on the page.

use crate::forecast::sentence;
use crate::report::WatchReport;
use maud::{Markup, html};
use ssdlab_view::{parts, units};

/// The forecast of a model at the present load.
pub(super) fn forecast(report: &WatchReport) -> Markup {
    let Some(forecast) = &report.forecast else {
        return html! {};
    };
    let rows: Vec<Vec<Markup>> = forecast
        .parts()
        .into_iter()
        .map(|(name, outlook)| vec![html! { (name) }, html! { (sentence(outlook)) }])
        .collect();
    html! {
        section {
            h2 { "What comes next" }
            p .quiet {
                "At the present load, " (units::throughput(forecast.write_rate))
                " of writes with its pauses"
                @if let Some(drive) = &forecast.drive { ", by the model of " (drive) }
                ". Predicted, each with the ends between which 80 % of the drawn drives lie."
            }
            (parts::table(&parts::heads(&["", "At this load"]), &rows))
        }
    }
}

/// What the drive counts of its own life.
pub(super) fn wear(report: &WatchReport) -> Markup {
    let Some(drive) = &report.counters.drive else {
        return html! {};
    };
    let percent = |value: Option<f64>| value.map(|value| format!("{value:.0} %"));
    let facts = [
        ("Rated life used", percent(drive.used_percent)),
        ("Spare left", percent(drive.spare_percent)),
        ("Errors of the media", drive.media_errors.map(units::count)),
        (
            "Bytes programmed for each byte written",
            drive.write_amplification().map(|waf| format!("{waf:.2}")),
        ),
    ];
    html! {
        section {
            h2 { "The drive's own counters" }
            dl .facts {
                @for (name, value) in facts {
                    @if let Some(value) = value { dt { (name) } dd { (value) } }
                }
            }
        }
    }
}
