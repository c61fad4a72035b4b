//! Syncs of data alone and of everything, and a cut in the recovery.

use super::{CrashFiles, FileId};
use crate::cut::CutAt;
use crate::error::CrashError;

impl CrashFiles {
    /// Makes the bytes of a file durable, as fdatasync(2) does. Where the disk knows the file's
    /// size and places already, no names go with it: with
    /// [`fsync_commits_names`](super::FileSystemRules::fsync_commits_names) only a commit takes
    /// them along.
    ///
    /// # Errors
    /// As [`CrashFiles::fsync`].
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// let log = files.create("log")?;
    /// files.append(log, b"one")?;
    /// files.fdatasync(log)?; // its size has changed: as an fsync
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
