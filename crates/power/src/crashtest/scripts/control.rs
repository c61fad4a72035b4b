//! The control run: does the check test anything?
//!
//! Before any cut the check runs twice, each time with every mark that the workload made: on the
//! drive as an uncut run leaves it, where it must pass, and on the drive as it was before the
//! workload's marks, where it must fail. A check that cannot be run, that fails on an uncut run or
//! passes on a drive without the workload's writes would let every cut pass, or none.

use super::check::ScriptCheck;
use super::run::ScriptOutcome;
use super::settings::CampaignSettings;
use crate::crashtest::CommandStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_ssd::Op;
use ssdlab_ssd::drive::power::{DataDrive, Power};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What the check was tried on before any cut; `control.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct ControlRecord {
    /// Marks that were held against the drive both times.
    pub marks: usize,
    /// The check passed on the drive as the uncut run left it.
    pub passes_uncut: bool,
    /// The check failed on the drive without the workload's writes; `None`: it was not asked, as
    /// the campaign tests consistency only.
    pub fails_empty: Option<bool>,
}

impl ControlRecord {
    /// In words, for the result.
    pub(super) fn describe(&self) -> String {
        let marks = match self.marks {
            1 => "1 mark".to_owned(),
            count => format!("{count} marks"),
        };
        match self.fails_empty {
            Some(_) => format!(
                "control: with {marks} the check passes on the uncut run, and fails without its \
                 writes"
            ),
            None => "control: the check passes on the uncut run; consistency only: nothing that \
                     was acknowledged is held against the drive"
                .to_owned(),
        }
    }
}

/// Name of the check's output on the uncut run, in the campaign's directory.
pub(crate) const UNCUT_OUTPUT: &str = "control-uncut.txt";
/// The same on the drive without the workload's writes.
pub(crate) const EMPTY_OUTPUT: &str = "control-empty.txt";

/// Tries the check on what the workload left, `whole`, and on what was there before it.
///
/// # Errors
/// When the check tests nothing, cannot be run, or was stopped.
pub(super) fn control(
    settings: &CampaignSettings,
    out: &Path,
    whole: &CommandStream,
    stop: &Arc<AtomicBool>,
) -> Result<ControlRecord, LabError> {
    let before = settings.first_command(whole)?;
    let marks: Vec<String> = whole.marks.iter().map(|mark| mark.text.clone()).collect();
    let preparation = settings.after_mark.as_ref().map_or(0, |text| {
        let place = marks.iter().position(|mark| mark == text);
        place.map_or(0, |index| index + 1)
    });
    let count = marks.len() - preparation;
    if count == 0 && !settings.consistency_only {
        return Err(refuse_no_marks());
    }
    let check = ScriptCheck::new(settings, out, stop);
    let run = |commands: usize, name: &str, output: &str| {
        let drive = played(settings, whole, commands)?;
        let outcome = check.run_control(drive, &marks, name, &out.join(output))?;
        refuse_unusable(settings, outcome, &out.join(output))
    };
    let uncut = run(whole.commands.len(), "control-uncut", UNCUT_OUTPUT)?;
    if !uncut.is_good {
        return Err(refuse_check_that_fails_uncut(&uncut, out));
    }
    let _ = std::fs::remove_file(out.join(UNCUT_OUTPUT));
    let record = ControlRecord {
        marks: count,
        passes_uncut: true,
        fails_empty: (!settings.consistency_only).then_some(true),
    };
    if settings.consistency_only {
        return Ok(record);
    }
    let empty = run(before, "control-empty", EMPTY_OUTPUT)?;
    if empty.is_good {
        return Err(refuse_check_that_tests_nothing(count));
    }
    let _ = std::fs::remove_file(out.join(EMPTY_OUTPUT));
    Ok(record)
}

/// Why a workload without marks is refused.
pub(crate) fn refuse_no_marks() -> LabError {
    LabError::refused(
        "the workload acknowledged nothing: with no mark there is nothing that a cut could \
         lose, and the check tests nothing",
        "have it say what it takes for acknowledged (\"$SSDLAB\" mark TEXT, or a line on \
         standard output of `crashtest run`); or --consistency-only, for a check that asks \
         only whether what is there is whole",
    )
}

/// Why a check that fails without a cut is refused.
pub(crate) fn refuse_check_that_fails_uncut(uncut: &ScriptOutcome, out: &Path) -> LabError {
    LabError::refused(
        format!("the check fails on a run that was not cut: {}", uncut.text),
        format!(
            "every cut would be called a failure. All that it said is in {}. What was recorded \
             is kept: --resume --check COMMAND goes on with another check",
            out.join(UNCUT_OUTPUT).display()
        ),
    )
}

/// Why a check that passes without the workload's writes is refused.
pub(crate) fn refuse_check_that_tests_nothing(marks: usize) -> LabError {
    LabError::refused(
        format!(
            "the check tests nothing: it passes on a drive without the workload's writes, \
             although {marks} marks say what must be there"
        ),
        "compare what is there with the lines of $SSDLAB_MARKS; or --consistency-only, for a \
         check that asks only whether what is there is whole. What was recorded is kept: \
         --resume --check COMMAND goes on with another check",
    )
}

/// Refuses an outcome that says nothing of the drive.
pub(crate) fn refuse_unusable(
    settings: &CampaignSettings,
    outcome: ScriptOutcome,
    output: &Path,
) -> Result<ScriptOutcome, LabError> {
    if outcome.stopped {
        return Err(LabError::refused(
            "stopped before the first cut",
            "what was recorded is kept: --resume goes on",
        ));
    }
    if outcome.could_not {
        return Err(LabError::refused(
            format!("the check could not run: {}", outcome.text),
            format!(
                "it was `{}`; all that it said is in {}. What was recorded is kept: --resume \
                 --check COMMAND goes on with another check",
                settings.check,
                output.display()
            ),
        ));
    }
    Ok(outcome)
}

/// A new drive on which the first `count` commands were carried out, without a cut.
fn played(
    settings: &CampaignSettings,
    stream: &CommandStream,
    count: usize,
) -> Result<DataDrive, LabError> {
    let failed = |error: &dyn std::fmt::Display| LabError::refused(error.to_string(), "");
    let config = settings.config()?;
    let mut drive = DataDrive::new(config, Power::default()).map_err(|error| failed(&error))?;
    for recorded in &stream.commands[..count] {
        let command = &recorded.command;
        let bytes = recorded.bytes.as_deref().unwrap_or_default();
        let len = u64::from(command.len);
        let outcome = match command.op {
            Op::Write => drive.write(command.offset, bytes, command.fua).map(drop),
            Op::Trim => drive.trim(command.offset, len).map(drop),
            Op::WriteZeroes => {
                let zeroed = drive.write_zeroes(command.offset, len, command.fua);
                zeroed.map(drop)
            }
            Op::Flush => drive.flush().map(drop),
            Op::Read => Ok(()),
        };
        outcome.map_err(|error| failed(&error))?;
    }
    Ok(drive)
}
