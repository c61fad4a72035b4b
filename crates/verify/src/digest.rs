//! fio's own ways with the SHA family.
//!
//! fio keeps what is in a digest's buffer at the end, not always the digest: of SHA-256 the last
//! padded block, with the length in the wrong order of bytes, over which it lays the lowest byte of
//! each word of the state; of SHA-512 before 3.39 the first and the last bytes of the data, without
//! a sum, so that the middle of a block goes unchecked.
//!
//! Source: fio's crc/sha1.c, sha256.c and sha512.c.

use crate::format::FioFormat;
use sha1::Sha1;
use sha2::block_api::compress256;
use sha2::{Digest as _, Sha512};

/// SHA-1 with the bytes of each word reversed.
pub fn sha1_words(data: &[u8]) -> [u8; 20] {
    let mut digest: [u8; 20] = Sha1::digest(data).into();
    digest.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    digest
}

/// FIPS 180-4, 5.3.3.
const SHA256_START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The buffer of SHA-256.
pub fn sha256_buffer(data: &[u8]) -> [u8; 64] {
    let mut state = SHA256_START;
    let (blocks, tail) = data.as_chunks::<64>();
    compress256(&mut state, blocks);
    let mut last = [0; 64];
    last[..tail.len()].copy_from_slice(tail);
    last[tail.len()] = 0x80;
    if tail.len() >= 56 {
        compress256(&mut state, &[last]);
        last = [0; 64];
    }
    last[56..].copy_from_slice(&(8 * data.len() as u64).to_le_bytes());
    compress256(&mut state, &[last]);
    for (byte, word) in last.iter_mut().zip(state) {
        *byte = word as u8;
    }
    last
}

/// The buffer of SHA-512.
pub fn sha512_buffer(data: &[u8], format: FioFormat) -> [u8; 128] {
    let mut buffer = [0; 128];
    let (blocks, tail) = data.as_chunks::<128>();
    match format {
        FioFormat::V3_33 => {
            if let Some(first) = blocks.first() {
                buffer = *first;
            }
            buffer[..tail.len()].copy_from_slice(tail);
        }
        FioFormat::Current => {
            if tail.len() < 112 {
                buffer[..tail.len()].copy_from_slice(tail);
                buffer[tail.len()] = 0x80;
            }
            buffer[120..].copy_from_slice(&(8 * data.len() as u64).to_be_bytes());
            buffer[..64].copy_from_slice(&Sha512::digest(data));
        }
    }
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4's example of one block: the words of SHA-1 of "abc".
    #[test]
    fn sha1_is_the_published_one_by_words() {
        assert_eq!(sha1_words(b"abc")[..4], 0xa999_3e36u32.to_le_bytes());
    }

    /// Before 3.39, what is changed between the first 128 bytes and the tail goes unseen.
    #[test]
    fn the_old_sha512_does_not_look_at_the_middle() {
        let data = [1; 3928];
        let mut spoiled = data;
        spoiled[2000] ^= 1;
        let sums = |format| [data, spoiled].map(|data| sha512_buffer(&data, format));
        let [whole, damaged] = sums(FioFormat::V3_33);
        assert_eq!(whole, damaged);
        let [whole, damaged] = sums(FioFormat::Current);
        assert_ne!(whole, damaged);
    }
}
