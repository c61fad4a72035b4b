//! How often each 4 KiB block was read and written, in bounded memory.
//!
//! Neighbours with the same counts are kept as one run ([`BlockRuns`]), so a command costs as many
//! steps as it meets runs, however long it is. Exact up to [`Blocks::KEPT_MAX`] runs. Beyond,
//! blocks are sampled by a hash of their address: every time the bound is met, half of the
//! addresses are given up, and the others stand for twice as many (fixed-size SHARDS:
//! C. Waldspurger et al., "Efficient MRC Construction with SHARDS", FAST 2015). A sampled block's
//! own counts stay exact.

use super::runs::{AccessCounts, BlockRuns};
use schemars::JsonSchema;
use std::collections::HashMap;

/// Bytes of a block.
pub const BLOCK: u64 = 4096;

/// Counts by block.
#[derive(Debug)]
pub struct Blocks {
    store: BlockCountStore,
    kept_max: usize,
}

#[derive(Debug)]
enum BlockCountStore {
    /// Every block.
    All(BlockRuns),
    /// Those whose hash has this many low bits zero.
    Some(HashMap<u64, AccessCounts>, u32),
}

/// What the counts say. Numbers of blocks and accesses are estimates when `sampled_1_in` > 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, JsonSchema)]
pub struct Reuse {
    /// One block in this many was sampled; 1: all, and every number is exact.
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
    /// Runs counted exactly: 4 GiB of single blocks.
    pub const KEPT_MAX: usize = 1 << 20;

    /// Nothing counted; at most `kept_max` runs or sampled blocks (at least 1) are kept.
    pub fn new(kept_max: usize) -> Blocks {
        Blocks {
            store: BlockCountStore::All(BlockRuns::default()),
            kept_max: kept_max.max(1),
        }
    }

    /// Counts a read of `len` > 0 bytes at `offset`.
    pub fn read(&mut self, offset: u64, len: u64) {
        self.touch(offset, len, AccessCounts::read);
    }

    /// Counts a write of `len` > 0 bytes at `offset`.
    pub fn write(&mut self, offset: u64, len: u64) {
        self.touch(offset, len, AccessCounts::write);
    }

    fn touch(&mut self, offset: u64, len: u64, count: impl Fn(&mut AccessCounts)) {
        if len == 0 {
            return;
        }
        let (first, last) = (offset / BLOCK, offset.saturating_add(len - 1) / BLOCK);
        match &mut self.store {
            BlockCountStore::All(runs) => {
                runs.touch(first, last + 1, count);
                if runs.exceed(self.kept_max) {
                    self.store = sample(runs, self.kept_max);
                }
            }
            BlockCountStore::Some(blocks, halvings) => {
                for block in first..=last {
                    if sampled(block, *halvings) {
                        count(blocks.entry(block).or_default());
                        while blocks.len() > self.kept_max {
                            *halvings += 1;
                            blocks.retain(|block, _| sampled(*block, *halvings));
                        }
                    }
                }
            }
        }
    }

    /// What the counts say.
    pub fn reuse(&self) -> Reuse {
        match &self.store {
            BlockCountStore::All(runs) => reuse(runs.iter(), 0),
            BlockCountStore::Some(blocks, halvings) => {
                reuse(blocks.values().map(|counts| (1, *counts)), *halvings)
            }
        }
    }
}

/// As many of the blocks of `runs` as may be kept.
#[cold]
fn sample(runs: &BlockRuns, kept_max: usize) -> BlockCountStore {
    let blocks = || {
        let runs = runs.ranges();
        runs.flat_map(|(range, counts)| range.map(move |block| (block, counts)))
    };
    // Blocks by zero bits of their hash.
    let mut by_bits = [0_usize; 65];
    for (block, _) in blocks() {
        by_bits[hash(block).trailing_zeros() as usize] += 1;
    }
    let kept_count = |halvings: u32| by_bits[halvings as usize..].iter().sum::<usize>();
    let halvings = (1..64).find(|&halvings| kept_count(halvings) <= kept_max);
    let halvings = halvings.unwrap_or(64);
    let kept_blocks = blocks().filter(|(block, _)| sampled(*block, halvings));
    BlockCountStore::Some(kept_blocks.collect(), halvings)
}

/// Sums over (number of blocks, counts of each). The order of a hash map does not show in sums, nor
/// after sorting.
fn reuse(counted: impl Iterator<Item = (u64, AccessCounts)>, halvings: u32) -> Reuse {
    let sampled_1_in = 1u64 << halvings.min(63);
    let mut writes: Vec<(u64, u64)> = Vec::new();
    let mut reuse = Reuse::default();
    let times = |blocks: u64, count: u32| blocks.saturating_mul(u64::from(count));
    for (blocks, counts) in counted {
        reuse.blocks += blocks;
        reuse.blocks_read += if counts.reads > 0 { blocks } else { 0 };
        add(&mut reuse.block_reads, times(blocks, counts.reads));
        add(&mut reuse.reads_back, times(blocks, counts.reads_back));
        if counts.writes > 0 {
            writes.push((u64::from(counts.writes), blocks));
            reuse.blocks_written += blocks;
            add(&mut reuse.block_writes, times(blocks, counts.writes));
        }
    }
    writes.sort_unstable_by(|a, b| b.cmp(a));
    reuse.rewrites = reuse.block_writes - reuse.blocks_written;
    reuse.hottest_pct = (reuse.block_writes > 0).then(|| {
        HOTTEST.map(|percent| {
            let hottest = u128::from(reuse.blocks_written) * u128::from(percent);
            let hot = written(&writes, hottest.div_ceil(100));
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

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// Writes of the first `blocks` of (writes of each, blocks).
fn written(most_first: &[(u64, u64)], mut blocks: u128) -> u64 {
    let mut sum: u64 = 0;
    for &(writes, alike) in most_first {
        let block_count = blocks.min(u128::from(alike));
        blocks -= block_count;
        add(&mut sum, writes.saturating_mul(block_count as u64));
    }
    sum
}

/// Whether a block is still sampled after `halvings`.
fn sampled(block: u64, halvings: u32) -> bool {
    halvings == 0 || hash(block).trailing_zeros() >= halvings
}

/// The finaliser of SplitMix64.
fn hash(block: u64) -> u64 {
    let mut x = block.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
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

    /// Block by block, as it was once counted.
    fn one_by_one(commands: &[(bool, u64, u64)]) -> Reuse {
        let mut blocks: HashMap<u64, AccessCounts> = HashMap::new();
        for &(write, offset, len) in commands {
            for block in offset / BLOCK..=(offset + len - 1) / BLOCK {
                let counts = blocks.entry(block).or_default();
                if write {
                    counts.write();
                } else {
                    counts.read();
                }
            }
        }
        reuse(blocks.values().map(|counts| (1, *counts)), 0)
    }

    /// Commands of all lengths on few blocks, so that runs are split, filled and joined.
    #[test]
    fn runs_say_what_single_blocks_say() {
        let mut rng = Rng::new(7);
        for round in 0..200 {
            let span = 1 + rng.below(60);
            let (mut blocks, mut commands) = (Blocks::default(), Vec::new());
            for _ in 0..rng.below(80) {
                let offset = rng.below(span * BLOCK);
                let most = 1 + rng.below(span * BLOCK);
                let len = 1 + rng.below(most);
                let write = rng.below(2) == 0;
                commands.push((write, offset, len));
                if write {
                    blocks.write(offset, len)
                } else {
                    blocks.read(offset, len)
                }
            }
            assert_eq!(blocks.reuse(), one_by_one(&commands), "round {round}");
            let BlockCountStore::All(runs) = &mut blocks.store else {
                panic!("few enough");
            };
            runs.check();
        }
    }

    /// A hundred commands of 4 GiB took seconds, and were sampled.
    #[test]
    fn the_longest_commands_are_counted_by_their_ends() {
        let mut blocks = Blocks::default();
        let len = (4 << 30) - BLOCK;
        for command in 0..100_000 {
            blocks.write(command % 7 * (3 << 30), len);
        }
        let reuse = blocks.reuse();
        assert_eq!((reuse.sampled_1_in, reuse.blocks), (1, (22 << 18) - 1));
        assert_eq!(reuse.block_writes, 100_000 * (len / BLOCK));
        // One block after another is one run, however many there are.
        let mut blocks = Blocks::new(1);
        for block in 0..100_000 {
            blocks.read(block * BLOCK, BLOCK);
        }
        assert_eq!(
            (blocks.reuse().sampled_1_in, blocks.reuse().blocks),
            (1, 100_000)
        );
    }
}
