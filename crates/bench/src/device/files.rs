//! Commands to files and block devices, as system calls.
//!
//! Reads and writes are direct (unless the target was opened buffered), with a registered file and
//! registered buffers. A durable write carries `RWF_DSYNC`, a flush is `IORING_OP_FSYNC`. What
//! reaches the drive of these is the kernel's business and is in the device's counters: on a device
//! without FUA a durable write is a write and a flush. A trim of a file punches a hole, and zeroes
//! are written with `fallocate`. The kernel carries out flushes, holes and zeroes in worker
//! threads, which adds some 10 us to their latency.

use super::system::DeviceCounters;
use super::uring::UringTarget;
use super::way::{FILE, UringBackend};
use super::{Counters, TargetKind};
use io_uring::types::FsyncFlags;
use io_uring::{cqueue, opcode, squeue};
use rustix::fs::FallocateFlags;
use rustix::io::{Errno, ReadWriteFlags};
use ssdlab_ssd::{Command, Op};

/// A file or block device through io_uring.
pub type FileTarget = UringTarget<FileBackend>;

/// The way to a file or block device.
pub struct FileBackend {
    kind: TargetKind,
    counters: Option<DeviceCounters>,
    /// Flush data only (fdatasync).
    data_only: bool,
    /// Flush commands handed over.
    flushes: u64,
    /// Buffers are registered: writes first, then reads.
    registered: bool,
    read_region: u16,
}

impl FileBackend {
    /// The way to a target of this kind, with the counters of the drive underneath; `writes` when
    /// something is written, `data_only` when flushes need not flush the file's own tables.
    pub(super) fn new(
        kind: TargetKind,
        counters: Option<DeviceCounters>,
        writes: bool,
        data_only: bool,
    ) -> FileBackend {
        FileBackend {
            kind,
            counters,
            data_only,
            flushes: 0,
            registered: false,
            read_region: u16::from(writes),
        }
    }
}

impl UringBackend for FileBackend {
    type Entry = squeue::Entry;
    type Completion = cqueue::Entry;
    const SINCE: &str = "5.11";
    const REGISTERS: bool = true;

    fn registered(&mut self) {
        self.registered = true;
    }

    #[inline]
    fn discards(&self, command: &Command) -> bool {
        command.op == Op::Trim && self.kind == TargetKind::BlockDevice
    }

    #[inline]
    fn entry(&mut self, _tag: u32, command: &Command, buffer: *mut u8) -> squeue::Entry {
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
            Op::Read if self.registered => {
                let read = opcode::ReadFixed::new(FILE, buffer, len, self.read_region);
                read.offset(offset).build()
            }
            Op::Read => opcode::Read::new(FILE, buffer, len).offset(offset).build(),
            Op::Write => {
                let flags = if command.fua {
                    ReadWriteFlags::DSYNC.bits() as i32
                } else {
                    0
                };
                if self.registered {
                    let write = opcode::WriteFixed::new(FILE, buffer, len, 0);
                    write.offset(offset).rw_flags(flags).build()
                } else {
                    let write = opcode::Write::new(FILE, buffer, len);
                    write.offset(offset).rw_flags(flags).build()
                }
            }
            Op::Flush => {
                self.flushes += 1;
                let flags = if self.data_only {
                    FsyncFlags::DATASYNC
                } else {
                    FsyncFlags::empty()
                };
                opcode::Fsync::new(FILE).flags(flags).build()
            }
            Op::Trim => fallocate(hole),
            Op::WriteZeroes => fallocate(zero),
        }
    }

    #[inline]
    fn error(&mut self, _tag: u32, result: i32, len: u32) -> i32 {
        match result {
            error if error < 0 => -error,
            // Less than was asked for: past the end, or out of space half-way.
            count if len > 0 && count as u32 != len => Errno::IO.raw_os_error(),
            _ => 0,
        }
    }

    fn counters(&self) -> Counters {
        // A file system makes data durable by flushes that stand alone; on a bare device only our
        // own do, while that of a durable write belongs to the write.
        let alone = match self.kind {
            TargetKind::File => u64::MAX,
            _ => self.flushes,
        };
        let counters = self.counters.as_ref();
        counters
            .map(|counters| counters.read(alone))
            .unwrap_or_default()
    }
}
