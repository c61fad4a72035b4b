//! `ssdlab ledger score`: how good the frozen predictions are, beside what knows without a model.

use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_result};
use clap::Args;
use ssdlab_ledger::Ledger;
use ssdlab_predict::{frozen, score};

/// `ssdlab ledger score`.
#[derive(Args, Debug)]
pub struct ScoreArgs {
    /// The last prediction of each row; without it, the first.
    #[arg(long)]
    last: bool,
    /// The table of ledger/SCORE.md.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the scores.
///
/// # Errors
/// When a frozen prediction cannot be read, or standard output cannot be written.
pub fn score_rows(args: &ScoreArgs) -> Result<CommandExit, CliFailure> {
    let predictions = frozen::read(frozen::files())?;
    let chosen = if args.last {
        frozen::last(&predictions)
    } else {
        frozen::first(&predictions)
    };
    let scores = score::score(Ledger::open(), &chosen);
    if args.markdown {
        print(&score::docs(&scores))?;
    } else {
        print_result(args.json, &scores, || score::text(&scores))?;
    }
    Ok(CommandExit::Good)
}
