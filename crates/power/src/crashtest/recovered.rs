//! The drive after a cut, and the form of a check.

use super::cuts::CutToken;
use super::stream::SectorDevice;
use ssdlab_ssd::drive::power::{DataDrive, DataError};

/// State of the drive after a cut, for a check to read, and to write to as a file system would.
#[derive(Debug)]
pub struct RecoveredDrive {
    pub(super) drive: DataDrive,
    pub(super) marks: Vec<String>,
    pub(super) token: CutToken,
}

impl RecoveredDrive {
    /// Which cut it comes from.
    pub fn token(&self) -> &CutToken {
        &self.token
    }

    /// Marks of the writes that the application took for acknowledged before the cut.
    pub fn marks(&self) -> &[String] {
        &self.marks
    }

    /// The last of them.
    pub fn last_mark(&self) -> Option<&str> {
        self.marks.last().map(String::as_str)
    }

    /// The drive.
    pub fn drive(&self) -> &DataDrive {
        &self.drive
    }
}

impl SectorDevice for RecoveredDrive {
    fn capacity(&self) -> u64 {
        self.drive.capacity()
    }

    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), DataError> {
        self.drive.read(offset, bytes).map(drop)
    }

    fn write(&mut self, offset: u64, bytes: &[u8], fua: bool) -> Result<(), DataError> {
        self.drive.write(offset, bytes, fua).map(drop)
    }

    fn flush(&mut self) -> Result<(), DataError> {
        self.drive.flush().map(drop)
    }

    fn trim(&mut self, offset: u64, len: u64) -> Result<(), DataError> {
        self.drive.trim(offset, len).map(drop)
    }

    fn write_zeroes(&mut self, offset: u64, len: u64, fua: bool) -> Result<(), DataError> {
        self.drive.write_zeroes(offset, len, fua).map(drop)
    }
}

/// A check of a recovered drive; an error or a panic fails it.
pub trait RecoveryCheck: Fn(&mut RecoveredDrive) -> Result<(), String> + Sync {}
impl<F: Fn(&mut RecoveredDrive) -> Result<(), String> + Sync> RecoveryCheck for F {}
