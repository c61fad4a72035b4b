//! Names of files.

use super::meta::{InodeRef, NameChange};
use super::{CrashFiles, FileId, refused};
use crate::error::CrashError;

impl CrashFiles {
    /// Whether a file or directory of that name exists.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// assert!(!files.exists("log"));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn exists(&self, name: &str) -> bool {
        self.found(name).is_some()
    }

    /// Number of names of a file; zero if it is gone.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// let log = files.create("log")?;
    /// files.hard_link("log", "kept")?;
    /// assert_eq!(files.links(log), 2);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn links(&self, file: FileId) -> usize {
        let is_name = |named: &&InodeRef| named.file() == Some(file.number());
        self.meta.names.values().filter(is_name).count()
    }

    /// Paths of what is in a directory, sorted; `""` is the root. Empty if no directory has
    /// that name.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.mkdir("db")?;
    /// files.create("db/b")?;
    /// files.create("db/a")?;
    /// assert_eq!(files.list("db"), ["db/a", "db/b"]);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn list(&self, directory: &str) -> Vec<String> {
        let path = |name: &str| match directory {
            "" => name.to_owned(),
            directory => format!("{directory}/{name}"),
        };
        match self.directory(directory) {
            Ok(of) => self.meta.entries(of).map(|(name, _)| path(name)).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// Gives a file or directory another name, atomically. A file replaces a file of that name, and
    /// a directory an empty directory.
    ///
    /// # Errors
    /// When there is nothing to rename, when the other name cannot be replaced, and when power is
    /// lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.create("conf.new")?;
    /// files.rename("conf.new", "conf")?;
    /// assert_eq!(files.list(""), ["conf"]);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), CrashError> {
        self.call()?;
        if let Some(InodeRef::Directory(moved)) = self.found(from) {
            return self.move_directory(moved, from, to);
        }
        let inode = self.named(from)?;
        let (old, new) = (self.place(from)?, self.place(to)?);
        match self.found(to) {
            // Two names of one file: rename(2) does nothing.
            Some(InodeRef::File(of)) if of == inode => return Ok(()),
            Some(InodeRef::Directory(_)) => {
                return refused(
                    format!("`{to}` is a directory, `{from}` is not"),
                    "give the name of a file",
                );
            }
            Some(InodeRef::File(_)) if self.rules.replace_waits_for_data => {
                self.write_back(inode)?;
                self.replaced.insert(inode);
            }
            _ => {}
        }
        self.change(NameChange::Rename(old, new));
        Ok(())
    }

    /// Gives a file one more name. The file is there as long as it has one.
    ///
    /// # Errors
    /// When there is no such file or the new name is taken or empty, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// let log = files.create("log")?;
    /// files.hard_link("log", "kept")?;
    /// files.unlink("log")?;
    /// assert_eq!(files.open("kept")?, log);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn hard_link(&mut self, file: &str, name: &str) -> Result<(), CrashError> {
        self.call()?;
        let inode = self.named(file)?;
        let entry = self.free_place(name)?;
        self.change(NameChange::Link(entry, inode));
        Ok(())
    }

    /// Removes a name, and the file if it has no other.
    ///
    /// # Errors
    /// When no entry has that name, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// files.create("log")?;
    /// files.unlink("log")?;
    /// assert!(!files.exists("log"));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn unlink(&mut self, name: &str) -> Result<(), CrashError> {
        self.call()?;
        self.named(name)?;
        let entry = self.place(name)?;
        self.change(NameChange::Unlink(entry));
        Ok(())
    }
}
