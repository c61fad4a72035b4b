//! What `tier`, `months` and `oltp` have in common: drives, results, exit codes.

use crate::args::OutputArgs;
use crate::failure::{Exit, Failure};
use crate::output::{Reserved, print, run_dir, say, write_file};
use crate::progress::stop_on_signal;
use clap::Args;
use serde_json::json;
use ssdlab_base::LabError;
use ssdlab_base::check::{Check, failures};
use ssdlab_base::clock::Utc;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::settings::Setting;
use ssdlab_hosts::HostDrive;
use ssdlab_hosts::months::Trim;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// What changes the drive.
#[derive(Args, Debug, Clone)]
pub struct DriveArgs {
    /// Change a parameter of the drive (repeatable); `simulate --list-settings` lists them.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Scale the drive down to about this much for the host, with its effective
    /// over-provisioning, dies and times kept; `whole`: as it is.
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<String>,
}

impl DriveArgs {
    /// The drive called `name`; `usual` is its capacity unless another is asked for.
    ///
    /// # Errors
    /// When there is no such drive, or it is not possible so.
    pub fn open(&self, name: &str, usual: Option<u64>) -> Result<HostDrive, LabError> {
        let settings = self.set.iter().map(|text| Setting::parse(text));
        let settings = settings.collect::<Result<Vec<_>, _>>()?;
        let capacity = match self.capacity.as_deref() {
            None => usual,
            Some("whole") => None,
            Some(size) => Some(parse_size(size)?),
        };
        HostDrive::open(name, &settings, capacity)
    }
}

/// The place of results, made before the run.
pub struct Place {
    path: PathBuf,
    _reserved: Reserved,
}

/// The ways of trimming that were asked for, or the usual ones.
///
/// # Errors
/// When a text names none.
pub fn trims(given: &[String], usual: &[Trim]) -> Result<Vec<Trim>, LabError> {
    if given.is_empty() {
        return Ok(usual.to_vec());
    }
    given.iter().map(|text| Trim::parse(text)).collect()
}

/// Makes the directory of the results.
///
/// # Errors
/// When it cannot be made.
pub fn place(output: &OutputArgs, name: &str) -> Result<Place, LabError> {
    let (path, existing) = run_dir(output, name, Utc::now());
    let reserved = Reserved::new(&path, existing)?;
    Ok(Place {
        path,
        _reserved: reserved,
    })
}

/// One run for each choice, until the user ends it; says also whether that was so.
///
/// # Errors
/// When signals cannot be caught, or a run is impossible.
pub fn run_each<C, R>(
    choices: Vec<C>,
    run: impl Fn(C, &AtomicBool) -> Result<R, LabError>,
) -> Result<(Vec<R>, bool), LabError> {
    let stop = stop_on_signal()?;
    let stopped = || stop.load(Ordering::Relaxed);
    let mut runs = Vec::new();
    for choice in choices {
        if stopped() {
            break;
        }
        runs.push(run(choice, &stop)?);
    }
    Ok((runs, stopped()))
}

/// What a host model leaves.
pub struct Outcome<'a> {
    /// `tier`, `months` or `oltp`.
    pub model: &'static str,
    /// The drives.
    pub drives: &'a [HostDrive],
    /// The runs, as JSON.
    pub runs: serde_json::Value,
    /// The series, as CSV.
    pub series: String,
    /// For the terminal.
    pub text: String,
    /// Self-checks of all runs.
    pub checks: Vec<Check>,
    /// Ended by the user: what was done by then is the result.
    pub stopped: bool,
}

/// Writes and prints the results.
///
/// # Errors
/// When they cannot be written.
pub fn finish(outcome: &Outcome<'_>, place: &Place, output: &OutputArgs) -> Result<Exit, Failure> {
    let value = json!({
        "model": outcome.model,
        "version": env!("CARGO_PKG_VERSION"),
        "drives": outcome.drives,
        "runs": outcome.runs,
    });
    let text = serde_json::to_string_pretty(&value)
        .map_err(|error| LabError::refused(format!("writing JSON: {error}"), ""))?;
    write_file(&place.path.join("result.json"), &(text.clone() + "\n"))?;
    write_file(&place.path.join("series.csv"), &outcome.series)?;
    if output.json {
        print(&text)?;
    } else {
        for drive in outcome.drives {
            print(&drive.head().join("\n"))?;
        }
        print(&outcome.text)?;
    }
    say(output.quiet, &format!("results: {}/", place.path.display()));
    let failed = failures(&outcome.checks);
    for failure in &failed {
        tell!("error: self-check failed: {failure}");
    }
    if outcome.stopped {
        say(
            output.quiet,
            "stopped early: these are the results up to then",
        );
    }
    Ok(match (failed.is_empty(), outcome.stopped) {
        (false, _) => Exit::Error,
        (true, true) => Exit::Unknown,
        (true, false) => Exit::Good,
    })
}
