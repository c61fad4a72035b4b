//! A file or block device through io_uring, in real time.
//!
//! * Time: the clock is read just before the kernel is entered, which counts as the hand-over of
//!   the one or two commands that go with it, and just after it returned, which counts as the
//!   completion of all that it returned. At depth 1 that is two readings per command. Latency so
//!   includes the system call, as an application sees it.
//! * Commands: reads and writes are direct (unless the target was opened buffered), with a
//!   registered file and registered buffers. A durable write carries `RWF_DSYNC`, a flush is
//!   `IORING_OP_FSYNC`. What reaches the drive of these is the kernel's business and is in the
//!   device's counters: on a device without FUA a durable write is a write and a flush.
//! * A trim of a file punches a hole; of a block device it is the `BLKDISCARD` ioctl, which
//!   blocks: other commands' completions are seen late meanwhile. Zeroes are written with
//!   `fallocate`. The kernel carries out flushes, holes and zeroes in worker threads, which adds
//!   some 10 us to their latency.
//! * The ring waits in the kernel, never polls, and belongs to the thread that opened it.

use super::needs::Contents;
use super::null::since;
use super::payload::{Checked, Payload};
use super::{Counters, Done, Target, TargetFacts, TargetKind};
use crate::device::system::DeviceCounters;
use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use rustix::fs::FallocateFlags;
use rustix::io::{Errno, ReadWriteFlags};
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
const FILE: Fixed = Fixed(0);

/// How a target is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct UringOptions {
    /// Commands outstanding at most.
    pub depth: u32,
    /// Largest read and write in bytes; 0 when there are none.
    pub read_bytes: u32,
    pub write_bytes: u32,
    /// Flush data only (fdatasync).
    pub data_only: bool,
    /// Fresh contents for every write.
    pub refill: bool,
    /// What is verified when it is read.
    pub checked: Checked,
}

/// A command under way.
#[derive(Clone, Copy)]
struct UnderWay {
    submitted: Nanos,
    len: u32,
    buffer: u32,
    /// Of runs that verify: where, and the number of the next write at its hand-over.
    verified: (u64, u64),
}

/// A file or block device through io_uring.
pub struct UringTarget {
    ring: IoUring,
    /// Kept for good if the kernel may still write into it.
    payload: ManuallyDrop<Payload>,
    file: File,
    facts: TargetFacts,
    counters: Option<DeviceCounters>,
    /// Flush commands handed over.
    flushes: u64,
    options: UringOptions,
    /// Buffers are registered: writes first, then reads.
    registered: bool,
    read_region: u16,
    opened: Instant,
    under_way: Vec<UnderWay>,
    outstanding: u32,
    /// Submitted since the kernel was last entered.
    fresh: Vec<u32>,
    /// Discards, carried out when the kernel is entered next.
    discards: Vec<(u32, Command)>,
}

impl UringTarget {
    /// A ring on `file`, which is open for what `options` say. Writes hold `contents`.
    ///
    /// # Errors
    /// When the kernel has no io_uring (5.11 or later is needed), or forbids it.
    pub(super) fn new(
        file: File,
        mut facts: TargetFacts,
        counters: Option<DeviceCounters>,
        options: UringOptions,
        contents: &Contents,
    ) -> Result<UringTarget, LabError> {
        let refused = |error: io::Error| {
            LabError::refused(
                format!("io_uring cannot be used: {error}"),
                "Linux 5.11 or later is needed; see also sysctl kernel.io_uring_disabled and the \
                 container's seccomp profile",
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
        let mut payload = Payload::new(
            options.depth,
            options.read_bytes,
            options.write_bytes,
            options.refill,
            options.checked,
        )
        .map_err(refused)?;
        payload.hold(contents, facts.capacity)?;
        let registered = register(&ring, &payload);
        if !registered {
            facts.notes.push(String::from(
                "buffers could not be registered (see ulimit -l): each command maps its own, \
                 which costs some CPU time",
            ));
        }
        let idle = UnderWay {
            submitted: Nanos::ZERO,
            len: 0,
            buffer: NO_BUFFER,
            verified: (0, 0),
        };
        Ok(UringTarget {
            ring,
            payload: ManuallyDrop::new(payload),
            file,
            facts,
            counters,
            flushes: 0,
            options,
            registered,
            read_region: u16::from(options.write_bytes > 0),
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
    fn entry(&mut self, tag: u32, command: &Command) -> (squeue::Entry, u32) {
        let (offset, len) = (command.offset, command.len);
        let zero = FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE;
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let fallocate = |mode: FallocateFlags| {
            opcode::Fallocate::new(FILE, u64::from(len))
                .offset(offset)
                .mode(mode.bits() as i32)
                .build()
        };
        match command.op {
            Op::Read => {
                let room = match self.options.checked {
                    Checked::Never => self.payload.read_room(len),
                    _ => self.payload.read_room_of(tag, len).0,
                };
                let entry = if self.registered {
                    let read = opcode::ReadFixed::new(FILE, room, len, self.read_region);
                    read.offset(offset).build()
                } else {
                    opcode::Read::new(FILE, room, len).offset(offset).build()
                };
                (entry, NO_BUFFER)
            }
            Op::Write => {
                let (buffer, from) = self.payload.take_write(command);
                let flags = match command.fua {
                    true => ReadWriteFlags::DSYNC.bits() as i32,
                    false => 0,
                };
                let entry = if self.registered {
                    let write = opcode::WriteFixed::new(FILE, from, len, 0);
                    write.offset(offset).rw_flags(flags).build()
                } else {
                    let write = opcode::Write::new(FILE, from, len);
                    write.offset(offset).rw_flags(flags).build()
                };
                (entry, buffer)
            }
            Op::Flush => {
                self.flushes += 1;
                let flags = match self.options.data_only {
                    true => FsyncFlags::DATASYNC,
                    false => FsyncFlags::empty(),
                };
                (opcode::Fsync::new(FILE).flags(flags).build(), NO_BUFFER)
            }
            Op::Trim => (fallocate(hole), NO_BUFFER),
            Op::WriteZeroes => (fallocate(zero), NO_BUFFER),
        }
    }

    /// Carries out discards one by one; the caller waits.
    #[cold]
    fn discard(&mut self, submitted: Nanos, done: &mut Vec<Done>) -> Result<(), LabError> {
        self.enter(Some(Nanos::ZERO))?;
        for (tag, command) in std::mem::take(&mut self.discards) {
            let range = [command.offset, u64::from(command.len)];
            // SAFETY: BLKDISCARD takes a pointer to two u64, start and length in bytes.
            let request = unsafe { Setter::<BLKDISCARD, [u64; 2]>::new(range) };
            // SAFETY: as above; the file is a block device opened for writing.
            let result = unsafe { ioctl(&self.file, request) };
            self.outstanding -= 1;
            done.push(Done {
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
        let now = self.clock();
        for tag in self.fresh.drain(..) {
            self.under_way[tag as usize].submitted = now;
        }
        now
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

    fn collect(&mut self, now: Nanos, done: &mut Vec<Done>) {
        for entry in self.ring.completion() {
            let tag = entry.user_data() as u32;
            let under_way = &mut self.under_way[tag as usize];
            let errno = match entry.result() {
                error if error < 0 => -error,
                // Less than was asked for: past the end, or out of space half-way.
                count if under_way.len > 0 && count as u32 != under_way.len => {
                    Errno::IO.raw_os_error()
                }
                _ if self.options.checked == Checked::Never || under_way.len == 0 => 0,
                _ => judged(&mut self.payload, tag, under_way),
            };
            if under_way.buffer != NO_BUFFER {
                self.payload.give_back(under_way.buffer);
                under_way.buffer = NO_BUFFER;
            }
            self.outstanding -= 1;
            done.push(Done {
                tag,
                submitted: under_way.submitted,
                done: now,
                errno,
            });
        }
    }
}

/// The error of a command that completed: a read may hold something else than was written.
#[cold]
fn judged(payload: &mut Payload, tag: u32, command: &UnderWay) -> i32 {
    let ((offset, before), len) = (command.verified, command.len);
    if command.buffer != NO_BUFFER {
        payload.written(offset, len);
        return 0;
    }
    match payload.agrees(tag, offset, len, before) {
        true => 0,
        false => Errno::ILSEQ.raw_os_error(),
    }
}

/// A ring for `depth` commands, with what the kernel has of the cheaper ways to complete.
fn ring(depth: u32) -> io::Result<IoUring> {
    let entries = depth.next_power_of_two().max(4);
    let newest = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_coop_taskrun()
        .build(entries);
    newest
        .or_else(|_| IoUring::builder().setup_coop_taskrun().build(entries))
        .or_else(|_| IoUring::builder().build(entries))
}

/// Registers the payload's regions that are not empty. False when the kernel refuses.
fn register(ring: &IoUring, payload: &Payload) -> bool {
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

impl Target for UringTarget {
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
        if self.fresh.len() >= HAND_OVER {
            self.hand_over()?;
        }
        self.outstanding += 1;
        if command.op == Op::Trim && self.facts.kind == TargetKind::BlockDevice {
            self.payload.forget(command.offset, command.len);
            self.discards.push((tag, *command));
            return Ok(());
        }
        let mut verified = (0, 0);
        if self.options.checked != Checked::Never {
            verified = (command.offset, self.payload.read_room_of(tag, 0).1);
            if matches!(command.op, Op::Trim | Op::WriteZeroes) {
                self.payload.forget(command.offset, command.len);
            }
        }
        let (entry, buffer) = self.entry(tag, command);
        let transfers = matches!(command.op, Op::Read | Op::Write);
        self.under_way[tag as usize] = UnderWay {
            submitted: Nanos::ZERO,
            len: if transfers { command.len } else { 0 },
            buffer,
            verified,
        };
        self.fresh.push(tag);
        let entry = entry.user_data(u64::from(tag));
        // SAFETY: the entry's buffer belongs to this command until its completion, and file and
        // buffers outlive the ring.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.map_err(|_| {
            LabError::SelfCheck(String::from("more commands submitted than the ring holds"))
        })
    }

    fn reap(&mut self, until: Option<Nanos>, done: &mut Vec<Done>) -> Result<(), LabError> {
        let before = self.stamp();
        let wait = until.map(|until| until.saturating_sub(before));
        if self.outstanding == 0 {
            std::thread::sleep(Duration::from_nanos(wait.unwrap_or_default().0));
            return Ok(());
        }
        if self.discards.is_empty() {
            self.enter(wait)?;
        } else {
            self.discard(before, done)?;
        }
        let now = self.clock();
        self.collect(now, done);
        Ok(())
    }

    fn counters(&mut self) -> Counters {
        // A file system makes data durable by flushes that stand alone; on a bare device only our
        // own do, while that of a durable write belongs to the write.
        let alone = match self.facts.kind {
            TargetKind::File => u64::MAX,
            _ => self.flushes,
        };
        let counters = self.counters.as_ref();
        counters
            .map(|counters| counters.read(alone))
            .unwrap_or_default()
    }
}

impl Drop for UringTarget {
    fn drop(&mut self) {
        if self.outstanding == 0 {
            // SAFETY: dropped once, here, and not used afterwards; nothing is under way, so the
            // kernel touches none of it any more.
            unsafe { ManuallyDrop::drop(&mut self.payload) };
        }
    }
}

#[cfg(test)]
#[path = "uring_tests.rs"]
mod tests;
