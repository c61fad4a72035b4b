//! Drives against their data sheets, for the terminal.

use super::{ERROR_MAX, Figure, Row, Validation};
use ssdlab_base::check::failures;
use ssdlab_drives::catalogue::Kind;
use ssdlab_view::text::{PLAIN, finish, new_table, paragraph};
use ssdlab_view::units;

/// A table of every documented rate, and how many of the model's are within [`ERROR_MAX`].
pub fn text(all: &[Validation]) -> String {
    let mut table = new_table(PLAIN);
    table.set_header(["", "sheet", "model", "error", ""]);
    for drive in all.iter().filter(|drive| !drive.rows.is_empty()) {
        table.add_row([&drive.drive]);
        for row in &drive.rows {
            table.add_row([
                format!("  {}", row.documented.figure.name()),
                rate(row.documented.figure, row.documented.rate),
                rate(row.documented.figure, row.ours),
                format!("{:+.0} %", 100.0 * row.error()),
                verdict(row).to_owned(),
            ]);
        }
    }
    let rows: Vec<&Row> = all.iter().flat_map(|drive| &drive.rows).collect();
    let hold = rows.iter().filter(|row| row.holds()).count();
    let validated = all.iter().filter(|drive| drive.is_validated()).count();
    let silent = all.iter().filter(|drive| drive.rows.is_empty());
    let silent: Vec<&str> = silent.map(|drive| drive.drive.as_str()).collect();
    let remembered = rows
        .iter()
        .filter(|row| row.documented.kind == Kind::Assumed);
    let mut text = finish(&table);
    text += &format!(
        "\n{hold} of {} rates are within {:.0} % of the sheet; {} of them are remembered, not read \
         again.\nvalidated, because all of their rates hold: {validated} of {} drives.\n",
        rows.len(),
        100.0 * ERROR_MAX,
        remembered.count(),
        all.len() - silent.len(),
    );
    if !silent.is_empty() {
        text += &paragraph("no sheet gives a rate:", &silent.join(", "));
    }
    for drive in all {
        for failure in failures(&drive.checks) {
            text += &paragraph("self-check FAILED:", &format!("{}: {failure}", drive.drive));
        }
    }
    text
}

fn verdict(row: &Row) -> &'static str {
    match (row.holds(), row.steady) {
        (true, _) => "holds",
        (false, Some(false)) => "NOT STEADY",
        (false, _) => "OFF",
    }
}

fn rate(figure: Figure, rate: f64) -> String {
    match figure {
        Figure::RandomRead | Figure::RandomWrite => units::rate(rate),
        Figure::SequentialRead | Figure::SequentialWrite => units::throughput(rate),
    }
}
