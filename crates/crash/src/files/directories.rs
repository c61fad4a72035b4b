//! Directories: where a path leads, and how they are made, moved and removed.

use super::meta::{DirEntryKey, InodeRef, NameChange, ROOT};
use super::{CrashFiles, refused};
use crate::error::CrashError;

/// The directory of a path, and the name in it.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

impl CrashFiles {
    /// The directories along a path, from the root to itself.
    fn chain(&self, path: &str) -> Result<Vec<u64>, CrashError> {
        let mut chain = vec![ROOT];
        let mut current_dir = ROOT;
        for name in path.split('/').filter(|_| !path.is_empty()) {
            current_dir = match self.meta.names.get(&(current_dir, name.to_owned())) {
                Some(InodeRef::Directory(inner)) => *inner,
                Some(InodeRef::File(_)) => {
                    return refused(
                        format!("no directory is named `{path}`: `{name}` is a file"),
                        "give the path of a directory",
                    );
                }
                None => {
                    return refused(
                        format!("no directory is named `{path}`"),
                        "mkdir() it; after a cut, a directory is there only if the one that it is \
                         in was synced",
                    );
                }
            };
            chain.push(current_dir);
        }
        Ok(chain)
    }

    /// The number of a directory.
    pub(super) fn directory(&self, path: &str) -> Result<u64, CrashError> {
        Ok(self.chain(path)?.last().copied().unwrap_or(ROOT))
    }

    /// Where a name stands or would stand.
    pub(super) fn place(&self, path: &str) -> Result<DirEntryKey, CrashError> {
        let (directory, name) = split(path);
        if name.is_empty() {
            return refused(format!("`{path}` names no file"), "a path such as db/log");
        }
        Ok((self.directory(directory)?, name.to_owned()))
    }

    /// Where a new name will stand.
    pub(super) fn free_place(&self, path: &str) -> Result<DirEntryKey, CrashError> {
        let entry = self.place(path)?;
        if self.meta.names.contains_key(&entry) {
            return refused(
                format!("`{path}` exists"),
                "open() it, or unlink() it first",
            );
        }
        Ok(entry)
    }

    /// What has that name.
    pub(super) fn found(&self, path: &str) -> Option<InodeRef> {
        let entry = self.place(path).ok()?;
        self.meta.names.get(&entry).copied()
    }

    /// Whether a directory of that name exists; `""` is the root, which always does.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.create("log")?;
    /// assert!(files.is_dir("") && !files.is_dir("log"));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn is_dir(&self, path: &str) -> bool {
        self.directory(path).is_ok()
    }

    /// Makes an empty directory. Its name is durable once the directory above was synced, and the
    /// names in it once it was synced itself: a path holds as far as every directory on it was.
    ///
    /// # Errors
    /// When the name is taken or empty or the directory above is not there, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.mkdir("a")?;
    /// files.mkdir("a/b")?;
    /// files.sync_dir("a")?; // the name of b in a, not that of a
    /// files.sync_dir("")?;
    /// files.cut()?;
    /// files.power_on()?;
    /// assert!(files.is_dir("a/b"));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn mkdir(&mut self, path: &str) -> Result<(), CrashError> {
        self.call()?;
        let entry = self.free_place(path)?;
        self.inode_last += 1;
        self.change(NameChange::MakeDirectory(entry, self.inode_last));
        Ok(())
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// When no directory has that name or it is not empty, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.mkdir("db")?;
    /// files.create("db/log")?;
    /// assert!(files.rmdir("db").unwrap_err().hint().contains("unlink()"));
    /// files.unlink("db/log")?;
    /// files.rmdir("db")?;
    /// assert!(!files.exists("db"));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn rmdir(&mut self, path: &str) -> Result<(), CrashError> {
        self.call()?;
        let directory = self.empty(path)?;
        let entry = self.place(path)?;
        self.change(NameChange::RemoveDirectory(entry, directory));
        Ok(())
    }

    /// The number of a directory that must be empty.
    fn empty(&self, path: &str) -> Result<u64, CrashError> {
        let directory = self.directory(path)?;
        match self.meta.entries(directory).next() {
            None => Ok(directory),
            Some((name, _)) => refused(
                format!("`{path}` is not empty: `{name}` is in it"),
                "unlink() and rmdir() what is in it first",
            ),
        }
    }

    pub(super) fn move_directory(
        &mut self,
        moved: u64,
        from: &str,
        to: &str,
    ) -> Result<(), CrashError> {
        let (old, new) = (self.place(from)?, self.place(to)?);
        if self.chain(split(to).0)?.contains(&moved) {
            return refused(
                format!("`{to}` lies in `{from}`"),
                "a directory cannot be moved into itself",
            );
        }
        if old == new {
            return Ok(());
        }
        let replaced = if self.meta.names.contains_key(&new) {
            Some(self.empty(to)?)
        } else {
            None
        };
        self.change(NameChange::Move {
            from: old,
            to: new,
            replaced,
        });
        Ok(())
    }
}
