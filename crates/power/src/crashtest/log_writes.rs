//! Streams as files, in the format of Linux' dm-log-writes.
//!
//! ```text
//! sector 0      super: magic, version, number of entries, bytes of a sector
//! then, each    entry: first sector, sectors, flags, bytes of text   (one sector, little-endian)
//!               the data of a write, in whole sectors; a mark's text lies in the entry's sector
//! ```
//! Source: the kernel's documentation of the log-writes target and the structures that qemu's
//! `blklogwrites` shares with it. `replay-log` of xfstests reads files written here, and logs
//! of a kernel or of qemu can be played on modelled drives.
//!
//! The format knows no write zeroes, and each command completes before the next. An export has
//! zeroes as data. Our own files have flags of ours, so that a stream comes back as it was: a
//! discard that writes zeroes; a command that is still in flight when the next entry comes; and an
//! entry that says which command, by its number from 0, has completed.

use super::stream::{CommandStream, Mark, RecordedCommand};
use ssdlab_base::LabError;
use ssdlab_ssd::command::{Command, Op};
use std::collections::BTreeSet;
use std::io::{self, Write};

const MAGIC: u64 = 0x006a_7366_7773_6872;
const VERSION: u64 = 1;
const SECTOR: usize = 512;
/// Bytes of an entry; a mark's text follows in the same sector.
const ENTRY: usize = 32;
/// Longest text of a mark, as the kernel has it.
pub const MARK_MAX: usize = SECTOR - ENTRY - 1;

const FLUSH: u64 = 1;
const FUA: u64 = 2;
const DISCARD: u64 = 4;
const MARK: u64 = 8;
/// Ours: a discard that writes zeroes.
const ZEROES: u64 = 1 << 32;
/// Ours: a command that has not completed yet.
const OPEN: u64 = 1 << 33;
/// Ours: no command; the command whose index is in place of a first sector has completed.
const DONE: u64 = 1 << 34;
/// Longest write of a log that is read: it becomes commands of at most 1 MiB.
const WRITE_MAX: u64 = 1 << 30;

/// Whom a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Any reader of the format.
    Standard,
    /// [`read`]: write zeroes come back as such.
    Own,
}

/// Writes a stream.
///
/// # Errors
/// When `out` fails.
pub fn write(stream: &CommandStream, dialect: Dialect, out: &mut impl Write) -> io::Result<()> {
    let left_open = match dialect {
        Dialect::Own => left_open(stream),
        Dialect::Standard => BTreeSet::new(),
    };
    let entries = stream.commands.len() + stream.marks.len() + left_open.len();
    let mut head = [0; SECTOR];
    for (at, value) in [MAGIC, VERSION, entries as u64].iter().enumerate() {
        head[at * 8..at * 8 + 8].copy_from_slice(&value.to_le_bytes());
    }
    head[24..28].copy_from_slice(&(SECTOR as u32).to_le_bytes());
    out.write_all(&head)?;
    let mut marks = stream.marks.iter().peekable();
    let mut open: Vec<u32> = Vec::new();
    for index in 0..=stream.commands.len() {
        let ends = |at: u32| stream.done_before(at as usize) == index;
        while let Some(mark) = marks.next_if(|mark| mark.after <= index) {
            complete(&mut open, |at| ends(at) && !mark.open.contains(&at), out)?;
            let text = shortened(&mark.text);
            out.write_all(&entry(0, 0, MARK, text.len() as u64, text.as_bytes()))?;
        }
        complete(&mut open, ends, out)?;
        if let Some(recorded) = stream.commands.get(index) {
            let is_open = left_open.contains(&(index as u32));
            write_command(recorded, dialect, if is_open { OPEN } else { 0 }, out)?;
            open.extend(is_open.then_some(index as u32));
        }
    }
    out.flush()
}

/// The commands that do not complete before the next command or mark.
fn left_open(stream: &CommandStream) -> BTreeSet<u32> {
    let overtaken = (0..).zip(&stream.commands);
    let overtaken = overtaken.filter(|(_, recorded)| recorded.overtaken > 0);
    let at_marks = stream
        .marks
        .iter()
        .flat_map(|mark| mark.open.iter().copied());
    overtaken.map(|(index, _)| index).chain(at_marks).collect()
}

/// Writes that commands have completed.
fn complete(
    open: &mut Vec<u32>,
    ends: impl Fn(u32) -> bool,
    out: &mut impl Write,
) -> io::Result<()> {
    for &at in open.iter().filter(|&&at| ends(at)) {
        out.write_all(&entry(at.into(), 0, DONE, 0, &[]))?;
    }
    open.retain(|&at| !ends(at));
    Ok(())
}

fn write_command(
    recorded: &RecordedCommand,
    dialect: Dialect,
    open: u64,
    out: &mut impl Write,
) -> io::Result<()> {
    let command = &recorded.command;
    let (first, count) = (command.offset / 512, u64::from(command.len) / 512);
    let fua = if command.fua { FUA | open } else { open };
    match (command.op, dialect) {
        (Op::Flush, _) => out.write_all(&entry(0, 0, FLUSH | open, 0, &[])),
        (Op::Read, _) => Ok(()),
        (Op::Trim, _) => out.write_all(&entry(first, count, DISCARD | open, 0, &[])),
        (Op::WriteZeroes, Dialect::Own) => {
            out.write_all(&entry(first, count, DISCARD | ZEROES | fua, 0, &[]))
        }
        (Op::Write | Op::WriteZeroes, _) => {
            let len = u64::from(command.len);
            out.write_all(&entry(first, count, fua, 0, &[]))?;
            match &recorded.bytes {
                Some(bytes) => out.write_all(bytes),
                None => io::copy(&mut io::Read::take(io::repeat(0), len), out).map(drop),
            }
        }
    }
}

fn entry(first: u64, count: u64, flags: u64, length: u64, text: &[u8]) -> [u8; SECTOR] {
    let mut bytes = [0; SECTOR];
    for (at, value) in [first, count, flags, length].iter().enumerate() {
        bytes[at * 8..at * 8 + 8].copy_from_slice(&value.to_le_bytes());
    }
    bytes[ENTRY..ENTRY + text.len()].copy_from_slice(text);
    bytes
}

/// The beginning of `text`, at most [`MARK_MAX`] bytes of whole characters.
fn shortened(text: &str) -> &str {
    let end = (0..=text.len().min(MARK_MAX)).rev();
    let end = end.into_iter().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes[at * 8..at * 8 + 8].iter().rev();
    bytes.fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Reads a log of ours, of dm-log-writes, or of qemu's blklogwrites, for a drive of `capacity`
/// bytes.
///
/// # Errors
/// When it is not such a log, ends before it says, or goes beyond the drive.
pub fn read(bytes: &[u8], capacity: u64) -> Result<CommandStream, LabError> {
    let wrong = |what: String| {
        LabError::refused(
            format!("not a log of dm-log-writes: {what}"),
            "name a file that --export-dm-log-writes, the kernel or qemu's blklogwrites made",
        )
    };
    if bytes.len() < SECTOR || word(bytes, 0) != MAGIC || word(bytes, 1) != VERSION {
        return Err(wrong("its first bytes are others".into()));
    }
    let sector = word(bytes, 3) as u32 as usize;
    if !sector.is_power_of_two() || !(512..=65536).contains(&sector) {
        return Err(wrong(format!("sectors of {sector} bytes")));
    }
    let mut reader = LogWritesReader {
        rest: bytes.get(sector..).unwrap_or_default(),
        sector,
        capacity,
        stream: CommandStream::default(),
        open: Vec::new(),
    };
    for index in 0..word(bytes, 2) {
        let read = reader.entry();
        read.ok_or_else(|| {
            wrong(format!(
                "entry {index} is cut short, or lies beyond the drive's {capacity} bytes"
            ))
        })?;
    }
    while let Some(&index) = reader.open.first() {
        reader.complete(index);
    }
    Ok(reader.stream)
}

struct LogWritesReader<'a> {
    rest: &'a [u8],
    sector: usize,
    capacity: u64,
    stream: CommandStream,
    /// Commands in flight, by index, in order.
    open: Vec<u32>,
}

impl<'a> LogWritesReader<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        Some(head)
    }

    fn entry(&mut self) -> Option<()> {
        let head = self.take(self.sector)?;
        let [first, count, flags, text] = [0, 1, 2, 3].map(|at| word(head, at));
        if flags & MARK != 0 {
            let text = head.get(ENTRY..ENTRY.checked_add(text as usize)?)?;
            self.stream.marks.push(Mark {
                after: self.stream.commands.len(),
                open: self.open.clone(),
                text: shortened(&String::from_utf8_lossy(text)).to_owned(),
            });
            return Some(());
        }
        if flags & DONE != 0 {
            let index = u32::try_from(first).ok()?;
            return self.open.contains(&index).then(|| self.complete(index));
        }
        let submitted = self.stream.commands.len() as u32;
        self.commands(first, count, flags)?;
        if flags & OPEN != 0 {
            self.open
                .extend(submitted..self.stream.commands.len() as u32);
        }
        Some(())
    }

    /// A command that was in flight has completed.
    fn complete(&mut self, index: u32) {
        self.open.retain(|&open| open != index);
        let submitted = self.stream.commands.len() as u32;
        self.stream.commands[index as usize].overtaken = submitted - 1 - index;
    }

    fn commands(&mut self, first: u64, count: u64, flags: u64) -> Option<()> {
        if flags & FLUSH != 0 {
            self.push(Command::flush(), None);
        }
        let offset = first.checked_mul(self.sector as u64)?;
        let len = count.checked_mul(self.sector as u64)?;
        if offset.checked_add(len)? > self.capacity {
            return None;
        }
        if flags & DISCARD != 0 {
            self.discard(offset, len, flags);
        } else if count > 0 {
            if len > WRITE_MAX {
                return None;
            }
            let bytes = self.take(len as usize)?;
            self.write(offset, bytes, flags & FUA != 0);
        }
        Some(())
    }

    fn push(&mut self, command: Command, bytes: Option<&[u8]>) {
        let bytes = bytes.map(Into::into);
        self.stream.commands.push(RecordedCommand {
            command,
            bytes,
            overtaken: 0,
        });
    }

    fn discard(&mut self, mut offset: u64, mut len: u64, flags: u64) {
        let is_zeroes = flags & ZEROES != 0;
        while len > 0 {
            let part = len.min(1 << 31) as u32;
            let command = Command {
                op: if is_zeroes { Op::WriteZeroes } else { Op::Trim },
                fua: is_zeroes && flags & FUA != 0,
                ..Command::write(offset, part)
            };
            self.push(command, None);
            offset += u64::from(part);
            len -= u64::from(part);
        }
    }

    fn write(&mut self, mut offset: u64, bytes: &[u8], fua: bool) {
        for part in bytes.chunks(1 << 20) {
            let command = Command {
                fua,
                ..Command::write(offset, part.len() as u32)
            };
            self.push(command, Some(part));
            offset += part.len() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crashtest::{RecordingDisk, SectorDevice};
    use ssdlab_ssd::DriveConfig;

    /// A long mark of a log with larger sectors, or one that is not UTF-8, was cut within a
    /// character when it was written, and came back as another text.
    #[test]
    fn a_long_mark_comes_back_as_it_was_kept() {
        for text in ["a".repeat(600), "\u{fffd}".repeat(200)] {
            let mut disk = RecordingDisk::new(&DriveConfig::tiny());
            disk.mark(text.clone());
            let mut log = Vec::new();
            write(disk.stream(), Dialect::Own, &mut log).unwrap();
            let kept = read(&log, 1 << 20).unwrap();
            assert!(text.starts_with(&kept.marks[0].text));
            assert!((MARK_MAX - 2..=MARK_MAX).contains(&kept.marks[0].text.len()));
            let mut log = Vec::new();
            write(&kept, Dialect::Own, &mut log).unwrap();
            assert_eq!(read(&log, 1 << 20).unwrap(), kept);
        }
        // The kernel's sectors may be larger than ours.
        let mut log = vec![0; 8192];
        for (at, value) in [
            (0, MAGIC),
            (8, VERSION),
            (16, 1),
            (24, 4096),
            (4096 + 16, MARK),
        ] {
            log[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        log[4096 + 24..4096 + 32].copy_from_slice(&600_u64.to_le_bytes());
        log[4096 + ENTRY..4096 + ENTRY + 600].fill(0xff);
        let text = &read(&log, 1 << 20).unwrap().marks[0].text;
        assert_eq!(text.len(), MARK_MAX - MARK_MAX % 3, "whole characters");
    }

    fn stream() -> CommandStream {
        let mut disk = RecordingDisk::new(&DriveConfig::tiny());
        disk.mark("begin");
        disk.write(512, &[1; 1024], false).unwrap();
        disk.write(8192, &[2; 512], true).unwrap();
        disk.trim(4096, 8192).unwrap();
        disk.write_zeroes(0, 4096, true).unwrap();
        disk.flush().unwrap();
        disk.mark("x".repeat(MARK_MAX));
        disk.into_stream()
    }

    fn bytes(stream: &CommandStream, dialect: Dialect) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(stream, dialect, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn commands_in_flight_come_back_as_they_were() {
        let mut disk = RecordingDisk::new(&DriveConfig::tiny());
        for at in 0..4 {
            disk.write(at * 4096, &[1; 4096], false).unwrap();
            disk.leave_open(at as u32);
            disk.mark("before");
            if at == 2 {
                disk.complete(1);
                disk.mark("between");
                disk.complete(0);
            }
        }
        let stream = disk.into_stream();
        assert_eq!(stream.marks[3].open, [0, 2]);
        let all = |dialect| read(&bytes(&stream, dialect), u64::MAX).unwrap();
        assert!(all(Dialect::Own) == stream);
        // Others read one command after the other.
        assert_eq!(all(Dialect::Standard).depth(), 1);
    }

    #[test]
    fn a_stream_comes_back_as_it_was() {
        let stream = stream();
        assert_eq!(
            read(&bytes(&stream, Dialect::Own), u64::MAX).unwrap(),
            stream
        );
    }

    /// What the kernel's documentation says, read by other lines than those above.
    #[test]
    fn the_export_is_laid_out_as_documented() {
        let bytes = bytes(&stream(), Dialect::Standard);
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!(
            (u64_at(0), u64_at(8), u64_at(16)),
            (0x6a_7366_7773_6872, 1, 7)
        );
        assert_eq!(&bytes[24..28], &[0, 2, 0, 0]);
        let (mut at, mut found) = (512, Vec::new());
        while at < bytes.len() {
            let fields = [u64_at(at), u64_at(at + 8), u64_at(at + 16), u64_at(at + 24)];
            let has_data = fields[2] & 12 == 0;
            let data = if has_data {
                fields[1] as usize * 512
            } else {
                0
            };
            found.push(fields);
            at += 512 + data;
        }
        let expected = [
            [0, 0, 8, 5],
            [1, 2, 0, 0],
            [16, 1, 2, 0],
            [8, 16, 4, 0],
            [0, 8, 2, 0],
            [0, 0, 1, 0],
            [0, 0, 8, 479],
        ];
        assert_eq!(found, expected);
        assert_eq!(&bytes[512 + 32..512 + 37], b"begin");
        assert!(bytes[1536..1536 + 1024].iter().all(|&byte| byte == 1));
        assert!(bytes.len().is_multiple_of(512));
    }

    #[test]
    fn what_lies_beyond_the_drive_is_refused() {
        let whole = bytes(&stream(), Dialect::Own);
        let commands = stream().commands;
        let ends = commands
            .iter()
            .map(|r| r.command.offset + u64::from(r.command.len));
        let end = ends.max().unwrap();
        assert!(read(&whole, end).is_ok());
        assert!(read(&whole, end - 512).is_err());
    }

    #[test]
    fn what_is_cut_short_or_none_is_refused() {
        let whole = bytes(&stream(), Dialect::Own);
        for length in [0, 100, 511, 512, whole.len() - 512] {
            assert!(read(&whole[..length], u64::MAX).is_err(), "{length}");
        }
        for at in 0..whole.len().min(4096) {
            let mut spoiled = whole.clone();
            spoiled[at] ^= 0xff;
            // Whatever it says, nothing panics.
            let _ = read(&spoiled, 1 << 30);
        }
    }
}
