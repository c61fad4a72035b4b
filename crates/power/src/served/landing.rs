//! Places of a drive directory that a front end receives writes into.

use ssdlab_drives::keep::directory;
use ssdlab_serve::StoreLanding;
use std::io;
use std::os::fd::BorrowedFd;

/// Those of one write.
pub(super) struct ServedLanding(pub directory::WriteLanding);

impl StoreLanding for ServedLanding {
    fn missing(&self) -> usize {
        self.0.missing()
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.put(bytes)
    }

    #[cfg(target_os = "linux")]
    fn splice(&mut self, pipe: BorrowedFd<'_>, count: usize) -> io::Result<()> {
        self.0.splice(pipe, count)
    }

    #[cfg(not(target_os = "linux"))]
    fn splice(&mut self, _: BorrowedFd<'_>, _: usize) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
