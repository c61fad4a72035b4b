//! A file or device through a ring of io_uring, in real time.
//!
//! * Time: the clock is read just before the kernel is entered, which counts as the hand-over of
//!   the one or two commands that go with it, and just after it returned, which counts as the
//!   completion of all that it returned. At depth 1 that is two readings per command. Latency so
//!   includes the system call, as an application sees it.
//! * Commands: a [`UringBackend`], chosen at compile time, makes the requests to the kernel.
//! * A trim of a block device is the `BLKDISCARD` ioctl, which blocks: other commands' completions
//!   are seen late meanwhile.
//! * The ring waits in the kernel, never polls, and belongs to the thread that opened it.

use super::needs::{Needs, PayloadContents};
use super::null::since;
use super::payload::{PayloadBuffers, VerifyScope};
use super::way::UringBackend;
use super::{Counters, Target, TargetCompletion, TargetFacts};
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, squeue};
use rustix::io::Errno;
use rustix::ioctl::{Setter, ioctl, opcode as ioctl_code};
use ssdlab_base::LabError;
use ssdlab_ssd::{Command, Nanos, Op};
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// `BLKDISCARD` of linux/fs.h, `_IO(0x12, 119)`.
const BLKDISCARD: rustix::ioctl::Opcode = ioctl_code::none(0x12, 119);
/// Commands handed over together at most. A host that hands over everything that a batch of
/// completions made room for lets the queue run low meanwhile: at depth 32 on a virtio disk that
/// cost a quarter of the IOPS against one or two at a time, which is also how fio does it.
const HAND_OVER: usize = 2;
const NO_BUFFER: u32 = u32::MAX;
/// How a target is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct UringOptions {
    /// Commands outstanding at most.
    pub depth: u32,
    /// Largest read and write in bytes; 0 when there are none.
    pub read_bytes: u32,
    pub write_bytes: u32,
    /// Fresh contents for every write.
    pub refill: bool,
    /// What is verified when it is read.
    pub checked: VerifyScope,
}

impl UringOptions {
    /// For what `needs` says.
    pub fn of(needs: &Needs) -> UringOptions {
        UringOptions {
            depth: needs.depth,
            read_bytes: needs.read_bytes,
            write_bytes: needs.write_bytes,
            refill: needs.refill,
            checked: match (needs.verify, needs.verify_all) {
                (false, _) => VerifyScope::Never,
                (true, false) => VerifyScope::Own,
                (true, true) => VerifyScope::All,
            },
        }
    }
}

/// A command under way.
#[derive(Clone, Copy)]
struct PendingCommand {
    submitted: Nanos,
    len: u32,
    buffer: u32,
    /// Of runs that verify: where, and the number of the next write at its hand-over.
    verified: (u64, u64),
}

/// A file or device through io_uring.
pub struct UringTarget<W: UringBackend> {
    ring: IoUring<W::Entry, W::Completion>,
    /// Kept for good if the kernel may still write into it.
    payload: ManuallyDrop<PayloadBuffers>,
    /// Kept for good if the kernel may still read what it points to.
    way: ManuallyDrop<W>,
    file: File,
    facts: TargetFacts,
    options: UringOptions,
    opened: Instant,
    under_way: Vec<PendingCommand>,
    outstanding: u32,
    /// Submitted since the kernel was last entered.
    fresh: Vec<u32>,
    /// Discards, carried out when the kernel is entered next.
    discards: Vec<(u32, Command)>,
}

impl<W: UringBackend> UringTarget<W> {
    /// A ring on `file`, which is open for what `options` say, on which commands go the given
    /// `way`. Writes hold `contents`.
    ///
    /// # Errors
    /// When the kernel has no io_uring, or none that goes this way, or forbids it.
    pub(super) fn new(
        file: File,
        mut facts: TargetFacts,
        mut way: W,
        options: UringOptions,
        contents: &PayloadContents,
    ) -> Result<UringTarget<W>, LabError> {
        let refused = |error: io::Error| {
            LabError::refused(
                format!("io_uring cannot be used: {error}"),
                format!(
                    "Linux {} or later is needed; see also sysctl kernel.io_uring_disabled and the \
                     container's seccomp profile",
                    W::SINCE
                ),
            )
        };
        let ring = ring(options.depth).map_err(refused)?;
        if !ring.params().is_feature_ext_arg() {
            return Err(refused(io::Error::other("no timeouts on waiting")));
        }
        let submitter = ring.submitter();
        submitter
            .register_files(&[file.as_raw_fd()])
            .map_err(refused)?;
        let mut payload = PayloadBuffers::new(
            options.depth,
            options.read_bytes,
            options.write_bytes,
            options.refill,
            options.checked,
        )
        .map_err(refused)?;
        payload.hold(contents, facts.capacity)?;
        if W::REGISTERS && register(&ring, &payload) {
            way.registered();
        } else if W::REGISTERS {
            facts.notes.push(String::from(
                "buffers could not be registered (see ulimit -l): each command maps its own, \
                 which costs some CPU time",
            ));
        }
        let idle = PendingCommand {
            submitted: Nanos::ZERO,
            len: 0,
            buffer: NO_BUFFER,
            verified: (0, 0),
        };
        Ok(UringTarget {
            ring,
            payload: ManuallyDrop::new(payload),
            way: ManuallyDrop::new(way),
            file,
            facts,
            options,
            opened: Instant::now(),
            under_way: vec![idle; options.depth as usize],
            outstanding: 0,
            fresh: Vec::with_capacity(options.depth as usize),
            discards: Vec::new(),
        })
    }

    fn clock(&self) -> Nanos {
        since(self.opened)
    }

    /// The ring's entry for a command, and the buffer it holds.
    #[inline]
    fn entry(&mut self, tag: u32, command: &Command) -> (W::Entry, u32) {
        let (held, buffer) = match command.op {
            Op::Read => {
                let room = match self.options.checked {
                    VerifyScope::Never => self.payload.read_room(command.len),
                    _ => self.payload.read_room_of(tag, command.len).0,
                };
                (NO_BUFFER, room)
            }
            Op::Write => self.payload.take_write(command),
            Op::Flush | Op::Trim | Op::WriteZeroes => (NO_BUFFER, std::ptr::null_mut()),
        };
        (self.way.entry(tag, command, buffer), held)
    }

    /// Carries out discards one by one; the caller waits.
    #[cold]
    fn discard(
        &mut self,
        submitted: Nanos,
        completions: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError> {
        self.enter(Some(Nanos::ZERO))?;
        for (tag, command) in std::mem::take(&mut self.discards) {
            let range = [command.offset, u64::from(command.len)];
            // SAFETY: BLKDISCARD takes a pointer to two u64, start and length in bytes.
            let request = unsafe { Setter::<BLKDISCARD, [u64; 2]>::new(range) };
            // SAFETY: as above; the file is a block device opened for writing.
            let result = unsafe { ioctl(&self.file, request) };
            self.outstanding -= 1;
            completions.push(TargetCompletion {
                tag,
                submitted,
                done: self.clock(),
                errno: result.err().map_or(0, Errno::raw_os_error),
            });
        }
        Ok(())
    }

    /// Hands over what is queued, without waiting.
    fn hand_over(&mut self) -> Result<(), LabError> {
        self.stamp();
        let result = self.ring.submit();
        self.check_entered(result)
    }

    /// What is queued counts as handed over now.
    #[inline]
    fn stamp(&mut self) -> Nanos {
        let time = self.clock();
        for tag in self.fresh.drain(..) {
            self.under_way[tag as usize].submitted = time;
        }
        time
    }

    /// Hands over what is queued and waits for a completion, at most for `wait`.
    #[inline]
    fn enter(&mut self, wait: Option<Nanos>) -> Result<(), LabError> {
        let submitter = self.ring.submitter();
        let result = match wait {
            Some(wait) => {
                let wait = Timespec::from(Duration::from_nanos(wait.0));
                submitter.submit_with_args(1, &SubmitArgs::new().timespec(&wait))
            }
            None => submitter.submit_and_wait(1),
        };
        self.check_entered(result)
    }

    #[inline]
    fn check_entered(&self, result: io::Result<usize>) -> Result<(), LabError> {
        match result {
            Ok(_) => Ok(()),
            // Time is up; a signal came; the kernel is short of something for a moment, or
            // wants completions to be taken first.
            Err(error)
                if matches!(
                    Errno::from_io_error(&error),
                    Some(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY)
                ) =>
            {
                Ok(())
            }
            Err(error) => Err(LabError::file("waiting for", &self.facts.name, error)),
        }
    }

    fn collect(&mut self, time: Nanos, completions: &mut Vec<TargetCompletion>) {
        for entry in self.ring.completion() {
            let entry: cqueue::Entry = entry.into();
            let tag = entry.user_data() as u32;
            let under_way = &mut self.under_way[tag as usize];
            let errno = match self.way.error(tag, entry.result(), under_way.len) {
                error if error != 0 => error,
                _ if self.options.checked == VerifyScope::Never || under_way.len == 0 => 0,
                _ => verification_errno(&mut self.payload, tag, under_way),
            };
            if under_way.buffer != NO_BUFFER {
                self.payload.give_back(under_way.buffer);
                under_way.buffer = NO_BUFFER;
            }
            self.outstanding -= 1;
            completions.push(TargetCompletion {
                tag,
                submitted: under_way.submitted,
                done: time,
                errno,
            });
        }
    }
}

/// The error of a command that completed: a read may hold something else than was written.
#[cold]
fn verification_errno(payload: &mut PayloadBuffers, tag: u32, command: &PendingCommand) -> i32 {
    let ((offset, before), len) = (command.verified, command.len);
    if command.buffer != NO_BUFFER {
        payload.written(offset, len);
        return 0;
    }
    if payload.agrees(tag, offset, len, before) {
        0
    } else {
        Errno::ILSEQ.raw_os_error()
    }
}

/// A ring for `depth` commands, with what the kernel has of the cheaper ways to complete.
fn ring<S, C>(depth: u32) -> io::Result<IoUring<S, C>>
where
    S: squeue::EntryMarker,
    C: cqueue::EntryMarker,
{
    let entries = depth.next_power_of_two().max(4);
    let newest = IoUring::<S, C>::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_coop_taskrun()
        .build(entries);
    newest
        .or_else(|_| {
            let builder = &mut IoUring::<S, C>::builder();
            builder.setup_coop_taskrun().build(entries)
        })
        .or_else(|_| IoUring::<S, C>::builder().build(entries))
}

/// Registers the payload's regions that are not empty. False when the kernel refuses.
fn register<S, C>(ring: &IoUring<S, C>, payload: &PayloadBuffers) -> bool
where
    S: squeue::EntryMarker,
    C: cqueue::EntryMarker,
{
    /// As `struct iovec` of readv(2).
    #[repr(C)]
    struct Region(*mut u8, usize);
    let regions: Vec<Region> = payload
        .regions()
        .into_iter()
        .filter(|(_, len)| *len > 0)
        .map(|(start, len)| Region(start, len))
        .collect();
    if regions.is_empty() {
        return true;
    }
    // SAFETY: `Region` has the layout of `iovec`, and the slice is that of the vector. The
    // regions are mapped and stay so until the ring is closed or idle: the target's `drop` gives
    // them up only when nothing is outstanding.
    unsafe {
        let vectors = std::slice::from_raw_parts(regions.as_ptr().cast(), regions.len());
        ring.submitter().register_buffers(vectors).is_ok()
    }
}

impl<W: UringBackend> Target for UringTarget<W> {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn depth_max(&self) -> u32 {
        self.options.depth
    }

    fn now(&mut self) -> Nanos {
        self.clock()
    }

    #[inline]
    fn submit(&mut self, tag: u32, command: &Command) -> Result<(), LabError> {
        self.way.check(command)?;
        if self.fresh.len() >= HAND_OVER {
            self.hand_over()?;
        }
        self.outstanding += 1;
        if self.way.discards(command) {
            self.payload.forget(command.offset, command.len);
            self.discards.push((tag, *command));
            return Ok(());
        }
        let mut verified = (0, 0);
        if self.options.checked != VerifyScope::Never {
            verified = (command.offset, self.payload.read_room_of(tag, 0).1);
            if matches!(command.op, Op::Trim | Op::WriteZeroes) {
                self.payload.forget(command.offset, command.len);
            }
        }
        let (mut entry, buffer) = self.entry(tag, command);
        let transfers = matches!(command.op, Op::Read | Op::Write);
        self.under_way[tag as usize] = PendingCommand {
            submitted: Nanos::ZERO,
            len: if transfers { command.len } else { 0 },
            buffer,
            verified,
        };
        self.fresh.push(tag);
        squeue::EntryMarker::set_user_data(&mut entry, u64::from(tag));
        // SAFETY: the entry's buffer belongs to this command until its completion, and file and
        // buffers outlive the ring.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.map_err(|_| {
            LabError::SelfCheck(String::from("more commands submitted than the ring holds"))
        })
    }

    fn reap(
        &mut self,
        until: Option<Nanos>,
        completions: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError> {
        let before = self.stamp();
        let wait = until.map(|until| until.saturating_sub(before));
        if self.outstanding == 0 {
            std::thread::sleep(Duration::from_nanos(wait.unwrap_or_default().0));
            return Ok(());
        }
        if self.discards.is_empty() {
            self.enter(wait)?;
        } else {
            self.discard(before, completions)?;
        }
        let time = self.clock();
        self.collect(time, completions);
        Ok(())
    }

    fn counters(&mut self) -> Counters {
        self.way.counters()
    }
}

impl<W: UringBackend> Drop for UringTarget<W> {
    fn drop(&mut self) {
        if self.outstanding == 0 {
            // SAFETY: each dropped once, here, and not used afterwards; nothing is under way, so
            // the kernel touches none of it any more.
            unsafe {
                ManuallyDrop::drop(&mut self.payload);
                ManuallyDrop::drop(&mut self.way);
            }
        }
    }
}

#[cfg(test)]
#[path = "uring_tests.rs"]
mod tests;
