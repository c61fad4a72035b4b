//! What `blktrace` writes: records of `struct blk_io_trace`, each followed by `pdu_len` bytes.
//!
//! Layout (linux/blktrace_api.h), 48 bytes: magic u32 (0x65617400 + version 7), sequence u32,
//! time u64 (ns), sector u64, bytes u32, action u32, pid u32, device u32, cpu u32, error u16,
//! pdu_len u16. The byte order is that of the machine that traced.

use super::number::{SECTOR, TraceLineError, bytes_of};
use super::pairing::{BlockTraceFlags, Pairing};
use super::sink::EventSink;
use crate::trace::TraceEvent;
use ssdlab_base::LabError;
use ssdlab_ssd::Op;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Bytes of a record without what follows it.
pub const RECORD: usize = 48;
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;

// Actions, in the lower half of `action` but for its flag of control groups.
const QUEUE: u32 = 1;
const REQUEUE: u32 = 6;
const ISSUE: u32 = 7;
const COMPLETE: u32 = 8;
const ACTION_MASK: u32 = 0xff;
// Categories, in the upper half.
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const BY_DRIVER: u32 = 1 << 22;
const AT_END: u32 = 1 << 23;
const OF_FILES: u32 = 1 << 24;
const PASSED_THROUGH: u32 = 1 << 25;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;

/// Byte order of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    Little,
    Big,
}

impl Endian {
    /// Of a trace that starts with `head`; `None` when it is not a trace.
    pub fn of(head: &[u8]) -> Option<Endian> {
        let magic: [u8; 4] = head.get(..4)?.try_into().ok()?;
        match MAGIC | VERSION {
            expected if u32::from_le_bytes(magic) == expected => Some(Endian::Little),
            expected if u32::from_be_bytes(magic) == expected => Some(Endian::Big),
            _ => None,
        }
    }

    fn u16(self, record: &[u8; RECORD], offset: usize) -> u16 {
        let bytes = [record[offset], record[offset + 1]];
        match self {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        }
    }

    fn u32(self, record: &[u8; RECORD], offset: usize) -> u32 {
        let bytes = std::array::from_fn(|i| record[offset + i]);
        match self {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        }
    }

    fn u64(self, record: &[u8; RECORD], offset: usize) -> u64 {
        let bytes = std::array::from_fn(|i| record[offset + i]);
        match self {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        }
    }
}

/// The step of a command that a written record stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlktraceAction {
    Issue,
    Complete,
}

/// A little-endian record of device 8,0. The event is of whole sectors and below 4 GiB.
pub fn encoded(
    sequence: u32,
    at_ns: u64,
    step: BlktraceAction,
    event: &TraceEvent,
) -> [u8; RECORD] {
    let step = match step {
        BlktraceAction::Issue => ISSUE | BY_DRIVER,
        BlktraceAction::Complete => COMPLETE | AT_END,
    };
    // As the kernel has it: a discard is a write too, a flush alone a read of nothing.
    let kind = match event.op {
        Op::Read => READ,
        Op::Write | Op::WriteZeroes => WRITE,
        Op::Trim => WRITE | DISCARD,
        Op::Flush => READ | FLUSH,
    };
    let flag = |set: bool, bit: u32| if set { bit } else { 0 };
    let flags = flag(event.preflush, FLUSH) | flag(event.fua, FUA) | OF_FILES;
    let mut record = [0; RECORD];
    let mut put =
        |offset: usize, field: &[u8]| record[offset..offset + field.len()].copy_from_slice(field);
    put(0, &(MAGIC | VERSION).to_le_bytes());
    put(4, &sequence.to_le_bytes());
    put(8, &at_ns.to_le_bytes());
    put(16, &(event.offset / SECTOR).to_le_bytes());
    put(24, &(event.len as u32).to_le_bytes());
    put(28, &(step | kind | flags).to_le_bytes());
    put(36, &(8u32 << 20).to_le_bytes());
    record
}

/// The files of one trace, one for each CPU, as one file in order of time: what `blkparse -i`
/// does. Each is in order by itself.
pub struct CpuFileMerge {
    parts: Vec<BlktraceCpuFile>,
    endian: Endian,
    /// The record being given out.
    current: Vec<u8>,
    consumed: usize,
}

struct BlktraceCpuFile {
    name: PathBuf,
    input: BufReader<File>,
    /// Its next record with what follows it; empty at its end.
    next: Vec<u8>,
}

impl CpuFileMerge {
    /// The files `X.blktrace.0`, `.1`, ... of the trace called `base`, in order; empty
    /// without such files.
    pub fn files(base: &Path) -> Vec<PathBuf> {
        let name = |cpu: usize| {
            let mut name = base.as_os_str().to_owned();
            name.push(format!(".blktrace.{cpu}"));
            PathBuf::from(name)
        };
        // A CPU without a file ends the search: blktrace writes one for each.
        (0..4096)
            .map(name)
            .take_while(|path| path.exists())
            .collect()
    }

    /// Opens `files`, those that are empty left out.
    ///
    /// # Errors
    /// When one cannot be read, is not a blktrace trace, or ends within a record.
    pub fn open(files: Vec<PathBuf>) -> Result<CpuFileMerge, LabError> {
        let mut merge = CpuFileMerge {
            parts: Vec::new(),
            endian: Endian::Little,
            current: Vec::new(),
            consumed: 0,
        };
        for name in files {
            let fail = |error| LabError::file("reading", &name, error);
            let mut input = BufReader::new(File::open(&name).map_err(fail)?);
            let head = input.fill_buf().map_err(fail)?;
            if head.is_empty() {
                continue;
            }
            merge.endian = Endian::of(head).ok_or_else(|| {
                LabError::refused(
                    format!("{}: not what blktrace writes", name.display()),
                    "name the trace's own file",
                )
            })?;
            let next = Vec::new();
            let mut part = BlktraceCpuFile { name, input, next };
            part.advance(merge.endian)
                .map_err(|error| LabError::file("reading", &part.name, error))?;
            merge.parts.push(part);
        }
        Ok(merge)
    }

    /// Makes the earliest record the current one.
    fn advance(&mut self) -> std::io::Result<()> {
        let endian = self.endian;
        let time =
            |part: &BlktraceCpuFile| part.next.first_chunk().map(|record| endian.u64(record, 8));
        let parts = self.parts.iter_mut().filter(|part| !part.next.is_empty());
        (self.consumed, self.current) = (0, Vec::new());
        if let Some(part) = parts.min_by_key(|part| time(part)) {
            std::mem::swap(&mut self.current, &mut part.next);
            part.advance(endian)?;
        }
        Ok(())
    }
}

impl BlktraceCpuFile {
    fn advance(&mut self, endian: Endian) -> std::io::Result<()> {
        use std::io::{Error, ErrorKind};
        self.next.clear();
        let mut record = [0; RECORD];
        let head = self.input.by_ref().take(RECORD as u64);
        if { head }.read_to_end(&mut self.next)? == 0 {
            return Ok(());
        }
        let cut = || {
            let problem = format!("{} ends within a record", self.name.display());
            Error::new(ErrorKind::InvalidData, problem)
        };
        let head = self.next.first_chunk::<RECORD>().ok_or_else(cut)?;
        record.copy_from_slice(head);
        let trailer = u64::from(endian.u16(&record, 46));
        let read = self
            .input
            .by_ref()
            .take(trailer)
            .read_to_end(&mut self.next)?;
        if (read as u64) < trailer {
            return Err(cut());
        }
        Ok(())
    }
}

impl Read for CpuFileMerge {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.consumed == self.current.len() {
            self.advance()?;
        }
        let unread = &self.current[self.consumed..];
        let count = unread.len().min(buffer.len());
        buffer[..count].copy_from_slice(&unread[..count]);
        self.consumed += count;
        Ok(count)
    }
}

/// Reads records.
pub struct Blktrace {
    endian: Endian,
    pairing: Pairing,
    issues: bool,
}

impl Blktrace {
    pub fn new(endian: Endian) -> Blktrace {
        Blktrace {
            endian,
            pairing: Pairing::default(),
            issues: false,
        }
    }

    /// Bytes that follow the record.
    ///
    /// # Errors
    /// When this is not a record: the reader has lost its place and cannot find it again.
    pub fn trailer(&self, record: &[u8; RECORD]) -> Result<usize, TraceLineError> {
        if self.endian.u32(record, 0) != MAGIC | VERSION {
            return Err("no record starts here".to_owned());
        }
        Ok(usize::from(self.endian.u16(record, 46)))
    }

    /// Takes a record.
    ///
    /// # Errors
    /// When it can be no command.
    pub fn record(
        &mut self,
        record: &[u8; RECORD],
        sink: &mut EventSink,
    ) -> Result<(), TraceLineError> {
        let endian = self.endian;
        let action = endian.u32(record, 28);
        let action_code = action & ACTION_MASK;
        let relevant = matches!(action_code, QUEUE | REQUEUE | ISSUE | COMPLETE);
        if !relevant || action & (NOTIFY | PASSED_THROUGH) != 0 {
            sink.skipped += 1;
            return Ok(());
        }
        // Kernel device numbers: 12 bits of major, 20 of minor.
        let device = endian.u32(record, 36);
        if !sink.admits(&format!("{},{}", device >> 20, device & 0xf_ffff)) {
            return Ok(());
        }
        let (at_ns, sector) = (endian.u64(record, 8), endian.u64(record, 16));
        let len = u64::from(endian.u32(record, 24));
        let op = match action {
            a if a & DISCARD != 0 => Op::Trim,
            a if a & WRITE != 0 => Op::Write,
            a if a & READ != 0 => Op::Read,
            _ => Op::Flush,
        };
        let kind = BlockTraceFlags::of(op, action & FLUSH != 0, action & FUA != 0, len);
        let Some(kind) = kind.filter(|kind| kind.op == Op::Flush || len > 0) else {
            sink.skipped += 1;
            return Ok(());
        };
        // A flush's sector means nothing, and may be all ones.
        let offset = match kind.op {
            Op::Flush => 0,
            _ => bytes_of(sector)?,
        };
        let event = kind.event(at_ns, offset, len);
        match action_code {
            ISSUE => {
                if !self.issues {
                    self.pairing = Pairing::default();
                    self.issues = true;
                }
                self.pairing.started(event, sink)?;
            }
            QUEUE if !self.issues => self.pairing.started(event, sink)?,
            COMPLETE => self.pairing.completed(&event, at_ns, sink),
            REQUEUE => self.pairing.requeued(&event),
            _ => sink.skipped += 1,
        }
        Ok(())
    }

    /// The trace is over.
    pub fn end(&mut self, sink: &mut EventSink) {
        self.pairing.end(sink);
    }
}
