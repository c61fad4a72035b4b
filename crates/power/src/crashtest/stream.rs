//! The stream of commands that an application sends to its drive, recorded once.

use ssdlab_ssd::command::{Command, Op};
use ssdlab_ssd::drive::power::DataError;
use ssdlab_ssd::nand::media::{Payload, SlotBytes};
use ssdlab_ssd::{Bytes, DriveConfig};
use std::collections::BTreeMap;
use std::hash::Hasher;
use twox_hash::XxHash3_64;

/// Most bytes of one write: longer ones become several commands, as on a real drive.
const COMMAND_MAX: usize = 1 << 20;
/// Most bytes of one trim.
const TRIM_MAX: u64 = 1 << 31;
/// Smallest access.
const SECTOR: u64 = 512;

/// A device of 512-byte sectors: the interface of an application under test.
///
/// [`RecordingDisk`] records, [`super::RecoveredDrive`] is the drive after a cut; the application's
/// code is the same on both.
pub trait SectorDevice {
    /// Bytes that it offers.
    fn capacity(&self) -> u64;
    /// Fills `bytes` with what lies at `offset`.
    ///
    /// # Errors
    /// When the request does not lie on the device or is not in whole sectors.
    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), DataError>;
    /// Writes; with `fua` durable on return.
    ///
    /// # Errors
    /// As [`SectorDevice::read`].
    fn write(&mut self, offset: u64, bytes: &[u8], fua: bool) -> Result<(), DataError>;
    /// Makes earlier writes durable.
    ///
    /// # Errors
    /// As [`SectorDevice::read`].
    fn flush(&mut self) -> Result<(), DataError>;
    /// Forgets bytes: whole mapping units read as zeroes afterwards, parts stay.
    ///
    /// # Errors
    /// As [`SectorDevice::read`].
    fn trim(&mut self, offset: u64, len: u64) -> Result<(), DataError>;
    /// Writes zeroes.
    ///
    /// # Errors
    /// As [`SectorDevice::read`].
    fn write_zeroes(&mut self, offset: u64, len: u64, fua: bool) -> Result<(), DataError>;
}

/// One command of a stream, with the bytes of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCommand {
    /// The command.
    pub command: Command,
    /// Data of a write.
    pub bytes: Option<SlotBytes>,
    /// Number of commands that were submitted while it was in flight.
    pub overtaken: u32,
}

impl RecordedCommand {
    /// Its data in the form that a drive takes.
    pub fn payload(&self) -> Option<Payload> {
        self.bytes.clone().map(Payload::from)
    }
}

/// Mark of the writes that the application took for acknowledged at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Commands that had been submitted.
    pub after: usize,
    /// Those of them that were still in flight, by index: it relies on none of them.
    pub open: Vec<u32>,
    /// Its text.
    pub text: String,
}

/// Commands of an application, in the order in which they were submitted. The next is submitted
/// as soon as those have completed that the application had waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandStream {
    /// The commands. Number k of reports is the k-th, from 1.
    pub commands: Vec<RecordedCommand>,
    /// The marks, in order.
    pub marks: Vec<Mark>,
}

impl CommandStream {
    /// The marks made when `submitted` commands were submitted and those had completed for which
    /// `is_done` holds.
    pub fn marks_made(&self, submitted: usize, is_done: impl Fn(usize) -> bool) -> &[Mark] {
        let mut from = 0;
        let is_made = |mark: &Mark| {
            // It relies on all that the mark before it relies on.
            let mut relied = (from..mark.after).filter(|&at| !mark.open.contains(&(at as u32)));
            from = mark
                .open
                .first()
                .map_or(mark.after, |&first| first as usize);
            mark.after <= submitted && relied.all(&is_done)
        };
        let first_left = self.marks.iter().map(is_made).position(|is_made| !is_made);
        &self.marks[..first_left.unwrap_or(self.marks.len())]
    }

    /// Index of the first command that was submitted after this one had completed.
    pub fn done_before(&self, index: usize) -> usize {
        index + 1 + self.commands[index].overtaken as usize
    }

    /// The largest number of commands in flight at once.
    pub fn depth(&self) -> usize {
        let mut ends = BTreeMap::new();
        let (mut open, mut most) = (0, 0);
        for index in 0..self.commands.len() {
            open -= ends.remove(&index).unwrap_or(0);
            open += 1;
            most = most.max(open);
            *ends.entry(self.done_before(index)).or_insert(0) += 1;
        }
        most
    }

    /// Host bytes written.
    pub fn bytes_written(&self) -> u64 {
        let writes = self.commands.iter().filter(|r| r.command.op == Op::Write);
        writes.map(|r| u64::from(r.command.len)).sum()
    }

    /// How many commands of a kind.
    pub fn count(&self, op: Op) -> usize {
        let commands = self.commands.iter();
        commands.filter(|r| r.command.op == op).count()
    }

    /// A digest of every command and mark.
    pub fn digest(&self) -> u64 {
        let mut hash = XxHash3_64::with_seed(0);
        for recorded in &self.commands {
            let RecordedCommand { command, bytes, .. } = recorded;
            hash.write(&[command.op as u8, u8::from(command.fua)]);
            hash.write(&recorded.overtaken.to_le_bytes());
            hash.write(&command.offset.to_le_bytes());
            hash.write(&command.len.to_le_bytes());
            hash.write(bytes.as_deref().unwrap_or_default());
        }
        for mark in &self.marks {
            hash.write(&(mark.after as u64).to_le_bytes());
            mark.open
                .iter()
                .for_each(|at| hash.write(&at.to_le_bytes()));
            hash.write(mark.text.as_bytes());
        }
        hash.finish()
    }

    /// The command of that index in words: `write #7, 4 KiB at 12288`.
    pub fn describe(&self, index: usize) -> String {
        let Some(recorded) = self.commands.get(index) else {
            return "the end of the stream".into();
        };
        let Command {
            op,
            offset,
            len,
            fua,
            ..
        } = recorded.command;
        let fua = if fua { "FUA " } else { "" };
        let number = index + 1;
        match op {
            Op::Flush => format!("FLUSH #{number}"),
            _ => {
                let name = op.name().replace('_', " ");
                format!(
                    "{fua}{name} #{number}, {} at {offset}",
                    Bytes(u64::from(len))
                )
            }
        }
    }

    fn push(&mut self, command: Command, bytes: Option<SlotBytes>) {
        self.commands.push(RecordedCommand {
            command,
            bytes,
            overtaken: 0,
        });
    }
}

/// A device in memory that records its commands. It never fails and never cuts; the cuts
/// come when its [`CommandStream`] is played on a modelled drive.
#[derive(Clone, Debug)]
pub struct RecordingDisk {
    capacity: u64,
    slot: u64,
    slots: BTreeMap<u64, Box<[u8]>>,
    stream: CommandStream,
    /// Commands in flight, by index, in order.
    open: Vec<u32>,
}

impl RecordingDisk {
    /// As large as the drive that it stands for.
    pub fn new(config: &DriveConfig) -> RecordingDisk {
        RecordingDisk {
            capacity: config.user_bytes,
            slot: config.shape.slot_bytes.into(),
            slots: BTreeMap::new(),
            stream: CommandStream::default(),
            open: Vec::new(),
        }
    }

    /// The application takes everything so far for acknowledged, and says what that is. A check
    /// finds the marks made before its cut.
    pub fn mark(&mut self, text: impl Into<String>) {
        self.stream.marks.push(Mark {
            after: self.stream.commands.len(),
            open: self.open.clone(),
            text: text.into(),
        });
    }

    /// Number of commands so far.
    pub fn submitted(&self) -> u32 {
        self.stream.commands.len() as u32
    }

    /// Leaves the commands from that index on in flight, until [`RecordingDisk::complete`].
    pub fn leave_open(&mut self, from: u32) {
        self.open.extend(from..self.submitted());
    }

    /// Completes a command that is in flight.
    pub fn complete(&mut self, index: u32) {
        self.open.retain(|&open| open != index);
        let overtaken = self.submitted() - 1 - index;
        self.stream.commands[index as usize].overtaken = overtaken;
    }

    /// What was recorded; what is in flight completes now.
    pub fn into_stream(mut self) -> CommandStream {
        for index in std::mem::take(&mut self.open) {
            self.complete(index);
        }
        self.stream
    }

    /// What was recorded so far.
    pub fn stream(&self) -> &CommandStream {
        &self.stream
    }

    /// Whether something was written to the mapping unit around a byte, and not trimmed.
    pub fn is_allocated(&self, offset: u64) -> bool {
        self.slots.contains_key(&(offset / self.slot))
    }

    fn allowed(&self, offset: u64, len: u64) -> Result<(), DataError> {
        let capacity = self.capacity;
        if offset.checked_add(len).is_none_or(|end| end > capacity) {
            return Err(DataError::Outside {
                offset,
                len,
                capacity,
            });
        }
        if !(offset | len).is_multiple_of(SECTOR) {
            return Err(DataError::Unaligned { offset, len });
        }
        Ok(())
    }

    /// Whole mapping units inside a range: first byte and end.
    fn whole(&self, offset: u64, len: u64) -> (u64, u64) {
        let end = offset + len;
        let first = offset.next_multiple_of(self.slot).min(end);
        (first, (end / self.slot * self.slot).max(first))
    }

    fn forget(&mut self, from: u64, to: u64) {
        let (first, last) = (from / self.slot, to / self.slot);
        let held: Vec<u64> = self.slots.range(first..last).map(|(&at, _)| at).collect();
        for at in held {
            self.slots.remove(&at);
        }
    }

    fn in_parts(&mut self, from: u64, to: u64, op: Op, fua: bool) {
        let mut offset = from;
        while offset < to {
            let len = (to - offset).min(TRIM_MAX) as u32;
            let command = Command {
                op,
                fua,
                ..Command::write(offset, len)
            };
            self.stream.push(command, None);
            offset += u64::from(len);
        }
        self.forget(from, to);
    }
}

impl SectorDevice for RecordingDisk {
    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), DataError> {
        self.allowed(offset, bytes.len() as u64)?;
        let mut filled = 0;
        while filled < bytes.len() {
            let position = offset + filled as u64;
            let within = (position % self.slot) as usize;
            let length = (self.slot as usize - within).min(bytes.len() - filled);
            let to = &mut bytes[filled..filled + length];
            match self.slots.get(&(position / self.slot)) {
                Some(from) => to.copy_from_slice(&from[within..within + length]),
                None => to.fill(0),
            }
            filled += length;
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, bytes: &[u8], fua: bool) -> Result<(), DataError> {
        self.allowed(offset, bytes.len() as u64)?;
        let mut command_offset = offset;
        for part in bytes.chunks(COMMAND_MAX) {
            let command = Command {
                fua,
                ..Command::write(command_offset, part.len() as u32)
            };
            self.stream.push(command, Some(part.into()));
            command_offset += part.len() as u64;
        }
        let mut copied = 0;
        while copied < bytes.len() {
            let position = offset + copied as u64;
            let within = (position % self.slot) as usize;
            let length = (self.slot as usize - within).min(bytes.len() - copied);
            let empty = || vec![0; self.slot as usize].into_boxed_slice();
            let slot = self.slots.entry(position / self.slot).or_insert_with(empty);
            slot[within..within + length].copy_from_slice(&bytes[copied..copied + length]);
            copied += length;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DataError> {
        self.stream.push(Command::flush(), None);
        Ok(())
    }

    fn trim(&mut self, offset: u64, len: u64) -> Result<(), DataError> {
        self.allowed(offset, len)?;
        let (from, to) = self.whole(offset, len);
        self.in_parts(from, to, Op::Trim, false);
        Ok(())
    }

    fn write_zeroes(&mut self, offset: u64, len: u64, fua: bool) -> Result<(), DataError> {
        self.allowed(offset, len)?;
        let (first, last) = self.whole(offset, len);
        self.in_parts(first, last, Op::WriteZeroes, fua);
        for (from, to) in [(offset, first), (last, offset + len)] {
            if from < to {
                self.write(from, &vec![0; (to - from) as usize], fua)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk() -> RecordingDisk {
        RecordingDisk::new(&DriveConfig::tiny())
    }

    #[test]
    fn reads_what_was_written_trimmed_and_zeroed() {
        let mut disk = disk();
        disk.write(0, &[1; 3 * 4096], false).unwrap();
        disk.trim(2048, 2 * 4096).unwrap();
        disk.write_zeroes(512, 512, true).unwrap();
        let mut all = [9; 3 * 4096];
        disk.read(0, &mut all).unwrap();
        let expected: Vec<u8> = (0..3 * 4096)
            .map(|at| u8::from(!(512..1024).contains(&at) && !(4096..8192).contains(&at)))
            .collect();
        assert_eq!(all.as_slice(), expected);
        let ops: Vec<_> = disk.stream().commands.iter().map(|r| r.command).collect();
        assert_eq!(
            (ops[1].offset, ops[1].len, ops[2].fua),
            (4096, 4096, true),
            "{ops:?}"
        );
    }

    #[test]
    fn long_writes_are_several_commands_and_marks_know_where_they_stand() {
        let mut disk = disk();
        disk.mark("nothing");
        disk.write(0, &vec![1; COMMAND_MAX + 512], false).unwrap();
        disk.mark("one");
        let stream = disk.into_stream();
        assert_eq!(stream.commands.len(), 2);
        let after = |count| stream.marks_made(count, |index| index < count);
        assert_eq!(after(1).len(), 1);
        assert_eq!(after(2)[1].text, "one");
        assert_eq!(stream.describe(1), "write #2, 512 B at 1048576");
    }

    /// A mark relies on what had completed when it was made, and on nothing in flight.
    #[test]
    fn commands_in_flight_are_known() {
        let mut disk = disk();
        for at in 0..3 {
            disk.write(at * 4096, &[1; 4096], false).unwrap();
            disk.leave_open(at as u32);
        }
        disk.complete(1);
        disk.mark("one is done");
        disk.flush().unwrap();
        disk.complete(0);
        disk.mark("two are done");
        let stream = disk.into_stream();
        let overtaken: Vec<u32> = stream.commands.iter().map(|r| r.overtaken).collect();
        assert_eq!((overtaken, stream.depth()), (vec![3, 1, 1, 0], 3));
        assert_eq!(stream.marks[0].open, [0, 2]);
        let made = |done: &[usize]| stream.marks_made(4, |index| done.contains(&index)).len();
        assert_eq!(
            [made(&[0, 3]), made(&[1]), made(&[1, 3]), made(&[0, 1, 3])],
            [0, 1, 1, 2]
        );
        assert_eq!(stream.marks_made(2, |_| true).len(), 0);
    }

    #[test]
    fn what_is_not_on_the_disk_is_refused() {
        let mut disk = disk();
        let capacity = disk.capacity();
        assert!(disk.write(capacity, &[0; 512], false).is_err());
        assert!(disk.trim(u64::MAX - 511, 512).is_err());
        assert!(disk.read(1, &mut [0; 512]).is_err());
        assert!(disk.stream().commands.is_empty());
    }
}
