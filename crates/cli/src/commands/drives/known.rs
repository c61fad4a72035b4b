//! `ssdlab drives known`: published facts of real drives.

use crate::failure::CliFailure;
use crate::output::{print_result, wrap};
use clap::Args;
use ssdlab_drives::known::{ModelFamily, list};
use ssdlab_judge::others::OthersFigures;

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
    print_result(args.json, &models, || {
        list::text(&models, args.verbose) + &by_others(&models)
    })
}

/// What the ledger has of a single family that was asked for.
fn by_others(models: &[&ModelFamily]) -> String {
    let [family] = models else {
        return String::new();
    };
    let Some(figures) = OthersFigures::of(&family.name) else {
        return String::new();
    };
    let ranges = figures.ranges();
    if ranges.is_empty() {
        return String::new();
    }
    let lines = ranges.into_iter().map(|range| {
        let lines = wrap(&range.sentence(), 76);
        format!("  {}\n", lines.join("\n    "))
    });
    format!(
        "\nMeasured by others (`ssdlab qualify ledger:{}` has a verdict):\n{}",
        figures.family,
        lines.collect::<String>()
    )
}
