//! The translation layer checks itself: map, reverse map, valid slots and superblocks agree.

use crate::prefetch::prefetch;

use super::{BUFFERED, Ftl, State, UNMAPPED};

impl Ftl {
    /// Walks everything and reports the first contradiction. Costs a pass over the map.
    ///
    /// # Errors
    /// A sentence naming the slot or superblock that contradicts.
    pub fn check(&self) -> Result<(), String> {
        let on_media = self.check_map()?;
        self.check_valid(on_media)?;
        self.check_superblocks()?;
        self.check_conservation()
    }

    /// Every map entry points at a valid slot that it owns; returns how many do.
    fn check_map(&self) -> Result<u64, String> {
        let mut on_media = 0;
        let mut buffered = 0;
        // Slots never written make no work: the map is looked at only as far as it was used.
        let used = self.map[..self.written_end as usize].iter().enumerate();
        let first = self.journal.first as usize;
        let journal = self.map[first..]
            .iter()
            .enumerate()
            .map(|(i, value)| (first + i, value));
        for (lpn, &value) in used.chain(journal) {
            if let Some(&ahead) = self
                .map
                .get(lpn + 32)
                .filter(|&&a| a != UNMAPPED && a < BUFFERED)
            {
                prefetch(&self.owner, ahead as usize - 1);
            }
            if value == UNMAPPED {
                continue;
            }
            if value < BUFFERED {
                self.check_slot(lpn as u32, value - 1)?;
                on_media += 1;
            } else {
                buffered += 1;
            }
        }
        let mut live = 0;
        for (index, entry) in self.ring.iter() {
            live += 1;
            if self.map[entry.lpn as usize] != BUFFERED + index {
                return Err(format!(
                    "buffer entry {index} (slot {}) is not in the map",
                    entry.lpn
                ));
            }
            if entry.old != UNMAPPED {
                self.check_slot(entry.lpn, entry.old - 1)?;
                on_media += 1;
            }
        }
        if live != buffered || live != u64::from(self.ring.live()) {
            return Err(format!(
                "{buffered} slots mapped to the buffer, which holds {live}"
            ));
        }
        Ok(on_media)
    }

    fn check_slot(&self, lpn: u32, ppn: u32) -> Result<(), String> {
        if self.owner[ppn as usize] != lpn {
            let owner = self.owner[ppn as usize];
            return Err(format!(
                "slot {lpn} maps to {ppn}, which belongs to {owner}"
            ));
        }
        if !self.is_valid(ppn) {
            return Err(format!("slot {lpn} maps to {ppn}, which is not valid"));
        }
        Ok(())
    }

    fn check_valid(&self, on_media: u64) -> Result<(), String> {
        let per_superblock = self.nand.geometry.slots_per_superblock;
        let mut total = 0;
        for (superblock, &counted) in self.valid_count.iter().enumerate() {
            let first = superblock as u32 * per_superblock;
            let valid = self.count_valid(first, first + per_superblock);
            if valid != counted {
                return Err(format!(
                    "superblock {superblock}: {valid} valid, counted {counted}"
                ));
            }
            total += u64::from(valid);
        }
        if total != on_media {
            return Err(format!("{total} slots are valid, {on_media} are mapped"));
        }
        Ok(())
    }

    /// Valid slots from `first` up to `last`, a word at a time.
    fn count_valid(&self, first: u32, last: u32) -> u32 {
        let word = |ppn: u32| ppn as usize / 64;
        let below = |ppn: u32| (1_u64 << (ppn % 64)) - 1;
        if word(first) == word(last) {
            return (self.valid[word(first)] & below(last) & !below(first)).count_ones();
        }
        let head = (self.valid[word(first)] & !below(first)).count_ones();
        let middle = &self.valid[word(first) + 1..word(last)];
        let whole: u32 = middle.iter().map(|bits| bits.count_ones()).sum();
        let tail = self
            .valid
            .get(word(last))
            .map_or(0, |bits| (bits & below(last)).count_ones());
        head + whole + tail
    }

    fn check_superblocks(&self) -> Result<(), String> {
        let mut expected = vec![State::Full; self.state.len()];
        for &superblock in self.free.iter().chain(&self.free_slc) {
            expected[superblock as usize] = State::Free;
            if self.valid_count[superblock as usize] != 0 {
                return Err(format!("free superblock {superblock} holds valid slots"));
            }
        }
        let host = self
            .host_slc
            .open()
            .into_iter()
            .chain(self.host_native.open());
        let open = host.chain(self.relocation.open());
        for (superblock, _) in open {
            expected[superblock as usize] = State::Open;
        }
        for superblock in self.reclaim.victims().chain(self.fold.victims()) {
            expected[superblock as usize] = State::Victim;
        }
        match (0..expected.len()).find(|&s| expected[s] != self.state[s]) {
            None => Ok(()),
            Some(s) => Err(format!(
                "superblock {s} is {:?}, should be {:?}",
                self.state[s], expected[s]
            )),
        }
    }

    /// Page conservation: every slot programmed is accounted to a purpose.
    fn check_conservation(&self) -> Result<(), String> {
        let c = &self.counters;
        let unit = u64::from(self.nand.geometry.slots_per_unit);
        if c.slots_programmed() != c.nand_programs * unit {
            return Err(format!(
                "{} slots programmed in {} units of {unit}",
                c.slots_programmed(),
                c.nand_programs
            ));
        }
        Ok(())
    }
}
