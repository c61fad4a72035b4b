//! Constants that no sheet gives, estimated from the open families of the ledger.
//!
//! ```text
//! rows -> observe   what a constant of a drive must be, so that the model meets a figure of it
//!      -> commits   the same of what commits take
//!      -> estimate  median and spread by class: family, then drive
//!      -> holdout   the same without a fold; the figures of that fold predicted
//! ```
//! A constant that moves one figure alone is found by that figure: the model runs without it, and
//! what is missing is the constant. Families set apart are never looked at.

mod commits;
mod estimate;
mod folds;
mod holdout;
mod observe;
mod steady;
#[cfg(test)]
mod tests;

pub use folds::Folds;
pub use holdout::{HoldOut, HoldOutLine, hold_out};
pub use observe::Observation;

use crate::predict::code;
use ssdlab_base::LabError;
use ssdlab_ledger::{Ledger, LedgerRow};
use ssdlab_life::draft::prior::DraftPrior;
use std::sync::atomic::AtomicBool;
use twox_hash::XxHash3_64;

/// A prior and the observations that it is from.
#[derive(Clone, Debug)]
pub struct FittedPrior {
    /// The prior.
    pub prior: DraftPrior,
    /// What constants of single drives must be.
    pub observations: Vec<Observation>,
}

/// Estimates the prior from the open families for which `is_used` holds.
///
/// # Errors
/// When `stop` was set.
pub fn fit(
    ledger: &Ledger,
    is_used: &(dyn Fn(&str) -> bool + Sync),
    stop: &AtomicBool,
) -> Result<FittedPrior, LabError> {
    let is_open = |row: &&LedgerRow| {
        let family = &row.drive.family;
        !ledger.is_apart(family) && is_used(family)
    };
    let rows: Vec<LedgerRow> = ledger.all_rows().iter().filter(is_open).cloned().collect();
    let mut fitted = FittedPrior {
        prior: DraftPrior {
            code: code(),
            data: data_hash(&rows),
            seed: Folds::built_in().seed,
            classes: Vec::new(),
        },
        observations: observe::of_sheets(&rows),
    };
    fitted.observations.extend(observe::of_write_rates(&rows));
    fitted.observations.extend(observe::of_fills(&rows));
    fitted.prior.classes = estimate::classes(&fitted.observations);
    // What a flush takes is what the programs of the model, with the cache, do not.
    let commits = commits::observe(&rows, &fitted.prior, stop)?;
    fitted.observations.extend(commits);
    fitted.prior.classes = estimate::classes(&fitted.observations);
    let service = observe::of_service(&rows, ledger, &fitted.prior, stop)?;
    fitted.observations.extend(service);
    fitted.prior.classes = estimate::classes(&fitted.observations);
    Ok(fitted)
}

/// Hash of the rows: of what is measured, at what, and the figure.
fn data_hash(rows: &[LedgerRow]) -> String {
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {}", crate::predict::row_id(row), row.figure.value))
        .collect();
    lines.sort();
    format!("{:016x}", XxHash3_64::oneshot(lines.join("\n").as_bytes()))
}

/// The prior as `ledger/prior.toml` has it.
///
/// # Errors
/// When it is no TOML.
pub fn text(prior: &DraftPrior) -> Result<String, LabError> {
    let table = toml::to_string(prior);
    let table = table.map_err(|error| LabError::refused(error.to_string(), ""))?;
    Ok(format!(
        "# Constants that no sheet gives, estimated from the open families of the ledger:\n\
         # `ssdlab ledger fit --out ledger/prior.toml`. Times in ns, rates in bytes a second.\n\
         # `spread` is the standard deviation of the logarithm for a drive of another family.\n\
         {table}"
    ))
}
