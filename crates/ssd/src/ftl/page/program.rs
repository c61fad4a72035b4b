//! Programming a unit: old copies become stale, and the map points to the new ones.

use super::{GatherEntry, Gear, Layout, PageFtl};
use crate::nand::{Mode, Purpose, Ticket, UnitPlace};

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Programs `batch`, new data of the host or the map, as one unit and maps it.
    #[inline]
    pub(super) fn program(
        &mut self,
        from: u64,
        place: UnitPlace,
        batch: &[GatherEntry],
        purpose: Purpose,
        firm: bool,
    ) -> Ticket {
        let from = if L::FULL {
            self.keep_up(from, batch)
        } else {
            from
        };
        let programmed = self.nand.program(from, place, purpose, firm);
        self.remember_program(place, batch, false);
        let PageFtl {
            nand,
            map,
            space,
            journal,
            ..
        } = self;
        let geometry = &nand.geometry;
        let first = geometry.first_slot(place.superblock, place.row, place.die);
        journal.log_program(nand, first, batch, programmed.ticket);
        let mut ppn = first;
        if L::FULL {
            for entry in batch {
                map.invalidate(entry.old, space, geometry);
                map.set(entry.lpn, ppn + 1);
                ppn = map.own(ppn, entry);
            }
        } else {
            ppn = map.map_new(first, batch, space, geometry);
        }
        self.count_program(place, first, ppn, purpose, programmed.erased);
        programmed.ticket
    }

    /// The same for relocated data.
    #[inline(always)]
    pub(super) fn program_moved(
        &mut self,
        from: u64,
        place: UnitPlace,
        batch: &[GatherEntry],
        purpose: Purpose,
    ) -> Ticket {
        let from = if L::FULL && self.placement.map_is_apart() {
            self.keep_up_beside(from, batch);
            from
        } else if L::FULL {
            self.keep_up(from, batch)
        } else {
            from
        };
        let from = self.journal.after_meta::<G>(from, batch);
        let programmed = self.nand.program(from, place, purpose, false);
        self.remember_program(place, batch, true);
        let only_victim = self.only_victim_of(batch);
        let PageFtl {
            nand,
            map,
            space,
            buffer,
            journal,
            ..
        } = self;
        let geometry = &nand.geometry;
        let first = geometry.first_slot(place.superblock, place.row, place.die);
        journal.log_moved(nand, first, batch, programmed.ticket);
        let mut ppn = first;
        match only_victim {
            Some(victim) if !L::FULL => {
                ppn = map.map_moved(first, batch, buffer);
                space.move_out(victim, ppn - first);
            }
            _ => {
                for entry in batch {
                    map.move_out(entry.old, space, geometry);
                    let value = map.value(entry.lpn);
                    if value == entry.old {
                        map.set(entry.lpn, ppn + 1);
                    } else {
                        // Newer data waits in the buffer and will replace this copy.
                        buffer.set_old(value, entry.old, ppn + 1);
                    }
                    ppn = map.own(ppn, entry);
                }
            }
        }
        self.count_program(place, first, ppn, purpose, programmed.erased);
        programmed.ticket
    }

    /// The superblock that the whole batch comes from, if it is one, as is usual.
    #[inline(always)]
    fn only_victim_of(&self, batch: &[GatherEntry]) -> Option<u32> {
        let victim_of =
            |entry: &GatherEntry| self.nand.geometry.superblock_of(entry.old.wrapping_sub(1));
        let (first, last) = (batch.first().map(victim_of), batch.last().map(victim_of));
        first.filter(|_| first == last)
    }

    #[inline(always)]
    fn count_program(
        &mut self,
        place: UnitPlace,
        first: u32,
        last: u32,
        purpose: Purpose,
        erased: bool,
    ) {
        if !L::FULL {
            self.map.set_valid(first, last);
        }
        let unit = u64::from(self.unit_slots());
        self.map.add_live(last - first);
        self.space.add_valid(place.superblock, last - first);
        let slots = u64::from(last - first);
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
        if place.mode == Mode::Slc {
            c.slots_slc_mode += unit;
        }
    }
}
