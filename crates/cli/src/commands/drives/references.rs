//! `ssdlab drives references`: the kept figures of validated drives.

mod ensembles;

use crate::failure::{CliFailure, CommandExit};
use crate::output::print;
use crate::progress::stop_on_signal;
use clap::Args;
use ssdlab_base::{LabError, parallel};
use ssdlab_bench::device::named::TargetName;
use ssdlab_judge::qualify::references::{KEPT_PROFILE, KEPT_SEED, kept_line, line, names_kept};
use ssdlab_judge::qualify::{Evidence, QualifyPlan, SilentProgress, qualify, role};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// `ssdlab drives references`.
#[derive(Args, Debug)]
pub struct ReferencesArgs {
    /// Names; without any, every validated drive.
    drives: Vec<String>,
    /// Write the figures to this file: `drives/references.jsonl` is the one that is built in.
    /// All drives are measured then; with --ensembles those that are named replace their lines.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Of validated drives whose file assumes what decides: how many of the drives with drawn
    /// constants meet each requirement. `drives/ensembles.jsonl` is the file that is built in.
    #[arg(long)]
    ensembles: bool,
}

/// The quick qualification of a drive, by its name or file.
///
/// # Errors
/// When the drive is unknown, or the qualification is incomplete.
pub fn measure(name: &str, stop: &AtomicBool) -> Result<Evidence, LabError> {
    let target = Some(TargetName::Drive(name.to_owned()));
    let plan = QualifyPlan {
        profile: KEPT_PROFILE,
        seed: KEPT_SEED,
        ..QualifyPlan::new(target, role("general")?)
    };
    let qualification = qualify(&plan, &mut SilentProgress, stop)?;
    match qualification.incomplete.first() {
        None => Ok(qualification.target.evidence),
        Some(why) => Err(LabError::refused(format!("{name}: {why}"), "")),
    }
}

/// Measures them, and compares or writes.
///
/// # Errors
/// When a drive is unknown, the file cannot be written, or the user stops it.
pub fn references(args: &ReferencesArgs) -> Result<CommandExit, CliFailure> {
    let names = match args.drives.as_slice() {
        [] => names_kept()?,
        names => names.to_vec(),
    };
    if args.ensembles {
        return ensembles::ensembles(&names, args.write.as_deref(), args.drives.is_empty());
    }
    if args.write.is_some() && !args.drives.is_empty() {
        let hint = "leave the names out, or name drives with --ensembles";
        return Err(LabError::refused("--write is for all validated drives", hint).into());
    }
    let stop = stop_on_signal()?;
    let lines = parallel::all(&names, parallel::cores(), |name| {
        line(name, measure(name, &stop)?)
    })?;
    if let Some(path) = &args.write {
        let written = std::fs::write(path, lines.join("\n") + "\n");
        written.map_err(|error| LabError::file("writing", path, error))?;
    }
    let mut exit = CommandExit::Good;
    for (name, line) in names.iter().zip(&lines) {
        let state = match kept_line(name) {
            None => "not kept",
            Some(kept) if kept == line => "as kept",
            Some(_) => "differs from what is kept",
        };
        if state != "as kept" && args.write.is_none() {
            exit = CommandExit::Fails;
        }
        print(&format!("{name}: {state}\n"))?;
    }
    Ok(exit)
}
