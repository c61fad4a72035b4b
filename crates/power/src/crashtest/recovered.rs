//! The drive after a cut, and the form of a check.

use super::cuts::Token;
use super::stream::BlockDevice;
use ssdlab_ssd::drive::power::{DataDrive, DataError};

/// State of the drive after a cut, for a check to read, and to write to as a file system would.
#[derive(Debug)]
pub struct Recovered {
    pub(super) drive: DataDrive,
    pub(super) marks: Vec<String>,
    pub(super) token: Token,
}

impl Recovered {
    /// Which cut it comes from.
    pub fn token(&self) -> &Token {
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

impl BlockDevice for Recovered {
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
pub trait Check: Fn(&mut Recovered) -> Result<(), String> + Sync {}
impl<F: Fn(&mut Recovered) -> Result<(), String> + Sync> Check for F {}
