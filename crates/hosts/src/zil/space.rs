//! Where log blocks go: metaslabs of a log device and the allocators that choose in them.
//!
//! A metaslab is used until it cannot hold a block (or, in newer code, until its largest free
//! segment has shrunk enough); then the one of the highest weight is next. Freed blocks come
//! back when their transaction group has synced, newer code waits for some more groups.

use super::free_space::FreeSpace;

/// Free choice within a metaslab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaslabPolicy {
    /// First fit from a cursor per alignment of the size; best fit when `free_pct_low` per cent
    /// or less are free, or when nothing within `search_max` bytes fits.
    Df {
        /// Below this share of free bytes: best fit. Unit: %.
        free_pct_low: u64,
        /// How far the search goes from the first segment seen; `None`: all, wrapping.
        search_max: Option<u64>,
    },
    /// A cursor per power of two of the size; where it cannot go on, the smallest segment of at
    /// least 2^`clump_shift` times the class's size.
    Ndf {
        /// 4 in all versions.
        clump_shift: u32,
    },
}

/// Which metaslab is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weighting {
    /// Free bytes as of the last sync, times 2 at the first metaslab and falling to 1 at the
    /// last; every sync makes the choice again.
    Space,
    /// Power of two of the largest free segment; a metaslab is given up when that fell by
    /// `switch_threshold` since it was taken up.
    Segment {
        /// Powers of two.
        switch_threshold: u32,
    },
}

/// How a log device is divided and how it is allocated from.
#[derive(Clone, Copy, Debug)]
pub struct SpaceRules {
    /// First byte that may be used: labels (and a partition's start) come before.
    pub start: u64,
    /// Bytes of a metaslab, a power of two.
    pub metaslab: u64,
    /// Choice within a metaslab.
    pub policy: MetaslabPolicy,
    /// Choice of the metaslab.
    pub weighting: Weighting,
    /// Allocators with a metaslab each.
    pub allocators: usize,
    /// Groups that frees wait for after their own has synced.
    pub defer_groups: usize,
}

/// A place on the log device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogExtent {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
}

#[derive(Clone, Debug)]
struct Metaslab {
    size: u64,
    free: FreeSpace,
    cursors: [u64; 64],
    /// Bytes allocated as of the last sync.
    synced: u64,
    /// Bytes allocated and freed since.
    allocated: u64,
    freed: u64,
    weight: u64,
    /// Weight when an allocator took it up.
    taken_up: Option<(usize, u64)>,
}

/// The space of a log device.
#[derive(Clone, Debug)]
pub struct LogSpace {
    rules: SpaceRules,
    metaslabs: Vec<Metaslab>,
    deferred: std::collections::VecDeque<Vec<LogExtent>>,
}

impl LogSpace {
    /// All of a device of `capacity` bytes free, but for what rules keep away.
    pub fn new(rules: SpaceRules, capacity: u64) -> LogSpace {
        let usable = capacity.saturating_sub(rules.start);
        let count = (usable / rules.metaslab).max(u64::from(usable > 0));
        let mut space = LogSpace {
            rules,
            metaslabs: Vec::new(),
            deferred: (0..rules.defer_groups).map(|_| Vec::new()).collect(),
        };
        for number in 0..count {
            let start = rules.start + number * rules.metaslab;
            let size = rules.metaslab.min(capacity - start);
            let mut free = FreeSpace::new();
            free.add(start, size);
            space.metaslabs.push(Metaslab {
                size,
                free,
                // Offset 0 of the device's space, also in metaslabs further on.
                cursors: [rules.start; 64],
                synced: 0,
                allocated: 0,
                freed: 0,
                weight: 0,
                taken_up: None,
            });
        }
        for number in 0..space.metaslabs.len() {
            space.metaslabs[number].weight = space.weight(number);
        }
        space
    }

    /// Bytes that may be allocated now.
    pub fn free_bytes(&self) -> u64 {
        self.metaslabs.iter().map(|m| m.free.bytes()).sum()
    }

    /// Segments that the free bytes are in; the more, the more fragmented.
    pub fn free_segments(&self) -> usize {
        self.metaslabs.iter().map(|m| m.free.count()).sum()
    }

    /// A place for `len` bytes, or `None` when no metaslab has room.
    pub fn allocate(&mut self, len: u64, allocator: usize) -> Option<LogExtent> {
        let allocator = allocator % self.rules.allocators.max(1);
        for _ in 0..=self.metaslabs.len() {
            let number = self.primary(allocator, len)?;
            if let Some(offset) = self.metaslabs[number].allocate(self.rules.policy, len) {
                self.metaslabs[number].allocated += len;
                return Some(LogExtent { offset, len });
            }
            // Too full for this: last choice until the next sync.
            let metaslab = &mut self.metaslabs[number];
            metaslab.weight = metaslab.weight.min(match self.rules.weighting {
                Weighting::Space => metaslab.free.largest(),
                Weighting::Segment { .. } => u64::from(power(metaslab.free.largest())),
            });
            metaslab.taken_up = None;
        }
        None
    }

    /// The metaslab that `allocator` uses.
    fn primary(&mut self, allocator: usize, len: u64) -> Option<usize> {
        let mine = |m: &Metaslab| m.taken_up.is_some_and(|(by, _)| by == allocator);
        if let Some(number) = self.metaslabs.iter().position(mine) {
            return Some(number);
        }
        let room = |m: &Metaslab| m.free.largest() >= len;
        let choose = |include_taken: bool| {
            let candidates = self.metaslabs.iter().enumerate();
            candidates
                .filter(|(_, m)| room(m) && (include_taken || m.taken_up.is_none()))
                // Of equals the first.
                .max_by_key(|(number, m)| (m.weight, std::cmp::Reverse(*number)))
                .map(|(number, _)| number)
        };
        let number = choose(false).or_else(|| choose(true))?;
        let metaslab = &mut self.metaslabs[number];
        if metaslab.taken_up.is_none() {
            metaslab.taken_up = Some((allocator, metaslab.weight));
        }
        Some(number)
    }

    /// A group has synced and frees `blocks`.
    pub fn synced(&mut self, blocks: Vec<LogExtent>) {
        for block in &blocks {
            let number = self.metaslab_of(block.offset);
            self.metaslabs[number].freed += block.len;
        }
        self.deferred.push_back(blocks);
        for block in self.deferred.pop_front().unwrap_or_default() {
            let number = self.metaslab_of(block.offset);
            self.metaslabs[number].free.add(block.offset, block.len);
        }
        for number in 0..self.metaslabs.len() {
            let metaslab = &mut self.metaslabs[number];
            metaslab.synced = (metaslab.synced + metaslab.allocated) - metaslab.freed;
            (metaslab.allocated, metaslab.freed) = (0, 0);
            let weight = self.weight(number);
            let metaslab = &mut self.metaslabs[number];
            metaslab.weight = weight;
            match (self.rules.weighting, metaslab.taken_up) {
                (Weighting::Space, _) => {}
                (Weighting::Segment { switch_threshold }, Some((_, then)))
                    if weight + u64::from(switch_threshold) <= then =>
                {
                    metaslab.taken_up = None;
                }
                _ => {}
            }
        }
    }

    fn metaslab_of(&self, offset: u64) -> usize {
        let number = (offset - self.rules.start) / self.rules.metaslab;
        (number as usize).min(self.metaslabs.len() - 1)
    }

    fn weight(&self, number: usize) -> u64 {
        let metaslab = &self.metaslabs[number];
        match self.rules.weighting {
            Weighting::Space => {
                let free = metaslab.size - metaslab.synced;
                2 * free - number as u64 * free / self.metaslabs.len() as u64
            }
            Weighting::Segment { .. } => u64::from(power(metaslab.free.largest())),
        }
    }
}

/// Position of the highest bit, from 1; 0 for 0.
fn power(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

impl Metaslab {
    fn allocate(&mut self, policy: MetaslabPolicy, len: u64) -> Option<u64> {
        if self.free.largest() < len {
            return None;
        }
        match policy {
            MetaslabPolicy::Df {
                free_pct_low,
                search_max,
            } => self.df(len, free_pct_low, search_max),
            MetaslabPolicy::Ndf { clump_shift } => self.ndf(len, clump_shift),
        }
    }

    fn ndf(&mut self, len: u64, clump_shift: u32) -> Option<u64> {
        let class = power(len);
        let cursor = self.cursors[class as usize];
        let overlapping = self.free.overlapping(cursor, cursor + len);
        let segment = match overlapping.filter(|segment| segment.len() >= len) {
            Some(segment) => segment,
            None => {
                let clump = 1u64 << (class + clump_shift);
                self.free
                    .best_fit(clump.min(self.free.largest()).max(len))?
            }
        };
        self.free.take(segment.start, len);
        self.cursors[class as usize] = segment.start + len;
        Some(segment.start)
    }

    fn df(&mut self, len: u64, free_pct_low: u64, search_max: Option<u64>) -> Option<u64> {
        let class = power(len & len.wrapping_neg()) as usize;
        let scarce = self.free.bytes() * 100 / self.size < free_pct_low;
        let first_fit = if scarce || self.free.largest() < (128 << 10) {
            None
        } else {
            self.first_fit(self.cursors[class], len, search_max)
                .or_else(|| search_max.is_none().then(|| self.first_fit(0, len, None))?)
        };
        let start = first_fit.or_else(|| Some(self.free.best_fit(len)?.start))?;
        self.free.take(start, len);
        self.cursors[class] = start + len;
        Some(start)
    }

    fn first_fit(&self, cursor: u64, len: u64, search_max: Option<u64>) -> Option<u64> {
        let first = self.free.ending_after(cursor)?;
        let mut segment = first;
        loop {
            if segment.len() >= len {
                return Some(segment.start);
            }
            segment = self.free.after(segment.start)?;
            if search_max.is_some_and(|max| segment.start - first.start > max) {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_ssd::rng::Rng;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    fn rules(policy: MetaslabPolicy) -> SpaceRules {
        SpaceRules {
            start: 4 * MIB,
            metaslab: 32 * MIB,
            policy,
            weighting: Weighting::Space,
            allocators: 1,
            defer_groups: 0,
        }
    }

    const NDF: MetaslabPolicy = MetaslabPolicy::Ndf { clump_shift: 4 };
    const DF: MetaslabPolicy = MetaslabPolicy::Df {
        free_pct_low: 30,
        search_max: None,
    };

    fn allocate(space: &mut LogSpace, len: u64) -> u64 {
        space.allocate(len, 0).unwrap().offset - 4 * MIB
    }

    fn extent(offset: u64, len: u64) -> LogExtent {
        LogExtent {
            offset: offset + 4 * MIB,
            len,
        }
    }

    #[test]
    fn fresh_space_is_given_out_in_order_whatever_the_size() {
        let mut space = LogSpace::new(rules(NDF), 100 * MIB);
        assert_eq!(allocate(&mut space, 4 * KIB), 0);
        assert_eq!(allocate(&mut space, 128 * KIB), 4 * KIB);
        assert_eq!(allocate(&mut space, 4 * KIB), 132 * KIB);
    }

    /// The mechanism of the far seeks: sizes part ways once there are two free segments.
    #[test]
    fn ndf_goes_on_at_its_cursor_and_else_takes_the_smallest_clump() {
        let mut space = LogSpace::new(rules(NDF), 100 * MIB);
        let blocks: Vec<LogExtent> = (0..512)
            .map(|_| space.allocate(4 * KIB, 0).unwrap())
            .collect();
        // The first MiB is free again: smaller than what follows the cursor of 4 KiB.
        space.synced(blocks[..256].to_vec());
        assert_eq!(allocate(&mut space, 4 * KIB), 2 * MIB);
        assert_eq!(allocate(&mut space, 12 * KIB), 0);
        assert_eq!(allocate(&mut space, 4 * KIB), 2 * MIB + 4 * KIB);
        assert_eq!(allocate(&mut space, 8 * KIB), 12 * KIB);
        // The cursor of 128 KiB still stands at 0: the segment that overlaps it there will do.
        assert_eq!(allocate(&mut space, 128 * KIB), 20 * KIB);
        // 64 KiB from there: the same; and so on, as long as it lasts.
        assert_eq!(allocate(&mut space, 128 * KIB), 148 * KIB);
    }

    #[test]
    fn df_has_a_cursor_per_alignment_and_wraps() {
        let mut space = LogSpace::new(rules(DF), 36 * MIB);
        let first = space.allocate(MIB, 0).unwrap();
        for number in 1..20 {
            assert_eq!(allocate(&mut space, MIB), number * MIB);
        }
        space.synced(vec![first]);
        // Another alignment has its own cursor, still at the start.
        assert_eq!(allocate(&mut space, 4 * KIB), 0);
        assert_eq!(allocate(&mut space, MIB), 20 * MIB);
    }

    #[test]
    fn what_a_group_frees_may_be_used_when_it_has_synced_or_later() {
        for defer_groups in [0, 2] {
            let mut rules = rules(NDF);
            rules.defer_groups = defer_groups;
            let mut space = LogSpace::new(rules, 5 * MIB);
            let all = space.allocate(MIB, 0).unwrap();
            assert_eq!(space.allocate(4 * KIB, 0), None);
            space.synced(vec![all]);
            for _ in 0..defer_groups {
                assert_eq!(space.allocate(4 * KIB, 0), None);
                space.synced(Vec::new());
            }
            assert!(space.allocate(4 * KIB, 0).is_some());
        }
    }

    #[test]
    fn a_metaslab_is_used_up_before_the_next() {
        let mut space = LogSpace::new(rules(NDF), 100 * MIB);
        let places: Vec<u64> = (0..40).map(|_| allocate(&mut space, MIB) / MIB).collect();
        assert_eq!(places, (0..40).collect::<Vec<u64>>());
    }

    /// As in the real trace: at half of a fresh metaslab, the next one is taken up.
    #[test]
    fn newer_code_gives_a_metaslab_up_when_half_of_it_is_used() {
        let rules = SpaceRules {
            weighting: Weighting::Segment {
                switch_threshold: 2,
            },
            allocators: 4,
            ..rules(DF)
        };
        let mut space = LogSpace::new(rules, 400 * MIB);
        let mut places = Vec::new();
        for _ in 0..20 {
            places.push(allocate(&mut space, MIB) / MIB);
            space.synced(Vec::new());
        }
        assert_eq!(places[..17], (0..17).collect::<Vec<u64>>());
        assert_eq!(places[17..], [32, 33, 34]);
        // Another allocator has a metaslab of its own.
        assert_eq!(space.allocate(MIB, 1).unwrap(), extent(64 * MIB, MIB));
    }

    /// Against a plain map of bytes: no block is given out twice, and all of it comes back.
    #[test]
    fn blocks_never_overlap_and_nothing_leaks() {
        for policy in [NDF, DF] {
            let mut rng = Rng::new(5);
            let mut space = LogSpace::new(rules(policy), 68 * MIB);
            let free = space.free_bytes();
            let mut live: Vec<LogExtent> = Vec::new();
            let mut used = vec![false; (68 * MIB / (4 * KIB)) as usize];
            for _ in 0..20_000 {
                let len = (1 + rng.below(32)) * 4 * KIB;
                if let Some(block) = space.allocate(len, 0) {
                    for unit in block.offset / 4096..(block.offset + len) / 4096 {
                        assert!(!std::mem::replace(&mut used[unit as usize], true));
                    }
                    live.push(block);
                }
                if rng.percent(5) {
                    let kept = live.len() / 2;
                    let freed = live.split_off(kept);
                    for block in &freed {
                        let units = block.offset / 4096..(block.offset + block.len) / 4096;
                        units.for_each(|unit| used[unit as usize] = false);
                    }
                    space.synced(freed);
                }
            }
            space.synced(live);
            assert_eq!(space.free_bytes(), free);
        }
    }
}
