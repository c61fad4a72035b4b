//! Programming a unit: old copies become stale, and the map points to the new ones.
//!
//! Both gears spend most of their time here, so a lean drive has loops of its own.

use super::{BUFFERED, Entry, Gear, Layout, PageFtl, UNMAPPED};
use crate::ftl::candidates::NOT;
use crate::nand::{Mode, Purpose, Ticket, UnitPlace};

/// Marks the slot at `ppn` stale.
#[inline(always)]
pub(super) fn clear(valid: &mut [u64], ppn: u32) {
    let word = &mut valid[ppn as usize / 64];
    let left = *word & !(1 << (ppn % 64));
    if left == *word {
        stale_twice(ppn);
    }
    *word = left;
}

/// A separate function with a by-value argument, so that the loops keep their counters in
/// registers.
#[cold]
fn stale_twice(ppn: u32) -> ! {
    panic!("slot {ppn} made stale twice");
}

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Marks the copy behind a map value stale, outside of movers.
    #[inline(always)]
    pub(super) fn invalidate(&mut self, value: u32) {
        if value != UNMAPPED {
            let left = self.leave(value - 1);
            self.epoch += u64::from(left & NOT != 0);
        }
    }

    /// Marks a slot stale. Returns the remaining valid count of its superblock, with [`NOT`] if
    /// that is not a candidate.
    #[inline(always)]
    fn leave(&mut self, ppn: u32) -> u32 {
        clear(&mut self.valid, ppn);
        let weight = self.weight_at(ppn);
        self.live -= u64::from(weight);
        let superblock = self.nand.geometry.superblock_of(ppn);
        self.candidates.remove_valid(superblock, weight)
    }

    /// Programs `batch`, new data of the host or the map, as one unit and maps it.
    #[inline]
    pub(super) fn program(
        &mut self,
        from: u64,
        at: UnitPlace,
        batch: &[Entry],
        purpose: Purpose,
        firm: bool,
    ) -> Ticket {
        let from = if L::FULL {
            self.keep_up(from, batch)
        } else {
            from
        };
        let done = self.nand.program(from, at, purpose, firm);
        self.remember_program(at, batch, false);
        let first = self.nand.geometry.first_slot(at.superblock, at.row, at.die);
        self.log_program(first, batch, done.ticket);
        let mut ppn = first;
        if L::FULL {
            for entry in batch {
                self.invalidate(entry.old);
                self.set_map(entry.lpn, ppn + 1);
                ppn = self.own(ppn, entry);
            }
        } else {
            ppn = self.map_new(first, batch);
        }
        self.count_program(at, first, ppn, purpose, done.erased);
        done.ticket
    }

    /// Maps new data to the slots from `first` on; returns the slot after the last.
    #[inline(always)]
    pub(super) fn map_new(&mut self, first: u32, batch: &[Entry]) -> u32 {
        let geometry = &self.nand.geometry;
        let (map, valid) = (&mut self.map[..], &mut self.valid[..]);
        let owners = &mut self.owner[first as usize..][..batch.len()];
        let (mut stale, mut left) = (0, 0);
        let mut ppn = first;
        for (entry, owner) in batch.iter().zip(owners) {
            if entry.old != UNMAPPED {
                let old = entry.old - 1;
                clear(valid, old);
                let superblock = geometry.superblock_of(old);
                left |= self.candidates.remove_valid(superblock, 1);
                stale += 1;
            }
            ppn += 1;
            map[entry.lpn as usize] = ppn;
            *owner = entry.lpn;
        }
        self.live -= stale;
        self.epoch += u64::from(left & NOT != 0);
        ppn
    }

    /// The same for relocated data.
    #[inline(always)]
    pub(super) fn program_moved(
        &mut self,
        from: u64,
        at: UnitPlace,
        batch: &[Entry],
        purpose: Purpose,
    ) -> Ticket {
        let from = if L::FULL && self.rules.map_apart {
            self.keep_up_beside(from, batch);
            from
        } else if L::FULL {
            self.keep_up(from, batch)
        } else {
            from
        };
        let from = self.after_meta(from, batch);
        let done = self.nand.program(from, at, purpose, false);
        self.remember_program(at, batch, true);
        let first = self.nand.geometry.first_slot(at.superblock, at.row, at.die);
        self.log_moved(first, batch, done.ticket);
        let mut ppn = first;
        match self.only_victim_of(batch) {
            Some(victim) if !L::FULL => ppn = self.map_moved(first, batch, victim),
            _ => {
                for entry in batch {
                    self.leave(entry.old - 1);
                    let value = self.map[entry.lpn as usize];
                    if value == entry.old {
                        self.set_map(entry.lpn, ppn + 1);
                    } else {
                        // Newer data waits in the buffer and will replace this copy.
                        let (stream, index) = self.gathered(value);
                        self.gathers[stream].set_old(index, entry.old, ppn + 1);
                    }
                    ppn = self.own(ppn, entry);
                }
            }
        }
        self.count_program(at, first, ppn, purpose, done.erased);
        done.ticket
    }

    /// The superblock that the whole batch comes from, if it is one, as is usual.
    #[inline(always)]
    fn only_victim_of(&self, batch: &[Entry]) -> Option<u32> {
        let victim_of = |entry: &Entry| self.nand.geometry.superblock_of(entry.old.wrapping_sub(1));
        let (first, last) = (batch.first().map(victim_of), batch.last().map(victim_of));
        first.filter(|_| first == last)
    }

    /// Maps data of one victim to the slots from `first` on; returns the slot after the last.
    #[inline(always)]
    fn map_moved(&mut self, first: u32, batch: &[Entry], victim: u32) -> u32 {
        let (shift, mask) = (self.gather_shift, (1 << self.gather_shift) - 1);
        let (map, valid) = (&mut self.map[..], &mut self.valid[..]);
        let owners = &mut self.owner[first as usize..][..batch.len()];
        let mut ppn = first;
        for (entry, owner) in batch.iter().zip(owners) {
            ppn += 1;
            clear(valid, entry.old - 1);
            *owner = entry.lpn;
            let value = &mut map[entry.lpn as usize];
            if *value == entry.old {
                *value = ppn;
            } else {
                let position = *value - BUFFERED;
                let gather = &mut self.gathers[(position >> shift) as usize];
                gather.set_old(position & mask, entry.old, ppn);
            }
        }
        let slots = batch.len() as u32;
        self.live -= u64::from(slots);
        self.candidates.remove_valid(victim, slots);
        first + slots
    }

    /// Makes the entry the owner of the slot at `ppn`; returns the slot after it.
    #[inline(always)]
    fn own(&mut self, ppn: u32, entry: &Entry) -> u32 {
        self.owner[ppn as usize] = entry.lpn;
        if !L::FULL {
            return ppn + 1;
        }
        self.valid[ppn as usize / 64] |= 1 << (ppn % 64);
        if self.rules.pack > 1 {
            self.weight[ppn as usize] = entry.weight as u8;
        }
        ppn + entry.weight
    }

    /// Marks the slots from `first` up to `last` valid.
    #[inline(always)]
    pub(super) fn set_valid(&mut self, first: u32, last: u32) {
        let mut ppn = first;
        while ppn < last {
            let until = last.min((ppn / 64 + 1) * 64);
            let bits = u64::MAX >> (64 - (until - ppn));
            self.valid[ppn as usize / 64] |= bits << (ppn % 64);
            ppn = until;
        }
    }

    #[inline(always)]
    fn count_program(
        &mut self,
        at: UnitPlace,
        first: u32,
        last: u32,
        purpose: Purpose,
        erased: bool,
    ) {
        if !L::FULL {
            self.set_valid(first, last);
        }
        let unit = u64::from(self.unit_slots());
        let slots = u64::from(last - first);
        self.live += slots;
        self.candidates.add_valid(at.superblock, last - first);
        let c = &mut self.counters;
        c.nand_programs += 1;
        c.nand_erases += u64::from(erased);
        let padding = unit - slots;
        match purpose {
            Purpose::Host => c.slots_host += slots,
            Purpose::Map => c.slots_map += slots,
            Purpose::Relocation => c.slots_relocated += slots,
            Purpose::Fold => c.slots_folded += slots,
            Purpose::Refresh => c.slots_refreshed += slots,
            Purpose::Parity => c.slots_parity += unit,
        }
        if purpose != Purpose::Parity {
            c.slots_padding += padding;
        }
        if at.mode == Mode::Slc {
            c.slots_slc_mode += unit;
        }
    }
}
