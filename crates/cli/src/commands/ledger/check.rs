//! `ssdlab ledger check`: rows against the laws.

use crate::failure::{CliFailure, CommandExit};
use crate::output::print;
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_ledger::{Ledger, check};
use std::path::PathBuf;

/// `ssdlab ledger check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// Ledger files; without any, the ledger that comes with ssdlab.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Checks files, or the whole ledger.
///
/// # Errors
/// When a file cannot be read.
pub fn check(args: &CheckArgs) -> Result<CommandExit, CliFailure> {
    let report = match args.files.as_slice() {
        [] => check::built_in(),
        paths => {
            let mut files = Vec::new();
            for path in paths {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| LabError::file("reading", path, error))?;
                files.push((path.display().to_string(), text));
            }
            check::files(Ledger::open(), &files)
        }
    };
    print(&report.text())?;
    match report.breaches.is_empty() {
        true => Ok(CommandExit::Good),
        false => Ok(CommandExit::Error),
    }
}
