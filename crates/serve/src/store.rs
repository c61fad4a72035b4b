//! The interface between a front end and a drive that holds data.

use crate::landing::StoreLanding;
use thiserror::Error;

/// The reason why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StoreError {
    /// The power is off, or went off while the command ran.
    #[error("the drive has no power\nhint: ssdlab power on")]
    Off,
    /// A write to a read-only drive.
    #[error("the drive is read-only")]
    ReadOnly,
    /// The range ends beyond the end of the drive.
    #[error("bytes {offset}..+{length} are beyond the end of the drive, {size} bytes")]
    OutOfRange {
        /// First byte of the range.
        offset: u64,
        /// Length of the range in bytes.
        length: u64,
        /// Size of the drive in bytes.
        size: u64,
    },
    /// What holds the drive's data has no room left, with the reason: nothing is acknowledged until
    /// there is.
    #[error("{0}")]
    NoSpace(String),
    /// The drive does not support the command, or not [fast](ZeroFlags::fast).
    #[error("the drive does not support this")]
    Unsupported,
    /// A sector cannot be read or written.
    #[error("{0}")]
    Io(String),
}

/// Options of a command that writes zeroes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ZeroFlags {
    /// Makes the zeroes durable before the command completes.
    pub fua: bool,
    /// Keeps the range allocated: no hole.
    pub no_hole: bool,
    /// Fails with [`StoreError::Unsupported`] unless it is faster than a write of zeroes.
    pub fast: bool,
}

/// Fate of a sector's present value if power were cut now, or its fate at the last cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SectorDurability {
    /// Never written since the drive was new.
    NeverWritten,
    /// The value is durable.
    Durable,
    /// The value is acknowledged and not yet durable.
    Cached,
    /// A cut restored an older value.
    Older,
    /// A cut tore the write.
    Torn,
    /// A cut lost the sector.
    Lost,
}

/// Maximum number of extents examined for one read in pieces.
const EXTENTS_MAX: usize = 4096;

/// A piece of the bytes that a read returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadPiece<'a> {
    /// Bytes.
    Bytes(&'a [u8]),
    /// A run of zeroes of this length in bytes.
    Zeroes(usize),
}

/// A run of bytes of one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreExtent {
    /// Length in bytes, a multiple of the drive's sector size.
    pub length: u64,
    /// Whether media is allocated to it. A trimmed or never written range is a hole.
    pub is_allocated: bool,
    /// Whether it is known to read as zeroes.
    pub is_zero: bool,
    /// Durability of its value.
    pub durability: SectorDurability,
}

/// A drive that holds data. All connections share one object, which must keep one coherent state:
/// a flush covers every write acknowledged before it, on any connection.
///
/// Offsets and lengths are bytes, always inside the drive and multiples of
/// [`sector_size`](Store::sector_size). A command to a drive without power fails at once with
/// [`StoreError::Off`].
pub trait Store: Send + Sync {
    /// Size of the drive in bytes, a multiple of the sector size. Never changes.
    fn size(&self) -> u64;
    /// Size of the smallest access in bytes, a power of two.
    fn sector_size(&self) -> u32;
    /// Whether every write is refused.
    fn is_read_only(&self) -> bool {
        false
    }
    /// Whether the drive has power.
    fn is_powered(&self) -> bool;
    /// Whether a command takes as long as on the modelled drive: front ends then keep several
    /// outstanding.
    fn takes_time(&self) -> bool {
        false
    }
    /// Fills `into` with the bytes from `offset` on.
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError>;
    /// Appends `length` bytes to `into`; on failure some of them may have been appended.
    fn read_onto(&self, offset: u64, length: usize, into: &mut Vec<u8>) -> Result<(), StoreError> {
        let start = into.len();
        into.resize(start + length, 0);
        self.read(offset, &mut into[start..])
    }
    /// Reads `length` bytes in order and calls `take` with each piece: bytes, or the length of a
    /// range known to be zero. On failure `take` may have received some pieces.
    fn read_pieces(
        &self,
        offset: u64,
        length: usize,
        take: &mut dyn FnMut(ReadPiece<'_>),
    ) -> Result<(), StoreError> {
        // Another client may write in the meantime: a read that overlaps that write may return
        // the zeroes of the hole.
        let mut bytes = Vec::new();
        let mut offset_in_buffer = 0;
        for extent in self.extents(offset, length as u64, EXTENTS_MAX)? {
            let count = extent.length as usize;
            if extent.is_zero {
                take(ReadPiece::Zeroes(count));
            } else {
                bytes.resize(count, 0);
                self.read(offset + offset_in_buffer as u64, &mut bytes)?;
                take(ReadPiece::Bytes(&bytes));
            }
            offset_in_buffer += count;
        }
        if offset_in_buffer < length {
            bytes.resize(length - offset_in_buffer, 0);
            self.read(offset + offset_in_buffer as u64, &mut bytes)?;
            take(ReadPiece::Bytes(&bytes));
        }
        Ok(())
    }
    /// Writes `from`; with `fua` it is durable on return.
    fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<(), StoreError>;
    /// Room for the bytes of a write, for front ends that receive them straight into it; `None`:
    /// they are received into memory and [written](Store::write).
    fn landing(&self, _offset: u64, _length: usize) -> Option<Box<dyn StoreLanding>> {
        None
    }
    /// Writes what a [`Store::landing`] of this offset has received, all of it.
    fn write_landed(
        &self,
        _offset: u64,
        _landing: Box<dyn StoreLanding>,
        _fua: bool,
    ) -> Result<(), StoreError> {
        Err(StoreError::Unsupported)
    }
    /// Makes durable every write acknowledged before the call.
    fn flush(&self) -> Result<(), StoreError>;
    /// Discards a range; it reads as zeroes afterwards.
    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), StoreError>;
    /// Writes zeroes.
    fn write_zeroes(&self, offset: u64, length: u64, flags: ZeroFlags) -> Result<(), StoreError>;
    /// Takes the hint that a range will be read soon.
    fn cache(&self, _offset: u64, _length: u64) -> Result<(), StoreError> {
        if self.is_powered() {
            Ok(())
        } else {
            Err(StoreError::Off)
        }
    }
    /// Front ends call it before they acknowledge commands: a drive kept in files writes them now,
    /// for several commands at once. When it fails, none of them may be acknowledged.
    fn settle(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// The extents of a range in order, at most `max`. Together they cover at least one sector and
    /// at most `length` bytes from `offset` on.
    fn extents(&self, offset: u64, length: u64, max: usize)
    -> Result<Vec<StoreExtent>, StoreError>;
}
