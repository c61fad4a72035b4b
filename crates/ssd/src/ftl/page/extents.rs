//! A map of extents under a hard budget of DRAM: how many there are, and where to merge next.
//!
//! ```text
//!  logical slots  l0 l1 l2 l3 | l4 l5 l6 l7 | ...     merge ranges
//!  media slots    70 71 72 73 | 90 12 13 55 |         one extent | three extents
//! ```
//! An *extent* is a longest run of mapped slots of one merge range whose places on media follow one
//! another. It takes `entry_bytes` of DRAM, however long it is; a slot in the write buffer is an
//! extent of its own. When a write may find no room for its extents, the drive *merges* first: it
//! rewrites a merge range in order, see [`super::merge`].
//!
//! The next range to merge is the next one in address order, round and round, that has at least the
//! average number of extents: a controller needs one counter for each range, and their sum.
//!
//! Left out: nodes of the tree above the extents, which `entry_bytes` includes.

use crate::config::{DriveConfig, MappingKind};
use crate::ftl::map_value::{BUFFERED, UNMAPPED};
use crate::image::image_of;
use std::ops::Range;

/// Part of the budget that idle merges keep free: a 128th. No more, because drives with such a map
/// did not recover while they were left idle (article zil).
const IDLE_PART: u64 = 128;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct Extents {
    on: bool,
    entry_bytes: u32,
    dram_bytes: u64,
    user_slots: u32,
    /// log2 of the logical slots of a merge range.
    range_shift: u32,
    /// Extents of each merge range.
    counts: Vec<u32>,
    total: u64,
    /// Extents beyond which the drive merges before it takes a write in; `u64::MAX`: never.
    limit: u64,
    /// The next merge range to look at.
    hand: u32,
    /// Recovery has found more extents than the budget allows: programs that were lost had made
    /// fewer. The next write merges.
    recovered: bool,
}

image_of!(Extents {
    on,
    entry_bytes,
    dram_bytes,
    user_slots,
    range_shift,
    counts,
    total,
    limit,
    hand,
    recovered
});

impl Extents {
    pub fn new(config: &DriveConfig) -> Extents {
        let mapping = &config.ftl.mapping;
        let on = mapping.kind == MappingKind::Extents;
        let ranges = if on { config.merge_ranges() } else { 0 };
        Extents {
            on,
            entry_bytes: mapping.entry_bytes,
            dram_bytes: mapping.dram_bytes,
            user_slots: config.user_slots() as u32,
            range_shift: config.merge_range_slots().trailing_zeros(),
            counts: vec![0; ranges as usize],
            total: 0,
            limit: config.extents_before_merge(),
            hand: 0,
            recovered: false,
        }
    }

    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Merges nothing from now on.
    pub fn hold_all(&mut self) {
        self.limit = u64::MAX;
    }

    /// Bytes of DRAM that the map takes.
    fn bytes(&self) -> u64 {
        self.total * u64::from(self.entry_bytes)
    }

    /// Whether a change of `slots` logical slots may need more extents than there is room for: each
    /// may divide an extent in three.
    #[inline(always)]
    pub fn is_full_for(&self, slots: u32) -> bool {
        self.on && self.total + 2 * u64::from(slots) > self.limit
    }

    /// Whether a merge is due in idle time.
    pub fn wants_idle_merge(&self) -> bool {
        self.on && self.limit < u64::MAX && self.total > self.limit - self.limit / IDLE_PART
    }

    /// Number of merge ranges.
    pub fn ranges(&self) -> u32 {
        self.counts.len() as u32
    }

    /// Logical slots of a merge range.
    pub fn slots_of(&self, range: u32) -> Range<u32> {
        let first = range << self.range_shift;
        first..(first + (1 << self.range_shift)).min(self.user_slots)
    }

    /// Extents of a merge range.
    pub fn count(&self, range: u32) -> u32 {
        self.counts[range as usize]
    }

    /// The next merge range with at least the average number of extents, and more than one.
    pub fn next_range(&mut self) -> Option<u32> {
        let ranges = self.ranges();
        let average = (self.total / u64::from(ranges.max(1))) as u32;
        for _ in 0..ranges {
            let range = self.hand;
            self.hand = (self.hand + 1) % ranges;
            if self.counts[range as usize] >= average.max(2) {
                return Some(range);
            }
        }
        None
    }

    fn is_first(&self, lpn: u32) -> bool {
        lpn.trailing_zeros() >= self.range_shift
    }

    /// Number of extents that begin at `lpn`: zero or one.
    fn begins(&self, map: &[u32], lpn: u32) -> u32 {
        let value = map[lpn as usize];
        if value == UNMAPPED {
            return 0;
        }
        let joined = !self.is_first(lpn)
            && value < BUFFERED
            && map[lpn as usize - 1] != UNMAPPED
            && map[lpn as usize - 1].wrapping_add(1) == value;
        u32::from(!joined)
    }

    fn beginnings(&self, map: &[u32], lpn: u32) -> u32 {
        let next = lpn + 1;
        let has_next = next < self.user_slots && !self.is_first(next);
        let after = if has_next { self.begins(map, next) } else { 0 };
        self.begins(map, lpn) + after
    }

    /// Uncounts the extents at `lpn` before its map entry changes.
    #[inline]
    pub fn before_change(&mut self, map: &[u32], lpn: u32) {
        let begin = self.beginnings(map, lpn);
        self.counts[(lpn >> self.range_shift) as usize] -= begin;
        self.total -= u64::from(begin);
    }

    /// Counts the extents at `lpn` after its map entry has changed.
    #[inline]
    pub fn after_change(&mut self, map: &[u32], lpn: u32) {
        let begin = self.beginnings(map, lpn);
        self.counts[(lpn >> self.range_shift) as usize] += begin;
        self.total += u64::from(begin);
    }

    /// Discards all extents.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.total = 0;
        self.hand = 0;
        self.recovered = false;
    }

    /// Accepts the map that recovery has found, whatever its size.
    pub fn accept_recovered(&mut self) {
        self.recovered = self.bytes() > self.dram_bytes;
    }

    /// The drive has merged: from now on the map must fit.
    pub fn merged(&mut self) {
        self.recovered = false;
    }

    /// Counts the extents again and compares; reports the first contradiction, which includes a map
    /// larger than its budget.
    pub fn check(&self, map: &[u32]) -> Result<(), String> {
        if !self.on {
            return Ok(());
        }
        let mut total = 0;
        for (range, &counted) in (0..).zip(&self.counts) {
            let slots = self.slots_of(range);
            let extents: u32 = slots.map(|lpn| self.begins(map, lpn)).sum();
            if extents != counted {
                return Err(format!(
                    "merge range {range} has {extents} extents, counts {counted}"
                ));
            }
            total += u64::from(extents);
        }
        if total != self.total {
            return Err(format!("{total} extents, counted {}", self.total));
        }
        let excused = self.recovered || self.limit == u64::MAX;
        if self.bytes() > self.dram_bytes && !excused {
            let (bytes, most) = (self.bytes(), self.dram_bytes);
            return Err(format!("the map takes {bytes} B, its budget is {most} B"));
        }
        Ok(())
    }
}
