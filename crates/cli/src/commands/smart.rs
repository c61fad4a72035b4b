//! `ssdlab smart`: the SMART of a saved modelled drive.

use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json};
use clap::{Args, ValueEnum};
use ssdlab_base::LabError;
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_drives::smart::json::{DeviceName, ata_report, nvme_report};
use ssdlab_drives::smart::{AttributeSet, SmartHealth, ata, nvme, replay, text};
use ssdlab_life::age::health::{SmartInterface, health, identity, page, time_from};
use ssdlab_life::age::left;
use std::io::Write;
use std::path::{Path, PathBuf};

/// How it is printed.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub enum SmartFormat {
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
#[command(after_help = "\
Examples:
  ssdlab smart old
  ssdlab smart old --format smartctl-json")]
pub struct SmartArgs {
    /// A saved drive, the results of `ssdlab age`, or a checkpoint.
    drive: PathBuf,
    /// How.
    #[arg(long, value_enum, default_value = "text")]
    format: SmartFormat,
    /// Count the timed workload (E2 to E4 of Intel's attributes) from this earlier state of the
    /// drive: a checkpoint, for example. [default: since it was new]
    #[arg(long, value_name = "DRIVE")]
    timed_since: Option<PathBuf>,
}

/// Prints it.
///
/// # Errors
/// When the drive cannot be loaded.
pub fn smart(args: &SmartArgs) -> Result<CommandExit, CliFailure> {
    let path = &args.drive;
    let (drive, about) = left::open(path)?;
    let (who, mut state) = (identity(&about, drive.config()), health(&drive, &about));
    if let Some(earlier) = &args.timed_since {
        begin_timed(&mut state, earlier, &about)?;
    }
    let device = |kind: &str| DeviceName {
        name: path.display().to_string(),
        kind: kind.into(),
    };
    match (page(&about), args.format) {
        (SmartInterface::Ata(set), SmartFormat::SmartctlJson) => {
            print_json(&ata_report(&device("sat"), &who, set, &state))?;
        }
        (SmartInterface::Ata(set), SmartFormat::Text) => print(&text::ata_text(&who, set, &state))?,
        (SmartInterface::Ata(set), SmartFormat::Bytes) => raw(&ata::data(set, &state))?,
        (SmartInterface::Ata(set), SmartFormat::Replay) => {
            print(&replay::smartctl_log(&who, set, &state))?
        }
        (SmartInterface::Nvme, SmartFormat::SmartctlJson) => {
            print_json(&nvme_report(&device("nvme"), &who, &state))?;
        }
        (SmartInterface::Nvme, SmartFormat::Bytes) => raw(&nvme::health_page(&state))?,
        (SmartInterface::Nvme, SmartFormat::Text) => print(&text::nvme_text(&state))?,
        (SmartInterface::Nvme, SmartFormat::Replay) => {
            return Err(LabError::refused(
                "smartctl replays ATA commands only, and this drive is NVMe",
                "--format bytes gives the health page, --format smartctl-json the report",
            )
            .into());
        }
    }
    Ok(CommandExit::Good)
}

fn begin_timed(
    now: &mut SmartHealth,
    earlier: &Path,
    about: &SavedDriveInfo,
) -> Result<(), CliFailure> {
    if page(about) != SmartInterface::Ata(AttributeSet::Intel) {
        return Err(LabError::refused(
            format!("{} counts no timed workload", about.name),
            "Intel's SATA drives do; leave out --timed-since",
        )
        .into());
    }
    let (then, before) = left::open(earlier)?;
    if before.name != about.name {
        return Err(LabError::refused(
            format!(
                "{} is {}, not {}",
                earlier.display(),
                before.name,
                about.name
            ),
            "--timed-since takes an earlier state of the same drive, such as a checkpoint",
        )
        .into());
    }
    Ok(time_from(now, &health(&then, &before))?)
}

fn raw(bytes: &[u8]) -> Result<(), CliFailure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}
