//! A directory's files: checkpoints and their logs, written, found and read.

use super::file::{FrameFileId, FrameFileKind, VERSION, sync_folder};
use super::frames::FrameFileWriter;
use super::places::DataPlaces;
use super::records::FrameRecord;
use ssdlab_base::LabError;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::{PowerDrive, Smart};
use ssdlab_ssd::nand::media::{Content, Event, Page, SlotBytes};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a directory holds.
pub(super) struct DirectoryState {
    pub config: DriveConfig,
    /// What a person calls the drive, as a checkpoint of format 5 says.
    pub title: Option<String>,
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
    path.metadata().map_or(0, |metadata| metadata.len())
}

/// Removes what is not used any more, and what the end of a process left behind: of checkpoints and
/// logs all but a checkpoint and its logs. Files of other names are not ours.
pub(super) fn remove_others(
    path: &Path,
    checkpoint: u64,
    logs: RangeInclusive<u64>,
) -> Result<(), LabError> {
    let entries = std::fs::read_dir(path).map_err(|e| LabError::file("reading", path, e))?;
    for entry in entries {
        let name = entry.map_err(|e| LabError::file("reading", path, e))?;
        let name = name.file_name();
        let Some(text) = name.to_str() else {
            continue;
        };
        let whole = text.strip_suffix(".part").unwrap_or(text);
        let of_checkpoint = number_of(whole, "checkpoint-");
        let stays = match (of_checkpoint, number_of(text, "log-")) {
            (Some(number), _) => number == checkpoint && whole == text,
            (_, Some(number)) => logs.contains(&number),
            (None, None) => true,
        };
        if !stays {
            let file = path.join(name);
            std::fs::remove_file(&file).map_err(|e| LabError::file("removing", &file, e))?;
        }
    }
    Ok(())
}

/// The number in the name of a checkpoint or log.
pub(super) fn number_of(name: &str, kind: &str) -> Option<u64> {
    let number = name.strip_prefix(kind)?;
    let ours = number.len() >= 10 && number.bytes().all(|byte| byte.is_ascii_digit());
    ours.then(|| number.parse().ok()).flatten()
}

/// Everything at one moment, to be written while the drive goes on.
pub(super) struct Snapshot {
    config: DriveConfig,
    title: String,
    smart: Smart,
    events: Vec<Event>,
    saved: BTreeMap<u32, Content>,
    /// Power is off.
    closed: bool,
}

impl Snapshot {
    /// Of a drive whose events were logged; `closed`: it has no power.
    pub fn of(
        drive: &mut PowerDrive,
        title: &str,
        saved: &BTreeMap<u32, Content>,
        closed: bool,
    ) -> Snapshot {
        Snapshot {
            config: drive.config().clone(),
            title: title.to_owned(),
            events: drive.all_events(),
            smart: drive.smart(),
            saved: saved.clone(),
            closed,
        }
    }

    /// The drive's configuration.
    pub fn config(&self) -> &DriveConfig {
        &self.config
    }

    /// What a directory holds, to be written to another.
    pub fn of_stored(stored: DirectoryState, title: String) -> Snapshot {
        Snapshot {
            config: stored.config,
            title,
            smart: stored.smart,
            events: stored.events,
            saved: stored.saved,
            closed: stored.closed,
        }
    }
}

/// Writes the checkpoint of a log, which begins with this chain; returns its bytes. One that
/// cannot be written whole, or that `stop` ends, leaves nothing.
pub(super) fn write_checkpoint(
    path: &Path,
    log: FrameFileId,
    chain: u64,
    places: &Arc<DataPlaces>,
    snapshot: Snapshot,
    sync: bool,
    stop: &AtomicBool,
) -> Result<u64, LabError> {
    let file = checkpoint_path(path, log.number);
    let part = file.with_extension("part");
    let kind = FrameFileKind::Checkpoint;
    let frames = FrameFileWriter::create(&part, FrameFileId { kind, ..log }, chain, places)?;
    let written = write_part(frames, snapshot, sync, stop);
    let bytes = written.inspect_err(|_| drop(std::fs::remove_file(&part)))?;
    let renamed = std::fs::rename(&part, &file);
    renamed.map_err(|e| LabError::file("writing", &file, e))?;
    if sync {
        sync_folder(path)?;
    }
    Ok(bytes)
}

fn write_part(
    mut frames: FrameFileWriter,
    snapshot: Snapshot,
    sync: bool,
    stop: &AtomicBool,
) -> Result<u64, LabError> {
    let mut append = |record| {
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::refused("the checkpoint was given up", ""));
        }
        frames.append(&record)?;
        frames.commit()
    };
    append(FrameRecord::Header(VERSION, Box::new(snapshot.config)))?;
    append(FrameRecord::Title(snapshot.title))?;
    append(FrameRecord::Smart(Box::new(snapshot.smart)))?;
    for events in snapshot.events.chunks(256) {
        append(FrameRecord::Events(events.to_vec()))?;
    }
    let saved_contents: Vec<(u32, Content)> = snapshot.saved.into_iter().collect();
    for saved in saved_contents.chunks(256) {
        append(FrameRecord::Saved(saved.to_vec()))?;
    }
    append(if snapshot.closed {
        FrameRecord::Closed
    } else {
        FrameRecord::End
    })?;
    if sync {
        frames.sync()?;
    }
    Ok(frames.bytes())
}

impl DirectoryState {
    /// A new drive.
    pub fn new(config: DriveConfig) -> DirectoryState {
        DirectoryState {
            config,
            title: None,
            smart: Smart::default(),
            events: Vec::new(),
            saved: BTreeMap::new(),
            closed: false,
        }
    }

    /// Takes in the next record.
    pub fn take(&mut self, record: FrameRecord) {
        let closes = matches!(record, FrameRecord::Closed);
        // The end of a checkpoint says nothing; anything else means that it was opened again.
        self.closed = closes || (self.closed && matches!(record, FrameRecord::End));
        match record {
            FrameRecord::Header(..) | FrameRecord::End | FrameRecord::Closed => {}
            FrameRecord::Title(title) => self.title = Some(title),
            FrameRecord::Smart(smart) => self.smart = *smart,
            FrameRecord::Saved(slots) => {
                for (lpn, content) in slots {
                    self.count(&content);
                    match content {
                        Some(_) => drop(self.saved.insert(lpn, content)),
                        None => drop(self.saved.remove(&lpn)),
                    }
                }
            }
            FrameRecord::Events(events) => {
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
            Event::Lost { .. } | Event::Noted(_) | Event::Unstable { .. } => {}
        }
    }

    /// The places that what is on media, or saved, has its bytes in.
    pub fn places_in_use(&self, places: &DataPlaces) -> BTreeSet<u32> {
        let mut blocks: BTreeMap<u32, Vec<&Page>> = BTreeMap::new();
        for event in &self.events {
            match event {
                Event::Erased { block } => drop(blocks.remove(block)),
                Event::Programmed { block, page } => blocks.entry(*block).or_default().push(page),
                Event::Lost { .. } | Event::Noted(_) | Event::Unstable { .. } => {}
            }
        }
        let pages = blocks.into_values().flatten();
        let programmed = pages
            .flat_map(|page| &page.slots)
            .map(|spare| &spare.content);
        let contents = programmed.chain(self.saved.values());
        contents
            .filter_map(|content| place_of(content, places))
            .collect()
    }

    /// Slots with bytes in these places are gone.
    pub fn forget_places(&mut self, gone: &BTreeSet<u32>) {
        if gone.is_empty() {
            return;
        }
        let is_gone = |content: &Content| {
            let bytes = content.as_ref().and_then(|content| content.bytes.as_ref());
            let place = bytes.and_then(SlotBytes::place);
            place.is_some_and(|(_, place)| gone.contains(&place))
        };
        for event in &mut self.events {
            if let Event::Programmed { page, .. } = event
                && page.slots.iter().any(|spare| is_gone(&spare.content))
            {
                let slots = &mut Arc::make_mut(page).slots;
                slots.retain(|spare| !is_gone(&spare.content));
            }
        }
        self.saved.retain(|_, content| !is_gone(content));
    }

    /// Numbers go on behind the last one seen.
    fn count(&mut self, content: &Content) {
        let last = content
            .as_ref()
            .map_or(0, |content| content.numbers.highest());
        self.smart.number = self.smart.number.max(last);
    }
}

/// The place of a content's bytes, if it is one of these.
fn place_of(content: &Content, places: &DataPlaces) -> Option<u32> {
    let (shelf, place) = content.as_ref()?.bytes.as_ref()?.place()?;
    (Arc::as_ptr(shelf).addr() == std::ptr::from_ref(places).addr()).then_some(place)
}
