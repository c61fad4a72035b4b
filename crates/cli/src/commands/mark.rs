//! `ssdlab mark`: a mark in the stream that `ssdlab crashtest` records.

use crate::failure::{CliFailure, CommandExit};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_power::crashtest::scripts::mark;
use std::path::Path;

/// `ssdlab mark`.
#[derive(Args, Debug)]
pub struct MarkArgs {
    /// What has been acknowledged.
    pub text: String,
}

/// Makes a mark in the stream that is being recorded.
///
/// # Errors
/// Outside of a workload script.
pub fn make_mark(args: &MarkArgs) -> Result<CommandExit, CliFailure> {
    let socket = std::env::var_os("SSDLAB_MARK").ok_or_else(|| {
        LabError::refused(
            "SSDLAB_MARK is not set",
            "marks are made by the workload script of `ssdlab crashtest`",
        )
    })?;
    mark(Path::new(&socket), &args.text)?;
    Ok(CommandExit::Good)
}
