//! Whole rows at a time, in the counting gear: the same map, counters and wear as slot by slot, for
//! long runs of sequential writes. It simulates lives of hundreds of terabytes within minutes.
//!
//! A row is placed this way only when nothing else could happen slot by slot: no pSLC cache, one
//! stream, nothing held back, no journal or map page due, no failing program, no wear work, and
//! reclaim either not needed or scanning units of a victim without valid data. The slot-by-slot
//! path does everything else, and the tests compare the two.
//!
//! ```text
//! buffer: one unit, lpns n-U .. n      run: n .. end
//!         \______________ rows ______________/ \_ U stay _/
//! ```

use super::mover::MoverKind;
use super::{GatherEntry, Gear, Hint, Layout, PageFtl};
use crate::config::Pace;
use crate::nand::Mode;
use std::ops::Range;

/// Frontier of the only stream of host data.
const HOST: usize = 1;

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Whether the configuration allows placing whole rows.
    #[inline]
    pub(super) fn rows_are_possible(&self) -> bool {
        let r = &self.rules;
        !G::TIMED
            && !L::FULL
            && self.reclaim.pace() == Pace::Spread
            && self.placement.is_plain()
            && self.reclaim.knows_unused()
            && r.slc.static_superblocks() == 0
            && r.slc.dynamic_above_free == 0
            && r.gather_slots == self.unit_slots()
    }

    /// Takes in a run of mapping units.
    pub(super) fn take_run(&mut self, from: u64, lpns: Range<u32>, hint: Hint) {
        let possible = self.rows_are_possible();
        let mut next = lpns.start;
        while next < lpns.end {
            if possible {
                next = self.place_rows(next, lpns.end);
            }
            if next < lpns.end {
                self.take_in(from, next, hint);
                next += 1;
            }
        }
    }

    /// Data slots of a row.
    fn row_slots(&self) -> u32 {
        let dies = self.nand.geometry.die_count;
        (dies - u32::from(self.rules.parity)) * self.unit_slots()
    }

    /// Places rows of the buffered unit and the run after it, up to `end`; returns where it
    /// stopped. The last unit stays in the buffer.
    fn place_rows(&mut self, next: u32, end: u32) -> u32 {
        let (unit, row) = (self.unit_slots(), self.row_slots());
        if next < unit || end - next < row || !self.may_place_row() {
            return next;
        }
        let first = next - unit;
        if !self.buffer.gather(0).holds_exactly(first..next) {
            return next;
        }
        for (_, entry) in self.buffer.gather(0).iter() {
            self.map.set(entry.lpn, entry.old);
        }
        self.buffer.gather_mut(0).clear();
        let mut lpn = first;
        while end - lpn >= row + unit && self.may_place_row() {
            self.place_row(lpn..lpn + row);
            lpn += row;
        }
        self.placement.count_host_slots(u64::from(lpn - first));
        // The next unit to be placed returns to the buffer.
        for lpn in lpn..lpn + unit {
            let old = self.map.value(lpn);
            let entry = GatherEntry {
                lpn,
                old,
                weight: 1,
            };
            let value = self.buffer.push(0, entry);
            self.map.set(lpn, value);
        }
        self.map.note_written(lpn + unit);
        lpn + unit
    }

    /// Whether the next row can be placed without any other work.
    fn may_place_row(&mut self) -> bool {
        let Some((superblock, row)) = self.placement.frontiers()[HOST].whole_row(&self.nand) else {
            return false;
        };
        let dies = self.nand.geometry.die_count;
        // Parity on the last die is programmed only with the next unit, not with the row.
        if self.rules.parity && row % dies == dies - 1 {
            return false;
        }
        let fails = self
            .nand
            .wear()
            .is_some_and(|wear| wear.will_fail(superblock));
        let journal_is_due = self.journal.will_be_due(self.row_slots());
        if journal_is_due || fails || self.map.upkeep().is_due() || self.wear_work_is_due() {
            return false;
        }
        !self.needs_reclaim() || self.can_scan_empty(dies)
    }

    /// Whether the next `units` units of reclaim's victim hold no valid data.
    fn can_scan_empty(&self, units: u32) -> bool {
        let unit = i64::from(self.unit_slots());
        let mover = self.reclaim.mover(MoverKind::Reclaim);
        let Some(victim) = mover.scanning_only() else {
            return false;
        };
        let unscanned = self.units_of(self.space.mode(victim)) - mover.unit;
        (0..unit).contains(&self.reclaim.credits())
            && unscanned > units
            && self.space.valid(victim) == 0
    }

    /// Places one row, which `lpns` fill exactly.
    fn place_row(&mut self, lpns: Range<u32>) {
        let Some((superblock, row)) = self.placement.frontiers()[HOST].whole_row(&self.nand) else {
            return;
        };
        let (dies, unit) = (self.nand.geometry.die_count, self.unit_slots());
        if self.needs_reclaim() {
            // Scanning one unit earns the credits that placing one costs.
            self.reclaim.mover_mut(MoverKind::Reclaim).unit += dies;
        }
        let PageFtl {
            nand, map, space, ..
        } = self;
        map.invalidate_run(lpns.clone(), space, &nand.geometry);
        let begin = nand.geometry.first_slot(superblock, row, 0);
        let slots = lpns.len() as u32;
        if self.rules.parity {
            let before = row % dies * unit;
            map.own_run(lpns.start..lpns.start + before, begin);
            map.own_run(lpns.start + before..lpns.end, begin + before + unit);
        } else {
            map.own_run(lpns, begin);
        }
        map.add_live(slots);
        let erased = nand.program_row(superblock, row, Mode::Native);
        self.placement.frontier_mut(HOST).take_row(dies);
        space.add_epochs(dies);
        space.add_valid(superblock, slots);
        self.journal.change(slots);
        let c = &mut self.counters;
        c.nand_programs += u64::from(dies);
        c.nand_erases += u64::from(erased);
        c.slots_host += u64::from(slots);
        if self.rules.parity {
            c.slots_parity += u64::from(unit);
        }
        self.close_if_full(HOST);
    }
}
