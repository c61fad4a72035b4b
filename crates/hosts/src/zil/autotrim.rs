//! Trims of freed log blocks, as a pool with `autotrim` gives them.
//!
//! What a group frees is joined to ranges. A range of at least 32 KiB (OpenZFS,
//! `zfs_trim_extent_bytes_min`) is trimmed, and its blocks are free when every side has done so;
//! they join the group that syncs next. A shorter range is free at once and is not trimmed.
//!
//! Left out: OpenZFS gathers ranges over some groups before it trims, and limits how many trims are
//! under way.

use super::space::LogExtent;

/// Bytes below which a range is not trimmed.
const RANGE_MIN: u64 = 32 << 10;
/// Bytes of a trim: a command's length is a `u32`, and OpenZFS cuts at 128 MiB
/// (`zfs_trim_extent_bytes_max`).
const RANGE_MAX: u64 = 128 << 20;

/// A range that is being trimmed.
#[derive(Clone, Debug)]
struct AutotrimRange {
    number: u64,
    /// Sides that have not done so.
    left: u32,
    blocks: Vec<LogExtent>,
}

/// Ranges under way, and blocks whose trims are done.
#[derive(Clone, Debug, Default)]
pub(super) struct Trims {
    next: u64,
    under_way: Vec<AutotrimRange>,
    done: Vec<LogExtent>,
}

impl Trims {
    /// A group frees `blocks`: what may be used again now, and the ranges to trim on each of
    /// `sides`, each with its number.
    pub fn free(
        &mut self,
        mut blocks: Vec<LogExtent>,
        sides: u32,
    ) -> (Vec<LogExtent>, Vec<(u64, LogExtent)>) {
        blocks.sort_unstable_by_key(|block| block.offset);
        let mut ready = std::mem::take(&mut self.done);
        let mut ranges = Vec::new();
        let joins = |range: &[LogExtent], next: &LogExtent| {
            let len: u64 = range.iter().map(|block| block.len).sum();
            range
                .last()
                .is_some_and(|last| last.offset + last.len == next.offset)
                && len + next.len <= RANGE_MAX
        };
        let mut range: Vec<LogExtent> = Vec::new();
        for block in blocks {
            if !joins(&range, &block) {
                ranges.push(std::mem::take(&mut range));
            }
            range.push(block);
        }
        ranges.push(range);
        let mut trims = Vec::new();
        for blocks in ranges {
            let len = blocks.iter().map(|block| block.len).sum();
            let Some(first) = blocks.first().filter(|_| len >= RANGE_MIN) else {
                ready.extend(blocks);
                continue;
            };
            let whole = LogExtent {
                offset: first.offset,
                len,
            };
            trims.push((self.next, whole));
            self.under_way.push(AutotrimRange {
                number: self.next,
                left: sides,
                blocks,
            });
            self.next += 1;
        }
        (ready, trims)
    }

    /// A side has trimmed a range.
    pub fn done(&mut self, number: u64) {
        let Some(at) = self.under_way.iter().position(|r| r.number == number) else {
            return;
        };
        self.under_way[at].left -= 1;
        if self.under_way[at].left == 0 {
            self.done.extend(self.under_way.swap_remove(at).blocks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    fn extent(first_kib: u64, kib: u64) -> LogExtent {
        LogExtent {
            offset: first_kib * KIB,
            len: kib * KIB,
        }
    }

    #[test]
    fn neighbours_are_trimmed_as_one_range_and_free_when_every_side_has() {
        let mut trims = Trims::default();
        let freed = vec![extent(48, 16), extent(32, 16), extent(100, 16)];
        let (ready, ranges) = trims.free(freed, 2);
        assert_eq!(ready, [extent(100, 16)], "too short to be trimmed");
        assert_eq!(ranges, [(0, extent(32, 32))]);
        trims.done(0);
        assert_eq!(trims.free(Vec::new(), 2).0, []);
        trims.done(0);
        assert_eq!(
            trims.free(Vec::new(), 2).0,
            [extent(32, 16), extent(48, 16)]
        );
    }
}
