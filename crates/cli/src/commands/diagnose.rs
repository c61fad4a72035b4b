//! `ssdlab diagnose`: a modelled drive taken apart, one cost at a time.

use crate::failure::{Exit, Failure};
use crate::output::{print, print_json};
use crate::target::kept;
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_bench::device::named::Name;
use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::scaled;
use ssdlab_judge::ablate::{diagnose as take_apart, steady, text};
use ssdlab_ssd::Drive;

/// `ssdlab diagnose`.
#[derive(Args, Debug)]
pub struct Diagnose {
    /// drive:NAME, drive:FILE.toml, or drive:PATH of a drive that was aged or saved.
    target: String,
    /// Size of the model of a new drive.
    #[arg(long, default_value = "1GiB", value_parser = parse_size)]
    capacity: u64,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// The drive in the state to be explained: a kept one as it is, a new one written until steady.
fn drive(args: &Diagnose) -> Result<Drive, LabError> {
    let Name::Drive(name) = Name::parse(&args.target)? else {
        return Err(LabError::refused(
            format!("{}: only a modelled drive can be taken apart", args.target),
            "for a real drive, `ssdlab qualify` names what its measurements explain",
        ));
    };
    if let Some((drive, _)) = kept(&name)? {
        return Ok(drive);
    }
    let listed = catalogue::open(&name)?;
    steady(&scaled(&listed.config, args.capacity)?.config, args.seed)
}

/// Names what makes a drive slow.
///
/// # Errors
/// When the drive is unknown, or cannot be made so small.
pub fn diagnose(args: &Diagnose) -> Result<Exit, Failure> {
    let found = take_apart(&drive(args)?, args.seed)?;
    match args.json {
        true => print_json(&found)?,
        false => print(&text(&found))?,
    }
    Ok(match found.faults.is_empty() {
        true => Exit::Good,
        false => Exit::Fails,
    })
}
