//! The check script.

use super::attach::AttachedDrive;
use super::files::file_error;
use super::names::{NAMES, NameRules};
use super::record::NAMES_FILE;
use super::run::ScriptOutcome;
use super::settings::CampaignSettings;
use crate::crashtest::{CutResult, CutToken, CutVerdict, RecoveredDrive, SecondCut};
use crate::served::ServedDrive;
use ssdlab_base::LabError;
use ssdlab_serve::{CutMoment, FlushSide, PowerControl, PowerError, Store};
use ssdlab_ssd::drive::power::DataDrive;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The check script, and the first reason why it could not be run.
pub(super) struct ScriptCheck<'a> {
    settings: &'a CampaignSettings,
    /// Directory of the campaign.
    out: &'a Path,
    stop: &'a Arc<AtomicBool>,
    broken: Mutex<Option<LabError>>,
    /// Tokens of the cuts whose check came to no end: they have no verdict.
    open: Mutex<BTreeSet<String>>,
    /// Tokens of the cuts at which the drive broke a promise to the check.
    guilty: Mutex<BTreeSet<String>>,
}

impl<'a> ScriptCheck<'a> {
    /// Ends its scripts when `stop` is set.
    pub fn new(
        settings: &'a CampaignSettings,
        out: &'a Path,
        stop: &'a Arc<AtomicBool>,
    ) -> ScriptCheck<'a> {
        ScriptCheck {
            settings,
            out,
            stop,
            broken: Mutex::new(None),
            open: Mutex::new(BTreeSet::new()),
            guilty: Mutex::new(BTreeSet::new()),
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether a cut's check came to an end.
    pub fn has_verdict(&self, token: &CutToken) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        !open.contains(&token.to_string())
    }

    /// The verdict on a cut: the check's, unless the drive broke a promise to it.
    pub fn verdict(&self, result: &CutResult) -> CutVerdict {
        let guilty = self.guilty.lock().unwrap_or_else(PoisonError::into_inner);
        if guilty.contains(&result.token.to_string()) {
            return CutVerdict::Drive;
        }
        result.verdict
    }

    /// No verdict on this cut, and why.
    fn leave_open(&self, recovered: &RecoveredDrive, why: &str) -> Result<(), String> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(recovered.token().to_string());
        Err(why.to_string())
    }

    fn first_error(&self) -> std::sync::MutexGuard<'_, Option<LabError>> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_broken(&self) -> bool {
        self.first_error().is_some()
    }

    pub fn note(&self, result: Result<(), LabError>) {
        if let Err(error) = result {
            self.first_error().get_or_insert(error);
        }
    }

    pub fn broken(&self) -> Result<(), LabError> {
        self.first_error().take().map_or(Ok(()), Err)
    }

    pub fn run(&self, recovered: &mut RecoveredDrive) -> Result<(), String> {
        if self.is_broken() || self.is_stopped() {
            return self.leave_open(recovered, "an earlier check ended the campaign");
        }
        match self.try_run(recovered) {
            Ok(outcome) if outcome.is_good => Ok(()),
            Ok(outcome) if outcome.stopped => self.leave_open(recovered, "stopped"),
            Ok(outcome) if outcome.could_not => {
                let problem = format!("the check could not do its work: {}", outcome.text);
                self.note(Err(LabError::refused(
                    problem,
                    "--resume goes on from here",
                )));
                self.leave_open(recovered, "the check could not do its work")
            }
            Ok(outcome) => Err(outcome.text),
            Err(error) => {
                self.note(Err(error));
                self.leave_open(recovered, "the check could not be run")
            }
        }
    }

    /// Runs the check; where the power is to be cut again in it, once more after that.
    fn try_run(&self, recovered: &RecoveredDrive) -> Result<ScriptOutcome, LabError> {
        let drive = Arc::new(ServedDrive::in_memory(recovered.drive().clone()));
        let token = recovered.token();
        let nth = match token.point.again {
            Some(SecondCut::InCheck(nth)) if token.missing.is_none() => nth,
            _ => return self.run_on(&drive, recovered),
        };
        let refused = |error: PowerError| LabError::refused(error.to_string(), "");
        let side = FlushSide::Inside;
        let moment = CutMoment::Flush {
            nth: nth.into(),
            side,
        };
        drive.cut_when(Some(moment)).map_err(refused)?;
        let first = self.run_on(&drive, recovered)?;
        if first.stopped || drive.is_powered() {
            // It ended before that FLUSH.
            return Ok(first);
        }
        let status = drive.on().map_err(refused)?;
        if status.promises_broken > 0 {
            let mut guilty = self.guilty.lock().unwrap_or_else(PoisonError::into_inner);
            guilty.insert(token.to_string());
        }
        self.run_on(&drive, recovered)
    }

    fn run_on(
        &self,
        drive: &Arc<ServedDrive>,
        recovered: &RecoveredDrive,
    ) -> Result<ScriptOutcome, LabError> {
        // With many missing pieces a token is longer than a file's name may be.
        let token = recovered.token().to_string();
        let name: String = token.chars().take(120).collect();
        let output = self.out.join("checks").join(format!("{name}.txt"));
        let outcome = self.run_with(drive, recovered.marks(), &token, &output)?;
        if outcome.is_good || outcome.stopped {
            let _ = std::fs::remove_file(&output);
        }
        Ok(outcome)
    }

    /// Runs the check on a drive that was not cut; `name` stands for the cut.
    pub fn run_control(
        &self,
        drive: DataDrive,
        marks: &[String],
        name: &str,
        output: &Path,
    ) -> Result<ScriptOutcome, LabError> {
        self.run_with(
            &Arc::new(ServedDrive::in_memory(drive)),
            marks,
            name,
            output,
        )
    }

    fn run_with(
        &self,
        drive: &Arc<ServedDrive>,
        marks: &[String],
        cut: &str,
        output: &Path,
    ) -> Result<ScriptOutcome, LabError> {
        let options = self.settings.options(self.stop);
        let attached = AttachedDrive::new(drive.clone(), &options)?;
        let path = attached.folder().join("marks");
        let text: String = marks.iter().map(|mark| format!("{mark}\n")).collect();
        std::fs::write(&path, text).map_err(file_error("writing", &path))?;
        let mut env = vec![
            ("SSDLAB_MARKS", path.display().to_string()),
            ("SSDLAB_CUT", cut.to_owned()),
        ];
        if self.settings.rules == NameRules::Posix {
            let names = std::path::absolute(self.out.join(NAMES));
            let names = names.map_err(file_error("finding", self.out))?;
            env.push((NAMES_FILE, names.display().to_string()));
        }
        let outcome = attached.run(&self.settings.check, &env, output, &options)?;
        attached.finish();
        Ok(outcome)
    }
}
