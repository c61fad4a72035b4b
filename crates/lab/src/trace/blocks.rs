//! How often each 4 KiB block was read and written, in bounded memory.
//!
//! Exact up to [`Blocks::KEPT_MAX`] blocks. Beyond, blocks are sampled by a hash of their
//! address: every time the bound is met, half of the addresses are given up, and what is left
//! stands for twice as much (fixed-size SHARDS: C. Waldspurger et al., "Efficient MRC
//! Construction with SHARDS", FAST 2015). A sampled block's own counts stay exact.

use std::collections::HashMap;

/// Bytes of a block.
pub const BLOCK: u64 = 4096;

/// Counts by block.
#[derive(Debug)]
pub struct Blocks {
    kept: HashMap<u64, Counts>,
    kept_max: usize,
    /// A block is kept while this many low bits of its hash are zero.
    halvings: u32,
}

/// What was done to one block.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    reads: u32,
    writes: u32,
    /// Reads that came after a write.
    reads_back: u32,
}

/// What the counts say. Numbers of blocks and accesses are estimates when `sampled_1_in` > 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Reuse {
    /// One in so many blocks was looked at; 1: all, and every number is exact.
    pub sampled_1_in: u64,
    /// Blocks read or written.
    pub blocks: u64,
    /// Blocks read.
    pub blocks_read: u64,
    /// Blocks written.
    pub blocks_written: u64,
    /// Writes of blocks: a write of 8 KiB is two.
    pub block_writes: u64,
    /// Reads of blocks.
    pub block_reads: u64,
    /// Writes of blocks that had been written before.
    pub rewrites: u64,
    /// Reads of blocks that had been written before.
    pub reads_back: u64,
    /// Share of the block writes that the most written 20, 10 and 1 % of the written blocks
    /// received, in per cent; the number of blocks is rounded up. `None` without writes.
    pub hottest_pct: Option<[f64; 3]>,
}

/// The shares of blocks in [`Reuse::hottest_pct`], in per cent.
pub const HOTTEST: [u64; 3] = [20, 10, 1];

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks::new(Blocks::KEPT_MAX)
    }
}

impl Blocks {
    /// Blocks counted exactly: 4 GiB of addresses, about 50 MB of memory.
    pub const KEPT_MAX: usize = 1 << 20;

    /// Nothing counted; at most `kept_max` blocks (at least 1) are kept.
    pub fn new(kept_max: usize) -> Blocks {
        Blocks {
            kept: HashMap::new(),
            kept_max: kept_max.max(1),
            halvings: 0,
        }
    }

    /// Counts a read of `len` > 0 bytes at `offset`.
    pub fn read(&mut self, offset: u64, len: u64) {
        self.touch(offset, len, |counts| {
            counts.reads = counts.reads.saturating_add(1);
            let back = u32::from(counts.writes > 0);
            counts.reads_back = counts.reads_back.saturating_add(back);
        });
    }

    /// Counts a write of `len` > 0 bytes at `offset`.
    pub fn write(&mut self, offset: u64, len: u64) {
        self.touch(offset, len, |counts| {
            counts.writes = counts.writes.saturating_add(1);
        });
    }

    fn touch(&mut self, offset: u64, len: u64, count: impl Fn(&mut Counts)) {
        if len == 0 {
            return;
        }
        let last = offset.saturating_add(len - 1) / BLOCK;
        for block in offset / BLOCK..=last {
            if sampled(block, self.halvings) {
                count(self.kept.entry(block).or_default());
                while self.kept.len() > self.kept_max {
                    self.halve();
                }
            }
        }
    }

    #[cold]
    fn halve(&mut self) {
        self.halvings += 1;
        let halvings = self.halvings;
        self.kept.retain(|block, _| sampled(*block, halvings));
    }

    /// What the counts say.
    pub fn reuse(&self) -> Reuse {
        let sampled_1_in = 1u64 << self.halvings.min(63);
        // The order of a hash map does not show in sums, nor after sorting.
        let mut writes: Vec<u64> = Vec::new();
        let mut reuse = Reuse::default();
        for counts in self.kept.values() {
            reuse.blocks += 1;
            reuse.blocks_read += u64::from(counts.reads > 0);
            reuse.block_reads += u64::from(counts.reads);
            reuse.reads_back += u64::from(counts.reads_back);
            if counts.writes > 0 {
                writes.push(u64::from(counts.writes));
            }
        }
        writes.sort_unstable_by(|a, b| b.cmp(a));
        reuse.blocks_written = writes.len() as u64;
        reuse.block_writes = writes.iter().sum();
        reuse.rewrites = reuse.block_writes - reuse.blocks_written;
        reuse.hottest_pct = (reuse.block_writes > 0).then(|| {
            HOTTEST.map(|percent| {
                let hottest = (writes.len() as u64 * percent).div_ceil(100) as usize;
                let hot: u64 = writes[..hottest].iter().sum();
                100.0 * hot as f64 / reuse.block_writes as f64
            })
        });
        for count in [
            &mut reuse.blocks,
            &mut reuse.blocks_read,
            &mut reuse.blocks_written,
            &mut reuse.block_writes,
            &mut reuse.block_reads,
            &mut reuse.rewrites,
            &mut reuse.reads_back,
        ] {
            *count = count.saturating_mul(sampled_1_in);
        }
        Reuse {
            sampled_1_in,
            ..reuse
        }
    }
}

/// Whether a block is looked at after so many halvings. The hash is the finaliser of SplitMix64.
fn sampled(block: u64, halvings: u32) -> bool {
    if halvings == 0 {
        return true;
    }
    let mut x = block.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)).trailing_zeros() >= halvings
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_ssd::rng::Rng;

    #[test]
    fn a_write_counts_in_every_block_it_touches() {
        let mut blocks = Blocks::default();
        blocks.write(4095, 2);
        blocks.write(0, 4096);
        blocks.read(0, 1);
        blocks.read(1 << 30, 512);
        let reuse = blocks.reuse();
        assert_eq!((reuse.blocks, reuse.blocks_written), (3, 2));
        assert_eq!((reuse.block_writes, reuse.rewrites), (3, 1));
        assert_eq!((reuse.block_reads, reuse.reads_back), (2, 1));
        assert_eq!(reuse.sampled_1_in, 1);
    }

    #[test]
    fn the_hottest_blocks_are_the_most_written() {
        let mut blocks = Blocks::default();
        for block in 0..100 {
            blocks.write(block * BLOCK, BLOCK);
        }
        (0..100).for_each(|_| blocks.write(0, BLOCK));
        let hottest = blocks.reuse().hottest_pct.unwrap();
        // Block 0 has 101 of 200 writes, every other one.
        assert_eq!(hottest, [60.0, 55.0, 50.5]);
    }

    #[test]
    fn a_sample_tells_nearly_what_all_blocks_tell() {
        let (mut all, mut few) = (Blocks::default(), Blocks::new(4000));
        let mut rng = Rng::new(1);
        for _ in 0..300_000 {
            // Half of the writes to a tenth of 50,000 blocks.
            let span = if rng.below(2) == 0 { 5_000 } else { 50_000 };
            let offset = rng.below(span) * BLOCK;
            all.write(offset, BLOCK);
            few.write(offset, BLOCK);
        }
        let (all, few) = (all.reuse(), few.reuse());
        assert_eq!((all.sampled_1_in, few.sampled_1_in), (1, 16));
        let near = |a: u64, b: u64| (a as f64 / b as f64 - 1.0).abs() < 0.05;
        assert!(near(few.blocks, all.blocks), "{few:?}");
        assert!(near(few.block_writes, all.block_writes), "{few:?}");
        let (all, few) = (all.hottest_pct.unwrap(), few.hottest_pct.unwrap());
        assert!((all[1] - few[1]).abs() < 3.0, "{few:?} for {all:?}");
    }
}
