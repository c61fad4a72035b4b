//! The superblocks: state, mode and stream of each, the queues of free and of full ones, and how
//! many of their slots are valid.

use crate::config::DriveConfig;
use crate::ftl::candidates::{Candidates, NOT};
use crate::geometry::Geometry;
use crate::image::{image_of, image_of_choice};
use crate::nand::Mode;
use std::collections::VecDeque;

/// State of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum State {
    Free = 0,
    Open = 1,
    Full = 2,
    /// Being emptied by reclaim, refresh or folding.
    Victim = 3,
    /// Retired: its blocks are worn out.
    Retired = 4,
}

image_of_choice!(State {
    Free,
    Open,
    Full,
    Victim,
    Retired
});

image_of! {
    /// See the module's documentation.
    #[derive(Clone, Debug)]
    pub(super) struct Space {
        candidates: Candidates,
        state: Vec<State>,
        mode: Vec<Mode>,
        stream_of: Vec<u8>,
        free: VecDeque<u32>,
        free_slc: VecDeque<u32>,
        slc_full: VecDeque<u32>,
        /// Full superblocks of a tree's own, oldest first.
        tree_full: VecDeque<u32>,
        /// Superblocks of the static pSLC cache: the first ones.
        slc: u32,
        /// Whether those are folded first: commits wait for them.
        static_first: bool,
        /// Number of native superblocks retired.
        native_retired: u32,
        /// Incremented whenever a slot in a superblock that is not a candidate becomes stale other
        /// than by moving.
        epoch: u64,
    }
}

/// The queue that a full superblock joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FullOf {
    /// Data in the pSLC cache, to be folded.
    Slc,
    /// Pages of a tree that lies apart.
    Tree,
    /// Anything else, from which a victim policy chooses.
    Data,
}

impl Space {
    pub fn new(config: &DriveConfig, geometry: &Geometry, data_slots: u32) -> Space {
        let count = geometry.superblock_count as usize;
        let mut space = Space {
            candidates: Candidates::new(count, data_slots),
            state: vec![State::Free; count],
            mode: vec![Mode::Native; count],
            stream_of: vec![0; count],
            free: VecDeque::new(),
            free_slc: VecDeque::new(),
            slc_full: VecDeque::new(),
            tree_full: VecDeque::new(),
            slc: config.ftl.slc.static_superblocks(),
            static_first: config.ftl.slc.commit_superblocks > 0,
            native_retired: 0,
            epoch: 0,
        };
        space.free_all(|_| false);
        space
    }

    /// Makes all superblocks empty, and free but for those that are retired.
    pub fn free_all(&mut self, is_retired: impl Fn(u32) -> bool) {
        self.clear_queues();
        let count = self.count();
        for superblock in 0..count {
            let s = superblock as usize;
            let static_slc = superblock < self.slc;
            self.mode[s] = if static_slc { Mode::Slc } else { Mode::Native };
            if is_retired(superblock) {
                self.state[s] = State::Retired;
            } else {
                self.state[s] = State::Free;
                self.free_queue(superblock).push_back(superblock);
            }
        }
    }

    /// Discards all that is not on media, before recovery.
    pub fn forget(&mut self) {
        self.clear_queues();
        self.stream_of.fill(0);
        self.epoch = 0;
    }

    fn clear_queues(&mut self) {
        self.candidates.clear();
        self.free.clear();
        self.free_slc.clear();
        self.slc_full.clear();
        self.tree_full.clear();
    }

    fn free_queue(&mut self, superblock: u32) -> &mut VecDeque<u32> {
        if superblock < self.slc {
            &mut self.free_slc
        } else {
            &mut self.free
        }
    }

    /// Number of superblocks.
    pub fn count(&self) -> u32 {
        self.state.len() as u32
    }

    /// Superblocks of the static pSLC cache.
    pub fn static_slc(&self) -> u32 {
        self.slc
    }

    /// Native superblocks that are in use or free.
    #[inline(always)]
    pub fn native(&self) -> u32 {
        self.count() - self.slc - self.native_retired
    }

    /// Number of native superblocks retired.
    pub fn native_retired(&self) -> u32 {
        self.native_retired
    }

    pub fn set_native_retired(&mut self, count: u32) {
        self.native_retired = count;
    }

    pub fn state(&self, superblock: u32) -> State {
        self.state[superblock as usize]
    }

    pub fn set_state(&mut self, superblock: u32, state: State) {
        self.state[superblock as usize] = state;
    }

    /// The states of all superblocks.
    pub fn states(&self) -> &[State] {
        &self.state
    }

    #[inline(always)]
    pub fn mode(&self, superblock: u32) -> Mode {
        self.mode[superblock as usize]
    }

    pub fn set_mode(&mut self, superblock: u32, mode: Mode) {
        self.mode[superblock as usize] = mode;
    }

    #[inline(always)]
    pub fn stream_of(&self, superblock: u32) -> u8 {
        self.stream_of[superblock as usize]
    }

    pub fn set_stream(&mut self, superblock: u32, stream: u8) {
        self.stream_of[superblock as usize] = stream;
    }

    /// Valid slots of a superblock.
    #[inline(always)]
    pub fn valid(&self, superblock: u32) -> u32 {
        self.candidates.valid(superblock)
    }

    /// Counts slots written in an open superblock.
    #[inline(always)]
    pub fn add_valid(&mut self, superblock: u32, slots: u32) {
        self.candidates.add_valid(superblock, slots);
    }

    /// Counts slots that became stale; returns what [`Space::note_lost`] takes.
    #[inline(always)]
    pub fn remove_valid(&mut self, superblock: u32, slots: u32) -> u32 {
        self.candidates.remove_valid(superblock, slots)
    }

    /// Begins a new epoch if one of the counts, joined by OR, is of a superblock that is not a
    /// candidate.
    #[inline(always)]
    pub fn note_lost(&mut self, counts: u32) {
        self.epoch += u64::from(counts & NOT != 0);
    }

    /// Counts slots that became stale because they were overwritten or trimmed.
    #[inline(always)]
    pub fn lose(&mut self, superblock: u32, slots: u32) {
        let remaining = self.candidates.remove_valid(superblock, slots);
        self.note_lost(remaining);
    }

    /// Counts slots that became stale because they were moved.
    #[inline(always)]
    pub fn move_out(&mut self, superblock: u32, slots: u32) {
        self.candidates.remove_valid(superblock, slots);
    }

    #[inline(always)]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Begins `count` epochs.
    pub fn add_epochs(&mut self, count: u32) {
        self.epoch += u64::from(count);
    }

    /// Number of superblocks free for data in native mode.
    #[inline(always)]
    pub fn free(&self) -> u32 {
        self.free.len() as u32
    }

    /// Those superblocks, the one free longest first.
    pub fn free_ones(&self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + '_ {
        self.free.iter().copied()
    }

    /// The free superblocks of the static pSLC cache.
    pub fn free_slc_ones(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.free_slc.iter().copied()
    }

    /// The full superblocks of the pSLC cache, oldest first.
    pub fn slc_full_ones(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.slc_full.iter().copied()
    }

    /// The full superblocks of a tree's own, oldest first.
    pub fn tree_full_ones(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.tree_full.iter().copied()
    }

    /// Takes the superblock that is free longest.
    #[inline(always)]
    pub fn take_free(&mut self) -> Option<u32> {
        self.free.pop_front()
    }

    /// Takes the free superblock at `index` of [`Space::free_ones`].
    pub fn take_free_at(&mut self, index: usize) -> Option<u32> {
        self.free.remove(index)
    }

    /// Opens a free superblock of the static pSLC cache.
    pub fn open_slc(&mut self) -> Option<u32> {
        let superblock = self.free_slc.pop_front()?;
        self.set_state(superblock, State::Open);
        Some(superblock)
    }

    /// Opens a superblock that was taken from the free ones.
    pub fn open(&mut self, superblock: u32, mode: Mode, stream: u8) {
        self.set_state(superblock, State::Open);
        self.set_mode(superblock, mode);
        self.set_stream(superblock, stream);
    }

    /// Opens a candidate again, which is not full.
    pub fn reopen(&mut self, superblock: u32) {
        self.candidates.withdraw(superblock);
        self.set_state(superblock, State::Open);
    }

    /// Closes a superblock; `written`: the clock of ages at that time, in slots of the host.
    #[inline(always)]
    pub fn close(&mut self, superblock: u32, content: FullOf, written: u64) {
        self.set_state(superblock, State::Full);
        match content {
            FullOf::Slc => self.slc_full.push_back(superblock),
            FullOf::Tree => self.tree_full.push_back(superblock),
            FullOf::Data => self.candidates.close(superblock, written),
        }
    }

    /// Appends an erased or stale superblock to those that are free.
    pub fn release(&mut self, superblock: u32) {
        self.set_state(superblock, State::Free);
        self.free_queue(superblock).push_back(superblock);
    }

    /// Gives a superblock up.
    pub fn retire(&mut self, superblock: u32) {
        self.set_state(superblock, State::Retired);
        if superblock >= self.slc {
            self.native_retired += 1;
        }
    }

    /// Sets the clock of ages.
    pub fn set_now(&mut self, written: u64) {
        self.candidates.set_now(written);
    }

    /// Whether a superblock is full of data that is not in the pSLC cache.
    pub fn is_candidate(&self, superblock: u32) -> bool {
        self.candidates.holds(superblock)
    }

    /// The superblocks from which a victim policy chooses, the one closed longest ago first.
    pub fn candidates_by_age(&self) -> impl Iterator<Item = u32> + '_ {
        let candidates = &self.candidates;
        std::iter::successors(candidates.oldest(), |&s| candidates.newer(s))
    }

    /// Clock of ages at which a superblock was closed.
    pub fn closed_at(&self, superblock: u32) -> u64 {
        self.candidates.closed_at(superblock)
    }

    /// The superblocks from which a victim policy chooses.
    pub fn candidates(&mut self) -> &mut Candidates {
        &mut self.candidates
    }

    /// Number of candidates.
    pub fn candidate_count(&self) -> usize {
        self.candidates.count()
    }

    /// Whether a superblock is full of data, or of a tree's pages.
    pub fn may_empty(&self, superblock: u32) -> bool {
        self.is_candidate(superblock) || self.tree_full.contains(&superblock)
    }

    /// Takes a superblock to be emptied, if it may be.
    pub fn claim(&mut self, superblock: u32) -> bool {
        if self.is_candidate(superblock) {
            self.candidates.withdraw(superblock);
            return true;
        }
        let index = self.tree_full.iter().position(|&s| s == superblock);
        index.is_some_and(|index| self.tree_full.remove(index).is_some())
    }

    /// Takes the oldest full superblock of the pSLC cache, of the static one if commits wait for
    /// that.
    pub fn take_slc_full(&mut self) -> Option<u32> {
        let index = self.next_slc_index();
        self.slc_full.remove(index)
    }

    /// The superblock that [`Space::take_slc_full`] takes.
    pub fn next_slc_full(&self) -> Option<u32> {
        self.slc_full.get(self.next_slc_index()).copied()
    }

    fn next_slc_index(&self) -> usize {
        let mut full = self.slc_full.iter();
        let first = self.static_first.then(|| full.position(|&s| s < self.slc));
        first.flatten().unwrap_or(0)
    }

    /// Whether a superblock of the static pSLC cache is full.
    pub fn has_static_full(&self) -> bool {
        self.slc_full.iter().any(|&s| s < self.slc)
    }

    /// Number of full superblocks that are used as pSLC cache for the time being.
    pub fn dynamic_slc_full(&self) -> usize {
        let fixed = match self.slc {
            0 => 0,
            slc => self.slc_full.iter().filter(|&&s| s < slc).count(),
        };
        self.slc_full.len() - fixed
    }

    /// Takes the oldest superblock that is used as pSLC cache for the time being.
    pub fn take_dynamic_slc(&mut self) -> Option<u32> {
        let index = self.slc_full.iter().position(|&s| s >= self.slc)?;
        self.slc_full.remove(index)
    }

    /// Takes the oldest superblock of a tree's pages if at most one `part`th of it is valid, or the
    /// emptiest if there are `most`.
    #[inline(always)]
    pub fn take_tree_full(&mut self, part: u32, most: u32) -> Option<u32> {
        let &oldest = self.tree_full.front()?;
        if self.candidates.valid(oldest) <= self.candidates.capacity() / part {
            return self.tree_full.pop_front();
        }
        if self.tree_full.len() < most as usize {
            return None;
        }
        let valid = |index: &usize| self.candidates.valid(self.tree_full[*index]);
        let emptiest = (0..self.tree_full.len()).min_by_key(valid)?;
        self.tree_full.remove(emptiest)
    }
}
