//! The heat map of the page: paths of a picture that is as wide as the page, labels beside it.

use crate::heat::{BOUNDS_NS, CLASSES, HeatCounts, WatchHeat};
use crate::source::event::RequestKind;
use crate::stall::Stall;
use maud::{Markup, html};
use ssdlab_view::units;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Height of a row, px.
const ROW: usize = 18;
/// Shades from few requests to many.
const SHADES: u32 = 4;

/// The lower bound of a class.
fn label(class: usize) -> String {
    class
        .checked_sub(1)
        .map_or_else(|| "0".to_owned(), |place| units::time(BOUNDS_NS[place]))
}

/// How warm a class is, as a class of the style sheet.
fn warmth(class: usize) -> &'static str {
    let ns = class.checked_sub(1).map_or(0, |place| BOUNDS_NS[place]);
    match ns {
        ns if ns < 1_000_000 => "cool",
        ns if ns < 10_000_000 => "mild",
        ns if ns < 100_000_000 => "warm",
        _ => "hot",
    }
}

fn shade(count: u32, most: u32) -> u32 {
    let share = f64::from(count).ln_1p() / f64::from(most.max(1)).ln_1p();
    ((share * f64::from(SHADES)).ceil() as u32).clamp(1, SHADES)
}

/// The cells of the map: a path for each look, `top` the highest class.
fn paths(columns: &[[u32; CLASSES]], lowest: usize, highest: usize) -> BTreeMap<String, String> {
    let most = columns.iter().flatten().copied().max().unwrap_or(1);
    let mut paths: BTreeMap<String, String> = BTreeMap::new();
    for class in lowest..=highest {
        let y = highest - class;
        let mut x = 0;
        while x < columns.len() {
            let level = |x: usize| {
                let count = columns[x][class];
                (count > 0).then(|| shade(count, most))
            };
            let Some(shade) = level(x) else {
                x += 1;
                continue;
            };
            let width = (x..columns.len())
                .take_while(|&x| level(x) == Some(shade))
                .count();
            let path = paths
                .entry(format!("{} s{shade}", warmth(class)))
                .or_default();
            let _ = write!(path, "M{x} {y}h{width}v1h-{width}z");
            x += width;
        }
    }
    paths
}

/// The map of one kind or of all; nothing where there was no request.
pub(super) fn map(heat: &WatchHeat, kind: Option<RequestKind>, stalls: &[Stall]) -> Markup {
    let columns: Vec<[u32; CLASSES]> = heat
        .columns
        .iter()
        .map(|column: &HeatCounts| column.classes(kind))
        .collect();
    let is_used = |class: &usize| columns.iter().any(|column| column[*class] > 0);
    let mut used = (0..CLASSES).filter(is_used);
    let Some(lowest) = used.next() else {
        return html! {};
    };
    let highest = used.next_back().unwrap_or(lowest);
    let rows = highest - lowest + 1;
    let of_what = kind.map_or("all requests", |kind| kind.name());
    let end_s = (columns.len() as u64 * heat.column_s) as f64;
    let span = match heat.column_s {
        1 => "each second".to_owned(),
        seconds => format!("each {seconds} s"),
    };
    let shown = |stall: &&Stall| kind.is_none_or(|kind| kind.one() == stall.kind);
    html! {
        figure .heat {
            figcaption {
                "Time of " (of_what) " in host and drive, a column for " (span) ". "
                span .quiet {
                    "A row begins at its label; darker: more requests."
                    @if stalls.iter().any(|stall| shown(&stall)) {
                        " Triangles: the longest stalls."
                    }
                }
            }
            div .map {
                div .labels aria-hidden="true" {
                    @for class in (lowest..=highest).rev() { span { (label(class)) } }
                }
                svg role="img"
                    aria-label={ "Heat map of " (of_what) "; its numbers are in the table" }
                    viewBox={ "0 0 " (columns.len()) " " (rows) } preserveAspectRatio="none"
                    style={ "height:" (rows * ROW) "px" } {
                    @for (class, path) in paths(&columns, lowest, highest) {
                        path class=(class) d=(path) {}
                    }
                }
                div .stalls {
                    @for stall in stalls.iter().filter(shown) {
                        span style={ "left:" (format!("{:.2}%", 100.0 * stall.at_s / end_s)) }
                            title={ (units::time(stall.total_ns())) ": " (stall.cause_name()) } {
                            "▲"
                        }
                    }
                }
                div .times { span { "0 s" } span { (units::clock(end_s)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each request is in a cell of the picture, in the row of its class.
    #[test]
    fn cells_are_where_requests_are() {
        let mut columns = vec![[0; CLASSES]; 4];
        columns[0][3] = 5;
        columns[1][3] = 5;
        columns[3][14] = 1;
        let paths = paths(&columns, 3, 14);
        assert_eq!(paths.len(), 2, "{paths:?}");
        assert_eq!(paths["cool s4"], "M0 11h2v1h-2z");
        assert_eq!(paths["hot s2"], "M3 0h1v1h-1z");
    }
}
