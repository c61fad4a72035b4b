//! Single writes in the counting gear, many at a time, on a drive where nothing but their addresses
//! matters: the same map, counters and wear as one by one. The counting gear spends most of its
//! time here.
//!
//! Conditions common to all writes are tested once, memory that later writes need is prefetched,
//! and reclaim has a form without the features that such a drive lacks: scanning a unit of a victim
//! reads one word of the valid bits, and the slots found go straight to the new unit. All other
//! cases (the first and the last unit of a victim, slots that became stale while they waited) are
//! left to the general path, and the tests compare the two.

use super::emptying::AHEAD as VICTIM_AHEAD;
use super::scan::ScannedUnit;
use super::{BUFFERED, GatherEntry, Gear, Layout, PageFtl};
use crate::ftl::translation::Hint;
use crate::nand::{Mode, Purpose, UnitPlace};

/// Frontiers of host data and of reclaim on a drive of one stream.
const HOST: usize = 1;
const RELOCATED: usize = 2;

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Whether units are placed and victims emptied on the plain path.
    fn places_plainly(&self) -> bool {
        let unit = self.unit_slots();
        self.rows_are_possible()
            && self.nand.wear().is_none()
            && !self.levelling.is_on()
            && !self.rules.parity
            && unit <= 64
            && unit.is_power_of_two()
    }

    /// Takes in the first `count` of `lpns`, in any order, and prefetches for the others. Only
    /// where rows are possible.
    pub(super) fn take_each(&mut self, lpns: &[u32], count: usize) {
        let plain = self.places_plainly();
        self.map.prefetch_each_value(&lpns[count..]);
        self.map.prefetch_each_valid(&lpns[..count]);
        let mut buffered = 0;
        while buffered < count {
            buffered += self.take_some(&lpns[buffered..count]);
            if buffered == count {
                break;
            }
            // Usually because the buffer is full.
            let lpn = lpns[buffered];
            let is_buffered = self.map.value(lpn) >= BUFFERED;
            if is_buffered || !plain || !self.place_plainly() {
                self.settle_scan();
                self.take_in(0, lpn, Hint::default());
                buffered += 1;
            }
        }
        self.settle_scan();
    }

    /// Takes in as many of `lpns` as fit into the buffer in one piece; returns their number.
    #[inline(always)]
    fn take_some(&mut self, lpns: &[u32]) -> usize {
        let PageFtl { map, buffer, .. } = self;
        let gather = buffer.gather_mut(0);
        let room = self.rules.gather_slots - gather.weight();
        let (count, appended) = map.buffer_some(lpns, gather, room);
        self.counters.slots_coalesced += count as u64 - u64::from(appended);
        self.placement.count_host_slots(count as u64);
        count
    }

    /// Places the buffered unit after the reclaim that pays for it. False: the general path must do
    /// it.
    fn place_plainly(&mut self) -> bool {
        if self.buffer.gather(0).whole(self.unit_slots()).is_none() {
            return false;
        }
        if self.journal.is_due() {
            self.settle_scan();
            self.program_due_journal(0);
        }
        if self.needs_reclaim() {
            self.pay_plainly();
        }
        if !self.placement.is_open(HOST) {
            self.open(HOST, Mode::Native);
        }
        let place = self.placement.take(HOST, &self.nand);
        let programmed = self.nand.program(0, place, Purpose::Host, false);
        self.map_buffered(place, programmed.erased);
        self.close_if_full(HOST);
        true
    }

    /// Maps the whole buffered unit to its programmed place.
    #[inline(always)]
    fn map_buffered(&mut self, place: UnitPlace, erased: bool) {
        let unit = self.unit_slots();
        let PageFtl {
            nand,
            map,
            space,
            buffer,
            ..
        } = self;
        let geometry = &nand.geometry;
        let first = geometry.first_slot(place.superblock, place.row, place.die);
        let mut batch = buffer.take_batch();
        buffer.gather_mut(0).pop_into(&mut batch, unit);
        map.map_new(first, &batch, space, geometry);
        buffer.give_back(batch);
        map.add_live(unit);
        self.programmed_plainly(place, first, erased);
        self.counters.slots_host += u64::from(unit);
    }

    /// Counts a programmed whole unit of data.
    #[inline(always)]
    fn programmed_plainly(&mut self, place: UnitPlace, first: u32, erased: bool) {
        let unit = self.unit_slots();
        self.map.set_unit_valid(first, unit);
        self.space.add_valid(place.superblock, unit);
        self.counters.nand_programs += 1;
        self.counters.nand_erases += u64::from(erased);
        self.journal.change(unit);
    }

    /// Does reclaim work until a host unit is paid for, and pays for it.
    fn pay_plainly(&mut self) {
        let price = self.unit_slots();
        while self.reclaim.credits() < i64::from(price) && self.needs_reclaim() {
            if !self.scan_plainly() {
                self.settle_scan();
                let progress = self.reclaim_step(0);
                assert!(progress.is_some(), "reclaim found no victim");
            }
        }
        if self.needs_reclaim() {
            self.reclaim.spend(price);
        }
    }

    /// Scans one unit of the victim and programs once a whole unit is gathered. False: the general
    /// path must do it.
    #[inline(always)]
    fn scan_plainly(&mut self) -> bool {
        let geometry = &self.nand.geometry;
        let (slots, units) = (geometry.slots_per_unit, geometry.units_per_superblock());
        let (scan, mover) = self.reclaim.scan_and_mover();
        let Some(victim) = mover.victim else {
            return false;
        };
        let unit = mover.unit;
        let is_last = unit + 1 >= units;
        if unit == 0 || is_last || mover.epoch != self.space.epoch() || !mover.retiring.is_empty() {
            return false;
        }
        mover.unit += 1;
        let waiting = mover.moving.len() as u32 + scan.slots;
        let begin = victim * geometry.slots_per_superblock;
        let first = begin + unit * slots;
        let next = (unit + 1) * slots;
        if next.is_multiple_of(VICTIM_AHEAD) {
            let end = begin + units * slots;
            let block = begin + next + VICTIM_AHEAD;
            self.prefetch_ahead(block.min(end), (block + VICTIM_AHEAD).min(end));
        }
        let bits = self.map.valid_bits(first, slots);
        let valid = bits.count_ones();
        self.reclaim.earn(slots - valid);
        if valid == 0 {
            return true;
        }
        let (row, die) = self.nand.geometry.row_and_die(unit);
        let place = UnitPlace {
            superblock: victim,
            row,
            die,
            mode: Mode::Native,
        };
        self.nand.read(0, place, valid, Purpose::Relocation);
        self.counters.nand_reads_internal += 1;
        let scan = self.reclaim.scan_mut();
        scan.units.push(ScannedUnit {
            first,
            slots: valid,
            bits,
        });
        scan.slots += valid;
        if waiting + valid >= slots {
            self.move_plainly(victim);
        }
        true
    }

    /// Programs a whole unit of slots found in the victim.
    #[inline(always)]
    fn move_plainly(&mut self, victim: u32) {
        if !self.placement.is_open(RELOCATED) {
            self.open(RELOCATED, Mode::Native);
        }
        let place = self.placement.take(RELOCATED, &self.nand);
        let programmed = self.nand.program(0, place, Purpose::Relocation, false);
        let PageFtl {
            nand,
            map,
            buffer,
            reclaim,
            ..
        } = self;
        let geometry = &nand.geometry;
        let target = geometry.first_slot(place.superblock, place.row, place.die);
        let unit = geometry.slots_per_unit;
        let begin = victim * geometry.slots_per_superblock;
        let victim_slots = begin..begin + geometry.slots_per_superblock;
        let gather = buffer.gather_mut(0);
        let (scan, mover) = reclaim.scan_and_mover();
        map.map_scanned(&mut mover.moving, scan, victim_slots, target, unit, gather);
        self.space.move_out(victim, unit);
        self.programmed_plainly(place, target, programmed.erased);
        self.counters.slots_relocated += u64::from(unit);
        self.close_if_full(RELOCATED);
    }

    /// Hands the slots still to be moved back to the mover.
    fn settle_scan(&mut self) {
        let PageFtl { map, reclaim, .. } = self;
        let (scan, mover) = reclaim.scan_and_mover();
        for scanned in scan.units.drain(..) {
            let mut bits = scanned.bits;
            while bits != 0 {
                let ppn = scanned.first + bits.trailing_zeros();
                bits &= bits - 1;
                mover.moving.push(GatherEntry {
                    lpn: map.owner(ppn),
                    old: ppn + 1,
                    weight: 1,
                });
            }
        }
        scan.slots = 0;
    }
}
