//! From the arguments of `ssdlab run` to a plan: a job file, a command line of fio or DISKSPD, a
//! profile, a trace, or a profile and then a trace.

use super::trace::warn;
use crate::args::run::RunArgs;
use crate::output::say;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_duration;
use ssdlab_load::command_line;
use ssdlab_load::diskspd::TargetNames;
use ssdlab_load::fio;
use ssdlab_load::plan::WorkloadPlan;
use ssdlab_load::profiles::WorkloadProfile;
use ssdlab_load::trace::replay::Replay;
use std::path::Path;

/// Commands of a trace that may be outstanding unless the user says otherwise.
const TRACE_DEPTH: u32 = 32;

/// The plan that the arguments describe.
///
/// # Errors
/// When they name no workload or several, or it cannot be read.
pub fn read_plan(args: &RunArgs) -> Result<WorkloadPlan, LabError> {
    let named = args.profile.is_some() || args.trace.trace.is_some();
    match (&args.job, args.command_line.is_empty()) {
        (None, true) if named => {}
        (Some(_) | None, false) if named => {
            return Err(LabError::refused(
                "a command line was given beside a profile or a trace",
                "give one of them",
            ));
        }
        (Some(_), _) | (_, false) if args.iodepth.is_some() => {
            return Err(LabError::refused(
                "--iodepth is for profiles and traces",
                "write iodepth= in the fio job, or -o in the DISKSPD command line",
            ));
        }
        (Some(job), true) => return fio::read(job),
        (None, false) => return foreign(args),
        (Some(_), false) => {
            return Err(LabError::refused(
                "both a fio job file and a command line were given",
                "give one of them",
            ));
        }
        (None, true) => return Err(nothing()),
    }
    let trace = args.trace.trace.as_deref();
    let Some(name) = &args.profile else {
        let trace = trace.ok_or_else(nothing)?;
        return Ok(replay(args, trace)?.plan(args.iodepth.unwrap_or(TRACE_DEPTH)));
    };
    let profile = WorkloadProfile::named(name)?;
    let run = args.runtime.as_deref().map(parse_duration).transpose()?;
    // Before a trace, a profile prepares: its depth is its own then.
    let depth = args.iodepth.filter(|_| trace.is_none());
    let mut plan = profile.plan(depth, run)?;
    if let Some(trace) = trace {
        let depth = args.iodepth.unwrap_or(TRACE_DEPTH);
        plan.phases.push(replay(args, trace)?.phase(depth));
    }
    Ok(plan)
}

fn nothing() -> LabError {
    LabError::refused(
        "nothing to run: no fio job file, command line, profile or trace was given",
        "ssdlab run JOB.fio, ssdlab run --profile NAME, ssdlab run --trace FILE, \
         ssdlab run -- fio --name=JOB ..., or ssdlab run -- diskspd -b4k -r -w30 ... TARGET",
    )
}

/// The plan of fio's or DISKSPD's command line.
fn foreign(args: &RunArgs) -> Result<WorkloadPlan, LabError> {
    let targets = match args.target {
        Some(_) => TargetNames::Replaced,
        None => TargetNames::Used,
    };
    let line = command_line::read(&args.command_line, targets, &fio::Surroundings::here())?;
    for note in &line.notes {
        say(args.output.quiet, &format!("note: {note}"));
    }
    Ok(line.plan)
}

fn replay(args: &RunArgs, path: &Path) -> Result<Replay, LabError> {
    let trace = &args.trace;
    let speed = match trace.speed.as_str() {
        "max" => None,
        text => Some(text.parse::<f64>().map_err(|_| {
            LabError::refused(
                format!("--speed cannot be `{text}`"),
                "give a number such as 1.0 (recorded times) or 2 (twice as fast), or max",
            )
        })?),
    };
    let (replay, reading) = Replay::survey(path, &trace.options()?, speed, trace.fit())?;
    warn(path, &reading);
    Ok(replay)
}
