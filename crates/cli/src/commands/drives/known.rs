//! `ssdlab drives known`: published facts of real drives.

use crate::failure::CliFailure;
use crate::output::print_result;
use clap::Args;
use ssdlab_drives::known::list;

/// `ssdlab drives known`.
#[derive(Args, Debug)]
pub struct KnownArgs {
    /// Part of a family's name, or the model name that a drive reports.
    name: Option<String>,
    /// With sources.
    #[arg(long, short)]
    verbose: bool,
    /// As JSON: every capacity, model names and sources.
    #[arg(long)]
    json: bool,
}

/// Lists them.
///
/// # Errors
/// When no drive has that name, or standard output cannot be written.
pub fn known(args: &KnownArgs) -> Result<(), CliFailure> {
    let models = list::matching(args.name.as_deref())?;
    print_result(args.json, &models, || list::text(&models, args.verbose))
}
