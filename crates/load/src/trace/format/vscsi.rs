//! CloudPhysics' traces of virtual disks: binary records, in either of two layouts.
//!
//! Little-endian (Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST 2015; the
//! layouts as readers of these traces, such as libCacheSim, declare them):
//!
//! ```text
//!   1: serial u32, bytes u32, segments u32, command u16, version u16, block u64, time u64
//!   2: command u16, version u16, serial u32, bytes u32, segments u32, block u64, time u64,
//!      response u64
//! ```
//! The upper byte of `version` is the layout; blocks have 512 bytes, times are in us, `command` is
//! the SCSI operation code.

use super::number::{TraceLineError, bytes_of};
use super::sink::EventSink;
use crate::trace::TraceEvent;
use ssdlab_ssd::Op;

const US: u64 = 1000;

/// Which of the two layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VscsiLayout {
    One,
    Two,
}

impl VscsiLayout {
    /// Of a trace that starts with `head`: its first two records say so.
    pub fn of(head: &[u8]) -> Option<VscsiLayout> {
        [VscsiLayout::One, VscsiLayout::Two]
            .into_iter()
            .find(|layout| {
                let mut records = head.chunks_exact(layout.record_bytes()).take(2);
                !head.is_empty() && records.len() == 2 && records.all(|record| layout.is_of(record))
            })
    }

    /// Bytes of a record.
    pub fn record_bytes(self) -> usize {
        match self {
            VscsiLayout::One => 32,
            VscsiLayout::Two => 40,
        }
    }

    fn is_of(self, record: &[u8]) -> bool {
        let (command, version) = match self {
            VscsiLayout::One => (number(record, 12, 2), number(record, 14, 2)),
            VscsiLayout::Two => (number(record, 0, 2), number(record, 2, 2)),
        };
        let layout = match self {
            VscsiLayout::One => 1,
            VscsiLayout::Two => 2,
        };
        version >> 8 == layout && op(command).is_some()
    }

    /// Reads a record; its command goes to `sink`.
    ///
    /// # Errors
    /// Why it cannot be understood.
    pub fn record(self, record: &[u8], sink: &mut EventSink) -> Result<(), TraceLineError> {
        let [command, bytes, block, time, response] = match self {
            VscsiLayout::One => [(12, 2), (4, 4), (16, 8), (24, 8), (0, 0)],
            VscsiLayout::Two => [(0, 2), (8, 4), (16, 8), (24, 8), (32, 8)],
        }
        .map(|(offset, len)| number(record, offset, len));
        let Some(op) = op(command) else {
            sink.skipped += 1;
            return Ok(());
        };
        let ns = |us: u64| {
            us.checked_mul(US)
                .ok_or_else(|| format!("{us} us is no time"))
        };
        let issued_ns = ns(time)?;
        let done_ns = match self {
            VscsiLayout::One => None,
            VscsiLayout::Two => Some(issued_ns.saturating_add(ns(response)?)),
        };
        sink.take(TraceEvent {
            done_ns,
            ..TraceEvent::new(issued_ns, op, bytes_of(block)?, bytes)
        })
    }
}

/// A little-endian number of `len` bytes.
fn number(record: &[u8], offset: usize, len: usize) -> u64 {
    let bytes = record[offset..offset + len].iter().rev();
    bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// SCSI operation codes of reads and writes with 6, 10, 12 and 16 bytes, UNMAP and SYNCHRONIZE
/// CACHE (SBC-4, table 32).
fn op(command: u64) -> Option<Op> {
    Some(match command {
        0x08 | 0x28 | 0xa8 | 0x88 => Op::Read,
        0x0a | 0x2a | 0xaa | 0x8a => Op::Write,
        0x42 => Op::Trim,
        0x35 | 0x91 => Op::Flush,
        _ => return None,
    })
}
