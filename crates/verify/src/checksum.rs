//! The checksums of `verify=` behind each header, as fio computes them: several have no final
//! inversion, and some start from zero.
//!
//! Source: fio's crc/*.c. Left out: md5, the SHA family and patterns.

/// What follows a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockChecksum {
    /// The header alone.
    Meta,
    /// 64 bits, polynomial 0x95AC9329AC4BC9B5 reflected.
    Crc64,
    /// 32 bits, polynomial 0x04C11DB7, from zero.
    Crc32,
    /// 32 bits, Castagnoli's polynomial.
    Crc32c,
    /// The same by another name.
    Crc32cIntel,
    /// 16 bits.
    Crc16,
    /// 7 bits.
    Crc7,
    /// 32 bits, seed 1.
    Xxhash,
}

impl BlockChecksum {
    /// All, by name and by the number that a header has.
    pub const ALL: [(&'static str, BlockChecksum, u8); 8] = [
        ("meta", BlockChecksum::Meta, 1),
        ("crc64", BlockChecksum::Crc64, 3),
        ("crc32", BlockChecksum::Crc32, 4),
        ("crc32c", BlockChecksum::Crc32c, 5),
        ("crc32c-intel", BlockChecksum::Crc32cIntel, 6),
        ("crc16", BlockChecksum::Crc16, 7),
        ("crc7", BlockChecksum::Crc7, 8),
        ("xxhash", BlockChecksum::Xxhash, 15),
    ];

    /// The checksum that `verify=` names so.
    pub fn named(name: &str) -> Option<BlockChecksum> {
        let entry = Self::ALL.iter().find(|entry| entry.0 == name);
        entry.map(|entry| entry.1)
    }

    /// Its number in a header.
    pub fn number(self) -> u8 {
        let entry = Self::ALL.iter().find(|entry| entry.1 == self);
        entry.map_or(0, |entry| entry.2)
    }

    /// Bytes between the header and the data.
    pub fn bytes(self) -> usize {
        match self {
            BlockChecksum::Meta => 0,
            BlockChecksum::Crc64 => 8,
            BlockChecksum::Crc16 => 2,
            BlockChecksum::Crc7 => 1,
            _ => 4,
        }
    }

    /// The checksum of `data`, as it stands behind the header.
    pub fn of(self, data: &[u8]) -> Vec<u8> {
        match self {
            BlockChecksum::Meta => Vec::new(),
            BlockChecksum::Crc64 => crc64(data).to_le_bytes().to_vec(),
            BlockChecksum::Crc32 => crc32(data).to_le_bytes().to_vec(),
            BlockChecksum::Crc32c | BlockChecksum::Crc32cIntel => {
                crc32c(data).to_le_bytes().to_vec()
            }
            BlockChecksum::Crc16 => crc16(data).to_le_bytes().to_vec(),
            BlockChecksum::Crc7 => vec![crc7(data)],
            BlockChecksum::Xxhash => xxhash32(data, 1).to_le_bytes().to_vec(),
        }
    }
}

/// The remainder of each byte for a reflected polynomial.
const fn reflected_table(polynomial: u64) -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            remainder = match remainder & 1 {
                1 => (remainder >> 1) ^ polynomial,
                _ => remainder >> 1,
            };
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
}

/// The remainder of each byte for a polynomial of 32 bits, the highest bit first.
const fn forward_table(polynomial: u32) -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = (byte as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            remainder = match remainder >> 31 {
                1 => (remainder << 1) ^ polynomial,
                _ => remainder << 1,
            };
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
}

const CRC64: [u64; 256] = reflected_table(0x95AC_9329_AC4B_C9B5);
const CRC32C: [u64; 256] = reflected_table(0x82F6_3B78);
const CRC16: [u64; 256] = reflected_table(0xA001);
const CRC32: [u32; 256] = forward_table(0x04C1_1DB7);

fn reflected(table: &[u64; 256], start: u64, data: &[u8]) -> u64 {
    data.iter().fold(start, |crc, byte| {
        table[((crc ^ u64::from(*byte)) & 0xff) as usize] ^ (crc >> 8)
    })
}

/// As fio has it: without the final inversion.
pub fn crc32c(data: &[u8]) -> u32 {
    reflected(&CRC32C, 0xffff_ffff, data) as u32
}

fn crc64(data: &[u8]) -> u64 {
    reflected(&CRC64, 0, data)
}

fn crc16(data: &[u8]) -> u16 {
    reflected(&CRC16, 0, data) as u16
}

fn crc32(data: &[u8]) -> u32 {
    data.iter().fold(0, |crc, byte| {
        (crc << 8) ^ CRC32[((crc >> 24) ^ u32::from(*byte)) as usize & 0xff]
    })
}

/// Polynomial 0x09, the register kept in the upper seven bits of each step.
fn crc7(data: &[u8]) -> u8 {
    data.iter().fold(0, |crc: u8, byte| {
        let mut register = (crc << 1) ^ byte;
        for _ in 0..8 {
            register = match register >> 7 {
                1 => (register << 1) ^ 0x12,
                _ => register << 1,
            };
        }
        register >> 1
    })
}

const XX: [u32; 5] = [
    0x9E37_79B1,
    0x85EB_CA77,
    0xC2B2_AE3D,
    0x27D4_EB2F,
    0x1656_67B1,
];

fn word(bytes: &[u8]) -> u32 {
    let first = bytes.iter().take(4).enumerate();
    first.fold(0, |word, (at, byte)| word | u32::from(*byte) << (8 * at))
}

fn xxhash32(data: &[u8], seed: u32) -> u32 {
    let mut lanes = [
        seed.wrapping_add(XX[0]).wrapping_add(XX[1]),
        seed.wrapping_add(XX[1]),
        seed,
        seed.wrapping_sub(XX[0]),
    ];
    let stripes = data.chunks_exact(16);
    let tail = stripes.remainder();
    for stripe in stripes {
        for (lane, bytes) in lanes.iter_mut().zip(stripe.chunks_exact(4)) {
            let mixed = lane.wrapping_add(word(bytes).wrapping_mul(XX[1]));
            *lane = mixed.rotate_left(13).wrapping_mul(XX[0]);
        }
    }
    let mut hash = match data.len() {
        0..16 => seed.wrapping_add(XX[4]),
        _ => {
            let turned = lanes.iter().zip([1, 7, 12, 18]);
            turned.fold(0u32, |sum, (lane, by)| {
                sum.wrapping_add(lane.rotate_left(by))
            })
        }
    };
    hash = hash.wrapping_add(data.len() as u32);
    let words = tail.chunks_exact(4);
    let bytes = words.remainder();
    for bytes in words {
        hash = hash.wrapping_add(word(bytes).wrapping_mul(XX[2]));
        hash = hash.rotate_left(17).wrapping_mul(XX[3]);
    }
    for byte in bytes {
        hash = hash.wrapping_add(u32::from(*byte).wrapping_mul(XX[4]));
        hash = hash.rotate_left(11).wrapping_mul(XX[0]);
    }
    hash = (hash ^ (hash >> 15)).wrapping_mul(XX[1]);
    hash = (hash ^ (hash >> 13)).wrapping_mul(XX[2]);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECK: &[u8] = b"123456789";

    /// Check values of the catalogue of parametrised CRC algorithms (R. Williams, G. Cook), and of
    /// xxHash's specification. `tests/fio.rs` lets fio itself check blocks.
    #[test]
    fn checksums_have_their_published_values() {
        assert_eq!(!crc32c(CHECK), 0xE306_9283);
        assert_eq!(crc16(CHECK), 0xBB3D, "CRC-16/ARC");
        assert_eq!(crc7(CHECK), 0x75, "CRC-7/MMC");
        assert_eq!(crc64(CHECK), 0xE9C6_D914_C4B8_D9CA, "CRC-64/REDIS");
        assert_eq!(xxhash32(b"", 0), 0x02CC_5D05);
        assert_eq!(xxhash32(b"Hello World", 0), 0xB1FD_16EE);
    }
}
