//! Tables and series of the hosts: for the terminal, 80 columns, and as CSV.

use crate::HostDrive;
use ssdlab_view::units;

/// A column of a series: its name and the field's text.
pub(crate) type ScenarioCsvColumn<S> = (&'static str, fn(&S) -> String);

/// Series of all runs as CSV: the run's name, then `columns` of each of its samples.
pub(crate) fn csv<'a, S: 'a>(
    run: &str,
    columns: &[ScenarioCsvColumn<S>],
    runs: impl Iterator<Item = (String, &'a [S])>,
) -> String {
    let names = columns.iter().map(|column| column.0);
    let head: Vec<&str> = std::iter::once(run).chain(names).collect();
    let mut text = head.join(",") + "\n";
    for (name, samples) in runs {
        for sample in samples {
            text += &name;
            for (_, field) in columns {
                text.push(',');
                text += &field(sample);
            }
            text.push('\n');
        }
    }
    text
}

/// A line of a table: `first` to the left in the first width, `cells` to the right in the others.
pub(crate) fn line<T: AsRef<str>>(first: &str, widths: &[usize], cells: &[T]) -> String {
    let mut text = format!("{first:0$}", widths[0]);
    for (cell, width) in cells.iter().zip(&widths[1..]) {
        text += &format!(" {:>width$}", cell.as_ref());
    }
    text.push('\n');
    text
}

/// A share as per cent: `12.5 %`.
pub(crate) fn per_cent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A ratio with two digits, or the sign for nothing.
pub(crate) fn ratio(value: Option<f64>) -> String {
    value.map_or(units::NOTHING.into(), |value| format!("{value:.2}"))
}

/// The first lines of each drive.
pub(crate) fn heads(drives: &[HostDrive]) -> String {
    let heads = drives.iter().flat_map(HostDrive::head);
    heads.map(|line| line + "\n").collect()
}
