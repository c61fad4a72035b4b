//! Campaigns of scripts: any program's workload is recorded, any program checks the drive after a
//! cut.
//!
//! ```text
//! OUT/campaign.json   what was asked for         OUT/results.jsonl   a line for each cut
//! OUT/stream.log      the recorded stream        OUT/checks/*.txt    output of failed checks
//! OUT/workload.txt    output of the workload     OUT/summary.txt     what was found
//! OUT/control.json    the check without a cut
//! ```
//! The stream is kept in the format of dm-log-writes with a flag of our own ([`log_writes`]). A
//! line is appended to the results when its check is over, so a campaign that was killed goes on
//! where it was.

mod attach;
mod check;
mod control;
mod document;
mod files;
mod folder;
mod loops;
mod mounts;
mod names;
mod preload;
mod record;
mod results;
mod run;
mod settings;
mod tidy;
mod trace;

pub use attach::{AttachedDrive, ScratchFolder, ScriptOptions};
pub use control::ControlRecord;
pub(crate) use control::{
    EMPTY_OUTPUT, UNCUT_OUTPUT, refuse_check_that_fails_uncut, refuse_check_that_tests_nothing,
    refuse_no_marks, refuse_unusable,
};
pub use document::{CampaignDocument, CutRecord, LostWriteDocument, MinimalLossDocument};
pub use folder::CampaignFolder;
pub use names::{NOT_SEEN, NameHistory, NameRules, NameSummary, TracedName};
pub use preload::PreloadSettings;
pub use record::{
    END_OF_RECORDING, MOUNT_FOLDER, NAMES_FILE, Recording, RecordingStore, TRACE_FILE, mark, record,
};
pub use results::ScriptReport;
pub(crate) use run::run_script;
pub use run::{COULD_NOT, NOT_FOUND, NOT_RUN, ScriptOutcome};
pub use settings::CampaignSettings;
pub use tidy::clear_dead;

use super::log_writes::{self, Dialect};
use super::{
    Campaign, ChosenCut, CommandStream, CutResult, CutToken, CutVerdict, MinimalLoss,
    PreparedCampaign, RecoveredDrive, place,
};
use check::ScriptCheck;
use files::{file_error, write_whole};
use folder::WHOLE_FILE;
use names::NAMES;
use ssdlab_base::LabError;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// A directory with a campaign in it.
#[derive(Debug)]
pub struct ScriptCampaign {
    out: PathBuf,
    settings: CampaignSettings,
    stream: CommandStream,
}

/// The cuts of a campaign on a drive of one age.
struct AgeCuts<'a> {
    age: &'static str,
    prepared: PreparedCampaign<'a>,
    chosen: Vec<ChosenCut>,
}

impl ScriptCampaign {
    /// Runs the workload once and keeps what it did in `out`, which must be new, empty, or of a
    /// workload that failed. `stop` ends it early.
    ///
    /// # Errors
    /// When `out` is in use, the drive is impossible, or the workload fails.
    pub fn record(
        out: &Path,
        settings: CampaignSettings,
        stop: &Arc<AtomicBool>,
    ) -> Result<(ScriptCampaign, String), LabError> {
        let config = settings.config()?;
        settings.check()?;
        CampaignFolder::begin(out)?;
        let output = out.join("workload.txt");
        let recording = record(
            &config,
            &settings.workload,
            &settings.options(stop),
            &output,
        )?;
        if recording.outcome.stopped {
            return Err(LabError::refused(
                "stopped before the workload was done: nothing is recorded",
                "the same command begins again",
            ));
        }
        if !recording.outcome.is_good {
            return Err(LabError::refused(
                format!("the workload failed: {}", recording.outcome.text),
                format!(
                    "its output is in {}; the same --out may be used again",
                    output.display()
                ),
            ));
        }
        let not_seen = match &recording.names {
            Some(names) => names.not_seen.clone(),
            None => Some("the workload was not watched".into()),
        };
        if let (NameRules::Posix, Some(reason)) = (settings.rules, not_seen) {
            return Err(LabError::refused(
                format!("POSIX's rules need the program's system calls, and {reason}"),
                "without --rules posix it is held to what its file system promises",
            ));
        }
        if let Some(names) = &recording.names {
            write_whole(&out.join(NAMES), |file| {
                serde_json::to_writer_pretty(&mut *file, names)?;
                writeln!(file)
            })?;
        }
        let campaign = ScriptCampaign::keep(out, settings, recording.stream, recording.whole)?;
        Ok((campaign, recording.lint))
    }

    /// Takes a log in the format of dm-log-writes in place of a workload.
    ///
    /// # Errors
    /// When the drive is impossible or too small, or the file is no log.
    pub fn from_log(
        out: &Path,
        settings: CampaignSettings,
        log: &Path,
    ) -> Result<ScriptCampaign, LabError> {
        let capacity = settings.config()?.user_bytes;
        settings.check()?;
        let bytes = std::fs::read(log).map_err(file_error("reading", log))?;
        let stream = log_writes::read(&bytes, capacity)?;
        settings.first_command(&stream)?;
        CampaignFolder::begin(out)?;
        ScriptCampaign::keep(out, settings, stream.clone(), stream)
    }

    fn keep(
        out: &Path,
        settings: CampaignSettings,
        stream: CommandStream,
        whole: CommandStream,
    ) -> Result<ScriptCampaign, LabError> {
        for (name, stream) in [("stream.log", &stream), (WHOLE_FILE, &whole)] {
            write_whole(&out.join(name), |file| {
                log_writes::write(stream, Dialect::Own, file)
            })?;
        }
        let campaign = ScriptCampaign {
            out: out.to_owned(),
            settings,
            stream,
        };
        // Last: a directory that has it can be resumed.
        campaign.keep_settings()?;
        Ok(campaign)
    }

    fn keep_settings(&self) -> Result<(), LabError> {
        self.folder().keep_settings(&self.settings)
    }

    fn folder(&self) -> CampaignFolder {
        CampaignFolder::at(&self.out)
    }

    /// Opens what was recorded earlier.
    ///
    /// # Errors
    /// When `out` has none.
    pub fn open(out: &Path) -> Result<ScriptCampaign, LabError> {
        let (_, settings) = CampaignFolder::open(out)?;
        let path = out.join("stream.log");
        let log = std::fs::read(&path).map_err(file_error("reading", &path))?;
        let capacity = settings.config()?.user_bytes;
        Ok(ScriptCampaign {
            out: out.to_owned(),
            settings,
            stream: log_writes::read(&log, capacity)?,
        })
    }

    /// What was recorded.
    pub fn stream(&self) -> &CommandStream {
        &self.stream
    }

    /// With another check than the recorded one, for one cut.
    pub fn with_check(mut self, check: &str) -> ScriptCampaign {
        self.settings.check = check.to_owned();
        self
    }

    /// With another check than the recorded one for all cuts; kept.
    ///
    /// # Errors
    /// When there are results already, by the recorded check.
    pub fn with_new_check(
        mut self,
        check: Option<&str>,
        consistency_only: bool,
    ) -> Result<ScriptCampaign, LabError> {
        let check = check.unwrap_or(&self.settings.check).to_owned();
        let consistency_only = consistency_only || self.settings.consistency_only;
        let is_new =
            check != self.settings.check || consistency_only != self.settings.consistency_only;
        if is_new {
            self.refuse_results(
                "by another check",
                "without --check it goes on with that one",
            )?;
            self.settings.check = check;
            self.settings.consistency_only = consistency_only;
            self.keep_settings()?;
        }
        Ok(self)
    }

    fn refuse_results(&self, what: &str, hint: &str) -> Result<(), LabError> {
        if self.folder().results()?.is_empty() {
            return Ok(());
        }
        let problem = format!("{} has results {what}", self.out.display());
        Err(LabError::refused(problem, hint))
    }

    /// With cuts after another mark of the recorded workload only; kept.
    ///
    /// # Errors
    /// When the workload made no such mark, or there are results already, of other cuts.
    pub fn with_after_mark(mut self, mark: &str) -> Result<ScriptCampaign, LabError> {
        let mark = Some(mark.to_owned());
        if self.settings.after_mark == mark {
            return Ok(self);
        }
        self.refuse_results(
            "of other cuts",
            "without --after-mark it goes on with these",
        )?;
        self.settings.after_mark = mark;
        self.settings.first_command(&self.stream)?;
        self.keep_settings()?;
        Ok(self)
    }

    /// Refuses a campaign whose cuts cannot be chosen.
    ///
    /// # Errors
    /// When the workload made no mark of the text that cuts are to come after.
    pub fn check_mark(&self) -> Result<(), LabError> {
        self.settings.first_command(&self.stream).map(drop)
    }

    /// Writes the stream for other programs.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn export(&self, path: &Path) -> Result<(), LabError> {
        write_whole(path, |file| {
            log_writes::write(&self.stream, Dialect::Standard, file)
        })
    }

    /// Tries the check without a cut, then checks every cut that has no line yet; `progress` gets
    /// the number done and the number of all. `stop` ends it early, with the results so far.
    ///
    /// # Errors
    /// When the check tests nothing, scripts cannot be run, or files not be written.
    pub fn run(
        &self,
        jobs: usize,
        stop: &Arc<AtomicBool>,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<ScriptReport, LabError> {
        self.control_first(stop)?;
        let campaigns = self.settings.campaigns(&self.stream, jobs)?;
        let parts = self.parts(&campaigns)?;
        let cut_count: usize = parts.iter().map(|part| part.chosen.len()).sum();
        let folder = self.folder();
        let mut records = folder.results()?;
        let is_pending = |part: &AgeCuts<'_>, cut: &ChosenCut| {
            let token = part.prepared.token(cut.point);
            !records.contains_key(&token.to_string())
        };
        let pending: Vec<Vec<ChosenCut>> = parts
            .iter()
            .map(|part| {
                let chosen = part.chosen.iter().copied();
                chosen.filter(|cut| is_pending(part, cut)).collect()
            })
            .collect();
        let pending_count: usize = pending.iter().map(Vec::len).sum();
        let check = ScriptCheck::new(&self.settings, &self.out, stop);
        let state = Mutex::new(cut_count - pending_count);
        let call = |recovered: &mut RecoveredDrive| check.run(recovered);
        let is_over = || check.is_stopped() || check.is_broken();
        for (part, pending) in parts.iter().zip(&pending) {
            let record = |result: &CutResult| {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                if !check.has_verdict(&result.token) {
                    return;
                }
                let line = self.line(result, part.age, check.verdict(result));
                check.note(folder.append(&line));
                *state += 1;
                progress(*state, cut_count);
            };
            part.prepared.judge_all(pending, &call, &record, &is_over);
        }
        check.broken()?;
        records.extend(folder.results()?);
        let mut lines: Vec<CutRecord> = Vec::new();
        for part in &parts {
            let tokens = part.chosen.iter().map(|cut| part.prepared.token(cut.point));
            lines.extend(tokens.filter_map(|token| records.remove(&token.to_string())));
        }
        let minimal = self.minimal(&parts, &lines, &check)?;
        let report = ScriptReport {
            lines,
            chosen: cut_count,
            stopped: check.is_stopped(),
            minimal,
            stream: super::prepared::summary(&self.stream),
            control: folder.control()?,
            faults: self.settings.faults.clone(),
            names: self.names()?,
            rules: self.settings.rules,
            posix_command: self.settings.posix_command.clone(),
        };
        folder.keep_summary(&report)?;
        Ok(report)
    }

    /// What was seen of the workload's names; `None`: it is not a program in a file system.
    fn names(&self) -> Result<Option<NameHistory>, LabError> {
        let path = self.out.join(NAMES);
        path.exists().then(|| NameHistory::open(&path)).transpose()
    }

    /// Tries the check without a cut, unless it was tried.
    fn control_first(&self, stop: &Arc<AtomicBool>) -> Result<(), LabError> {
        let path = self.out.join(WHOLE_FILE);
        if !path.exists() {
            return Ok(());
        }
        let log = std::fs::read(&path).map_err(file_error("reading", &path))?;
        let whole = log_writes::read(&log, self.settings.config()?.user_bytes)?;
        let record = control::control(&self.settings, &self.out, &whole, stop)?;
        self.folder().keep_control(&record)?;
        std::fs::remove_file(&path).map_err(file_error("removing", &path))
    }

    fn parts<'a>(
        &'a self,
        campaigns: &'a [(&'static str, Campaign)],
    ) -> Result<Vec<AgeCuts<'a>>, LabError> {
        let part = |(age, campaign): &'a (&'static str, Campaign)| {
            let prepared = campaign.prepare(&self.stream)?;
            Ok(AgeCuts {
                age,
                chosen: prepared.points(campaign.chosen()),
                prepared,
            })
        };
        campaigns.iter().map(part).collect()
    }

    /// A cut as a line of the results.
    fn line(&self, result: &CutResult, age: &str, verdict: CutVerdict) -> CutRecord {
        let mut breach = result.breach.as_ref().map(ToString::to_string);
        if verdict != result.verdict {
            breach.get_or_insert("the drive broke its word to the check".into());
        }
        CutRecord {
            token: result.token.to_string(),
            place: place(&self.stream, result.point),
            occasion: result.occasion.name().into(),
            age: age.into(),
            in_flight: result.in_flight,
            verdict: verdict.name().into(),
            why: breach
                .or_else(|| result.message.clone())
                .unwrap_or_default(),
            marks: result.marks,
            lost: result.lost.len(),
            struck: result
                .struck
                .iter()
                .map(|kind| kind.info().name.to_owned())
                .collect(),
        }
    }

    fn minimal(
        &self,
        parts: &[AgeCuts<'_>],
        lines: &[CutRecord],
        check: &ScriptCheck<'_>,
    ) -> Result<Option<MinimalLoss>, LabError> {
        let failed = |line: &&CutRecord| line.verdict == CutVerdict::Application.name();
        let Some(line) = lines.iter().find(failed) else {
            return Ok(None);
        };
        if self.settings.checks_max == 0 || check.is_stopped() {
            return Ok(None);
        }
        let token: CutToken = line.token.parse()?;
        let Some(part) = parts.iter().find(|part| part.prepared.has(&token)) else {
            return Ok(None);
        };
        let prepared = &part.prepared;
        let call = |recovered: &mut RecoveredDrive| check.run(recovered);
        // Once more, for which pieces it lost.
        let cut = prepared.replay(&token, &call)?;
        let minimal = prepared.minimise(&cut, &call);
        check.broken()?;
        // Checks that were ended tell nothing.
        Ok(minimal.filter(|_| !check.is_stopped()))
    }

    /// Runs one cut again.
    ///
    /// # Errors
    /// When the token is of another campaign, or the check cannot be run, or is ended by `stop`.
    pub fn replay(
        &self,
        token: &CutToken,
        stop: &Arc<AtomicBool>,
    ) -> Result<(CutResult, CutRecord), LabError> {
        let campaigns = self.settings.campaigns(&self.stream, 1)?;
        let parts = self.parts(&campaigns)?;
        let own = parts.iter().find(|part| part.prepared.has(token));
        let Some(AgeCuts { age, prepared, .. }) = own.or(parts.first()) else {
            return Err(LabError::refused("the campaign has no cuts", ""));
        };
        let check = ScriptCheck::new(&self.settings, &self.out, stop);
        let call = |recovered: &mut RecoveredDrive| check.run(recovered);
        let mut result = prepared.replay(token, &call)?;
        check.broken()?;
        if check.is_stopped() {
            return Err(LabError::refused("stopped before the check was done", ""));
        }
        let line = self.line(&result, age, check.verdict(&result));
        result.verdict = check.verdict(&result);
        Ok((result, line))
    }
}
