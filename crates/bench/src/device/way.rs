//! How a ring's commands are put to the kernel: as operations on a file, or as the drive's own.

use super::Counters;
use io_uring::types::Fixed;
use io_uring::{cqueue, squeue};
use ssdlab_base::LabError;
use ssdlab_ssd::Command;

/// The registered file.
pub(super) const FILE: Fixed = Fixed(0);

/// How commands are put to the kernel, and what their completions say.
pub trait UringBackend {
    /// What the ring takes.
    type Entry: squeue::EntryMarker;
    /// What it gives back.
    type Completion: cqueue::EntryMarker;
    /// The oldest Linux that has it.
    const SINCE: &str;
    /// Whether buffers are registered with the ring, where the kernel lets us.
    const REGISTERS: bool;

    /// Buffers are registered: writes first, then reads.
    fn registered(&mut self) {}

    /// Refuses what may not or cannot be sent.
    ///
    /// # Errors
    /// Why.
    #[inline]
    fn check(&self, _command: &Command) -> Result<(), LabError> {
        Ok(())
    }

    /// Whether the command is a discard by ioctl instead of an entry.
    fn discards(&self, command: &Command) -> bool;

    /// The ring's entry for a command; `buffer` holds `command.len` bytes if it is a read or a
    /// write.
    fn entry(&mut self, tag: u32, command: &Command, buffer: *mut u8) -> Self::Entry;

    /// The error of the command with `tag`, a read or write of `len` bytes or another one with 0,
    /// as [`TargetCompletion::errno`]; 0 if it has succeeded.
    fn error(&mut self, tag: u32, result: i32, len: u32) -> i32;

    /// What has reached the device.
    fn counters(&self) -> Counters;
}
