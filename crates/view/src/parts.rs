//! Pieces that both pages are made of.
use crate::units;
use maud::{Markup, html};

/// A cell that may be empty: then it says that nothing was measured.
pub fn cell(text: Option<&str>) -> Markup {
    match text {
        Some(text) => html! { (text) },
        None => html! { span .quiet title="not measured or not known" { (units::NOTHING) } },
    }
}

/// Text that is never broken into lines: a number keeps its unit.
pub fn unbroken(text: &str) -> Markup {
    html! { (joined(text)) }
}

/// The same as text.
pub fn joined(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// A list under a heading, or nothing.
pub fn list(lines: &[impl AsRef<str>]) -> Markup {
    html! { @if !lines.is_empty() { ul { @for line in lines { li { (line.as_ref()) } } } } }
}

/// A table that scrolls sideways on a narrow screen.
pub fn table(head: &[Markup], rows: &[Vec<Markup>]) -> Markup {
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

/// The same with rows that a click on a column's head puts in order. Without scripts it is a plain
/// table.
pub fn sortable(head: &[Markup], rows: &[Vec<Markup>]) -> Markup {
    html! { div .sortable { (table(head, rows)) } }
}

/// Text that is shown when it is asked for.
pub fn folded(summary: &str, body: Markup) -> Markup {
    html! { details { summary { (summary) } (body) } }
}

/// Column heads from plain words.
pub fn heads(words: &[&str]) -> Vec<Markup> {
    words.iter().map(|word| html! { (word) }).collect()
}

/// How to read and use the charts that follow.
pub fn about_charts() -> Markup {
    html! {
        noscript { p { "The charts need a script; the numbers are in the tables." } }
        p .quiet {
            "Axes begin at zero; where the values of a chart span more than two decades, its axis \
             is logarithmic. Shaded: the window of steady state; strips above a chart show \
             each line's own. Drag to zoom, double-click to go back; click a name under a chart \
             to show or hide its line."
        }
    }
}
