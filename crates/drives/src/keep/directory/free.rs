//! Places that nothing names: which of them are given next, and which are not yet.
//!
//! A write of the file in one piece costs a fraction of one page by page, so a command's places are
//! taken together, from the groups of neighbours of which most are free, in order of address.

use std::collections::{BTreeSet, VecDeque};

/// Places of an aligned group: 128 KiB where each has 4 KiB.
pub const GROUP: u32 = u32::BITS;

/// The file may grow by this share of itself while free places are scattered: large writes would
/// go to a page here and a page there.
const SPARE_SHARE: usize = 5;

/// Free places in aligned groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// A bit for each free place of a group.
    free: Vec<u32>,
    /// The groups with this number of free places, less one.
    by_count: [BTreeSet<u32>; GROUP as usize],
    /// All free places.
    count: usize,
    /// The group that single places are taken from.
    current: Option<u32>,
}

impl Groups {
    /// Number of free places.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The largest number of free places in a group.
    pub fn most(&self) -> u32 {
        let found = (1..=GROUP).rev();
        let mut found = found.zip(self.by_count.iter().rev());
        found
            .find(|(_, groups)| !groups.is_empty())
            .map_or(0, |f| f.0)
    }

    /// Changes the free places of a group.
    fn set(&mut self, group: u32, free: u32) {
        let old = std::mem::replace(&mut self.free[group as usize], free);
        if let Some(n) = old.count_ones().checked_sub(1) {
            self.by_count[n as usize].remove(&group);
        }
        if let Some(n) = free.count_ones().checked_sub(1) {
            self.by_count[n as usize].insert(group);
        }
        self.count = self.count + free.count_ones() as usize - old.count_ones() as usize;
    }

    /// A place is free.
    ///
    /// # Panics
    /// When it is already.
    pub fn add(&mut self, place: u32) {
        let (group, bit) = (place / GROUP, 1 << (place % GROUP));
        if self.free.len() <= group as usize {
            self.free.resize(group as usize + 1, 0);
        }
        let free = self.free[group as usize];
        assert!(free & bit == 0, "place {place} is free already");
        self.set(group, free | bit);
    }

    /// Takes `count` places into `taken`, or all there are: in order of address where groups allow.
    pub fn take(&mut self, count: usize, taken: &mut Vec<u32>) {
        let mut left = count.min(self.count);
        while left > 0 {
            let Some(group) = self.next_group(left) else {
                return;
            };
            let mut free = self.free[group as usize];
            while free != 0 && left > 0 {
                taken.push(group * GROUP + free.trailing_zeros());
                free &= free - 1;
                left -= 1;
            }
            self.set(group, free);
            self.current = (free != 0).then_some(group);
        }
    }

    /// The group to take from: the one begun if it has enough, otherwise the first of the freest.
    fn next_group(&self, count: usize) -> Option<u32> {
        let has_enough = |group: &u32| self.free[*group as usize].count_ones() as usize >= count;
        let begun = self.current.filter(has_enough);
        begun.or_else(|| {
            self.by_count
                .iter()
                .rev()
                .find_map(BTreeSet::first)
                .copied()
        })
    }
}

/// Places without a holder.
#[derive(Debug, Default)]
pub(super) struct Free {
    /// Everything is read: places are freed and used from now on.
    pub runs: bool,
    /// The first place that was never used.
    pub fresh: u32,
    /// Without a holder, and named by what is not in the log yet.
    pub freed: Vec<u32>,
    /// What freed them is in frames of the log.
    pub waiting: Vec<u32>,
    /// Named by nothing that would be read; in the order in which they became so.
    ready: VecDeque<u32>,
    /// Number of ready places that are kept as they are, the last ones.
    kept: usize,
    /// The others, which are given.
    groups: Groups,
}

impl Free {
    /// Keeps this many ready places as they are.
    pub fn set_kept(&mut self, kept: usize) {
        self.kept = kept;
        self.give_older();
    }

    /// Nothing that would be read names these.
    pub fn are_ready(&mut self, places: impl IntoIterator<Item = u32>) {
        self.ready.extend(places);
        self.give_older();
    }

    /// What freed the waiting places will be read, whatever happens.
    pub fn reuse(&mut self) {
        self.ready.extend(self.waiting.drain(..));
        self.give_older();
    }

    fn give_older(&mut self) {
        let older = self.ready.len().saturating_sub(self.kept);
        self.ready
            .drain(..older)
            .for_each(|place| self.groups.add(place));
    }

    /// Places that were never used follow in groups: the end of the next one.
    pub fn next_fresh(&self) -> u32 {
        (self.fresh / GROUP + 1).saturating_mul(GROUP)
    }

    /// Places up to this one are given too.
    pub fn grown(&mut self, to: u32) {
        (self.fresh..to).for_each(|place| self.groups.add(place));
        self.fresh = self.fresh.max(to);
    }

    /// Whether more places are wanted before `count` are taken, while there is room: there are not
    /// so many, or they are few and far between.
    pub fn wants_more(&self, count: usize) -> bool {
        let free = self.groups.count();
        let is_large = count >= GROUP as usize / 2;
        let are_scattered = self.groups.most() < GROUP * 3 / 4;
        free < count || is_large && are_scattered && free < self.fresh as usize / SPARE_SHARE
    }

    /// Takes places: those that are given, and where there is no room for more, kept ones.
    pub fn take(&mut self, count: usize, taken: &mut Vec<u32>) {
        let before = taken.len();
        self.groups.take(count, taken);
        let left = count - (taken.len() - before);
        taken.extend(self.ready.drain(..left.min(self.ready.len())));
    }

    /// Gives back what was taken and not named since.
    pub fn give_back(&mut self, places: &[u32]) {
        places.iter().for_each(|&place| self.groups.add(place));
    }
}
