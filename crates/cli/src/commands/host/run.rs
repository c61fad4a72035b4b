//! What all hosts share: specs, a run, results, an exit code.

use crate::args::OutputArgs;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{
    ReservedDir, print, print_json, run_dir, say, self_checked, write_file, write_json,
};
use crate::progress::stop_on_signal;
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::check::failures;
use ssdlab_base::clock::Utc;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::settings::DriveSetting;
use ssdlab_hosts::months::TrimSchedule;
use ssdlab_hosts::{HostDrive, Scenario, ScenarioReport, run_all};
use std::sync::atomic::AtomicBool;

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
    /// The drive called `name`; `usual` is its capacity unless --capacity gives another.
    ///
    /// # Errors
    /// When there is no such drive, or a value is impossible.
    pub fn open(&self, name: &str, usual: Option<u64>) -> Result<HostDrive, LabError> {
        let settings = self.set.iter().map(|text| DriveSetting::parse(text));
        let settings = settings.collect::<Result<Vec<_>, _>>()?;
        let capacity = match self.capacity.as_deref() {
            None => usual,
            Some("whole") => None,
            Some(size) => Some(parse_size(size)?),
        };
        HostDrive::open(name, &settings, capacity)
    }
}

/// The ways of trimming that the arguments name, or the usual ones.
///
/// # Errors
/// When a text names none.
pub fn trims(given: &[String], usual: &[TrimSchedule]) -> Result<Vec<TrimSchedule>, LabError> {
    if given.is_empty() {
        return Ok(usual.to_vec());
    }
    given.iter().map(|text| TrimSchedule::parse(text)).collect()
}

/// Runs the specs on `drives`; results go to the directory that `output` names.
///
/// # Errors
/// When a spec is impossible, or results cannot be written.
pub fn run_on_drives<S: Scenario<TargetDrives = [HostDrive]>>(
    specs: &[S],
    mut drives: Vec<HostDrive>,
    output: &OutputArgs,
) -> Result<CommandExit, CliFailure> {
    for spec in specs {
        spec.validate_on(&drives)?;
    }
    let (path, existing) = run_dir(output, &drives[0].name, Utc::now());
    let _reserved = ReservedDir::new(&path, existing)?;
    let stop = stop_on_signal()?;
    run_scenario(
        specs,
        &mut drives[..],
        &stop,
        output.json,
        output.quiet,
        |report| {
            write_json(&path.join("result.json"), &report.json)?;
            write_file(&path.join("series.csv"), &report.csv)?;
            Ok(Some(format!("results: {}/", path.display())))
        },
    )
}

/// Runs the specs, keeps and prints the report. `keep` returns the place for the person.
///
/// # Errors
/// When a run is impossible, or its report cannot be kept or printed.
pub fn run_scenario<S: Scenario>(
    specs: &[S],
    drives: &mut S::TargetDrives,
    stop: &AtomicBool,
    json: bool,
    quiet: bool,
    keep: impl FnOnce(&ScenarioReport) -> Result<Option<String>, CliFailure>,
) -> Result<CommandExit, CliFailure> {
    let report = run_all(specs, drives, stop)?;
    let place = keep(&report)?;
    if json {
        print_json(&report.json)?;
    } else {
        print(&report.text)?;
    }
    if let Some(place) = place {
        say(quiet, &place);
    }
    let exit = self_checked(&failures(&report.checks));
    if report.stopped {
        say(quiet, "stopped early: these are the results up to then");
    }
    Ok(match exit {
        CommandExit::Good if report.stopped => CommandExit::Unknown,
        exit => exit,
    })
}
