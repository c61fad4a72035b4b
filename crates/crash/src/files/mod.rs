//! Files on a crash disk, for storage engines without a kernel.

mod cache;
mod directories;
mod length;
mod meta;
mod names;
mod rules;
mod sync;

pub use rules::FileSystemRules;

use crate::cut::CutAt;
use crate::disk::CrashDisk;
use crate::error::CrashError;
use crate::report::RecoveryReport;
use meta::{BLOCK, DATA_FIRST, InodeRef, META_BLOCKS, Meta, NameChange, encoded_len};
use ssdlab_ssd::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// An open file. It is good until power is lost, or the file loses its name.
///
/// ```
/// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
/// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
/// # let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
/// let log = files.create("log")?;
/// assert_eq!(files.open("log")?, log);
/// # Ok::<(), ssdlab_crash::CrashError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId(u64);

impl FileId {
    /// Number of the inode, which no other file has while this one is there.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// # let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// assert_ne!(files.create("a")?.number(), files.create("b")?.number());
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn number(self) -> u64 {
        self.0
    }
}

/// A page of the cache: the file, and the page's number in it.
type PageId = (u64, u64);

/// A file system on a [`CrashDisk`], with a page cache that is written back when the seed says so.
///
/// Calls change the cache. What is on the disk at a cut is: everything that [`CrashFiles::fsync`]
/// and [`CrashFiles::sync_dir`] promised, and of the rest what the file system happened to have
/// written back, drawn from the seed within its [`FileSystemRules`], as far as the drive has it.
/// Writing back goes through the disk, and the cut may strike in it. Names are paths such as
/// `db/wal`; the directory
/// `db` must have been made by [`CrashFiles::mkdir`]. There are no symbolic links, permissions or
/// holes to be punched.
///
/// ```
/// use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
///
/// let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
/// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
/// let log = files.create("log")?;
/// files.append(log, b"one")?;
/// files.fsync(log)?;
/// files.sync_dir("")?; // without this, the name may be gone
/// files.append(log, b"two")?; // may be there or not, or in part
/// files.cut()?;
/// files.power_on()?.assert_kept();
/// let log = files.open("log")?;
/// assert_eq!(files.read_at(log, 0, 3)?, b"one");
/// # Ok::<(), ssdlab_crash::CrashError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CrashFiles {
    disk: CrashDisk,
    rules: FileSystemRules,
    rng: Rng,
    /// As programs see it.
    meta: Meta,
    /// As it is on the disk.
    on_disk: Meta,
    /// Changes of names that are not on the disk.
    changes: Vec<NameChange>,
    /// Pages that are newer than the disk.
    dirty: BTreeMap<PageId, Vec<u8>>,
    /// Files whose name replaced another before their data was on the disk, with
    /// [`FileSystemRules::replace_waits_for_data`].
    replaced: BTreeSet<u64>,
    /// The shortest that a file has been since its size was last written to the disk, of those that
    /// have been shortened.
    shortest: BTreeMap<u64, u64>,
    /// From and to which size a file was lengthened at once since then.
    steps: BTreeMap<u64, Vec<Range<u64>>>,
    inode_last: u64,
    sequence: u64,
    /// Calls before the one that is cut.
    calls_left: Option<u64>,
}

fn refused<T>(what: String, hint: &str) -> Result<T, CrashError> {
    Err(CrashError::File {
        what,
        hint: hint.into(),
    })
}

impl CrashFiles {
    /// Makes an empty file system on a disk.
    ///
    /// # Errors
    /// When the disk is smaller than 256 KiB or without power.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let files = CrashFiles::format(disk, FileSystemRules::ext4())?;
    /// assert!(files.list("").is_empty());
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn format(disk: CrashDisk, rules: FileSystemRules) -> Result<CrashFiles, CrashError> {
        let blocks = disk.capacity() / BLOCK;
        if blocks < 4 * DATA_FIRST {
            return refused(
                format!("a disk of {blocks} blocks is too small for files"),
                "give the drive at least 256 KiB of `user_bytes`",
            );
        }
        let mut files = CrashFiles {
            rng: disk.stream("files"),
            disk,
            rules,
            meta: Meta::default(),
            on_disk: Meta::default(),
            changes: Vec::new(),
            dirty: BTreeMap::new(),
            replaced: BTreeSet::new(),
            shortest: BTreeMap::new(),
            steps: BTreeMap::new(),
            inode_last: 0,
            sequence: 0,
            calls_left: None,
        };
        files.commit(&[], &[])?;
        files.commit(&[], &[])?;
        Ok(files)
    }

    /// The disk below.
    pub fn disk(&self) -> &CrashDisk {
        &self.disk
    }

    /// A copy with disk and cache, which goes its own way from here.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// let mut fork = files.fork();
    /// fork.create("a")?;
    /// assert!(fork.exists("a") && !files.exists("a"));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn fork(&self) -> CrashFiles {
        self.clone()
    }

    /// Changes the seed of write-back and of the disk.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut fork = CrashFiles::format(disk, FileSystemRules::posix())?.fork();
    /// fork.reseed(7);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn reseed(&mut self, seed: u64) {
        self.disk.reseed(seed);
        self.rng = self.disk.stream("files");
    }

    /// Arms a cut at the nth call from now, counted from 0: just before it, or at an event of the
    /// drive in it, as the seed has it.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.arm_call(1);
    /// files.create("a")?;
    /// let lost = files.create("b").and_then(|_| files.create("c"));
    /// assert!(lost.unwrap_err().is_power());
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn arm_call(&mut self, nth: u64) {
        self.calls_left = Some(nth);
    }

    /// Cuts the power now. Before that, the file system writes back what the seed says.
    ///
    /// # Errors
    /// When power is off.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.cut()?;
    /// assert!(files.create("a").unwrap_err().is_power());
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn cut(&mut self) -> Result<(), CrashError> {
        self.disk.powered()?;
        self.calls_left = None;
        if self.rng.percent(50) {
            let events = self.rng.below(24);
            self.disk.arm(CutAt::Event(events));
        }
        match self.write_back_some() {
            Err(error) if !error.is_power() => return Err(error),
            _ => {}
        }
        if self.disk.is_on() {
            self.disk.cut()?;
        }
        Ok(())
    }

    /// Switches power on, and mounts what is on the disk.
    ///
    /// # Errors
    /// When power is on; when the drive has lost both copies of the names, which an honest one
    /// does not.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.cut()?;
    /// files.power_on()?.assert_kept();
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn power_on(&mut self) -> Result<RecoveryReport, CrashError> {
        let report = self.disk.power_on()?;
        self.dirty.clear();
        self.changes.clear();
        self.replaced.clear();
        self.shortest.clear();
        self.steps.clear();
        self.calls_left = None;
        let mut newest: Option<(u64, Meta)> = None;
        for copy in 0..2 {
            let copy_offset = copy * self.meta_blocks() * BLOCK;
            let least = (META_BLOCKS * BLOCK) as usize;
            let mut bytes = self.disk.read(copy_offset, least)?;
            let most = (self.meta_blocks() * BLOCK) as usize;
            let length = encoded_len(&bytes).min(most).next_multiple_of(512);
            if length > least {
                bytes = self.disk.read(copy_offset, length)?;
            }
            let decoded = Meta::decode(&bytes);
            let is_newer = |old: &(u64, Meta)| decoded.as_ref().is_some_and(|new| new.0 > old.0);
            if newest.as_ref().is_none_or(is_newer) {
                newest = decoded.or(newest);
            }
        }
        let Some((sequence, mut meta)) = newest else {
            return refused(
                "neither copy of the names is whole".into(),
                "the drive broke its promises: the report of its power_on() says which",
            );
        };
        meta.tidy();
        self.sequence = sequence;
        let numbers = meta.names.values().map(|named| named.number());
        self.inode_last = numbers.max().unwrap_or(0);
        self.on_disk = meta.clone();
        self.meta = meta;
        Ok(report)
    }

    /// Blocks of each copy of the names: enough for the places of as many pages as the disk has
    /// blocks, and at least as many as a small disk always had.
    fn meta_blocks(&self) -> u64 {
        META_BLOCKS.max(self.disk.capacity() / BLOCK / 128)
    }

    /// Every call begins here.
    fn call(&mut self) -> Result<(), CrashError> {
        self.disk.powered()?;
        match self.calls_left {
            Some(0) => {
                self.calls_left = None;
                if self.rng.percent(50) {
                    // Inside the call, or in the calls after it.
                    let events = self.rng.below(16);
                    self.disk.arm(CutAt::Event(events));
                    self.calls_left = Some(u64::MAX);
                    return Ok(());
                }
                self.cut()?;
                Err(CrashError::PowerLost {
                    at: self.disk.now(),
                    recovery: None,
                })
            }
            Some(u64::MAX) => {
                self.cut()?;
                Err(CrashError::PowerLost {
                    at: self.disk.now(),
                    recovery: None,
                })
            }
            Some(left) => {
                self.calls_left = Some(left - 1);
                self.sometimes_write_back()
            }
            None => self.sometimes_write_back(),
        }
    }

    fn sometimes_write_back(&mut self) -> Result<(), CrashError> {
        if self.rng.percent(6) {
            self.write_back_some()?;
        }
        Ok(())
    }

    /// Makes an empty file.
    ///
    /// # Errors
    /// When the name is taken or empty or its directory is not there, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.mkdir("db")?;
    /// files.create("db/log")?;
    /// assert!(files.create("db/log").unwrap_err().hint().contains("open()"));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn create(&mut self, name: &str) -> Result<FileId, CrashError> {
        self.call()?;
        let entry = self.free_place(name)?;
        self.inode_last += 1;
        self.change(NameChange::Create(entry, self.inode_last));
        Ok(FileId(self.inode_last))
    }

    fn change(&mut self, change: NameChange) {
        self.meta.apply(&change);
        self.changes.push(change);
        let inodes = &self.meta.inodes;
        self.dirty
            .retain(|(inode, _), _| inodes.contains_key(inode));
    }

    fn named(&self, name: &str) -> Result<u64, CrashError> {
        match self.found(name) {
            Some(InodeRef::File(inode)) => Ok(inode),
            Some(InodeRef::Directory(_)) => refused(
                format!("`{name}` is a directory"),
                "give the name of a file in it; sync_dir() and rmdir() are for directories",
            ),
            None => refused(
                format!("no file is named `{name}`"),
                "create() it; after a cut, a name is there only if its directory was synced",
            ),
        }
    }

    /// Opens a file.
    ///
    /// # Errors
    /// When no file has that name, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// assert!(files.open("log").is_err());
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn open(&mut self, name: &str) -> Result<FileId, CrashError> {
        self.call()?;
        self.named(name).map(FileId)
    }

    fn known(&self, file: FileId) -> Result<u64, CrashError> {
        if self.meta.inodes.contains_key(&file.0) {
            return Ok(file.0);
        }
        refused(
            "the file is gone: unlinked, replaced, or lost in a cut".into(),
            "open() it again by its name",
        )
    }

    /// Bytes of a file.
    ///
    /// # Errors
    /// When the file is gone.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// let log = files.create("log")?;
    /// files.append(log, &[1; 5000])?;
    /// assert_eq!(files.size(log)?, 5000);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn size(&self, file: FileId) -> Result<u64, CrashError> {
        let inode = self.known(file)?;
        Ok(self.meta.inodes.get(&inode).map_or(0, |inode| inode.size))
    }

    /// Writes behind the end of a file; returns where.
    ///
    /// # Errors
    /// As [`CrashFiles::write_at`].
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// let log = files.create("log")?;
    /// assert_eq!((files.append(log, b"ab")?, files.append(log, b"c")?), (0, 2));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn append(&mut self, file: FileId, bytes: &[u8]) -> Result<u64, CrashError> {
        let end_offset = self.size(file)?;
        self.write_at(file, end_offset, bytes)?;
        Ok(end_offset)
    }

    /// Writes into a file, which grows when it has to.
    ///
    /// # Errors
    /// When the file is gone or the disk is full, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// let page = files.create("pages")?;
    /// files.write_at(page, 4096, &[1; 10])?;
    /// assert_eq!(files.read_at(page, 4095, 2)?, [0, 1]);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn write_at(&mut self, file: FileId, offset: u64, bytes: &[u8]) -> Result<(), CrashError> {
        self.call()?;
        let inode = self.known(file)?;
        let end = offset + bytes.len() as u64;
        self.grow(inode, end)?;
        let mut position = offset;
        while position < end {
            let (page, within) = (position / BLOCK, (position % BLOCK) as usize);
            let until = end.min((page + 1) * BLOCK);
            let mut content = self.page(inode, page)?;
            let from = &bytes[(position - offset) as usize..(until - offset) as usize];
            content[within..within + from.len()].copy_from_slice(from);
            self.dirty.insert((inode, page), content);
            position = until;
        }
        Ok(())
    }

    /// Reads from a file: less than asked for at its end.
    ///
    /// # Errors
    /// When the file is gone, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// let log = files.create("log")?;
    /// files.append(log, b"abc")?;
    /// assert_eq!(files.read_at(log, 1, 100)?, b"bc");
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn read_at(
        &mut self,
        file: FileId,
        offset: u64,
        len: usize,
    ) -> Result<Vec<u8>, CrashError> {
        self.call()?;
        let inode = self.known(file)?;
        let end = (offset + len as u64).min(self.size(file)?);
        let mut bytes = Vec::new();
        let mut position = offset;
        while position < end {
            let (page, within) = (position / BLOCK, (position % BLOCK) as usize);
            let until = end.min((page + 1) * BLOCK);
            let content = self.page(inode, page)?;
            bytes.extend_from_slice(&content[within..within + (until - position) as usize]);
            position = until;
        }
        Ok(bytes)
    }

    /// Makes the bytes and the size of a file durable, and with
    /// [`FileSystemRules::fsync_commits_names`] all names.
    ///
    /// # Errors
    /// When the file is gone or the disk is full, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// let log = files.create("log")?;
    /// files.fsync(log)?;
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn fsync(&mut self, file: FileId) -> Result<(), CrashError> {
        self.call()?;
        let inode = self.known(file)?;
        self.sync(inode)
    }

    /// Makes the creations, renames and removals in a directory durable; `""` is the root. The name
    /// of the directory itself is one of the directory above.
    ///
    /// # Errors
    /// When there is no such directory, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.mkdir("db")?;
    /// files.create("db/log")?;
    /// files.sync_dir("db")?; // the log's name in it
    /// files.sync_dir("")?; // its own name in the root
    /// files.cut()?;
    /// files.power_on()?;
    /// assert!(files.exists("db/log"));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn sync_dir(&mut self, directory: &str) -> Result<(), CrashError> {
        self.call()?;
        let directory_inode = self.directory(directory)?;
        self.sync_names(directory_inode)
    }
}
