//! The drive that a life leaves behind, however it was kept: in the results of `age`, in a
//! checkpoint, or saved by `simulate`. All of them can be measured, simulated and asked for SMART.

use super::checkpoint;
use super::result::LifeResult;
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::keep::manner::LifeConditions;
use ssdlab_drives::keep::saved;
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_drives::smart::AttributeSet;
use ssdlab_ssd::Drive;
use ssdlab_view::units;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The drive's file in the results of `age`.
pub const DRIVE_FILE: &str = "drive.ssd";
/// Its path, in the results of `age` when it is kept elsewhere.
const PLACE_FILE: &str = "drive.path";

/// Description of the drive that it leaves behind.
pub fn about(
    manner: &LifeConditions,
    interface: &str,
    attributes: Option<AttributeSet>,
    host_bytes: u64,
    days: f64,
) -> SavedDriveInfo {
    SavedDriveInfo {
        name: manner.name.clone(),
        title: manner.title.clone(),
        settings: manner.settings.clone(),
        rests_on: manner.rests_on.clone(),
        history: vec![format!(
            "aged by {} {} B, {} written, {}, seed {}",
            manner.pattern,
            manner.block,
            units::decimal_bytes(host_bytes as f64),
            if manner.fast { "fast" } else { "exact" },
            manner.seed
        )],
        powered_minutes: (days * 1440.0) as u64,
        celsius: Some(manner.temperature_c.clamp(0.0, 99.0) as u8),
        interface: Some(interface.to_owned()),
        attributes,
        lived: Some(manner.clone()),
    }
}

impl LifeResult {
    /// Description of the drive that it leaves behind.
    pub fn about(&self, interface: &str, attributes: Option<AttributeSet>) -> SavedDriveInfo {
        about(
            &self.manner,
            interface,
            attributes,
            self.end.host_bytes,
            self.end.days,
        )
    }
}

/// Where a kept drive lies, when `name` leads to one: a file, or the results of `age`. Names of the
/// catalogue and drive files (`.toml`) come first.
pub fn kept(name: &str) -> Option<PathBuf> {
    if name.ends_with(".toml") || catalogue::drive(name).is_ok() {
        return None;
    }
    let path = file(Path::new(name));
    path.is_file().then_some(path)
}

/// The file of a saved drive that `path` is, or that is in these results of `age`; `None`: it is a
/// directory of another kind.
pub fn saved_file(path: &Path) -> Option<PathBuf> {
    let file = file(path);
    (!path.is_dir() || file.exists()).then_some(file)
}

/// Reads a saved drive or checkpoint and holds it against its checksum; returns its bytes.
///
/// # Errors
/// When it cannot be read, is neither, or is damaged.
pub fn verify(path: &Path) -> Result<u64, LabError> {
    if is_checkpoint(path)? {
        checkpoint::load(path).map(drop)?
    } else {
        saved::load(path).map(drop)?
    }
    let bytes = path.metadata().map(|metadata| metadata.len());
    bytes.map_err(|error| LabError::file("reading", path, error))
}

fn file(path: &Path) -> PathBuf {
    if !path.is_dir() {
        return path.to_owned();
    }
    let inside = path.join(DRIVE_FILE);
    match std::fs::read_to_string(path.join(PLACE_FILE)) {
        Ok(elsewhere) if !inside.exists() => PathBuf::from(elsewhere.trim_end()),
        _ => inside,
    }
}

/// Notes in the results of `age` where else the drive is kept.
///
/// # Errors
/// When the note cannot be written.
pub fn note_place(results: &Path, drive: &Path) -> Result<(), LabError> {
    let note = results.join(PLACE_FILE);
    let written = std::path::absolute(drive)
        .and_then(|drive| std::fs::write(&note, format!("{}\n", drive.display())));
    written.map_err(|error| LabError::file("writing", &note, error))
}

/// Loads a kept drive, in virtual time: a saved one, the results of `age`, or a checkpoint.
///
/// # Errors
/// When it cannot be read, is none of these, or is damaged.
pub fn open(path: &Path) -> Result<(Drive, SavedDriveInfo), LabError> {
    let directory = path;
    let path = file(directory);
    if directory.is_dir() && !path.exists() {
        return Err(is_none(directory));
    }
    if !is_checkpoint(&path)? {
        return saved::load(&path);
    }
    let (drive, standing) = checkpoint::load(&path)?;
    let days = standing.days(drive.config(), drive.counters().host_bytes_written);
    let about = about(
        &standing.manner,
        &standing.interface,
        standing.attributes,
        drive.counters().host_bytes_written,
        days,
    );
    let drive = drive
        .into_timed()
        .map_err(|error| LabError::refused(error.to_string(), ""))?;
    Ok((drive, about))
}

/// A directory without a drive in it: one of other results, or of a served drive.
fn is_none(directory: &Path) -> LabError {
    LabError::refused(
        format!("no saved drive in {}", directory.display()),
        "`ssdlab age` and `ssdlab simulate --save FILE` leave one",
    )
}

fn is_checkpoint(path: &Path) -> Result<bool, LabError> {
    let magic = magic(path).map_err(|error| LabError::file("reading", path, error))?;
    Ok(magic == checkpoint::MAGIC)
}

/// Whether `path` is a file that begins as a saved drive or a checkpoint does.
pub fn is_saved(path: &Path) -> bool {
    let is_known = |magic: Vec<u8>| magic == checkpoint::MAGIC || magic == saved::MAGIC;
    path.is_file() && magic(path).is_ok_and(is_known)
}

/// The first 8 bytes of a file.
fn magic(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut magic = Vec::new();
    std::fs::File::open(path)?.take(8).read_to_end(&mut magic)?;
    Ok(magic)
}
