//! Drives against their data sheets, for the terminal.

use super::{DatasheetFigure, ERROR_MAX, Validation, ValidationRow, interval};
use ssdlab_base::check::failures;
use ssdlab_drives::catalogue::{Provenance, VALIDATED_HEADER};
use ssdlab_ssd::Nanos;
use ssdlab_view::text::{PLAIN, finish, new_table, paragraph};
use ssdlab_view::units;

/// A table of every documented figure, and how many of the model's are within [`ERROR_MAX`].
pub fn text(validations: &[Validation]) -> String {
    let mut table = new_table(PLAIN);
    table.set_header(["", "sheet", "model", "error", "90 %", ""]);
    for drive in validations.iter().filter(|drive| !drive.rows.is_empty()) {
        table.add_row([&drive.drive]);
        for row in &drive.rows {
            table.add_row([
                format!("  {}", row.documented.figure.name()),
                shown(row.documented.figure, row.documented.value),
                shown(row.documented.figure, row.ours),
                format!("{:+.0} %", 100.0 * row.error()),
                factor(row),
                match known_by(row) {
                    "" => verdict(row).to_owned(),
                    known => format!("{}, {known}", verdict(row)),
                },
            ]);
        }
    }
    let mut text = finish(&table);
    text.push('\n');
    text += &totals(validations);
    let silent = validations.iter().filter(|drive| drive.rows.is_empty());
    let silent: Vec<&str> = silent.map(|drive| drive.drive.as_str()).collect();
    if !silent.is_empty() {
        text += &paragraph("no sheet gives a figure:", &silent.join(", "));
    }
    for drive in validations {
        for failure in failures(&drive.checks) {
            text += &paragraph("self-check FAILED:", &format!("{}: {failure}", drive.drive));
        }
    }
    text
}

/// The factor on either side of the model's figure, if there is one.
pub(super) fn factor(row: &ValidationRow) -> String {
    row.factor
        .map_or_else(String::new, |factor| format!("x{factor:.2}"))
}

/// How many figures hold, in sentences.
pub(super) fn totals(validations: &[Validation]) -> String {
    let rows: Vec<&ValidationRow> = validations.iter().flat_map(|drive| &drive.rows).collect();
    let hold = |predicate: &dyn Fn(&ValidationRow) -> bool| {
        rows.iter()
            .filter(|row| row.holds() && predicate(row))
            .count()
    };
    let fitted = rows.iter().filter(|row| row.documented.fitted).count();
    let null = rows.iter().filter(|row| row.null_holds()).count();
    let validated = validations
        .iter()
        .filter(|drive| drive.is_validated())
        .count();
    let silent = validations.iter().filter(|drive| drive.rows.is_empty());
    let remembered = rows
        .iter()
        .filter(|row| row.documented.kind == Provenance::Assumed);
    format!(
        "{} of {} figures are within {:.0} % of the sheet: {} of {fitted} that a constant was \
         fitted\nto or follows from, {} of the {} others, of which the null model (controller, \
         link,\nno flash) does not meet {}; it meets {null} in all.\n{} are remembered, not read \
         again.\nvalidated, because all of their figures hold: {validated} of {} drives.\n",
        hold(&|_| true),
        rows.len(),
        100.0 * ERROR_MAX,
        hold(&|row| row.documented.fitted),
        hold(&|row| !row.documented.fitted),
        rows.len() - fitted,
        hold(&|row| !row.documented.fitted && !row.null_holds()),
        remembered.count(),
        validations.len() - silent.count(),
    ) + &covered(validations)
}

/// How many sheets are within what other families say of the model, in a sentence.
fn covered(validations: &[Validation]) -> String {
    let all = interval::coverage(validations, &[true, false]);
    let Some((within, count, width)) = all else {
        return String::new();
    };
    let mut text = format!(
        "{within} of {count} sheets are within the factor (90 %) that figures of other families \
         give; half\nof these intervals are narrower than 1 to {width:.2}"
    );
    if let Some((within, count, width)) = interval::coverage(validations, &[false]) {
        text += &format!(" (not fitted: {within} of {count}, 1 to {width:.2})");
    }
    text + ".\n"
}

pub(super) fn verdict(row: &ValidationRow) -> &'static str {
    match (row.holds(), row.steady) {
        (true, _) => "holds",
        (false, Some(false)) => "NOT STEADY",
        (false, _) => "OFF",
    }
}

pub(super) fn known_by(row: &ValidationRow) -> &'static str {
    match (row.documented.fitted, row.null_holds()) {
        (true, _) => "fitted",
        (false, true) => "null too",
        (false, false) => "",
    }
}

pub(super) fn shown(figure: DatasheetFigure, value: f64) -> String {
    match figure {
        DatasheetFigure::RandomRead | DatasheetFigure::RandomWrite | DatasheetFigure::Mixed => {
            units::rate(value)
        }
        DatasheetFigure::SequentialRead | DatasheetFigure::SequentialWrite => {
            units::throughput(value)
        }
        _ => Nanos(value as u64).to_string(),
    }
}

/// The table of `drives/validated.csv`.
pub fn table(validations: &[Validation]) -> String {
    let mut text = format!("{VALIDATED_HEADER}\n");
    for drive in validations {
        for row in &drive.rows {
            let documented = &row.documented;
            let yes = |is: bool| if is { "yes" } else { "no" };
            text += &format!(
                "{},{},{:.0},{:.0},{:.0},{},{}\n",
                drive.drive,
                documented.figure.key(),
                documented.value,
                row.ours,
                row.null,
                yes(documented.fitted),
                yes(row.holds()),
            );
        }
    }
    text
}
