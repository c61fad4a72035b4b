//! The form that every host has: a spec with units and defaults, a run on drives, a result with
//! self-checks, and its table, series and JSON.

use crate::HostDrive;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_ssd::Nanos;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};

/// A host as a load, as its spec describes it.
pub trait Scenario: Sized {
    /// Name of the model in `result.json`, and of its command.
    const NAME: &'static str;
    /// Devices that it runs on.
    type TargetDrives: ?Sized;
    /// Result of a run.
    type ScenarioResult;

    /// Checks that the spec can be run on these drives.
    ///
    /// # Errors
    /// The first value that is impossible, with those allowed.
    fn validate_on(&self, drives: &Self::TargetDrives) -> Result<(), LabError>;

    /// Runs until its end or until `stop` is set: the part done by then is the result.
    ///
    /// # Errors
    /// When spec or drives are impossible, or a device fails.
    fn run(
        &self,
        drives: &mut Self::TargetDrives,
        stop: &AtomicBool,
    ) -> Result<Self::ScenarioResult, LabError>;

    /// Self-checks of a run.
    fn checks(run: &Self::ScenarioResult) -> &[SelfCheck];

    /// All runs for the terminal, at most 80 columns.
    fn text(runs: &[Self::ScenarioResult], drives: &Self::TargetDrives) -> String;

    /// Series of all runs as CSV.
    ///
    /// # Errors
    /// When a command cannot be written as CSV.
    fn csv(runs: &[Self::ScenarioResult]) -> Result<String, LabError>;

    /// All runs as JSON.
    fn json(runs: &[Self::ScenarioResult], drives: &Self::TargetDrives) -> Value;
}

/// Results of the runs of a scenario, ready to be written.
#[derive(Debug)]
pub struct ScenarioReport {
    /// For the terminal.
    pub text: String,
    /// Series, as CSV.
    pub csv: String,
    /// Everything, as JSON.
    pub json: Value,
    /// Self-checks of all runs.
    pub checks: Vec<SelfCheck>,
    /// Stopped before its end.
    pub stopped: bool,
}

/// Runs each spec in turn, until `stop` is set.
///
/// # Errors
/// When a run is impossible, or a device fails.
pub fn run_all<S: Scenario>(
    specs: &[S],
    drives: &mut S::TargetDrives,
    stop: &AtomicBool,
) -> Result<ScenarioReport, LabError> {
    let mut runs = Vec::new();
    for spec in specs {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        runs.push(spec.run(drives, stop)?);
    }
    Ok(ScenarioReport {
        text: S::text(&runs, drives),
        csv: S::csv(&runs)?,
        json: S::json(&runs, drives),
        checks: runs.iter().flat_map(S::checks).cloned().collect(),
        stopped: stop.load(Ordering::Relaxed),
    })
}

/// Document with the runs on modelled drives: model, version, drives, runs.
pub(crate) fn document<S: Scenario>(drives: &[HostDrive], runs: impl Serialize) -> Value {
    json!(ScenarioDocument {
        model: S::NAME,
        version: env!("CARGO_PKG_VERSION"),
        drives,
        runs,
    })
}

/// What is printed of the runs of a scenario as JSON.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ScenarioDocument<'a, R> {
    /// Name of the scenario.
    pub model: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// The drives that it ran on.
    pub drives: &'a [HostDrive],
    /// Its runs.
    pub runs: R,
}

/// Checks that a value is within the range of an option of `command`.
pub(crate) fn within(
    command: &str,
    option: &str,
    given: u64,
    allowed: RangeInclusive<u64>,
) -> Result<(), LabError> {
    if allowed.contains(&given) {
        return Ok(());
    }
    let (least, most) = allowed.into_inner();
    Err(LabError::bad_option(
        option,
        given.to_string(),
        format!("{least} to {most} is allowed"),
        format!("see `ssdlab {command} --help`"),
    ))
}

/// Writes a time as a number of ns.
pub(crate) fn as_ns<S: Serializer>(time: &Nanos, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(time.0)
}
