//! Merging: a scattered range of logical slots is rewritten in order, so that its extents become
//! one.
//!
//! The slots are read, then programmed one after another at a frontier that only merges use. They
//! pay for their units as other moved data does. A short gap without data is programmed too, as
//! blank slots, because a gap costs an extent. Slots in the write buffer stay there: their copies
//! on media are about to become stale.
//!
//! Each slot keeps its old copy until the new one is programmed, so a cut inside a merge leaves
//! some slots in their new and some in their old places, all with the same content. Recovery may
//! then find more extents than the budget allows; the next write merges.

use super::{BUFFERED, Entry, Gear, Layout, PageFtl, UNMAPPED};
use crate::nand::{Mode, Purpose, UnitPlace};

/// Longest gap, in slots, that a merge fills unless it must.
const SHORT_GAP: u32 = 16;
/// Ranges looked at before a merge fills gaps of any length.
const LOOKS: u32 = 64;
/// Times round all ranges after which a merge for a write gives up, because blocks fail.
const ROUNDS: u32 = 2;

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Merges until the map has room for a change of `slots` logical slots.
    #[inline(always)]
    pub(super) fn make_map_room(&mut self, from: u64, slots: u32) {
        if L::FULL && self.extents.is_full_for(slots) {
            self.merge_for(from, slots);
        }
    }

    #[cold]
    fn merge_for(&mut self, from: u64, slots: u32) {
        for _ in 0..ROUNDS * self.extents.ranges() {
            if !self.extents.is_full_for(slots) || self.merge_next(from).is_none() {
                break;
            }
        }
        self.extents.merged();
    }

    /// Merges the next range; `None` if none would become smaller.
    pub(super) fn merge_next(&mut self, from: u64) -> Option<u64> {
        let ranges = self.extents.ranges();
        for (gap, looks) in [(SHORT_GAP, LOOKS.min(ranges)), (u32::MAX, ranges)] {
            for _ in 0..looks {
                let range = self.extents.next_range()?;
                if self.plan_merge(range, gap) {
                    return Some(self.merge(from));
                }
            }
        }
        None
    }

    /// Lists the slots of a range to rewrite, gaps of up to `longest` slots included; whether it
    /// will have fewer extents.
    fn plan_merge(&mut self, range: u32, longest: u32) -> bool {
        let plan = &mut self.merging;
        plan.clear();
        let (mut gap, mut extents, mut joins) = (0, 0, false);
        for lpn in self.extents.slots_of(range) {
            let value = self.map[lpn as usize];
            if value == UNMAPPED {
                gap += 1;
                continue;
            }
            let moves = value < BUFFERED;
            if joins && moves && gap <= longest {
                plan.extend(lpn - gap..lpn);
            } else {
                extents += 1;
            }
            if moves {
                plan.push(lpn);
            }
            (gap, joins) = (0, moves);
        }
        extents < self.extents.count(range)
    }

    /// Rewrites the planned slots; returns the end.
    fn merge(&mut self, from: u64) -> u64 {
        let plan = std::mem::take(&mut self.merging);
        let ready = self.read_for_merge(from, &plan);
        let mut end = ready;
        let frontier = self.map_frontier();
        for lpns in plan.chunks(self.unit_slots() as usize) {
            self.pay_for_move(from);
            let at = self.take_merge_unit(ready, frontier);
            let mut batch = std::mem::take(&mut self.batch);
            // Paying may have moved them.
            batch.extend(lpns.iter().map(|&lpn| Entry {
                lpn,
                old: self.map[lpn as usize],
                weight: 1,
            }));
            let ticket = self.program_moved(ready, at, &batch, Purpose::Map);
            end = end.max(ticket.end);
            self.counters.slots_map -= batch.len() as u64;
            self.counters.slots_merged += batch.len() as u64;
            batch.clear();
            self.batch = batch;
            self.close_if_full(frontier);
        }
        // The extents of a range are one entry of the journal.
        self.journal_change(1);
        self.counters.merges += 1;
        self.merging = plan;
        end
    }

    /// Reads the slots that have data, each unit once.
    fn read_for_merge(&mut self, from: u64, plan: &[u32]) -> u64 {
        let value = |lpn: &u32| self.map[*lpn as usize].checked_sub(1);
        let mut places: Vec<u32> = plan.iter().filter_map(value).collect();
        places.sort_unstable();
        let unit = self.unit_slots();
        let mut end = from;
        for slots in places.chunk_by(|one, other| one / unit == other / unit) {
            let count = slots.len() as u32;
            end = end.max(self.read_media(from, slots[0], count, Purpose::Map));
        }
        end
    }

    fn take_merge_unit(&mut self, from: u64, frontier: usize) -> UnitPlace {
        loop {
            if self.frontiers[frontier].open().is_none() {
                self.open(frontier, Mode::Native);
            }
            let at = self.frontiers[frontier].take(&self.nand);
            if !self.nand.program_fails(at) {
                return at;
            }
            self.program(from, at, &[], Purpose::Map, false);
            self.close_if_full(frontier);
            self.pay_for_move(from);
        }
    }
}
