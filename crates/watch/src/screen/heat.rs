//! The heat map: rows are classes of latency, columns are seconds.

use super::look::ScreenLook;
use super::{ScreenSecond, ScreenView};
use crate::heat::{BOUNDS_NS, CLASSES};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ssdlab_view::units;

/// Columns left of the map: the class's label and a line.
const LABEL: u16 = 8;
/// How wide a second is drawn, the widest that fits.
const CELL_WIDTHS: [usize; 3] = [4, 2, 1];
/// From few requests to many, apart from none.
const SHADES: [&str; 4] = ["░", "▒", "▓", "█"];
const SHADES_ASCII: [&str; 4] = [".", ":", "*", "#"];

/// Classes that share a row, and how many rows there are.
#[derive(Debug, PartialEq, Eq)]
struct HeatRows {
    /// The lowest class that is shown.
    lowest: usize,
    /// Classes of a row.
    classes: usize,
    rows: usize,
}

impl HeatRows {
    /// The classes with requests, in at most `rows_max` rows.
    fn new(totals: &[u32; CLASSES], rows_max: usize) -> Option<HeatRows> {
        let lowest = totals.iter().position(|count| *count > 0)?;
        let highest = totals.iter().rposition(|count| *count > 0)?;
        let span = highest - lowest + 1;
        let classes = span.div_ceil(rows_max.max(1));
        Some(HeatRows {
            lowest,
            classes,
            rows: span.div_ceil(classes),
        })
    }

    fn first_class(&self, row: usize) -> usize {
        self.lowest + row * self.classes
    }

    fn count(&self, classes: &[u32; CLASSES], row: usize) -> u32 {
        let first = self.first_class(row);
        let last = (first + self.classes).min(CLASSES);
        classes[first..last]
            .iter()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// The lower bound of a class: "0", "200 us", "5 ms".
pub(super) fn label(class: usize) -> String {
    let Some(ns) = class.checked_sub(1).map(|place| BOUNDS_NS[place]) else {
        return "0".to_owned();
    };
    match ns {
        ns if ns < 1_000_000 => format!("{} us", ns / 1000),
        ns if ns < 1_000_000_000 => format!("{} ms", ns / 1_000_000),
        ns => format!("{} s", ns / 1_000_000_000),
    }
}

/// How warm a class is: what a healthy drive does, what a person notices, what stalls.
fn colour(class: usize) -> Color {
    let ns = class.checked_sub(1).map_or(0, |place| BOUNDS_NS[place]);
    match ns {
        ns if ns < 1_000_000 => Color::Green,
        ns if ns < 10_000_000 => Color::Yellow,
        ns if ns < 100_000_000 => Color::LightRed,
        _ => Color::Red,
    }
}

fn shade(count: u32, most: u32, look: ScreenLook) -> &'static str {
    let share = f64::from(count).ln_1p() / f64::from(most.max(1)).ln_1p();
    let shades = if look.is_unicode {
        SHADES
    } else {
        SHADES_ASCII
    };
    let level = (share * shades.len() as f64).ceil() as usize;
    shades[level.clamp(1, shades.len()) - 1]
}

/// Draws the map with a line above that says what it is, marks of stalls and the times below.
pub(super) fn draw(view: &ScreenView, look: ScreenLook, area: Rect, buffer: &mut Buffer) {
    if area.height < 4 || area.width < LABEL + 8 {
        return;
    }
    let width = usize::from(area.width - LABEL);
    let shown = view.seconds.len().min(width);
    let first = view.seconds.len() - shown;
    let seconds: Vec<&ScreenSecond> = view.seconds.range(first..).collect();
    let cell = CELL_WIDTHS
        .into_iter()
        .find(|cell| shown * cell <= width)
        .unwrap_or(1);
    let of_what = view.kind.map_or("all requests", |kind| kind.name());
    let only_means = view.report.as_ref().is_some_and(|r| r.figures.only_means);
    let times = if only_means { "mean time" } else { "time" };
    let title = if width < 60 {
        format!("{times} of {of_what}, by second")
    } else {
        format!("{times} of {of_what} in host and drive, a column for each second")
    };
    let cut = look.cut(&title, usize::from(area.width));
    buffer.set_string(area.x, area.y, cut, Style::new().bold());
    let map = Rect {
        y: area.y + 1,
        height: area.height - 3,
        ..area
    };
    let mut totals = [0_u32; CLASSES];
    for second in &seconds {
        for (total, count) in totals.iter_mut().zip(second.heat.classes(view.kind)) {
            *total = total.saturating_add(count);
        }
    }
    match HeatRows::new(&totals, usize::from(map.height)) {
        Some(rows) => cells(view, &seconds, &rows, cell, look, map, buffer),
        None => {
            let empty = format!("{:>8}", "none");
            buffer.set_string(map.x, map.bottom() - 1, empty, Style::new());
        }
    }
    below(view, &seconds, first, cell, look, area, buffer);
}

fn cells(
    view: &ScreenView,
    seconds: &[&ScreenSecond],
    rows: &HeatRows,
    cell: usize,
    look: ScreenLook,
    map: Rect,
    buffer: &mut Buffer,
) {
    let line = if look.is_unicode { "│" } else { "|" };
    let counts: Vec<[u32; CLASSES]> = seconds
        .iter()
        .map(|second| second.heat.classes(view.kind))
        .collect();
    let row_counts = |row| counts.iter().map(move |classes| rows.count(classes, row));
    let most = (0..rows.rows).flat_map(row_counts).max().unwrap_or(1);
    // A large screen has more than one line for each row.
    let lines = (map.height / rows.rows as u16).max(1);
    for (row, y) in (0..rows.rows).zip((0..map.bottom()).rev().step_by(lines.into())) {
        let class = rows.first_class(row);
        let style = look.colour(colour(class));
        for y in (y + 1 - lines..=y).rev() {
            buffer.set_string(map.x, y, format!("{:>8}", line), Style::new());
            for (place, count) in row_counts(row).enumerate() {
                if count > 0 {
                    let x = map.x + LABEL + (place * cell) as u16;
                    buffer.set_string(x, y, shade(count, most, look).repeat(cell), style);
                }
            }
        }
        buffer.set_string(map.x, y, format!("{:>7}", label(class)), Style::new());
    }
}

/// Marks of stalls, and the times of the first and the last column.
fn below(
    view: &ScreenView,
    seconds: &[&ScreenSecond],
    first: usize,
    cell: usize,
    look: ScreenLook,
    area: Rect,
    buffer: &mut Buffer,
) {
    let (marks, times) = (area.bottom() - 2, area.bottom() - 1);
    buffer.set_string(area.x, marks, " stalls ", Style::new());
    for (place, second) in seconds.iter().enumerate() {
        if let Some(letter) = second.stall.letter {
            let x = area.x + LABEL + (place * cell) as u16;
            let style = look.colour(Color::Red).bold();
            buffer.set_string(x, marks, letter.to_string(), style);
        }
    }
    let begin_s = view.seconds_dropped + first as u64;
    let begin = units::clock(begin_s as f64);
    let end = units::clock((begin_s + seconds.len() as u64) as f64);
    let span = seconds.len() * cell;
    let dash = if look.is_unicode { "─" } else { "-" };
    let room = span.saturating_sub(begin.len() + end.len() + 2);
    let axis = format!("{:>8}{begin} {} {end}", "", dash.repeat(room));
    let cut = look.cut(&axis, usize::from(area.width));
    buffer.set_string(area.x, times, cut, Style::new());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_every_class_that_is_used() {
        let mut totals = [0; CLASSES];
        assert_eq!(HeatRows::new(&totals, 6), None);
        totals[4] = 1;
        totals[15] = 2;
        let rows = HeatRows::new(&totals, 6).expect("rows");
        assert_eq!((rows.lowest, rows.classes, rows.rows), (4, 2, 6));
        let shown: u32 = (0..rows.rows).map(|row| rows.count(&totals, row)).sum();
        assert_eq!(shown, 3);
        totals[CLASSES - 1] = 5;
        let rows = HeatRows::new(&totals, 6).expect("rows");
        let shown: u32 = (0..rows.rows).map(|row| rows.count(&totals, row)).sum();
        assert_eq!(shown, 8);
    }

    #[test]
    fn labels_are_lower_bounds() {
        assert_eq!(label(0), "0");
        assert_eq!(label(5), "200 us");
        assert_eq!(label(CLASSES - 1), "10 s");
    }
}
