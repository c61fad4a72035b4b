//! What is in a directory, and what of a damaged one can be recovered. The directory itself is
//! never changed.

use super::end;
use super::make::{create_again, lock_to_read};
use super::survey::{
    Damage, DirectorySurvey, FrameFileSummary, RecoveryBase, SurveyOptions, UnrecoverableTail,
    survey,
};
use ssdlab_base::LabError;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::{Power, PowerDrive};
use std::path::Path;

/// What was found in a directory.
#[derive(Clone, Debug)]
pub struct DirectoryCheck {
    /// Version of its format; `None` where no checkpoint can be read.
    pub format: Option<u32>,
    /// What a person calls the drive.
    pub title: Option<String>,
    /// The drive's configuration.
    pub config: Option<DriveConfig>,
    /// Whether the drive was shut down in order.
    pub closed: bool,
    /// Checkpoints and logs that were read, in order.
    pub files: Vec<FrameFileSummary>,
    /// What is not damage and should be known, a sentence each.
    pub notes: Vec<String>,
    /// What was never written so, the first first.
    pub damages: Vec<Damage>,
    /// What is behind the damage.
    pub lost: UnrecoverableTail,
}

/// What was recovered.
#[derive(Clone, Debug)]
pub struct DirectoryRepair {
    /// What was found.
    pub checked: DirectoryCheck,
    /// What is wrong with the recovered drive, if anything is.
    pub wrong: Option<String>,
}

fn checked(survey: &DirectorySurvey) -> DirectoryCheck {
    let base = survey.base.as_ref();
    DirectoryCheck {
        format: base.map(|base| base.format),
        title: base.map(|base| base.title.clone()),
        config: base.map(|base| base.stored.config.clone()),
        closed: base.is_some_and(|base| base.stored.closed),
        files: survey.seen.clone(),
        notes: survey.notes.clone(),
        damages: survey.damages.clone(),
        lost: survey.lost,
    }
}

/// Reads all of a directory and changes nothing.
///
/// # Errors
/// When it is not a drive directory, is open elsewhere, cannot be read, or another build wrote it.
pub fn check(path: &Path) -> Result<DirectoryCheck, LabError> {
    let _lock = lock_to_read(path)?;
    survey(
        path,
        end::boot(),
        SurveyOptions {
            salvage: true,
            writable: false,
        },
    )
    .map(|survey| checked(&survey))
}

/// Writes what can be recovered of `path`, the last consistent state before the damage, to the new
/// directory `to`.
///
/// # Errors
/// As [`check`], when nothing can be recovered, or `to` exists or cannot be written.
pub fn repair(path: &Path, to: &Path) -> Result<DirectoryRepair, LabError> {
    let _lock = lock_to_read(path)?;
    let mut survey = survey(
        path,
        end::boot(),
        SurveyOptions {
            salvage: true,
            writable: false,
        },
    )?;
    let checked = checked(&survey);
    let Some(base) = survey.base.take() else {
        let damage = survey.damages.first().map(ToString::to_string);
        return Err(LabError::refused(
            format!(
                "nothing can be recovered of {}: no checkpoint is whole; {}",
                path.display(),
                damage.unwrap_or_default()
            ),
            "only a copy of the directory, if there is one, can help",
        ));
    };
    let mut stored = base.stored;
    stored.forget_places(&base.not_whole);
    create_again(to, stored, &base.title)?;
    let wrong = look_at(to)?;
    Ok(DirectoryRepair { checked, wrong })
}

/// Reads a directory that was just written, and starts its drive in memory.
fn look_at(path: &Path) -> Result<Option<String>, LabError> {
    let mut survey = survey(
        path,
        end::boot(),
        SurveyOptions {
            salvage: false,
            writable: false,
        },
    )?;
    let damage = survey.damages.first().map(ToString::to_string);
    let Some(RecoveryBase { stored, .. }) = survey.base.take() else {
        return Ok(damage);
    };
    let saved = stored.saved.into_iter().collect();
    let power = Power::default();
    let drive = PowerDrive::stored(stored.config, power, &stored.smart, stored.events, saved);
    let mut drive = drive.map_err(|error| LabError::refused(error.to_string(), ""))?;
    let recovery = drive.power_on(drive.now());
    let dead = recovery
        .dead
        .then(|| "the drive does not come back".to_owned());
    Ok(damage.or(dead).or(drive.check().err()))
}
