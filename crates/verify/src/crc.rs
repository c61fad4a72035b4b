//! Cyclic redundancy checks as fio computes them: several have no final inversion, and some start
//! from zero.
//!
//! Source: fio's crc/*.c.

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

pub fn crc64(data: &[u8]) -> u64 {
    reflected(&CRC64, 0, data)
}

pub fn crc16(data: &[u8]) -> u16 {
    reflected(&CRC16, 0, data) as u16
}

pub fn crc32(data: &[u8]) -> u32 {
    data.iter().fold(0, |crc, byte| {
        (crc << 8) ^ CRC32[((crc >> 24) ^ u32::from(*byte)) as usize & 0xff]
    })
}

/// Polynomial 0x09, the register kept in the upper seven bits of each step.
pub fn crc7(data: &[u8]) -> u8 {
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

#[cfg(test)]
mod tests {
    use super::*;

    const CHECK: &[u8] = b"123456789";

    /// Check values of the catalogue of parametrised CRC algorithms (R. Williams, G. Cook).
    /// `tests/fio.rs` lets fio itself check blocks.
    #[test]
    fn checks_have_their_published_values() {
        assert_eq!(!crc32c(CHECK), 0xE306_9283);
        assert_eq!(crc16(CHECK), 0xBB3D, "CRC-16/ARC");
        assert_eq!(crc7(CHECK), 0x75, "CRC-7/MMC");
        assert_eq!(crc64(CHECK), 0xE9C6_D914_C4B8_D9CA, "CRC-64/REDIS");
    }
}
