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

use super::mover::Which;
use super::{Entry, Gear, Hint, Layout, Pace, PageFtl, UNMAPPED};
use crate::config::policy::Separation;
use crate::nand::Mode;
use std::ops::Range;

/// Frontier of the only stream of host data.
const HOST: usize = 1;

/// Fills with `first`, `first + 1` and so on, vectorised.
#[inline]
fn count_up(list: &mut [u32], first: u32) {
    for (index, entry) in list.iter_mut().enumerate() {
        *entry = first + index as u32;
    }
}

/// Number of leading entries of `list` that count up from `first`: mostly all.
#[inline]
fn in_order(list: &[u32], first: u32) -> u32 {
    let expected = |index: usize| first.wrapping_add(index as u32);
    let each = list.iter().enumerate();
    let differ = each.fold(0, |differ, (index, found)| {
        differ | (found ^ expected(index))
    });
    if differ == 0 {
        return list.len() as u32;
    }
    let same = list.iter().enumerate();
    same.take_while(|(index, found)| **found == expected(*index))
        .count() as u32
}

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Whether the configuration allows placing whole rows.
    #[inline]
    pub(super) fn rows_are_possible(&self) -> bool {
        let r = &self.rules;
        let unit = self.nand.geometry.slots_per_unit;
        !G::TIMED
            && !L::FULL
            && r.pace == Pace::Spread
            && r.separation == Separation::Single
            && r.streams == 1
            && !r.shared
            && r.knows_unused()
            && r.slc.superblocks == 0
            && r.slc.dynamic_above_free == 0
            && r.gather_slots == unit
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
        if !self.gathers[0].holds_exactly(first..next) {
            return next;
        }
        for (_, entry) in self.gathers[0].iter() {
            self.map[entry.lpn as usize] = entry.old;
        }
        self.gathers[0].clear();
        let mut at = first;
        while end - at >= row + unit && self.may_place_row() {
            self.place_row(at..at + row);
            at += row;
        }
        // The next unit to be placed returns to the buffer.
        for lpn in at..at + unit {
            let old = self.map[lpn as usize];
            let index = self.gathers[0].push(Entry {
                lpn,
                old,
                weight: 1,
            });
            self.map[lpn as usize] = super::BUFFERED + index;
        }
        self.host_slots += u64::from(at - first);
        self.written_end = self.written_end.max(at + unit);
        at + unit
    }

    /// Whether the next row can be placed without any other work.
    fn may_place_row(&mut self) -> bool {
        let Some((superblock, row)) = self.frontiers[HOST].whole_row(&self.nand) else {
            return false;
        };
        let dies = self.nand.geometry.die_count;
        // Parity on the last die is programmed only with the next unit, not with the row.
        if self.rules.parity && row % dies == dies - 1 {
            return false;
        }
        let journal = &self.journal;
        let quiet = journal.entries_per_page == 0
            || journal.pending.saturating_add(self.row_slots()) < journal.entries_per_page;
        let fails = self
            .nand
            .wear()
            .is_some_and(|wear| wear.will_fail(superblock));
        if !quiet || fails || self.upkeep.is_due() || self.wear_work_is_due() {
            return false;
        }
        !self.needs_reclaim() || self.can_look(dies)
    }

    /// Whether the next `units` units of reclaim's victim hold no valid data.
    fn can_look(&self, units: u32) -> bool {
        let unit = i64::from(self.unit_slots());
        let mover = &self.movers[Which::Reclaim as usize];
        let Some(victim) = mover.looking_only() else {
            return false;
        };
        let left = self.units_of(self.mode[victim as usize]) - mover.unit;
        (0..unit).contains(&self.credits) && left > units && self.candidates.valid(victim) == 0
    }

    /// Places one row, which `lpns` fill exactly.
    fn place_row(&mut self, lpns: Range<u32>) {
        let Some((superblock, row)) = self.frontiers[HOST].whole_row(&self.nand) else {
            return;
        };
        let (dies, unit) = (self.nand.geometry.die_count, self.unit_slots());
        if self.needs_reclaim() {
            // Scanning one unit earns the credits that placing one costs.
            self.movers[Which::Reclaim as usize].unit += dies;
        }
        self.invalidate_run(lpns.clone());
        let begin = self.nand.geometry.first_slot(superblock, row, 0);
        let slots = lpns.len() as u32;
        if self.rules.parity {
            let before = row % dies * unit;
            self.own_run(lpns.start..lpns.start + before, begin);
            self.own_run(lpns.start + before..lpns.end, begin + before + unit);
        } else {
            self.own_run(lpns.clone(), begin);
        }
        let erased = self.nand.program_row(superblock, row, Mode::Native);
        self.frontiers[HOST].take_row(dies);
        self.epoch += u64::from(dies);
        self.live += u64::from(slots);
        self.candidates.add_valid(superblock, slots);
        self.journal_change(slots);
        let c = &mut self.counters;
        c.nand_programs += u64::from(dies);
        c.nand_erases += u64::from(erased);
        c.slots_host += u64::from(slots);
        if self.rules.parity {
            c.slots_parity += u64::from(unit);
        }
        self.close_if_full(HOST);
    }

    /// Invalidates the copies on media of a run of mapping units.
    fn invalidate_run(&mut self, lpns: Range<u32>) {
        let mut at = lpns.start;
        while at < lpns.end {
            let value = self.map[at as usize];
            if value == UNMAPPED {
                at += 1;
                continue;
            }
            let superblock = self.nand.geometry.superblock_of(value - 1);
            let limit = (superblock + 1) * self.nand.geometry.slots_per_superblock;
            let most = (lpns.end - at).min(limit - (value - 1));
            let run = &self.map[at as usize..(at + most) as usize];
            let length = in_order(run, value);
            self.clear_valid(value - 1, value - 1 + length);
            self.live -= u64::from(length);
            self.candidates.remove_valid(superblock, length);
            at += length;
        }
    }

    fn clear_valid(&mut self, first: u32, last: u32) {
        let mut ppn = first;
        while ppn < last {
            let until = last.min((ppn / 64 + 1) * 64);
            let bits = (u64::MAX >> (64 - (until - ppn))) << (ppn % 64);
            let word = &mut self.valid[ppn as usize / 64];
            assert!(
                *word & bits == bits,
                "a slot in {ppn}..{until} invalidated twice"
            );
            *word &= !bits;
            ppn = until;
        }
    }

    /// Makes `lpns` the owners of the slots from `ppn` on.
    fn own_run(&mut self, lpns: Range<u32>, ppn: u32) {
        let length = lpns.len() as u32;
        let map = &mut self.map[lpns.start as usize..lpns.end as usize];
        count_up(map, ppn + 1);
        let owner = &mut self.owner[ppn as usize..(ppn + length) as usize];
        count_up(owner, lpns.start);
        self.set_valid(ppn, ppn + length);
    }
}
