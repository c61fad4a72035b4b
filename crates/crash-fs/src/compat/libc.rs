//! Calls of libc that take a descriptor: `fsync`, `fdatasync`, `sync_file_range`, `flock`.
//!
//! The descriptor of a crash file is a number that the kernel never gives: its own calls refuse it
//! with `EBADF`.
//!
//! ```
//! use ssdlab_crash_fs::{CrashFs, compat::libc, std::fs::File};
//! use std::os::fd::AsRawFd;
//!
//! let machine = CrashFs::posix(1)?;
//! let log = File::create(machine.root().join("log"))?;
//! assert_eq!(libc::fsync(log.as_raw_fd()), 0);
//! assert_eq!(libc::fsync(1), -1);
//! assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EBADF));
//! # Ok::<(), std::io::Error>(())
//! ```

use crate::descriptors::file_of;
use crate::std::fs::{File, TryLockError};
use std::io::{Error, Result};
use std::os::fd::RawFd;

/// No such descriptor.
pub const EBADF: i32 = 9;
/// Another has the lock.
pub const EWOULDBLOCK: i32 = 11;
/// The call is not there.
pub const ENOSYS: i32 = 38;
const EIO: i32 = 5;
const EINVAL: i32 = 22;
/// Flags of [`flock`].
pub const LOCK_SH: i32 = 1;
/// See [`LOCK_SH`].
pub const LOCK_EX: i32 = 2;
/// See [`LOCK_SH`].
pub const LOCK_NB: i32 = 4;
/// See [`LOCK_SH`].
pub const LOCK_UN: i32 = 8;
/// Flags of [`sync_file_range`].
pub const SYNC_FILE_RANGE_WAIT_BEFORE: u32 = 1;
/// See [`SYNC_FILE_RANGE_WAIT_BEFORE`].
pub const SYNC_FILE_RANGE_WRITE: u32 = 2;
/// See [`SYNC_FILE_RANGE_WAIT_BEFORE`].
pub const SYNC_FILE_RANGE_WAIT_AFTER: u32 = 4;

#[allow(unsafe_code)]
fn fail(number: i32) -> i32 {
    unsafe extern "C" {
        fn __errno_location() -> *mut i32;
    }
    // SAFETY: it returns the address of this thread's number, which lives as long as the thread.
    unsafe { *__errno_location() = number };
    -1
}

fn run(descriptor: RawFd, call: impl FnOnce(&File) -> Result<()>) -> i32 {
    match file_of(descriptor).map(|file| call(&file)) {
        None => fail(EBADF),
        Some(Ok(())) => 0,
        Some(Err(error)) => fail(error.raw_os_error().unwrap_or(EIO)),
    }
}

/// As fsync(2): -1 and errno on a failure, `EIO` when power is lost.
pub fn fsync(descriptor: RawFd) -> i32 {
    run(descriptor, File::sync_all)
}

/// As fdatasync(2); see [`fsync`].
pub fn fdatasync(descriptor: RawFd) -> i32 {
    run(descriptor, File::sync_data)
}

/// As sync_file_range(2), of the whole file: see [`File::sync_file_range`].
pub fn sync_file_range(descriptor: RawFd, _offset: i64, _bytes: i64, flags: u32) -> i32 {
    run(descriptor, |file| {
        if flags & SYNC_FILE_RANGE_WRITE == 0 {
            return Ok(());
        }
        file.sync_file_range()
    })
}

/// As flock(2); see [`fsync`].
pub fn flock(descriptor: RawFd, operation: i32) -> i32 {
    let tried = |result| match result {
        Err(TryLockError::WouldBlock) => Err(Error::from_raw_os_error(EWOULDBLOCK)),
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => Ok(()),
    };
    let waits = operation & LOCK_NB == 0;
    run(descriptor, |file| match operation & !LOCK_NB {
        LOCK_SH if waits => file.lock_shared(),
        LOCK_SH => tried(file.try_lock_shared()),
        LOCK_EX if waits => file.lock(),
        LOCK_EX => tried(file.try_lock()),
        LOCK_UN => file.unlock(),
        _ => Err(Error::from_raw_os_error(EINVAL)),
    })
}
