//! The pages of a reproduction: an index, and one per article that tells its story in order.

mod rows;

use crate::registry::{self, ARTICLES};
use crate::row::{FigureVerdict, ReproductionRow};
use crate::run::Reproduction;
use crate::story::{Article, ArticleSection};
use crate::table;
use maud::{Markup, PreEscaped, html};
use ssdlab_view::chart::Charts;
use ssdlab_view::page::{page, plain_page};

/// The pages of a reproduction, file name and text: `index.html`, and one per article of which
/// figures were asked for.
pub fn reproduction_pages(reproduction: &Reproduction) -> Vec<(String, String)> {
    let index = plain_page("Published figures", index(reproduction));
    let mut pages = vec![("index.html".to_owned(), index)];
    for article in &ARTICLES {
        if rows_of(reproduction, article).is_empty() {
            continue;
        }
        let mut charts = Charts::default();
        let body = story(reproduction, article, &mut charts);
        let file = format!("{}.html", article.key);
        pages.push((file, page(article.title, body, &charts)));
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
fn index(reproduction: &Reproduction) -> Markup {
    html! {
        style { (PreEscaped(STYLE)) }
        header .answer .fail[!reproduction.failures().is_empty()] {
            p .kicker { "ssdlab reproduce" span .quiet { " - seed " (reproduction.seed) } }
            h1 { "Every published figure beside ours" }
            p .counts { (table::summary(reproduction)) "." }
            (alarms(reproduction))
            p {
                "Five articles measured real drives. Each of their experiments is run here on \
                 modelled drives and hosts, in virtual time; ours stands beside what was \
                 published. A figure that is missed is shown as missed."
            }
        }
        section {
            h2 { "Articles" }
            (summary(reproduction))
            (rows::legend())
        }
        @for article in &ARTICLES {
            @let rows = rows_of(reproduction, article);
            @if !rows.is_empty() {
                section {
                    h2 { (link(article)) }
                    (rows::table(&rows, Some(article.key)))
                }
            }
        }
    }
}

/// What went wrong, where anything did.
fn alarms(reproduction: &Reproduction) -> Markup {
    html! {
        @if reproduction.stopped { p .alarm { "Stopped early: some experiments were not run." } }
        @for failure in reproduction.failures() { p .alarm { "✗ Self-check failed: " (failure) } }
    }
}

fn link(article: &Article) -> Markup {
    html! { a href={ (article.key) ".html" } { (article.title) } }
}

fn summary(reproduction: &Reproduction) -> Markup {
    let row = |article: &Article| -> Option<Vec<Markup>> {
        let rows = rows_of(reproduction, article);
        if rows.is_empty() {
            return None;
        }
        let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
        let mut cells = vec![link(article)];
        cells.extend(FigureVerdict::ALL.map(|verdict| html! { (count(verdict)) }));
        Some(cells)
    };
    let rows: Vec<Vec<Markup>> = ARTICLES.iter().filter_map(row).collect();
    let mut head = vec![html! { "Article" }];
    head.extend(FigureVerdict::ALL.map(|verdict| html! { (verdict.name().to_lowercase()) }));
    ssdlab_view::parts::table(&head, &rows)
}

/// One article: its story, section by section, then figures that belong to no section.
fn story(reproduction: &Reproduction, article: &Article, charts: &mut Charts) -> Markup {
    let rows = rows_of(reproduction, article);
    let homeless = |row: &&ReproductionRow| registry::section(&row.figure.id).is_none();
    let remaining_rows: Vec<&ReproductionRow> = rows.iter().copied().filter(homeless).collect();
    html! {
        style { (PreEscaped(STYLE)) }
        header .answer {
            p .kicker { a href="index.html" { "All articles" } }
            h1 { (article.title) }
            p { (article.source) }
            p { (article.intro) }
            (alarms(reproduction))
        }
        @for section in article.sections { (one(reproduction, section, &rows, charts)) }
        @if !remaining_rows.is_empty() {
            section { h2 { "Further figures" } (rows::table(&remaining_rows, None)) }
        }
        (rests_on(reproduction, &rows))
        @if !charts.is_empty() { (ssdlab_view::parts::about_charts()) }
    }
}

fn one(
    reproduction: &Reproduction,
    section: &ArticleSection,
    rows: &[&ReproductionRow],
    charts: &mut Charts,
) -> Markup {
    let own: Vec<&ReproductionRow> = rows
        .iter()
        .copied()
        .filter(|row| section.holds(&row.figure.id))
        .collect();
    if own.is_empty() {
        return html! {};
    }
    let mut runs: Vec<&str> = Vec::new();
    for name in own.iter().flat_map(|row| row.figure.experiments()) {
        let run = registry::named(name).map(|run| run.about().what);
        runs.extend(run.filter(|what| !runs.contains(what)));
    }
    html! {
        section id=(section.anchor) {
            h2 { (section.title) }
            @for paragraph in section.text { p { (paragraph) } }
            ((section.plots)(&reproduction.experiments, charts))
            (rows::table(&own, None))
            @for run in runs { p .quiet { "Run: " (run) "." } }
        }
    }
}

/// Calibrated and assumed values of the drives that the rows rest on.
fn rests_on(reproduction: &Reproduction, rows: &[&ReproductionRow]) -> Markup {
    let mut values: Vec<_> = rows
        .iter()
        .flat_map(|row| row.figure.experiments())
        .filter_map(|name| reproduction.experiments.0.get(name))
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

fn rows_of<'a>(reproduction: &'a Reproduction, article: &Article) -> Vec<&'a ReproductionRow> {
    let in_article = |row: &&ReproductionRow| {
        registry::article(&row.figure.id).is_some_and(|a| a.key == article.key)
    };
    reproduction.rows.iter().filter(in_article).collect()
}
