//! What is printed of a directory as JSON.

use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// What a check of a directory shows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DirectoryReport {
    /// Version of its format; `None` where no checkpoint can be read.
    pub format: Option<u32>,
    /// Name of the drive.
    pub drive: Option<String>,
    /// What a person calls the drive.
    pub title: Option<String>,
    /// Size for the host, in bytes.
    pub user_bytes: Option<u64>,
    /// Whether the drive was shut down in order.
    pub closed: bool,
    /// Checkpoints and logs that were read, in order.
    pub files: Vec<FrameFileReport>,
    /// Remarks about what is no damage, a sentence each.
    pub notes: Vec<String>,
    /// Damages, in the order of the files.
    pub damages: Vec<DamageReport>,
    /// Frames behind the damage.
    pub lost_frames: u64,
    /// Bytes behind the damage.
    pub lost_bytes: u64,
    /// Result of a repair, where one was asked for.
    pub repaired: Option<RepairReport>,
}

/// A checkpoint or log of a directory.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FrameFileReport {
    /// Its path.
    pub file: PathBuf,
    /// Whole frames.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes behind them that are no frame.
    pub bytes_behind: u64,
}

/// Bytes of a file that the program never wrote so.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DamageReport {
    /// The file.
    pub file: PathBuf,
    /// Offset of the damage, where it is known.
    pub byte: Option<u64>,
    /// What is wrong there.
    pub what: String,
}

/// Result of a repair.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RepairReport {
    /// The new directory.
    pub directory: PathBuf,
    /// What is wrong with the repaired drive, if anything is.
    pub wrong: Option<String>,
}
