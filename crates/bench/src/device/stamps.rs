//! Contents of verified writes, so that a read can be checked by itself.
//!
//! Every 512 bytes hold the number of their write, their own address, and a sum over both and the
//! rest, which is random. A block that was damaged has a wrong sum, one that was misplaced a wrong
//! address, one that was lost an older number. For blocks that were written while they were read,
//! or by several writes at the same time, only sum and address are checked. fio's methods differ
//! only in the sum.

use std::collections::HashMap;

const SECTOR: usize = 512;
const SECTOR_BYTES: u64 = SECTOR as u64;
/// Number, address and sum.
const HEAD: usize = 24;

/// The last write of a sector.
#[derive(Clone, Copy, Debug, Default)]
struct LastWrite {
    number: u64,
    /// Writes of it under way.
    open: u32,
    /// Several were under way together: their order is not known.
    unsure: bool,
}

/// The writes so far, and the check of reads against them.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    sectors: HashMap<u64, LastWrite>,
    /// Blocks that earlier runs wrote are checked, too.
    checks_earlier_runs: bool,
}

impl Stamps {
    /// With `checks_earlier_runs`, blocks that this run has not written are checked, too.
    pub fn new(checks_earlier_runs: bool) -> Stamps {
        Stamps {
            sectors: HashMap::new(),
            checks_earlier_runs,
        }
    }

    /// Stamps the contents of write `number` to `offset`, which is now under way.
    pub fn seal(&mut self, bytes: &mut [u8], offset: u64, number: u64) {
        for (sector, address) in bytes.chunks_exact_mut(SECTOR).zip(sectors(offset)) {
            sector[..8].copy_from_slice(&number.to_le_bytes());
            sector[8..16].copy_from_slice(&address.to_le_bytes());
            let sum = sum(sector);
            sector[16..HEAD].copy_from_slice(&sum.to_le_bytes());
            let last = self.sectors.entry(address).or_default();
            last.number = number;
            last.unsure = last.open > 0;
            last.open += 1;
        }
    }

    /// A write of `len` bytes to `offset` has completed.
    pub fn written(&mut self, offset: u64, len: u32) {
        for address in sectors(offset).take(len as usize / SECTOR) {
            if let Some(last) = self.sectors.get_mut(&address) {
                last.open -= 1;
            }
        }
    }

    /// Forgets blocks that were trimmed or zeroed: their contents are not known.
    pub fn forget(&mut self, offset: u64, len: u32) {
        for address in sectors(offset).take(len as usize / SECTOR) {
            self.sectors.remove(&address);
        }
    }

    /// Whether `bytes`, read from `offset` by a command that was handed over when write `before`
    /// was the next, are the written data.
    pub fn agree(&self, bytes: &[u8], offset: u64, before: u64) -> bool {
        let word = |sector: &[u8], start: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&sector[start..start + 8]);
            u64::from_le_bytes(word)
        };
        let mut judged = bytes.chunks_exact(SECTOR).zip(sectors(offset));
        judged.all(|(sector, address)| {
            let last = self.sectors.get(&address);
            if last.is_none() && !self.checks_earlier_runs {
                return true;
            }
            let known = last.filter(|last| last.open == 0 && !last.unsure && last.number < before);
            let number = known.is_none_or(|last| last.number == word(sector, 0));
            number && word(sector, 8) == address && word(sector, 16) == sum(sector)
        })
    }
}

/// Addresses of the sectors from `offset` on.
fn sectors(offset: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |n| offset + n * SECTOR_BYTES)
}

/// Over number, address and contents: the mixing step of a 64-bit multiply-and-fold hash.
fn sum(sector: &[u8]) -> u64 {
    let mut sum = 0x9e37_79b9_7f4a_7c15u64;
    for (index, word) in sector.chunks_exact(8).enumerate() {
        if index == 2 {
            continue;
        }
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        sum = (sum ^ u64::from_le_bytes(bytes)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        sum ^= sum >> 32;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sectors at 4096, written by write 7 and completed.
    fn written() -> (Stamps, Vec<u8>) {
        let mut stamps = Stamps::new(false);
        let mut bytes: Vec<u8> = (0..1024u32).map(|n| (n * 31) as u8).collect();
        stamps.seal(&mut bytes, 4096, 7);
        stamps.written(4096, 1024);
        (stamps, bytes)
    }

    #[test]
    fn what_was_written_agrees() {
        let (stamps, bytes) = written();
        assert!(stamps.agree(&bytes, 4096, 8));
    }

    #[test]
    fn damage_misplacement_and_older_contents_are_found() {
        let (mut stamps, bytes) = written();
        for at in [0, 8, 16, 24, 511, 700] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(!stamps.agree(&damaged, 4096, 8), "{at}");
        }
        let mut swapped = bytes.clone();
        swapped.rotate_left(512);
        assert!(!stamps.agree(&swapped, 4096, 8));
        let mut newer = bytes.clone();
        stamps.seal(&mut newer, 4096, 8);
        stamps.written(4096, 1024);
        assert!(!stamps.agree(&bytes, 4096, 9), "an older write");
        assert!(stamps.agree(&newer, 4096, 9));
        // A read that was under way while it was written may see either.
        assert!(stamps.agree(&bytes, 4096, 8));
    }

    #[test]
    fn what_this_run_has_not_written_is_judged_only_when_asked_for() {
        let (_, bytes) = written();
        let mut other = bytes.clone();
        other[40] ^= 1;
        assert!(Stamps::new(false).agree(&other, 4096, 0));
        assert!(Stamps::new(true).agree(&bytes, 4096, 0));
        assert!(!Stamps::new(true).agree(&other, 4096, 0));
        let (mut stamps, _) = written();
        stamps.forget(4096, 1024);
        assert!(stamps.agree(&[0; 1024], 4096, 8));
    }
}
