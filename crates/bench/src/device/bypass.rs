//! Past the page cache.

use rustix::fs::OFlags;
use rustix::io::Errno;
use ssdlab_base::LabError;
use std::fs::File;
use std::path::Path;

/// Lets reads and writes of an open file go past the page cache from now on.
pub(super) fn bypass_cache(file: &File, path: &Path) -> Result<(), LabError> {
    let flags = rustix::fs::fcntl_getfl(file);
    match flags.and_then(|flags| rustix::fs::fcntl_setfl(file, flags | OFlags::DIRECT)) {
        Ok(()) => Ok(()),
        Err(Errno::INVAL) => Err(no_direct(path)),
        Err(error) => Err(LabError::file("opening", path, error.into())),
    }
}

/// The refusal of a file system without direct I/O.
pub(super) fn no_direct(path: &Path) -> LabError {
    LabError::refused(
        format!("the file system of {} has no direct I/O", path.display()),
        "put the file on the drive to be measured; or allow buffered I/O (--buffered), which \
         measures memory",
    )
}
