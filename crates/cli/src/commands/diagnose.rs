//! `ssdlab diagnose`: "it is slow: what gives?", asked with a symptom.

mod apart;
mod args;
mod question;

pub use args::Diagnose;

use apart::{drive, every_hypothesis, every_load, investigated, no_model};

use crate::failure::{CliFailure, CommandExit};
use crate::output::{
    ReservedDir, print, print_json, run_dir, say, terminal_width, write_file, write_json,
};
use crate::target::kept;
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_bench::device::named::TargetName;
use ssdlab_drives::known::draft::open_drive;
use ssdlab_judge::page::symptom_page;
use ssdlab_judge::symptom::{
    self, SheetFigures, Symptom, SymptomAnswer, SymptomOutcome, of_investigation, of_model,
};

/// What the sheet of a drive of the catalogue says; nothing of a kept one.
fn sheet(name: &str) -> Result<SheetFigures, LabError> {
    if kept(name)?.is_some() {
        return Ok(SheetFigures::default());
    }
    SheetFigures::documented(&open_drive(name)?.file.documented)
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
