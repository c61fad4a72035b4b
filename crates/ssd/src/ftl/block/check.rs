//! Self-check of the block-mapped layer: every slot lies where the rules allow, and all counts
//! agree.

use super::{BUFFERED, BlockFtl, Gear, NONE, SuperblockRole, UNMAPPED};

impl<G: Gear> BlockFtl<G> {
    /// Checks everything and reports the first contradiction. Takes a pass over the table.
    pub(super) fn check_all(&self) -> Result<(), String> {
        let mut valid = vec![0; self.valid.len()];
        self.check_table(&mut valid)?;
        self.check_buffer()?;
        if let Some(s) = (0..valid.len()).find(|&s| valid[s] != self.valid[s]) {
            return Err(format!(
                "superblock {s} has {} valid slots, counts {}",
                valid[s], self.valid[s]
            ));
        }
        self.check_roles()?;
        let unit = self.nand.geometry.slots_per_unit;
        self.counters.check_conservation(unit)
    }

    fn check_table(&self, valid: &mut [u32]) -> Result<(), String> {
        for lpn in 0..self.user_slots() {
            if lpn >= self.written_end && self.table[lpn as usize] != UNMAPPED {
                return Err(format!("slot {lpn} is mapped but was never written"));
            }
            let Some(ppn) = self.copy_on_media(lpn).checked_sub(1) else {
                continue;
            };
            let place = self.nand.geometry.place(ppn);
            valid[place.superblock as usize] += 1;
            if place.row >= self.nand.next_row(place.superblock, place.die) {
                return Err(format!("slot {lpn} at {ppn} was never programmed"));
            }
            let slot = ppn - place.superblock * self.nand.geometry.slots_per_superblock;
            let own = self.is_in_place(lpn, place.superblock, place.unit, slot);
            if !own {
                return Err(format!(
                    "slot {lpn} lies at slot {slot} of superblock {}, not in its place",
                    place.superblock
                ));
            }
        }
        Ok(())
    }

    fn check_buffer(&self) -> Result<(), String> {
        let mut live = 0;
        for (index, entry) in self.gather.iter() {
            live += 1;
            if self.table[entry.lpn as usize] != BUFFERED + index {
                return Err(format!(
                    "buffer entry {index} (slot {}) is not in the table",
                    entry.lpn
                ));
            }
        }
        let mapped = self
            .table
            .iter()
            .filter(|&&value| value >= BUFFERED)
            .count();
        if mapped != live || live as u32 > self.gather_slots {
            return Err(format!(
                "{mapped} slots mapped to the buffer, which holds {live} of at most {}",
                self.gather_slots
            ));
        }
        Ok(())
    }

    /// Checks that each superblock has one role.
    fn check_roles(&self) -> Result<(), String> {
        let homes = self.home.iter().copied().filter(|&home| home != NONE);
        let old = self.rewrite.map(|rewrite| rewrite.old);
        let uses = (self.free.iter().map(|&s| (s, SuperblockRole::Free)))
            .chain(homes.chain(old).map(|s| (s, SuperblockRole::Data)))
            .chain(self.map_log.superblock.map(|s| (s, SuperblockRole::Map)));
        let mut uses_of = vec![0; self.role.len()];
        for (superblock, role) in uses {
            uses_of[superblock as usize] += 1;
            if self.role[superblock as usize] != role {
                return Err(format!(
                    "superblock {superblock} is {:?}, should be {role:?}",
                    self.role[superblock as usize]
                ));
            }
        }
        if let Some(s) = uses_of.iter().position(|&times| times != 1) {
            return Err(format!("superblock {s} is used {} times", uses_of[s]));
        }
        let idle = |s: u32, role: SuperblockRole| {
            role == SuperblockRole::Data && self.valid[s as usize] == 0
        };
        for (s, &role) in (0..).zip(&self.role) {
            let moving = self
                .rewrite
                .is_some_and(|r| self.home[r.segment as usize] == s);
            if idle(s, role) && !moving {
                return Err(format!("superblock {s} is a home that holds nothing"));
            }
        }
        Ok(())
    }
}

impl<G: Gear> BlockFtl<G> {
    /// Whether a slot lies at its own offset in its segment's home, or in the old one if an open
    /// rewrite has not reached it.
    fn is_in_place(&self, lpn: u32, superblock: u32, unit: u32, slot: u32) -> bool {
        let segment = self.target(lpn).segment;
        if slot != lpn - segment * self.nand.geometry.slots_per_superblock {
            return false;
        }
        let moving = self.rewrite.filter(|rewrite| rewrite.segment == segment);
        self.home[segment as usize] == superblock
            || moving.is_some_and(|r| r.old == superblock && unit >= r.next)
    }
}
