//! `ssdlab qualify`: is this a good choice, and if it is slow, what gives?

mod args;
mod others;

pub use args::Qualify;

use crate::failure::{CliFailure, CommandExit};
use crate::output::{ReservedDir, arguments, print, print_json, run_dir, say, terminal_width};
use crate::progress::{QualifyBars, stop_on_signal};
use crate::target::kept;
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_bench::device::named::TargetName;
use ssdlab_judge::qualify::files::QualifyRecorder;
use ssdlab_judge::qualify::{QualifyPlan, ReferenceSelection, references, role, terminal};
use ssdlab_predict::members::drawn;

fn plan(args: &Qualify) -> Result<QualifyPlan, LabError> {
    let references = if args.no_reference {
        ReferenceSelection::None
    } else if args.all_references {
        ReferenceSelection::Measured(references(&["all".to_owned()])?)
    } else if args.reference.is_empty() {
        ReferenceSelection::Kept
    } else {
        ReferenceSelection::Measured(references(&args.reference)?)
    };
    let target = args.target.as_deref().map(TargetName::parse).transpose()?;
    let drawn_of = target.as_ref().filter(|_| !args.no_draws);
    Ok(QualifyPlan {
        drawn: drawn_of.map(drawn).unwrap_or_default(),
        target,
        role: role(&args.role)?,
        profile: args.profile.into(),
        seed: args.seed,
        references,
        open: args.on.options()?,
        pull_record: args.pull_record.clone(),
        kept,
    })
}

/// Measures, judges, reports.
///
/// # Errors
/// When the role or target cannot be used, nothing could be measured, or results cannot be written.
pub fn qualify(args: &Qualify) -> Result<CommandExit, CliFailure> {
    if let Some(exit) = others::from_ledger(args)? {
        return Ok(exit);
    }
    let plan = plan(args)?;
    let started = Utc::now();
    let stop = stop_on_signal()?;
    let quiet = args.output.quiet;
    let target = || format!("Measuring {}.", args.target.as_deref().unwrap_or_default());
    say(quiet, &plan.own_file().unwrap_or_else(target));
    let (path, existing) = run_dir(
        &args.output,
        &format!("qualify-{}", plan.role.name),
        started,
    );
    let _reserved = ReservedDir::new(&path, existing)?;
    let mut steps = QualifyBars::new(quiet);
    let mut recorder = QualifyRecorder::new(
        &plan,
        path.clone(),
        existing,
        &started.rfc3339(),
        &arguments(),
        &mut steps,
    );
    let qualification = ssdlab_judge::qualify(&plan, &mut recorder, &stop)?;
    recorder.finish(&qualification)?;
    drop(steps);
    if args.output.json {
        print_json(&qualification)?;
    } else if args.verbose {
        print(&terminal::text(&qualification))?;
    } else {
        print(&terminal::answer(&qualification, terminal_width()))?;
    }
    let results = format!(
        "\nresults: {0}/  page: {0}/report.html  every requirement: ssdlab report {0}",
        path.display()
    );
    say(quiet, &results);
    Ok(qualification.target.verdict.outcome.into())
}
