//! One self-contained page per result: no network, no external file, readable without scripts.
//!
//! The page's Content-Security-Policy forbids every load, so the promise is kept by the browser
//! too. All text is escaped by maud; chart data is JSON in which `<` cannot occur. Charts are
//! drawn by uPlot (MIT, `assets/uplot`); y axes begin at zero unless the reader asks for the
//! logarithmic axis, which is then labelled.

mod bars;
mod chart;
mod evidence;
mod parts;
mod qualification;
mod reproduction;
mod run;
mod simulation;

use super::RunReport;
use crate::qualify::Qualification;
use crate::reproduce::Reproduction;
use crate::reproduce::figures::ARTICLES;
use crate::simulate::result::Simulation;
use crate::simulate::sample::Sample;
use chart::Charts;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");
const UPLOT_STYLE: &str = include_str!("../../assets/uplot/uPlot.min.css");
const UPLOT_SCRIPT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");
const UPLOT_LICENSE: &str = include_str!("../../assets/uplot/LICENSE");

/// Forbids every load: what the page needs is in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The page of a qualification: the answer, what gives, the requirements, the target beside the
/// modelled drives, charts, and what it all rests on.
pub fn qualification_page(q: &Qualification) -> String {
    let mut charts = Charts::default();
    let body = qualification::body(q, &mut charts);
    let name = &q.target.evidence.facts.name;
    page(
        &format!("{name}: qualification for {}", q.role),
        body,
        &charts,
    )
}

/// The page of one run, or of several overlaid for comparison.
pub fn run_page(runs: &[RunReport]) -> String {
    let mut charts = Charts::default();
    let body = run::body(runs, &mut charts);
    let title = match runs {
        [] => "no runs".to_owned(),
        [run] => format!("{} on {}", run.title, run.facts.name),
        runs => format!("{} runs compared", runs.len()),
    };
    page(&title, body, &charts)
}

/// The page of a simulated life.
pub fn simulation_page(simulation: &Simulation, samples: &[Sample]) -> String {
    let mut charts = Charts::default();
    let body = simulation::body(simulation, samples, &mut charts);
    let name = &simulation.drive.name;
    page(&format!("{name}: {}", simulation.load), body, &charts)
}

/// The pages of a reproduction, file name and text: `index.html`, and one per article of which
/// figures were asked for.
pub fn reproduction_pages(found: &Reproduction) -> Vec<(String, String)> {
    let index = plain_page("Published figures", reproduction::index(found));
    let mut pages = vec![("index.html".to_owned(), index)];
    for (key, title) in ARTICLES {
        if reproduction::rows_of(found, key).is_empty() {
            continue;
        }
        let mut charts = Charts::default();
        let body = reproduction::article(found, key, &mut charts);
        pages.push((format!("{key}.html"), page(title, body, &charts)));
    }
    pages
}

/// A page without uPlot's charts, in the same dress.
pub(crate) fn plain_page(title: &str, body: Markup) -> String {
    page(title, body, &Charts::default())
}

fn page(title: &str, body: Markup, charts: &Charts) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "ssdlab " (env!("CARGO_PKG_VERSION")) };
                title { (title) " - ssdlab" }
                style { (PreEscaped(UPLOT_STYLE)) (PreEscaped(STYLE)) }
            }
            body {
                button #theme type="button" hidden { "Theme" }
                main { (body) }
                footer {
                    @if let Some(note) = charts.thinned() { p { (note) } }
                    p {
                        "Made by ssdlab " (env!("CARGO_PKG_VERSION")) ". This page needs no \
                         network."
                        @if !charts.is_empty() {
                            " Charts: uPlot 1.6.32, MIT licence, in the page's source."
                        }
                    }
                }
                @if !charts.is_empty() { (scripts(charts)) }
            }
        }
    };
    markup.into_string()
}

fn scripts(charts: &Charts) -> Markup {
    html! {
        script type="application/json" id="charts" { (PreEscaped(charts.json())) }
        script { (PreEscaped(format!("/*\n{UPLOT_LICENSE}*/\n{UPLOT_SCRIPT}"))) }
        script { (PreEscaped(SCRIPT)) }
    }
}
