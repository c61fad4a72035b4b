//! Commands: submitted and completed in virtual time, or one at a time.

use crate::disk::{CrashCompletion, CrashDisk, InFlightCommand};
use crate::error::CrashError;
use crate::history::HistoryStep;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::command::{Command, Op};
use ssdlab_ssd::drive::Completion;
use ssdlab_ssd::nand::media::Payload;

/// Bytes of a sector.
const SECTOR: u64 = 512;

impl CrashDisk {
    /// Submits a command now and returns its number; `bytes` is the data of a write. Any number of
    /// commands may be in flight.
    ///
    /// # Errors
    /// When power is off, and for commands outside the disk or not in whole sectors, or with bytes
    /// of another length. Write zeroes takes whole mapping units.
    ///
    /// ```
    /// use ssdlab_crash::{Command, CrashDisk, DriveConfig};
    ///
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.submit(&Command::write(0, 4096), &[1; 4096])?;
    /// let flush = disk.submit(&Command::flush(), &[])?;
    /// let first = disk.complete()?.unwrap();
    /// // The write had not completed when the FLUSH came: it is not covered.
    /// disk.complete()?;
    /// assert_eq!(disk.may_read(0).len(), 2);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn submit(&mut self, command: &Command, bytes: &[u8]) -> Result<u64, CrashError> {
        self.possible(command)?;
        let given = bytes.len() as u64;
        let wanted = match command.op {
            Op::Write => u64::from(command.len),
            _ => 0,
        };
        if given != wanted {
            let command = wanted;
            return Err(CrashError::Length { command, given });
        }
        let slot_bytes = self.drive.config().shape.slot_bytes;
        let payload = (wanted > 0).then(|| Payload::new(command.offset, bytes, slot_bytes));
        Ok(self.send(command, payload, false).1)
    }

    fn possible(&self, command: &Command) -> Result<(), CrashError> {
        self.powered()?;
        let (offset, len, capacity) = (command.offset, u64::from(command.len), self.capacity());
        if offset.checked_add(len).is_none_or(|end| end > capacity) {
            return Err(CrashError::Outside {
                offset,
                len,
                capacity,
            });
        }
        let unit = match command.op {
            Op::WriteZeroes => u64::from(self.drive.config().shape.slot_bytes),
            _ => SECTOR,
        };
        if !(offset | len).is_multiple_of(unit) {
            return Err(CrashError::Unaligned { offset, len, unit });
        }
        Ok(())
    }

    /// Sends a command; returns its tag and number.
    pub(crate) fn send(
        &mut self,
        command: &Command,
        bytes: Option<Payload>,
        waited: bool,
    ) -> (u32, u64) {
        let free = self.flights.iter().position(Option::is_none);
        let tag = free.unwrap_or_else(|| {
            self.flights.push(None);
            self.flights.len() - 1
        });
        let submit_time = self.now();
        let recorded = bytes.clone();
        let capacity = self.capacity();
        let number = match self.path.as_sent(command, capacity) {
            Some(sent) => self.drive.submit(tag as u32, &sent, bytes, submit_time),
            // It takes only its time in the controller.
            None => self
                .drive
                .submit(tag as u32, &Command::read(0, 0), None, submit_time),
        };
        self.oracle.submitted(tag as u32, number, command);
        let command = *command;
        self.flights[tag] = Some(InFlightCommand { number, command });
        self.record(|| HistoryStep::Command {
            number,
            command,
            bytes: recorded,
            waited,
        });
        (tag as u32, number)
    }

    /// Waits for the next completion; `None`: no command is in flight.
    ///
    /// # Errors
    /// When power is off, or an armed cut strikes.
    ///
    /// ```
    /// use ssdlab_crash::{Command, CrashDisk, DriveConfig};
    ///
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.fua(512, &[5; 512])?;
    /// disk.submit(&Command::read(512, 512), &[])?;
    /// assert_eq!(disk.complete()?.unwrap().bytes, [5; 512]);
    /// assert_eq!(disk.complete()?, None);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn complete(&mut self) -> Result<Option<CrashCompletion>, CrashError> {
        self.powered()?;
        self.record(|| HistoryStep::Complete);
        if self.done.is_empty() && self.flights.iter().any(Option::is_some) {
            self.take_one(Nanos::MAX)?;
        }
        Ok(self.done.pop_front())
    }

    /// Lets time pass without new commands: the drive works on, and completions wait to be taken.
    ///
    /// # Errors
    /// When power is off, or an armed cut strikes.
    ///
    /// ```
    /// # use ssdlab_crash::{Command, CrashDisk, DriveConfig, Nanos};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.submit(&Command::flush(), &[])?;
    /// disk.rest(Nanos::from_millis(1))?;
    /// assert!(disk.complete()?.unwrap().done < disk.now());
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn rest(&mut self, time: Nanos) -> Result<(), CrashError> {
        self.powered()?;
        self.record(|| HistoryStep::Rest(time));
        let until = self.now().saturating_add(time);
        while self.take_one(until)? {}
        Ok(())
    }

    /// Moves the next completion until a time to the completed ones; returns whether there was one.
    fn take_one(&mut self, until: Nanos) -> Result<bool, CrashError> {
        let Some(done) = self.step(until)? else {
            return Ok(false);
        };
        self.keep(&done);
        Ok(true)
    }

    fn keep(&mut self, done: &Completion) {
        let Some(InFlightCommand { number, command }) = self.finish(done) else {
            return;
        };
        let mut bytes = Vec::new();
        if command.op == Op::Read {
            bytes.resize(command.len as usize, 0);
            self.copy_out(command.offset, &mut bytes);
        }
        self.done.push_back(CrashCompletion {
            number,
            command,
            submitted: done.submitted,
            done: done.done,
            bytes,
        });
    }

    /// Sends a command and waits for it; other completions are kept.
    pub(crate) fn run(
        &mut self,
        command: &Command,
        bytes: Option<Payload>,
    ) -> Result<(), CrashError> {
        let (tag, _) = self.send(command, bytes, true);
        while let Some(done) = self.step(Nanos::MAX)? {
            if done.tag == tag {
                self.finish(&done);
                break;
            }
            self.keep(&done);
        }
        Ok(())
    }

    fn one(&mut self, op: Op, fua: bool, offset: u64, bytes: &[u8]) -> Result<(), CrashError> {
        let len = self.length(bytes.len() as u64)?;
        let command = Command {
            op,
            fua,
            ..Command::write(offset, len)
        };
        self.possible(&command)?;
        if len == 0 {
            return Ok(());
        }
        let slot_bytes = self.drive.config().shape.slot_bytes;
        self.run(&command, Some(Payload::new(offset, bytes, slot_bytes)))
    }

    fn length(&self, given: u64) -> Result<u32, CrashError> {
        let command = u64::from(u32::MAX);
        u32::try_from(given).map_err(|_| CrashError::Length { command, given })
    }

    /// Writes bytes and returns when the write is acknowledged: they are not durable yet.
    ///
    /// # Errors
    /// When power is off, an armed cut strikes, or the request is impossible.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.write(512, &[1; 1024])?;
    /// let error = disk.write(100, &[1; 512]).unwrap_err();
    /// assert!(error.hint().contains("multiples of 512"));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), CrashError> {
        self.one(Op::Write, false, offset, bytes)
    }

    /// Writes bytes with FUA: they are durable when this returns. Other writes are not.
    ///
    /// # Errors
    /// As [`CrashDisk::write`].
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.write(0, &[1; 512])?;
    /// disk.fua(4096, &[2; 512])?;
    /// assert_eq!((disk.may_read(0), disk.may_read(8)), (vec![0, 1], vec![2]));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn fua(&mut self, offset: u64, bytes: &[u8]) -> Result<(), CrashError> {
        self.one(Op::Write, true, offset, bytes)
    }

    /// Reads bytes: zeroes where nothing was written.
    ///
    /// # Errors
    /// As [`CrashDisk::write`].
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.write(512, &[1; 512])?;
    /// assert_eq!(disk.read(0, 1024)?[510..514], [0, 0, 1, 1]);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn read(&mut self, offset: u64, len: usize) -> Result<Vec<u8>, CrashError> {
        let command = Command::read(offset, self.length(len as u64)?);
        self.possible(&command)?;
        let mut bytes = vec![0; len];
        if len > 0 {
            self.run(&command, None)?;
            self.copy_out(offset, &mut bytes);
        }
        Ok(bytes)
    }

    /// Makes every write acknowledged before durable.
    ///
    /// # Errors
    /// When power is off, or an armed cut strikes.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.write(0, &[1; 512])?;
    /// disk.flush()?;
    /// assert_eq!(disk.may_read(0), [1]);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn flush(&mut self) -> Result<(), CrashError> {
        self.powered()?;
        self.run(&Command::flush(), None)
    }

    /// Trims bytes: whole mapping units read as zeroes, parts of a unit stay. Until a FLUSH, a cut
    /// may bring the old data back.
    ///
    /// # Errors
    /// As [`CrashDisk::write`].
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.fua(0, &[1; 4096])?;
    /// disk.trim(0, 4096)?;
    /// assert_eq!(disk.read(0, 512)?, [0; 512]);
    /// assert_eq!(disk.may_read(0), [1, 0]);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn trim(&mut self, offset: u64, len: u64) -> Result<(), CrashError> {
        let command = Command::trim(offset, self.length(len)?);
        self.possible(&command)?;
        self.run(&command, None)
    }

    fn copy_out(&self, offset: u64, bytes: &mut [u8]) {
        let slot_bytes = u64::from(self.drive.config().shape.slot_bytes);
        let end = offset + bytes.len() as u64;
        let mut position = offset;
        while position < end {
            let within = (position % slot_bytes) as usize;
            let until = end.min((position / slot_bytes + 1) * slot_bytes);
            let content = self.drive.content((position / slot_bytes) as u32);
            let to = &mut bytes[(position - offset) as usize..(until - offset) as usize];
            match content.and_then(|content| content.bytes.as_ref()) {
                Some(from) => to.copy_from_slice(&from[within..within + to.len()]),
                None => to.fill(0),
            }
            position = until;
        }
    }
}
