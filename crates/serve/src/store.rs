//! What a front end asks of a drive that holds data.

use thiserror::Error;

/// Why a drive did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StoreError {
    /// The power is off, or went off while the command ran.
    #[error("the drive has no power\nhint: ssdlab power on")]
    Off,
    /// A write to a drive that is read-only.
    #[error("the drive is read-only")]
    ReadOnly,
    /// Beyond the end.
    #[error("bytes {offset}..+{length} are beyond the end of the drive, {size} bytes")]
    OutOfRange {
        /// First byte asked for.
        offset: u64,
        /// Bytes asked for.
        length: u64,
        /// Bytes of the drive.
        size: u64,
    },
    /// The drive has no room left to write to.
    #[error("the drive has no free space left")]
    NoSpace,
    /// The drive cannot do this, or not fast where only fast was asked for.
    #[error("the drive does not support this")]
    Unsupported,
    /// A sector that cannot be read or written.
    #[error("{0}")]
    Io(String),
}

/// How zeroes are to be written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ZeroFlags {
    /// Durable before the command completes.
    pub fua: bool,
    /// The range stays allocated: no hole.
    pub no_hole: bool,
    /// Only if it is faster than writing zeroes; otherwise [`StoreError::Unsupported`].
    pub fast: bool,
}

/// What would become of a sector's present value if power were cut now, or what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Never written since the drive was new.
    NeverWritten,
    /// Its value is durable.
    Durable,
    /// Written and acknowledged, not yet durable.
    Cached,
    /// A cut brought back an older value.
    Older,
    /// A cut tore the write.
    Torn,
    /// A cut lost the sector.
    Lost,
}

/// Extents looked at to read in pieces.
const EXTENTS_MAX: usize = 4096;

/// A piece of what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Bytes.
    Bytes(&'a [u8]),
    /// So many zeroes.
    Zeroes(usize),
}

/// A run of bytes of one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Bytes, a multiple of the drive's sector.
    pub length: u64,
    /// The drive keeps media for it. A trimmed or never written range is a hole.
    pub is_allocated: bool,
    /// Known to read as zeroes without reading it.
    pub is_zero: bool,
    /// Whether the value survives a cut.
    pub durability: Durability,
}

/// A drive that holds data. One object is shared by all connections and must keep one coherent
/// state: a flush covers every write acknowledged before it, whoever sent it.
///
/// Offsets and lengths are bytes, always inside the drive and multiples of
/// [`sector_size`](Store::sector_size); [`Sectors`](crate::Sectors) sees to that. A command that
/// meets a drive without power fails at once with [`StoreError::Off`].
pub trait Store: Send + Sync {
    /// Bytes of the drive, a multiple of the sector. Does not change.
    fn size(&self) -> u64;
    /// Bytes of the smallest access, a power of two.
    fn sector_size(&self) -> u32;
    /// Whether every write is refused.
    fn is_read_only(&self) -> bool {
        false
    }
    /// Whether the drive has power.
    fn is_powered(&self) -> bool;
    /// Whether commands sleep for as long as a drive would take: front ends then have many under
    /// way at once.
    fn takes_time(&self) -> bool {
        false
    }
    /// Reads into `into`.
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError>;
    /// Reads so many bytes onto the end of `into`; some may be there when it fails.
    fn read_onto(&self, offset: u64, length: usize, into: &mut Vec<u8>) -> Result<(), StoreError> {
        let start = into.len();
        into.resize(start + length, 0);
        self.read(offset, &mut into[start..])
    }
    /// Reads so many bytes in order, `take` getting each piece of them: bytes, or how many zeroes
    /// nothing is kept for. It may have got some when it fails.
    fn read_pieces(
        &self,
        offset: u64,
        length: usize,
        take: &mut dyn FnMut(Piece<'_>),
    ) -> Result<(), StoreError> {
        // Another client may write meanwhile; what was a hole when it was looked at is a value
        // that the read may return.
        let mut bytes = Vec::new();
        let mut at = 0;
        for extent in self.extents(offset, length as u64, EXTENTS_MAX)? {
            let count = extent.length as usize;
            if extent.is_zero {
                take(Piece::Zeroes(count));
            } else {
                bytes.resize(count, 0);
                self.read(offset + at as u64, &mut bytes)?;
                take(Piece::Bytes(&bytes));
            }
            at += count;
        }
        if at < length {
            bytes.resize(length - at, 0);
            self.read(offset + at as u64, &mut bytes)?;
            take(Piece::Bytes(&bytes));
        }
        Ok(())
    }
    /// Writes `from`. With `fua` it is durable on return.
    fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<(), StoreError>;
    /// Makes durable what was acknowledged before the call.
    fn flush(&self) -> Result<(), StoreError>;
    /// Forgets a range; it reads as zeroes afterwards.
    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), StoreError>;
    /// Writes zeroes.
    fn write_zeroes(&self, offset: u64, length: u64, flags: ZeroFlags) -> Result<(), StoreError>;
    /// A hint that a range will be read soon.
    fn cache(&self, _offset: u64, _length: u64) -> Result<(), StoreError> {
        if self.is_powered() {
            Ok(())
        } else {
            Err(StoreError::Off)
        }
    }
    /// Front ends call it before they tell anybody of what was done: a drive that lives in files
    /// writes them now, for several commands at once. When it fails, nobody may be told.
    fn settle(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// The states of a range, in order, from `offset` on. At most `max` extents; together they
    /// may cover less than `length`, but at least one sector, and never more.
    fn extents(&self, offset: u64, length: u64, max: usize) -> Result<Vec<Extent>, StoreError>;
}
