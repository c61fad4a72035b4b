//! JSON documents that the command line itself defines.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_bench::run_dir::RunResult;
use std::path::PathBuf;

/// Result of a check of a saved drive.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SavedDriveReport {
    /// The file.
    pub file: PathBuf,
    /// Its damages, a sentence each.
    pub damages: Vec<String>,
}

/// One of the runs that are compared.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedRun {
    /// Its run directory.
    pub run_dir: PathBuf,
    /// Its result; `None` where the run was cut off.
    pub result: Option<RunResult>,
}
