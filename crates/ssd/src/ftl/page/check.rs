//! Self-check of the page-mapped layer: map, reverse map, valid slots and superblocks agree.

use super::{BUFFERED, Gear, Layout, PageFtl, State, UNMAPPED};
use crate::caches::prefetch;

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
        let used = (0..self.written_end).chain(self.user_slots..self.map.len() as u32);
        for lpn in used {
            if let Some(&ahead) = self.map.get(lpn as usize + 32) {
                prefetch(&self.owner, (ahead as usize).wrapping_sub(1));
            }
            let value = self.map[lpn as usize];
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
        for (stream, gather) in self.gathers.iter().enumerate() {
            let mut weight = 0;
            for (index, entry) in gather.iter() {
                live += 1;
                weight += entry.weight;
                if self.gathered(self.map[entry.lpn as usize].max(BUFFERED)) != (stream, index) {
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
        if self.owner[ppn as usize] != lpn {
            return Err(format!(
                "slot {lpn} is mapped to {ppn}, which is owned by {}",
                self.owner[ppn as usize]
            ));
        }
        if !self.is_valid(ppn) {
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
            let counted = self.candidates.valid(superblock);
            if slots != counted {
                return Err(format!(
                    "superblock {superblock} has {slots} valid slots, counts {counted}"
                ));
            }
            total += u64::from(entries);
            live += u64::from(slots);
        }
        if total != on_media || live != self.live {
            return Err(format!(
                "{total} entries are valid, {on_media} are mapped; {live} slots, {} counted",
                self.live
            ));
        }
        Ok(())
    }

    /// Valid entries from `first` up to `last`, and the slots that they take.
    fn count_valid(&self, first: u32, last: u32) -> (u32, u32) {
        let mut entries = 0;
        let mut slots = 0;
        let mut ppn = first;
        while ppn < last {
            let until = last.min((ppn / 64 + 1) * 64);
            let mut bits = self.valid[ppn as usize / 64] >> (ppn % 64);
            if until - ppn < 64 {
                bits &= (1 << (until - ppn)) - 1;
            }
            entries += bits.count_ones();
            if self.weight.is_empty() {
                slots += bits.count_ones();
            } else {
                while bits != 0 {
                    slots += self.weight_at(ppn + bits.trailing_zeros());
                    bits &= bits - 1;
                }
            }
            ppn = until;
        }
        (entries, slots)
    }

    fn check_superblocks(&self) -> Result<(), String> {
        let mut expected = vec![State::Full; self.state.len()];
        for &superblock in self.free.iter().chain(&self.free_slc) {
            expected[superblock as usize] = State::Free;
            if self.candidates.valid(superblock) != 0 {
                return Err(format!("free superblock {superblock} holds valid slots"));
            }
        }
        for (superblock, _) in self.frontiers.iter().filter_map(|f| f.open()) {
            expected[superblock as usize] = State::Open;
        }
        for superblock in self.movers.iter().flat_map(|mover| mover.victims()) {
            expected[superblock as usize] = State::Victim;
        }
        for superblock in 0..self.nand.geometry.superblock_count {
            if self.nand.is_retired(superblock) {
                expected[superblock as usize] = State::Retired;
            }
        }
        let wrong = (0..expected.len()).find(|&s| expected[s] != self.state[s]);
        if let Some(s) = wrong {
            return Err(format!(
                "superblock {s} is {:?}, should be {:?}",
                self.state[s], expected[s]
            ));
        }
        let full = expected
            .iter()
            .filter(|&&state| state == State::Full)
            .count();
        let (slc, tree) = (self.slc_full.len(), self.map_full.len());
        if full != self.candidates.count() + slc + tree {
            return Err(format!(
                "{full} superblocks are full, {} are candidates, {slc} in the pSLC cache, {tree} \
                 of the map",
                self.candidates.count(),
            ));
        }
        Ok(())
    }
}
