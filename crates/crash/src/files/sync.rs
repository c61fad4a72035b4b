//! Weaker syncs, one of everything, what none has covered yet, and a cut in the recovery.

use super::meta::NameChange;
use super::{CrashFiles, FileId};
use crate::cut::CutAt;
use crate::error::CrashError;
use ssdlab_ssd::Nanos;
use std::collections::BTreeSet;

impl CrashFiles {
    /// As fdatasync(2): [`CrashFiles::fsync`] without the commit of a journal when neither the size
    /// nor a block of the file has changed.
    ///
    /// # Errors
    /// As [`CrashFiles::fsync`].
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::ext4())?;
    /// let log = files.create("log")?;
    /// files.append(log, b"one")?;
    /// files.fdatasync(log)?; // the size is new: the journal is committed, with all names
    /// assert!(files.pending().is_empty());
    /// files.create("other")?;
    /// files.write_at(log, 0, b"two")?;
    /// files.fdatasync(log)?; // nothing of the inode is new: the other name stays behind
    /// assert_eq!(files.pending(), ["the name `other`"]);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn fdatasync(&mut self, file: FileId) -> Result<(), CrashError> {
        self.call()?;
        let inode = self.known(file)?;
        self.write_back(inode)?;
        if self.has_changed(inode) {
            self.sync(inode)
        } else {
            self.disk.flush()
        }
    }

    /// As sync_file_range(2) with all of its flags: the pages of a file are sent to the drive and
    /// acknowledged. Neither its size nor its blocks are committed, and no FLUSH is sent: nothing
    /// is durable after it.
    ///
    /// # Errors
    /// As [`CrashFiles::fsync`].
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::ext4())?;
    /// let log = files.create("log")?;
    /// files.append(log, b"one")?;
    /// files.write_out(log)?;
    /// assert_eq!(files.pending(), ["the size of `log`", "the name `log`"]);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn write_out(&mut self, file: FileId) -> Result<(), CrashError> {
        self.call()?;
        let inode = self.known(file)?;
        self.write_back(inode)
    }

    /// What no sync has made durable yet: data and sizes of files by their names, then changes of
    /// names. Data that [`CrashFiles::write_out`] sent within a committed size is not listed.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// let log = files.create("log")?;
    /// files.append(log, b"one")?;
    /// assert_eq!(files.pending()[0], "data of `log`");
    /// files.fsync(log)?;
    /// assert_eq!(files.pending(), ["the name `log`"]);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn pending(&self) -> Vec<String> {
        let mut pending = Vec::new();
        let dirty: BTreeSet<u64> = self.dirty.keys().map(|page| page.0).collect();
        for (&inode, content) in &self.meta.inodes {
            let Some(path) = self.path_of(inode) else {
                continue;
            };
            let old = self.on_disk.inodes.get(&inode);
            if dirty.contains(&inode) {
                pending.push(format!("data of `{path}`"));
            } else if content.size != old.map_or(0, |old| old.size) {
                pending.push(format!("the size of `{path}`"));
            }
        }
        let changes = self.changes.iter().map(|change| self.in_words(change));
        pending.extend(changes);
        pending
    }

    fn in_words(&self, change: &NameChange) -> String {
        let path = |entry: &(u64, String)| match self.path_of(entry.0) {
            Some(directory) if !directory.is_empty() => format!("{directory}/{}", entry.1),
            _ => entry.1.clone(),
        };
        match change {
            NameChange::Create(entry, _) | NameChange::Link(entry, _) => {
                format!("the name `{}`", path(entry))
            }
            NameChange::MakeDirectory(entry, _) => format!("the directory `{}`", path(entry)),
            NameChange::Unlink(entry) | NameChange::RemoveDirectory(entry, _) => {
                format!("the removal of `{}`", path(entry))
            }
            NameChange::Rename(from, to) | NameChange::Move { from, to, .. } => {
                format!("the rename of `{}` to `{}`", path(from), path(to))
            }
        }
    }

    /// A path of a file; `None`: it has no name.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.mkdir("db")?;
    /// let log = files.create("db/log")?;
    /// assert_eq!(files.name_of(log).as_deref(), Some("db/log"));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn name_of(&self, file: FileId) -> Option<String> {
        self.path_of(file.number())
    }

    /// A path of a file or directory; empty for the root, `None` for what has no name.
    fn path_of(&self, number: u64) -> Option<String> {
        let mut names = Vec::new();
        let mut number = number;
        while number != super::meta::ROOT {
            let named = |(_, inode): &(_, &super::meta::InodeRef)| inode.number() == number;
            let (entry, _) = self.meta.names.iter().find(named)?;
            names.push(entry.1.as_str());
            number = entry.0;
        }
        names.reverse();
        Some(names.join("/"))
    }

    /// Lets time pass: the drive works on.
    ///
    /// # Errors
    /// When power is off, or an armed cut strikes.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules, Nanos};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// let start = files.disk().now();
    /// files.rest(Nanos::from_millis(5))?;
    /// assert!(files.disk().now() >= start + Nanos::from_millis(5));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn rest(&mut self, time: Nanos) -> Result<(), CrashError> {
        self.disk.rest(time)
    }

    /// Makes everything durable, as sync(2) does: all files and all names.
    ///
    /// # Errors
    /// When the disk is full, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.mkdir("db")?;
    /// files.create("db/log")?;
    /// files.sync_all()?;
    /// files.cut()?;
    /// files.power_on()?;
    /// assert!(files.exists("db/log"));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn sync_all(&mut self) -> Result<(), CrashError> {
        self.call()?;
        let inodes: Vec<u64> = self.meta.inodes.keys().copied().collect();
        for &inode in &inodes {
            self.write_back(inode)?;
        }
        let changed = inodes.iter().filter(|&&inode| self.has_changed(inode));
        let sizes: Vec<(u64, u64)> = changed
            .map(|inode| (*inode, self.meta.inodes.get(inode).map_or(0, |of| of.size)))
            .collect();
        if self.changes.is_empty() && sizes.is_empty() {
            return self.disk.flush();
        }
        let names: Vec<usize> = (0..self.changes.len()).collect();
        self.commit(&names, &sizes)
    }

    /// Arms a cut inside the next recovery, after this share of it in thousandths; see
    /// [`CutAt::Recovery`].
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.cut()?;
    /// files.arm_recovery(500);
    /// assert!(files.power_on().unwrap_err().is_power());
    /// files.power_on()?.assert_kept();
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn arm_recovery(&mut self, share: u16) {
        self.disk.arm(CutAt::Recovery(share));
    }
}
