//! A campaign in its directory.

use super::check::{FolderScripts, FolderSource};
use super::control::ControlRun;
use super::course::{CourseDrive, CutRemains, TapeCourse};
use super::library::find_library;
use super::recorder::{CallRecorder, RecorderPlaces};
use super::tape::CallTape;
use crate::crashtest::scripts::PreloadSettings;
use crate::crashtest::scripts::{
    CampaignFolder, CampaignSettings, ControlRecord, CutRecord, ScratchFolder, ScriptReport,
};
use crate::crashtest::{CutVerdict, Occasion};
use ssdlab_base::LabError;
use ssdlab_ssd::rng::Rng;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use twox_hash::XxHash3_64;

/// Cuts for each course of the files: every course writes back at other times.
const CUTS_OF_A_COURSE: usize = 25;
const COURSES_MAX: usize = 8;
/// Of a mixed campaign, one course in this number is on a full drive.
const FULL_SHARE: usize = 4;
/// Of the cuts, one in this number comes again inside the recovery.
const RECOVERY_SHARE: usize = 3;

/// A directory with a campaign in it.
#[derive(Debug)]
pub struct PreloadCampaign {
    folder: CampaignFolder,
    settings: CampaignSettings,
    preload: PreloadSettings,
    tape: CallTape,
}

/// A cut that is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PlannedCut {
    call: usize,
    course: usize,
    draw: u64,
}

/// Names cuts: what they have in common, hashed.
struct CutTokens(XxHash3_64);

impl fmt::Write for CutTokens {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

impl CutTokens {
    fn token(&self, cut: &PlannedCut) -> String {
        let PlannedCut { call, course, draw } = cut;
        let mut hash = self.0.clone();
        hash.write(call.to_string().as_bytes());
        let digest = hash.finish() as u32;
        format!("call{call}.{course}.{draw}-{digest:08x}")
    }
}

fn settings_of(settings: &CampaignSettings) -> Result<PreloadSettings, LabError> {
    settings
        .preload
        .clone()
        .ok_or_else(|| LabError::refused("this campaign is not one of --way preload", ""))
}

impl PreloadCampaign {
    /// Runs the program once, and keeps what it did in `out`.
    ///
    /// # Errors
    /// When `out` is in use, the drive is impossible, or the program fails or cannot be seen.
    pub fn record(
        out: &Path,
        settings: CampaignSettings,
        stop: &AtomicBool,
    ) -> Result<PreloadCampaign, LabError> {
        let preload = settings_of(&settings)?;
        let library = find_library()?;
        settings.config()?;
        preload.file_system()?;
        let folder = CampaignFolder::begin(out)?;
        let scripts = FolderScripts::new(&settings, &preload)?;
        let scratch = ScratchFolder::in_memory()?;
        let (root, own) = (scratch.path().join("data"), scratch.path().join("own"));
        for made in [&root, &own] {
            std::fs::create_dir(made).map_err(|error| LabError::file("creating", made, error))?;
        }
        let root = root
            .canonicalize()
            .map_err(|error| LabError::file("finding", &root, error))?;
        scratch.open_to_all();
        let output = out.join("workload.txt");
        let places = RecorderPlaces {
            root: &root,
            folder: scratch.path(),
            preloaded: &library,
            output: &output,
        };
        let command = scripts.command(&root, &own)?;
        let timeout = Duration::from_secs(settings.timeout_s);
        let hears = preload.marks_on_stdout;
        let ended = CallRecorder::record(command, hears, &places, timeout, stop)?;
        if ended.stopped {
            return Err(LabError::refused(
                "stopped before the program was done: nothing is recorded",
                "the same command begins again",
            ));
        }
        let how = match ended.status {
            Some(status) if status.success() => None,
            Some(status) => Some(status.to_string()),
            None => Some(format!("not done in {timeout:?}")),
        };
        if let Some(how) = how {
            let text = std::fs::read_to_string(&output).unwrap_or_default();
            let last = text.lines().last().unwrap_or_default();
            return Err(LabError::refused(
                format!("the program failed: {how}: {last}"),
                format!(
                    "its output is in {}; the same --out may be used again",
                    output.display()
                ),
            ));
        }
        refuse_unseen(&ended.problems)?;
        drop(scripts);
        ended.tape.keep(out)?;
        let campaign = PreloadCampaign {
            folder,
            settings,
            preload: preload.clone(),
            tape: ended.tape,
        };
        campaign.keep_control(&root, stop)?;
        // Last: a directory that has it can be resumed.
        campaign.folder.keep_settings(&campaign.settings)?;
        Ok(campaign)
    }

    /// Opens what was recorded earlier; `None`: it was recorded by the kernel.
    ///
    /// # Errors
    /// When files cannot be read.
    pub fn open(out: &Path) -> Result<Option<PreloadCampaign>, LabError> {
        if !CallTape::is_in(out) {
            return Ok(None);
        }
        let (folder, settings) = CampaignFolder::open(out)?;
        Ok(Some(PreloadCampaign {
            folder,
            preload: settings_of(&settings)?,
            settings,
            tape: CallTape::open(out)?,
        }))
    }

    /// With another check for all cuts, while there are no results; kept.
    ///
    /// # Errors
    /// When there are results already, by the recorded check.
    pub fn with_new_check(mut self, check: Option<&str>) -> Result<PreloadCampaign, LabError> {
        let Some(check) = check.filter(|check| *check != self.settings.check) else {
            return Ok(self);
        };
        if !self.folder.results()?.is_empty() {
            return Err(LabError::refused(
                format!("{} has results by another check", self.out().display()),
                "without --check it goes on with that one",
            ));
        }
        self.settings.check = check.to_owned();
        self.preload.preset = None;
        self.preload.finds = false;
        self.settings.preload = Some(self.preload.clone());
        self.folder.keep_settings(&self.settings)?;
        Ok(self)
    }

    /// What was recorded, in a line.
    pub fn summary(&self) -> String {
        self.tape.summary(&self.preload)
    }

    /// The first call that may be cut.
    fn first(&self) -> Result<usize, LabError> {
        let marks = self.tape.marks.iter();
        let marks = marks.map(|mark| (mark.text.as_str(), mark.after));
        self.settings.first_of(marks)
    }

    fn keep_control(&self, whole: &Path, stop: &AtomicBool) -> Result<(), LabError> {
        let scripts = FolderScripts::new(&self.settings, &self.preload)?;
        let run = ControlRun {
            settings: &self.settings,
            scripts: &scripts,
            tape: &self.tape,
            whole,
            out: self.folder.path(),
            first: self.first()?,
        };
        let record = run.run(self.course(0)?, stop)?;
        self.folder.keep_control(&record)
    }

    /// Courses, by number; the last of four is on a full drive.
    fn course(&self, course: usize) -> Result<TapeCourse<'_>, LabError> {
        let config = self.settings.config()?;
        let drive = CourseDrive {
            config: &config,
            faults: &self.settings.faults,
            rules: self.preload.file_system()?,
            is_full: self.age(course) == "full",
        };
        let seed = self.settings.seed << 8 | course as u64;
        TapeCourse::new(&self.tape, &drive, seed)
    }

    fn age(&self, course: usize) -> &'static str {
        match self.settings.age.as_str() {
            "full" => "full",
            "mixed" if course % FULL_SHARE == FULL_SHARE - 1 => "full",
            _ => "new",
        }
    }

    /// The cuts, in order of time.
    fn planned(&self) -> Result<Vec<PlannedCut>, LabError> {
        let first = self.first()?;
        let end = self.tape.calls.len();
        let mut rng = Rng::named(self.settings.seed, "calls to cut");
        let count = self.settings.cuts.unwrap_or(end + 1 - first);
        let courses = (count / CUTS_OF_A_COURSE).clamp(FULL_SHARE, COURSES_MAX);
        let cut = |index: usize| PlannedCut {
            call: match self.settings.cuts {
                Some(_) => first + rng.below((end + 1 - first) as u64) as usize,
                None => first + index,
            },
            course: index % courses,
            draw: index as u64,
        };
        let mut cuts: Vec<PlannedCut> = (0..count).map(cut).collect();
        cuts.sort_unstable();
        Ok(cuts)
    }

    fn occasion(&self, cut: &PlannedCut) -> Occasion {
        let has = |on: Occasion| self.settings.occasions.iter().any(|name| name == on.name());
        let is_third = cut.draw as usize % RECOVERY_SHARE == RECOVERY_SHARE - 1;
        match (has(Occasion::Any), has(Occasion::Recovery)) {
            (_, true) if is_third => Occasion::Recovery,
            (false, true) => Occasion::Recovery,
            _ => Occasion::Any,
        }
    }

    /// What all tokens begin with, hashed once: the calls have every byte that was written.
    fn tokens(&self) -> CutTokens {
        let mut start = CutTokens(XxHash3_64::with_seed(0));
        // A hash takes everything.
        let _ = write!(
            start,
            "{:?} {:?} {:?} {} ",
            self.tape.calls, self.settings.faults, self.preload, self.settings.seed
        );
        start
    }

    /// Cuts, recovers and checks; results that are there already are not made again.
    ///
    /// # Errors
    /// When the check cannot be run, or files cannot be written.
    pub fn run(
        &self,
        jobs: usize,
        stop: &AtomicBool,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<ScriptReport, LabError> {
        let planned = self.planned()?;
        let mut results: BTreeMap<String, CutRecord> = self.folder.results()?;
        let mut courses: BTreeMap<usize, Vec<(PlannedCut, String)>> = BTreeMap::new();
        let start = self.tokens();
        let tokens: Vec<String> = planned.iter().map(|cut| start.token(cut)).collect();
        for (cut, token) in planned.iter().zip(&tokens) {
            if !results.contains_key(token) {
                courses
                    .entry(cut.course)
                    .or_default()
                    .push((*cut, token.clone()));
            }
        }
        let scripts = FolderScripts::new(&self.settings, &self.preload)?;
        let courses: Vec<(usize, Vec<(PlannedCut, String)>)> = courses.into_iter().collect();
        let next = AtomicUsize::new(0);
        let state = Mutex::new((results.len(), Vec::new(), None::<LabError>));
        let is_over = || {
            let state = state.lock().unwrap_or_else(PoisonError::into_inner);
            stop.load(Ordering::Relaxed) || state.2.is_some()
        };
        let keep_line = |line: CutRecord| -> Result<(), LabError> {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            self.folder.append(&line)?;
            state.0 += 1;
            state.1.push(line);
            progress(state.0, planned.len());
            Ok(())
        };
        let work = || {
            while let Some((course, cuts)) = courses.get(next.fetch_add(1, Ordering::Relaxed)) {
                let played = self.play(*course, cuts, &scripts, stop, &is_over, &keep_line);
                if let Err(error) = played {
                    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                    state.2.get_or_insert(error);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..jobs.min(courses.len()) {
                scope.spawn(work);
            }
            work();
        });
        let (_, new, error) = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = error {
            return Err(error);
        }
        results.extend(new.into_iter().map(|line| (line.token.clone(), line)));
        let lines = tokens
            .iter()
            .filter_map(|token| results.remove(token))
            .collect();
        let report = self.report(lines, planned.len(), stop)?;
        self.folder.keep_summary(&report)?;
        Ok(report)
    }

    fn report(
        &self,
        lines: Vec<CutRecord>,
        chosen: usize,
        stop: &AtomicBool,
    ) -> Result<ScriptReport, LabError> {
        Ok(ScriptReport {
            lines,
            chosen,
            stopped: stop.load(Ordering::Relaxed),
            minimal: None,
            stream: self.summary(),
            control: self.control()?,
            faults: self.settings.faults.clone(),
            names: None,
            rules: self.settings.rules,
            posix_command: None,
        })
    }

    fn control(&self) -> Result<Option<ControlRecord>, LabError> {
        self.folder.control()
    }

    /// Plays one course, and cuts it wherever it is to be cut.
    fn play(
        &self,
        course: usize,
        cuts: &[(PlannedCut, String)],
        scripts: &FolderScripts<'_>,
        stop: &AtomicBool,
        is_over: &impl Fn() -> bool,
        keep_line: &impl Fn(CutRecord) -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        let mut played = self.course(course)?;
        for (cut, token) in cuts {
            if is_over() {
                return Ok(());
            }
            played.seek(cut.call)?;
            if let Some(line) = self.judge(played.clone(), cut, token, scripts, stop)? {
                keep_line(line)?;
            }
        }
        Ok(())
    }

    /// One cut; `None`: the check was stopped.
    fn judge(
        &self,
        course: TapeCourse<'_>,
        cut: &PlannedCut,
        token: &str,
        scripts: &FolderScripts<'_>,
        stop: &AtomicBool,
    ) -> Result<Option<CutRecord>, LabError> {
        let occasion = self.occasion(cut);
        let share = (cut.draw.wrapping_mul(389) % 1000) as u16;
        let in_recovery = (occasion == Occasion::Recovery).then_some(share);
        let mut remains = course.cut(cut.draw, in_recovery)?;
        let marks = self
            .tape
            .marks_before(remains.call.min(self.tape.calls.len()));
        let drive = remains.files.disk().drive();
        let struck = drive.struck_faults().iter();
        let struck = struck.map(|kind| kind.info().name.to_owned()).collect();
        let mut message = None;
        if remains.breach.is_none() || remains.files.disk().is_on() {
            let path = self
                .folder
                .path()
                .join("checks")
                .join(format!("{token}.txt"));
            let source = FolderSource::Crashed(&mut remains.files);
            let checked = scripts.check(source, &self.tape, &marks, token, &path, stop);
            match (checked, &remains.breach) {
                (Ok(outcome), _) if outcome.stopped => return Ok(None),
                (Ok(outcome), _) if outcome.could_not => {
                    return Err(LabError::refused(
                        format!("the check could not do its work: {}", outcome.text),
                        "--resume goes on from here",
                    ));
                }
                (Ok(outcome), _) if outcome.is_good => drop(std::fs::remove_file(&path)),
                (Ok(outcome), _) => message = Some(outcome.text),
                (Err(_), Some(_)) => {}
                (Err(error), None) => return Err(error),
            }
        }
        Ok(Some(self.line(
            &remains,
            token,
            occasion,
            message,
            struck,
            marks.len(),
            cut,
        )?))
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one line")]
    fn line(
        &self,
        remains: &CutRemains,
        token: &str,
        occasion: Occasion,
        message: Option<String>,
        struck: Vec<String>,
        marks: usize,
        cut: &PlannedCut,
    ) -> Result<CutRecord, LabError> {
        let verdict = match (&remains.breach, &message) {
            (Some(_), _) => CutVerdict::Drive,
            (None, Some(_)) => CutVerdict::Application,
            (None, None) => CutVerdict::Passed,
        };
        let mut reason = remains.breach.clone().or(message).unwrap_or_default();
        if verdict == CutVerdict::Application {
            let needs_directory = !self.preload.file_system()?.fsync_commits_names;
            let open = self.tape.not_durable(remains.call, needs_directory);
            if !open.is_empty() {
                reason.push_str(&format!("\n  not durable then: {open}"));
            }
        }
        Ok(CutRecord {
            token: token.to_owned(),
            place: self.tape.place(remains.call),
            occasion: occasion.name().into(),
            age: self.age(cut.course).into(),
            in_flight: 0,
            verdict: verdict.name().into(),
            why: reason,
            marks,
            lost: remains.lost,
            struck,
        })
    }

    /// Runs one cut again.
    ///
    /// # Errors
    /// When the token is of another campaign, or the check cannot be run.
    pub fn replay(
        &mut self,
        token: &str,
        check: Option<&str>,
        stop: &AtomicBool,
    ) -> Result<CutRecord, LabError> {
        let own = self.planned()?;
        let start = self.tokens();
        let Some(cut) = own.into_iter().find(|cut| start.token(cut) == token) else {
            return Err(LabError::refused(
                format!("{token} is not of this campaign"),
                "tokens are in its results.jsonl",
            ));
        };
        if let Some(check) = check {
            self.settings.check = check.to_owned();
            self.preload.finds = false;
            self.preload.preset = None;
        }
        let scripts = FolderScripts::new(&self.settings, &self.preload)?;
        let mut course = self.course(cut.course)?;
        course.seek(cut.call)?;
        let line = self.judge(course, &cut, token, &scripts, stop)?;
        line.ok_or_else(|| LabError::refused("stopped before the check was done", ""))
    }

    /// Where it is kept.
    pub fn out(&self) -> PathBuf {
        self.folder.path().to_owned()
    }
}

/// Calls that the library did not see make every verdict worthless.
fn refuse_unseen(problems: &[String]) -> Result<(), LabError> {
    let Some(first) = problems.first() else {
        return Ok(());
    };
    let more = match problems.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    Err(LabError::refused(
        format!("the library did not see all that the program did: {first}{more}"),
        "it sees calls through libc: not those of static programs, of Go or of io_uring, nor \
         symbolic links; --way kernel sees everything",
    ))
}
