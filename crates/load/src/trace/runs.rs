//! Counts of blocks, kept as runs of neighbours with the same counts.
//!
//! ```text
//! block         0     8     10    13    20    22    25
//! counts        | 2   | 1         |  -  | 3         |     - has never been touched
//! touch 10..22  | 2   | 1   | 2   | 1   | 4   | 3   |     ends split runs, gaps are filled
//! ```
//! Neighbours that have become alike are joined when runs are many, not at once: a command that
//! meets one run, as those of a random load do, then costs one look-up.

use std::collections::BTreeMap;
use std::ops::Range;

/// Joining fewer is not worth while.
const JOIN_AT: usize = 1 << 16;

/// How often one block was read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessCounts {
    /// Reads of it.
    pub reads: u32,
    /// Writes of it.
    pub writes: u32,
    /// Reads that came after a write.
    pub reads_back: u32,
}

impl AccessCounts {
    /// Counts a read.
    pub fn read(&mut self) {
        self.reads = self.reads.saturating_add(1);
        let back = u32::from(self.writes > 0);
        self.reads_back = self.reads_back.saturating_add(back);
    }

    /// Counts a write.
    pub fn write(&mut self) {
        self.writes = self.writes.saturating_add(1);
    }
}

/// Runs by their first block.
#[derive(Debug)]
pub struct BlockRuns {
    runs: BTreeMap<u64, BlockRun>,
    /// Runs are joined beyond this number.
    join_at: usize,
}

#[derive(Clone, Copy, Debug)]
struct BlockRun {
    /// The block after the last.
    end: u64,
    counts: AccessCounts,
}

impl Default for BlockRuns {
    fn default() -> BlockRuns {
        BlockRuns {
            runs: BTreeMap::new(),
            join_at: JOIN_AT,
        }
    }
}

impl BlockRuns {
    /// Whether there are more than `most`, when all that are alike are joined. A few more are let
    /// pass, so that not every command near the bound has to look.
    pub fn exceed(&mut self, most: usize) -> bool {
        let bound = most.saturating_add((most / 8).max(1));
        if self.runs.len() > self.join_at.min(bound) {
            self.join();
            self.join_at = JOIN_AT.max(2 * self.runs.len());
            return self.runs.len() > most;
        }
        false
    }

    /// Number of blocks and counts of each, by address.
    pub fn iter(&self) -> impl Iterator<Item = (u64, AccessCounts)> + '_ {
        let runs = self.runs.iter();
        runs.map(|(first, run)| (run.end - first, run.counts))
    }

    /// Blocks and counts of each, by address.
    pub fn ranges(&self) -> impl Iterator<Item = (Range<u64>, AccessCounts)> + '_ {
        let runs = self.runs.iter();
        runs.map(|(first, run)| (*first..run.end, run.counts))
    }

    /// Applies `count` to the blocks from `first` to before `end`.
    pub fn touch(&mut self, first: u64, end: u64, count: impl Fn(&mut AccessCounts)) {
        if let Some(run) = self.runs.get_mut(&first)
            && run.end == end
        {
            return count(&mut run.counts);
        }
        let mut counts = AccessCounts::default();
        count(&mut counts);
        let before = self.runs.range(..end).next_back();
        if before.is_none_or(|(_, run)| run.end <= first) {
            self.runs.insert(first, BlockRun { end, counts });
            return;
        }
        self.split(first);
        self.split(end);
        let mut gaps = Vec::new();
        let mut gap_start = first;
        for (from, run) in self.runs.range_mut(first..end) {
            if gap_start < *from {
                gaps.push(gap_start..*from);
            }
            count(&mut run.counts);
            gap_start = run.end;
        }
        if gap_start < end {
            gaps.push(gap_start..end);
        }
        for gap in gaps {
            let run = BlockRun {
                end: gap.end,
                counts,
            };
            self.runs.insert(gap.start, run);
        }
    }

    /// Makes `block` the first block of a run, if it lies inside one.
    fn split(&mut self, block: u64) {
        let Some((_, run)) = self.runs.range_mut(..block).next_back() else {
            return;
        };
        if block < run.end {
            let upper_part = *run;
            run.end = block;
            self.runs.insert(block, upper_part);
        }
    }

    /// Joins neighbours with the same counts.
    #[cold]
    fn join(&mut self) {
        let mut joined: Vec<(u64, BlockRun)> = Vec::new();
        while let Some((first, run)) = self.runs.pop_first() {
            match joined.last_mut() {
                Some((_, left)) if left.end == first && left.counts == run.counts => {
                    left.end = run.end;
                }
                _ => joined.push((first, run)),
            }
        }
        self.runs = joined.into_iter().collect();
    }

    /// Once joined, runs are apart or different, and none is empty.
    #[cfg(test)]
    pub fn check(&mut self) {
        self.join();
        let runs: Vec<_> = self.ranges().collect();
        assert!(runs.iter().all(|(range, _)| !range.is_empty()), "{runs:?}");
        for pair in runs.windows(2) {
            let ((left, a), (right, b)) = (&pair[0], &pair[1]);
            let apart = left.end < right.start || left.end == right.start && a != b;
            assert!(apart, "{runs:?}");
        }
    }
}
