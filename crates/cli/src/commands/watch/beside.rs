//! What a model of the drive, or the account of the volume, says beside a watch.

use super::order::{listed, modelled_volume};
use crate::output::say;
use ssdlab_base::LabError;
use ssdlab_drives::scaling::scaled;
use ssdlab_judge::ablate::steady;
use ssdlab_load::trace::TraceEvent;
use ssdlab_ssd::Drive;
use ssdlab_watch::account::CreditLeft;
use ssdlab_watch::forecast::{ForecastModel, WatchForecast};
use ssdlab_watch::model::ModelComparison;
use ssdlab_watch::report::WatchReport;

/// Capacity of the model: fewer blocks, all its dies.
const MODEL_BYTES: u64 = 1 << 30;

/// A model in the state of a drive in use: overwritten until steady.
fn modelled_drive(name: &str) -> Result<Drive, LabError> {
    steady(&scaled(&listed(name)?.config, MODEL_BYTES)?.config, 1)
}

/// Adds what the modelled drive that `--model` names would have done and what comes next, or how
/// much credit the volume that it names has left.
///
/// # Errors
/// When there is no such drive or volume.
pub fn beside_model(
    name: &str,
    quiet: bool,
    report: &mut WatchReport,
    events: &[TraceEvent],
) -> Result<(), LabError> {
    if let Some(volume) = modelled_volume(name)? {
        report.credits = CreditLeft::of_volume(&volume, &report.seconds);
        return Ok(());
    }
    report.forecast = Some(foretold(name, report)?);
    say(quiet, &format!("the same commands on {name}"));
    report.model = ModelComparison::new(&modelled_drive(name)?, events);
    Ok(())
}

/// What comes next, by a drive of this kind.
fn foretold(name: &str, report: &WatchReport) -> Result<WatchForecast, LabError> {
    let model = ForecastModel::new(&listed(name)?);
    Ok(WatchForecast::new(
        Some(&model),
        &report.forecast_evidence(),
    ))
}
