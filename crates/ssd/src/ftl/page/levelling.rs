//! Wear in the translation layer: choice of the next free superblock, wear levelling, moving data
//! off failed or faded blocks, and the end of life.
//!
//! Work that affects data placement is part of host writes, one step per unit, so that both gears
//! do it at the same point in the command stream. Only patrols, and data that reads found faded,
//! wait for idle time.

use super::{Entry, Gear, Layout, PageFtl, State};
use crate::config::{ConfigError, DriveConfig};
use crate::nand::{Erased, Mode, Purpose, UnitPlace, UsedArray};

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// The same layer in another gear; the buffer must be empty.
    pub fn regear<H: Gear>(self, config: &DriveConfig) -> PageFtl<H, L> {
        assert!(self.launched.is_empty(), "no program is in progress");
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
            map_full: self.map_full,
            frontiers: self.frontiers,
            gathers: self.gathers,
            gather_shift: self.gather_shift,
            movers: self.movers,
            refresh_queue: self.refresh_queue,
            credits: self.credits,
            rules: self.rules,
            journal: self.journal,
            log: self.log,
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

    /// Takes over an array that another layer has worn; a secure erase must follow. Superblocks of
    /// that layer's pSLC cache may be native here and vice versa, so the retired ones are
    /// recounted.
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

    /// Takes a free superblock for a frontier: the one free longest, or one chosen by wear.
    pub(super) fn take_free(&mut self, frontier: usize) -> Option<u32> {
        if !self.wear.levelling.dynamic {
            return self.free.pop_front();
        }
        let hot = frontier <= self.rules.streams as usize || self.is_of_tree(frontier);
        let cold = !self.rules.shared && !hot;
        let wear = |superblock: &u32| self.nand.erase_count[*superblock as usize];
        let free = self.free.iter().enumerate();
        // The first one among equals.
        let index = if cold {
            free.rev().max_by_key(|(_, s)| wear(s))?.0
        } else {
            free.min_by_key(|(_, s)| wear(s))?.0
        };
        self.free.remove(index)
    }

    /// Renews the blocks of an emptied victim, or retires it.
    ///
    /// Credits `earned` by emptying a superblock that is retired have no space behind them and are
    /// revoked; until they are earned again no other superblock is retired (see the proof in
    /// `docs/model.md`).
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

    /// Checks periodically whether the wear of a full superblock is so far below the maximum that
    /// its data should move.
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

    /// Queues a superblock that has become full for moving if one of its blocks has failed.
    pub(super) fn closed_worn(&mut self, superblock: u32, mode: Mode) {
        let failed = self
            .nand
            .wear()
            .is_some_and(|wear| wear.has_failed(superblock));
        // In the pSLC cache, folding moves the data.
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
            if self.claim(superblock) {
                self.wear.levelling_now = levelling;
                return Some(superblock);
            }
        }
        None
    }

    /// Counts slots as levelled instead of refreshed if levelling moved them.
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

    /// Queues the superblocks that reads found faded for refresh.
    pub(super) fn queue_faded(&mut self) {
        if !self.nand.has_faded() {
            return;
        }
        for superblock in self.nand.take_faded() {
            self.queue_refresh(superblock);
        }
    }

    fn queue_refresh(&mut self, superblock: u32) {
        let queue = self.may_empty(superblock) && !self.wear.at_end;
        if queue && !self.refresh_queue.contains(&superblock) {
            self.refresh_queue.push_back(superblock);
        }
    }

    /// Lets `hours` pass; a patrol is then due when the drive is idle.
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

    /// Reads a few pages of each block of the next full superblock, which shows whether its data
    /// has faded. Returns the end of the reads, or `None` when no full superblock is left to
    /// patrol.
    pub(super) fn patrol_step(&mut self, from: u64) -> Option<u64> {
        let count = self.nand.geometry.superblock_count;
        while self.wear.patrol_left > 0 {
            let superblock = count - self.wear.patrol_left;
            self.wear.patrol_left -= 1;
            if self.may_empty(superblock) {
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
                // Spread over the block, shifted by one each time.
                let spread = u64::from(page) * u64::from(rows) / u64::from(pages);
                let row = (spread as u32).wrapping_add(self.wear.patrols) % rows;
                let at = UnitPlace {
                    superblock,
                    row,
                    die,
                    mode,
                };
                // Pages not yet programmed cannot have faded.
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

    /// Checks the laws of wear: every erase is a cycle of a block, each block is in one place, and
    /// the count of retired superblocks is right.
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
