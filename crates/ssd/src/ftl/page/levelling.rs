//! What wear and fading data give to do: which free superblock to take, which full ones to move or
//! refresh, the patrol, and the end of life. The work is in [`super::wear_work`].

use super::space::Space;
use crate::config::{DriveConfig, LevellingConfig};
use crate::image::image_of;
use crate::nand::EndOfLife;
use std::collections::VecDeque;

image_of! {
    /// A superblock to be emptied because of wear.
    #[derive(Clone, Copy, Debug)]
    struct WearMove {
        superblock: u32,
        /// Whether for levelling, and not because a block has failed.
        levels: bool,
    }
}

image_of! {
    /// What wear and fading data give to do: limits, superblocks to be moved or refreshed, the
    /// patrol.
    #[derive(Clone, Debug, Default)]
    pub(super) struct Levelling {
        on: bool,
        config: LevellingConfig,
        /// Minimum number of native superblocks.
        native_min: u32,
        moves: VecDeque<WearMove>,
        /// Whether the superblock being emptied now is so for levelling.
        levels_now: bool,
        /// Superblocks freed since the last search for a cold one.
        freed: u32,
        /// Superblocks that the current patrol still has to scan.
        patrol_left: u32,
        /// Number of patrols begun: each reads different pages.
        patrols: u32,
        at_end: bool,
        policy: u8,
        /// Superblocks to be refreshed.
        refreshes: VecDeque<u32>,
        /// Reads of each superblock since it was filled; empty unless reads are limited.
        reads: Vec<u32>,
        /// Reads after which a superblock is refreshed; 0 = any number.
        reads_max: u32,
    }
}

impl Levelling {
    pub fn new(config: &DriveConfig) -> Levelling {
        let reads_max = config.ftl.refresh_reads;
        let superblocks = config.geometry().superblock_count as usize;
        let unworn = Levelling {
            reads: vec![0; if reads_max > 0 { superblocks } else { 0 }],
            reads_max,
            ..Levelling::default()
        };
        let Some(wear) = &config.wear else {
            return unworn;
        };
        Levelling {
            on: true,
            config: wear.levelling,
            native_min: config.native_superblocks_min() as u32,
            policy: wear.end_of_life as u8,
            ..unworn
        }
    }

    /// Drops all pending moves when all data is erased.
    pub fn clear(&mut self) {
        self.moves.clear();
        self.levels_now = false;
        self.patrol_left = 0;
        self.refreshes.clear();
        self.reads.fill(0);
    }

    /// Discards all that is not on media, before recovery. The pages that patrols read go on from
    /// the number of patrol reads, which SMART keeps.
    pub fn forget(&mut self, patrol_reads: u64) {
        self.clear();
        self.freed = 0;
        self.patrols = patrol_reads as u32;
    }

    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Behaviour of a drive that has reached its end of life.
    #[inline(always)]
    pub fn ended(&self) -> Option<EndOfLife> {
        if !self.at_end {
            return None;
        }
        let mut policies = EndOfLife::ALL.into_iter();
        policies.find(|policy| *policy as u8 == self.policy)
    }

    /// Sets whether a drive read from files had reached its end of life.
    pub fn set_ended(&mut self, ended: bool) {
        self.at_end = ended;
    }

    /// Whether the drive has reached its end of life.
    pub fn has_ended(&self) -> bool {
        self.at_end
    }

    /// Whether wear decides which free superblock is taken.
    #[inline(always)]
    pub fn is_dynamic(&self) -> bool {
        self.config.dynamic
    }

    /// Minimum number of native superblocks.
    pub fn native_min(&self) -> u32 {
        self.native_min
    }

    /// Whether moves wait for a mover.
    #[inline(always)]
    pub fn has_moves(&self) -> bool {
        self.on && !self.moves.is_empty()
    }

    /// Queues a superblock for moving because one of its blocks has failed.
    pub fn request_move(&mut self, superblock: u32) {
        self.moves.push_back(WearMove {
            superblock,
            levels: false,
        });
    }

    /// Whether a superblock waits to be moved.
    pub fn will_move(&self, superblock: u32) -> bool {
        let mut moves = self.moves.iter();
        moves.any(|queued| queued.superblock == superblock)
    }

    /// Whether the superblock being emptied now is so for levelling.
    pub fn is_levelling(&self) -> bool {
        self.levels_now
    }

    /// Takes the next superblock to be moved because of wear.
    pub fn next_move(&mut self, space: &mut Space) -> Option<u32> {
        while let Some(WearMove { superblock, levels }) = self.moves.pop_front() {
            if space.claim(superblock) {
                self.levels_now = levels;
                return Some(superblock);
            }
        }
        None
    }

    /// Whether superblocks wait to be refreshed.
    pub fn has_refreshes(&self) -> bool {
        !self.refreshes.is_empty()
    }

    /// Takes the next superblock to be refreshed.
    pub fn next_refresh(&mut self, space: &mut Space) -> Option<u32> {
        while let Some(superblock) = self.refreshes.pop_front() {
            if space.claim(superblock) {
                return Some(superblock);
            }
        }
        None
    }

    /// Queues a superblock for refresh, once.
    pub fn request_refresh(&mut self, superblock: u32) {
        if !self.refreshes.contains(&superblock) {
            self.refreshes.push_back(superblock);
        }
    }

    /// Counts a read of a superblock, which may make its refresh due.
    #[inline(always)]
    pub fn count_read(&mut self, superblock: u32) {
        if let Some(reads) = self.reads.get_mut(superblock as usize) {
            *reads += 1;
            if *reads == self.reads_max {
                self.refreshes.push_back(superblock);
            }
        }
    }

    /// A superblock is full: reads are counted from now on.
    #[inline(always)]
    pub fn restart_reads(&mut self, superblock: u32) {
        if let Some(reads) = self.reads.get_mut(superblock as usize) {
            *reads = 0;
        }
    }

    /// Superblocks that the current patrol still has to scan.
    #[inline(always)]
    pub fn patrol_left(&self) -> u32 {
        self.patrol_left
    }

    /// The rows of a block of `rows` rows that the current patrol reads, at most `pages`: spread
    /// over the block, shifted by one each time.
    pub fn patrolled_rows(&self, pages: u32, rows: u32) -> impl Iterator<Item = u32> + use<> {
        let (pages, shift) = (pages.min(rows), self.patrols);
        (0..pages).map(move |page| {
            let spread = u64::from(page) * u64::from(rows) / u64::from(pages);
            (spread as u32).wrapping_add(shift) % rows
        })
    }

    /// Begins a patrol of all superblocks.
    pub fn begin_patrol(&mut self, superblocks: u32) {
        self.patrol_left = superblocks;
        self.patrols = self.patrols.wrapping_add(1);
    }

    /// Takes the next full superblock that the patrol scans.
    pub fn next_patrolled(&mut self, space: &Space) -> Option<u32> {
        while self.patrol_left > 0 {
            let superblock = space.count() - self.patrol_left;
            self.patrol_left -= 1;
            if space.may_empty(superblock) {
                return Some(superblock);
            }
        }
        None
    }

    /// Chooses the free superblock for a frontier: its index among them.
    pub fn choose_free(&self, space: &Space, erases: &[u32], cold: bool) -> Option<usize> {
        let wear = |superblock: &u32| erases[*superblock as usize];
        let free = space.free_ones().enumerate();
        // The first one among equals.
        if cold {
            Some(free.rev().max_by_key(|(_, s)| wear(s))?.0)
        } else {
            Some(free.min_by_key(|(_, s)| wear(s))?.0)
        }
    }

    /// Checks periodically whether the wear of a full superblock is so far below the maximum that
    /// its data should move.
    pub fn seek_cold(&mut self, space: &Space, erases: &[u32], level_is_working: bool) {
        if self.config.static_gap == 0 {
            return;
        }
        self.freed += 1;
        let busy = level_is_working || !self.moves.is_empty();
        if self.freed < self.config.static_every || busy || self.at_end {
            return;
        }
        self.freed = 0;
        let slc = space.static_slc();
        let counts = &erases[slc as usize..];
        let most = counts.iter().copied().max().unwrap_or(0);
        let full = (slc..).zip(counts).filter(|(s, _)| space.is_candidate(*s));
        if let Some((superblock, &erases)) = full.min_by_key(|(s, erases)| (**erases, *s))
            && most - erases >= self.config.static_gap
        {
            self.moves.push_back(WearMove {
                superblock,
                levels: true,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::page::space::FullOf;
    use crate::rng::Rng;

    fn space() -> Space {
        let config = DriveConfig::tiny();
        let geometry = config.geometry();
        Space::new(&config, &geometry, geometry.slots_per_superblock)
    }

    #[test]
    fn hot_data_takes_the_least_worn_free_superblock_and_cold_data_the_most_worn() {
        let levelling = Levelling::default();
        let mut space = space();
        for seed in 0..50 {
            let mut rng = Rng::named(seed, "erases");
            let erases: Vec<u32> = (0..space.count()).map(|_| rng.below(9) as u32).collect();
            let taken = space.take_free();
            let free: Vec<u32> = space.free_ones().map(|s| erases[s as usize]).collect();
            for (cold, extreme) in [(false, free.iter().min()), (true, free.iter().max())] {
                let index = levelling
                    .choose_free(&space, &erases, cold)
                    .expect("free ones");
                assert_eq!(Some(&free[index]), extreme, "seed {seed}, cold: {cold}");
            }
            taken
                .into_iter()
                .for_each(|superblock| space.release(superblock));
        }
    }

    /// Each superblock that is moved or refreshed leaves its queue, whatever it is full of.
    #[test]
    fn a_full_superblock_of_any_kind_can_be_moved_and_refreshed() {
        for content in [FullOf::Data, FullOf::Tree] {
            for by_refresh in [false, true] {
                let mut levelling = Levelling::default();
                let mut space = space();
                let superblock = space.take_free().expect("a free one");
                space.close(superblock, content, 0);
                assert!(space.may_empty(superblock));
                levelling.request_move(superblock);
                levelling.request_refresh(superblock);
                let taken = if by_refresh {
                    levelling.next_refresh(&mut space)
                } else {
                    levelling.next_move(&mut space)
                };
                assert_eq!(taken, Some(superblock), "{content:?}");
                assert!(!space.may_empty(superblock), "{content:?} is claimed twice");
            }
        }
    }

    #[test]
    fn patrols_reach_every_page_of_a_block() {
        for (pages, rows) in [(1, 7), (3, 24), (5, 128), (9, 4)] {
            let mut levelling = Levelling::default();
            let mut reached = vec![false; rows as usize];
            for _ in 0..rows {
                levelling.begin_patrol(1);
                let patrolled: Vec<u32> = levelling.patrolled_rows(pages, rows).collect();
                assert_eq!(patrolled.len() as u32, pages.min(rows));
                patrolled
                    .iter()
                    .for_each(|&row| reached[row as usize] = true);
            }
            assert!(!reached.contains(&false), "{pages} of {rows}: {reached:?}");
        }
    }
}
