//! `ssdlab ledger fit`: constants that no sheet gives, estimated from the ledger.

use crate::failure::{CliFailure, CommandExit};
use crate::output::print;
use crate::progress::stop_on_signal;
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_ledger::Ledger;
use ssdlab_life::draft::prior::DraftPrior;
use ssdlab_predict::prior::{self, FittedPrior};
use std::path::PathBuf;

/// `ssdlab ledger fit`.
#[derive(Args, Debug)]
pub struct FitArgs {
    /// Write the constants to this file; drafts take them from
    /// ledger/prior.toml.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also what each single drive says.
    #[arg(long)]
    drives: bool,
    /// Predict each of five folds of families by the other four, and print the
    /// table of errors, coverage and nulls instead.
    #[arg(long, conflicts_with_all = ["out", "drives"])]
    hold_out: bool,
}

/// Estimates the constants from every family that is not set apart.
///
/// # Errors
/// When the file cannot be written, or the user stops it.
pub fn fit_constants(args: &FitArgs) -> Result<CommandExit, CliFailure> {
    let ledger = Ledger::open();
    let stop = stop_on_signal()?;
    if args.hold_out {
        let scores = prior::hold_out(ledger, &stop)?;
        print(&scores.markdown(DraftPrior::built_in()))?;
        return Ok(CommandExit::Good);
    }
    let fitted = prior::fit(ledger, &|_| true, &stop)?;
    print(&text(&fitted, args.drives))?;
    if let Some(out) = &args.out {
        let written = std::fs::write(out, prior::text(&fitted.prior)?);
        written.map_err(|error| LabError::file("writing", out, error))?;
        print(&format!("Written to {}.\n", out.display()))?;
    }
    Ok(CommandExit::Good)
}

fn text(fitted: &FittedPrior, is_listed: bool) -> String {
    let mut text = format!(
        "{:12} {:20} {:>10} {:>24} {:>7} {:>9}\n",
        "constant", "class", "median", "80 % within", "drives", "families"
    );
    for class in &fitted.prior.classes {
        let (low, high) = class.interval();
        let within = format!("{} .. {}", digits(low), digits(high));
        text += &format!(
            "{:12} {:20} {:>10} {within:>24} {:>7} {:>9}\n",
            class.constant.name(),
            class.class,
            digits(class.median),
            class.drives,
            class.families
        );
    }
    if is_listed {
        text.push('\n');
        for observation in &fitted.observations {
            text += &format!(
                "{:12} {:22} {:10}  {}\n",
                observation.constant.name(),
                observation.family,
                digits(observation.value),
                observation.drive
            );
        }
    }
    text
}

/// Three significant digits, without an exponent.
fn digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    format!("{rounded}")
}
