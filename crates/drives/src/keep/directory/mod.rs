//! A drive that survives the process: a directory with what is on its media.
//!
//! ```text
//! DIR/about.json       what it is, for people
//! DIR/checkpoint-N     everything at one moment: configuration, SMART, media, saved buffer
//! DIR/log-N            what has happened since, append-only; then log-(N+1) and so on
//! DIR/data             the bytes of the media, in places that checkpoints and logs name
//! DIR/end              how far the log was acknowledged
//! DIR/lock             held by who has it open
//! ```
//! The form of the files: `file`, `places`, `end`. What the media hold goes to the log before a
//! command is acknowledged, one frame for all that happened since the last: so the directory is at
//! every moment what the media would be if power were cut then, and a process that is killed is a
//! drive whose power was cut. A frame cut short at the log's end has not happened. On a protected
//! drive, what an acknowledged command left in the buffer is logged too: that is what the capacitor
//! would have saved.
//!
//! What the drive knows beside its media, its wear included, is logged when power comes and goes
//! and when a block is retired; erases since then are counted again from the log. So a kill loses
//! the counters of reads, writes and work since, and which blocks were read how often.
//!
//! A long log makes way for a checkpoint: log N+1 begins, and checkpoint N+1, of that moment, is
//! written beside the work. When it is whole it gets its name, and what came before it is removed;
//! until then the directory is checkpoint N and both logs.
//!
//! [`CrashSafety::Process`] survives the process; [`CrashSafety::Host`] also syncs to disk on
//! FLUSH and FUA and at checkpoints, and survives the machine.
//!
//! Whatever else happened to the files is damage: see `survey`. A damaged directory is not opened,
//! and nothing in it is changed; [`check`] says what is in it, [`repair`] writes what can be
//! recovered to a new one. Where there is no room for the log, nothing is acknowledged until there
//! is; see [`DriveDir::settle`].

mod about;
mod background;
mod check;
mod checkpoints;
mod end;
mod file;
mod frames;
mod free;
mod fuzzed;
mod keeping;
mod landing;
mod make;
mod map;
mod named;
mod old;
mod places;
mod records;
mod report;
mod requests;
mod show;
mod stored;
mod survey;
mod survey_logs;
mod survey_places;

pub use check::{DirectoryCheck, DirectoryRepair, check, repair};
pub use fuzzed::{decode_frames, encode_frames};
pub use landing::{WriteLanding, WriteLandings};
pub use make::refuse_if_too_big;
pub use report::{DamageReport, DirectoryReport, FrameFileReport, RepairReport};
pub use show::{json, text};
pub use survey::{Damage, FrameFileSummary, UnrecoverableTail};

use background::BackgroundCheckpoint;
use end::LogEndFile;
use file::{FrameFileId, FrameFileKind, VERSION};
use frames::FrameFileWriter;
use make::{create_with, lock, upgrade};
use places::DataPlaces;
use ssdlab_base::LabError;
use ssdlab_ssd::drive::power::{DataDrive, DataError, Power, PowerDrive, Recovery, Smart};
use ssdlab_ssd::nand::media::Content;
use ssdlab_ssd::{Drive, DriveConfig};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stored::{DirectoryState, checkpoint_path, file_bytes, log_path, remove_others};
use survey::{DirectorySurvey, RecoveryBase, SurveyOptions, survey};

/// A log shorter than this is not worth a new checkpoint.
const LOG_BYTES_MIN: u64 = 64 << 20;

/// What a drive directory survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrashSafety {
    /// The end of the process, at any moment.
    #[default]
    Process,
    /// The end of the machine too: FLUSH and FUA sync files, which takes real time.
    Host,
}

/// An open drive directory, with its drive switched on.
#[derive(Debug)]
pub struct DriveDir {
    path: PathBuf,
    title: String,
    data: DataDrive,
    safety: CrashSafety,
    /// The present run of the machine.
    boot: u64,
    /// What was cut off or is harmless, and must be said.
    notes: Vec<String>,
    /// Bytes of the newest whole checkpoint.
    checkpoint_bytes: u64,
    /// The checkpoint that is being written.
    background: Option<BackgroundCheckpoint>,
    /// Why the last one was put off.
    put_off: Option<String>,
    /// Bytes of logs at which one is tried again.
    try_again_at: u64,
    /// A drive with faults has lost power, and there was no room to say so.
    owes_checkpoint: bool,
    /// The log that is written.
    log: FrameFileWriter,
    end: LogEndFile,
    /// Bytes of the logs between the checkpoint and that one.
    bytes_before: u64,
    log_bytes_max: Option<u64>,
    /// On a protected drive: acknowledged and not yet on media.
    saved: BTreeMap<u32, Content>,
    /// Changes of that which are not logged yet.
    unlogged: Vec<(u32, Content)>,
    /// How worn out the drive was when its SMART was last logged.
    worn_out: (u64, u64, bool),
    /// The bytes of the media, and the directory's lock.
    places: Arc<DataPlaces>,
}

impl DriveDir {
    /// Makes a directory with a factory-fresh drive in it. `path` must not exist, or be empty.
    ///
    /// # Errors
    /// When it exists, cannot be written, or the drive is impossible.
    pub fn create(path: &Path, config: &DriveConfig, title: &str) -> Result<(), LabError> {
        refuse_if_too_big(config)?;
        let drive = PowerDrive::new(config.clone(), Power::default())
            .map_err(|error| LabError::refused(error.to_string(), ""))?;
        create_with(path, drive, title)
    }

    /// Makes a directory with a drive in it that has been used: as worn as that is, and empty.
    ///
    /// # Errors
    /// As [`DriveDir::create`].
    pub fn create_used(path: &Path, used: &Drive, title: &str) -> Result<(), LabError> {
        let config = used.config().clone();
        refuse_if_too_big(&config)?;
        let smart = Smart::of_used(used);
        let stored = PowerDrive::stored(config, Power::default(), &smart, [], Vec::new());
        let mut drive = stored.map_err(|error| LabError::refused(error.to_string(), ""))?;
        drive.power_on(drive.now());
        create_with(path, drive, title)
    }

    /// Opens a directory and switches its drive on, which recovers as after a power cut.
    ///
    /// # Errors
    /// When it is not a drive directory, is open elsewhere, is damaged, or the drive is dead.
    pub fn open(
        path: &Path,
        power: Power,
        safety: CrashSafety,
    ) -> Result<(Self, Recovery), LabError> {
        let boot = end::boot();
        if !path.join("lock").exists() {
            // Nothing is made where no drive is, or a damaged one.
            whole(path, boot)?;
        }
        let lock = lock(path)?;
        let (mut survey, mut base) = whole(path, boot)?;
        if old::has(base.format) {
            upgrade(path, base)?;
            (survey, base) = whole(path, boot)?;
        }
        let places = survey.places.clone();
        let (data, saved, recovery) = start(base.stored, power)?;
        // Everything was read: from here on files are changed.
        let (file, kind) = (log_path(path, base.last), FrameFileKind::Log);
        let place = FrameFileId {
            directory: base.directory,
            kind,
            number: base.last,
        };
        let log = match base.tail {
            Some(scan) => FrameFileWriter::open(&file, place, scan)?,
            None => FrameFileWriter::create(&file, place, base.chain, &places)?,
        };
        let (turn, end) = survey.end.ok_or_else(|| LabError::refused("no end", ""))?;
        let end = LogEndFile::open(path, turn, end)?;
        remove_others(path, base.number, base.number..=base.last)?;
        let mut dir = DriveDir {
            path: path.to_owned(),
            title: base.title,
            data,
            safety,
            boot,
            notes: survey.notes,
            checkpoint_bytes: file_bytes(&checkpoint_path(path, base.number)),
            background: None,
            put_off: None,
            try_again_at: 0,
            owes_checkpoint: false,
            log,
            end,
            bytes_before: base.bytes_before,
            log_bytes_max: None,
            saved,
            unlogged: Vec::new(),
            worn_out: (0, 0, false),
            places: places.clone(),
        };
        places.keep_lock(lock);
        if safety == CrashSafety::Host {
            dir.sync_all(base.number)?;
        }
        dir.go_on(base.format)?;
        Ok((dir, recovery))
    }

    /// Takes up work on files that are of this format.
    fn go_on(&mut self, format: u32) -> Result<(), LabError> {
        let is_older = format < VERSION;
        if is_older {
            // No log of that format names places; a new one may follow it.
            drop(self.begin_log(false)?);
        }
        self.places.run();
        self.data.drive_mut().put_on_shelf(self.places.clone());
        self.log_on()?;
        if is_older && self.background.is_none() {
            let begun = self.begin_checkpoint();
            self.unless_put_off(begun)?;
        }
        Ok(())
    }

    /// What was found when it was opened and is not damage, a sentence each: a torn tail, or what
    /// was cut off behind the last sync after a crash of the machine.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Why the last checkpoint was put off, if it was: there was no room. The logs go on.
    pub fn put_off(&self) -> Option<&str> {
        self.put_off.as_deref()
    }

    /// Logs of more than `bytes` make way for a checkpoint, instead of more than 64 MiB and
    /// twice the last checkpoint.
    pub fn set_log_bytes_max(&mut self, bytes: u64) {
        self.log_bytes_max = Some(bytes);
    }

    /// Keeps `bytes` of the places that are no longer named as they are, instead of 64 MiB: from
    /// them [`repair`] has older bytes back.
    pub fn set_kept_bytes(&mut self, bytes: u64) {
        self.places.set_kept(bytes);
    }

    /// The drive, to look at.
    pub fn drive(&self) -> &PowerDrive {
        self.data.drive()
    }

    /// The drive, to work on: what that changes must be kept by one of the calls below, before
    /// it is acknowledged.
    pub fn data(&mut self) -> &mut DataDrive {
        &mut self.data
    }

    /// Bytes that it offers.
    pub fn capacity(&self) -> u64 {
        self.data.capacity()
    }
}

/// Starts a stored drive: the drive, what is saved of its buffer, and its recovery.
fn start(
    stored: DirectoryState,
    power: Power,
) -> Result<(DataDrive, BTreeMap<u32, Content>, Recovery), LabError> {
    let mut smart = stored.smart;
    if !stored.closed {
        smart.power.unsafe_shutdowns += 1;
    }
    refuse_if_too_big(&stored.config)?;
    let dump = stored.saved.clone().into_iter().collect();
    let drive = PowerDrive::stored(stored.config, power, &smart, stored.events, dump)
        .map_err(|error| LabError::refused(error.to_string(), ""))?;
    let mut data = DataDrive::of(drive);
    data.drive_mut().keep_events();
    let recovery = data.power_on();
    if recovery.dead {
        return Err(LabError::refused("the drive does not come back", ""));
    }
    Ok((data, stored.saved, recovery))
}

/// A directory without damage.
fn whole(path: &Path, boot: u64) -> Result<(DirectorySurvey, RecoveryBase), LabError> {
    let mut survey = survey(
        path,
        boot,
        SurveyOptions {
            salvage: false,
            writable: true,
        },
    )?;
    match (survey.damages.first(), survey.base.take()) {
        (Some(damage), _) => Err(damage.refusal(path)),
        (None, Some(base)) => Ok((survey, base)),
        (None, None) => Err(LabError::refused("no checkpoint", "")),
    }
}

fn refused(error: DataError) -> LabError {
    LabError::refused(error.to_string(), "")
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_landing;
#[cfg(test)]
mod tests_places;
