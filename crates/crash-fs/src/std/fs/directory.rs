//! Directories.

use super::{FileType, Metadata};
use crate::CrashFs;
use crate::paths::place;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::io::Result;
use std::path::{Path, PathBuf};

/// As [`std::fs::ReadDir`]: in the order of the names.
#[derive(Debug)]
pub struct ReadDir {
    pub(super) entries: VecDeque<DirEntry>,
}

impl Iterator for ReadDir {
    type Item = Result<DirEntry>;

    fn next(&mut self) -> Option<Result<DirEntry>> {
        self.entries.pop_front().map(Ok)
    }
}

/// As [`std::fs::DirEntry`].
pub struct DirEntry {
    pub(super) machine: CrashFs,
    pub(super) folder: PathBuf,
    /// On the disk.
    pub(super) path: String,
    pub(super) file_type: FileType,
}

impl fmt::Debug for DirEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DirEntry").field(&self.path()).finish()
    }
}

impl DirEntry {
    /// As [`std::fs::DirEntry::path`].
    pub fn path(&self) -> PathBuf {
        self.folder.join(self.file_name())
    }

    /// As [`std::fs::DirEntry::file_name`].
    pub fn file_name(&self) -> OsString {
        let name = self.path.rsplit('/').next();
        name.unwrap_or_default().into()
    }

    /// As [`std::fs::DirEntry::metadata`].
    ///
    /// # Errors
    /// When the file is gone, and when power is lost.
    pub fn metadata(&self) -> Result<Metadata> {
        let stat = self.machine.call(|state| state.stat_path(&self.path))?;
        Ok(Metadata { stat })
    }

    /// As [`std::fs::DirEntry::file_type`].
    ///
    /// # Errors
    /// Never.
    pub fn file_type(&self) -> Result<FileType> {
        Ok(self.file_type)
    }
}

/// As [`std::fs::DirBuilder`].
///
/// ```
/// use ssdlab_crash_fs::{CrashFs, std::fs::DirBuilder};
///
/// let machine = CrashFs::posix(1)?;
/// DirBuilder::new().recursive(true).create(machine.root().join("a/b"))?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct DirBuilder {
    recursive: bool,
}

impl DirBuilder {
    /// As [`std::fs::DirBuilder::new`].
    pub fn new() -> DirBuilder {
        DirBuilder::default()
    }

    /// As [`std::fs::DirBuilder::recursive`].
    pub fn recursive(&mut self, recursive: bool) -> &mut DirBuilder {
        self.recursive = recursive;
        self
    }

    /// As [`std::fs::DirBuilder::create`].
    ///
    /// # Errors
    /// As `std`; and when the path is on no crash disk, or its power is off.
    pub fn create<P: AsRef<Path>>(&self, path: P) -> Result<()> {
        let place = place(path.as_ref())?;
        let machine = &place.machine;
        let make = |path: &str| machine.call(|state| state.create_dir(machine.shadow(), path));
        if !self.recursive {
            return make(&place.path);
        }
        let ends = place.path.match_indices('/').map(|(end, _)| end);
        for end in ends.chain([place.path.len()]) {
            let directory = &place.path[..end];
            let is_there = machine.call(|state| state.is_directory(directory));
            match is_there {
                Ok(true) => {}
                Ok(false) if end < place.path.len() => {
                    return Err(crate::error::system(std::io::ErrorKind::NotADirectory));
                }
                Ok(false) => return Err(crate::error::system(std::io::ErrorKind::AlreadyExists)),
                Err(_) => make(directory)?,
            }
        }
        Ok(())
    }
}
