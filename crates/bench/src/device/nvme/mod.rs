//! A namespace of an NVMe drive through its generic device (`/dev/ng0n1`): the drive's own
//! commands, by `IORING_OP_URING_CMD` (Linux 5.19 and later; before 6.2 it takes CAP_SYS_ADMIN).
//!
//! * Every command of a workload is one NVMe command: Read, Write (FUA for a durable write), Flush,
//!   Dataset Management with one range to deallocate for a trim, Write Zeroes. Nothing lies between
//!   that merges, splits or caches them, so their counts are those of the commands completed; the
//!   kernel leaves them out of the block device's own counters.
//! * A command that the drive refuses gives its NVMe status ([`super::status`]).
//! * Safety is that of the block device of the same namespace: writing needs the same permission,
//!   and the block device stays open exclusively while this target may write.
//!
//! Left out: metadata and protection information, zones, streams, several ranges in a trim,
//! registered buffers, polling. Source: Linux `drivers/nvme/host/ioctl.c`.

mod calls;
mod command;
mod opening;

pub use opening::{len_max, open};

use super::Counters;
use super::status::errno_of;
use super::uring::UringTarget;
use super::way::{FILE, UringBackend};
use command::{BLOCKS_MAX, DsmRange, URING_IO, UringNvmeCommand};
use io_uring::{cqueue, opcode, squeue};
use ssdlab_base::LabError;
use ssdlab_ssd::{Command, Op};
use std::fs::File;

/// A namespace through its generic device.
pub type NvmeTarget = UringTarget<Passthrough>;

/// A command under way, as far as it is counted.
#[derive(Clone, Copy)]
struct SentCommand {
    op: Op,
    fua: bool,
    len: u32,
}

/// The way to an NVMe generic device.
pub struct Passthrough {
    /// The namespace.
    nsid: u32,
    /// log2 of the bytes of a block.
    block_shift: u32,
    /// The block device, held exclusively. Without it nothing but reads is sent.
    claim: Option<File>,
    /// By tag: what a trim deallocates. The drive reads it while the command is under way.
    ranges: Box<[DsmRange]>,
    /// By tag.
    sent: Box<[SentCommand]>,
    /// Commands completed, by kind.
    counts: [u64; Op::COUNT],
    fua_writes: u64,
    bytes_written: u64,
}

impl Passthrough {
    /// The way to namespace `nsid`, of blocks of `1 << block_shift` bytes, for `depth` commands.
    /// `claim` is its block device, opened exclusively, if anything but reads will be sent.
    fn new(nsid: u32, block_shift: u32, claim: Option<File>, depth: u32) -> Passthrough {
        let idle = SentCommand {
            op: Op::Flush,
            fua: false,
            len: 0,
        };
        Passthrough {
            nsid,
            block_shift,
            claim,
            ranges: vec![DsmRange::default(); depth as usize].into(),
            sent: vec![idle; depth as usize].into(),
            counts: [0; Op::COUNT],
            fua_writes: 0,
            bytes_written: 0,
        }
    }

    /// The command as the drive gets it, from or to `address`.
    #[inline]
    fn encode(&mut self, tag: u32, command: &Command, address: u64) -> UringNvmeCommand {
        let tag = tag as usize;
        self.sent[tag] = SentCommand {
            op: command.op,
            fua: command.fua,
            len: command.len,
        };
        let address = match command.op {
            Op::Trim => {
                self.ranges[tag] = DsmRange::of(command, self.block_shift);
                (&raw const self.ranges[tag]) as u64
            }
            _ => address,
        };
        UringNvmeCommand::of(command, self.nsid, self.block_shift, address)
    }

    #[cold]
    fn refuse(&self, command: &Command) -> LabError {
        let kind = command.op.name();
        if self.claim.is_none() {
            return LabError::SelfCheck(format!(
                "a {kind} was to be sent to a namespace that was opened to be read only"
            ));
        }
        LabError::refused(
            format!(
                "a {kind} of {} bytes at {} is no NVMe command: it takes 1 to {BLOCKS_MAX} whole \
                 blocks of {} bytes",
                command.len,
                command.offset,
                1_u64 << self.block_shift
            ),
            "use smaller or aligned commands, or the block device with ioengine=io_uring",
        )
    }
}

impl UringBackend for Passthrough {
    type Entry = squeue::Entry128;
    type Completion = cqueue::Entry32;
    const SINCE: &str = "5.19";
    const REGISTERS: bool = false;

    #[inline]
    fn check(&self, command: &Command) -> Result<(), LabError> {
        let below_block = (1_u64 << self.block_shift) - 1;
        let whole = (command.offset | u64::from(command.len)) & below_block == 0;
        let blocks = command.len >> self.block_shift;
        let fits = match command.op {
            Op::Flush => true,
            Op::Trim => whole && blocks > 0,
            _ => whole && (1..=BLOCKS_MAX).contains(&blocks),
        };
        if fits && (command.op == Op::Read || self.claim.is_some()) {
            return Ok(());
        }
        Err(self.refuse(command))
    }

    #[inline]
    fn discards(&self, _command: &Command) -> bool {
        false
    }

    #[inline]
    fn entry(&mut self, tag: u32, command: &Command, buffer: *mut u8) -> squeue::Entry128 {
        let bytes = self.encode(tag, command, buffer as u64).bytes();
        opcode::UringCmd80::new(FILE, URING_IO).cmd(bytes).build()
    }

    #[inline]
    fn error(&mut self, tag: u32, result: i32, _len: u32) -> i32 {
        match result {
            0 => {
                let sent = self.sent[tag as usize];
                self.counts[sent.op as usize] += 1;
                if sent.op == Op::Write {
                    self.fua_writes += u64::from(sent.fua);
                    self.bytes_written += u64::from(sent.len);
                }
                0
            }
            // The kernel's own error: it has not reached the drive, or was given up.
            errno if errno < 0 => -errno,
            status => errno_of(status as u16),
        }
    }

    fn counters(&self) -> Counters {
        let count = |op: Op| Some(self.counts[op as usize]);
        Counters {
            reads: count(Op::Read),
            writes: count(Op::Write),
            fua_writes: Some(self.fua_writes),
            flushes: count(Op::Flush),
            trims: count(Op::Trim),
            host_bytes_written: Some(self.bytes_written),
            nand_bytes_written: None,
            more: Vec::new(),
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
