//! Drives taken apart, and looked into, whatever the symptom.

use super::Diagnose;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print_result, say};
use crate::progress::stop_on_signal;
use crate::target::kept;
use ssdlab_base::LabError;
use ssdlab_bench::device::TargetFacts;
use ssdlab_bench::device::named::TargetName;
use ssdlab_drives::known::draft::open_drive;
use ssdlab_drives::scaling::scaled;
use ssdlab_judge::ablate::{self, Diagnosis, HostStream, steady};
use ssdlab_judge::cause::Cause;
use ssdlab_judge::experiment::{
    self, ExperimentKind, Investigation, InvestigationAnswer, InvestigationProgress,
    InvestigationRequest, look_into,
};
use ssdlab_load::trace::ReadOptions;
use ssdlab_ssd::Drive;
use std::path::Path;

/// The drive in the state to be explained: a kept one as it is, a new one written until steady.
pub(super) fn drive(args: &Diagnose, name: &str) -> Result<Drive, LabError> {
    if let Some((drive, _)) = kept(name)? {
        return Ok(drive);
    }
    let listed = open_drive(name)?;
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

pub(super) fn investigated(
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

pub(super) fn every_hypothesis(
    args: &Diagnose,
    target: TargetName,
) -> Result<CommandExit, CliFailure> {
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

pub(super) fn no_model(target: &str) -> LabError {
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

pub(super) fn every_load(args: &Diagnose, name: &str) -> Result<CommandExit, CliFailure> {
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
