//! Programming units in their place, and moving segments.

use super::{BUFFERED, BlockFtl, BookedUnit, NONE, Rewrite, SegmentUnit, SuperblockRole, UNMAPPED};
use crate::nand::{Gear, Mode, Purpose, Ticket, UnitPlace};
use std::ops::Range;

/// Content of a unit being programmed, in slots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UnitContent {
    /// Slots of the host.
    pub host: u32,
    /// Host slots that leave the buffer only when the program has ended.
    pub buffered: u32,
    /// Slots copied.
    pub moved: u32,
}

impl<G: Gear> BlockFtl<G> {
    /// Whether the unit can still be programmed in its segment's home.
    #[inline(always)]
    pub(super) fn is_open(&self, at: SegmentUnit) -> bool {
        self.row_of(at) >= self.next_row(at)
    }

    #[inline(always)]
    fn row_of(&self, at: SegmentUnit) -> u32 {
        at.unit / self.nand.geometry.die_count
    }

    /// The next row of the unit's block in its segment's home.
    #[inline(always)]
    fn next_row(&self, at: SegmentUnit) -> u32 {
        let home = self.home[at.segment as usize];
        self.nand
            .next_row(home, at.unit % self.nand.geometry.die_count)
    }

    /// Whether anything of the unit is on media.
    fn has_media(&self, at: SegmentUnit) -> bool {
        self.slots_of(at)
            .any(|lpn| self.copy_on_media(lpn) != UNMAPPED)
    }

    /// Gives a segment a fresh home.
    pub(super) fn give_home(&mut self, segment: u32) {
        self.home[segment as usize] = self.take_free(SuperblockRole::Data);
        self.map_log.change(1);
    }

    /// Begins the rewrite of a segment that has a home.
    pub(super) fn begin_rewrite(&mut self, segment: u32) {
        assert!(
            self.rewrite.is_none(),
            "segment {segment}: a rewrite is open"
        );
        let old = self.home[segment as usize];
        self.give_home(segment);
        self.rewrite = Some(Rewrite {
            segment,
            old,
            next: 0,
        });
    }

    /// Advances the open rewrite behind the unit just programmed.
    pub(super) fn pass(&mut self, at: SegmentUnit) {
        if let Some(rewrite) = &mut self.rewrite
            && rewrite.segment == at.segment
        {
            rewrite.next = rewrite.next.max(at.unit + 1);
        }
    }

    /// Copies the remaining units of the open rewrite before unit `until`.
    pub(super) fn copy_until(&mut self, from: u64, until: u32) {
        while let Some(rewrite) = self.rewrite {
            if rewrite.next >= until {
                return;
            }
            let unit = SegmentUnit {
                segment: rewrite.segment,
                unit: rewrite.next,
            };
            if self.has_media(unit) {
                self.program(from, unit, &(0..0), false);
            }
            self.pass(unit);
        }
    }

    /// Ends the open rewrite, if any.
    pub(super) fn finish_rewrite(&mut self, from: u64) {
        self.copy_until(from, self.units());
        debug_assert!(self.rewrite.is_none(), "{:?}", self.rewrite);
    }

    /// Full merge: programs the newest copy of all slots of a segment into a fresh superblock.
    pub(super) fn merge(&mut self, from: u64, segment: u32) {
        let home = self.home[segment as usize];
        let open = self.rewrite.filter(|rewrite| rewrite.segment == segment);
        if open.is_some() {
            self.rewrite = None;
        }
        self.give_home(segment);
        for unit in 0..self.units() {
            let target = SegmentUnit { segment, unit };
            if self.has_media(target) {
                self.program(from, target, &(0..0), false);
            }
        }
        for stale in [home, open.map_or(NONE, |rewrite| rewrite.old)] {
            if stale != NONE {
                self.counters.superblocks_reclaimed += 1;
                self.release(stale);
            }
        }
    }

    /// Programs a unit in its segment's home: the `fresh` slots from the host, its buffered slots,
    /// and a copy of the rest. Skipped rows on its die are padded.
    pub(super) fn program(
        &mut self,
        from: u64,
        at: SegmentUnit,
        fresh: &Range<u32>,
        firm: bool,
    ) -> Ticket {
        let geometry = &self.nand.geometry;
        let (die, row) = (at.unit % geometry.die_count, self.row_of(at));
        let mut place = UnitPlace {
            superblock: self.home[at.segment as usize],
            row: self.next_row(at),
            die,
            mode: Mode::Native,
        };
        while place.row < row {
            self.program_at(from, place, UnitContent::default(), firm);
            self.remember_program(die, at.segment, Vec::new());
            place.row += 1;
        }
        let slots = self.slots_of(at);
        let read = self.read_rest(from, slots.clone(), fresh);
        let first = slots.start;
        let ppn = self.nand.geometry.first_slot(place.superblock, row, die);
        let mut content = UnitContent::default();
        let mut spares = Vec::new();
        for lpn in slots {
            let before = self.table[lpn as usize];
            let is_fresh = fresh.contains(&lpn);
            if before == UNMAPPED && !is_fresh {
                continue;
            }
            let (old, buffered) = self.take_out(lpn);
            let moved_from = (!is_fresh && !buffered).then_some(old);
            self.remember_slot(&mut spares, lpn - first, lpn, moved_from);
            content.host += u32::from(is_fresh || buffered);
            content.buffered += u32::from(buffered && !is_fresh);
            content.moved += u32::from(!is_fresh && !buffered);
            self.released += u32::from(buffered && is_fresh);
            self.invalidate(old);
            self.table[lpn as usize] = ppn + (lpn - first) + 1;
        }
        let ticket = self.program_at(read, place, content, firm);
        self.remember_program(die, at.segment, spares);
        self.settle(at.segment);
        ticket
    }

    /// Programs one unit and counts it.
    #[inline]
    pub(super) fn program_at(
        &mut self,
        from: u64,
        place: UnitPlace,
        content: UnitContent,
        firm: bool,
    ) -> Ticket {
        let purpose = if content.host == 0 && content.moved > 0 {
            Purpose::Relocation
        } else {
            Purpose::Host
        };
        let programmed = self.nand.program(from, place, purpose, firm);
        let used = content.host + content.moved;
        self.valid[place.superblock as usize] += used;
        let c = &mut self.counters;
        c.nand_programs += 1;
        c.nand_erases += u64::from(programmed.erased);
        c.slots_host += u64::from(content.host);
        c.slots_relocated += u64::from(content.moved);
        c.slots_padding += u64::from(self.nand.geometry.slots_per_unit - used);
        if G::TIMED && content.buffered > 0 {
            self.launched.push(BookedUnit {
                slots: content.buffered,
                ticket: programmed.ticket,
            });
        }
        programmed.ticket
    }

    /// Reads the slots of a unit that are only on media and not `fresh`; returns the end.
    fn read_rest(&mut self, from: u64, slots: Range<u32>, fresh: &Range<u32>) -> u64 {
        let mut end = from;
        let mut run = SlotRun::default();
        for lpn in slots {
            let value = self.table[lpn as usize];
            if value == UNMAPPED || value >= BUFFERED || fresh.contains(&lpn) {
                continue;
            }
            if let Some(whole) = run.add(value - 1, self.nand.geometry.slots_per_unit) {
                end = end.max(self.read_media(from, whole, Purpose::Relocation));
            }
        }
        if run.slots > 0 {
            end = end.max(self.read_media(from, run, Purpose::Relocation));
        }
        end
    }

    /// Reads slots of one unit. Copies are read behind all operations booked on their die: the
    /// controller has no memory for whole segments.
    pub(super) fn read_media(&mut self, mut from: u64, run: SlotRun, purpose: Purpose) -> u64 {
        let place = self.nand.geometry.place(run.first);
        if purpose == Purpose::Relocation {
            from = from.max(self.nand.gear().die_free_at(place.die));
        } else if self.nand.is_pending(place.superblock, place.row, place.die) {
            return from;
        }
        if purpose == Purpose::Host {
            self.counters.nand_reads_host += 1;
        } else {
            self.counters.nand_reads_internal += 1;
        }
        let unit = UnitPlace::of(place, Mode::Native);
        self.nand.read(from, unit, run.slots, purpose)
    }
}

/// A run of slots of one unit that are read together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlotRun {
    pub first: u32,
    pub slots: u32,
}

impl SlotRun {
    /// Adds a slot; if it lies in another unit, returns the previous run.
    #[inline(always)]
    pub fn add(&mut self, ppn: u32, unit: u32) -> Option<SlotRun> {
        if self.slots > 0 && self.first / unit == ppn / unit {
            self.slots += 1;
            return None;
        }
        let whole = *self;
        *self = SlotRun {
            first: ppn,
            slots: 1,
        };
        (whole.slots > 0).then_some(whole)
    }
}
