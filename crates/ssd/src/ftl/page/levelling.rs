//! What the translation layer does about wear: which free superblock is next, wear levelling,
//! data moved off blocks that failed or faded, and the end.
//!
//! Work that decides where data goes is done as part of host writes, a step per unit, so that both
//! gears do it at the same place in the stream of commands. Only patrols, and data found faded by
//! reads, wait for idle time.

use super::{Entry, Gear, Layout, PageFtl, State};
use crate::config::{ConfigError, DriveConfig};
use crate::nand::{Erased, Mode, Purpose, UnitPlace, UsedArray};

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// The same layer in another gear; the buffer must be empty.
    pub fn regear<H: Gear>(self, config: &DriveConfig) -> PageFtl<H, L> {
        assert!(self.launched.is_empty(), "nothing is under way");
        PageFtl {
            nand: self.nand.regear(&config.nand),
            counters: self.counters,
            map: self.map,
            written_end: self.written_end,
            user_slots: self.user_slots,
            owner: self.owner,
            valid: self.valid,
            weight: self.weight,
            live: self.live,
            candidates: self.candidates,
            state: self.state,
            mode: self.mode,
            stream_of: self.stream_of,
            reads_since: self.reads_since,
            free: self.free,
            free_slc: self.free_slc,
            slc_full: self.slc_full,
            frontiers: self.frontiers,
            gathers: self.gathers,
            gather_shift: self.gather_shift,
            movers: self.movers,
            refresh_queue: self.refresh_queue,
            credits: self.credits,
            rules: self.rules,
            journal: self.journal,
            lifespans: self.lifespans,
            upkeep: self.upkeep,
            wear: self.wear,
            victim: self.victim,
            rng: self.rng,
            launched: self.launched,
            batch: self.batch,
            looked: self.looked,
            host_slots: self.host_slots,
            epoch: self.epoch,
            layout: self.layout,
        }
    }

    /// The array without its data.
    pub fn used_array(&self) -> UsedArray {
        self.nand.used()
    }

    /// Takes over an array that another layer has worn; a secure erase must follow. What that
    /// layer used as pSLC cache may be native here and the other way round, so what is given up is
    /// counted anew.
    ///
    /// # Errors
    /// When fewer native superblocks are left than this layer needs.
    pub fn begin_on(&mut self, array: UsedArray) -> Result<(), ConfigError> {
        let slc = self.rules.slc.superblocks;
        let count = self.nand.geometry.superblock_count;
        let gone = (slc..count).filter(|&s| array.is_retired(s)).count() as u32;
        let (left, least) = (count - slc - gone, self.wear.native_min);
        if left < least {
            return Err(ConfigError {
                what: "used array".into(),
                given: format!("{left} native superblocks left of {}", count - slc),
                allowed: format!("at least {least} are allowed for this user capacity"),
            });
        }
        self.nand.take_used(array);
        self.wear.native_retired = gone;
        Ok(())
    }

    /// Native superblocks that are in use or free.
    #[inline(always)]
    pub(super) fn native_superblocks(&self) -> u32 {
        let native = self.nand.geometry.superblock_count - self.rules.slc.superblocks;
        native - self.wear.native_retired
    }

    /// Takes a free superblock for a frontier: the one free longest, or by its wear.
    pub(super) fn take_free(&mut self, frontier: usize) -> Option<u32> {
        if !self.wear.levelling.dynamic {
            return self.free.pop_front();
        }
        let cold = !self.rules.shared && frontier > self.rules.streams as usize;
        let wear = |superblock: &u32| self.nand.erase_count[*superblock as usize];
        let free = self.free.iter().enumerate();
        // The first among equals.
        let index = if cold {
            free.rev().max_by_key(|(_, s)| wear(s))?.0
        } else {
            free.min_by_key(|(_, s)| wear(s))?.0
        };
        self.free.remove(index)
    }

    /// A victim holds nothing any more: its blocks are renewed, or it is given up.
    ///
    /// Credits `earned` by emptying a superblock that is given up stand for no room and are taken
    /// back; until they are earned anew no other is given up (see the proof in `docs/model.md`).
    pub(super) fn renew(&mut self, victim: u32, earned: bool) {
        let spare = self.native_superblocks() > self.wear.native_min;
        let may_retire = spare && self.credits >= -i64::from(self.unit_slots());
        match self.nand.make_stale(victim, may_retire) {
            Erased::Retired => {
                self.state[victim as usize] = State::Retired;
                self.wear.native_retired += 1;
                if earned {
                    self.credits -= i64::from(self.nand.geometry.slots_per_superblock);
                }
            }
            Erased::Usable => self.free.push_back(victim),
            Erased::Overdue => {
                self.wear.at_end |= !spare;
                self.free.push_back(victim);
            }
        }
        if self.wear.levelling.static_gap > 0 {
            self.look_for_cold();
        }
    }

    /// Now and then: is a full superblock so much less worn than the most worn one that its data
    /// should go elsewhere?
    fn look_for_cold(&mut self) {
        self.wear.freed += 1;
        let busy = self.level_is_working() || !self.wear.queue.is_empty();
        if self.wear.freed < self.wear.levelling.static_every || busy || self.wear.at_end {
            return;
        }
        self.wear.freed = 0;
        let slc = self.rules.slc.superblocks as usize;
        let counts = &self.nand.erase_count[slc..];
        let most = counts.iter().copied().max().unwrap_or(0);
        let full = (slc as u32..).zip(counts);
        let full = full.filter(|(s, _)| self.candidates.holds(*s));
        if let Some((coldest, &erases)) = full.min_by_key(|(s, erases)| (**erases, *s))
            && most - erases >= self.wear.levelling.static_gap
        {
            self.wear.queue.push_back((coldest, true));
        }
    }

    /// A superblock is full: when a block of it failed meanwhile, its data moves off.
    pub(super) fn closed_worn(&mut self, superblock: u32, mode: Mode) {
        let failed = self
            .nand
            .wear()
            .is_some_and(|wear| wear.has_failed(superblock));
        // In the pSLC cache folding sees to it.
        if failed && mode == Mode::Native && !self.wear.at_end {
            self.wear.queue.push_back((superblock, false));
        }
    }

    #[inline(always)]
    pub(super) fn wear_work_is_due(&self) -> bool {
        self.wear.on && (!self.wear.queue.is_empty() || self.level_is_working())
    }

    /// One step of levelling or of moving data off failed blocks, if any is due.
    #[inline(always)]
    pub(super) fn do_wear_work(&mut self, from: u64) {
        if self.wear_work_is_due() {
            self.level_step(from);
        }
    }

    pub(super) fn pick_for_level(&mut self) -> Option<u32> {
        while let Some((superblock, levelling)) = self.wear.queue.pop_front() {
            if self.candidates.holds(superblock) {
                self.candidates.withdraw(superblock);
                self.wear.levelling_now = levelling;
                return Some(superblock);
            }
        }
        None
    }

    /// Slots counted as refreshed were moved by levelling.
    pub(super) fn count_levelled(&mut self, batch: &[Entry]) {
        if self.wear.levelling_now {
            let slots: u64 = batch.iter().map(|entry| u64::from(entry.weight)).sum();
            self.counters.slots_refreshed -= slots;
            self.counters.slots_levelled += slots;
        }
    }

    pub(super) fn count_level_freed(&mut self) {
        if self.wear.levelling_now {
            self.counters.superblocks_levelled += 1;
        } else {
            self.counters.superblocks_refreshed += 1;
        }
    }

    /// What reads found faded goes to the refresh queue.
    pub(super) fn queue_faded(&mut self) {
        if !self.nand.has_faded() {
            return;
        }
        for superblock in self.nand.take_faded() {
            self.queue_refresh(superblock);
        }
    }

    fn queue_refresh(&mut self, superblock: u32) {
        let queue = self.candidates.holds(superblock) && !self.wear.at_end;
        if queue && !self.refresh_queue.contains(&superblock) {
            self.refresh_queue.push_back(superblock);
        }
    }

    /// Lies for so many hours; then a patrol is due, when the drive is idle.
    pub(super) fn lie(&mut self, hours: u32) {
        let superblocks = self.nand.geometry.superblock_count;
        let Some(wear) = self.nand.wear_mut() else {
            return;
        };
        wear.rest(hours);
        if wear.config().patrol_pages > 0 {
            self.wear.patrol_left = superblocks;
            self.wear.patrols = self.wear.patrols.wrapping_add(1);
        }
    }

    pub(super) fn patrol_left_now(&self) -> u32 {
        self.wear.patrol_left
    }

    #[inline(always)]
    pub(super) fn patrol_is_due(&self) -> bool {
        self.wear.patrol_left > 0
    }

    /// The patrol reads a few pages of each block of the next full superblock, and learns from what
    /// reading them took whether its data has faded. Returns when the reads end; `None` when
    /// nothing full is left to look at.
    pub(super) fn patrol_step(&mut self, from: u64) -> Option<u64> {
        let count = self.nand.geometry.superblock_count;
        while self.wear.patrol_left > 0 {
            let superblock = count - self.wear.patrol_left;
            self.wear.patrol_left -= 1;
            if self.candidates.holds(superblock) {
                return Some(self.patrol(from, superblock));
            }
        }
        None
    }

    fn patrol(&mut self, from: u64, superblock: u32) -> u64 {
        let mode = self.mode[superblock as usize];
        let rows = self.nand.rows(mode);
        let wanted = self.nand.wear().map_or(0, |w| w.config().patrol_pages);
        let (pages, slots) = (wanted.min(rows), self.unit_slots());
        let mut end = from;
        for die in 0..self.nand.geometry.die_count {
            for page in 0..pages {
                // Spread over the block, and on by one each time.
                let spread = u64::from(page) * u64::from(rows) / u64::from(pages);
                let row = (spread as u32).wrapping_add(self.wear.patrols) % rows;
                let at = UnitPlace {
                    superblock,
                    row,
                    die,
                    mode,
                };
                // What is not yet programmed cannot have faded.
                if self.nand.is_pending(superblock, row, die) {
                    continue;
                }
                let read = self.nand.read(from, at, slots, Purpose::Refresh);
                self.counters.nand_reads_patrol += 1;
                end = end.max(read);
            }
        }
        end
    }

    /// The laws of wear: every erase is a cycle of a block, blocks are in one place each, and as
    /// many superblocks are given up as are counted.
    pub(super) fn check_wear(&self) -> Result<(), String> {
        let Some(wear) = self.nand.wear() else {
            return Ok(());
        };
        wear.check()?;
        let (cycles, erases) = (wear.cycles_total(), self.nand.work.erases);
        if cycles != erases {
            return Err(format!("{cycles} cycles of blocks, {erases} erases"));
        }
        let slc = self.rules.slc.superblocks as usize;
        let retired = self.state[slc..].iter().filter(|&&s| s == State::Retired);
        let retired = retired.count() as u32;
        if retired != self.wear.native_retired {
            let counted = self.wear.native_retired;
            return Err(format!("{retired} superblocks given up, {counted} counted"));
        }
        Ok(())
    }
}
