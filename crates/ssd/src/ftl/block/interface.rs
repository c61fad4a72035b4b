//! The block-mapped layers as the drive sees them.

use super::rewrite::SlotRun;
use super::{BUFFERED, BlockFtl, BookedUnit, Gear, SuperblockRole, UNMAPPED};
use crate::caches::prefetch;
use crate::config::DriveConfig;
use crate::counters::DriveCounters;
use crate::ftl::policies::VictimPolicy;
use crate::ftl::translation::{Hint, SlotPlace, SuperblockView, Translation};
use crate::nand::media::Media;
use crate::nand::{Nand, Purpose};
use std::ops::Range;

impl<G: Gear> Translation for BlockFtl<G> {
    type Gear = G;

    #[inline(always)]
    fn nand(&self) -> &Nand<G> {
        &self.nand
    }

    #[inline(always)]
    fn nand_mut(&mut self) -> &mut Nand<G> {
        &mut self.nand
    }

    fn new(config: &DriveConfig, _: Option<Box<dyn VictimPolicy>>) -> Self {
        BlockFtl::fresh(config)
    }

    #[inline(always)]
    fn write(&mut self, from: u64, lpn: u32, hint: Hint) -> bool {
        self.remember_write(lpn, hint.tag);
        if self.is_buffered(lpn) {
            self.counters.slots_coalesced += 1;
            return false;
        }
        if self.gather.live() == self.gather_slots {
            self.place_oldest(from);
        }
        self.take_in(lpn);
        true
    }

    fn write_through(&mut self, from: u64, lpns: Range<u32>, hint: Hint) -> (u64, u32) {
        for lpn in lpns.clone() {
            self.remember_write(lpn, hint.tag);
        }
        self.written_end = self.written_end.max(lpns.end);
        self.released = 0;
        let mut end = from;
        let mut next = lpns.start;
        while next < lpns.end {
            let stop = self.slots_of(self.target(next)).end.min(lpns.end);
            let ticket = self.place_fresh(from, next..stop);
            end = end.max(ticket.end);
            next = stop;
        }
        (end, std::mem::take(&mut self.released))
    }

    fn flush_data(&mut self, from: u64) -> u64 {
        let mut end = from;
        while self.gather.live() > 0 {
            end = end.max(self.place_oldest(from).end);
        }
        end
    }

    fn uncommitted(&self) -> bool {
        let unsaved = self.nand.media().is_some_and(Media::has_unsaved);
        self.map_log.has_changes() || unsaved
    }

    fn commit_map(&mut self, from: u64) -> u64 {
        self.commit(from)
    }

    fn trim(&mut self, lpn: u32) -> u32 {
        self.forget(lpn)
    }

    #[inline]
    fn read(&mut self, from: u64, lpns: Range<u32>) -> u64 {
        let mut end = from;
        let mut run = SlotRun::default();
        let unit = self.nand.geometry.slots_per_unit;
        for lpn in lpns {
            if let SlotPlace::Media(ppn) = self.find(lpn)
                && let Some(whole) = run.add(ppn, unit)
            {
                end = end.max(self.read_media(from, whole, Purpose::Host));
            }
        }
        if run.slots > 0 {
            end = end.max(self.read_media(from, run, Purpose::Host));
        }
        end
    }

    fn read_internal(&mut self, from: u64, lpn: u32) -> u64 {
        match self.find(lpn) {
            // Not counted as a host read, because the host did not request it.
            SlotPlace::Media(first) => {
                let run = SlotRun { first, slots: 1 };
                self.read_media(from, run, Purpose::Map)
            }
            _ => from,
        }
    }

    fn idle(&mut self, from: u64) -> Option<u64> {
        (self.gather.live() > 0).then(|| self.flush_data(from))
    }

    fn has_idle_work(&self) -> bool {
        self.gather.live() > 0
    }

    fn request_refresh(&mut self, _: u32) -> bool {
        false
    }

    fn secure_erase(&mut self, from: u64) -> u64 {
        self.forget_all();
        let count = self.nand.geometry.superblock_count;
        self.free = (0..count).collect();
        self.counters.nand_erases += u64::from(count) * u64::from(self.nand.geometry.die_count);
        self.nand.erase_all(from)
    }

    #[inline(always)]
    fn launched(&mut self) -> &mut Vec<BookedUnit> {
        &mut self.launched
    }

    #[inline(always)]
    fn is_buffered(&self, lpn: u32) -> bool {
        self.table[lpn as usize] >= BUFFERED
    }

    fn buffered_slots(&self) -> u32 {
        self.gather.live()
    }

    #[inline(always)]
    fn find(&self, lpn: u32) -> SlotPlace {
        match self.table[lpn as usize] {
            UNMAPPED => SlotPlace::Unmapped,
            value if value >= BUFFERED => SlotPlace::Buffered,
            value => SlotPlace::Media(value - 1),
        }
    }

    fn media_copy(&self, lpn: u32) -> Option<u32> {
        self.copy_on_media(lpn).checked_sub(1)
    }

    #[inline(always)]
    fn prefetch(&self, lpn: u32) {
        prefetch(&self.table, lpn as usize);
    }

    #[inline(always)]
    fn counters(&mut self) -> &mut DriveCounters {
        &mut self.counters
    }

    fn counted(&self) -> &DriveCounters {
        &self.counters
    }

    fn free_slc_superblocks(&self) -> usize {
        0
    }

    fn free_superblocks(&self) -> usize {
        self.free.len()
    }

    fn superblock(&self, superblock: u32) -> SuperblockView {
        let s = superblock as usize;
        SuperblockView {
            valid: self.valid[s],
            slots: self.nand.geometry.slots_per_superblock,
            erases: self.nand.erase_count[s],
            free: self.role[s] == SuperblockRole::Free,
        }
    }

    fn check(&self) -> Result<(), String> {
        self.check_all()
    }
}
