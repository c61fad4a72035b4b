//! `DIR/data`: the bytes of what is on the media, in places of a mapping unit each.
//!
//! The file is mapped. Bytes are read through the mapping; single slots are stored through it too,
//! and runs of neighbours are written by a call (`landing`: received by one), since a store to a
//! page that the system has written back costs a fault. Either has then survived the process.
//! Checkpoints and logs only name the place, with a sum of its bytes.
//!
//! A place is free when nothing names it any more, in memory and in what would be read if the
//! process were killed now. So a place that loses its last holder is *freed* first; it *waits* once
//! what freed it is in frames of the log, and is *ready* when these are written (on a directory
//! that survives the machine: synced). The places that became ready last are kept: their bytes are
//! the past that a damaged log may need. The others are given again, neighbours together (`free`).
//!
//! Bytes that were not named when the process was killed are lost. A place whose bytes
//! are not those of its sum is damage.
#![allow(unsafe_code)]

use super::file::{sync_folder, write_all_at};
use super::free::FreePlaces;
use super::map::DataFileMapping;
use ssdlab_base::LabError;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::caches::prefetch;
use ssdlab_ssd::nand::media::Shelf;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
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
/// Bytes that are written to the file in one piece, instead of stored in memory that is mapped: a
/// store to a page that was written back since costs a fault.
const WRITE_MIN: usize = 16 << 10;
/// Places of a piece of the file, on average, from which a write is received into them.
const PIECE_MIN: usize = 4;

/// Longest write that is received into places, and bytes of all that are on their way.
pub const LANDING_MAX: usize = 1 << 20;
const LANDINGS_MAX: usize = 16 << 20;

/// Where it lies.
pub fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

#[derive(Debug, Default)]
pub(super) struct PlaceEntry {
    holders: AtomicU32,
    /// Bytes of the file are there: it was put, or named, since it was opened.
    was_used: AtomicBool,
    sum: AtomicU64,
}

/// Some entries, made when the first of them is used.
type PlaceChunk = OnceLock<Box<[PlaceEntry]>>;

/// See the module's text.
#[derive(Debug)]
pub(super) struct DataPlaces {
    path: PathBuf,
    /// Bytes of a place, and the number of places that there can be; once the drive is known.
    shape: OnceLock<(usize, usize)>,
    writable: bool,
    file: OnceLock<(File, DataFileMapping)>,
    /// Bytes of the file.
    bytes: AtomicU64,
    /// The file's name may not be on disk.
    is_new: AtomicBool,
    entries: OnceLock<Box<[PlaceChunk]>>,
    free: Mutex<FreePlaces>,
    /// Places taken for writes that are on their way.
    landing: AtomicUsize,
    /// The lock of the directory: held for as long as somebody has bytes of it.
    lock: Mutex<Option<File>>,
    zeroes: OnceLock<Box<[u8]>>,
}

impl DataPlaces {
    /// Those of a directory; nothing is made and nothing is read yet.
    pub fn of(directory: &Path, writable: bool) -> DataPlaces {
        DataPlaces {
            path: path(directory),
            shape: OnceLock::new(),
            writable,
            file: OnceLock::new(),
            bytes: AtomicU64::new(0),
            is_new: AtomicBool::new(false),
            entries: OnceLock::new(),
            free: Mutex::new(FreePlaces::default()),
            landing: AtomicUsize::new(0),
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
        let map = DataFileMapping::new(&file, size * most, self.writable)?;
        self.is_new.store(create, Ordering::Relaxed);
        if self.file.set((file, map)).is_ok() {
            self.bytes.store(bytes, Ordering::Release);
        }
        Ok(())
    }

    pub(super) fn shape(&self) -> (usize, usize) {
        self.shape.get().copied().unwrap_or((0, 0))
    }

    pub(super) fn free(&self) -> MutexGuard<'_, FreePlaces> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn entry(&self, place: u32) -> Option<&PlaceEntry> {
        let place = place as usize;
        let part = self.entries.get()?.get(place / TOGETHER)?;
        let part = part.get_or_init(|| (0..TOGETHER).map(|_| PlaceEntry::default()).collect());
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
        let entry = self.entry(place)?;
        entry.sum.store(sum, Ordering::Relaxed);
        entry.was_used.store(true, Ordering::Relaxed);
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
        free.set_kept((KEPT_BYTES / self.shape().0.max(1) as u64) as usize);
        let places = 0..free.fresh;
        free.are_ready(places.filter(unused));
        free.runs = true;
    }

    /// Keeps `bytes` of ready places, instead of 64 MiB.
    pub fn set_kept(&self, bytes: u64) {
        let kept_places = bytes / self.shape().0.max(1) as u64;
        self.free().set_kept(kept_places as usize);
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
        self.free().reuse();
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

    /// Places for new bytes, in order of address where it can be; `None`: there is no room.
    pub(super) fn take(&self, count: usize) -> Option<Vec<u32>> {
        let mut free = self.free();
        if !free.runs || !self.writable {
            return None;
        }
        while free.lacks(count) && self.grow_by_group(&mut free, false) {}
        while free.wants_spare(count) && self.grow_by_group(&mut free, true) {}
        let mut taken = Vec::with_capacity(count);
        free.take(count, &mut taken);
        if taken.len() < count {
            free.give_back(&taken);
            return None;
        }
        Some(taken)
    }

    /// The same for a write that is still to come, if they are few pieces of the file.
    pub(super) fn take_landing(&self, count: usize) -> Option<Vec<u32>> {
        let on_their_way = (self.landing.load(Ordering::Relaxed) + count) * self.shape().0;
        if on_their_way > LANDINGS_MAX {
            return None;
        }
        let taken = self.take(count)?;
        if count < PIECE_MIN * runs(&taken).count() {
            self.free().give_back(&taken);
            return None;
        }
        self.landing.fetch_add(count, Ordering::Relaxed);
        Some(taken)
    }

    /// `count` places are not on their way any more.
    pub(super) fn has_landed(&self, count: usize) {
        self.landing.fetch_sub(count, Ordering::Relaxed);
    }

    /// Writes to places that were taken.
    pub(super) fn write_at(&self, bytes: &[u8], offset: u64) -> std::io::Result<()> {
        let file = self.file.get().map(|(file, _)| file);
        let file = file.ok_or_else(|| std::io::Error::other("no file"))?;
        write_all_at(file, bytes, offset)
    }

    /// Moves up to `count` bytes from a pipe to places that were taken; returns their number.
    #[cfg(target_os = "linux")]
    pub(super) fn splice_at(
        &self,
        pipe: std::os::fd::BorrowedFd<'_>,
        count: usize,
        mut offset: u64,
    ) -> std::io::Result<usize> {
        use rustix::pipe::{SpliceFlags, splice};
        let file = self.file.get().map(|(file, _)| file);
        let file = file.ok_or_else(|| std::io::Error::other("no file"))?;
        loop {
            match splice(
                pipe,
                None,
                file,
                Some(&mut offset),
                count,
                SpliceFlags::empty(),
            ) {
                Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
                Err(rustix::io::Errno::INTR) => {}
                moved => return Ok(moved?),
            }
        }
    }

    /// Lets the file hold the next group of places, or the next place; whether it does. `spare`: it
    /// could do without.
    fn grow_by_group(&self, free: &mut FreePlaces, spare: bool) -> bool {
        let (size, most) = self.shape();
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        [free.next_fresh(), free.fresh + 1].into_iter().any(|to| {
            let end = u64::from(to) * size as u64;
            let has_room = || !spare || self.file.get().is_some_and(|(file, _)| is_roomy(file));
            let fits = to <= most
                && (end <= self.bytes.load(Ordering::Acquire)
                    || has_room() && self.grow(end).is_ok());
            if fits {
                free.grown(to);
            }
            fits
        })
    }

    /// Lets the file reach to byte `end`, with room for all of it: without room, memory
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

/// Whether the file system has room enough for logs and checkpoints beside spare places.
#[cfg(unix)]
fn is_roomy(file: &File) -> bool {
    let stats = rustix::fs::fstatvfs(file);
    stats.is_ok_and(|stats| {
        let room = stats.f_bavail.saturating_mul(stats.f_frsize);
        stats.f_bavail > stats.f_blocks / 8 && room > 4 * GROWTH.end()
    })
}

/// Whether the file system has room enough for logs and checkpoints beside spare places.
#[cfg(not(unix))]
fn is_roomy(_: &File) -> bool {
    false
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

/// Places that follow each other, as numbers of the list that they are in.
pub(super) fn runs(places: &[u32]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let first = *places.get(at)?;
        let follows = (first..)
            .zip(&places[at..])
            .take_while(|(n, place)| n == *place);
        let run = at..at + follows.count();
        at = run.end;
        Some(run)
    })
}

impl DataPlaces {
    /// Puts bytes into places that follow each other and have no holder.
    fn put_run(&self, places: &[u32], bytes: &[u8]) -> Option<()> {
        let (size, _) = self.shape();
        let (file, map) = self.file.get()?;
        let at = self.begins(*places.first()?);
        let is_new = places.iter().any(|&place| {
            let entry = self.entry(place);
            entry.is_some_and(|entry| !entry.was_used.swap(true, Ordering::Relaxed))
        });
        if is_new || bytes.len() >= WRITE_MIN {
            return write_all_at(file, bytes, at).ok();
        }
        for (&place, bytes) in places.iter().zip(bytes.chunks(size)) {
            // SAFETY: the file is writable and reaches behind every place that is taken; the
            // place has no holder, and it was taken out of the free ones.
            unsafe { map.put(place as usize * size, bytes) };
        }
        Some(())
    }

    /// The bytes of a place are there, with this sum; it has one holder.
    pub(super) fn is_put(&self, place: u32, sum: u64) {
        if let Some(entry) = self.entry(place) {
            entry.sum.store(sum, Ordering::Relaxed);
            entry.holders.store(1, Ordering::Release);
        }
    }
}

impl Shelf for DataPlaces {
    fn put(&self, bytes: &[u8], into: &mut Vec<u32>) -> Option<()> {
        let (size, _) = self.shape();
        if size == 0 || !bytes.len().is_multiple_of(size) {
            return None;
        }
        let places = self.take(bytes.len() / size)?;
        for run in runs(&places) {
            let bytes = &bytes[run.start * size..run.end * size];
            if self.put_run(&places[run], bytes).is_none() {
                self.free().give_back(&places);
                return None;
            }
        }
        for (&place, bytes) in places.iter().zip(bytes.chunks(size)) {
            self.is_put(place, XxHash3_64::oneshot(bytes));
        }
        into.extend(places);
        Some(())
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
