//! `ssdlab ledger`: figures of real drives as others measured them. One file a subcommand.

mod check;

use crate::failure::{CliFailure, CommandExit};
use check::CheckArgs;
use clap::{Args, Subcommand};

/// `ssdlab ledger`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
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
}

/// Carries it out.
///
/// # Errors
/// What the subcommand says.
pub fn ledger(args: &LedgerArgs) -> Result<CommandExit, CliFailure> {
    match &args.action {
        LedgerAction::Check(args) => check::check(args),
    }
}
