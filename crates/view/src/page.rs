//! One self-contained page per result: no network, no external file, readable without scripts.
//!
//! The page's Content-Security-Policy forbids every load, so the promise is kept by the browser
//! too. All text is escaped by maud; chart data is JSON in which `<` cannot occur. Charts are
//! drawn by uPlot (MIT, `assets/uplot`); y axes begin at zero unless values span more than two
//! decades or the reader asks for the logarithmic axis, which is then labelled.

use crate::chart::Charts;
use crate::text::escape_controls;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("../assets/report.css");
const SCRIPT: &str = include_str!("../assets/report.js");
const THEME_SCRIPT: &str = include_str!("../assets/theme.js");
const STACK_SCRIPT: &str = include_str!("../assets/stack.js");
const SORT_SCRIPT: &str = include_str!("../assets/sort.js");
const UPLOT_STYLE: &str = include_str!("../assets/uplot/uPlot.min.css");
const UPLOT_SCRIPT: &str = include_str!("../assets/uplot/uPlot.iife.min.js");
const UPLOT_LICENSE: &str = include_str!("../assets/uplot/LICENSE");

/// Forbids every load: what the page needs is in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// A page without charts.
pub fn plain_page(title: &str, body: Markup) -> String {
    page(title, body, &Charts::default())
}

/// A whole page in one file: head, style, `body`, and the scripts that `charts` need.
pub fn page(title: &str, body: Markup, charts: &Charts) -> String {
    let has_tables = body.0.contains("class=\"scroll");
    let is_sortable = body.0.contains("class=\"sortable\"");
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "ssdlab " (env!("CARGO_PKG_VERSION")) };
                title { (escape_controls(title)) " - ssdlab" }
                style { (PreEscaped(UPLOT_STYLE)) (PreEscaped(STYLE)) }
            }
            body {
                button #theme type="button" hidden { "Theme" }
                main { (PreEscaped(escape_controls(&body.0))) }
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
                script { (PreEscaped(THEME_SCRIPT)) }
                @if has_tables { script { (PreEscaped(STACK_SCRIPT)) } }
                @if is_sortable { script { (PreEscaped(SORT_SCRIPT)) } }
                @if !charts.is_empty() { (scripts(charts)) }
            }
        }
    };
    markup.into_string()
}

fn scripts(charts: &Charts) -> Markup {
    html! {
        script type="application/json" id="charts" { (PreEscaped(escape_controls(&charts.json()))) }
        script { (PreEscaped(format!("/*\n{UPLOT_LICENSE}*/\n{UPLOT_SCRIPT}"))) }
        script { (PreEscaped(SCRIPT)) }
    }
}
