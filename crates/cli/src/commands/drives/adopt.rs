//! `ssdlab drives adopt`: a drive file becomes a drive of the catalogue.

use super::references;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, say};
use crate::progress::stop_on_signal;
use clap::Args;
use ssdlab_drives::catalogue;
use ssdlab_judge::qualify::references::line_of;
use ssdlab_life::adopt::{Checkout, checked, rows, summary, validated};
use std::path::PathBuf;

/// `ssdlab drives adopt`.
#[derive(Args, Debug)]
#[command(after_help = "\
The file is checked and its figures are measured on the model. The checkout gets
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
pub fn adopt(args: &Adopt) -> Result<CommandExit, CliFailure> {
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
    Ok(CommandExit::Good)
}
