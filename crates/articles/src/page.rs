//! The pages of a reproduction: an index, and one per article that tells its story in order.

mod bars;
mod figures;
mod plots;
mod story;
mod worn;

use crate::reproduce::figures::{ARTICLES, Row};
use crate::reproduce::{Experiment, Outcome, Reproduction, table};
use maud::{Markup, PreEscaped, html};
use ssdlab_view::chart::Charts;
use ssdlab_view::page::{page, plain_page};
use story::Section;

/// The pages of a reproduction, file name and text: `index.html`, and one per article of which
/// figures were asked for.
pub fn reproduction_pages(found: &Reproduction) -> Vec<(String, String)> {
    let index = plain_page("Published figures", index(found));
    let mut pages = vec![("index.html".to_owned(), index)];
    for (key, title) in ARTICLES {
        if rows_of(found, key).is_empty() {
            continue;
        }
        let mut charts = Charts::default();
        let body = article(found, key, &mut charts);
        pages.push((format!("{key}.html"), page(title, body, &charts)));
    }
    pages
}

/// The style of what only these pages have.
const STYLE: &str = "\
.figures td, .figures th { white-space: normal; }
.figures td:nth-child(4) { white-space: nowrap; }
.figures .number { white-space: nowrap; font-weight: 600; }
.figures .why { font-size: 12.5px; color: var(--quiet); max-width: 52ch; }
.seeks svg { display: block; width: 100%; height: auto; }
.seeks text { fill: var(--quiet); font-size: 10.5px; }
.seeks .grid { stroke: var(--grid); stroke-width: 1; }
.seeks .axis { stroke: var(--quiet); stroke-width: 1; }
.seeks rect { fill: var(--c); }
.counts { font-size: 17px; }
";

/// The index: all rows of all articles.
fn index(found: &Reproduction) -> Markup {
    html! {
        style { (PreEscaped(STYLE)) }
        header .answer .fail[!found.failures().is_empty()] {
            p .kicker { "ssdlab reproduce" span .quiet { " - seed " (found.seed) } }
            h1 { "Every published figure beside ours" }
            p .counts { (table::summary(found)) "." }
            (alarms(found))
            p {
                "Five articles measured real drives. Each of their experiments is run here on \
                 modelled drives and hosts, in virtual time; ours stands beside what was \
                 published. A figure that is missed is shown as missed."
            }
        }
        section {
            h2 { "Articles" }
            (summary(found))
            (figures::legend())
        }
        @for (key, title) in ARTICLES {
            @let rows = rows_of(found, key);
            @if !rows.is_empty() {
                section {
                    h2 { a href={ (key) ".html" } { (title) } }
                    (figures::table(&rows, Some(key)))
                }
            }
        }
    }
}

/// What went wrong, where anything did.
fn alarms(found: &Reproduction) -> Markup {
    html! {
        @if found.stopped { p .alarm { "Stopped early: some experiments were not run." } }
        @for failure in found.failures() { p .alarm { "✗ Self-check failed: " (failure) } }
    }
}

fn summary(found: &Reproduction) -> Markup {
    let row = |(key, title): &(&str, &str)| -> Option<Vec<Markup>> {
        let rows = rows_of(found, key);
        if rows.is_empty() {
            return None;
        }
        let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        let mut cells = vec![html! { a href={ (key) ".html" } { (title) } }];
        cells.extend(figures::VERDICTS.map(|verdict| html! { (count(verdict)) }));
        Some(cells)
    };
    let rows: Vec<Vec<Markup>> = ARTICLES.iter().filter_map(row).collect();
    let mut head = vec![html! { "Article" }];
    head.extend(figures::VERDICTS.map(|verdict| html! { (verdict.name().to_lowercase()) }));
    ssdlab_view::parts::table(&head, &rows)
}

/// One article: its story, section by section, then whatever belongs to no section.
fn article(found: &Reproduction, key: &str, charts: &mut Charts) -> Markup {
    let rows = rows_of(found, key);
    let told = story::of(key);
    let title = ARTICLES.iter().find(|article| article.0 == key);
    let rest: Vec<&Row> = rows
        .iter()
        .copied()
        .filter(|row| story::section_of(row).is_none())
        .collect();
    html! {
        style { (PreEscaped(STYLE)) }
        header .answer {
            p .kicker { a href="index.html" { "All articles" } }
            h1 { (title.map_or("", |article| article.1)) }
            p { (told.source) }
            p { (told.intro) }
            (alarms(found))
        }
        @for section in told.sections { (one(found, section, &rows, charts)) }
        @if !rest.is_empty() {
            section { h2 { "Further figures" } (figures::table(&rest, None)) }
        }
        (rests_on(found, &rows))
        @if !charts.is_empty() { (ssdlab_view::parts::about_charts()) }
    }
}

fn one(found: &Reproduction, section: &Section, rows: &[&Row], charts: &mut Charts) -> Markup {
    let own: Vec<&Row> = rows
        .iter()
        .copied()
        .filter(|row| section.holds(&row.figure.id))
        .collect();
    if own.is_empty() {
        return html! {};
    }
    let mut runs: Vec<&Experiment> = Vec::new();
    for name in own.iter().flat_map(|row| row.figure.experiments()) {
        if let Some(run) = Experiment::named(name)
            && !runs.iter().any(|seen| seen.what == run.what)
        {
            runs.push(run);
        }
    }
    html! {
        section id=(section.anchor) {
            h2 { (section.title) }
            @for paragraph in section.text { p { (paragraph) } }
            ((section.plots)(found, charts))
            (figures::table(&own, None))
            @for run in runs { p .quiet { "Run: " (run.what) "." } }
        }
    }
}

/// Calibrated and assumed values of the drives that the rows rest on.
fn rests_on(found: &Reproduction, rows: &[&Row]) -> Markup {
    let mut values: Vec<_> = rows
        .iter()
        .flat_map(|row| row.figure.experiments())
        .filter_map(|name| found.experiments.get(name))
        .flat_map(|outcome| &outcome.rests_on)
        .collect();
    values.sort_unstable();
    values.dedup();
    html! {
        @if !values.is_empty() {
            section {
                h2 { "What it rests on" }
                details {
                    summary { (values.len()) " calibrated and assumed values of the drives" }
                    ul { @for value in values { li { (value.as_ref()) } } }
                }
            }
        }
    }
}

fn rows_of<'a>(found: &'a Reproduction, key: &str) -> Vec<&'a Row> {
    let of_article = |row: &&Row| row.figure.article() == key;
    found.rows.iter().filter(of_article).collect()
}

/// A measure of an experiment that was run.
fn measure(found: &Reproduction, experiment: &str, name: &str) -> Option<f64> {
    outcome(found, experiment)?.values.get(name).copied()
}

fn outcome<'a>(found: &'a Reproduction, experiment: &str) -> Option<&'a Outcome> {
    found.experiments.get(experiment)
}
