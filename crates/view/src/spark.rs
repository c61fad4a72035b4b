//! A series as blocks of text: always from zero, each column the mean of its span, so that a
//! drop looks as deep as it is.

use crate::units;

/// Eighths of a character cell, lowest first.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Columns left of the plot: the scale's number.
const SCALE_WIDTH: usize = 8;

/// A chart `width` columns wide and `rows` + 1 lines high: rows of blocks, then the time axis.
/// `values` are one per second, rates. Empty when there is nothing to draw.
pub fn chart(values: &[f64], width: usize, rows: usize) -> Vec<String> {
    let columns = width.saturating_sub(SCALE_WIDTH + 1).min(values.len());
    if columns == 0 || rows == 0 {
        return Vec::new();
    }
    let means = columns_of(values, columns);
    let top = means.iter().copied().fold(0.0, f64::max);
    let mut lines: Vec<String> = (0..rows)
        .rev()
        .map(|row| {
            let scale = if row + 1 == rows {
                units::rate(top)
            } else {
                String::new()
            };
            let blocks: String = means.iter().map(|&v| block(v, top, row, rows)).collect();
            format!("{scale:>SCALE_WIDTH$}│{blocks}").trim_end().into()
        })
        .collect();
    let end = units::clock(values.len() as f64);
    let room = columns.saturating_sub(2);
    lines.push(format!("{:>SCALE_WIDTH$}└0 {end:─>room$}", "0"));
    lines
}

/// Means of `columns` spans of about the same length; what is not a rate counts as 0.
fn columns_of(values: &[f64], columns: usize) -> Vec<f64> {
    let usable = |v: &f64| if v.is_finite() { v.max(0.0) } else { 0.0 };
    (0..columns)
        .map(|i| {
            let span = &values[i * values.len() / columns..(i + 1) * values.len() / columns];
            span.iter().map(usable).sum::<f64>() / span.len() as f64
        })
        .collect()
}

/// The part of a bar of height `value` / `top` that lies in `row` (from the bottom, 0).
fn block(value: f64, top: f64, row: usize, rows: usize) -> char {
    if top <= 0.0 {
        return ' ';
    }
    let eighths = (value / top * (rows * 8) as f64).round() as usize;
    EIGHTHS[eighths.saturating_sub(row * 8).min(8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drop_to_half_is_drawn_half_as_high() {
        let mut values = vec![20_000.0; 20];
        values.extend([10_000.0; 20]);
        let lines = chart(&values, 80, 2);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0], format!("   20.0k│{}", "█".repeat(20)));
        assert_eq!(lines[1], format!("        │{}", "█".repeat(40)));
        assert!(lines[2].starts_with("       0└0 ") && lines[2].ends_with("40 s"));
    }

    #[test]
    fn nothing_and_nonsense_are_harmless() {
        assert!(chart(&[], 80, 3).is_empty());
        assert!(chart(&[1.0], 5, 3).is_empty());
        let lines = chart(&[f64::NAN, -1.0, 0.0], 80, 1);
        assert_eq!(lines[0], "       0│");
        for n in [1, 70, 71, 72, 1_801, 86_400] {
            let values = vec![f64::MAX / 1e10; n];
            for line in chart(&values, 80, 3) {
                assert!(line.chars().count() <= 80, "{n}: {line}");
            }
        }
    }
}
