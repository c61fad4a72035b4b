//! The check without a cut: it must pass on what the program left, and fail without it.

use super::check::{FolderScripts, FolderSource};
use super::course::TapeCourse;
use super::tape::CallTape;
use crate::crashtest::scripts::{
    CampaignSettings, ControlRecord, EMPTY_OUTPUT, UNCUT_OUTPUT, refuse_check_that_fails_uncut,
    refuse_check_that_tests_nothing, refuse_no_marks, refuse_unusable,
};
use ssdlab_base::LabError;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What the check is tried on.
pub struct ControlRun<'a> {
    pub settings: &'a CampaignSettings,
    pub scripts: &'a FolderScripts<'a>,
    pub tape: &'a CallTape,
    /// The folder as the program left it.
    pub whole: &'a Path,
    /// Where the campaign is kept.
    pub out: &'a Path,
    /// The first call that may be cut.
    pub first: usize,
}

impl ControlRun<'_> {
    /// Tries the check; `before` is a course that has not begun.
    ///
    /// # Errors
    /// When the check tests nothing, cannot be run, or was stopped.
    pub fn run(
        &self,
        mut before: TapeCourse<'_>,
        stop: &AtomicBool,
    ) -> Result<ControlRecord, LabError> {
        let marks: Vec<String> = self
            .tape
            .marks
            .iter()
            .map(|mark| mark.text.clone())
            .collect();
        let preparation = self.settings.after_mark.as_ref().map_or(0, |text| {
            let place = marks.iter().position(|mark| mark == text);
            place.map_or(0, |index| index + 1)
        });
        let count = marks.len() - preparation;
        if count == 0 && !self.settings.consistency_only {
            return Err(refuse_no_marks());
        }
        let check = |source, name: &str, output: &str| {
            let path = self.out.join(output);
            let outcome = self
                .scripts
                .check(source, self.tape, &marks, name, &path, stop)?;
            refuse_unusable(self.settings, outcome, &path)
        };
        let whole = FolderSource::Folder(self.whole);
        let uncut = check(whole, "control-uncut", UNCUT_OUTPUT)?;
        if !uncut.is_good {
            return Err(refuse_check_that_fails_uncut(&uncut, self.out));
        }
        let _ = std::fs::remove_file(self.out.join(UNCUT_OUTPUT));
        let record = ControlRecord {
            marks: count,
            passes_uncut: true,
            fails_empty: (!self.settings.consistency_only).then_some(true),
        };
        if self.settings.consistency_only {
            return Ok(record);
        }
        before.seek(self.first)?;
        let mut files = before.files();
        let empty = FolderSource::Crashed(&mut files);
        let empty = check(empty, "control-empty", EMPTY_OUTPUT)?;
        if empty.is_good {
            return Err(refuse_check_that_tests_nothing(count));
        }
        let _ = std::fs::remove_file(self.out.join(EMPTY_OUTPUT));
        Ok(record)
    }
}
