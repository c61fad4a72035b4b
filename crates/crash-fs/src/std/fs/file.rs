//! Open files.

use super::metadata::no_modes_of_directories;
use super::{FileTimes, Metadata, Permissions};
use crate::CrashFs;
use crate::error::{bad_descriptor, system};
use crate::state::{OpenFlags, OpenTarget, SyncKind};
use std::fmt;
use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Read, Result, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

/// An open file as the kernel has it: what is cloned by `try_clone` shares position and locks.
#[derive(Debug)]
pub(crate) struct OpenDescription {
    pub machine: CrashFs,
    pub target: OpenTarget,
    pub flags: OpenFlags,
    boot: u64,
    number: u64,
    position: Mutex<u64>,
    /// The number that stands for it where a descriptor is asked for.
    #[cfg(all(feature = "descriptors", target_os = "linux"))]
    pub descriptor: ::std::sync::OnceLock<i32>,
}

impl OpenDescription {
    pub fn new(
        machine: CrashFs,
        target: OpenTarget,
        boot: u64,
        number: u64,
        flags: OpenFlags,
    ) -> OpenDescription {
        OpenDescription {
            machine,
            target,
            flags,
            boot,
            number,
            position: Mutex::new(0),
            #[cfg(all(feature = "descriptors", target_os = "linux"))]
            descriptor: ::std::sync::OnceLock::new(),
        }
    }

    fn position(&self) -> MutexGuard<'_, u64> {
        let position = self.position.lock();
        position.unwrap_or_else(|error| error.into_inner())
    }

    pub fn call<T>(
        &self,
        call: impl FnOnce(&mut crate::state::DiskState) -> Result<T>,
    ) -> Result<T> {
        self.machine.call(|state| {
            state.check(self.boot)?;
            call(state)
        })
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<usize> {
        if !self.flags.read {
            return Err(bad_descriptor());
        }
        self.call(|state| state.read_at(self.target, offset, bytes))
    }

    pub fn write(&self, offset: Option<u64>, bytes: &[u8]) -> Result<u64> {
        if !self.flags.is_writing() {
            return Err(bad_descriptor());
        }
        // As pwrite(2) on Linux: what is opened to append appends.
        let offset = offset.filter(|_| !self.flags.append);
        self.call(|state| {
            let start = state.write(self.target, offset, bytes)?;
            if let Some(kind) = self.flags.sync {
                state.sync(self.target, kind)?;
            }
            Ok(start)
        })
    }
}

impl Drop for OpenDescription {
    fn drop(&mut self) {
        let mut state = self.machine.lock();
        if state.boot() == self.boot {
            state.unlock(self.target, self.number);
            state.close(self.target);
        }
    }
}

/// As [`std::fs::File`].
///
/// ```
/// use ssdlab_crash_fs::{CrashFs, std::fs::File};
/// use std::io::{Read, Seek, SeekFrom, Write};
///
/// let machine = CrashFs::posix(1)?;
/// let path = machine.root().join("log");
/// let mut log = File::create_new(&path)?;
/// log.write_all(b"one two")?;
/// log.sync_data()?;
/// let mut text = String::new();
/// let mut log = File::open(&path)?;
/// log.seek(SeekFrom::End(-3))?;
/// log.read_to_string(&mut text)?;
/// assert_eq!(text, "two");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct File {
    description: Arc<OpenDescription>,
}

#[cfg(all(feature = "descriptors", target_os = "linux"))]
impl From<Arc<OpenDescription>> for File {
    fn from(description: Arc<OpenDescription>) -> File {
        File { description }
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("File")
            .field(&self.description.target)
            .finish()
    }
}

impl File {
    pub(crate) fn of(description: OpenDescription) -> File {
        File {
            description: Arc::new(description),
        }
    }

    #[cfg(all(feature = "descriptors", target_os = "linux"))]
    pub(crate) fn description(&self) -> &Arc<OpenDescription> {
        &self.description
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn machine(&self) -> &CrashFs {
        &self.description.machine
    }

    /// As [`std::fs::File::sync_all`]; of a directory, the names in it.
    ///
    /// # Errors
    /// When the disk is full, and when power is lost.
    pub fn sync_all(&self) -> Result<()> {
        let target = self.description.target;
        self.description
            .call(|state| state.sync(target, SyncKind::All))
    }

    /// As [`std::fs::File::sync_data`]: fdatasync(2), which leaves the journal alone when
    /// nothing of the inode has changed.
    ///
    /// # Errors
    /// As [`File::sync_all`].
    pub fn sync_data(&self) -> Result<()> {
        let target = self.description.target;
        self.description
            .call(|state| state.sync(target, SyncKind::Data))
    }

    /// sync_file_range(2) with all of its flags, which std does not have: see
    /// [`ssdlab_crash::CrashFiles::write_out`].
    ///
    /// # Errors
    /// As [`File::sync_all`].
    pub fn sync_file_range(&self) -> Result<()> {
        let target = self.description.target;
        self.description.call(|state| state.write_out(target))
    }

    /// As [`std::fs::File::set_len`].
    ///
    /// # Errors
    /// When it was not opened to write, and when power is lost.
    pub fn set_len(&self, size: u64) -> Result<()> {
        if !self.description.flags.is_writing() {
            return Err(system(ErrorKind::InvalidInput));
        }
        let target = self.description.target;
        self.description.call(|state| state.set_len(target, size))
    }

    /// As [`std::fs::File::metadata`].
    ///
    /// # Errors
    /// When power is lost.
    pub fn metadata(&self) -> Result<Metadata> {
        let target = self.description.target;
        let stat = self.description.call(|state| state.stat(target))?;
        Ok(Metadata { stat })
    }

    /// As [`std::fs::File::try_clone`].
    ///
    /// # Errors
    /// Never.
    pub fn try_clone(&self) -> Result<File> {
        Ok(File {
            description: Arc::clone(&self.description),
        })
    }

    /// As [`std::fs::File::set_permissions`]; they are in memory only.
    ///
    /// # Errors
    /// Of a directory: unsupported.
    pub fn set_permissions(&self, permissions: Permissions) -> Result<()> {
        let OpenTarget::File(file) = self.description.target else {
            return no_modes_of_directories();
        };
        self.description.call(|state| {
            state.attributes_mut(file).mode = permissions.mode;
            Ok(())
        })
    }

    /// As [`std::fs::File::set_times`]; they are in memory only.
    ///
    /// # Errors
    /// Of a directory: unsupported.
    pub fn set_times(&self, times: FileTimes) -> Result<()> {
        let OpenTarget::File(file) = self.description.target else {
            return no_modes_of_directories();
        };
        self.description.call(|state| {
            let attributes = state.attributes_mut(file);
            attributes.accessed = times.accessed.unwrap_or(attributes.accessed);
            attributes.modified = times.modified.unwrap_or(attributes.modified);
            Ok(())
        })
    }

    /// As [`std::fs::File::set_modified`].
    ///
    /// # Errors
    /// As [`File::set_times`].
    pub fn set_modified(&self, time: SystemTime) -> Result<()> {
        self.set_times(FileTimes::new().set_modified(time))
    }

    fn locked(&self, exclusive: bool) -> Result<bool> {
        let description = &self.description;
        let (target, number) = (description.target, description.number);
        description.call(|state| state.lock(target, number, exclusive))
    }

    fn wait_for_lock(&self, exclusive: bool) -> Result<()> {
        while !self.locked(exclusive)? {
            self.description.machine.wait();
        }
        Ok(())
    }

    /// As [`std::fs::File::lock`].
    ///
    /// # Errors
    /// When power is lost.
    pub fn lock(&self) -> Result<()> {
        self.wait_for_lock(true)
    }

    /// As [`std::fs::File::lock_shared`].
    ///
    /// # Errors
    /// When power is lost.
    pub fn lock_shared(&self) -> Result<()> {
        self.wait_for_lock(false)
    }

    fn try_locked(&self, exclusive: bool) -> ::std::result::Result<(), TryLockError> {
        match self.locked(exclusive) {
            Ok(true) => Ok(()),
            Ok(false) => Err(TryLockError::WouldBlock),
            Err(error) => Err(TryLockError::Error(error)),
        }
    }

    /// As [`std::fs::File::try_lock`].
    ///
    /// # Errors
    /// When another open file has a lock, and when power is lost.
    pub fn try_lock(&self) -> ::std::result::Result<(), TryLockError> {
        self.try_locked(true)
    }

    /// As [`std::fs::File::try_lock_shared`].
    ///
    /// # Errors
    /// When another open file has it for itself, and when power is lost.
    pub fn try_lock_shared(&self) -> ::std::result::Result<(), TryLockError> {
        self.try_locked(false)
    }

    /// As [`std::fs::File::unlock`].
    ///
    /// # Errors
    /// When power is lost.
    pub fn unlock(&self) -> Result<()> {
        let (target, number) = (self.description.target, self.description.number);
        self.description.call(|state| {
            state.unlock(target, number);
            Ok(())
        })
    }

    pub(super) fn at(&self, offset: u64, bytes: &mut [u8]) -> Result<usize> {
        self.description.read_at(offset, bytes)
    }

    pub(super) fn put(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        self.description.write(Some(offset), bytes)?;
        Ok(bytes.len())
    }

    fn advance(&self, bytes: &mut [u8]) -> Result<usize> {
        let mut position = self.description.position();
        let count = self.description.read_at(*position, bytes)?;
        *position += count as u64;
        Ok(count)
    }

    fn extend(&self, bytes: &[u8]) -> Result<usize> {
        let mut position = self.description.position();
        let start = self.description.write(Some(*position), bytes)?;
        *position = start + bytes.len() as u64;
        Ok(bytes.len())
    }

    fn turn(&self, to: SeekFrom) -> Result<u64> {
        let mut position = self.description.position();
        let (base, offset) = match to {
            SeekFrom::Start(offset) => {
                *position = offset;
                return Ok(offset);
            }
            SeekFrom::Current(offset) => (*position, offset),
            SeekFrom::End(offset) => (self.metadata()?.len(), offset),
        };
        let sought = base.checked_add_signed(offset);
        *position = sought.ok_or_else(|| system(ErrorKind::InvalidInput))?;
        Ok(*position)
    }
}

macro_rules! file_traits {
    ($($file:ty),*) => {$(
        impl Read for $file {
            fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
                self.advance(bytes)
            }

            fn read_vectored(&mut self, slices: &mut [IoSliceMut<'_>]) -> Result<usize> {
                let mut count = 0;
                for slice in slices.iter_mut().filter(|slice| !slice.is_empty()) {
                    let read = self.advance(slice)?;
                    count += read;
                    if read < slice.len() {
                        break;
                    }
                }
                Ok(count)
            }
        }

        impl Write for $file {
            fn write(&mut self, bytes: &[u8]) -> Result<usize> {
                self.extend(bytes)
            }

            fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> Result<usize> {
                let bytes: Vec<u8> = slices.iter().flat_map(|slice|
                slice.iter().copied()).collect(); self.extend(&bytes)
            }

            /// Nothing, as in `std`: it makes nothing durable.
            fn flush(&mut self) -> Result<()> {
                Ok(())
            }
        }

        impl Seek for $file {
            fn seek(&mut self, to: SeekFrom) -> Result<u64> {
                self.turn(to)
            }
        }
    )*};
}

file_traits!(File, &File);

/// As [`std::fs::TryLockError`].
#[derive(Debug)]
pub enum TryLockError {
    /// The call failed.
    Error(Error),
    /// Another open file has a lock.
    WouldBlock,
}

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryLockError::Error(error) => error.fmt(f),
            TryLockError::WouldBlock => {
                "try_lock() failed because the operation would block".fmt(f)
            }
        }
    }
}

impl ::std::error::Error for TryLockError {}

impl From<TryLockError> for Error {
    fn from(error: TryLockError) -> Error {
        match error {
            TryLockError::Error(error) => error,
            TryLockError::WouldBlock => system(ErrorKind::WouldBlock),
        }
    }
}
