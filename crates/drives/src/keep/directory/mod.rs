//! A drive that survives the process: a directory with what is on its media.
//!
//! ```text
//! DIR/about.json       what it is, for people
//! DIR/checkpoint-N     everything at one moment: configuration, SMART, media, saved buffer
//! DIR/log-N            what has happened since, append-only; then log-(N+1) and so on
//! DIR/lock             held by who has it open
//!
//! frame = length u32 | XXH3-64 u64 | payload           (little-endian; see `frames`)
//! ```
//! What the media hold goes to the log before a command is acknowledged, one frame for all that
//! happened since the last: so the directory is at every moment what the media would be if power
//! were cut then, and a process that is killed is a drive whose power was cut. A frame cut short
//! at the log's end has not happened. On a protected drive, what an acknowledged command left in
//! the buffer is logged too: that is what the capacitor would have saved.
//!
//! What the drive knows beside its media, its wear included, is logged when power comes and goes
//! and when a block is retired; erases since then are counted again from the log. So a kill loses
//! the counters of reads, writes and work since, and which blocks were read how often.
//!
//! A long log makes way for a checkpoint: log N+1 begins, and checkpoint N+1, of that moment, is
//! written beside the work. When it is whole it gets its name, and what came before it is removed;
//! until then the directory is checkpoint N and both logs.
//!
//! [`Safety::Process`] survives the process; [`Safety::Host`] also syncs to disk on FLUSH and FUA
//! and at checkpoints, and survives the machine.

mod background;
mod frames;
mod records;
mod size;
mod stored;

use background::Background;
use frames::Frames;
use records::Record;
pub use size::sized;
use ssdlab_base::LabError;
use ssdlab_ssd::drive::power::{Cut, DataDrive, DataError, Power, PowerDrive, Recovery, Smart};
use ssdlab_ssd::nand::media::{Content, Event};
use ssdlab_ssd::units::Nanos;
use ssdlab_ssd::{Drive, DriveConfig};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use stored::{
    Snapshot, VERSION, checkpoint_path, file_bytes, forget_saved, log_path, newest, read,
    remove_others, sync_folder, write_checkpoint,
};

/// A log shorter than this is not worth a new checkpoint.
const LOG_BYTES_MIN: u64 = 64 << 20;

/// How often the lock is asked for, every 10 ms.
const LOCK_TRIES: u32 = 20;

/// Decodes the frames at the beginning of a log or checkpoint: number of bytes that they take and
/// the records, encoded again. Reading stops at the first frame that is cut short or damaged.
///
/// # Errors
/// When a frame with a correct checksum does not hold a record.
pub fn decode_frames(bytes: &[u8], name: &Path) -> Result<(u64, Vec<Vec<u8>>), LabError> {
    let mut records = Vec::new();
    let (taken, _) = frames::read_from(bytes, bytes.len() as u64, name, |record| {
        records.push(record);
    })?;
    let mut said = records::Said::default();
    let mut encoded = Vec::new();
    for record in &records {
        let mut payload = Vec::new();
        let mut out = ssdlab_ssd::image::Writer::new(&mut payload);
        let saved = record.save(&mut out, &mut said).and_then(|()| out.flush());
        saved.map_err(|error| LabError::refused(error.to_string(), ""))?;
        encoded.push(payload);
    }
    Ok((taken, encoded))
}

/// What a drive directory survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Safety {
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
    data: DataDrive,
    safety: Safety,
    /// Bytes of the newest whole checkpoint.
    checkpoint_bytes: u64,
    /// The checkpoint that is being written.
    background: Option<Background>,
    /// The log that is written, and its number.
    log: Frames,
    log_number: u64,
    /// Bytes of the logs between the checkpoint and that one.
    bytes_before: u64,
    log_bytes_max: Option<u64>,
    /// On a protected drive: acknowledged and not yet on media.
    saved: BTreeMap<u32, Content>,
    /// Changes of that which are not logged yet.
    unlogged: Vec<(u32, Content)>,
    /// How worn out the drive was when its SMART was last logged.
    worn_out: (u64, u64, bool),
    _lock: File,
}

impl DriveDir {
    /// Makes a directory with a factory-fresh drive in it. `path` must not exist, or be empty.
    ///
    /// # Errors
    /// When it exists, cannot be written, or the drive is impossible.
    pub fn create(path: &Path, config: &DriveConfig, title: &str) -> Result<(), LabError> {
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
        let smart = Smart::of_used(used);
        let stored = PowerDrive::stored(config, Power::default(), &smart, [], Vec::new());
        let mut drive = stored.map_err(|error| LabError::refused(error.to_string(), ""))?;
        drive.power_on(drive.now());
        create_with(path, drive, title)
    }

    /// Opens a directory and switches its drive on, which recovers as after a power cut.
    ///
    /// # Errors
    /// When it is none, is open elsewhere, is damaged, or the drive is dead.
    pub fn open(path: &Path, power: Power, safety: Safety) -> Result<(Self, Recovery), LabError> {
        let lock = lock(path)?;
        let number = newest(path)?;
        let (stored, logs) = read(path, number)?;
        remove_others(path, number, number..=logs.last)?;
        let mut smart = stored.smart;
        if !stored.closed {
            smart.power.unsafe_shutdowns += 1;
        }
        let saved = stored.saved.clone().into_iter().collect();
        let drive = PowerDrive::stored(stored.config, power, &smart, stored.events, saved)
            .map_err(|error| LabError::refused(error.to_string(), ""))?;
        let mut data = DataDrive::of(drive);
        data.drive_mut().keep_events();
        let recovery = data.power_on();
        if recovery.dead {
            return Err(LabError::refused("the drive does not come back", ""));
        }
        let mut dir = DriveDir {
            path: path.to_owned(),
            data,
            safety,
            checkpoint_bytes: file_bytes(&checkpoint_path(path, number)),
            background: None,
            log: logs.frames,
            log_number: logs.last,
            bytes_before: logs.bytes_before,
            log_bytes_max: None,
            saved: stored.saved,
            unlogged: Vec::new(),
            worn_out: (0, 0, false),
            _lock: lock,
        };
        dir.log_on()?;
        Ok((dir, recovery))
    }

    /// Logs of more than so many bytes make way for a checkpoint, instead of more than 64 MiB and
    /// twice the last checkpoint.
    pub fn set_log_bytes_max(&mut self, bytes: u64) {
        self.log_bytes_max = Some(bytes);
    }

    /// The drive, to look at.
    pub fn drive(&self) -> &PowerDrive {
        self.data.drive()
    }

    /// The drive, to work on: what that changes must be kept by one of the calls below, before
    /// anybody is told of it.
    pub fn data(&mut self) -> &mut DataDrive {
        &mut self.data
    }

    /// Bytes that it offers.
    pub fn capacity(&self) -> u64 {
        self.data.capacity()
    }

    /// See [`DataDrive::read`].
    ///
    /// # Errors
    /// When the request is refused, or the log cannot be written.
    pub fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<Nanos, LabError> {
        let took = self.data.read(offset, bytes).map_err(refused)?;
        self.settle()?;
        Ok(took)
    }

    /// See [`DataDrive::write`].
    ///
    /// # Errors
    /// As [`DriveDir::read`].
    pub fn write(&mut self, offset: u64, bytes: &[u8], fua: bool) -> Result<Nanos, LabError> {
        let took = self.data.write(offset, bytes, fua).map_err(refused)?;
        self.keep_change(offset, bytes.len() as u64, fua)?;
        self.settle()?;
        Ok(took)
    }

    /// See [`DataDrive::flush`].
    ///
    /// # Errors
    /// As [`DriveDir::read`].
    pub fn flush(&mut self) -> Result<Nanos, LabError> {
        let took = self.data.flush().map_err(refused)?;
        self.keep(true)?;
        self.settle()?;
        Ok(took)
    }

    /// See [`DataDrive::trim`].
    ///
    /// # Errors
    /// As [`DriveDir::read`].
    pub fn trim(&mut self, offset: u64, len: u64) -> Result<Nanos, LabError> {
        let took = self.data.trim(offset, len).map_err(refused)?;
        self.keep_change(offset, len, false)?;
        self.settle()?;
        Ok(took)
    }

    /// See [`DataDrive::write_zeroes`].
    ///
    /// # Errors
    /// As [`DriveDir::read`].
    pub fn write_zeroes(&mut self, offset: u64, len: u64, fua: bool) -> Result<Nanos, LabError> {
        let took = self.data.write_zeroes(offset, len, fua);
        let took = took.map_err(refused)?;
        self.keep_change(offset, len, fua)?;
        self.settle()?;
        Ok(took)
    }

    /// Shuts the drive down cleanly: FLUSH, then power off with notice.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn close(mut self) -> Result<(), LabError> {
        self.shut_down()
    }

    /// As [`DriveDir::close`], for a directory that stays open for reading.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn shut_down(&mut self) -> Result<(), LabError> {
        if self.data.drive().is_on() {
            self.settle()?;
            self.data.flush().map_err(refused)?;
            self.data.drive_mut().shut_down();
            self.log_events(false)?;
            self.log_off()?;
        }
        self.log.sync()?;
        match self.background.take() {
            Some(checkpoint) => self.take_up(checkpoint),
            None => Ok(()),
        }
    }

    /// A command changed bytes. On a protected drive what it left in the buffer will be logged
    /// too: the capacitor would have saved it.
    pub fn keep_change(&mut self, offset: u64, len: u64, durable: bool) -> Result<(), LabError> {
        if self.data.drive().config().buffer.protected && len > 0 {
            let slot = u64::from(self.data.drive().config().shape.slot_bytes);
            for lpn in offset / slot..(offset + len).div_ceil(slot) {
                let lpn = lpn as u32;
                let content = self.data.drive().content(lpn).cloned();
                match &content {
                    Some(_) => drop(self.saved.insert(lpn, content.clone())),
                    None => drop(self.saved.remove(&lpn)),
                }
                self.unlogged.push((lpn, content));
            }
        }
        self.keep(durable)
    }

    /// A command was done; with `durable` its files are on disk now, if they are to be.
    pub fn keep(&mut self, durable: bool) -> Result<(), LabError> {
        if durable && self.safety == Safety::Host {
            self.settle()?;
            self.log.sync()?;
        }
        Ok(())
    }

    /// Logs what has happened, before anybody is told of it; a long log makes way for a
    /// checkpoint.
    pub fn settle(&mut self) -> Result<(), LabError> {
        if !self.data.drive().is_on() {
            return Ok(());
        }
        let with_map = !self.unlogged.is_empty();
        if with_map {
            let unlogged = std::mem::take(&mut self.unlogged);
            self.log.append(&Record::Saved(unlogged))?;
        }
        self.log_events(with_map)?;
        // After what was moved off the blocks that are retired now.
        if self.data.drive().worn_out() != self.worn_out {
            self.log_smart()?;
        }
        match self.background.take() {
            Some(checkpoint) if checkpoint.has_ended() => self.take_up(checkpoint)?,
            going_on => self.background = going_on,
        }
        let most = LOG_BYTES_MIN.max(2 * self.checkpoint_bytes);
        let most = self.log_bytes_max.unwrap_or(most);
        if self.bytes_before + self.log.bytes() > most && self.background.is_none() {
            let before = self.begin_log(false)?;
            let (path, sync) = (&self.path, self.safety == Safety::Host);
            self.background = Some(Background::begin(path, self.log_number, before, sync)?);
        }
        Ok(())
    }

    /// Cuts the power now.
    ///
    /// # Errors
    /// When power is off, or the log cannot be written.
    pub fn cut(&mut self) -> Result<Cut, LabError> {
        if !self.data.drive().is_on() {
            return Err(refused(DataError::Off));
        }
        let cut = self.data.cut();
        self.keep_cut()?;
        Ok(cut)
    }

    /// Logs a cut: what it left on media, and what the capacitor saved.
    pub fn keep_cut(&mut self) -> Result<(), LabError> {
        let dump: BTreeMap<u32, Content> = self.data.drive().saved().iter().cloned().collect();
        self.unlogged.clear();
        if self.data.drive().has_faults() {
            // Faults change what is on media, and tell nobody.
            self.data.drive_mut().take_events();
            self.saved = dump;
            return self.checkpoint_off();
        }
        self.log_events(false)?;
        let gone = self.saved.keys().filter(|lpn| !dump.contains_key(lpn));
        let mut records: Vec<(u32, Content)> = gone.map(|lpn| (*lpn, None)).collect();
        records.extend(dump.iter().map(|(lpn, content)| (*lpn, content.clone())));
        self.saved = dump;
        if !records.is_empty() {
            self.log.append(&Record::Saved(records))?;
        }
        self.log_off()
    }

    /// Power is off, and SMART says how it went.
    fn log_off(&mut self) -> Result<(), LabError> {
        self.log_smart()?;
        self.log.append(&Record::Closed)
    }

    /// Switches power on and recovers. The drive may be dead, or off again where a cut was aimed.
    ///
    /// # Errors
    /// When power is on, or the log cannot be written.
    pub fn power_on(&mut self) -> Result<Recovery, LabError> {
        if self.data.drive().is_on() {
            return Err(LabError::refused("the drive has power", ""));
        }
        let recovery = self.data.power_on();
        if self.data.drive().is_on() {
            self.log_on()?;
        }
        Ok(recovery)
    }

    /// From here on the log does not end with power off.
    fn log_on(&mut self) -> Result<(), LabError> {
        self.log_smart()?;
        self.settle()
    }

    fn log_smart(&mut self) -> Result<(), LabError> {
        self.worn_out = self.data.drive().worn_out();
        let smart = self.data.drive().smart();
        self.log.append(&Record::Smart(Box::new(smart)))
    }

    fn log_events(&mut self, with_map: bool) -> Result<(), LabError> {
        let mut events = self.data.drive_mut().take_events();
        for event in &events {
            forget_saved(&mut self.saved, event);
        }
        if with_map {
            let map = self.data.drive().unsaved_map();
            if !map.forgotten.is_empty() {
                events.push(Event::Noted(map));
            }
        }
        if events.is_empty() {
            return Ok(());
        }
        self.log.append(&Record::Events(events))
    }

    /// Begins the next log; returns all that came before it, and the log that ended.
    fn begin_log(&mut self, closed: bool) -> Result<(Snapshot, Frames), LabError> {
        let next = self.log_number + 1;
        let log = Frames::create(&log_path(&self.path, next))?;
        if self.safety == Safety::Host {
            self.log.sync()?;
            sync_folder(&self.path)?;
        }
        let ended = std::mem::replace(&mut self.log, log);
        self.log_number = next;
        self.bytes_before += ended.bytes();
        let drive = self.data.drive_mut();
        Ok((Snapshot::of(drive, &self.saved, closed), ended))
    }

    /// A checkpoint of a drive without power: nothing goes on beside it.
    fn checkpoint_off(&mut self) -> Result<(), LabError> {
        self.background = None;
        let (snapshot, _) = self.begin_log(true)?;
        let (number, sync) = (self.log_number, self.safety == Safety::Host);
        let go_on = AtomicBool::new(false);
        self.checkpoint_bytes = write_checkpoint(&self.path, number, snapshot, (sync, &go_on))?;
        self.bytes_before = 0;
        remove_others(&self.path, number, number..=number)
    }

    /// A checkpoint has ended, or is waited for: the directory begins with it.
    fn take_up(&mut self, checkpoint: Background) -> Result<(), LabError> {
        match checkpoint.wait() {
            Ok(bytes) => {
                (self.checkpoint_bytes, self.bytes_before) = (bytes, 0);
                Ok(())
            }
            Err(error) => {
                self.log.give_up(error.to_string());
                Err(error)
            }
        }
    }
}

/// Puts a drive that is on, and does nothing, into a new directory.
fn create_with(path: &Path, mut drive: PowerDrive, title: &str) -> Result<(), LabError> {
    let busy = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    if busy || path.is_file() {
        return Err(LabError::refused(
            format!("{} exists", path.display()),
            "choose a new or empty directory",
        ));
    }
    std::fs::create_dir_all(path).map_err(|e| LabError::file("creating", path, e))?;
    let about = serde_json::json!({
        "format": VERSION,
        "drive": drive.config().name,
        "title": title,
        "user_bytes": drive.config().user_bytes,
    });
    let file = path.join("about.json");
    std::fs::write(&file, format!("{about:#}\n"))
        .map_err(|e| LabError::file("writing", &file, e))?;
    let _lock = lock(path)?;
    drive.shut_down();
    let snapshot = Snapshot::of(&mut drive, &BTreeMap::new(), true);
    write_checkpoint(path, 1, snapshot, (true, &AtomicBool::new(false)))?;
    Ok(())
}

fn refused(error: DataError) -> LabError {
    LabError::refused(error.to_string(), "")
}

fn lock(path: &Path) -> Result<File, LabError> {
    let file = path.join("lock");
    let opened = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&file);
    let lock = opened.map_err(|e| LabError::file("opening", &file, e))?;
    let how = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    // A child that another thread of ours starts has it for a moment, until its program begins.
    for _ in 0..LOCK_TRIES {
        if rustix::fs::flock(&lock, how).is_ok() {
            return Ok(lock);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(LabError::refused(
        format!("{} is open elsewhere", path.display()),
        "one process at a time has a drive directory open",
    ))
}
