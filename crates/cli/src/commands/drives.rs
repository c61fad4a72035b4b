//! `ssdlab drives`: the catalogue.

mod adopt;
mod known;
mod new;
mod references;
mod validate;

use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json};
use adopt::Adopt;
use clap::{Args, Subcommand};
use known::KnownArgs;
use new::NewDriveArgs;
use references::ReferencesArgs;
use ssdlab_drives::catalogue::show;
use ssdlab_drives::known::draft::open_drive;
use validate::Validate;

/// `ssdlab drives`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab drives show intel-dc-s3700-200gb
  ssdlab drives known S3700
  ssdlab drives check my-drive.toml

`ssdlab list drives` lists the catalogue.")]
pub struct Drives {
    /// What to do.
    #[command(subcommand)]
    pub action: DrivesAction,
}

/// `ssdlab drives ...`.
#[derive(Subcommand, Debug)]
pub enum DrivesAction {
    /// Check drive files: units, arithmetic, sources, the rules of families.
    ///
    /// Raw capacity must follow from the array's shape, drive writes per day from rated writes and
    /// warranty; every value must have a source; a family has at most three calibrated constants,
    /// and its members differ only in what its base names.
    Check {
        /// Drive files; without any, the whole catalogue.
        files: Vec<String>,
    },
    /// Write a drive file from the facts of a data sheet, by the rules of docs/catalogue.md.
    ///
    /// Every value says whether the sheet gives it, it follows from the sheet, or it is assumed.
    New(NewDriveArgs),
    /// Check and measure a drive file, and add it to the catalogue of a checkout.
    Adopt(Adopt),
    /// Measure modelled drives against the rates that their own data sheets give.
    ///
    /// At 32 commands outstanding: sequential writes and reads of 128 KiB, random reads and writes
    /// of 4 KiB, the latter in a steady state over the whole drive, or as the sheet has it. A rate
    /// holds within 15 % of the sheet. Exits with 1 when one does not.
    Validate(Validate),
    /// Compare the figures kept of the drives that `qualify` puts beside a target with the model.
    References(ReferencesArgs),
    /// Real drives: what published sources say of their power-loss protection and rated writes.
    ///
    /// `inspect` and `qualify` look a drive up here by the model name that it reports. A drive that
    /// is not listed is not known, which is different from not protected.
    Known(KnownArgs),
    /// One drive: every parameter with its kind and source.
    Show {
        /// Name, or a .toml file.
        name: String,
        /// As JSON.
        #[arg(long, conflicts_with = "toml")]
        json: bool,
        /// As a complete drive file, to start your own from.
        #[arg(long)]
        toml: bool,
    },
}

/// Shows, checks or adds drives.
///
/// # Errors
/// When a drive is unknown or its file wrong.
pub fn drives(action: &DrivesAction) -> Result<CommandExit, CliFailure> {
    match action {
        DrivesAction::Check { files } => {
            let report = show::check_files(files)?;
            print(&report.text)?;
            if report.wrong > 0 {
                return Ok(CommandExit::Error);
            }
        }
        DrivesAction::Known(args) => known::known(args)?,
        DrivesAction::References(args) => return references::references(args),
        DrivesAction::New(args) => return new::new(args),
        DrivesAction::Adopt(args) => return adopt::adopt(args),
        DrivesAction::Validate(args) => return validate::validate(args),
        DrivesAction::Show { name, json, toml } => {
            let drive = open_drive(name)?;
            if *toml {
                print(&show::toml(drive)?)?;
            } else if *json {
                print_json(&show::json(&drive))?;
            } else {
                print(&show::text(&drive))?;
            }
        }
    }
    Ok(CommandExit::Good)
}
