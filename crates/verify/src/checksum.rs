//! What `verify=` names: the kind of a block's header, and the bytes between header and data.

use crate::crc::{crc7, crc16, crc32, crc32c, crc64};
use crate::digest::{sha1_words, sha256_buffer, sha512_buffer};
use crate::format::FioFormat;
use md5::Md5;
use sha2::Digest as _;
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use twox_hash::XxHash32;

/// What follows a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockChecksum {
    /// The header alone.
    Meta,
    /// 128 bits.
    Md5,
    /// 64 bits, polynomial 0x95AC9329AC4BC9B5 reflected.
    Crc64,
    /// 32 bits, polynomial 0x04C11DB7, from zero.
    Crc32,
    /// 32 bits, Castagnoli's polynomial.
    Crc32c,
    /// 16 bits.
    Crc16,
    /// 7 bits.
    Crc7,
    /// 64 bytes, eight of which depend on all of the data.
    Sha256,
    /// 128 bytes.
    Sha512,
    /// 224 bits.
    Sha3224,
    /// 256 bits.
    Sha3256,
    /// 384 bits.
    Sha3384,
    /// 512 bits.
    Sha3512,
    /// 32 bits, seed 1.
    Xxhash,
    /// 160 bits.
    Sha1,
    /// No header: nothing but the pattern.
    Pattern,
}

impl BlockChecksum {
    /// All, by name and by the number that a header has.
    pub const ALL: [(&'static str, BlockChecksum, u8); 16] = [
        ("meta", BlockChecksum::Meta, 1),
        ("md5", BlockChecksum::Md5, 2),
        ("crc64", BlockChecksum::Crc64, 3),
        ("crc32", BlockChecksum::Crc32, 4),
        ("crc32c", BlockChecksum::Crc32c, 5),
        ("crc16", BlockChecksum::Crc16, 7),
        ("crc7", BlockChecksum::Crc7, 8),
        ("sha256", BlockChecksum::Sha256, 9),
        ("sha512", BlockChecksum::Sha512, 10),
        ("sha3-224", BlockChecksum::Sha3224, 11),
        ("sha3-256", BlockChecksum::Sha3256, 12),
        ("sha3-384", BlockChecksum::Sha3384, 13),
        ("sha3-512", BlockChecksum::Sha3512, 14),
        ("xxhash", BlockChecksum::Xxhash, 15),
        ("sha1", BlockChecksum::Sha1, 16),
        ("pattern", BlockChecksum::Pattern, 18),
    ];

    /// The checksum that `verify=` names so.
    pub fn named(name: &str) -> Option<BlockChecksum> {
        let name = if name == "crc32c-intel" {
            "crc32c"
        } else {
            name
        };
        let entry = Self::ALL.iter().find(|entry| entry.0 == name);
        entry.map(|entry| entry.1)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let entry = Self::ALL.iter().find(|entry| entry.1 == self);
        entry.map_or("", |entry| entry.0)
    }

    /// Its number in a header.
    pub fn number(self) -> u8 {
        let entry = Self::ALL.iter().find(|entry| entry.1 == self);
        entry.map_or(0, |entry| entry.2)
    }

    /// Bytes between the header and the data.
    pub fn bytes(self) -> usize {
        match self {
            BlockChecksum::Meta | BlockChecksum::Pattern => 0,
            BlockChecksum::Crc7 => 1,
            BlockChecksum::Crc16 => 2,
            BlockChecksum::Crc32 | BlockChecksum::Crc32c | BlockChecksum::Xxhash => 4,
            BlockChecksum::Crc64 => 8,
            BlockChecksum::Md5 => 16,
            BlockChecksum::Sha1 => 20,
            BlockChecksum::Sha3224 => 28,
            BlockChecksum::Sha3256 => 32,
            BlockChecksum::Sha3384 => 48,
            BlockChecksum::Sha256 | BlockChecksum::Sha3512 => 64,
            BlockChecksum::Sha512 => 128,
        }
    }

    /// The checksum of `data`, as it stands behind the header.
    pub fn of(self, data: &[u8], format: FioFormat) -> Vec<u8> {
        match self {
            BlockChecksum::Meta | BlockChecksum::Pattern => Vec::new(),
            BlockChecksum::Md5 => Md5::digest(data).to_vec(),
            BlockChecksum::Crc64 => crc64(data).to_le_bytes().to_vec(),
            BlockChecksum::Crc32 => crc32(data).to_le_bytes().to_vec(),
            BlockChecksum::Crc32c => crc32c(data).to_le_bytes().to_vec(),
            BlockChecksum::Crc16 => crc16(data).to_le_bytes().to_vec(),
            BlockChecksum::Crc7 => vec![crc7(data)],
            BlockChecksum::Sha256 => sha256_buffer(data).to_vec(),
            BlockChecksum::Sha512 => sha512_buffer(data, format).to_vec(),
            BlockChecksum::Sha3224 => Sha3_224::digest(data).to_vec(),
            BlockChecksum::Sha3256 => Sha3_256::digest(data).to_vec(),
            BlockChecksum::Sha3384 => Sha3_384::digest(data).to_vec(),
            BlockChecksum::Sha3512 => Sha3_512::digest(data).to_vec(),
            BlockChecksum::Xxhash => XxHash32::oneshot(1, data).to_le_bytes().to_vec(),
            BlockChecksum::Sha1 => sha1_words(data).to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_checksum_has_the_size_that_a_block_leaves_for_it() {
        for (name, checksum, _) in BlockChecksum::ALL {
            for (format_name, format) in FioFormat::ALL {
                let bytes = checksum.of(&[7; 472], format).len();
                assert_eq!(bytes, checksum.bytes(), "{name}, {format_name}");
            }
        }
    }
}
