//! Reading: pages of the map that are not in DRAM, and slots.

use super::{GatherEntry, Gear, Layout, PageFtl, UNMAPPED};
use crate::nand::{Purpose, UnitPlace};

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Loads the map pages of `batch` into DRAM for a change; returns the end.
    pub(super) fn keep_up(&mut self, from: u64, batch: &[GatherEntry]) -> u64 {
        let mut ready = from;
        for entry in batch {
            if entry.lpn < self.map.user_slots() {
                ready = ready.max(self.look_up(from, entry.lpn, true));
            }
        }
        ready
    }

    /// Loads the map pages of moved slots for a change, beside other work: the spare areas tell
    /// what the slots are, so nothing waits for it.
    pub(super) fn keep_up_beside(&mut self, from: u64, batch: &[GatherEntry]) {
        for entry in batch {
            if entry.lpn >= self.map.user_slots() {
                continue;
            }
            let Some(missing) = self.map.upkeep_mut().touch(entry.lpn, true) else {
                continue;
            };
            self.counters.map_misses += 1;
            if let Some(ppn) = self.map.value(missing).checked_sub(1) {
                let from = self.read_nodes(from, ppn);
                self.read_media(from, ppn, self.rules.pack, Purpose::Map);
            }
        }
    }

    /// Loads the map page of a slot into DRAM; returns the end.
    #[inline]
    pub(super) fn look_up(&mut self, from: u64, lpn: u32, change: bool) -> u64 {
        if !self.map.upkeep().is_on() {
            return from;
        }
        let Some(missing) = self.map.upkeep_mut().touch(lpn, change) else {
            return from;
        };
        self.counters.map_misses += 1;
        match self.map.value(missing) {
            UNMAPPED => from,
            value => {
                let from = self.map.upkeep().may_read(from);
                let from = self.read_nodes(from, value - 1);
                let end = self.read_media(from, value - 1, self.rules.pack, Purpose::Map);
                self.map.upkeep_mut().brought(end);
                end
            }
        }
    }

    /// Reads the nodes that lead to the leaf at `ppn`, one after another, where the map lies apart.
    /// They are where a leaf's are written: on the dies after its own.
    fn read_nodes(&mut self, from: u64, ppn: u32) -> u64 {
        let place = self.nand.geometry.place(ppn);
        let at_hand = self.nand.is_pending(place.superblock, place.row, place.die);
        if at_hand || !self.placement.map_is_apart() {
            return from;
        }
        let dies = self.nand.geometry.die_count;
        let slots = self.rules.pack;
        let mut end = from;
        for level in 1..self.rules.leaf_programs {
            self.counters.nand_reads_internal += 1;
            let die = (place.die + level) % dies;
            end = self
                .nand
                .read_blank(end, die, place.row, slots, Purpose::Map);
        }
        end
    }

    /// Reads `slots` slots of one unit, beginning at `ppn`.
    #[inline]
    pub(super) fn read_media(&mut self, from: u64, ppn: u32, slots: u32, purpose: Purpose) -> u64 {
        let place = self.nand.geometry.place(ppn);
        if self.nand.is_pending(place.superblock, place.row, place.die) {
            return from;
        }
        self.levelling.count_read(place.superblock);
        if purpose == Purpose::Host {
            self.counters.nand_reads_host += 1;
        } else {
            self.counters.nand_reads_internal += 1;
        }
        let unit = UnitPlace::of(place, self.space.mode(place.superblock));
        self.nand.read(from, unit, slots, purpose)
    }

    /// Reads for an address that was never written: a controller that uses no free space as spare
    /// area does not know that there is nothing to read.
    pub(super) fn read_blank(&mut self, from: u64, ppn: u32, slots: u32) -> u64 {
        self.counters.nand_reads_host += 1;
        let place = self.nand.geometry.place(ppn);
        let (die, row) = (place.die, place.row);
        self.nand.read_blank(from, die, row, slots, Purpose::Host)
    }
}
