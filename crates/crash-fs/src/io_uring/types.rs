//! Arguments of requests, as [`io_uring::types`](https://docs.rs/io-uring/0.7/io_uring/types).

use std::marker::PhantomData;
use std::os::fd::RawFd;
use std::time::Duration;

pub(super) mod sealed {
    /// What a request is for.
    #[derive(Clone, Copy, Debug)]
    pub enum FileSlot {
        Fd(i32),
        Fixed(u32),
    }

    /// A descriptor or a registered file.
    pub trait UseFixed {
        fn target(self) -> FileSlot;
    }
}

use sealed::{FileSlot, UseFixed};

/// The descriptor of an open file.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Fd(pub RawFd);

/// The place of a file among those of
/// [`Submitter::register_files`](super::Submitter::register_files).
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Fixed(pub u32);

impl UseFixed for Fd {
    fn target(self) -> FileSlot {
        FileSlot::Fd(self.0)
    }
}

impl UseFixed for Fixed {
    fn target(self) -> FileSlot {
        FileSlot::Fixed(self.0)
    }
}

bitflags::bitflags! {
    /// Flags of [`Fsync`](super::opcode::Fsync).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub struct FsyncFlags: u32 {
        /// As fdatasync(2).
        const DATASYNC = 1;
    }
}

/// A duration.
#[derive(Default, Debug, Clone, Copy)]
pub struct Timespec {
    duration: Duration,
}

impl Timespec {
    /// None at all.
    pub const fn new() -> Timespec {
        Timespec {
            duration: Duration::ZERO,
        }
    }

    /// Sets the seconds.
    pub const fn sec(mut self, sec: u64) -> Timespec {
        self.duration = Duration::new(sec, self.duration.subsec_nanos());
        self
    }

    /// Sets the nanoseconds beside the seconds.
    pub const fn nsec(mut self, nsec: u32) -> Timespec {
        self.duration = Duration::new(self.duration.as_secs(), nsec);
        self
    }
}

impl From<Duration> for Timespec {
    fn from(duration: Duration) -> Timespec {
        Timespec { duration }
    }
}

/// Arguments of [`Submitter::submit_with_args`](super::Submitter::submit_with_args).
#[derive(Default, Debug, Clone, Copy)]
pub struct SubmitArgs<'prev: 'now, 'now> {
    pub(super) times_out: bool,
    lifetimes: PhantomData<(&'prev (), &'now ())>,
}

impl<'prev, 'now> SubmitArgs<'prev, 'now> {
    /// Waits without a limit.
    pub const fn new() -> SubmitArgs<'static, 'static> {
        SubmitArgs {
            times_out: false,
            lifetimes: PhantomData,
        }
    }

    /// Waits no longer than this. No time passes while requests are worked on: the limit is reached
    /// when nothing is left to be done.
    pub fn timespec<'new>(self, _timespec: &'new Timespec) -> SubmitArgs<'now, 'new> {
        SubmitArgs {
            times_out: true,
            lifetimes: PhantomData,
        }
    }
}
