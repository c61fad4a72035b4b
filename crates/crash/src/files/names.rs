//! Names of files.

use super::meta::{NameChange, parent};
use super::{Files, refused};
use crate::error::CrashError;

impl Files {
    /// Whether a file of that name exists.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, Files, Rules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let files = Files::format(disk, Rules::posix())?;
    /// assert!(!files.exists("log"));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn exists(&self, name: &str) -> bool {
        self.meta.names.contains_key(name)
    }

    /// Paths of the files of a directory, sorted; `""` is the root.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, Files, Rules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = Files::format(disk, Rules::posix())?;
    /// files.create("db/b")?;
    /// files.create("db/a")?;
    /// assert_eq!(files.list("db"), ["db/a", "db/b"]);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn list(&self, directory: &str) -> Vec<String> {
        let names = self.meta.names.keys();
        names
            .filter(|name| parent(name) == directory)
            .cloned()
            .collect()
    }

    /// Gives a file another name, atomically; a file of that name is replaced.
    ///
    /// # Errors
    /// When there is no file to rename, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, Files, Rules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = Files::format(disk, Rules::posix())?;
    /// files.create("conf.new")?;
    /// files.rename("conf.new", "conf")?;
    /// assert_eq!(files.list(""), ["conf"]);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), CrashError> {
        self.call()?;
        let inode = self.named(from)?;
        // Two names of one file: rename(2) does nothing.
        if self.meta.names.get(to) != Some(&inode) {
            if self.rules.replace_waits_for_data && self.exists(to) {
                self.write_back(inode)?;
                self.replaced.insert(inode);
            }
            self.change(NameChange::Rename(from.into(), to.into()));
        }
        Ok(())
    }

    /// Gives a file one more name. The file is there as long as it has one.
    ///
    /// # Errors
    /// When there is no such file or the new name is taken or empty, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, Files, Rules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = Files::format(disk, Rules::posix())?;
    /// let log = files.create("log")?;
    /// files.hard_link("log", "kept")?;
    /// files.unlink("log")?;
    /// assert_eq!(files.open("kept")?, log);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn hard_link(&mut self, file: &str, name: &str) -> Result<(), CrashError> {
        self.call()?;
        let inode = self.named(file)?;
        self.refuse_name(name)?;
        self.change(NameChange::Link(name.into(), inode));
        Ok(())
    }

    /// Refuses a name that no new file can have.
    pub(super) fn refuse_name(&self, name: &str) -> Result<(), CrashError> {
        if name.is_empty() || name.ends_with('/') {
            return refused(format!("`{name}` names no file"), "a path such as db/log");
        }
        if self.exists(name) {
            return refused(
                format!("`{name}` exists"),
                "open() it, or unlink() it first",
            );
        }
        Ok(())
    }

    /// Removes a name, and the file if it has no other.
    ///
    /// # Errors
    /// When there is none of that name, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, Files, Rules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = Files::format(disk, Rules::posix())?;
    /// files.create("log")?;
    /// files.unlink("log")?;
    /// assert!(!files.exists("log"));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn unlink(&mut self, name: &str) -> Result<(), CrashError> {
        self.call()?;
        self.named(name)?;
        self.change(NameChange::Unlink(name.into()));
        Ok(())
    }
}
