//! `ssdlab drives validate`: modelled drives against their own data sheets.

use crate::failure::{CliFailure, CommandExit};
use crate::output::print_result;
use crate::progress::stop_on_signal;
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::check::failures;
use ssdlab_base::parallel;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::catalogue;
use ssdlab_drives::known::draft::open_drive;
use ssdlab_life::validate::{self, Validation, ValidationRow};
use std::path::PathBuf;

/// `ssdlab drives validate`.
#[derive(Args, Debug)]
pub struct Validate {
    /// Names, or .toml files; without any, the whole catalogue.
    drives: Vec<String>,
    /// Size of the model that is measured.
    #[arg(long, default_value = "4GiB", value_parser = parse_size)]
    capacity: u64,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the figures to this file too, as CSV: `drives/validated.csv` is the table that says
    /// wherever a drive is shown whether it is validated.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Write a page to this file too: every figure, and rates by capacity, published and ours.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// Measures every documented figure of drives.
///
/// # Errors
/// When a drive is unknown or cannot be made so small, a file cannot be written, or the user stops
/// it.
pub fn validate(args: &Validate) -> Result<CommandExit, CliFailure> {
    let names = match args.drives.as_slice() {
        [] => catalogue::names()?,
        names => names.to_vec(),
    };
    let drives = names.iter().map(|name| open_drive(name));
    let drives: Vec<_> = drives.collect::<Result<_, _>>()?;
    let stop = stop_on_signal()?;
    let measure = |drive: &_| validate::validate(drive, args.capacity, args.seed, &stop);
    let validations = parallel::all(&drives, parallel::cores(), measure)?;
    if let Some(path) = &args.write {
        let written = std::fs::write(path, validate::table(&validations));
        written.map_err(|error| LabError::file("writing", path, error))?;
    }
    if let Some(path) = &args.html {
        let written = std::fs::write(path, validate::page(&validations)?);
        written.map_err(|error| LabError::file("writing", path, error))?;
    }
    print_result(args.json, &validations, || validate::text(&validations))?;
    let is_sound = |drive: &Validation| failures(&drive.checks).is_empty();
    let holds = |drive: &Validation| drive.rows.iter().all(ValidationRow::holds);
    if !validations.iter().all(is_sound) {
        return Ok(CommandExit::Error);
    }
    Ok(CommandExit::good_if(
        validations.iter().all(holds),
        CommandExit::Fails,
    ))
}
