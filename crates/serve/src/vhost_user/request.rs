//! One request of a virtio disk, run on the drive. No socket and no guest memory here: a request is
//! read from a [`Read`], and its data and status go to a [`Write`].
//!
//! Numbers and layouts: Virtual I/O Device (VIRTIO) 1.2, section 5.2.6.

use crate::lint::{Lint, SessionNotes};
use crate::sectors::SharedDrive;
use crate::store::{StoreError, ZeroFlags};
use std::io::{self, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Unit of offsets and lengths in bytes, whatever the drive's sector is.
pub const SECTOR_BYTES: u64 = 512;
/// Maximum length of the data of one request in bytes.
pub const DATA_MAX: u64 = 16 << 20;
/// Maximum number of ranges in one DISCARD or WRITE_ZEROES.
pub const RANGES_MAX: u32 = 64;
/// Maximum length of such a range in sectors.
pub const RANGE_SECTORS_MAX: u32 = 1 << 21;
/// Length of the answer to GET_ID in bytes.
const ID_BYTES: usize = 20;
/// Length of a request's head in bytes.
const HEAD_BYTES: u64 = 16;
/// Length of a range in bytes.
const RANGE_BYTES: u64 = 16;
/// The flag of a range of WRITE_ZEROES that allows a hole.
const UNMAP: u32 = 1;

const T_IN: u32 = 0;
const T_OUT: u32 = 1;
const T_FLUSH: u32 = 4;
const T_GET_ID: u32 = 8;
const T_DISCARD: u32 = 11;
const T_WRITE_ZEROES: u32 = 13;

/// The status byte of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum VirtioStatus {
    /// It succeeded.
    Ok = 0,
    /// It failed, for want of power too.
    Error = 1,
    /// The device does not know it.
    Unsupported = 2,
}

/// What requests of one connection run on.
pub struct VirtioBlkDisk<'a> {
    /// The shared drive.
    pub drive: &'a SharedDrive,
    /// The notes of the connection.
    pub notes: &'a Mutex<SessionNotes>,
    /// Where the order of flushes of all sessions is.
    pub lint: &'a Lint,
    /// Whether every write must be durable before it completes: the guest has not negotiated a
    /// volatile write cache, or has turned it off.
    pub writethrough: bool,
    /// The answer to GET_ID.
    pub id: &'a str,
}

/// Why a request did not succeed.
enum VirtioFailure {
    /// The drive failed, or has no power.
    Drive,
    Unsupported,
    /// It is malformed, or the guest's memory cannot be accessed.
    Malformed,
}

impl From<StoreError> for VirtioFailure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unsupported => VirtioFailure::Unsupported,
            _ => VirtioFailure::Drive,
        }
    }
}

impl From<io::Error> for VirtioFailure {
    fn from(_: io::Error) -> Self {
        VirtioFailure::Malformed
    }
}

impl VirtioBlkDisk<'_> {
    /// Runs the request in `readable`, whose length in bytes is `from`. Data go to `writable`,
    /// which holds `into` bytes without the status. Returns the number of bytes written, and the
    /// status.
    pub fn run(
        &self,
        readable: &mut impl Read,
        from: u64,
        writable: &mut impl Write,
        into: u64,
    ) -> (u32, VirtioStatus) {
        match self.try_run(readable, from, writable, into) {
            Ok(count) => (count, VirtioStatus::Ok),
            Err(failure) => {
                self.notes().errors += 1;
                let status = match failure {
                    VirtioFailure::Unsupported => VirtioStatus::Unsupported,
                    VirtioFailure::Drive | VirtioFailure::Malformed => VirtioStatus::Error,
                };
                (0, status)
            }
        }
    }

    /// Records that `count` requests which had succeeded could not be kept.
    pub fn lost(&self, count: u64) {
        self.notes().errors += count;
    }

    fn notes(&self) -> MutexGuard<'_, SessionNotes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_run(
        &self,
        readable: &mut impl Read,
        from: u64,
        writable: &mut impl Write,
        into: u64,
    ) -> Result<u32, VirtioFailure> {
        let mut head = [0; HEAD_BYTES as usize];
        readable.read_exact(&mut head)?;
        let (kind, sector) = (word(&head, 0), long(&head, 8));
        let payload = from - HEAD_BYTES;
        match kind {
            T_IN => self.read(sector, into, writable),
            T_OUT => self.write(sector, payload, readable),
            T_FLUSH => self.flush(),
            T_GET_ID => self.get_id(into, writable),
            T_DISCARD | T_WRITE_ZEROES => self.ranges(kind, payload, readable),
            _ => Err(VirtioFailure::Unsupported),
        }
    }

    fn read(
        &self,
        sector: u64,
        bytes: u64,
        writable: &mut impl Write,
    ) -> Result<u32, VirtioFailure> {
        let offset = checked(sector, bytes)?;
        let mut data = Vec::new();
        self.drive.read_onto(offset, bytes as usize, &mut data)?;
        writable.write_all(&data)?;
        self.count(offset, bytes, |notes| notes.reads += 1);
        Ok(bytes as u32)
    }

    fn write(
        &self,
        sector: u64,
        bytes: u64,
        readable: &mut impl Read,
    ) -> Result<u32, VirtioFailure> {
        let offset = checked(sector, bytes)?;
        let mut data = vec![0; bytes as usize];
        readable.read_exact(&mut data)?;
        self.drive.write(offset, &data, self.writethrough)?;
        self.wrote(offset, bytes);
        Ok(0)
    }

    fn flush(&self) -> Result<u32, VirtioFailure> {
        let number = self.lint.coverage.begin_flush();
        self.drive.flush()?;
        self.notes().flushed(&self.lint.coverage, number);
        Ok(0)
    }

    fn get_id(&self, into: u64, writable: &mut impl Write) -> Result<u32, VirtioFailure> {
        let mut id = [0; ID_BYTES];
        let length = self.id.len().min(ID_BYTES);
        id[..length].copy_from_slice(&self.id.as_bytes()[..length]);
        let count = ID_BYTES.min(usize::try_from(into).unwrap_or(ID_BYTES));
        writable.write_all(&id[..count])?;
        Ok(count as u32)
    }

    /// DISCARD and WRITE_ZEROES. All ranges are checked before the first is carried out.
    fn ranges(
        &self,
        kind: u32,
        payload: u64,
        readable: &mut impl Read,
    ) -> Result<u32, VirtioFailure> {
        let count = payload / RANGE_BYTES;
        if count == 0 || !payload.is_multiple_of(RANGE_BYTES) || count > u64::from(RANGES_MAX) {
            return Err(VirtioFailure::Malformed);
        }
        let mut bytes = vec![0; payload as usize];
        readable.read_exact(&mut bytes)?;
        let mut buffers = Vec::new();
        for range in bytes.chunks(RANGE_BYTES as usize) {
            let (sectors, flags) = (word(range, 8), word(range, 12));
            // The specification has a device refuse UNMAP in a DISCARD, and every other flag.
            let allowed = if kind == T_WRITE_ZEROES { UNMAP } else { 0 };
            if flags & !allowed != 0 {
                return Err(VirtioFailure::Unsupported);
            }
            if sectors > RANGE_SECTORS_MAX {
                return Err(VirtioFailure::Malformed);
            }
            let length = u64::from(sectors) * SECTOR_BYTES;
            buffers.push((start(long(range, 0))?, length, flags & UNMAP == 0));
        }
        for (offset, length, no_hole) in buffers {
            let fua = self.writethrough;
            if kind == T_DISCARD {
                self.drive.trim(offset, length, fua)?;
                self.count(offset, length, |notes| notes.trims += 1);
                continue;
            }
            let flags = ZeroFlags {
                fua,
                no_hole,
                fast: false,
            };
            self.drive.write_zeroes(offset, length, flags)?;
            self.wrote(offset, length);
        }
        Ok(0)
    }

    fn wrote(&self, offset: u64, bytes: u64) {
        let (coverage, fua) = (&self.lint.coverage, self.writethrough);
        self.count(offset, bytes, |notes| notes.wrote(coverage, bytes, fua));
    }

    fn count(&self, offset: u64, bytes: u64, count: impl FnOnce(&mut SessionNotes)) {
        let mut notes = self.notes();
        notes.unaligned += u64::from(!self.drive.is_aligned(offset, bytes));
        count(&mut notes);
    }
}

/// The offset in bytes of a sector.
fn start(sector: u64) -> Result<u64, VirtioFailure> {
    sector
        .checked_mul(SECTOR_BYTES)
        .ok_or(VirtioFailure::Malformed)
}

/// The same, of data whose length is allowed.
fn checked(sector: u64, bytes: u64) -> Result<u64, VirtioFailure> {
    if bytes == 0 || !bytes.is_multiple_of(SECTOR_BYTES) || bytes > DATA_MAX {
        return Err(VirtioFailure::Malformed);
    }
    start(sector)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let mut long = [0; 8];
    long.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(long)
}

#[cfg(test)]
mod tests;
