//! `ssdlab ledger`: figures of real drives as others measured them. One file a subcommand.

mod add;
mod check;
mod fit;
mod new_file;
mod page;
mod predict;
mod score;
mod state;

use crate::failure::{CliFailure, CommandExit};
use add::AddArgs;
use check::CheckArgs;
use clap::{Args, Subcommand};
use fit::FitArgs;
use page::PageArgs;
use predict::PredictArgs;
use score::ScoreArgs;

/// `ssdlab ledger`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab ledger add fio.json --drive \"Samsung SSD 990 PRO 2TB\"
  ssdlab ledger check                      the ledger that comes with ssdlab
  ssdlab ledger check crucial-t500.csv     a file for a pull request
  ssdlab ledger predict --family crucial-t500
  ssdlab ledger score")]
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
    /// Run the load of every row on the model of its drive: value and 80 % interval.
    Predict(PredictArgs),
    /// Hold frozen predictions against what was measured, with sheet, class and nearest drive.
    Score(ScoreArgs),
    /// Estimate constants that no sheet gives from the measured drives, for drafts and predictions.
    Fit(FitArgs),
    /// Write the ledger as a static site: a table to sort and filter, a page a drive, the scores.
    Page(PageArgs),
}

/// Carries it out.
///
/// # Errors
/// What the subcommand says.
pub fn ledger(args: &LedgerArgs) -> Result<CommandExit, CliFailure> {
    match &args.action {
        LedgerAction::Check(args) => check::check(args),
        LedgerAction::Add(args) => add::add(args),
        LedgerAction::Predict(args) => predict::predict_rows(args),
        LedgerAction::Score(args) => score::score_rows(args),
        LedgerAction::Fit(args) => fit::fit_constants(args),
        LedgerAction::Page(args) => page::page(args),
    }
}
