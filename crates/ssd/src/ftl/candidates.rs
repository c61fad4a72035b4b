//! Candidates of a victim policy: the full superblocks, their valid counts and their ages.
//!
//! ```text
//! valid   per superblock, the top bit set while it is no candidate
//! fewest  minimum per group of 64, recomputed only where the minimum was withdrawn (greedy);
//!         of few large superblocks all counts are looked through instead, for each victim
//! full    candidates in no order, for drawing (random, d-choices); position of each
//! older   candidates as a list from the oldest to the newest (FIFO, windowed)
//! ```
//! A slot that becomes stale costs one decrement and one comparison: this is on the hot path.

use crate::image::image_of;

/// Top bit of a valid count, set while the superblock is not a candidate.
pub(crate) const NOT: u32 = 1 << 31;
/// End of the list by age.
const NONE: u32 = u32::MAX;
const GROUP: usize = 64;

/// Orders by valid count, then by number.
#[inline(always)]
fn rank(valid: u32, superblock: u32) -> u64 {
    u64::from(valid) << 32 | u64::from(superblock)
}

image_of! {
    /// The full superblocks, with their valid counts and ages.
    #[derive(Clone, Debug)]
    pub struct Candidates {
        valid: Vec<u32>,
        /// Per group: the minimum of `valid` in the upper half, and its superblock in the lower
        /// half.
        fewest: Vec<u64>,
        /// One bit for each group, set when its minimum was withdrawn.
        outdated: Vec<u64>,
        full: Vec<u32>,
        position: Vec<u32>,
        older: Vec<u32>,
        newer: Vec<u32>,
        oldest: u32,
        newest: u32,
        closed_at: Vec<u64>,
        capacity: u32,
        now: u64,
        /// Whether the minima are kept: not where a victim frees more slots than there are
        /// superblocks, since a scan of all counts then costs less.
        keeps_fewest: bool,
    }
}

impl Candidates {
    /// Creates the candidates of `count` superblocks of `capacity` slots, none of them full.
    pub fn new(count: usize, capacity: u32) -> Candidates {
        let groups = count.div_ceil(GROUP);
        Candidates {
            valid: vec![NOT; count],
            fewest: vec![rank(u32::MAX, 0); groups],
            outdated: vec![0; groups.div_ceil(64)],
            full: Vec::with_capacity(count),
            position: vec![0; count],
            older: vec![NONE; count],
            newer: vec![NONE; count],
            oldest: NONE,
            newest: NONE,
            closed_at: vec![0; count],
            capacity,
            now: 0,
            keeps_fewest: (capacity as usize) < count,
        }
    }

    /// Valid slots of a superblock, full or not.
    #[inline(always)]
    pub fn valid(&self, superblock: u32) -> u32 {
        self.valid[superblock as usize] & !NOT
    }

    /// Slots of a superblock.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Host slots written since a full superblock was closed.
    pub fn age(&self, superblock: u32) -> u64 {
        self.now - self.closed_at[superblock as usize]
    }

    /// Host slots written when a full superblock was closed.
    pub(crate) fn closed_at(&self, superblock: u32) -> u64 {
        self.closed_at[superblock as usize]
    }

    /// Candidates.
    pub fn count(&self) -> usize {
        self.full.len()
    }

    /// The candidate at `index` of `0..count()`, in arbitrary order.
    pub fn any(&self, index: usize) -> u32 {
        self.full[index]
    }

    /// The oldest candidate: the one closed longest ago.
    pub fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// The candidate closed next after `superblock`.
    pub fn newer(&self, superblock: u32) -> Option<u32> {
        let next = self.newer[superblock as usize];
        (next != NONE).then_some(next)
    }

    /// The candidate with the fewest valid slots, the lowest number among equals.
    pub fn fewest_valid(&mut self) -> Option<u32> {
        if !self.keeps_fewest {
            let &least = self.valid.iter().min()?;
            let first = self.valid.iter().position(|&valid| valid == least)?;
            return (least & NOT == 0).then_some(first as u32);
        }
        for word in 0..self.outdated.len() {
            let mut bits = std::mem::take(&mut self.outdated[word]);
            while bits != 0 {
                self.refresh(word * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
        let &least = self.fewest.iter().min()?;
        ((least >> 32) as u32 & NOT == 0).then_some(least as u32)
    }

    fn refresh(&mut self, group: usize) {
        let first = group * GROUP;
        let last = self.valid.len().min(first + GROUP);
        let members = &self.valid[first..last];
        let mut least = members[0];
        for &valid in members {
            least = least.min(valid);
        }
        let position = members.iter().position(|&valid| valid == least);
        self.fewest[group] = rank(least, (first + position.unwrap_or(0)) as u32);
    }

    /// Updates the minima after a count has fallen or a superblock has become a candidate.
    #[inline(always)]
    fn fell(&mut self, superblock: u32, valid: u32) {
        if !self.keeps_fewest {
            return;
        }
        let fewest = &mut self.fewest[superblock as usize / GROUP];
        *fewest = rank(valid, superblock).min(*fewest);
    }

    /// Counts slots written in an open superblock.
    #[inline(always)]
    pub(crate) fn add_valid(&mut self, superblock: u32, slots: u32) {
        self.valid[superblock as usize] += slots;
    }

    /// Counts slots that became stale. Returns the remaining valid count, with [`NOT`] if the
    /// superblock is not a candidate.
    #[inline(always)]
    pub(crate) fn remove_valid(&mut self, superblock: u32, slots: u32) -> u32 {
        let valid = &mut self.valid[superblock as usize];
        *valid -= slots;
        let valid = *valid;
        self.fell(superblock, valid);
        valid
    }

    /// Sets the total of slots written by the host.
    #[inline(always)]
    pub(crate) fn set_now(&mut self, slots: u64) {
        self.now = slots;
    }

    /// Makes a full superblock a candidate.
    pub(crate) fn close(&mut self, superblock: u32, now: u64) {
        let s = superblock as usize;
        assert!(
            self.valid[s] & NOT != 0,
            "superblock {superblock} closed twice"
        );
        self.valid[s] &= !NOT;
        self.fell(superblock, self.valid[s]);
        self.now = self.now.max(now);
        self.closed_at[s] = now;
        self.position[s] = self.full.len() as u32;
        self.full.push(superblock);
        self.older[s] = self.newest;
        self.newer[s] = NONE;
        match self.newest {
            NONE => self.oldest = superblock,
            newest => self.newer[newest as usize] = superblock,
        }
        self.newest = superblock;
    }

    /// Removes a superblock that is being emptied.
    pub(crate) fn withdraw(&mut self, superblock: u32) {
        let s = superblock as usize;
        assert!(
            self.valid[s] & NOT == 0,
            "superblock {superblock} is not a candidate"
        );
        self.valid[s] |= NOT;
        let group = s / GROUP;
        if self.fewest[group] as u32 == superblock {
            self.fewest[group] = rank(NOT, superblock);
            self.outdated[group / 64] |= 1 << (group % 64);
        }
        let position = self.position[s] as usize;
        self.full.swap_remove(position);
        if let Some(&moved) = self.full.get(position) {
            self.position[moved as usize] = position as u32;
        }
        let (older, newer) = (self.older[s], self.newer[s]);
        match older {
            NONE => self.oldest = newer,
            older => self.newer[older as usize] = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.older[newer as usize] = older,
        }
    }

    /// Resets everything: all superblocks are empty.
    pub(crate) fn clear(&mut self) {
        let now = self.now;
        *self = Candidates::new(self.valid.len(), self.capacity);
        self.now = now;
    }

    /// Whether a superblock is a candidate.
    pub(crate) fn holds(&self, superblock: u32) -> bool {
        self.valid[superblock as usize] & NOT == 0
    }
}
