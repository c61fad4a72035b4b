//! A drive that survives the process: a directory with what is on its media.
//!
//! ```text
//! DIR/about.json       what it is, for people
//! DIR/checkpoint-N     everything at one moment: configuration, SMART, media, saved buffer
//! DIR/log-N            what has happened since, append-only
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
//! [`Safety::Process`] survives the process; [`Safety::Host`] also syncs to disk on FLUSH and FUA
//! and at checkpoints, and survives the machine.

mod frames;
mod records;
mod size;

use crate::LabError;
use frames::Frames;
use records::{Record, Said};
pub use size::sized;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::{Cut, DataDrive, DataError, Power, PowerDrive, Recovery, Smart};
use ssdlab_ssd::nand::media::{Content, Event};
use ssdlab_ssd::units::Nanos;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Version of the directory's format.
const VERSION: u32 = 2;
/// A log shorter than this is not worth a new checkpoint.
const LOG_BYTES_MIN: u64 = 64 << 20;

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
    number: u64,
    log: Frames,
    checkpoint_bytes: u64,
    /// On a protected drive: acknowledged and not yet on media.
    saved: BTreeMap<u32, Content>,
    /// Changes of that which are not logged yet.
    unlogged: Vec<(u32, Content)>,
    _lock: File,
}

/// What a directory holds.
struct Stored {
    config: DriveConfig,
    smart: Smart,
    events: Vec<Event>,
    saved: BTreeMap<u32, Content>,
    closed: bool,
}

impl DriveDir {
    /// Makes a directory with a factory-fresh drive in it. `path` must not exist, or be empty.
    ///
    /// # Errors
    /// When it exists, cannot be written, or the drive is impossible.
    pub fn create(path: &Path, config: &DriveConfig, title: &str) -> Result<(), LabError> {
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
            "drive": config.name,
            "title": title,
            "user_bytes": config.user_bytes,
        });
        let file = path.join("about.json");
        std::fs::write(&file, format!("{about:#}\n"))
            .map_err(|e| LabError::file("writing", &file, e))?;
        let _lock = lock(path)?;
        let mut drive = PowerDrive::new(config.clone(), Power::default())
            .map_err(|error| LabError::refused(error.to_string(), ""))?;
        drive.shut_down();
        write_checkpoint(path, 1, &mut drive, &BTreeMap::new(), (true, true))?;
        Ok(())
    }

    /// Opens a directory and switches its drive on, which recovers as after a power cut.
    ///
    /// # Errors
    /// When it is none, is open elsewhere, is damaged, or the drive is dead.
    pub fn open(path: &Path, power: Power, safety: Safety) -> Result<(Self, Recovery), LabError> {
        let lock = lock(path)?;
        let number = newest(path)?;
        let (stored, log) = read(path, number)?;
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
            number,
            checkpoint_bytes: file_bytes(&checkpoint_path(path, number)),
            log,
            saved: stored.saved,
            unlogged: Vec::new(),
            _lock: lock,
        };
        dir.log_on()?;
        Ok((dir, recovery))
    }

    /// The drive, to look at.
    pub fn drive(&self) -> &PowerDrive {
        self.data.drive()
    }

    /// The drive, to work on: what that changes must be kept by one of the calls below, before
    /// anybody is told of it.
    pub(crate) fn data(&mut self) -> &mut DataDrive {
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

    pub(crate) fn shut_down(&mut self) -> Result<(), LabError> {
        if self.data.drive().is_on() {
            self.settle()?;
            self.data.flush().map_err(refused)?;
            self.data.drive_mut().shut_down();
            self.log_events(false)?;
            self.log_off()?;
        }
        self.log.sync()
    }

    /// A command changed bytes. On a protected drive what it left in the buffer will be logged
    /// too: the capacitor would have saved it.
    pub(crate) fn keep_change(
        &mut self,
        offset: u64,
        len: u64,
        durable: bool,
    ) -> Result<(), LabError> {
        if self.data.drive().config().buffer.protected && len > 0 {
            let slot = u64::from(self.data.drive().config().shape.slot_bytes);
            for lpn in offset / slot..(offset + len).div_ceil(slot) {
                let lpn = lpn as u32;
                let content = self.data.drive().content(lpn);
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
    pub(crate) fn keep(&mut self, durable: bool) -> Result<(), LabError> {
        if durable && self.safety == Safety::Host {
            self.settle()?;
            self.log.sync()?;
        }
        Ok(())
    }

    /// Logs what has happened, before anybody is told of it; a long log makes way for a
    /// checkpoint.
    pub(crate) fn settle(&mut self) -> Result<(), LabError> {
        if !self.data.drive().is_on() {
            return Ok(());
        }
        let with_map = !self.unlogged.is_empty();
        if with_map {
            let unlogged = std::mem::take(&mut self.unlogged);
            self.log.append(&Record::Saved(unlogged))?;
        }
        self.log_events(with_map)?;
        if self.log.bytes() > LOG_BYTES_MIN.max(2 * self.checkpoint_bytes) {
            self.checkpoint(false)?;
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
    pub(crate) fn keep_cut(&mut self) -> Result<(), LabError> {
        let dump: BTreeMap<u32, Content> = self.data.drive().saved().iter().cloned().collect();
        self.unlogged.clear();
        if self.data.drive().has_faults() {
            // Faults change what is on media, and tell nobody.
            self.data.drive_mut().take_events();
            self.saved = dump;
            return self.checkpoint(true);
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
        let smart = self.data.drive().smart();
        self.log.append(&Record::Smart(Box::new(smart)))?;
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
        let smart = self.data.drive().smart();
        self.log.append(&Record::Smart(Box::new(smart)))?;
        self.settle()
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

    fn checkpoint(&mut self, closed: bool) -> Result<(), LabError> {
        let next = self.number + 1;
        let drive = self.data.drive_mut();
        let sync = self.safety == Safety::Host;
        // Before the checkpoint, whose sync of the folder then covers it too.
        let log = Frames::create(&log_path(&self.path, next))?;
        let written = write_checkpoint(&self.path, next, drive, &self.saved, (closed, sync));
        self.checkpoint_bytes = written?;
        self.log = log;
        let old = [checkpoint_path, log_path].map(|path| path(&self.path, self.number));
        self.number = next;
        for file in old {
            std::fs::remove_file(&file).map_err(|e| LabError::file("removing", &file, e))?;
        }
        Ok(())
    }
}

fn refused(error: DataError) -> LabError {
    LabError::refused(error.to_string(), "")
}

/// What has come to media need not be saved any more.
fn forget_saved(saved: &mut BTreeMap<u32, Content>, event: &Event) {
    let Event::Programmed { page, .. } = event else {
        return;
    };
    for spare in page.slots.iter().filter(|_| !page.torn) {
        if saved.get(&spare.address) == Some(&spare.content) {
            saved.remove(&spare.address);
        }
    }
}

fn checkpoint_path(path: &Path, number: u64) -> PathBuf {
    path.join(format!("checkpoint-{number:010}"))
}

fn log_path(path: &Path, number: u64) -> PathBuf {
    path.join(format!("log-{number:010}"))
}

fn file_bytes(path: &Path) -> u64 {
    path.metadata().map_or(0, |found| found.len())
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
    rustix::fs::flock(&lock, how).map_err(|_| {
        LabError::refused(
            format!("{} is open elsewhere", path.display()),
            "one process at a time has a drive directory open",
        )
    })?;
    Ok(lock)
}

/// The number of the newest whole checkpoint.
fn newest(path: &Path) -> Result<u64, LabError> {
    let entries = std::fs::read_dir(path).map_err(|e| LabError::file("reading", path, e))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let numbers = names.filter_map(|name| name.strip_prefix("checkpoint-")?.parse().ok());
    numbers.max().ok_or_else(|| {
        LabError::refused(
            format!("{} is no drive directory", path.display()),
            "`ssdlab create DRIVE_DIR --drive NAME` makes one",
        )
    })
}

fn write_checkpoint(
    path: &Path,
    number: u64,
    drive: &mut PowerDrive,
    saved: &BTreeMap<u32, Content>,
    (closed, sync): (bool, bool),
) -> Result<u64, LabError> {
    let file = checkpoint_path(path, number);
    let part = file.with_extension("part");
    let mut frames = Frames::create(&part)?;
    frames.append(&Record::Header(VERSION, Box::new(drive.config().clone())))?;
    frames.append(&Record::Smart(Box::new(drive.smart())))?;
    for events in drive.all_events().chunks(256) {
        frames.append(&Record::Events(events.to_vec()))?;
    }
    let all: Vec<(u32, Content)> = saved.iter().map(|(&lpn, c)| (lpn, c.clone())).collect();
    for saved in all.chunks(256) {
        frames.append(&Record::Saved(saved.to_vec()))?;
    }
    frames.append(if closed {
        &Record::Closed
    } else {
        &Record::End
    })?;
    if sync {
        frames.sync()?;
    }
    let renamed = std::fs::rename(&part, &file);
    renamed.map_err(|e| LabError::file("writing", &file, e))?;
    if sync {
        let synced = File::open(path).and_then(|folder| folder.sync_all());
        synced.map_err(|e| LabError::file("syncing", path, e))?;
    }
    Ok(frames.bytes())
}

/// Reads a checkpoint and its log; returns what they hold and the log, to go on with.
fn read(path: &Path, number: u64) -> Result<(Stored, Frames), LabError> {
    let file = checkpoint_path(path, number);
    let mut records = Vec::new();
    let (whole, _) = frames::read(&file, |record| records.push(record))?;
    let damaged = |what: &str| {
        let what = format!("{}: {what}", file.display());
        LabError::refused(what, "the drive directory is damaged")
    };
    let ended = matches!(records.last(), Some(Record::End | Record::Closed));
    if whole != file_bytes(&file) || !ended {
        return Err(damaged("it is cut short, or a checksum is wrong"));
    }
    let config = match records.first() {
        Some(Record::Header(VERSION, config)) => (**config).clone(),
        Some(Record::Header(other, _)) => {
            return Err(damaged(&format!(
                "format {other}, this build knows {VERSION}"
            )));
        }
        _ => return Err(damaged("it has no header")),
    };
    let mut stored = Stored {
        config,
        smart: Smart::default(),
        events: Vec::new(),
        saved: BTreeMap::new(),
        closed: false,
    };
    let log = log_path(path, number);
    let (mut bytes, mut said) = (0, Said::default());
    records.into_iter().for_each(|record| stored.take(record));
    if log.exists() {
        (bytes, said) = frames::read(&log, |record| stored.take(record))?;
    }
    let log = Frames::open(&log, bytes, said)?;
    Ok((stored, log))
}

impl Stored {
    fn take(&mut self, record: Record) {
        let closes = matches!(record, Record::Closed);
        // The end of a checkpoint says nothing; anything else means that it was opened again.
        self.closed = closes || (self.closed && matches!(record, Record::End));
        match record {
            Record::Header(..) | Record::End | Record::Closed => {}
            Record::Smart(smart) => self.smart = *smart,
            Record::Saved(slots) => {
                for (lpn, content) in slots {
                    self.count(&content);
                    match content {
                        Some(_) => drop(self.saved.insert(lpn, content)),
                        None => drop(self.saved.remove(&lpn)),
                    }
                }
            }
            Record::Events(events) => {
                for event in events {
                    self.take_event(&event);
                    self.events.push(event);
                }
            }
        }
    }

    fn take_event(&mut self, event: &Event) {
        forget_saved(&mut self.saved, event);
        let dies = self.config.geometry().die_count;
        match event {
            Event::Erased { block } if block.is_multiple_of(dies) => {
                if let Some(erases) = self.smart.erases.get_mut((block / dies) as usize) {
                    *erases += 1;
                }
            }
            Event::Programmed { page, .. } => {
                for spare in &page.slots {
                    self.count(&spare.content);
                }
            }
            Event::Erased { .. } | Event::Lost { .. } | Event::Noted(_) => {}
        }
    }

    /// Numbers go on behind the last one seen.
    fn count(&mut self, content: &Content) {
        let numbers = content.iter().flat_map(|content| &content.numbers);
        let last = numbers.max().copied().unwrap_or(0);
        self.smart.number = self.smart.number.max(last);
    }
}
