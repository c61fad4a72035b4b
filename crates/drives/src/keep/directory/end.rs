//! `DIR/end`: how far the log was acknowledged. Without it, a log that lost its end at the border
//! of two frames would look complete.
//!
//! ```text
//! slot = magic "ssdlabKE" | turn u64 | directory u64 | boot u64 | flags u64 | log u64 | bytes u64
//!        | frames u64 | chain u64 | synced u64 | sum u64
//! ```
//! Two slots, in sectors of their own, are written in turn, so that one is whole at any moment; the
//! one of the higher turn counts. It is written after the log and before the acknowledgement: so
//! the log is never shorter than it says, unless something was lost.

use super::file::{le_u64, write_all_at};
use ssdlab_base::LabError;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_64;

const MAGIC: [u8; 8] = *b"ssdlabKE";
/// Bytes from one slot to the next, and of a slot.
const STEP: usize = 512;
const SLOT: usize = 88;
/// The file's name.
const NAME: &str = "end";

/// How far the log was acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogEnd {
    /// Drawn when the directory was made.
    pub directory: u64,
    /// The run of the machine in which it was written; 0: unknown.
    pub boot: u64,
    /// Whether files were synced, so that the directory survives the machine.
    pub host: bool,
    /// Number of the log.
    pub log: u64,
    /// Its bytes; 0: it has not begun.
    pub bytes: u64,
    /// Its frames.
    pub frames: u64,
    /// The chain behind them.
    pub chain: u64,
    /// Its bytes that were on disk for certain.
    pub synced: u64,
}

impl LogEnd {
    /// Whether the machine may have crashed since, on a directory that survives that: then only
    /// what was synced is certain.
    pub fn may_have_crashed(&self, boot: u64) -> bool {
        self.host && (self.boot != boot || boot == 0)
    }

    /// Whether log `number` must be there.
    pub fn needs(&self, number: u64) -> bool {
        self.log > number || (self.log == number && self.bytes > 0)
    }

    fn slot(&self, turn: u64) -> [u8; SLOT] {
        let words = [
            turn,
            self.directory,
            self.boot,
            u64::from(self.host),
            self.log,
            self.bytes,
            self.frames,
            self.chain,
            self.synced,
        ];
        let mut slot = [0; SLOT];
        slot[..8].copy_from_slice(&MAGIC);
        for (to, word) in slot[8..].chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        let sum = XxHash3_64::oneshot(&slot[..SLOT - 8]);
        slot[SLOT - 8..].copy_from_slice(&sum.to_le_bytes());
        slot
    }

    fn of_slot(slot: &[u8]) -> Option<(u64, LogEnd)> {
        let word = |n: usize| le_u64(&slot[8 * n..8 * n + 8]);
        let end = LogEnd {
            directory: word(2),
            boot: word(3),
            host: word(4) != 0,
            log: word(5),
            bytes: word(6),
            frames: word(7),
            chain: word(8),
            synced: word(9),
        };
        let turn = word(1);
        (end.slot(turn) == slot).then_some((turn, end))
    }
}

/// The present run of the machine, as a number; 0 where the system does not say.
pub fn boot() -> u64 {
    let id = std::fs::read("/proc/sys/kernel/random/boot_id");
    id.map_or(0, |id| XxHash3_64::oneshot(&id).max(1))
}

/// Where it lies.
pub fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

/// Reads it: the newest whole slot with its turn, and the number of slots that are whole.
///
/// # Errors
/// When the file cannot be read; one that is missing or has no whole slot is `None`.
pub fn read(directory: &Path) -> Result<Option<(u64, LogEnd, usize)>, LabError> {
    let path = path(directory);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LabError::file("reading", path, error)),
    };
    let slots = [0, STEP].map(|offset| bytes.get(offset..offset + SLOT).and_then(LogEnd::of_slot));
    let whole = slots.iter().flatten().count();
    let newest = slots.into_iter().flatten().max_by_key(|(turn, _)| *turn);
    Ok(newest.map(|(turn, end)| (turn, end, whole)))
}

/// The file, open for writing.
#[derive(Debug)]
pub struct LogEndFile {
    path: PathBuf,
    file: File,
    turn: u64,
    /// What it says.
    pub end: LogEnd,
}

impl LogEndFile {
    /// Makes it, on disk.
    pub fn create(directory: &Path, end: LogEnd) -> Result<LogEndFile, LabError> {
        let path = path(directory);
        let file = File::create(&path).map_err(|e| LabError::file("creating", &path, e))?;
        let mut end_file = LogEndFile {
            path,
            file,
            turn: 0,
            end,
        };
        end_file.put(end)?;
        end_file.put(end)?;
        end_file.sync()?;
        Ok(end_file)
    }

    /// Opens it where its newest slot has this turn.
    pub fn open(directory: &Path, turn: u64, end: LogEnd) -> Result<LogEndFile, LabError> {
        let path = path(directory);
        let opened = File::options().write(true).open(&path);
        let file = opened.map_err(|e| LabError::file("opening", &path, e))?;
        Ok(LogEndFile {
            path,
            file,
            turn,
            end,
        })
    }

    /// Says something new; returns whether it was new.
    pub fn say(&mut self, end: LogEnd) -> Result<bool, LabError> {
        if end == self.end {
            return Ok(false);
        }
        self.put(end)?;
        Ok(true)
    }

    fn put(&mut self, end: LogEnd) -> Result<(), LabError> {
        let turn = self.turn + 1;
        let slot_offset = STEP as u64 * (turn % 2);
        let written = write_all_at(&self.file, &end.slot(turn), slot_offset);
        written.map_err(|error| LabError::file("writing", &self.path, error))?;
        (self.turn, self.end) = (turn, end);
        Ok(())
    }

    /// It is on disk.
    pub fn sync(&mut self) -> Result<(), LabError> {
        let synced = self.file.sync_all();
        synced.map_err(|error| LabError::file("syncing", &self.path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The newest slot counts; one that is damaged leaves the one before it, two leave nothing.
    #[test]
    fn one_slot_is_whole_at_any_moment() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(read(folder.path()).expect("readable").is_none());
        let end = |bytes| LogEnd {
            directory: 3,
            log: 1,
            bytes,
            ..LogEnd::default()
        };
        let mut file = LogEndFile::create(folder.path(), end(0)).expect("made");
        assert!(!file.say(end(0)).expect("nothing new"));
        assert!(file.say(end(10)).expect("said"));
        assert!(file.say(end(20)).expect("said"));
        let (turn, found, whole) = read(folder.path()).expect("readable").expect("whole");
        assert_eq!((turn, found, whole), (4, end(20), 2));
        let path = path(folder.path());
        let bytes = std::fs::read(&path).expect("there");
        for bit in 0..SLOT * 8 {
            let mut one = bytes.clone();
            one[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &one).expect("written");
            let (_, found, whole) = read(folder.path())
                .expect("readable")
                .expect("one is whole");
            assert_eq!((found, whole), (end(10), 1), "bit {bit}");
            one[STEP + bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &one).expect("written");
            assert!(
                read(folder.path()).expect("readable").is_none(),
                "bit {bit}"
            );
        }
    }
}
