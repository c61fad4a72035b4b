//! `ssdlab drives adopt`: a drive file that obeys the rules becomes a drive of the catalogue of a
//! checkout, with what the catalogue keeps of it.

mod checkout;

pub use checkout::Checkout;

use crate::validate::{self, Validation, ValidationRow};
use ssdlab_base::LabError;
use ssdlab_base::check::failures;
use ssdlab_drives::catalogue::{self, CatalogueDrive};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Size of the model, and seed, of `drives/validated.csv`.
const VALIDATED_CAPACITY: u64 = 4 << 30;
const VALIDATED_SEED: u64 = 1;

/// The drive in `text`, which `file` holds.
///
/// # Errors
/// When it breaks a rule of drive files or of its family.
pub fn checked(file: &str, text: &str) -> Result<CatalogueDrive, LabError> {
    if !file.ends_with(".toml") {
        return Err(LabError::refused(
            format!("{file} is not a drive file: its name does not end in .toml"),
            "`ssdlab drives new` writes one from the facts of a data sheet",
        ));
    }
    let drive = catalogue::parse(text, file)?;
    catalogue::check(&drive, text, file)?;
    let mut members = vec![drive.clone()];
    for name in catalogue::names()? {
        let member = catalogue::drive(&name)?;
        if member.family() == drive.family() && name != drive.file.name {
            members.push(member);
        }
    }
    catalogue::check_family(drive.family(), &members.iter().collect::<Vec<_>>())?;
    Ok(drive)
}

/// The figures of the drive's data sheet on the model, as `drives/validated.csv` has them.
///
/// # Errors
/// When a self-check fails, or `stop` is set.
pub fn validated(drive: &CatalogueDrive, stop: &AtomicBool) -> Result<Validation, LabError> {
    let validation = validate::validate(drive, VALIDATED_CAPACITY, VALIDATED_SEED, stop)?;
    match failures(&validation.checks).first() {
        None => Ok(validation),
        Some(failure) => Err(LabError::refused(
            format!("a self-check of the model failed: {failure}"),
            "this is a defect of ssdlab or an impossible drive: please report it with the file",
        )),
    }
}

/// The drive's rows of `drives/validated.csv`.
pub fn rows(validation: &Validation) -> Vec<String> {
    let table = validate::table(std::slice::from_ref(validation));
    table.lines().skip(1).map(str::to_owned).collect()
}

/// Lists the files that were written, how the drive stands, and its row of docs/catalogue.md.
pub fn summary(drive: &CatalogueDrive, validation: &Validation, written: &[PathBuf]) -> String {
    let mut text = String::from("written:\n");
    for path in written {
        let _ = writeln!(text, "  {}", path.display());
    }
    let title = &drive.file.title;
    let held = validation.rows.iter().filter(|row| row.holds()).count();
    let _ = writeln!(
        text,
        "\nFigures of its data sheet that hold: {held} of {}.\n\n\
         docs/catalogue.md needs its row:\n\n| {title} | {} |",
        validation.rows.len(),
        source(drive, validation)
    );
    let missed: Vec<String> = validation
        .rows
        .iter()
        .filter(|row| !row.holds())
        .map(miss)
        .collect();
    if !missed.is_empty() {
        let _ = writeln!(
            text,
            "\nand what it misses:\n\nNot validated: {title} ({}).",
            missed.join(", ")
        );
    }
    text += "\nThen build ssdlab again: drive files are part of the program.\n";
    text
}

/// Where the sheet's figures are from; without any, where the capacity is from.
fn source<'a>(drive: &'a CatalogueDrive, validation: &'a Validation) -> &'a str {
    let figure = validation.rows.first();
    figure.map_or(&drive.file.capacity.user.source, |row| {
        &row.documented.source
    })
}

/// "random read +23 %"
fn miss(row: &ValidationRow) -> String {
    format!(
        "{} {:+.0} %",
        row.documented.figure.name(),
        100.0 * row.error()
    )
}
