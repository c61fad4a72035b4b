//! The page-mapped layer as the drive sees it.

use super::place::HostWrite;
use super::space::State;
use super::{BUFFERED, Gear, Layout, PageFtl, UNMAPPED};
use crate::config::DriveConfig;
use crate::counters::DriveCounters;
use crate::ftl::policies::VictimPolicy;
use crate::ftl::translation::{BookedUnit, Hint, SlotPlace, SuperblockView, Translation};
use crate::nand::media::Media;
use crate::nand::{EndOfLife, Nand, NandWork, Purpose};
use std::ops::Range;

/// Slots of one programming unit that a command reads together.
#[derive(Clone, Copy)]
struct ReadRun {
    first: u32,
    slots: u32,
    ready: u64,
    /// Never written, but the controller does not know that.
    blank: bool,
}

impl<G: Gear, L: Layout> PageFtl<G, L> {
    fn read_run(&mut self, run: ReadRun) -> u64 {
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
        self.journal.has_changes() || self.nand.media().is_some_and(Media::has_unsaved)
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
        let mut run: Option<ReadRun> = None;
        let unit = self.nand.geometry.slots_per_unit;
        for lpn in lpns {
            let ready = if L::FULL {
                self.look_up(from, lpn, false)
            } else {
                from
            };
            let (ppn, slots, blank) = match self.map.find(lpn) {
                SlotPlace::Media(ppn) => (ppn, self.map.weight_at(ppn), false),
                SlotPlace::Unmapped if !self.reclaim.knows_unused() => {
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
                    run = Some(ReadRun {
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
        match self.map.find(lpn) {
            // Not counted as a host read, because the host did not request it.
            SlotPlace::Media(ppn) => {
                let slots = self.map.weight_at(ppn);
                self.read_media(from, ppn, slots, Purpose::Map)
            }
            _ => from,
        }
    }

    fn idle(&mut self, from: u64) -> Option<u64> {
        if self.buffered_slots() > 0 {
            return Some(self.place_all(from, HostWrite::Usual));
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
            let step = if self.can_fold() {
                self.fold_step(from)
            } else if self.wants_idle_reclaim() {
                // The space it frees may be written without credits, so it earns none.
                let credits = self.reclaim.credits();
                let step = self.reclaim_step(from);
                let after = self.reclaim.credits();
                self.reclaim.set_credits(after.min(credits));
                step
            } else {
                None
            };
            if step.is_none() {
                break;
            }
            end = end.max(step);
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
        self.levelling.ended()
    }

    fn rest(&mut self, hours: u32) {
        self.lie(hours);
    }

    fn patrol_left(&self) -> u32 {
        self.levelling.patrol_left()
    }

    fn patrol_now(&mut self, from: u64) -> Option<u64> {
        self.patrol_step(from)
    }

    fn request_refresh(&mut self, superblock: u32) -> bool {
        let full = self.space.may_empty(superblock);
        if full {
            self.levelling.request_refresh(superblock);
        }
        full
    }

    fn secure_erase(&mut self, from: u64) -> u64 {
        self.map.clear();
        self.space
            .free_all(|superblock| self.nand.is_retired(superblock));
        self.placement.clear();
        self.buffer.clear();
        self.reclaim.clear();
        self.journal
            .clear(self.nand.media().map_or(0, Media::last_seq));
        self.levelling.clear();
        let states = self.space.states().iter();
        let erased = states.filter(|&&state| state == State::Free).count();
        self.counters.nand_erases += erased as u64 * u64::from(self.nand.geometry.die_count);
        self.nand.erase_all(from)
    }

    #[inline(always)]
    fn launched(&mut self) -> &mut Vec<BookedUnit> {
        self.buffer.launched()
    }

    #[inline(always)]
    fn is_buffered(&self, lpn: u32) -> bool {
        self.map.value(lpn) >= BUFFERED
    }

    fn buffered_slots(&self) -> u32 {
        self.buffer.live()
    }

    fn find(&self, lpn: u32) -> SlotPlace {
        self.map.find(lpn)
    }

    fn media_copy(&self, lpn: u32) -> Option<u32> {
        let value = match self.map.value(lpn) {
            value if value >= BUFFERED => self.buffer.old(value),
            value => value,
        };
        value.checked_sub(1)
    }

    fn hold_whole_map(&mut self) {
        self.map.upkeep_mut().hold_all();
    }

    #[inline(always)]
    fn prefetch(&self, lpn: u32) {
        self.map.prefetch_value(lpn);
        if L::FULL {
            self.map.upkeep().prefetch(lpn);
        }
    }

    #[inline(always)]
    fn prefetch_behind(&self, lpn: u32) {
        match self.map.values().get(lpn as usize) {
            None | Some(&UNMAPPED) => {}
            Some(&value) if value >= BUFFERED => self.buffer.prefetch(value),
            Some(&value) => self.map.prefetch_valid(value),
        }
        if L::FULL {
            self.map.prefetch_map_page(lpn);
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
        self.space.free_slc_ones().len()
    }

    fn free_superblocks(&self) -> usize {
        self.space.free() as usize
    }

    fn superblock(&self, superblock: u32) -> SuperblockView {
        let units = self.units_of(self.space.mode(superblock));
        SuperblockView {
            valid: self.space.valid(superblock),
            slots: units * self.unit_slots(),
            erases: self.nand.erase_count[superblock as usize],
            free: self.space.state(superblock) == State::Free,
        }
    }

    fn check(&self) -> Result<(), String> {
        self.check_all()
    }
}
