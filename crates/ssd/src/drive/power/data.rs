//! A drive that holds bytes, one request at a time: the base of front ends and of users' tests.
//!
//! ```
//! use ssdlab_ssd::drive::power::{DataDrive, Power};
//! use ssdlab_ssd::DriveConfig;
//!
//! let mut drive = DataDrive::new(DriveConfig::tiny(), Power::default()).unwrap();
//! drive.write(512, &[7; 1024], false).unwrap();
//! drive.flush().unwrap();
//! drive.cut();
//! drive.power_on();
//! let mut bytes = [0; 2048];
//! drive.read(0, &mut bytes).unwrap();
//! assert_eq!((bytes[511], bytes[512], bytes[1535], bytes[1536]), (0, 7, 7, 0));
//! ```
//! Requests are in whole sectors of 512 bytes. Each ends before the next begins and returns its
//! virtual time. Bytes never written, trimmed or zeroed take no memory.
//!
//! Power can be cut between requests ([`DataDrive::cut`]), inside a FLUSH
//! ([`DataDrive::cut_inside_flush`]), or inside a program or erase to come ([`DataDrive::aim_at`]):
//! the request during which power is cut returns [`DataError::Off`] and was not acknowledged.

use super::super::span::refuses;
use super::{Completion, Cut, Power, PowerDrive, Recovery, SECTOR_BYTES};
use crate::caches::prefetch;
use crate::command::{Command, Op};
use crate::config::{ConfigError, DriveConfig};
use crate::nand::media::{Payload, SlotBytes};
use crate::units::Nanos;
use std::fmt;

/// A request that a drive refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataError {
    /// Power is off, or the drive does not come back.
    Off,
    /// The request lies outside the drive.
    Outside {
        /// First byte requested.
        offset: u64,
        /// Bytes requested.
        len: u64,
        /// Capacity of the drive, bytes.
        capacity: u64,
    },
    /// The request is not in whole sectors of 512 bytes.
    Unaligned {
        /// First byte requested.
        offset: u64,
        /// Bytes requested.
        len: u64,
    },
    /// The drive has reached its end of life and refuses the command.
    Ended,
    /// The media holds errors beyond correction somewhere in these bytes.
    Unreadable {
        /// First byte of the command that read them.
        offset: u64,
        /// Its bytes.
        len: u64,
    },
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataError::Off => f.write_str("the drive has no power"),
            DataError::Outside {
                offset,
                len,
                capacity,
            } => write!(f, "{len} bytes at {offset} of a drive of {capacity} bytes"),
            DataError::Unaligned { offset, len } => {
                write!(
                    f,
                    "{len} bytes at {offset}: not in whole sectors of 512 bytes"
                )
            }
            DataError::Ended => f.write_str("the drive has reached its end of life"),
            DataError::Unreadable { offset, len } => {
                write!(
                    f,
                    "{len} bytes at {offset}: the media has errors beyond correction"
                )
            }
        }
    }
}

impl std::error::Error for DataError {}

/// Maximum bytes of one command: longer requests are split.
const COMMAND_MAX: usize = 1 << 20;
/// Number of mapping units looked up before the first of them is used.
const AHEAD: usize = 32;

/// See the module's documentation. Cloning it forks its whole state; bytes are shared until they
/// change.
#[derive(Clone, Debug)]
pub struct DataDrive {
    drive: PowerDrive,
    /// The last aimed cut that struck.
    struck: Option<Cut>,
}

impl DataDrive {
    /// A drive as it comes from the factory, switched on.
    ///
    /// # Errors
    /// When the configuration is impossible.
    pub fn new(config: DriveConfig, power: Power) -> Result<DataDrive, ConfigError> {
        PowerDrive::new(config, power).map(DataDrive::of)
    }

    /// Wraps an existing drive.
    pub fn of(drive: PowerDrive) -> DataDrive {
        DataDrive {
            drive,
            struck: None,
        }
    }

    /// The underlying drive.
    pub fn drive(&self) -> &PowerDrive {
        &self.drive
    }

    /// Mutable access to it.
    pub fn drive_mut(&mut self) -> &mut PowerDrive {
        &mut self.drive
    }

    /// Capacity, bytes.
    pub fn capacity(&self) -> u64 {
        self.drive.config().user_bytes
    }

    fn allowed(&self, offset: u64, len: u64) -> Result<(), DataError> {
        let capacity = self.capacity();
        if !self.drive.is_on() {
            return Err(DataError::Off);
        }
        if offset.checked_add(len).is_none_or(|end| end > capacity) {
            return Err(DataError::Outside {
                offset,
                len,
                capacity,
            });
        }
        if !(offset | len).is_multiple_of(SECTOR_BYTES as u64) {
            return Err(DataError::Unaligned { offset, len });
        }
        Ok(())
    }

    fn run(&mut self, command: &Command, bytes: Option<Payload>) -> Result<Nanos, DataError> {
        let submitted = self.drive.now();
        let refused = refuses(self.drive.ended(), command.op);
        self.drive.submit(0, command, bytes, submitted);
        let completion = self.next_completion(Nanos::MAX)?;
        if refused {
            return Err(DataError::Ended);
        }
        if command.op == Op::Read && self.drive.take_unreadable(0) {
            let (offset, len) = (command.offset, command.len.into());
            return Err(DataError::Unreadable { offset, len });
        }
        Ok(completion.map_or(Nanos::ZERO, |done| done.done - done.submitted))
    }

    /// Takes the next completion by `until`, unless an aimed cut comes before it.
    fn next_completion(&mut self, until: Nanos) -> Result<Option<Completion>, DataError> {
        while self.drive.media().is_aiming() {
            let next = self.drive.next_event().min(until);
            if let Some(at) = self.drive.aimed_at().filter(|at| *at <= next) {
                self.strike(at);
                return Err(DataError::Off);
            }
            let completion = self.drive.pop_completion(next);
            if completion.is_some() || next == until {
                return Ok(completion);
            }
        }
        Ok(self.drive.pop_completion(until))
    }

    fn strike(&mut self, at: Nanos) {
        self.drive.aim_at(None);
        self.struck = Some(self.drive.cut(at));
    }

    /// Once the target is booked, advances time into it: between requests time would not advance
    /// otherwise.
    fn wait_for_strike(&mut self) {
        while self.drive.is_on() {
            let Some(at) = self.drive.aimed_at() else {
                return;
            };
            // Either struck, or delayed by the drive's own reads.
            let _ = self.next_completion(at);
        }
    }

    /// Aims a cut at the middle of the `nth` program or erase that is booked from now on, counted
    /// from 1; `None` clears the aim. The cut falls inside a request or after one.
    pub fn aim_at(&mut self, nth: Option<u64>) {
        self.drive.aim_at(nth);
    }

    /// Takes the aimed cut that has struck since the last call.
    pub fn take_struck(&mut self) -> Option<Cut> {
        self.struck.take()
    }

    /// Lets time pass without requests: idle work is done.
    pub fn rest(&mut self, time: Nanos) {
        let until = self.drive.now().saturating_add(time);
        while let Ok(Some(_)) = self.next_completion(until) {}
        self.wait_for_strike();
    }

    /// Reads `bytes` at `offset`; returns the virtual time taken.
    ///
    /// # Errors
    /// See [`DataError`].
    pub fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<Nanos, DataError> {
        let mut filled = 0;
        self.read_parts(offset, bytes.len(), |found, length| {
            let to = &mut bytes[filled..filled + length];
            match found {
                Some(from) => to.copy_from_slice(from),
                None => to.fill(0),
            }
            filled += length;
        })
    }

    /// Appends `length` bytes read at `offset` to `bytes`, possibly a part of them if it fails;
    /// returns the virtual time taken.
    ///
    /// # Errors
    /// See [`DataError`].
    pub fn read_onto(
        &mut self,
        offset: u64,
        length: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<Nanos, DataError> {
        bytes.reserve(length);
        self.read_parts(offset, length, |found, length| match found {
            Some(from) => bytes.extend_from_slice(from),
            None => bytes.resize(bytes.len() + length, 0),
        })
    }

    /// Reads; `take` gets the part of each mapping unit in order: bytes, or a number of zeroes. It
    /// may have got a part if the read fails. Returns the virtual time taken.
    ///
    /// # Errors
    /// See [`DataError`].
    pub fn read_parts(
        &mut self,
        offset: u64,
        length: usize,
        mut take: impl FnMut(Option<&[u8]>, usize),
    ) -> Result<Nanos, DataError> {
        let end = offset.saturating_add(length as u64);
        self.allowed(offset, length as u64)?;
        let mut took = Nanos::ZERO;
        let mut position = offset;
        while position < end {
            let until = end.min(position + COMMAND_MAX as u64);
            took += self.run(&Command::read(position, (until - position) as u32), None)?;
            while position < until {
                position = self.take_some(position, until, &mut take);
            }
        }
        self.wait_for_strike();
        Ok(took)
    }

    /// Takes the content of some mapping units from `at` on, all looked up and prefetched before
    /// the first is used; returns the end of that range.
    fn take_some(
        &self,
        mut at: u64,
        until: u64,
        take: &mut impl FnMut(Option<&[u8]>, usize),
    ) -> u64 {
        let slot_bytes = u64::from(self.drive.config().shape.slot_bytes);
        let first = at / slot_bytes;
        let count = (until.div_ceil(slot_bytes) - first).min(AHEAD as u64) as usize;
        let mut contents: [Option<&SlotBytes>; AHEAD] = [None; AHEAD];
        for (slot, found) in (first as u32..).zip(&mut contents[..count]) {
            let content = self.drive.content(slot);
            *found = content.and_then(|content| content.bytes.as_ref());
            if let Some(bytes) = found {
                prefetch(bytes, 0);
            }
        }
        for bytes in &contents[..count] {
            let within = (at % slot_bytes) as usize;
            let length = (slot_bytes as usize - within).min((until - at) as usize);
            take(bytes.map(|bytes| &bytes[within..within + length]), length);
            at += length as u64;
        }
        at
    }

    /// Writes `bytes` at `offset`; with `fua` they are durable when this returns.
    ///
    /// # Errors
    /// See [`DataError`].
    pub fn write(&mut self, offset: u64, bytes: &[u8], fua: bool) -> Result<Nanos, DataError> {
        self.allowed(offset, bytes.len() as u64)?;
        let took = self.write_part(offset, bytes, fua)?;
        self.wait_for_strike();
        Ok(took)
    }

    /// The same of bytes that are where the drive keeps them already: at most 1 MiB.
    ///
    /// # Errors
    /// See [`DataError`].
    ///
    /// # Panics
    /// When they are more.
    pub fn write_payload(
        &mut self,
        offset: u64,
        payload: Payload,
        fua: bool,
    ) -> Result<Nanos, DataError> {
        assert!(payload.len() <= COMMAND_MAX, "{} bytes", payload.len());
        self.allowed(offset, payload.len() as u64)?;
        let command = Command {
            fua,
            ..Command::write(offset, payload.len() as u32)
        };
        let took = self.run(&command, Some(payload))?;
        self.wait_for_strike();
        Ok(took)
    }

    fn write_part(&mut self, offset: u64, bytes: &[u8], fua: bool) -> Result<Nanos, DataError> {
        let slot_bytes = self.drive.config().shape.slot_bytes;
        let mut took = Nanos::ZERO;
        let mut position = offset;
        for part in bytes.chunks(COMMAND_MAX) {
            let command = Command {
                fua,
                ..Command::write(position, part.len() as u32)
            };
            let shelf = self.drive.media().shelf();
            let payload =
                shelf.and_then(|shelf| Payload::put_on(shelf, position, part, slot_bytes));
            let payload = payload.unwrap_or_else(|| Payload::new(position, part, slot_bytes));
            took += self.run(&command, Some(payload))?;
            position += part.len() as u64;
        }
        Ok(took)
    }

    /// Makes everything written, trimmed or zeroed before durable.
    ///
    /// # Errors
    /// When power is off.
    pub fn flush(&mut self) -> Result<Nanos, DataError> {
        self.allowed(0, 0)?;
        let took = self.run(&Command::flush(), None)?;
        self.wait_for_strike();
        Ok(took)
    }

    /// Cuts the power during a FLUSH, which is never acknowledged, at `per_mille` of the time to
    /// the drive's next event, which is the first step of the FLUSH.
    ///
    /// # Errors
    /// When power is off.
    pub fn cut_inside_flush(&mut self, per_mille: u32) -> Result<Cut, DataError> {
        self.allowed(0, 0)?;
        let begin = self.drive.now();
        self.drive.submit(0, &Command::flush(), None, begin);
        let length = self.drive.next_event().0.saturating_sub(begin.0 + 1);
        let share = u128::from(length) * u128::from(per_mille.min(999)) / 1000;
        Ok(self.drive.cut(Nanos(begin.0 + 1 + share as u64)))
    }

    /// Trims bytes: whole mapping units read as zeroes, parts of a unit stay unchanged.
    ///
    /// # Errors
    /// See [`DataError`].
    pub fn trim(&mut self, offset: u64, len: u64) -> Result<Nanos, DataError> {
        self.allowed(offset, len)?;
        let took = self.in_parts(offset, len, Op::Trim, false)?;
        self.wait_for_strike();
        Ok(took)
    }

    /// Zeroes bytes, by trimming whole mapping units and writing the rest.
    ///
    /// # Errors
    /// See [`DataError`].
    pub fn write_zeroes(&mut self, offset: u64, len: u64, fua: bool) -> Result<Nanos, DataError> {
        self.allowed(offset, len)?;
        let slot = u64::from(self.drive.config().shape.slot_bytes);
        let end = offset + len;
        let first = offset.next_multiple_of(slot).min(end);
        let last = (end / slot * slot).max(first);
        let mut took = self.in_parts(first, last - first, Op::WriteZeroes, fua)?;
        for (from, to) in [(offset, first), (last, end)] {
            took += self.write_part(from, &vec![0; (to - from) as usize], fua)?;
        }
        self.wait_for_strike();
        Ok(took)
    }

    fn in_parts(&mut self, offset: u64, len: u64, op: Op, fua: bool) -> Result<Nanos, DataError> {
        let most = u64::from(u32::MAX) / (1 << 20) * (1 << 20);
        let mut took = Nanos::ZERO;
        let mut position = offset;
        while position < offset + len {
            let part = (offset + len - position).min(most);
            let command = Command {
                op,
                fua,
                ..Command::write(position, part as u32)
            };
            took += self.run(&command, None)?;
            position += part;
        }
        Ok(took)
    }

    /// Cuts the power now.
    ///
    /// # Panics
    /// When power is off.
    pub fn cut(&mut self) -> Cut {
        let time = self.drive.now().max(self.drive.ready());
        while let Ok(Some(_)) = self.next_completion(time) {}
        if let Some(cut) = self.struck.clone().filter(|_| !self.drive.is_on()) {
            return cut;
        }
        self.drive.cut(time)
    }

    /// Switches power on, a second after it went off. An aimed cut may strike during recovery.
    ///
    /// # Panics
    /// When power is on.
    pub fn power_on(&mut self) -> Recovery {
        let time = self.drive.now().saturating_add(Nanos::from_secs(1));
        let recovery = self.drive.power_on(time);
        self.wait_for_strike();
        recovery
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways to read give the same bytes: with holes, from the middle of one mapping unit to
    /// the middle of another, beyond the longest command, behind existing bytes of the caller.
    #[test]
    fn what_is_appended_is_what_is_read() {
        let mut drive = DataDrive::new(DriveConfig::tiny(), Power::default()).unwrap();
        let size = (drive.capacity() as usize).min(COMMAND_MAX + (1 << 16));
        let written: Vec<u8> = (0..size).map(|n| (n / 512 * 7 + n % 512) as u8).collect();
        drive.write(0, &written, false).unwrap();
        drive.trim(4096 * 3, 4096 * 2).unwrap();
        drive.write(4096 * 9 + 512, &[0xEE; 1024], true).unwrap();
        for (offset, length) in [(0, size), (512, 512), (1024, size - 1536), (12_800, 8192)] {
            let mut one = vec![1; length];
            drive.read(offset, &mut one).unwrap();
            let mut other = vec![5; 3];
            drive.read_onto(offset, length, &mut other).unwrap();
            assert_eq!(other[..3], [5; 3]);
            assert!(other[3..] == one, "{length} bytes at {offset}");
        }
        let mut bytes = vec![5; 3];
        let beyond = drive.read_onto(drive.capacity() - 512, 1024, &mut bytes);
        assert!(matches!(beyond, Err(DataError::Outside { .. })) && bytes == [5; 3]);
        drive.cut();
        assert_eq!(drive.read_onto(0, 512, &mut bytes), Err(DataError::Off));
    }
}
