//! Pieces that both pages are made of.
use crate::units;
use maud::{Markup, PreEscaped, html};

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

/// The words of a piece of a page, without its tags.
fn words(markup: &Markup) -> String {
    let mut is_tag = false;
    let keeps = |c: &char| {
        is_tag = *c == '<' || is_tag && *c != '>';
        !is_tag && *c != '>'
    };
    markup.0.chars().filter(keeps).collect()
}

/// Longest figure, with its unit, that stays on one line.
const FIGURE_LENGTH_MAX: usize = 14;

/// Whether a cell is a figure with its unit rather than words.
fn is_figure(cell: &str) -> bool {
    let begins = cell.starts_with(|c: char| c.is_ascii_digit());
    begins && cell.chars().count() <= FIGURE_LENGTH_MAX
}

/// A table. Where it is wider than its place, a script stacks the cells of each row, with their
/// heads; without scripts it scrolls sideways.
pub fn table(head: &[Markup], rows: &[Vec<Markup>]) -> Markup {
    let labels: Vec<String> = head.iter().map(words).collect();
    let data_cell = |column: usize, cell: &Markup| {
        let text = words(cell);
        let label = labels.get(column).filter(|label| !label.is_empty());
        let is_empty = text.is_empty() || text == units::NOTHING;
        html! {
            td .num[is_figure(&text)] .none[is_empty] data-label=[label.map(PreEscaped)] {
                (cell)
            }
        }
    };
    html! {
        div .scroll tabindex="0" {
            table {
                thead { tr { @for cell in head { th scope="col" { (cell) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (i, cell) in row.iter().enumerate() {
                                @if i == 0 { th scope="row" { (cell) } }
                                @else { (data_cell(i, cell)) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_carries_the_head_that_it_is_stacked_under_and_a_figure_stays_on_one_line() {
        let head = [html! { "Run" }, html! { "p99 " b { "<ms>" } }];
        let rows = [vec![html! { "a" }, html! { "1.2 ms" }]];
        let page = table(&head, &rows).0;
        let cell = "<td class=\"num\" data-label=\"p99 &lt;ms&gt;\">1.2 ms</td>";
        assert!(page.contains(cell), "{page}");
        let plain = |text: &str| table(&head, &[vec![html! { "a" }, html! { (text) }]]).0;
        assert!(!plain("12 of the commands failed").contains("class=\"num"));
        assert!(plain(units::NOTHING).contains("none\" data-label"));
    }
}
