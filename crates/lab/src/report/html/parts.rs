//! Pieces that both pages are made of.

use crate::qualify::Outcome;
use crate::report::{compare, units};
use crate::target::TargetFacts;
use maud::{Markup, html};

/// An outcome as symbol and word; colour only repeats it.
pub(super) fn badge(outcome: Outcome) -> Markup {
    let (symbol, word) = compare::outcome(outcome);
    html! {
        span .badge .(word.to_lowercase()) { span aria-hidden="true" { (symbol) } " " (word) }
    }
}

/// A cell that may be empty: then it says that nothing was measured.
pub(super) fn cell(text: Option<&str>) -> Markup {
    match text {
        Some(text) => html! { (text) },
        None => html! { span .quiet title="not measured or not known" { (units::NOTHING) } },
    }
}

/// Text that is never broken into lines: a number keeps its unit.
pub(super) fn unbroken(text: &str) -> Markup {
    html! { (joined(text)) }
}

/// The same as text.
pub(super) fn joined(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// What is known of a target.
pub(super) fn facts(facts: &TargetFacts) -> Markup {
    html! {
        dl .facts {
            @for (label, text) in compare::facts(facts) { dt { (label) } dd { (text) } }
        }
        @if !facts.notes.is_empty() {
            ul { @for note in &facts.notes { li { (note) } } }
        }
    }
}

/// A list under a heading, or nothing.
pub(super) fn list(lines: &[String]) -> Markup {
    html! { @if !lines.is_empty() { ul { @for line in lines { li { (line) } } } } }
}

/// A table that scrolls sideways on a narrow screen.
pub(super) fn table(head: &[Markup], rows: &[Vec<Markup>]) -> Markup {
    html! {
        div .scroll tabindex="0" {
            table {
                thead { tr { @for cell in head { th scope="col" { (cell) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (i, cell) in row.iter().enumerate() {
                                @if i == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Column heads from plain words.
pub(super) fn heads(words: &[&str]) -> Vec<Markup> {
    words.iter().map(|word| html! { (word) }).collect()
}

/// How to read and use the charts that follow.
pub(super) fn about_charts() -> Markup {
    html! {
        noscript { p { "The charts need a script; the numbers are in the tables." } }
        p .quiet {
            "Axes begin at zero. Shaded: the window of steady state; strips above a chart show \
             each line's own. Drag to zoom, double-click to go back; click a name under a chart \
             to show or hide its line."
        }
    }
}
