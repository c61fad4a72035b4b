//! What a sector of the target holds: a stamp that says which write put it there.
//!
//! A stamp fills its sector: magic, run, sector and sequence number at the front, then bytes that
//! follow from these (so that nothing compresses them away), the sequence number again, and the
//! xxh3 of everything before. Whatever a read returns is then one of: a write of this run in its
//! place, a write in another's place, another run's, parts of two, or nothing known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use twox_hash::XxHash3_64;

const MAGIC: &[u8; 8] = b"ssdlpull";
/// Front: magic, run, sector, sequence number.
const HEAD: usize = 32;
/// End: sequence number, sum.
const TAIL: usize = 16;

/// Which write a sector comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Number of the run, from its ledger.
    pub run: u64,
    /// Where it was written to, in sectors.
    pub sector: u64,
    /// Sequence number of the write command.
    pub seq: u64,
}

/// What was found in a sector in place of a stamp that is allowed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnexpectedContent {
    /// A write of this run, but not one that it may hold.
    Write(u64),
    /// A whole stamp of another sector of this run.
    OtherSector {
        /// Where it belongs.
        sector: u64,
        /// Sequence number.
        seq: u64,
    },
    /// A whole stamp of another run.
    OtherRun,
    /// The front of one write and the end of another.
    Torn {
        /// At the front.
        front: u64,
        /// At the end.
        end: u64,
    },
    /// A stamp whose bytes do not fit its sum.
    Damaged,
    /// Only zeros.
    Zeros,
    /// No stamp.
    Foreign,
    /// The drive returned an error for it.
    Unreadable,
}

impl fmt::Display for UnexpectedContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnexpectedContent::Write(seq) => write!(f, "write {seq}"),
            UnexpectedContent::OtherSector { sector, seq } => {
                write!(f, "write {seq} of sector {sector}, misplaced")
            }
            UnexpectedContent::OtherRun => f.write_str("a write of an earlier run"),
            UnexpectedContent::Torn { front, end } => {
                write!(f, "torn: front of write {front}, end of {end}")
            }
            UnexpectedContent::Damaged => f.write_str("a damaged stamp"),
            UnexpectedContent::Zeros => f.write_str("zeros"),
            UnexpectedContent::Foreign => f.write_str("no stamp"),
            UnexpectedContent::Unreadable => f.write_str("a read error"),
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

impl Stamp {
    /// Fills a sector of at least 64 bytes.
    pub fn write(self, bytes: &mut [u8]) {
        let len = bytes.len();
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&self.run.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.sector.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.seq.to_le_bytes());
        let mut state = self.run ^ self.sector.rotate_left(32) ^ self.seq.rotate_left(16) | 1;
        for chunk in bytes[HEAD..len - TAIL].chunks_mut(8) {
            // xorshift64 (G. Marsaglia, 2003): incompressible, not secret.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
        }
        bytes[len - TAIL..len - 8].copy_from_slice(&self.seq.to_le_bytes());
        let sum = XxHash3_64::oneshot(&bytes[..len - 8]);
        bytes[len - 8..].copy_from_slice(&sum.to_le_bytes());
    }

    /// The stamp of a sector, or what it holds otherwise. A stamp of this `run` in its own
    /// `sector` is the only one that counts.
    pub fn read(bytes: &[u8], run: u64, sector: u64) -> Result<u64, UnexpectedContent> {
        let len = bytes.len();
        if bytes[..8] != MAGIC[..] {
            return Err(if bytes.iter().all(|&byte| byte == 0) {
                UnexpectedContent::Zeros
            } else {
                UnexpectedContent::Foreign
            });
        }
        let found = Stamp {
            run: word(bytes, 8),
            sector: word(bytes, 16),
            seq: word(bytes, 24),
        };
        if word(bytes, len - 8) != XxHash3_64::oneshot(&bytes[..len - 8]) {
            let end = word(bytes, len - TAIL);
            return Err(if end == found.seq {
                UnexpectedContent::Damaged
            } else {
                UnexpectedContent::Torn {
                    front: found.seq,
                    end,
                }
            });
        }
        match found {
            Stamp { run: other, .. } if other != run => Err(UnexpectedContent::OtherRun),
            Stamp { sector: other, .. } if other != sector => Err(UnexpectedContent::OtherSector {
                sector: other,
                seq: found.seq,
            }),
            _ => Ok(found.seq),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sector(seq: u64) -> Vec<u8> {
        let mut bytes = vec![0; 512];
        Stamp {
            run: 7,
            sector: 3,
            seq,
        }
        .write(&mut bytes);
        bytes
    }

    #[test]
    fn each_way_to_be_wrong_has_its_name() {
        assert_eq!(Stamp::read(&sector(9), 7, 3), Ok(9));
        assert_eq!(
            Stamp::read(&sector(9), 8, 3),
            Err(UnexpectedContent::OtherRun)
        );
        let misplaced = UnexpectedContent::OtherSector { sector: 3, seq: 9 };
        assert_eq!(Stamp::read(&sector(9), 7, 4), Err(misplaced));
        assert_eq!(Stamp::read(&[0; 512], 7, 3), Err(UnexpectedContent::Zeros));
        assert_eq!(
            Stamp::read(&[1; 512], 7, 3),
            Err(UnexpectedContent::Foreign)
        );
        let mut torn = sector(9);
        torn[256..].copy_from_slice(&sector(8)[256..]);
        let two = UnexpectedContent::Torn { front: 9, end: 8 };
        assert_eq!(Stamp::read(&torn, 7, 3), Err(two));
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        for at in 0..512 * 8 {
            let mut bytes = sector(9);
            bytes[at / 8] ^= 1 << (at % 8);
            assert!(Stamp::read(&bytes, 7, 3).is_err(), "bit {at}");
        }
    }
}
