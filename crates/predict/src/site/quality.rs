//! How good the predictions are.

use super::parts::{page, table};
use super::plot::scatter;
use crate::score::{FigureGroup, NullScore, Score, ScoreLine, ScoredRow};
use maud::{Markup, html};
use ssdlab_view::units::count;
use std::collections::BTreeMap;

fn null(null: Option<NullScore>) -> String {
    null.map_or_else(String::new, |null| {
        format!("{:.2} / {:.2}", null.error, null.model)
    })
}

const HEADS: [&str; 11] = [
    "of",
    "rows",
    "drives",
    "sources",
    "error",
    "bias",
    "in 80 %",
    "rank",
    "sheet / model",
    "class / model",
    "nearest / model",
];

fn lines(title: &str, lines: &[ScoreLine]) -> Markup {
    let rows = html! {
        @for line in lines { tr {
            th scope="row" { (line.name) }
            td .n { (line.rows) } td .n { (line.drives) } td .n { (line.sources) }
            td .n { (format!("{:.2}", line.error)) }
            td .n { (format!("{:.2}", line.bias)) }
            td .n { (format!("{:.0} %", 100.0 * line.coverage)) }
            td .n { (line.rank.map_or(String::new(), |rank| format!("{rank:.2}"))) }
            td .n { (null(line.sheet)) }
            td .n { (null(line.class)) }
            td .n { (null(line.nearest)) }
        } }
    };
    html! {
        h2 { (title) }
        (table(None, &HEADS, &rows))
    }
}

/// The page.
pub fn whole(scored: &[ScoredRow<'_>], score: &Score) -> String {
    let mut groups: BTreeMap<FigureGroup, Vec<&ScoredRow<'_>>> = BTreeMap::new();
    for row in scored {
        groups.entry(row.group).or_default().push(row);
    }
    let body = html! {
        p { a href="index.html" { "All drives" } }
        h1 { "How good the predictions are" }
        p {
            (count(scored.len() as u64)) " of " (count(score.measured as u64))
            " measured figures were predicted, and the predictions frozen. Error: the geometric \
             mean of the larger ratio. Beside each null stands the model's error on the same \
             figures."
        }
        p .key {
            span .m { "\u{25cf} model" } span .k { "\u{25cb} median of the class" }
            span .s { "\u{25cb} the maker's sheet" } span { "- - as measured" }
        }
        div .grid {
            @for (group, rows) in &groups { (scatter(group.name(), rows)) }
        }
        (lines("By kind of figure", &score.groups))
        (lines("Families set apart: nothing was fitted on them", &score.apart))
        (lines("Durable and random writes, by class", &score.classes))
        (lines("By what the model was made from", &score.bases))
        (lines("By family", &score.families))
        h2 { "Not predicted" }
        ul { @for (why, count) in &score.unpredicted { li { (count) ": " (why) } } }
    };
    page("How good the predictions are", body)
}
