//! Reads every file of a drive directory, compares each with the others, and changes nothing.
//!
//! A killed process leaves at most an unfinished frame at the end of the last log. If the machine
//! may have crashed, on a directory made to survive that, an incomplete frame behind the last byte
//! known to be on disk may be cut off, too. Anything else is damage.

use super::end::LogEnd;
use super::file::{FrameFileKind, HEAD, VERSION, VERSION_MIN};
use super::frames::{ExpectedFrameFile, FrameFileEnd, FrameScan, TrailingFrames};
use super::named::NamingFrames;
use super::places::DataPlaces;
use super::records::FrameRecord;
use super::stored::{DirectoryState, checkpoint_path, file_bytes, log_path, number_of};
use super::{about, end, frames, old};
use ssdlab_base::LabError;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Content of a file that ssdlab never wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// First byte that is wrong or missing; `None`: the file as a whole.
    pub at: Option<u64>,
    /// The problem, in a sentence.
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        if let Some(byte) = self.at {
            write!(f, "byte {byte}: ")?;
        }
        f.write_str(&self.what)
    }
}

impl Damage {
    /// The error that refuses to open `directory`.
    pub fn refusal(&self, directory: &Path) -> LabError {
        let dir = directory.display();
        LabError::refused(
            format!("the drive directory is damaged: {self}"),
            format!(
                "nothing was changed; `ssdlab check {dir}` shows what is in it, `ssdlab check \
                 {dir} --repair NEW_DIR` writes what can be recovered to a new directory"
            ),
        )
    }
}

/// A checkpoint or log, as far as it could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameFileSummary {
    /// The file.
    pub file: PathBuf,
    /// Complete frames.
    pub frames: u64,
    /// Bytes of the complete frames.
    pub bytes: u64,
    /// Bytes of the file behind them.
    pub behind: u64,
}

/// Data behind damage, which cannot be recovered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnrecoverableTail {
    /// Least number of frames, each of one command or a few.
    pub frames: u64,
    /// Bytes of the files behind the damage.
    pub bytes: u64,
}

/// The drive of a directory, up to the first damage to its checkpoint and logs.
pub(super) struct RecoveryBase {
    /// Number of the checkpoint.
    pub number: u64,
    /// Format of the checkpoint.
    pub format: u32,
    pub stored: DirectoryState,
    /// Random number of the directory, drawn when it was made; 0 in formats without one.
    pub directory: u64,
    /// Checksum chain after the last frame read.
    pub chain: u64,
    /// Number of the last log.
    pub last: u64,
    /// The last log, if it has begun.
    pub tail: Option<FrameScan>,
    /// Bytes of the logs before the last.
    pub bytes_before: u64,
    pub title: String,
    /// Frames of the last log that name places, whose data may be missing if it was not synced.
    pub named: NamingFrames,
    /// Places whose bytes differ from their checksum.
    pub not_whole: BTreeSet<u32>,
}

/// Result of a survey.
pub(super) struct DirectorySurvey {
    pub path: PathBuf,
    checkpoints: BTreeSet<u64>,
    pub logs: BTreeSet<u64>,
    pub end: Option<(u64, LogEnd)>,
    pub boot: u64,
    pub seen: Vec<FrameFileSummary>,
    pub damages: Vec<Damage>,
    /// Remarks for the user that are no damage.
    pub notes: Vec<String>,
    pub base: Option<RecoveryBase>,
    pub lost: UnrecoverableTail,
    pub places: Arc<DataPlaces>,
    /// Most frames of the last log that are read; the rest is ignored.
    pub frames_max: u64,
}

/// Purpose of a survey.
#[derive(Clone, Copy)]
pub(super) struct SurveyOptions {
    /// If the newest checkpoint is damaged, older ones are tried.
    pub salvage: bool,
    /// The data places are opened for writing.
    pub writable: bool,
}

/// Surveys a directory; `boot` identifies the present run of the machine.
///
/// # Errors
/// When it is no drive directory, cannot be read, or has an unknown format.
pub(super) fn survey(
    path: &Path,
    boot: u64,
    options: SurveyOptions,
) -> Result<DirectorySurvey, LabError> {
    let read_up_to = |frames_max| {
        let places = Arc::new(DataPlaces::of(path, options.writable));
        read_directory(path, boot, options.salvage, frames_max, places)
    };
    let mut survey = read_up_to(u64::MAX)?;
    while let Some(frames) = survey.frames_without_bytes() {
        let shorter = read_up_to(frames)?;
        if shorter.damages.len() > survey.damages.len() {
            // Cutting here would drop synced data.
            break;
        }
        survey = shorter;
    }
    survey.check_against_places();
    Ok(survey)
}

fn read_directory(
    path: &Path,
    boot: u64,
    salvage: bool,
    frames_max: u64,
    places: Arc<DataPlaces>,
) -> Result<DirectorySurvey, LabError> {
    let mut survey = DirectorySurvey::begin(path, boot, frames_max, places)?;
    let Some(&newest) = survey.checkpoints.last() else {
        survey.no_checkpoint()?;
        return Ok(survey);
    };
    let numbers: Vec<u64> = survey.checkpoints.iter().rev().copied().collect();
    let candidates = if salvage { numbers } else { vec![newest] };
    for number in candidates {
        if let Some(base) = survey.checkpoint(number)? {
            survey.read_logs(base)?;
            break;
        }
    }
    survey.check_against_about();
    Ok(survey)
}

impl DirectorySurvey {
    fn begin(
        path: &Path,
        boot: u64,
        frames_max: u64,
        places: Arc<DataPlaces>,
    ) -> Result<DirectorySurvey, LabError> {
        let failed = |error| LabError::file("reading", path, error);
        let (mut checkpoints, mut logs) = (BTreeSet::new(), BTreeSet::new());
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let Some(name) = name.to_str() else {
                continue;
            };
            checkpoints.extend(number_of(name, "checkpoint-"));
            logs.extend(number_of(name, "log-"));
        }
        let mut survey = DirectorySurvey {
            path: path.to_owned(),
            checkpoints,
            logs,
            end: None,
            boot,
            seen: Vec::new(),
            damages: Vec::new(),
            notes: Vec::new(),
            base: None,
            lost: UnrecoverableTail::default(),
            places,
            frames_max,
        };
        if let Some((turn, end, whole)) = end::read(path)? {
            survey.end = Some((turn, end));
            if whole < 2 {
                let file = end::path(path);
                let note = format!("{}: one of its two copies is damaged", file.display());
                survey.notes.push(note);
            }
        }
        Ok(survey)
    }

    fn no_checkpoint(&mut self) -> Result<(), LabError> {
        let path = &self.path;
        if self.logs.is_empty() && self.end.is_none() && !about::path(path).exists() {
            return Err(LabError::refused(
                format!("{} is no drive directory", path.display()),
                "`ssdlab create DRIVE_DIR --drive NAME` makes one",
            ));
        }
        let number = self.logs.first().copied().unwrap_or(1);
        self.damaged(
            &checkpoint_path(path, number),
            None,
            "the checkpoint is missing",
        );
        Ok(())
    }

    pub(super) fn damaged(&mut self, file: &Path, byte: Option<u64>, problem: impl Into<String>) {
        self.damages.push(Damage {
            file: file.to_owned(),
            at: byte,
            what: problem.into(),
        });
    }

    pub(super) fn saw(&mut self, file: &Path, scan: &FrameScan) {
        self.seen.push(FrameFileSummary {
            file: file.to_owned(),
            frames: scan.count,
            bytes: scan.bytes,
            behind: file_bytes(file).saturating_sub(scan.bytes),
        });
    }

    /// Reads a checkpoint; `None` when it is damaged.
    fn checkpoint(&mut self, number: u64) -> Result<Option<RecoveryBase>, LabError> {
        let file = checkpoint_path(&self.path, number);
        let (mut stored, mut format, mut ends, mut headless) = (None, 0, false, false);
        let (places, mut places_match) = (self.places.clone(), Ok(()));
        let take_record = |record: FrameRecord| {
            ends = matches!(record, FrameRecord::End | FrameRecord::Closed);
            match (&mut stored, record) {
                (None, FrameRecord::Header(version, config)) => {
                    places_match = places.are_of(&config);
                    (format, stored) = (version, Some(DirectoryState::new(*config)));
                }
                (None, _) => headless = true,
                (Some(stored), record) => stored.take(record),
            }
        };
        let scan = if is_old(&file)? {
            old::read(&file, &self.places, take_record)?
        } else {
            let expected = ExpectedFrameFile {
                number: Some(number),
                ..ExpectedFrameFile::any(FrameFileKind::Checkpoint)
            };
            frames::read(&file, expected, &self.places, take_record)?
        };
        places_match?;
        self.saw(&file, &scan);
        let problem = match &scan.ended {
            FrameFileEnd::Damaged(what, behind) => {
                format!("{what}{}", trailing_text(behind))
            }
            FrameFileEnd::Torn => "it is cut short".to_owned(),
            FrameFileEnd::Whole if headless || stored.is_none() => "it has no header".to_owned(),
            FrameFileEnd::Whole if !ends => "its end is missing".to_owned(),
            FrameFileEnd::Whole => String::new(),
        };
        let (Some(stored), true) = (stored, problem.is_empty()) else {
            self.damaged(&file, Some(scan.bytes), problem);
            return Ok(None);
        };
        let is_known = match scan.place {
            Some(_) => (VERSION_MIN..=VERSION).contains(&format),
            None => old::has(format),
        };
        if !is_known {
            let (from, what) = (old::VERSIONS.start(), file.display());
            return Err(LabError::refused(
                format!("{what}: format {format}, this build knows {from} to {VERSION}"),
                "the build that wrote it reads it; nothing was changed",
            ));
        }
        Ok(Some(RecoveryBase {
            number,
            format,
            title: stored.config.name.clone(),
            stored,
            directory: scan.place.map_or(0, |place| place.directory),
            chain: scan.begins,
            last: number,
            tail: None,
            bytes_before: 0,
            named: NamingFrames::default(),
            not_whole: BTreeSet::new(),
        }))
    }

    /// Whether the file `end` belongs to this checkpoint and these logs.
    pub(super) fn check_against_end(&mut self, base: &RecoveryBase) -> bool {
        if old::has(base.format) {
            return true;
        }
        let file = end::path(&self.path);
        let Some((_, end)) = self.end else {
            let problem = if file.exists() {
                "it is damaged"
            } else {
                "it is missing"
            };
            self.damaged(&file, None, problem);
            return false;
        };
        if end.directory != base.directory {
            self.damaged(&file, None, "it belongs to another directory");
            return false;
        }
        let last = self.logs.last().copied().unwrap_or(base.number);
        let next = log_path(&self.path, end.log + 1);
        // A log is created before `end` names it.
        let has_no_frames = file_bytes(&next) <= HEAD as u64;
        if end.log < base.number || last > end.log + 1 || (last > end.log && !has_no_frames) {
            let problem = format!(
                "it is older than the directory: it names log {}, beside checkpoint {} and log \
                 {last}",
                end.log, base.number
            );
            self.damaged(&file, None, problem);
            return false;
        }
        true
    }

    fn check_against_about(&mut self) {
        let Some(base) = &mut self.base else {
            return;
        };
        let title = base.stored.title.as_deref();
        match about::check(&self.path, &base.stored.config, title) {
            Ok(title) => base.title = title,
            Err(what) => {
                if let Some(title) = title {
                    base.title = title.to_owned();
                }
                self.damages.push(Damage {
                    file: about::path(&self.path),
                    at: None,
                    what,
                });
            }
        }
    }
}

/// What follows damage, for its message.
pub(super) fn trailing_text(behind: &TrailingFrames) -> String {
    match behind.frames {
        0 => format!("; {} bytes from there on", behind.bytes),
        frames => format!(
            "; {frames} good frames are behind it, in {} bytes from there on",
            behind.bytes
        ),
    }
}

/// Whether a file has the old format: no head that begins with `ssdlab`.
pub(super) fn is_old(file: &Path) -> Result<bool, LabError> {
    use std::io::Read as _;
    let failed = |error| LabError::file("reading", file, error);
    let mut magic = Vec::new();
    let opened = std::fs::File::open(file).map_err(failed)?;
    opened.take(6).read_to_end(&mut magic).map_err(failed)?;
    Ok(!magic.is_empty() && magic != b"ssdlab")
}
