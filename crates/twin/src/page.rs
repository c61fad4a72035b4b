//! The page of a twin.

use crate::fit::{LoadFit, Twin};
use crate::show::{mib, value_rows};
use maud::{Markup, PreEscaped, html};
use ssdlab_view::page::plain_page;
use ssdlab_view::parts;

const STYLE: &str = "\
.fitted svg { display: block; width: 100%; height: auto; }
.fitted text { fill: var(--quiet); font-size: 12px; }
.fitted .interval { stroke: var(--c1); stroke-width: 6; opacity: 0.5; }
.fitted .model { stroke: var(--c1); stroke-width: 2; }
.fitted circle { fill: var(--c0); }
.fitted .axis { stroke: var(--quiet); stroke-width: 1; }
";
const WIDTH: f64 = 760.0;
const LEFT: f64 = 230.0;
const STEP: f64 = 22.0;

/// The page of a twin.
pub fn twin_page(twin: &Twin) -> String {
    let body = html! {
        style { (PreEscaped(STYLE)) }
        header .answer .fail[twin.unknown.is_some()] {
            p .kicker { "ssdlab twin fit" span .quiet { " - " (twin.table.source) } }
            h1 { (head(twin)) }
            p .quiet {
                "An ensemble of " (twin.members.len()) " models from " (twin.from)
                "; the interval of a figure holds the models' own error. What no row decides is \
                 UNKNOWN."
            }
        }
        (numbers(twin))
        (chart(&twin.figures))
        (figures(twin))
        (left_out(twin))
    };
    plain_page("twin of a measured drive", body)
}

fn head(twin: &Twin) -> String {
    match (&twin.unknown, twin.knobs.first()) {
        (Some(why), _) => format!("UNKNOWN: {why}"),
        (None, Some(spare)) => {
            let [low, high] = spare.interval.map(|x| x * 100.0);
            format!("Spare area {low:.0} to {high:.0} %, with 90 % probability")
        }
        (None, None) => "Nothing is known".into(),
    }
}

fn texts(cells: impl IntoIterator<Item = String>) -> Vec<Markup> {
    cells.into_iter().map(|cell| html! { (cell) }).collect()
}

fn numbers(twin: &Twin) -> Markup {
    let head = parts::heads(&["Of the drive", "Value", "90 %", "Standing", "Decided by"]);
    let rows: Vec<Vec<Markup>> = value_rows(twin).into_iter().map(texts).collect();
    html! {
        @if !rows.is_empty() {
            section { h2 { "What the rows decide" } (parts::table(&head, &rows)) }
        }
    }
}

/// Measured rates over the ensemble's intervals.
fn chart(figures: &[LoadFit]) -> Markup {
    let top = figures
        .iter()
        .map(|f| f.rate.max(f.model[2]))
        .fold(1.0, f64::max);
    let x = |rate: f64| format!("{:.1}", LEFT + rate / top * (WIDTH - LEFT - 60.0));
    let height = STEP * (figures.len() as f64 + 1.5);
    html! {
        @if figures.iter().any(|f| f.model[2] > 0.0) {
            figure .fitted {
                figcaption { "Rate of host writes: measured (dot), models (line: 90 %)" }
                svg viewBox={ "0 0 " (WIDTH) " " (height) } role="img"
                    aria-label="measured and modelled rates" {
                    line .axis x1=(LEFT) x2=(LEFT) y1="4" y2=(height - STEP) {}
                    @for (i, figure) in figures.iter().enumerate() {
                        @let y = STEP * (i as f64 + 0.7);
                        text x=(LEFT - 8.0) y=(y + 4.0) text-anchor="end" {
                            (figure.load.label())
                        }
                        line .interval x1=(x(figure.model[0])) x2=(x(figure.model[2]))
                            y1=(y) y2=(y) {}
                        line .model x1=(x(figure.model[1])) x2=(x(figure.model[1])) y1=(y - 7.0)
                            y2=(y + 7.0) {}
                        circle cx=(x(figure.rate)) cy=(y) r="4" {
                            title { (mib(figure.rate)) " MiB/s measured" }
                        }
                    }
                    text x=(LEFT) y=(height - 4.0) text-anchor="middle" { "0" }
                    text x=(x(top)) y=(height - 4.0) text-anchor="middle" { (mib(top)) " MiB/s" }
                }
            }
        }
    }
}

fn figures(twin: &Twin) -> Markup {
    let head = parts::heads(&["Load", "Measured MiB/s", "Models", "90 %", "Lines"]);
    let rows: Vec<Vec<Markup>> = twin
        .figures
        .iter()
        .map(|figure| {
            let [low, middle, high] = figure.model.map(mib);
            let lines: Vec<String> = figure.lines.iter().map(usize::to_string).collect();
            let interval = format!("{low} to {high}");
            let label = figure.load.label();
            texts([label, mib(figure.rate), middle, interval, lines.join(", ")])
        })
        .collect();
    html! {
        @if !rows.is_empty() { section { h2 { "Fitted to" } (parts::table(&head, &rows)) } }
    }
}

fn left_out(twin: &Twin) -> Markup {
    let line = |row: &crate::table::MeasurementRow| {
        let why = row.left_out.as_ref()?;
        Some(format!("line {}, {}: {why}", row.line, row.load.label()))
    };
    let lines: Vec<String> = twin.table.rows.iter().filter_map(line).collect();
    html! {
        @if !lines.is_empty() { section { h2 { "Left out" } (parts::list(&lines)) } }
    }
}
