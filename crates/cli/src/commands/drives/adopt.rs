//! `ssdlab drives adopt`: a drive file becomes a drive of the catalogue.

mod checkout;

use super::references;
use crate::failure::{Exit, Failure};
use crate::output::{print, say};
use crate::progress::stop_on_signal;
use checkout::Checkout;
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::check::failures;
use ssdlab_drives::catalogue::{self, CatalogueDrive};
use ssdlab_judge::qualify::references::line_of;
use ssdlab_life::validate::{self, Row, Validation};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Size of the model, and seed, of `drives/validated.csv`.
const VALIDATED_CAPACITY: u64 = 4 << 30;
const VALIDATED_SEED: u64 = 1;

/// `ssdlab drives adopt`.
#[derive(Args, Debug)]
#[command(after_help = "\
The file is checked, its figures are measured on the model, and the checkout gets
drives/NAME.toml, its rows of drives/validated.csv and, when all figures hold,
its line of drives/references.jsonl. Nothing is overwritten. Build ssdlab again,
and the drive is in the catalogue.

Examples:
  ssdlab drives adopt my-drive.toml
  ssdlab drives adopt my-drive.toml --into ../ssdlab")]
pub struct Adopt {
    /// The drive file, such as one that `ssdlab drives new` wrote.
    #[arg(value_name = "FILE.toml")]
    file: String,
    /// A checkout of ssdlab. [default: the one that the current directory is in]
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    /// No progress on standard error.
    #[arg(long, short)]
    quiet: bool,
}

/// Checks and measures the drive, then writes what the catalogue needs of it.
///
/// # Errors
/// When the file breaks a rule, its name is taken, no checkout is found, a self-check fails, a file
/// cannot be written, or the user stops it.
pub fn adopt(args: &Adopt) -> Result<Exit, Failure> {
    let checkout = Checkout::find(args.into.as_deref())?;
    let text = catalogue::read(&args.file)?;
    let drive = checked(&args.file, &text)?;
    let name = &drive.file.name;
    checkout.refuse_known(name)?;
    let stop = stop_on_signal()?;
    let progress = |text: &str| say(args.quiet, text);
    progress(&format!("{name}: measuring the figures of its data sheet"));
    let validation = validated(&drive, &stop)?;
    let reference = if validation.is_validated() {
        progress(&format!("{name}: all hold; qualifying it as a reference"));
        let evidence = references::measure(&args.file, &stop)?;
        Some(line_of(name, &drive.config, evidence)?)
    } else {
        None
    };
    let written = checkout.add(name, &text, &rows(&validation), reference.as_deref())?;
    print(&summary(&drive, &validation, &written))?;
    Ok(Exit::Good)
}

/// The drive in a file that obeys every rule, its family's too.
fn checked(file: &str, text: &str) -> Result<CatalogueDrive, LabError> {
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

fn validated(drive: &CatalogueDrive, stop: &AtomicBool) -> Result<Validation, LabError> {
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
fn rows(validation: &Validation) -> Vec<String> {
    let table = validate::table(std::slice::from_ref(validation));
    table.lines().skip(1).map(str::to_owned).collect()
}

/// What was written, how the drive stands, and its row of docs/catalogue.md.
fn summary(drive: &CatalogueDrive, validation: &Validation, written: &[PathBuf]) -> String {
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
fn miss(row: &Row) -> String {
    format!(
        "{} {:+.0} %",
        row.documented.figure.name(),
        100.0 * row.error()
    )
}
