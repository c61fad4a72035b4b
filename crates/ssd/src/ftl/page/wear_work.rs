//! Work because of wear: choice of the next free superblock, wear levelling, moving data off failed
//! or faded blocks, patrols, and drives that take over another's array.
//!
//! Work that affects data placement is part of host writes, one step per unit, so that both gears
//! do it at the same point in the command stream. Only patrols, and data that reads found faded,
//! wait for idle time.

use super::space::State;
use super::{GatherEntry, Gear, Layout, PageFtl};
use crate::config::{ConfigError, DriveConfig};
use crate::nand::{Erased, Mode, Purpose, UnitPlace, UsedArray};

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// The same layer in another gear; the buffer must be empty.
    pub fn regear<H: Gear>(mut self, config: &DriveConfig) -> PageFtl<H, L> {
        assert!(
            self.buffer.launched().is_empty(),
            "no program is in progress"
        );
        PageFtl {
            nand: self.nand.regear(&config.nand),
            counters: self.counters,
            rules: self.rules,
            map: self.map,
            space: self.space,
            buffer: self.buffer,
            placement: self.placement,
            reclaim: self.reclaim,
            journal: self.journal,
            levelling: self.levelling,
        }
    }

    /// Takes over an array that another layer has worn; a secure erase must follow. Superblocks of
    /// that layer's pSLC cache may be native here and vice versa, so the retired ones are
    /// recounted.
    ///
    /// # Errors
    /// When fewer native superblocks are left than this layer needs.
    pub fn begin_on(&mut self, array: UsedArray) -> Result<(), ConfigError> {
        let slc = self.space.static_slc();
        let count = self.space.count();
        let gone = (slc..count).filter(|&s| array.is_retired(s)).count() as u32;
        let (usable, least) = (count - slc - gone, self.levelling.native_min());
        if usable < least {
            return Err(ConfigError {
                what: "used array".into(),
                given: format!("{usable} native superblocks left of {}", count - slc),
                allowed: format!("at least {least} are allowed for this user capacity"),
            });
        }
        self.nand.take_used(array);
        self.space.set_native_retired(gone);
        Ok(())
    }

    /// Takes a free superblock for a frontier: the one free longest, or one chosen by wear.
    pub(super) fn take_free(&mut self, frontier: usize) -> Option<u32> {
        if !self.levelling.is_dynamic() {
            return self.space.take_free();
        }
        let cold = self.placement.is_cold(frontier);
        let erases = &self.nand.erase_count;
        let index = self.levelling.choose_free(&self.space, erases, cold)?;
        self.space.take_free_at(index)
    }

    /// Renews the blocks of an emptied victim, or retires it.
    ///
    /// Credits `earned` by emptying a superblock that is retired have no space behind them and are
    /// revoked; until they are earned again no other superblock is retired (see the proof in
    /// `docs/model.md`).
    pub(super) fn renew(&mut self, victim: u32, earned: bool) {
        let spare = self.space.native() > self.levelling.native_min();
        let may_retire = spare && self.reclaim.credits() >= -i64::from(self.unit_slots());
        match self.nand.make_stale(victim, may_retire) {
            Erased::Retired => {
                self.space.retire(victim);
                if earned {
                    self.reclaim.spend(self.nand.geometry.slots_per_superblock);
                }
            }
            Erased::Usable => self.space.release(victim),
            Erased::Overdue => {
                if !spare {
                    self.levelling.set_ended(true);
                }
                self.space.release(victim);
            }
        }
        let working = self.level_is_working();
        let erases = &self.nand.erase_count;
        self.levelling.seek_cold(&self.space, erases, working);
    }

    /// Queues a superblock that has become full for moving if one of its blocks has failed.
    pub(super) fn closed_worn(&mut self, superblock: u32, mode: Mode) {
        let failed = self
            .nand
            .wear()
            .is_some_and(|wear| wear.has_failed(superblock));
        // In the pSLC cache, folding moves the data.
        if failed && mode == Mode::Native && !self.levelling.has_ended() {
            self.levelling.request_move(superblock);
        }
    }

    #[inline(always)]
    pub(super) fn wear_work_is_due(&self) -> bool {
        self.levelling.is_on() && (self.levelling.has_moves() || self.level_is_working())
    }

    /// One step of levelling or of moving data off failed blocks, if any is due.
    #[inline(always)]
    pub(super) fn do_wear_work(&mut self, from: u64) {
        if self.wear_work_is_due() {
            self.level_step(from);
        }
    }

    /// Counts slots as levelled instead of refreshed if levelling moved them.
    pub(super) fn count_levelled(&mut self, batch: &[GatherEntry]) {
        if self.levelling.is_levelling() {
            let slots: u64 = batch.iter().map(|entry| u64::from(entry.weight)).sum();
            self.counters.slots_refreshed -= slots;
            self.counters.slots_levelled += slots;
        }
    }

    pub(super) fn count_level_freed(&mut self) {
        if self.levelling.is_levelling() {
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
            if self.space.may_empty(superblock) && !self.levelling.has_ended() {
                self.levelling.request_refresh(superblock);
            }
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
            self.levelling.begin_patrol(superblocks);
        }
    }

    #[inline(always)]
    pub(super) fn patrol_is_due(&self) -> bool {
        self.levelling.patrol_left() > 0
    }

    /// Reads a few pages of each block of the next full superblock, which shows whether its data
    /// has faded. Returns the end of the reads, or `None` when no full superblock is left to
    /// patrol.
    pub(super) fn patrol_step(&mut self, from: u64) -> Option<u64> {
        let superblock = self.levelling.next_patrolled(&self.space)?;
        Some(self.patrol(from, superblock))
    }

    fn patrol(&mut self, from: u64, superblock: u32) -> u64 {
        let mode = self.space.mode(superblock);
        let rows = self.nand.rows(mode);
        let patrol_pages = self.nand.wear().map_or(0, |w| w.config().patrol_pages);
        let slots = self.unit_slots();
        let patrolled: Vec<u32> = self.levelling.patrolled_rows(patrol_pages, rows).collect();
        let mut end = from;
        for die in 0..self.nand.geometry.die_count {
            for &row in &patrolled {
                let place = UnitPlace {
                    superblock,
                    row,
                    die,
                    mode,
                };
                // Pages not yet programmed cannot have faded.
                if self.nand.is_pending(superblock, row, die) {
                    continue;
                }
                let read = self.nand.read(from, place, slots, Purpose::Refresh);
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
        let native = self.space.static_slc()..self.space.count();
        let retired = native.filter(|&s| self.space.state(s) == State::Retired);
        let retired = retired.count() as u32;
        let counted = self.space.native_retired();
        if retired != counted {
            return Err(format!("{retired} superblocks given up, {counted} counted"));
        }
        Ok(())
    }
}
