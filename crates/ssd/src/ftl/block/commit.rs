//! Programming the map log of a block-mapped layer.

use super::{BlockFtl, SuperblockRole};
use crate::nand::{Gear, Mode, Purpose};

impl<G: Gear> BlockFtl<G> {
    /// Programs the full pages of the map journal.
    #[inline(always)]
    pub(super) fn program_due_map(&mut self, from: u64) {
        let per_page = self.map_log.changes_per_page;
        while per_page > 0 && self.map_log.pending >= per_page {
            self.map_log.pending -= per_page;
            self.program_map(from, false);
        }
    }

    /// Programs the map pages of a commit, each after the one before; returns the end.
    pub(super) fn commit(&mut self, from: u64) -> u64 {
        let mut end = from;
        for _ in 0..self.map_log.commit_programs {
            end = self.program_map(end, true);
        }
        self.map_log.pending = 0;
        if self.map_log.commit_programs == 0 {
            self.nand.remember_commit(end);
        }
        end
    }

    fn program_map(&mut self, from: u64, firm: bool) -> u64 {
        let mut frontier = std::mem::take(&mut self.map_log.frontier);
        if frontier.open().is_none() {
            let fresh = self.take_free(SuperblockRole::Map);
            if let Some(old) = self.map_log.superblock.replace(fresh) {
                self.release(old);
            }
            frontier.start(fresh, Mode::Native, &self.nand);
        }
        let place = frontier.take(&self.nand);
        frontier.close_if_full();
        self.map_log.frontier = frontier;
        let programmed = self.nand.program(from, place, Purpose::Map, firm);
        self.remember_map(place.die);
        let slots = u64::from(self.map_log.slots_per_page);
        let unit = u64::from(self.nand.geometry.slots_per_unit);
        let c = &mut self.counters;
        c.nand_programs += 1;
        c.nand_erases += u64::from(programmed.erased);
        c.slots_map += slots;
        c.slots_padding += unit - slots;
        programmed.ticket.end
    }
}
