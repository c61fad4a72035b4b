//! Campaigns without a kernel's file system: a program runs once on a plain folder under a library
//! that reports its calls, and these are replayed on files of a crash disk and cut.
//!
//! ```text
//!  program --calls--> library (LD_PRELOAD) --turns--> recorder --> tape of calls and marks
//!  tape --> files on a crash disk --cut at call n--> recovery --> folder --> check
//! ```
//! The program sees its own page cache, locks and mappings: the folder is real. What a cut leaves
//! is decided by the rules of the file system that is asked for, and by the modelled drive below.

mod campaign;
mod check;
mod control;
mod course;
mod describe;
mod library;
mod recorder;
mod tape;
mod wire;

pub use campaign::PreloadCampaign;
pub use library::find_library;
pub use tape::{CallTape, TapeCall};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_crash::FileSystemRules;
use std::path::PathBuf;

/// How a program's campaign is judged, without a kernel's file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreloadSettings {
    /// Whose rules the files follow: `ext4`, `xfs`, `btrfs` or `posix`.
    pub rules: String,
    /// The program and its arguments; empty with a preset.
    #[serde(default)]
    pub program: Vec<String>,
    /// A preset in its place.
    #[serde(default)]
    pub preset: Option<String>,
    /// Whether each line that the program prints is a mark.
    pub marks_on_stdout: bool,
    /// The check prints what it finds.
    pub finds: bool,
    /// The folder that the user is in.
    pub here: PathBuf,
}

impl PreloadSettings {
    /// The rules of that name.
    ///
    /// # Errors
    /// When there are none.
    pub fn file_system(&self) -> Result<FileSystemRules, LabError> {
        Ok(match self.rules.as_str() {
            "ext4" => FileSystemRules::ext4(),
            "xfs" => FileSystemRules::xfs(),
            "btrfs" => FileSystemRules::btrfs(),
            "posix" => FileSystemRules::posix(),
            other => {
                return Err(LabError::refused(
                    format!("there are no rules of `{other}`"),
                    "--mount ext4, xfs or btrfs; or --rules posix",
                ));
            }
        })
    }
}
