//! The drive that is served: a new one in memory, or that of a directory.

use super::ServedDrive;
use ssdlab_base::LabError;
use ssdlab_base::huge_pages::expect_small_pieces;
use ssdlab_drives::catalogue;
use ssdlab_drives::keep::directory::{CrashSafety, DriveDir, refuse_if_too_big};
use ssdlab_drives::scaling::sized;
use ssdlab_ssd::drive::power::{DataDrive, Power, Recovery};
use ssdlab_ssd::{Bytes, DriveConfig};
use ssdlab_view::units;
use std::path::Path;

/// A drive ready to be served.
pub struct ServableDrive {
    /// The drive.
    pub drive: ServedDrive,
    /// Name that clients see.
    pub name: String,
    /// Size, state and recovery, in a line.
    pub about: String,
    /// What was found of a kill or a crash, a sentence each.
    pub notes: Vec<String>,
}

/// A new drive of the catalogue in memory, of `size` bytes or as the catalogue has it. Nothing of
/// it is kept.
///
/// # Errors
/// When there is no such drive, or not of this size.
pub fn in_memory(name: &str, size: Option<u64>, power: Power) -> Result<ServableDrive, LabError> {
    let config = catalogue::open(name)?.config;
    let config = match size {
        Some(bytes) => sized(&config, bytes)?.config,
        None => config,
    };
    of_config(config, power)
}

/// A new drive in memory, as it is described. Nothing of it is kept.
///
/// # Errors
/// When there is no room for it, or no such drive.
pub fn of_config(config: DriveConfig, power: Power) -> Result<ServableDrive, LabError> {
    let (name, bytes) = (config.name.clone(), Bytes(config.user_bytes));
    refuse_if_too_big(&config)?;
    expect_to_hold(&config);
    let data = DataDrive::new(config, power);
    let data = data.map_err(|error| LabError::refused(error.to_string(), ""))?;
    Ok(ServableDrive {
        drive: ServedDrive::in_memory(data),
        name,
        about: format!("{bytes}, new, in memory: nothing of it is kept"),
        notes: Vec::new(),
    })
}

/// The drive of a drive directory, after its recovery.
///
/// # Errors
/// When the directory is not a drive, is in use, or is damaged.
pub fn in_directory(
    path: &Path,
    power: Power,
    safety: CrashSafety,
) -> Result<ServableDrive, LabError> {
    let (dir, recovery) = DriveDir::open(path, power, safety)?;
    expect_to_hold(dir.drive().config());
    let about = about(&dir, &recovery);
    let name = dir.drive().config().name.clone();
    let notes = dir.notes().to_vec();
    Ok(ServableDrive {
        drive: ServedDrive::in_directory(dir),
        name,
        about,
        notes,
    })
}

/// Room for every page of the media, of which many small pieces are made.
fn expect_to_hold(config: &DriveConfig) {
    let raw = config.geometry().raw_bytes();
    expect_small_pieces(raw.saturating_add(raw / 4));
}

fn about(dir: &DriveDir, recovery: &Recovery) -> String {
    let drive = dir.drive();
    let config = drive.config();
    let power = drive.power_counters();
    format!(
        "{}, {}, recovered in {} of virtual time, {}, {}",
        config.name,
        Bytes(config.user_bytes),
        units::time(recovery.ready.0 - recovery.at.0),
        units::plural(power.power_cycles, "power cycle"),
        units::plural(power.unsafe_shutdowns, "unsafe shutdown"),
    )
}
