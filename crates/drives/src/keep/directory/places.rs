//! `DIR/data`: the bytes of what is on the media, in places of a mapping unit each.
//!
//! The file is mapped: what a host writes is copied into a place once, and has then survived the
//! process. Checkpoints and logs only name the place, with a sum of its bytes.
//!
//! A place is free when nothing names it any more, in memory and in what would be read if the
//! process were killed now. So a place that loses its last holder is *freed* first; it *waits* once
//! what freed it is in frames of the log, and is *ready* when these are written (on a directory
//! that survives the machine: synced). Ready places are used again in the order in which they
//! became ready, and only beyond a reserve: their bytes are the past that a damaged log may need.
//!
//! Of bytes that were not named when the process was killed, nothing is left. A place whose bytes
//! are not those of its sum is damage.
#![allow(unsafe_code)]

use super::file::sync_folder;
use super::map::Map;
use ssdlab_base::LabError;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::caches::prefetch;
use ssdlab_ssd::nand::media::Shelf;
use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use twox_hash::XxHash3_64;

/// The file's name.
const NAME: &str = "data";
/// Entries that are made together.
const TOGETHER: usize = 4096;
/// The file grows by an eighth of itself, within these bounds.
const GROWTH: std::ops::RangeInclusive<u64> = 256 << 10..=64 << 20;
/// Ready places that are kept as they are, and places that may wait for a sync, bytes.
const KEPT_BYTES: u64 = 64 << 20;

/// Where it lies.
pub fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

#[derive(Debug, Default)]
struct Entry {
    holders: AtomicU32,
    sum: AtomicU64,
}

/// Some entries, made when the first of them is used.
type Part = OnceLock<Box<[Entry]>>;

/// Places without a holder.
#[derive(Debug, Default)]
struct Free {
    /// Everything is read: places are freed and used from now on.
    runs: bool,
    /// The first place that was never used.
    fresh: u32,
    /// Without a holder, and named by what is not in the log yet.
    freed: Vec<u32>,
    /// What freed them is in frames of the log.
    waiting: Vec<u32>,
    ready: VecDeque<u32>,
    /// Number of ready places that are kept.
    kept: usize,
}

/// See the module's text.
#[derive(Debug)]
pub(super) struct Places {
    path: PathBuf,
    /// Bytes of a place, and the number of places that there can be; once the drive is known.
    shape: OnceLock<(usize, usize)>,
    writable: bool,
    file: OnceLock<(File, Map)>,
    /// Bytes of the file.
    bytes: AtomicU64,
    /// The file's name may not be on disk.
    is_new: AtomicBool,
    entries: OnceLock<Box<[Part]>>,
    free: Mutex<Free>,
    /// The lock of the directory: held for as long as somebody has bytes of it.
    lock: Mutex<Option<File>>,
    zeroes: OnceLock<Box<[u8]>>,
}

impl Places {
    /// Those of a directory; nothing is made and nothing is read yet.
    pub fn of(directory: &Path, writable: bool) -> Places {
        Places {
            path: path(directory),
            shape: OnceLock::new(),
            writable,
            file: OnceLock::new(),
            bytes: AtomicU64::new(0),
            is_new: AtomicBool::new(false),
            entries: OnceLock::new(),
            free: Mutex::new(Free::default()),
            lock: Mutex::new(None),
            zeroes: OnceLock::new(),
        }
    }

    /// The drive is known: opens the file, if there is one.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn are_of(&self, config: &DriveConfig) -> Result<(), LabError> {
        let size = config.shape.slot_bytes as usize;
        let geometry = config.geometry();
        let slots = geometry.raw_bytes().max(config.user_bytes) / size as u64;
        // Some are in the buffer, on their way, and freed but not ready.
        let most = (2 * slots + (4 * KEPT_BYTES / size as u64)).min(u64::from(u32::MAX)) as usize;
        let (known, _) = *self.shape.get_or_init(|| (size, most));
        if known != size {
            return Err(LabError::refused(
                format!(
                    "{}: places of {known} and of {size} bytes",
                    self.path.display()
                ),
                "",
            ));
        }
        self.entries.get_or_init(|| {
            let parts = most.div_ceil(TOGETHER);
            (0..parts).map(|_| OnceLock::new()).collect()
        });
        self.zeroes.get_or_init(|| vec![0; size].into());
        if self.path.exists() && self.file.get().is_none() {
            self.open(false)
                .map_err(|e| LabError::file("opening", &self.path, e))?;
        }
        Ok(())
    }

    fn open(&self, create: bool) -> std::io::Result<()> {
        let mut options = File::options();
        let options = options.read(true).write(self.writable).create(create);
        let file = options.truncate(false).open(&self.path)?;
        let bytes = file.metadata()?.len();
        let (size, most) = self.shape();
        let map = Map::new(&file, size * most, self.writable)?;
        self.is_new.store(create, Ordering::Relaxed);
        if self.file.set((file, map)).is_ok() {
            self.bytes.store(bytes, Ordering::Release);
        }
        Ok(())
    }

    fn shape(&self) -> (usize, usize) {
        self.shape.get().copied().unwrap_or((0, 0))
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entry(&self, place: u32) -> Option<&Entry> {
        let place = place as usize;
        let part = self.entries.get()?.get(place / TOGETHER)?;
        let part = part.get_or_init(|| (0..TOGETHER).map(|_| Entry::default()).collect());
        part.get(place % TOGETHER)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the directory's lock for as long as anybody has bytes of it.
    pub fn keep_lock(&self, lock: File) {
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = Some(lock);
    }

    /// A file names a place, whose bytes have this sum; returns their number. `None`: there can be
    /// no such place.
    pub fn named(&self, place: u32, sum: u64) -> Option<u32> {
        let (size, most) = self.shape();
        if place as usize >= most {
            return None;
        }
        self.entry(place)?.sum.store(sum, Ordering::Relaxed);
        let mut free = self.free();
        free.fresh = free.fresh.max(place + 1);
        Some(size as u32)
    }

    /// Whether the bytes of a place are those that were put there.
    pub fn is_whole(&self, place: u32) -> bool {
        let (size, _) = self.shape();
        let end = (u64::from(place) + 1) * size as u64;
        end <= self.bytes.load(Ordering::Acquire)
            && XxHash3_64::oneshot(self.bytes(place)) == self.sum(place)
    }

    /// First byte of a place in the file.
    pub fn begins(&self, place: u32) -> u64 {
        u64::from(place) * self.shape().0 as u64
    }

    /// All files are read, and what they name has holders: everything else is ready.
    pub fn run(&self) {
        let mut free = self.free();
        let unused = |&place: &u32| {
            let entry = self.entry(place);
            entry.is_some_and(|entry| entry.holders.load(Ordering::Acquire) == 0)
        };
        free.ready = (0..free.fresh).filter(unused).collect();
        free.kept = (KEPT_BYTES / self.shape().0.max(1) as u64) as usize;
        free.runs = true;
    }

    /// Keeps the bytes of `kept` ready places, instead of 64 MiB.
    pub fn set_kept(&self, bytes: u64) {
        self.free().kept = (bytes / self.shape().0.max(1) as u64) as usize;
    }

    /// No place is given.
    #[cfg(test)]
    pub fn set_none(&self) {
        self.free().runs = false;
    }

    /// Number of places that were ever used.
    #[cfg(test)]
    pub fn fresh(&self) -> u32 {
        self.free().fresh
    }

    /// What has freed places until now is in frames of the log.
    pub fn logged(&self) {
        let free = &mut *self.free();
        free.waiting.append(&mut free.freed);
    }

    /// These frames will be read, whatever happens.
    pub fn reuse(&self) {
        let free = &mut *self.free();
        free.ready.extend(free.waiting.drain(..));
    }

    /// Whether many places wait for a sync.
    pub fn many_wait(&self) -> bool {
        let waiting = self.free().waiting.len() as u64;
        waiting * self.shape().0 as u64 > KEPT_BYTES
    }

    /// All bytes that were put are on disk.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn sync(&self) -> Result<(), LabError> {
        let Some((file, _)) = self.file.get() else {
            return Ok(());
        };
        let synced = file.sync_data();
        synced.map_err(|error| LabError::file("syncing", &self.path, error))?;
        match (
            self.is_new.swap(false, Ordering::Relaxed),
            self.path.parent(),
        ) {
            (true, Some(folder)) => sync_folder(folder),
            _ => Ok(()),
        }
    }

    /// A place for new bytes.
    fn take(&self) -> Option<u32> {
        let mut free = self.free();
        if !free.runs || !self.writable {
            return None;
        }
        if free.ready.len() > free.kept {
            return free.ready.pop_front();
        }
        let (size, most) = self.shape();
        let end = (u64::from(free.fresh) + 1) * size as u64;
        let fits = (free.fresh as usize) < most
            && (end <= self.bytes.load(Ordering::Acquire) || self.grow(end).is_ok());
        if !fits {
            return free.ready.pop_front();
        }
        free.fresh += 1;
        Some(free.fresh - 1)
    }

    /// Lets the file reach to byte `end`, with room for all of it: where there is none, memory
    /// that is mapped could not be written later.
    fn grow(&self, end: u64) -> std::io::Result<()> {
        if self.file.get().is_none() {
            self.open(true)?;
        }
        let Some((file, _)) = self.file.get() else {
            return Err(std::io::Error::other("no file"));
        };
        let bytes = self.bytes.load(Ordering::Acquire);
        let (size, most) = self.shape();
        let more = (bytes / 8).clamp(*GROWTH.start(), *GROWTH.end());
        let to = end.max((bytes + more).min((size * most) as u64));
        let to = to.next_multiple_of(size as u64);
        reserve(file, bytes, to)?;
        self.bytes.store(to, Ordering::Release);
        Ok(())
    }
}

/// Room for the bytes `from..to` of a file.
#[cfg(not(unix))]
fn reserve(_: &File, _: u64, _: u64) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Room for the bytes `from..to` of a file.
#[cfg(unix)]
fn reserve(file: &File, from: u64, to: u64) -> std::io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    match fallocate(file, FallocateFlags::empty(), from, to - from) {
        Ok(()) => Ok(()),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            let zeroes = vec![0; (to - from) as usize];
            super::file::write_all_at(file, &zeroes, from)
        }
        Err(error) => Err(error.into()),
    }
}

impl Shelf for Places {
    fn put(&self, bytes: &[u8]) -> Option<u32> {
        let (size, _) = self.shape();
        if bytes.len() != size {
            return None;
        }
        let place = self.take()?;
        let (Some(entry), Some((_, map))) = (self.entry(place), self.file.get()) else {
            return None;
        };
        entry
            .sum
            .store(XxHash3_64::oneshot(bytes), Ordering::Relaxed);
        // SAFETY: the file is writable and reaches behind every place that `take` gives; nobody
        // holds the place, and it was taken out of the free ones.
        unsafe { map.put(place as usize * size, bytes) };
        entry.holders.store(1, Ordering::Release);
        Some(place)
    }

    fn bytes(&self, place: u32) -> &[u8] {
        let (size, _) = self.shape();
        let end = (u64::from(place) + 1) * size as u64;
        match self.file.get() {
            // SAFETY: inside the file, and not put while it has a holder.
            Some((_, map)) if end <= self.bytes.load(Ordering::Acquire) => unsafe {
                map.bytes(place as usize * size, size)
            },
            // A damaged file: it is found by the sum.
            _ => self.zeroes.get().map_or(&[], |zeroes| zeroes),
        }
    }

    fn sum(&self, place: u32) -> u64 {
        let entry = self.entry(place);
        entry.map_or(0, |entry| entry.sum.load(Ordering::Relaxed))
    }

    fn prefetch(&self, place: u32) {
        let place = place as usize;
        let parts = self
            .entries
            .get()
            .and_then(|parts| parts.get(place / TOGETHER));
        if let Some(part) = parts.and_then(OnceLock::get) {
            prefetch(part, place % TOGETHER);
        }
    }

    fn hold(&self, place: u32) {
        if let Some(entry) = self.entry(place) {
            entry.holders.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn release(&self, place: u32) {
        let Some(entry) = self.entry(place) else {
            return;
        };
        if entry.holders.fetch_sub(1, Ordering::AcqRel) == 1 {
            let mut free = self.free();
            if free.runs {
                free.freed.push(place);
            }
        }
    }
}
