//! Small drawings: predicted over measured on logarithmic axes, and a fill.

use crate::score::ScoredRow;
use maud::{Markup, html};

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 52.0;
const BELOW: f64 = 36.0;

/// Predicted over measured, with the class and the sheet as hollow marks.
pub fn scatter(title: &str, rows: &[&ScoredRow<'_>]) -> Markup {
    let values = rows.iter().flat_map(|scored| {
        let own = [scored.row.figure.value, scored.prediction.predicted];
        own.into_iter().chain(scored.class).chain(scored.sheet)
    });
    let (least, most) = values
        .filter(|value| *value > 0.0)
        .fold((f64::MAX, 0.0), |range, v| {
            (f64::min(range.0, v), f64::max(range.1, v))
        });
    let (low, high) = (least.log10().floor(), most.log10().ceil());
    let span = (high - low).max(1.0);
    let x = move |value: f64| LEFT + (value.log10() - low) / span * (WIDTH - LEFT - 8.0);
    let y =
        move |value: f64| HEIGHT - BELOW - (value.log10() - low) / span * (HEIGHT - BELOW - 8.0);
    let decades: Vec<f64> = (low as i32..=high as i32).map(|n| 10_f64.powi(n)).collect();
    let (first, last) = (10_f64.powf(low), 10_f64.powf(high));
    let placed = |value: Option<f64>| value.filter(|value| *value > 0.0);
    html! {
        figure {
            figcaption { strong { (title) } " (" (rows.len()) " figures)" }
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img"
                aria-label={ (title) ": predicted over measured, logarithmic" } {
                @for decade in &decades {
                    line .axis x1=(x(*decade)) x2=(x(*decade)) y1=(y(first)) y2=(y(last)) {}
                    line .axis x1=(x(first)) x2=(x(last)) y1=(y(*decade)) y2=(y(*decade)) {}
                    // The last label ends at the edge: centred, its last letter would be cut.
                    @let anchor = if *decade < last { "middle" } else { "end" };
                    @let edge = if *decade < last { 0.0 } else { 8.0 };
                    text x=(x(*decade) + edge) y=(HEIGHT - BELOW + 14.0) text-anchor=(anchor) {
                        (short(*decade))
                    }
                    text x=(LEFT - 6.0) y=(y(*decade) + 4.0) text-anchor="end" { (short(*decade)) }
                }
                line .same x1=(x(first)) y1=(y(first)) x2=(x(last)) y2=(y(last)) {}
                text x=(WIDTH / 2.0) y=(HEIGHT - 4.0) text-anchor="middle" { "measured" }
                text x=(LEFT + 6.0) y="20" { "predicted" }
                @for scored in rows.iter().filter(|scored| scored.row.figure.value > 0.0) {
                    @let at = x(scored.row.figure.value);
                    @if let Some(class) = placed(scored.class) {
                        circle .class cx=(tenth(at)) cy=(tenth(y(class))) r="3" {}
                    }
                    @if let Some(sheet) = placed(scored.sheet) {
                        circle .sheet cx=(tenth(at)) cy=(tenth(y(sheet))) r="4" {}
                    }
                    @let height = tenth(y(scored.prediction.predicted));
                    circle .model cx=(tenth(at)) cy=(height) r="2.5" {
                        title {
                            (scored.row.drive.model) ": " (scored.prediction.predicted) " for "
                            (scored.row.figure.value) " " (scored.row.figure.metric.unit())
                        }
                    }
                }
            }
        }
    }
}

/// A rate over bytes written, as steps: pairs of the end in GB and MB/s.
pub fn fill(phases: &[(f64, f64)]) -> Markup {
    let most_gb = phases.last().map_or(1.0, |phase| phase.0).max(1.0);
    let most = phases.iter().map(|phase| phase.1).fold(1.0, f64::max) * 1.1;
    let x = |gb: f64| LEFT + gb / most_gb * (WIDTH - LEFT - 8.0);
    let y = |rate: f64| 200.0 - BELOW - rate / most * (200.0 - BELOW - 8.0);
    let mut path = String::new();
    let mut from = 0.0;
    for (end, rate) in phases {
        let (left, right, height) = (tenth(x(from)), tenth(x(*end)), tenth(y(*rate)));
        let verb = if path.is_empty() { 'M' } else { 'L' };
        path += &format!("{verb}{left} {height} L{right} {height} ");
        from = *end;
    }
    html! {
        figure {
            svg viewBox={ "0 0 " (WIDTH) " 200" } role="img" aria-label="rate of a fill" {
                line .axis x1=(LEFT) x2=(WIDTH - 8.0) y1=(y(0.0)) y2=(y(0.0)) {}
                line .axis x1=(LEFT) x2=(LEFT) y1=(y(0.0)) y2="8" {}
                text x=(LEFT - 6.0) y="14" text-anchor="end" { (short(most / 1.1)) }
                text x=(LEFT - 6.0) y=(y(0.0)) text-anchor="end" { "0" }
                text x=(WIDTH - 8.0) y="182" text-anchor="end" { (short(most_gb)) " GB written" }
                text x=(LEFT + 6.0) y="14" { "MB/s" }
                path .course d=(path.trim_end()) {}
            }
        }
    }
}

fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// `20k`, `3M`, `0.1`.
fn short(value: f64) -> String {
    match value {
        _ if value >= 1e6 => format!("{:.0}M", value / 1e6),
        _ if value >= 1e4 => format!("{:.0}k", value / 1e3),
        _ if value >= 1.0 => format!("{value:.0}"),
        _ => format!("{value}"),
    }
}
