//! A directory's files: checkpoints and their logs, written, found and read.

use super::VERSION;
use super::frames::{self, Frames};
use super::records::{Record, Said};
use crate::LabError;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::{PowerDrive, Smart};
use ssdlab_ssd::nand::media::{Content, Event};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// What a directory holds.
pub(super) struct Stored {
    pub config: DriveConfig,
    pub smart: Smart,
    pub events: Vec<Event>,
    pub saved: BTreeMap<u32, Content>,
    pub closed: bool,
}

/// What has come to media need not be saved any more.
pub(super) fn forget_saved(saved: &mut BTreeMap<u32, Content>, event: &Event) {
    let Event::Programmed { page, .. } = event else {
        return;
    };
    for spare in page.slots.iter().filter(|_| !page.torn) {
        if saved.get(&spare.address) == Some(&spare.content) {
            saved.remove(&spare.address);
        }
    }
}

pub(super) fn checkpoint_path(path: &Path, number: u64) -> PathBuf {
    path.join(format!("checkpoint-{number:010}"))
}

pub(super) fn log_path(path: &Path, number: u64) -> PathBuf {
    path.join(format!("log-{number:010}"))
}

pub(super) fn file_bytes(path: &Path) -> u64 {
    path.metadata().map_or(0, |found| found.len())
}

/// Removes what the end of a process left behind: checkpoints and logs that are not, or not any
/// more, those of `number`. Files of other names are not ours.
pub(super) fn remove_others(path: &Path, number: u64) -> Result<(), LabError> {
    let entries = std::fs::read_dir(path).map_err(|e| LabError::file("reading", path, e))?;
    for entry in entries {
        let name = entry.map_err(|e| LabError::file("reading", path, e))?;
        let name = name.file_name();
        if name
            .to_str()
            .and_then(number_of)
            .is_some_and(|of| of != number)
            || name.to_str().is_some_and(is_part)
        {
            let file = path.join(name);
            std::fs::remove_file(&file).map_err(|e| LabError::file("removing", &file, e))?;
        }
    }
    Ok(())
}

/// The number of a checkpoint or log of this name.
fn number_of(name: &str) -> Option<u64> {
    let number = name.strip_prefix("checkpoint-");
    let number = number.or_else(|| name.strip_prefix("log-"))?;
    let ours = number.len() >= 10 && number.bytes().all(|byte| byte.is_ascii_digit());
    ours.then(|| number.parse().ok()).flatten()
}

/// Whether a file of this name is a checkpoint that was never finished.
fn is_part(name: &str) -> bool {
    let name = name.strip_suffix(".part").unwrap_or_default();
    name.starts_with("checkpoint-") && number_of(name).is_some()
}

/// The number of the newest whole checkpoint.
pub(super) fn newest(path: &Path) -> Result<u64, LabError> {
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

pub(super) fn write_checkpoint(
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
pub(super) fn read(path: &Path, number: u64) -> Result<(Stored, Frames), LabError> {
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
            Event::Erased { block } => self.smart.array.count_erase(*block, dies),
            Event::Programmed { page, .. } => {
                for spare in &page.slots {
                    self.count(&spare.content);
                }
            }
            Event::Lost { .. } | Event::Noted(_) => {}
        }
    }

    /// Numbers go on behind the last one seen.
    fn count(&mut self, content: &Content) {
        let last = content
            .as_ref()
            .map_or(0, |content| content.numbers.highest());
        self.smart.number = self.smart.number.max(last);
    }
}
