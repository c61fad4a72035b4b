//! Submission, and what is registered with a ring.

use super::memory::UserBuffer;
use super::opcode::code;
use super::ring::SharedRing;
use super::types::SubmitArgs;
use crate::descriptors::file_of;
use crate::error::CrashFsError;
use crate::std::fs::File;
use libc::{EBADF, EBUSY, EINVAL, ENXIO, ETIME};
use std::io::{Error, Result};
use std::os::fd::RawFd;

/// What submits the requests of a ring, and registers files and buffers.
#[derive(Debug)]
pub struct Submitter<'a> {
    ring: &'a SharedRing,
}

fn number<T>(number: i32) -> Result<T> {
    Err(Error::from_raw_os_error(number))
}

/// The file of a descriptor; -1 stands for an empty place.
fn registered(descriptor: RawFd) -> Result<Option<File>> {
    match file_of(descriptor) {
        None if descriptor != -1 => number(EBADF),
        file => Ok(file),
    }
}

impl<'a> Submitter<'a> {
    pub(super) fn new(ring: &'a SharedRing) -> Submitter<'a> {
        Submitter { ring }
    }

    /// Submits the requests of the queue, and returns their number. Some of them may run at once.
    ///
    /// # Errors
    /// None: what a request meets is the result of its completion.
    pub fn submit(&self) -> Result<usize> {
        Ok(self.ring.submit())
    }

    /// Submits, and waits until this many completions can be read.
    ///
    /// # Errors
    /// When no more than fewer completions will come, which Linux would wait for for ever.
    pub fn submit_and_wait(&self, want: usize) -> Result<usize> {
        let count = self.ring.submit();
        if self.ring.wait(want) {
            return Ok(count);
        }
        Err(CrashFsError::Unsupported {
            call: "to wait for more completions than there are requests",
            hint: "Linux would wait for ever: count what is submitted",
        }
        .into())
    }

    /// As [`Submitter::submit_and_wait`], with arguments.
    ///
    /// # Errors
    /// As [`Submitter::submit_and_wait`]; with a limit of time `ETIME`.
    pub fn submit_with_args(&self, want: usize, args: &SubmitArgs<'_, '_>) -> Result<usize> {
        if !args.times_out {
            return self.submit_and_wait(want);
        }
        let count = self.ring.submit();
        if self.ring.wait(want) {
            return Ok(count);
        }
        number(ETIME)
    }

    /// Registers files for [`Fixed`](super::types::Fixed), by their descriptors; -1 leaves a place
    /// empty.
    ///
    /// # Errors
    /// When files are registered, and when a descriptor is not of a crash file.
    pub fn register_files(&self, fds: &[RawFd]) -> Result<()> {
        let files: Result<Vec<_>> = fds.iter().map(|&fd| registered(fd)).collect();
        let mut ring = self.ring.lock();
        if ring.files.is_some() {
            return number(EBUSY);
        }
        ring.files = Some(files?);
        Ok(())
    }

    /// Registers this many empty places for files.
    ///
    /// # Errors
    /// When files are registered.
    pub fn register_files_sparse(&self, nr: u32) -> Result<()> {
        self.register_files(&vec![-1; nr as usize])
    }

    /// Replaces registered files from a place on, and returns their number.
    ///
    /// # Errors
    /// When there are no such places, and when a descriptor is not of a crash file.
    pub fn register_files_update(&self, offset: u32, fds: &[RawFd]) -> Result<usize> {
        let files: Result<Vec<_>> = fds.iter().map(|&fd| registered(fd)).collect();
        let mut ring = self.ring.lock();
        let Some(places) = &mut ring.files else {
            return number(ENXIO);
        };
        let start = offset as usize;
        let Some(places) = places.get_mut(start..start + fds.len()) else {
            return number(EINVAL);
        };
        let replaced: Vec<_> = places
            .iter_mut()
            .zip(files?)
            .map(|(place, file)| std::mem::replace(place, file))
            .collect();
        drop(ring);
        drop(replaced);
        Ok(fds.len())
    }

    /// Lets the registered files go.
    ///
    /// # Errors
    /// When there are none.
    pub fn unregister_files(&self) -> Result<()> {
        match self.ring.lock().files.take() {
            None => number(ENXIO),
            Some(_) => Ok(()),
        }
    }

    /// Registers buffers for [`ReadFixed`](super::opcode::ReadFixed) and
    /// [`WriteFixed`](super::opcode::WriteFixed).
    ///
    /// # Errors
    /// When buffers are registered.
    ///
    /// # Safety
    /// They must live until they are unregistered, or the ring is dropped.
    #[allow(unsafe_code)]
    pub unsafe fn register_buffers(&self, bufs: &[libc::iovec]) -> Result<()> {
        let mut ring = self.ring.lock();
        if ring.buffers.is_some() {
            return number(EBUSY);
        }
        ring.buffers = Some(bufs.iter().map(UserBuffer::of).collect());
        Ok(())
    }

    /// Lets the registered buffers go.
    ///
    /// # Errors
    /// When there are none.
    pub fn unregister_buffers(&self) -> Result<()> {
        match self.ring.lock().buffers.take() {
            None => number(ENXIO),
            Some(_) => Ok(()),
        }
    }

    /// Fills in which operations there are.
    ///
    /// # Errors
    /// None.
    pub fn register_probe(&self, probe: &mut Probe) -> Result<()> {
        probe.is_filled = true;
        Ok(())
    }
}

/// Which operations there are, after [`Submitter::register_probe`].
#[derive(Debug, Default)]
pub struct Probe {
    is_filled: bool,
}

impl Probe {
    /// One that knows of none.
    pub fn new() -> Probe {
        Probe::default()
    }

    /// Whether there is an operation of this number.
    pub fn is_supported(&self, opcode: u8) -> bool {
        self.is_filled && code::ALL.contains(&opcode)
    }
}
