//! Checkpoints: a life can be stopped and gone on with, and goes on as it would have.
//!
//! The form is that of saved drives (see [`ssdlab_drives::keep::saved`]) with another magic
//! number: whole or not at all, with a checksum.

use super::row::AgeingSample;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_drives::keep::manner::LifeConditions;
use ssdlab_drives::keep::saved::{OverwritePolicy, SaveTarget, SavedFileKind, get};
use ssdlab_drives::media::Media;
use ssdlab_drives::smart::AttributeSet;
use ssdlab_load::synthetic::CommandsState;
use ssdlab_ssd::{CountingDrive, DriveConfig};
use std::path::Path;

pub(super) const MAGIC: [u8; 8] = *b"ssdlabCK";

/// How far a life is, besides the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LifeCheckpoint {
    /// How it lives.
    pub manner: LifeConditions,
    /// Model of the drive's media.
    pub media: Media,
    /// `sata`, `nvme`, `pcie`.
    pub interface: String,
    /// The attributes that the drive's SMART has.
    #[serde(default)]
    pub attributes: Option<AttributeSet>,
    /// Where its commands stand.
    pub commands: CommandsState,
    /// Patrols so far, each after a week.
    pub patrols: u64,
    /// Bytes written since the last patrol.
    pub since_patrol: u64,
    /// Samples so far.
    pub rows: Vec<AgeingSample>,
    /// Bytes extrapolated, of those written.
    pub leapt_bytes: u64,
    /// Largest change of WAF over a leap.
    pub leap_error: f64,
}

impl LifeCheckpoint {
    /// Virtual days since the drive was filled: the bytes written since, at the daily rate. Worked
    /// out from the bytes, so that it does not depend on the steps in which they were written.
    pub fn days(&self, config: &DriveConfig, host_bytes: u64) -> f64 {
        days(&self.manner, config, host_bytes)
    }
}

/// See [`LifeCheckpoint::days`].
pub(super) fn days(manner: &LifeConditions, config: &DriveConfig, host_bytes: u64) -> f64 {
    host_bytes.saturating_sub(config.user_bytes) as f64 / manner.per_day as f64
}

/// Saves a life at `path`, over an older checkpoint.
///
/// # Errors
/// When it cannot be written.
pub fn save(
    path: &Path,
    drive: &CountingDrive,
    standing: &LifeCheckpoint,
) -> Result<u64, LabError> {
    SaveTarget::reserve(path, OverwritePolicy::Replace)?
        .put(MAGIC, standing, &|out| drive.save(out))
}

/// Loads one.
///
/// # Errors
/// When it cannot be read, is no checkpoint, is one of another version, or is damaged.
pub fn load(path: &Path) -> Result<(CountingDrive, LifeCheckpoint), LabError> {
    let kind = SavedFileKind {
        name: "checkpoint of a life",
        hint: "go on from another checkpoint, or live the life again: `ssdlab age DRIVE ... \
               --checkpoint FILE`",
    };
    get(path, MAGIC, &kind, |file, length| {
        CountingDrive::load(file, length)
    })
}
