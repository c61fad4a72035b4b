//! Receiving the bytes of a write straight into where a store keeps them.

use std::any::Any;
use std::io;
use std::os::fd::BorrowedFd;

/// Room of a store for the bytes of one write, which come in order.
pub trait StoreLanding: Any + Send {
    /// Bytes that are still to come.
    fn missing(&self) -> usize;
    /// Puts the next bytes, at most as many as are missing.
    ///
    /// # Errors
    /// When they cannot be kept.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Moves the next `count` bytes out of a pipe, which has them; at most as many as are missing.
    ///
    /// # Errors
    /// When they cannot be kept: some may be left in the pipe.
    fn splice(&mut self, pipe: BorrowedFd<'_>, count: usize) -> io::Result<()>;
}
