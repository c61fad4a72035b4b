//! `fs2::FileExt` (and that of its successor `fs4`).

use crate::error::{system, unsupported};
use crate::std::fs::{File, TryLockError};
use std::io::{ErrorKind, Result};

/// As `fs2::FileExt`.
///
/// ```
/// use ssdlab_crash_fs::{CrashFs, compat::fs2::FileExt, std::fs::File};
///
/// let machine = CrashFs::posix(1)?;
/// let path = machine.root().join("db");
/// let (first, second) = (File::create(&path)?, File::open(&path)?);
/// FileExt::try_lock_exclusive(&first)?;
/// assert!(FileExt::try_lock_exclusive(&second).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait LockExt {
    /// As `fs2::FileExt::duplicate`.
    ///
    /// # Errors
    /// Never.
    fn duplicate(&self) -> Result<File>;
    /// As `fs2::FileExt::lock_shared`.
    ///
    /// # Errors
    /// When power is lost.
    fn lock_shared(&self) -> Result<()>;
    /// As `fs2::FileExt::lock_exclusive`.
    ///
    /// # Errors
    /// When power is lost.
    fn lock_exclusive(&self) -> Result<()>;
    /// As `fs2::FileExt::try_lock_shared`.
    ///
    /// # Errors
    /// When another has it for itself, and when power is lost.
    fn try_lock_shared(&self) -> Result<()>;
    /// As `fs2::FileExt::try_lock_exclusive`.
    ///
    /// # Errors
    /// When another has a lock, and when power is lost.
    fn try_lock_exclusive(&self) -> Result<()>;
    /// As `fs2::FileExt::unlock`.
    ///
    /// # Errors
    /// When power is lost.
    fn unlock(&self) -> Result<()>;
    /// As `fs2::FileExt::allocate`: blocks are given to pages when they are written, so that it is
    /// refused.
    ///
    /// # Errors
    /// Always.
    fn allocate(&self, len: u64) -> Result<()>;
}

fn tried(result: std::result::Result<(), TryLockError>) -> Result<()> {
    result.map_err(|error| match error {
        TryLockError::WouldBlock => system(ErrorKind::WouldBlock),
        TryLockError::Error(error) => error,
    })
}

impl LockExt for File {
    fn duplicate(&self) -> Result<File> {
        self.try_clone()
    }

    fn lock_shared(&self) -> Result<()> {
        File::lock_shared(self)
    }

    fn lock_exclusive(&self) -> Result<()> {
        self.lock()
    }

    fn try_lock_shared(&self) -> Result<()> {
        tried(File::try_lock_shared(self))
    }

    fn try_lock_exclusive(&self) -> Result<()> {
        tried(self.try_lock())
    }

    fn unlock(&self) -> Result<()> {
        File::unlock(self)
    }

    fn allocate(&self, _: u64) -> Result<()> {
        unsupported(
            "allocate()",
            "set_len() gives a file its size without blocks",
        )
    }
}

pub use LockExt as FileExt;
