//! The pages of a reproduction: an index, and one per article that tells its story in order.

use super::chart::Charts;
use super::parts;
use crate::reproduce::figures::{ARTICLES, Row};
use crate::reproduce::{Reproduction, table};
use maud::{Markup, html};

/// The index: all rows of all articles.
pub(super) fn index(found: &Reproduction) -> Markup {
    html! {
        header .answer .fail[!found.failures().is_empty()] {
            p .kicker { "ssdlab reproduce" span .quiet { " - seed " (found.seed) } }
            h1 { "Every published figure beside ours" }
            p { (table::summary(found)) "." }
        }
        @for (key, title) in ARTICLES {
            @let rows: Vec<&Row> = rows_of(found, key);
            @if !rows.is_empty() {
                section {
                    h2 { a href={ (key) ".html" } { (title) } }
                    (figures(&rows))
                }
            }
        }
    }
}

/// One article.
pub(super) fn article(found: &Reproduction, key: &str, title: &str, _: &mut Charts) -> Markup {
    let rows = rows_of(found, key);
    html! {
        header .answer {
            p .kicker { a href="index.html" { "All articles" } }
            h1 { (title) }
        }
        section { h2 { "Figures" } (figures(&rows)) }
    }
}

pub(super) fn rows_of<'a>(found: &'a Reproduction, key: &str) -> Vec<&'a Row> {
    found
        .rows
        .iter()
        .filter(|row| row.figure.article() == key)
        .collect()
}

fn figures(rows: &[&Row]) -> Markup {
    let head = parts::heads(&[
        "Figure",
        "Published",
        "Ours",
        "Error",
        "Kind",
        "Asked",
        "Verdict",
    ]);
    let cells = |row: &&Row| -> Vec<Markup> {
        let figure = &row.figure;
        vec![
            html! { (figure.id) @if !figure.what.is_empty() { br; (figure.what) } },
            html! { (figure.published_text()) },
            html! { (row.ours_text()) },
            html! { (row.error_text()) },
            html! { (figure.kind.name()) },
            html! { (figure.rule.map_or(String::new(), |rule| rule.text())) },
            html! { (row.verdict.name()) },
        ]
    };
    let rows: Vec<Vec<Markup>> = rows.iter().map(cells).collect();
    parts::table(&head, &rows)
}
