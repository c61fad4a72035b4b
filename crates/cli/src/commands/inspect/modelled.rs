//! Modelled drives of `ssdlab inspect`: their own reports, and those of real drives made of them.

use crate::failure::CliFailure;
use crate::output::{print, print_json};
use clap::ValueEnum;
use ssdlab_base::LabError;
use ssdlab_drives::smart::{ata, nvme, replay, text};
use ssdlab_judge::inspect::{DriveReport, report};
use ssdlab_life::age::health::SmartInterface;
use ssdlab_life::age::modelled::ModelledHealth;
use std::io::Write;

/// How a modelled drive's own report is printed.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub enum ReportFormat {
    /// As `smartctl --json --all` does.
    SmartctlJson,
    /// As `smartctl --all` does.
    Text,
    /// The SMART data sector, or the NVMe health page, as the drive serves it.
    Bytes,
    /// What `smartctl -` reads (ATA).
    Replay,
}

/// The report of a modelled drive as one of a real drive.
pub fn drive_report(drive: &ModelledHealth) -> DriveReport {
    DriveReport {
        ssdlab_report: report::REPORT_VERSION,
        source: drive.source.clone(),
        smartctl: drive.smartctl_json(),
        ..DriveReport::default()
    }
}

/// Prints a modelled drive's own report.
///
/// # Errors
/// When the drive has no report in this format, or standard output cannot be written.
pub fn print_report(drive: &ModelledHealth, format: ReportFormat) -> Result<(), CliFailure> {
    let (identity, health) = (&drive.identity, &drive.health);
    match (drive.page(), format) {
        (_, ReportFormat::SmartctlJson) => print_json(&drive.smartctl_json()),
        (SmartInterface::Ata(set), ReportFormat::Text) => {
            print(&text::ata_text(identity, set, health))
        }
        (SmartInterface::Ata(set), ReportFormat::Bytes) => write_bytes(&ata::data(set, health)),
        (SmartInterface::Ata(set), ReportFormat::Replay) => {
            print(&replay::smartctl_log(identity, set, health))
        }
        (SmartInterface::Nvme, ReportFormat::Bytes) => write_bytes(&nvme::health_page(health)),
        (SmartInterface::Nvme, ReportFormat::Text) => print(&text::nvme_text(health)),
        (SmartInterface::Nvme, ReportFormat::Replay) => Err(LabError::refused(
            "smartctl replays ATA commands only, and this drive is NVMe",
            "--format bytes gives the health page, --format smartctl-json the report",
        )
        .into()),
    }
}

fn write_bytes(bytes: &[u8]) -> Result<(), CliFailure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}
