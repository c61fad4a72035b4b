//! Self-check of the page-mapped layer: map, reverse map, valid slots and superblocks agree.

use super::space::State;
use super::write_buffer::BufferPlace;
use super::{BUFFERED, Gear, Layout, PageFtl, UNMAPPED};

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Checks everything and reports the first contradiction. Takes a pass over the map.
    pub(super) fn check_all(&self) -> Result<(), String> {
        let on_media = self.check_map()?;
        self.check_valid(on_media)?;
        self.check_superblocks()?;
        self.counters.check_conservation(self.unit_slots())?;
        self.check_wear()
    }

    /// Checks that every map entry points to a valid slot that it owns; returns their number.
    fn check_map(&self) -> Result<u64, String> {
        let mut on_media = 0;
        let mut buffered = 0;
        // Only the used part of the map is read.
        let hidden = self.map.user_slots()..self.map.values().len() as u32;
        let used = (0..self.map.written_end()).chain(hidden);
        for lpn in used {
            if let Some(&ahead) = self.map.values().get(lpn as usize + 32) {
                self.map.prefetch_owner(ahead.wrapping_sub(1));
            }
            let value = self.map.value(lpn);
            if value == UNMAPPED {
                continue;
            }
            if value < BUFFERED {
                self.check_slot(lpn, value - 1)?;
                on_media += 1;
            } else {
                buffered += 1;
            }
        }
        let mut live = 0;
        for (stream, gather) in self.buffer.gathers().iter().enumerate() {
            let mut weight = 0;
            for (index, entry) in gather.iter() {
                live += 1;
                weight += entry.weight;
                let value = self.map.value(entry.lpn).max(BUFFERED);
                if self.buffer.place(value) != (BufferPlace { stream, index }) {
                    return Err(format!(
                        "buffer entry {stream}/{index} (slot {}) is not in the map",
                        entry.lpn
                    ));
                }
                if entry.old != UNMAPPED {
                    self.check_slot(entry.lpn, entry.old - 1)?;
                    on_media += 1;
                }
            }
            if weight != gather.weight() {
                return Err(format!(
                    "stream {stream} holds {weight}, counts {}",
                    gather.weight()
                ));
            }
        }
        if live != buffered {
            return Err(format!(
                "{buffered} slots mapped to the buffer, which holds {live}"
            ));
        }
        Ok(on_media)
    }

    fn check_slot(&self, lpn: u32, ppn: u32) -> Result<(), String> {
        let owner = self.map.owner(ppn);
        if owner != lpn {
            return Err(format!(
                "slot {lpn} is mapped to {ppn}, which is owned by {owner}"
            ));
        }
        if !self.map.is_valid(ppn) {
            return Err(format!("slot {lpn} is mapped to {ppn}, which is stale"));
        }
        Ok(())
    }

    /// Checks that valid counts match the valid slots, and that every valid slot is mapped.
    fn check_valid(&self, on_media: u64) -> Result<(), String> {
        let per_superblock = self.nand.geometry.slots_per_superblock;
        let mut total = 0;
        let mut live = 0;
        for superblock in 0..self.nand.geometry.superblock_count {
            let first = superblock * per_superblock;
            let (entries, slots) = self.count_valid(first, first + per_superblock);
            let counted = self.space.valid(superblock);
            if slots != counted {
                return Err(format!(
                    "superblock {superblock} has {slots} valid slots, counts {counted}"
                ));
            }
            total += u64::from(entries);
            live += u64::from(slots);
        }
        if total != on_media || live != self.map.live() {
            return Err(format!(
                "{total} entries are valid, {on_media} are mapped; {live} slots, {} counted",
                self.map.live()
            ));
        }
        Ok(())
    }

    /// Valid entries from `first` up to `last`, and the slots that they take.
    fn count_valid(&self, first: u32, last: u32) -> (u32, u32) {
        let mut entries = 0;
        let mut slots = 0;
        self.map.each_valid(first, last, |ppn| {
            entries += 1;
            slots += self.map.weight_at(ppn);
        });
        (entries, slots)
    }

    fn check_superblocks(&self) -> Result<(), String> {
        let space = &self.space;
        let mut expected = vec![State::Full; space.count() as usize];
        for superblock in space.free_ones().chain(space.free_slc_ones()) {
            expected[superblock as usize] = State::Free;
            if space.valid(superblock) != 0 {
                return Err(format!("free superblock {superblock} holds valid slots"));
            }
        }
        let frontiers = self.placement.frontiers();
        for (superblock, _) in frontiers.iter().filter_map(|f| f.open()) {
            expected[superblock as usize] = State::Open;
        }
        for superblock in self.reclaim.victims() {
            expected[superblock as usize] = State::Victim;
        }
        for superblock in 0..space.count() {
            if self.nand.is_retired(superblock) {
                expected[superblock as usize] = State::Retired;
            }
        }
        let mut states = expected.iter().zip(space.states());
        if let Some(s) = states.position(|(expected, state)| expected != state) {
            return Err(format!(
                "superblock {s} is {:?}, should be {:?}",
                space.states()[s],
                expected[s]
            ));
        }
        let full = expected
            .iter()
            .filter(|&&state| state == State::Full)
            .count();
        let candidates = space.candidate_count();
        let (slc, tree) = (space.slc_full_ones().len(), space.tree_full_ones().len());
        if full != candidates + slc + tree {
            return Err(format!(
                "{full} superblocks are full, {candidates} are candidates, {slc} in the pSLC \
                 cache, {tree} of the map"
            ));
        }
        self.check_failed()
    }

    /// Checks that data on every superblock with a failed block waits to be moved away.
    fn check_failed(&self) -> Result<(), String> {
        let Some(wear) = self.nand.wear().filter(|_| !self.levelling.has_ended()) else {
            return Ok(());
        };
        let mut full = (0..self.space.count()).filter(|&s| self.space.may_empty(s));
        match full.find(|&s| wear.has_failed(s) && !self.levelling.will_move(s)) {
            Some(s) => Err(format!(
                "data on superblock {s}, which has failed, stays there"
            )),
            None => Ok(()),
        }
    }
}
