//! How files are opened.

use super::File;
use super::file::OpenDescription;
use crate::paths::place;
use crate::state::OpenFlags;
use std::io::Result;
use std::path::Path;

/// As [`std::fs::OpenOptions`].
///
/// ```
/// use ssdlab_crash_fs::{CrashFs, std::fs::OpenOptions};
///
/// let machine = CrashFs::posix(1)?;
/// let path = machine.root().join("log");
/// let error = OpenOptions::new().append(true).open(&path).unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
/// OpenOptions::new().append(true).create(true).open(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    pub(super) flags: OpenFlags,
    /// A custom flag that is not supported.
    pub(super) refused: bool,
}

impl OpenOptions {
    /// As [`std::fs::OpenOptions::new`].
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// As [`std::fs::OpenOptions::read`].
    pub fn read(&mut self, read: bool) -> &mut OpenOptions {
        self.flags.read = read;
        self
    }

    /// As [`std::fs::OpenOptions::write`].
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.flags.write = write;
        self
    }

    /// As [`std::fs::OpenOptions::append`].
    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.flags.append = append;
        self
    }

    /// As [`std::fs::OpenOptions::truncate`].
    pub fn truncate(&mut self, truncate: bool) -> &mut OpenOptions {
        self.flags.truncate = truncate;
        self
    }

    /// As [`std::fs::OpenOptions::create`].
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.flags.create = create;
        self
    }

    /// As [`std::fs::OpenOptions::create_new`].
    pub fn create_new(&mut self, create_new: bool) -> &mut OpenOptions {
        self.flags.create_new = create_new;
        self
    }

    /// As [`std::fs::OpenOptions::open`].
    ///
    /// # Errors
    /// As `std`; and when the path is on no crash disk, or its power is off.
    pub fn open<P: AsRef<Path>>(&self, path: P) -> Result<File> {
        if self.refused {
            return crate::error::unsupported(
                "custom_flags() beyond O_SYNC and O_DSYNC",
                "open without them under test: buffered writes may be lost in more ways",
            );
        }
        let place = place(path.as_ref())?;
        let machine = place.machine;
        let (target, boot, number) = machine.call(|state| {
            if place.is_directory {
                state.must_be_directory(&place.path, &self.flags)?;
            }
            let target = state.open(machine.shadow(), &place.path, &self.flags)?;
            Ok((target, state.boot(), state.number()))
        })?;
        let description = OpenDescription::new(machine, target, boot, number, self.flags.clone());
        Ok(File::of(description))
    }
}

impl File {
    /// As [`std::fs::File::open`].
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn open<P: AsRef<Path>>(path: P) -> Result<File> {
        OpenOptions::new().read(true).open(path)
    }

    /// As [`std::fs::File::create`].
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn create<P: AsRef<Path>>(path: P) -> Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).open(path)
    }

    /// As [`std::fs::File::create_new`].
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn create_new<P: AsRef<Path>>(path: P) -> Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).open(path)
    }

    /// As [`std::fs::File::options`].
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }
}
