//! The header that fio writes before each block: of 40 bytes until 3.40, of 48 since.
//!
//! ```text
//!  0 magic u16   2 kind u16; since 3.41 version u8, kind u8   4 length u32   8 seed u64
//!  16 offset u64   24 seconds u32   28 nanoseconds u32
//!  3.33: 32 thread u16, 34 number u16 (the lower half), 36 crc32c of what is before
//!  since 3.41: 32 number u64, 40 thread u16, 44 crc32c of what is before
//! ```

use crate::crc::crc32c;
use crate::format::FioFormat;

const MAGIC: u16 = 0xacca;
const VERSION: u8 = 0x81;

/// When a write was issued, as a header says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteTime {
    /// Seconds.
    pub seconds: u32,
    /// Nanoseconds of the second.
    pub nanos: u32,
}

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyHeader {
    /// The number of the checksum.
    pub kind: u8,
    /// Bytes of the block, header included.
    pub length: u32,
    /// Seed of the contents.
    pub seed: u64,
    /// Where the block is.
    pub offset: u64,
    /// When it was written.
    pub time: WriteTime,
    /// Which write of its job it is, from 0; of 3.33 the lower 16 bits.
    pub number: u64,
    /// Which job, from 1.
    pub thread: u16,
}

impl VerifyHeader {
    /// Bytes of a header without its checksum of the data.
    pub fn length(format: FioFormat) -> usize {
        match format {
            FioFormat::V3_33 => 40,
            FioFormat::Current => 48,
        }
    }

    /// Writes it over the first of `bytes`. Two bytes of the current one belong to no field: they
    /// stay what they were.
    pub fn write(&self, format: FioFormat, bytes: &mut [u8]) {
        let mut put = |at: usize, value: &[u8]| {
            bytes[at..at + value.len()].copy_from_slice(value);
        };
        put(0, &MAGIC.to_le_bytes());
        put(4, &self.length.to_le_bytes());
        put(8, &self.seed.to_le_bytes());
        put(16, &self.offset.to_le_bytes());
        put(24, &self.time.seconds.to_le_bytes());
        put(28, &self.time.nanos.to_le_bytes());
        match format {
            FioFormat::V3_33 => {
                put(2, &[self.kind, 0]);
                put(32, &self.thread.to_le_bytes());
                put(34, &(self.number as u16).to_le_bytes());
            }
            FioFormat::Current => {
                put(2, &[VERSION, self.kind]);
                put(32, &self.number.to_le_bytes());
                put(40, &self.thread.to_le_bytes());
            }
        }
        let end = Self::length(format) - 4;
        let crc = crc32c(&bytes[..end]);
        bytes[end..end + 4].copy_from_slice(&crc.to_le_bytes());
    }

    /// What the first bytes of a block say; `None` when they are no header, or a damaged one.
    pub fn from_bytes(bytes: &[u8], format: FioFormat) -> Option<VerifyHeader> {
        let bytes = bytes.get(..Self::length(format))?;
        let u32_at = |at: usize| (0..4).fold(0, |n, i| n | u32::from(bytes[at + i]) << (8 * i));
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        let head = u32_at(0);
        let (has_version, kind) = match format {
            FioFormat::V3_33 => (head >> 24 == 0, (head >> 16) as u8),
            FioFormat::Current => ((head >> 16) as u8 == VERSION, (head >> 24) as u8),
        };
        let end = bytes.len() - 4;
        if head as u16 != MAGIC || !has_version || crc32c(&bytes[..end]) != u32_at(end) {
            return None;
        }
        let (number, thread) = match format {
            FioFormat::V3_33 => (u64::from(u32_at(32) >> 16), u32_at(32) as u16),
            FioFormat::Current => (u64_at(32), u32_at(40) as u16),
        };
        Some(VerifyHeader {
            kind,
            length: u32_at(4),
            seed: u64_at(8),
            offset: u64_at(16),
            time: WriteTime {
                seconds: u32_at(24),
                nanos: u32_at(28),
            },
            number,
            thread,
        })
    }
}
