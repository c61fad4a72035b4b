//! `ssdlab diagnose`: "it is slow: what gives?", asked with a symptom.

mod args;
mod question;

pub use args::Diagnose;

use crate::failure::{CliFailure, CommandExit};
use crate::output::{
    ReservedDir, print, print_json, print_result, run_dir, say, terminal_width, write_file,
    write_json,
};
use crate::progress::stop_on_signal;
use crate::target::kept;
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_bench::device::TargetFacts;
use ssdlab_bench::device::named::TargetName;
use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::scaled;
use ssdlab_judge::ablate::{self, Diagnosis, HostStream, steady};
use ssdlab_judge::cause::Cause;

use ssdlab_judge::experiment::{
    self, ExperimentKind, Investigation, InvestigationAnswer, InvestigationProgress,
    InvestigationRequest, look_into,
};
use ssdlab_judge::page::symptom_page;
use ssdlab_judge::symptom::{
    self, SheetFigures, Symptom, SymptomAnswer, SymptomOutcome, of_investigation, of_model,
};
use ssdlab_load::trace::ReadOptions;
use ssdlab_ssd::Drive;
use std::path::Path;

/// The drive in the state to be explained: a kept one as it is, a new one written until steady.
fn drive(args: &Diagnose, name: &str) -> Result<Drive, LabError> {
    if let Some((drive, _)) = kept(name)? {
        return Ok(drive);
    }
    let listed = catalogue::open(name)?;
    steady(&scaled(&listed.config, args.capacity)?.config, args.seed)
}

/// Progress in a line for each experiment.
struct DiagnoseLines {
    quiet: bool,
}

impl InvestigationProgress for DiagnoseLines {
    fn filling(&mut self, done: u64, total: u64) {
        if done == 0 {
            say(self.quiet, &format!("filling a new file of {total} bytes"));
        }
    }

    fn begins(&mut self, experiment: ExperimentKind, asked_by: &[Cause]) {
        let names: Vec<_> = asked_by.iter().map(|cause| cause.name()).collect();
        let reason = if names.is_empty() {
            String::new()
        } else {
            format!(", to look at: {}", names.join(", "))
        };
        say(self.quiet, &format!("{}{reason}", experiment.name()));
    }
}

fn investigated(
    args: &Diagnose,
    target: TargetName,
) -> Result<(TargetFacts, Investigation), CliFailure> {
    let request = InvestigationRequest {
        target,
        open: args.on.options()?,
        kept,
        capacity: args.capacity,
        writes_max: args.writes,
        seed: args.seed,
    };
    let quiet = args.output.quiet;
    let mut lines = DiagnoseLines { quiet };
    Ok(look_into(&request, &mut lines, &*stop_on_signal()?)?)
}

fn every_hypothesis(args: &Diagnose, target: TargetName) -> Result<CommandExit, CliFailure> {
    let (facts, found) = investigated(args, target)?;
    print_result(args.output.json, &found, || {
        experiment::text(&facts, &found)
    })?;
    Ok(match found.answer {
        InvestigationAnswer::Cause { .. } => CommandExit::Fails,
        InvestigationAnswer::NothingShown if found.is_complete() => CommandExit::Good,
        InvestigationAnswer::OneOf(_) | InvestigationAnswer::NothingShown => CommandExit::Unknown,
    })
}

fn no_model(target: &str) -> LabError {
    LabError::refused(
        format!("{target} is not a modelled drive: only a model is taken apart under a trace"),
        "give drive:NAME; `ssdlab run --trace` replays a trace on files and devices",
    )
}

fn under_trace(args: &Diagnose, name: &str, trace: &Path) -> Result<Diagnosis, LabError> {
    let mut options = ReadOptions::default();
    options.device = args.device.clone();
    let stream = HostStream::read(trace, &options)?;
    say(args.output.quiet, &stream.summary());
    Ok(ablate::diagnose_stream(&drive(args, name)?, &stream))
}

fn every_load(args: &Diagnose, name: &str) -> Result<CommandExit, CliFailure> {
    let found = match &args.trace {
        Some(trace) => under_trace(args, name, trace)?,
        None => ablate::diagnose(&drive(args, name)?, args.seed)?,
    };
    print_result(args.output.json, &found, || ablate::text(&found))?;
    Ok(CommandExit::good_if(
        found.faults.is_empty(),
        CommandExit::Fails,
    ))
}

/// What the sheet of a drive of the catalogue says; nothing of a kept one.
fn sheet(name: &str) -> Result<SheetFigures, LabError> {
    if kept(name)?.is_some() {
        return Ok(SheetFigures::default());
    }
    SheetFigures::documented(&catalogue::open(name)?.file.documented)
}

fn of_symptom(
    args: &Diagnose,
    target: TargetName,
    symptom: Symptom,
) -> Result<SymptomAnswer, CliFailure> {
    match target {
        TargetName::Drive(name) if !args.black_box => {
            say(
                args.output.quiet,
                "writing the drive until it is steady, then taking its costs away one by one",
            );
            let drive = drive(args, &name)?;
            Ok(of_model(&drive, &sheet(&name)?, symptom, args.seed)?)
        }
        other => {
            let (facts, found) = investigated(args, other)?;
            Ok(of_investigation(&facts, &found, symptom))
        }
    }
}

/// Says what a symptom comes from; the page and the document go into a run directory.
fn answered(
    args: &Diagnose,
    target: TargetName,
    symptom: Symptom,
) -> Result<CommandExit, CliFailure> {
    let name = format!("diagnose-{}", symptom.name());
    let (path, existing) = run_dir(&args.output, &name, Utc::now());
    let _reserved = ReservedDir::new(&path, existing)?;
    let found = of_symptom(args, target, symptom)?;
    write_json(&path.join("diagnosis.json"), &found)?;
    write_file(&path.join("report.html"), &symptom_page(&found))?;
    if args.output.json {
        print_json(&found)?;
    } else {
        print(&symptom::answer(&found, terminal_width()))?;
    }
    say(
        args.output.quiet,
        &format!("\nresults: {0}/  page: {0}/report.html", path.display()),
    );
    Ok(match found.outcome {
        SymptomOutcome::Normal => CommandExit::Good,
        SymptomOutcome::NotNormal => CommandExit::Fails,
        SymptomOutcome::Unknown => CommandExit::Unknown,
    })
}

/// Names what a symptom comes from.
///
/// # Errors
/// When the drive is unknown, cannot be made so small, or may not be written.
pub fn diagnose(args: &Diagnose) -> Result<CommandExit, CliFailure> {
    let asked_all = args.all_loads || args.trace.is_some();
    if args.target.is_none() && (asked_all || !question::can_ask()) {
        return question::list(None);
    }
    let target = match &args.target {
        Some(target) => target.clone(),
        None => question::target()?,
    };
    let named = TargetName::parse(&target)?;
    if asked_all {
        return match named {
            TargetName::Drive(name) if !args.black_box => every_load(args, &name),
            _ if args.trace.is_some() => Err(no_model(&target).into()),
            other => every_hypothesis(args, other),
        };
    }
    match args.symptom {
        Some(symptom) => answered(args, named, symptom),
        None if question::can_ask() => answered(args, named, question::symptom()?),
        None => question::list(Some(&target)),
    }
}
