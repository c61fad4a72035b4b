//! Requests of a host to the drive of a directory: done, kept, and then answered.

use super::{DriveDir, WriteLanding, WriteLandings, refused};
use ssdlab_base::LabError;
use ssdlab_ssd::drive::power::DataError;
use ssdlab_ssd::units::Nanos;

impl DriveDir {
    /// See [`DataDrive::read`].
    ///
    /// # Errors
    /// When the request is refused, or the log cannot be written.
    pub fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<Nanos, LabError> {
        let took = self.data.read(offset, bytes).map_err(refused)?;
        self.settle()?;
        Ok(took)
    }

    /// See [`DataDrive::write`].
    ///
    /// # Errors
    /// As [`DriveDir::read`].
    pub fn write(&mut self, offset: u64, bytes: &[u8], fua: bool) -> Result<Nanos, LabError> {
        let took = self.data.write(offset, bytes, fua).map_err(refused)?;
        self.keep_change(offset, bytes.len() as u64, fua)?;
        self.settle()?;
        Ok(took)
    }

    /// Where writes may be received before [`DriveDir::write_landed`].
    pub fn landings(&self) -> WriteLandings {
        WriteLandings(self.places.clone())
    }

    /// Writes what was received, as [`DataDrive::write`]; what that changes must be kept.
    ///
    /// # Errors
    /// As the drive says.
    pub fn write_landed(
        &mut self,
        offset: u64,
        landing: WriteLanding,
        fua: bool,
    ) -> Result<Nanos, DataError> {
        match landing.end() {
            Some(payload) => self.data.write_payload(offset, payload, fua),
            None => Ok(Nanos::ZERO),
        }
    }

    /// See [`DataDrive::flush`].
    ///
    /// # Errors
    /// As [`DriveDir::read`].
    pub fn flush(&mut self) -> Result<Nanos, LabError> {
        let took = self.data.flush().map_err(refused)?;
        self.keep(true)?;
        self.settle()?;
        Ok(took)
    }

    /// See [`DataDrive::trim`].
    ///
    /// # Errors
    /// As [`DriveDir::read`].
    pub fn trim(&mut self, offset: u64, len: u64) -> Result<Nanos, LabError> {
        let took = self.data.trim(offset, len).map_err(refused)?;
        self.keep_change(offset, len, false)?;
        self.settle()?;
        Ok(took)
    }

    /// See [`DataDrive::write_zeroes`].
    ///
    /// # Errors
    /// As [`DriveDir::read`].
    pub fn write_zeroes(&mut self, offset: u64, len: u64, fua: bool) -> Result<Nanos, LabError> {
        let took = self.data.write_zeroes(offset, len, fua);
        let took = took.map_err(refused)?;
        self.keep_change(offset, len, fua)?;
        self.settle()?;
        Ok(took)
    }

    /// Shuts the drive down cleanly: FLUSH, then power off with notice.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn close(mut self) -> Result<(), LabError> {
        self.shut_down()
    }

    /// As [`DriveDir::close`], for a directory that stays open for reading.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn shut_down(&mut self) -> Result<(), LabError> {
        if self.data.drive().is_on() {
            self.settle()?;
            self.data.flush().map_err(refused)?;
            self.data.drive_mut().shut_down();
            self.log_events(false)?;
            self.log_off()?;
        }
        self.commit()?;
        self.sync()?;
        match self.background.take() {
            Some(checkpoint) => self.take_up(checkpoint),
            None => Ok(()),
        }
    }
}
