//! The names of the crate [io-uring](https://docs.rs/io-uring/0.7) 0.7, over files of a crash disk.
//!
//! A program that is written on that crate takes this module under test, and `File` of
//! [`mod@crate::std::fs`]; nothing else changes. There is no ring of the kernel: requests run in
//! the calls of the program, at a time and in an order that the seed of the disk decides, as far as
//! io_uring leaves that open.
//!
//! ```
//! use ssdlab_crash_fs::io_uring::{IoUring, opcode, squeue::Flags, types};
//! use ssdlab_crash_fs::{CrashFs, std::fs::File};
//! use std::os::fd::AsRawFd;
//!
//! let machine = CrashFs::posix(1)?;
//! let log = File::create(machine.root().join("log"))?;
//! let fd = types::Fd(log.as_raw_fd());
//! let mut ring = IoUring::new(8)?;
//! let record = *b"one";
//! let write = opcode::Write::new(fd, record.as_ptr(), 3).build().flags(Flags::IO_LINK);
//! let sync = opcode::Fsync::new(fd).build().user_data(7);
//! // SAFETY: `record` outlives the wait for both.
//! unsafe { ring.submission().push_multiple(&[write, sync]).unwrap() };
//! ring.submit_and_wait(2)?;
//! let results: Vec<i32> = ring.completion().map(|entry| entry.result()).collect();
//! assert_eq!(results, [3, 0]);
//! assert_eq!(machine.pending(), ["the name `log`"]);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Without `IO_LINK` the sync may begin before the write, and makes nothing durable then.
//!
//! - Requests that are not linked run in any order that links and `IO_DRAIN` allow.
//! - Some run in `submit`, some when the program looks for completions. Those that have not begun
//!   when their ring is dropped never run.
//! - Buffers are read when a request runs: one that is used again too early is found.
//! - To wait for more completions than there will ever be is an error; Linux waits for ever.
//! - `Fsync` of a part of a file is refused with `-EOPNOTSUPP`, `O_DIRECT` with `-EINVAL`.
//! - Other operations, `Entry128`, `Entry32`, event descriptors, rings of buffers do not compile.
//!
//! `turmoil-io-uring` 0.1 has the same names over turmoil's files: `Read`, `Write`, `Fsync` and
//! `AsyncCancel`, without links.

pub mod cqueue;
mod entry;
mod memory;
pub mod opcode;
mod operation;
mod request;
mod ring;
pub mod squeue;
mod submit;
pub mod types;
mod work;

pub use cqueue::CompletionQueue;
pub use squeue::SubmissionQueue;
pub use submit::{Probe, Submitter};

use ring::{RingCapacity, SharedRing};
use std::io::{Error, Result};
use std::marker::PhantomData;

/// The most entries of a queue of requests.
const ENTRIES_MAX: u32 = 32_768;

/// A ring: a queue of requests, and one of completions.
#[derive(Debug)]
pub struct IoUring<S = squeue::Entry, C = cqueue::Entry>
where
    S: squeue::EntryMarker,
    C: cqueue::EntryMarker,
{
    ring: SharedRing,
    params: Parameters,
    entries: PhantomData<fn() -> (S, C)>,
}

impl IoUring<squeue::Entry, cqueue::Entry> {
    /// A ring for this many requests, rounded up to a power of two.
    ///
    /// # Errors
    /// When it is zero, or more than 32,768.
    pub fn new(entries: u32) -> Result<IoUring> {
        IoUring::builder().build(entries)
    }
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> IoUring<S, C> {
    /// Settings of a new one.
    #[must_use]
    pub fn builder() -> Builder<S, C> {
        Builder {
            settings: Settings::default(),
            entries: PhantomData,
        }
    }

    /// What submits, and registers files and buffers.
    pub fn submitter(&self) -> Submitter<'_> {
        Submitter::new(&self.ring)
    }

    /// What it was made with.
    pub fn params(&self) -> &Parameters {
        &self.params
    }

    /// As [`Submitter::submit`].
    ///
    /// # Errors
    /// As [`Submitter::submit_and_wait`].
    pub fn submit(&self) -> Result<usize> {
        self.submitter().submit()
    }

    /// As [`Submitter::submit_and_wait`].
    ///
    /// # Errors
    /// As [`Submitter::submit_and_wait`].
    pub fn submit_and_wait(&self, want: usize) -> Result<usize> {
        self.submitter().submit_and_wait(want)
    }

    /// Its three parts. The queues must be dropped or synchronised before and after a submission.
    pub fn split(
        &mut self,
    ) -> (
        Submitter<'_>,
        SubmissionQueue<'_, S>,
        CompletionQueue<'_, C>,
    ) {
        let ring = &self.ring;
        let submitter = Submitter::new(ring);
        (
            submitter,
            SubmissionQueue::new(ring),
            CompletionQueue::new(ring),
        )
    }

    /// The requests.
    pub fn submission(&mut self) -> SubmissionQueue<'_, S> {
        SubmissionQueue::new(&self.ring)
    }

    /// The requests, from a shared reference.
    ///
    /// # Safety
    /// There must be no other queue of requests.
    #[allow(unsafe_code)]
    pub unsafe fn submission_shared(&self) -> SubmissionQueue<'_, S> {
        SubmissionQueue::new(&self.ring)
    }

    /// The completions. To look for them lets the disks work.
    pub fn completion(&mut self) -> CompletionQueue<'_, C> {
        CompletionQueue::new(&self.ring)
    }

    /// The completions, from a shared reference.
    ///
    /// # Safety
    /// There must be no other queue of completions.
    #[allow(unsafe_code)]
    pub unsafe fn completion_shared(&self) -> CompletionQueue<'_, C> {
        CompletionQueue::new(&self.ring)
    }
}

#[derive(Clone, Debug, Default)]
struct Settings {
    completions: Option<u32>,
    clamps: bool,
    polls: bool,
}

/// Settings of an [`IoUring`].
#[derive(Clone, Debug)]
pub struct Builder<S = squeue::Entry, C = cqueue::Entry>
where
    S: squeue::EntryMarker,
    C: cqueue::EntryMarker,
{
    settings: Settings,
    entries: PhantomData<fn() -> (S, C)>,
}

/// Settings that change nothing here.
macro_rules! without_effect {
    ($($name:ident),*) => {$(
        /// Changes nothing here.
        pub fn $name(&mut self) -> &mut Builder<S, C> {
            self
        }
    )*};
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Builder<S, C> {
    without_effect!(
        dontfork,
        setup_coop_taskrun,
        setup_defer_taskrun,
        setup_no_sqarray,
        setup_single_issuer,
        setup_submit_all,
        setup_taskrun_flag
    );

    /// The kernel's thread, which always sleeps here: see [`SubmissionQueue::need_wakeup`].
    pub fn setup_sqpoll(&mut self, _idle: u32) -> &mut Builder<S, C> {
        self.settings.polls = true;
        self
    }

    /// Room for completions, in entries: twice that for requests by default.
    pub fn setup_cqsize(&mut self, entries: u32) -> &mut Builder<S, C> {
        self.settings.completions = Some(entries);
        self
    }

    /// Makes queues of the largest size where more is asked for.
    pub fn setup_clamp(&mut self) -> &mut Builder<S, C> {
        self.settings.clamps = true;
        self
    }

    /// A ring for this many requests, rounded up to a power of two.
    ///
    /// # Errors
    /// When it is zero or more than 32,768, or fewer completions than requests fit in.
    pub fn build(&self, entries: u32) -> Result<IoUring<S, C>> {
        let size = |entries: u32, entries_max: u32| match entries {
            0 => Err(Error::from_raw_os_error(libc::EINVAL)),
            entries if entries <= entries_max => Ok(entries.next_power_of_two()),
            _ if self.settings.clamps => Ok(entries_max),
            _ => Err(Error::from_raw_os_error(libc::EINVAL)),
        };
        let submissions = size(entries, ENTRIES_MAX)?;
        let completions = match self.settings.completions {
            Some(entries) => size(entries, 2 * ENTRIES_MAX)?,
            None => 2 * submissions,
        };
        if completions < submissions {
            return Err(Error::from_raw_os_error(libc::EINVAL));
        }
        let capacity = RingCapacity {
            submissions,
            completions,
        };
        let polls = self.settings.polls;
        Ok(IoUring {
            ring: SharedRing::new(capacity, polls),
            params: Parameters { capacity, polls },
            entries: PhantomData,
        })
    }
}

/// What a ring was made with.
#[derive(Clone, Debug)]
pub struct Parameters {
    capacity: RingCapacity,
    polls: bool,
}

/// Features of the kernel that the ring has, or has not.
macro_rules! features {
    ($($name:ident: $value:literal),*) => {$(
        #[doc = concat!("Always ", stringify!($value), ".")]
        pub fn $name(&self) -> bool {
            $value
        }
    )*};
}

impl Parameters {
    /// Whether [`Builder::setup_sqpoll`] was called.
    pub fn is_setup_sqpoll(&self) -> bool {
        self.polls
    }

    features!(
        is_setup_iopoll: false,
        is_feature_single_mmap: true,
        is_feature_nodrop: true,
        is_feature_submit_stable: true,
        is_feature_rw_cur_pos: true,
        is_feature_fast_poll: false,
        is_feature_sqpoll_nonfixed: true,
        is_feature_ext_arg: true,
        is_feature_skip_cqe_on_success: true,
        is_feature_linked_file: true
    );

    /// Room for requests, in entries.
    pub fn sq_entries(&self) -> u32 {
        self.capacity.submissions
    }

    /// Room for completions, in entries.
    pub fn cq_entries(&self) -> u32 {
        self.capacity.completions
    }
}
