//! `ssdlab ledger`: figures of real drives as others measured them. One file a subcommand.

mod add;
mod check;
mod new_file;
mod state;

use crate::failure::{CliFailure, CommandExit};
use add::AddArgs;
use check::CheckArgs;
use clap::{Args, Subcommand};

/// `ssdlab ledger`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab ledger add fio.json --drive \"Samsung SSD 990 PRO 2TB\"
  ssdlab ledger check                      the ledger that comes with ssdlab
  ssdlab ledger check crucial-t500.csv     a file for a pull request")]
pub struct LedgerArgs {
    /// What to do.
    #[command(subcommand)]
    action: LedgerAction,
}

/// `ssdlab ledger ...`.
#[derive(Subcommand, Debug)]
enum LedgerAction {
    /// Hold ledger files to the laws: units, ranges, links, spreads, sources, licences.
    Check(CheckArgs),
    /// Turn results into rows for a pull request, with everything personal removed.
    Add(AddArgs),
}

/// Carries it out.
///
/// # Errors
/// What the subcommand says.
pub fn ledger(args: &LedgerArgs) -> Result<CommandExit, CliFailure> {
    match &args.action {
        LedgerAction::Check(args) => check::check(args),
        LedgerAction::Add(args) => add::add(args),
    }
}
