//! Places that nothing names: which of them are given next, and which are not yet.
//!
//! A write of the file in one piece costs a fraction of one page by page, so a command's places are
//! taken together, from the groups of neighbours that are mostly free, in order of address.

use std::collections::{BTreeSet, VecDeque};

/// Places of an aligned group: 128 KiB where each has 4 KiB.
pub const GROUP: u32 = u32::BITS;

/// The file may grow by this share of itself while free places are scattered: large writes would
/// go to a page here and a page there.
const SPARE_SHARE: usize = 3;

/// Free places of a group between one class and the next: groups change it seldom.
const CLASS: u32 = 8;
const CLASSES: usize = (GROUP / CLASS) as usize + 1;
/// Groups of this class and above are mostly free.
const SCATTERED: usize = CLASSES - 2;

/// The class of a group with these free places, if there are any.
fn class(free: u32) -> Option<usize> {
    (free != 0).then(|| (free.count_ones() / CLASS) as usize)
}

/// Free places in aligned groups.
#[derive(Debug, Default)]
pub(super) struct FreePlaceGroups {
    /// A bit for each free place of a group.
    free: Vec<u32>,
    /// The groups of each class.
    by_class: [BTreeSet<u32>; CLASSES],
    /// All free places.
    count: usize,
    /// The group that single places are taken from.
    current: Option<u32>,
}

impl FreePlaceGroups {
    /// Number of free places.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether few of the places are neighbours of each other.
    pub fn are_scattered(&self) -> bool {
        self.by_class[SCATTERED..].iter().all(BTreeSet::is_empty)
    }

    /// Changes the free places of a group.
    fn set(&mut self, group: u32, free: u32) {
        let old = std::mem::replace(&mut self.free[group as usize], free);
        let (was, is) = (class(old), class(free));
        if was != is {
            if let Some(class) = was {
                self.by_class[class].remove(&group);
            }
            if let Some(class) = is {
                self.by_class[class].insert(group);
            }
        }
        self.count = self.count + free.count_ones() as usize - old.count_ones() as usize;
    }

    /// These places are free. Neighbours among them are cheaper.
    ///
    /// # Panics
    /// When one is already.
    pub fn add(&mut self, places: impl IntoIterator<Item = u32>) {
        let mut begun: Option<(u32, u32)> = None;
        for place in places {
            let (group, bit) = (place / GROUP, 1 << (place % GROUP));
            let mut free = match begun {
                Some((last, free)) if last == group => free,
                Some((last, free)) => {
                    self.set(last, free);
                    self.free_of(group)
                }
                None => self.free_of(group),
            };
            assert!(free & bit == 0, "place {place} is free already");
            free |= bit;
            begun = Some((group, free));
        }
        if let Some((group, free)) = begun {
            self.set(group, free);
        }
    }

    /// The free places of a group that may be the first of its number.
    fn free_of(&mut self, group: u32) -> u32 {
        if self.free.len() <= group as usize {
            self.free.resize(group as usize + 1, 0);
        }
        self.free[group as usize]
    }

    /// Takes `count` places into `places`, or all there are, in order of address where groups
    /// allow.
    pub fn take(&mut self, count: usize, places: &mut Vec<u32>) {
        let mut remaining = count.min(self.count);
        while remaining > 0 {
            let Some(group) = self.next_group(remaining) else {
                return;
            };
            let mut free = self.free[group as usize];
            while free != 0 && remaining > 0 {
                places.push(group * GROUP + free.trailing_zeros());
                free &= free - 1;
                remaining -= 1;
            }
            self.set(group, free);
            self.current = (free != 0).then_some(group);
        }
    }

    /// The group to take from: the one begun if it has enough, otherwise the first of the freest.
    fn next_group(&self, count: usize) -> Option<u32> {
        let has_enough = |group: &u32| self.free[*group as usize].count_ones() as usize >= count;
        let begun = self.current.filter(has_enough);
        let mut freest = self.by_class.iter().rev();
        begun.or_else(|| freest.find_map(BTreeSet::first).copied())
    }
}

/// Places without a holder.
#[derive(Debug, Default)]
pub(super) struct FreePlaces {
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
    groups: FreePlaceGroups,
}

impl FreePlaces {
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
        self.groups.add(self.ready.drain(..older));
    }

    /// Places that were never used follow in groups: the end of the next one.
    pub fn next_fresh(&self) -> u32 {
        (self.fresh / GROUP + 1).saturating_mul(GROUP)
    }

    /// Places up to this one are given too.
    pub fn grown(&mut self, to: u32) {
        self.groups.add(self.fresh..to);
        self.fresh = self.fresh.max(to);
    }

    /// Whether there are fewer than `count` places to give.
    pub fn lacks(&self, count: usize) -> bool {
        self.groups.count() < count
    }

    /// Whether more places would be better for a write of `count` of them, where the disk has ample
    /// room: those there are lie scattered.
    pub fn wants_spare(&self, count: usize) -> bool {
        let is_large = count >= GROUP as usize / 2;
        let has_spare = self.groups.count() >= self.fresh as usize / SPARE_SHARE;
        is_large && !has_spare && self.groups.are_scattered()
    }

    /// Takes places: those that are given, and where there is no room for more, kept ones.
    pub fn take(&mut self, count: usize, places: &mut Vec<u32>) {
        let before = places.len();
        self.groups.take(count, places);
        let shortfall = count - (places.len() - before);
        places.extend(self.ready.drain(..shortfall.min(self.ready.len())));
    }

    /// Gives back what was taken and not named since.
    pub fn give_back(&mut self, places: &[u32]) {
        self.groups.add(places.iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_ssd::rng::Rng;

    /// Against plain sets: only what is free is given and nothing twice, in order of address within
    /// a group, all of it if it is asked for; and what became ready last is kept.
    #[test]
    fn places_are_given_once_and_the_last_ones_are_kept() {
        for seed in 0..40 {
            let mut rng = Rng::named(seed, "free places");
            let kept = rng.below(100) as usize;
            let (mut free, mut fresh) = (FreePlaces::default(), 0);
            free.set_kept(kept);
            // Held, and ready in the order in which they became so.
            let (mut held, mut ready) = (Vec::new(), VecDeque::new());
            let mut given = BTreeSet::new();
            for _ in 0..600 {
                match rng.below(4) {
                    0 => {
                        let to = fresh + 1 + rng.below(50) as u32;
                        free.grown(to);
                        given.extend(fresh..to);
                        fresh = to;
                    }
                    1 if !held.is_empty() => {
                        for _ in 0..rng.below(held.len() as u64 + 1) {
                            let place = held.swap_remove(rng.below(held.len() as u64) as usize);
                            free.waiting.push(place);
                            ready.push_back(place);
                        }
                        free.reuse();
                        let older = ready.len().saturating_sub(kept);
                        given.extend(ready.drain(..older));
                    }
                    2 if held.len() > 3 => {
                        let back = held.split_off(held.len() - 3);
                        free.give_back(&back);
                        given.extend(back);
                    }
                    _ => {
                        let count = rng.below(70) as usize;
                        if free.lacks(count) {
                            continue;
                        }
                        let mut taken = Vec::new();
                        free.take(count, &mut taken);
                        assert_eq!(taken.len(), count);
                        for place in &taken {
                            assert!(given.remove(place), "{place} was not to be given");
                        }
                        let of_group = |pair: &&[u32]| pair[0] / GROUP == pair[1] / GROUP;
                        let mut pairs = taken.windows(2).filter(of_group);
                        assert!(pairs.all(|pair| pair[0] < pair[1]));
                        held.extend(taken);
                    }
                }
            }
        }
    }

    /// Without room for more, kept places are given too, the oldest first, and then none.
    #[test]
    fn kept_places_are_given_when_there_are_no_others() {
        let mut free = FreePlaces::default();
        free.set_kept(3);
        free.are_ready([5, 9, 2, 7, 1]);
        let mut taken = Vec::new();
        free.take(1, &mut taken);
        assert!(free.lacks(2) && !free.lacks(1));
        free.take(2, &mut taken);
        assert_eq!(taken, [5, 9, 2]);
        free.take(9, &mut taken);
        assert_eq!(taken, [5, 9, 2, 7, 1]);
    }

    /// A large write gets neighbours where a group is free, although single places lie before it;
    /// and single places leave whole groups whole.
    #[test]
    fn large_writes_get_neighbours() {
        let mut groups = FreePlaceGroups::default();
        groups.add((0..4 * GROUP).step_by(3));
        groups.add(4 * GROUP..6 * GROUP);
        assert!(!groups.are_scattered());
        let mut taken = Vec::new();
        groups.take(64, &mut taken);
        assert_eq!(taken, (4 * GROUP..6 * GROUP).collect::<Vec<_>>());
        assert!(groups.are_scattered());
        groups.add(4 * GROUP..6 * GROUP);
        taken.clear();
        (0..5).for_each(|_| groups.take(1, &mut taken));
        groups.take(32, &mut taken);
        assert_eq!(taken[..5], [128, 129, 130, 131, 132], "from one group");
        assert_eq!(taken[5..], (160..192).collect::<Vec<_>>());
    }
}
