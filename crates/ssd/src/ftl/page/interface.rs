//! The page-mapped layer as the drive sees it.

use super::{BUFFERED, Gear, Layout, PageFtl, State, UNMAPPED};
use crate::caches::prefetch;
use crate::config::DriveConfig;
use crate::counters::DriveCounters;
use crate::ftl::frontier::Frontier;
use crate::ftl::policies::VictimPolicy;
use crate::ftl::translation::{Found, Hint, Launched, SuperblockView, Translation};
use crate::nand::media::Media;
use crate::nand::{EndOfLife, Mode, Nand, NandWork, Purpose};
use std::ops::Range;

/// Slots of one programming unit that a command reads together.
#[derive(Clone, Copy)]
struct Run {
    first: u32,
    slots: u32,
    ready: u64,
    /// Never written, but the controller does not know that.
    blank: bool,
}

impl<G: Gear, L: Layout> PageFtl<G, L> {
    fn read_run(&mut self, run: Run) -> u64 {
        if run.blank {
            self.read_blank(run.ready, run.first, run.slots)
        } else {
            self.read_media(run.ready, run.first, run.slots, Purpose::Host)
        }
    }
}

impl<G: Gear, L: Layout> Translation for PageFtl<G, L> {
    type Gear = G;

    #[inline(always)]
    fn nand(&self) -> &Nand<G> {
        &self.nand
    }

    #[inline(always)]
    fn nand_mut(&mut self) -> &mut Nand<G> {
        &mut self.nand
    }

    fn new(config: &DriveConfig, victim: Option<Box<dyn VictimPolicy>>) -> Self {
        PageFtl::fresh(config, victim)
    }

    #[inline(always)]
    fn write(&mut self, from: u64, lpn: u32, hint: Hint) -> bool {
        self.take_in(from, lpn, hint)
    }

    fn write_run(&mut self, from: u64, lpns: Range<u32>, hint: Hint) {
        self.take_run(from, lpns, hint);
    }

    #[inline]
    fn writes_are_plain(&self) -> bool {
        self.rows_are_possible() && self.nand.wear().is_none()
    }

    #[inline]
    fn write_each(&mut self, lpns: &[u32], count: usize) {
        self.take_each(lpns, count);
    }

    fn leap(&mut self, counters: &DriveCounters, work: &NandWork, times: u64) {
        self.counters.leap(counters, times);
        self.nand.leap(work, times);
    }

    fn write_through(&mut self, from: u64, lpns: Range<u32>, hint: Hint) -> (u64, u32) {
        self.place_through(from, lpns, hint)
    }

    fn flush_data(&mut self, from: u64) -> u64 {
        self.place_all_safely(from)
    }

    fn uncommitted(&self) -> bool {
        self.journal.pending > 0 || self.nand.media().is_some_and(Media::has_unsaved)
    }

    fn commit_map(&mut self, from: u64) -> u64 {
        self.program_commit_map(from)
    }

    fn trim(&mut self, lpn: u32) -> u32 {
        self.forget(lpn)
    }

    #[inline]
    fn read(&mut self, from: u64, lpns: Range<u32>) -> u64 {
        let mut end = from;
        let mut run: Option<Run> = None;
        let unit = self.nand.geometry.slots_per_unit;
        for lpn in lpns {
            let ready = if L::FULL {
                self.look_up(from, lpn, false)
            } else {
                from
            };
            let (ppn, slots, blank) = match self.found(lpn) {
                Found::Media(ppn) => (ppn, self.weight_at(ppn), false),
                Found::Unmapped if !self.rules.knows_unused() => {
                    let pack = self.rules.pack;
                    (lpn * pack, pack, true)
                }
                _ => {
                    end = end.max(ready);
                    continue;
                }
            };
            match &mut run {
                Some(run) if run.blank == blank && run.first / unit == ppn / unit => {
                    run.slots = (run.slots + slots).min(unit);
                    run.ready = run.ready.max(ready);
                }
                _ => {
                    if let Some(run) = run {
                        end = end.max(self.read_run(run));
                    }
                    run = Some(Run {
                        first: ppn,
                        slots,
                        ready,
                        blank,
                    });
                }
            }
        }
        run.map_or(end, |run| end.max(self.read_run(run)))
    }

    fn read_internal(&mut self, from: u64, lpn: u32) -> u64 {
        match self.found(lpn) {
            // Not counted as a host read, because the host did not request it.
            Found::Media(ppn) => {
                let slots = self.weight_at(ppn);
                self.read_media(from, ppn, slots, Purpose::Map)
            }
            _ => from,
        }
    }

    fn idle(&mut self, from: u64) -> Option<u64> {
        if self.buffered_slots() > 0 {
            return Some(self.place_all(from));
        }
        if self.wear_work_is_due() {
            return self.level_step(from);
        }
        self.queue_faded();
        if self.refresh_is_due() {
            return self.refresh_step(from);
        }
        let mut end = None;
        for _ in 0..self.nand.geometry.die_count {
            let done = if self.can_fold() {
                self.fold_step(from)
            } else if self.wants_idle_reclaim() {
                // The space it frees may be written without credits, so it earns none.
                let credits = self.credits;
                let done = self.reclaim_step(from);
                self.credits = self.credits.min(credits);
                done
            } else {
                None
            };
            match done {
                Some(done) => end = end.max(Some(done)),
                None => break,
            }
        }
        end.or_else(|| self.patrol_step(from))
    }

    fn has_idle_work(&self) -> bool {
        self.buffered_slots() > 0
            || self.can_fold()
            || self.refresh_is_due()
            || self.wear_work_is_due()
            || self.nand.has_faded()
            || self.wants_idle_reclaim()
            || self.patrol_is_due()
    }

    #[inline]
    fn ended(&self) -> Option<EndOfLife> {
        self.wear.ended()
    }

    fn rest(&mut self, hours: u32) {
        self.lie(hours);
    }

    fn patrol_left(&self) -> u32 {
        self.patrol_left_now()
    }

    fn patrol_now(&mut self, from: u64) -> Option<u64> {
        self.patrol_step(from)
    }

    fn request_refresh(&mut self, superblock: u32) -> bool {
        let full = self.may_empty(superblock);
        if full && !self.refresh_queue.contains(&superblock) {
            self.refresh_queue.push_back(superblock);
        }
        full
    }

    fn secure_erase(&mut self, from: u64) -> u64 {
        self.map.fill(UNMAPPED);
        self.written_end = 0;
        self.valid.fill(0);
        self.live = 0;
        let count = self.state.len() as u32;
        for (superblock, state) in (0..).zip(&mut self.state) {
            *state = if self.nand.is_retired(superblock) {
                State::Retired
            } else {
                State::Free
            };
        }
        let slc = self.rules.slc.superblocks;
        self.candidates.clear();
        for (superblock, mode) in (0..).zip(&mut self.mode) {
            *mode = if superblock < slc {
                Mode::Slc
            } else {
                Mode::Native
            };
        }
        let usable = |s: &u32| self.state[*s as usize] == State::Free;
        self.free_slc = (0..slc).filter(usable).collect();
        self.free = (slc..count).filter(usable).collect();
        self.slc_full.clear();
        self.map_full.clear();
        self.frontiers.fill(Frontier::default());
        for gather in &mut self.gathers {
            gather.clear();
        }
        self.movers = Default::default();
        self.refresh_queue.clear();
        self.reads_since.fill(0);
        self.credits = 0;
        self.journal.pending = 0;
        self.upkeep.clear();
        self.launched.clear();
        self.wear.clear();
        let covers = self.nand.media().map_or(0, Media::last_seq);
        if let Some(log) = &mut self.log {
            log.clear(covers);
        }
        let erased = self.state.iter().filter(|&&state| state == State::Free);
        self.counters.nand_erases +=
            erased.count() as u64 * u64::from(self.nand.geometry.die_count);
        self.nand.erase_all(from)
    }

    #[inline(always)]
    fn launched(&mut self) -> &mut Vec<Launched> {
        &mut self.launched
    }

    #[inline(always)]
    fn is_buffered(&self, lpn: u32) -> bool {
        self.map[lpn as usize] >= BUFFERED
    }

    fn buffered_slots(&self) -> u32 {
        self.gathers.iter().map(|gather| gather.live()).sum()
    }

    fn find(&self, lpn: u32) -> Found {
        self.found(lpn)
    }

    fn media_copy(&self, lpn: u32) -> Option<u32> {
        let value = match self.map[lpn as usize] {
            value if value >= BUFFERED => {
                let (stream, index) = self.gathered(value);
                self.gathers[stream].old(index)
            }
            value => value,
        };
        value.checked_sub(1)
    }

    fn hold_whole_map(&mut self) {
        self.upkeep.hold_all();
    }

    #[inline(always)]
    fn prefetch(&self, lpn: u32) {
        prefetch(&self.map, lpn as usize);
        if L::FULL {
            self.upkeep.prefetch(lpn);
        }
    }

    #[inline(always)]
    fn prefetch_behind(&self, lpn: u32) {
        match self.map.get(lpn as usize) {
            None | Some(&UNMAPPED) => {}
            Some(&value) if value >= BUFFERED => {
                let (stream, index) = self.gathered(value);
                self.gathers[stream].prefetch(index);
            }
            Some(&value) => prefetch(&self.valid, (value - 1) as usize / 64),
        }
        if L::FULL {
            self.prefetch_map_slot(lpn);
        }
    }

    #[inline(always)]
    fn counters(&mut self) -> &mut DriveCounters {
        &mut self.counters
    }

    fn counted(&self) -> &DriveCounters {
        &self.counters
    }

    fn free_slc_superblocks(&self) -> usize {
        self.free_slc.len()
    }

    fn free_superblocks(&self) -> usize {
        self.free.len()
    }

    fn superblock(&self, superblock: u32) -> SuperblockView {
        let s = superblock as usize;
        let geometry = &self.nand.geometry;
        let units = self.nand.rows(self.mode[s]) * geometry.die_count;
        SuperblockView {
            valid: self.candidates.valid(superblock),
            slots: units * geometry.slots_per_unit,
            erases: self.nand.erase_count[s],
            free: self.state[s] == State::Free,
        }
    }

    fn check(&self) -> Result<(), String> {
        self.check_all()
    }
}

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Whether reclaim is due in idle time.
    fn wants_idle_reclaim(&self) -> bool {
        let most = self.rules.idle_free as usize;
        self.free.len() < most
            && self.candidates.count() > 0
            && self.live + u64::from(self.rules.data_slots) < self.usable_slots()
    }

    /// Slots that can hold data when `idle_free` superblocks are free and the rest is full.
    fn usable_slots(&self) -> u64 {
        let native = self.native_superblocks();
        let open = self.frontiers.len() as u32;
        let kept = self.rules.idle_free.saturating_add(open);
        u64::from(native.saturating_sub(kept)) * u64::from(self.rules.data_slots)
    }
}
