//! Settings of a campaign without a kernel's file system.

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
