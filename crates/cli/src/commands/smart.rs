//! `ssdlab smart`: the SMART of a saved modelled drive.

use crate::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json};
use clap::{Args, ValueEnum};
use ssdlab_lab::LabError;
use ssdlab_lab::life::health::{Page, health, identity, page};
use ssdlab_lab::life::left;
use ssdlab_lab::smart::json::{DeviceName, ata_report, nvme_report};
use ssdlab_lab::smart::{ata, nvme, replay, text};
use std::io::Write;
use std::path::PathBuf;

/// How it is printed.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub enum Format {
    /// As `smartctl --json --all` does.
    SmartctlJson,
    /// As `smartctl --all` does.
    Text,
    /// The SMART data sector, or the NVMe health page, as the drive serves it.
    Bytes,
    /// What `smartctl -` reads (ATA).
    Replay,
}

/// `ssdlab smart`.
#[derive(Args, Debug)]
pub struct Smart {
    /// A saved drive, the results of `ssdlab age`, or a checkpoint.
    drive: PathBuf,
    /// How.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Prints it.
///
/// # Errors
/// When the drive cannot be loaded.
pub fn smart(args: &Smart) -> Result<Exit, Failure> {
    let path = &args.drive;
    let (drive, about) = left::open(path)?;
    let (who, state) = (identity(&about, drive.config()), health(&drive, &about));
    let device = |kind: &str| DeviceName {
        name: path.display().to_string(),
        kind: kind.into(),
    };
    match (page(&about), args.format) {
        (Page::Ata(set), Format::SmartctlJson) => {
            print_json(&ata_report(&device("sat"), &who, set, &state))?;
        }
        (Page::Ata(set), Format::Text) => print(&text::ata_text(&who, set, &state))?,
        (Page::Ata(set), Format::Bytes) => raw(&ata::data(set, &state))?,
        (Page::Ata(set), Format::Replay) => print(&replay::smartctl_log(&who, set, &state))?,
        (Page::Nvme, Format::SmartctlJson) => {
            print_json(&nvme_report(&device("nvme"), &who, &state))?;
        }
        (Page::Nvme, Format::Bytes) => raw(&nvme::health_page(&state))?,
        (Page::Nvme, Format::Text) => print(&text::nvme_text(&state))?,
        (Page::Nvme, Format::Replay) => {
            return Err(LabError::refused(
                "smartctl replays ATA commands only, and this drive is NVMe",
                "--format bytes gives the health page, --format smartctl-json the report",
            )
            .into());
        }
    }
    Ok(Exit::Good)
}

fn raw(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}
