//! fio's command line.

use super::plan;
use crate::plan::{Mix, WorkloadPlan};
use ssdlab_base::LabError;
use ssdlab_fio::{CommandLine, Error, Surroundings};

/// The plan of a command line, the first word of which is fio's name, and notes on what has no
/// effect.
///
/// # Errors
/// As [`super::parse`]; the place of an error is the word's number.
pub fn parse_command_line(
    words: &[String],
    surroundings: &Surroundings,
) -> Result<(WorkloadPlan, Vec<String>), LabError> {
    let (line, errors) = CommandLine::parse(words, surroundings);
    let none = Error::refused(
        "fio command line: no job in it",
        "begin a job with --name=JOB, or give a job file",
    );
    let plan = plan(&line.file, errors, none, surroundings)?;
    let mut jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    let writer = jobs.find(|job| !matches!(job.mix, Mix::Read | Mix::ReadWrite { read_pct: 100 }));
    if let (Some(place), Some(writer)) = (&line.read_only, writer) {
        return Err(LabError::refused(
            format!(
                "{place}: --readonly, but job `{}` writes or trims",
                writer.name
            ),
            "leave --readonly out, or write --rw=read or --rw=randread",
        ));
    }
    Ok((plan, line.notes))
}
