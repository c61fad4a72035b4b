//! Single writes in the counting gear, many at a time, on a drive where nothing but their addresses
//! matters: the same map, counters and wear as one by one. The counting gear spends most of its
//! time here.
//!
//! Conditions common to all writes are tested once, memory that later writes need is prefetched,
//! and reclaim has a form without the features that such a drive lacks: scanning a unit of a victim
//! reads one word of the valid bits, and the slots found go straight to the new unit. All other
//! cases (the first and the last unit of a victim, slots that became stale while they waited) are
//! left to the general path, and the tests compare the two.

use super::looked::LookedUnit;
use super::mover::Which;
use super::program::clear;
use super::reclaim::AHEAD as VICTIM_AHEAD;
use super::{BUFFERED, Entry, Gear, Layout, PageFtl};
use crate::caches::prefetch;
use crate::ftl::gather::Gather;
use crate::ftl::translation::Hint;
use crate::nand::{Mode, Purpose, UnitPlace};
use std::ops::Range;

/// Frontiers of host data and of reclaim on a drive of one stream.
const HOST: usize = 1;
const RELOCATED: usize = 2;

/// Prefetches the map entries of `lpns`, all at once, so that their memory accesses overlap.
#[inline(always)]
fn fetch_entries(map: &[u32], lpns: &[u32]) {
    for &lpn in lpns {
        prefetch(map, lpn as usize);
    }
}

/// Prefetches the words with the valid bits of the copies that writes to `lpns` will make stale.
#[inline(always)]
fn fetch_valid(map: &[u32], valid: &[u64], lpns: &[u32]) {
    for &lpn in lpns {
        if let Some(value) = map.get(lpn as usize) {
            prefetch(valid, value.wrapping_sub(1) as usize / 64);
        }
    }
}

/// Changes the map value of a relocated slot from `old` to `new`; newer data may wait in the
/// buffer.
#[inline(always)]
fn relocate(map: &mut [u32], gather: &mut Gather, lpn: u32, old: u32, new: u32) {
    let value = &mut map[lpn as usize];
    if *value == old {
        *value = new;
    } else {
        gather.set_old(*value - BUFFERED, old, new);
    }
}

/// Owners of a victim's slots, and of `count` slots of another superblock from `target` on.
#[inline(always)]
fn apart(
    owner: &mut [u32],
    victim: Range<u32>,
    target: u32,
    count: u32,
) -> (&[u32], std::slice::IterMut<'_, u32>) {
    let (start, end) = (victim.start as usize, victim.end as usize);
    let (target, count) = (target as usize, count as usize);
    if target < start {
        let (before, after) = owner.split_at_mut(start);
        (
            &after[..end - start],
            before[target..target + count].iter_mut(),
        )
    } else {
        let (before, after) = owner.split_at_mut(end);
        let target = target - end;
        (&before[start..], after[target..target + count].iter_mut())
    }
}

impl<G: Gear, L: Layout> PageFtl<G, L> {
    /// Whether units are placed and victims emptied on the plain path.
    fn places_plainly(&self) -> bool {
        let unit = self.unit_slots();
        self.rows_are_possible()
            && self.nand.wear().is_none()
            && !self.wear.is_on()
            && !self.rules.parity
            && unit <= 64
            && unit.is_power_of_two()
    }

    /// Takes in the first `count` of `lpns`, in any order, and prefetches for the others. Only
    /// where rows are possible.
    pub(super) fn take_each(&mut self, lpns: &[u32], count: usize) {
        let plain = self.places_plainly();
        fetch_entries(&self.map, &lpns[count..]);
        fetch_valid(&self.map, &self.valid, &lpns[..count]);
        let mut done = 0;
        while done < count {
            done += self.take_some(&lpns[done..count]);
            if done == count {
                break;
            }
            // Usually because the buffer is full.
            let known = self.map[lpns[done] as usize] >= BUFFERED;
            if known || !plain || !self.place_plainly() {
                self.settle_looked();
                self.take_in(0, lpns[done], Hint::default());
                done += 1;
            }
        }
        self.settle_looked();
    }

    /// Takes in as many of `lpns` as fit into the buffer in one piece; returns their number.
    #[inline(always)]
    fn take_some(&mut self, lpns: &[u32]) -> usize {
        let gather = &mut self.gathers[0];
        let room = self.rules.gather_slots - gather.weight();
        let (first, free) = gather.appending();
        let count = lpns.len().min(free.len()).min(room as usize);
        let lpns = &lpns[..count];
        let map = &mut self.map[..];
        let mut position = BUFFERED + first;
        let mut slots = free.iter_mut();
        for &lpn in lpns {
            let value = &mut map[lpn as usize];
            let old = *value;
            if old >= BUFFERED {
                continue;
            }
            *slots.next().expect("as many as there are addresses") = Entry {
                lpn,
                old,
                weight: 1,
            };
            *value = position;
            position += 1;
        }
        let appended = position - BUFFERED - first;
        gather.appended(appended);
        if self.written_end < self.user_slots {
            let last = lpns.iter().max().map_or(0, |&lpn| lpn + 1);
            self.written_end = self.written_end.max(last);
        }
        self.counters.slots_coalesced += count as u64 - u64::from(appended);
        self.host_slots += count as u64;
        count
    }

    /// Places the buffered unit after the reclaim that pays for it. False: the general path must do
    /// it.
    fn place_plainly(&mut self) -> bool {
        if self.gathers[0].whole(self.unit_slots()).is_none() {
            return false;
        }
        if self.journal_is_due() {
            self.settle_looked();
            self.program_due_journal(0);
        }
        if self.needs_reclaim() {
            self.pay_plainly();
        }
        if self.frontiers[HOST].open().is_none() {
            self.open(HOST, Mode::Native);
        }
        let at = self.frontiers[HOST].take(&self.nand);
        let erased = self.nand.program(0, at, Purpose::Host, false).erased;
        self.map_buffered(at, erased);
        self.close_if_full(HOST);
        true
    }

    /// Maps the whole buffered unit to its programmed place.
    #[inline(always)]
    fn map_buffered(&mut self, at: UnitPlace, erased: bool) {
        let unit = self.unit_slots();
        let geometry = &self.nand.geometry;
        let first = geometry.first_slot(at.superblock, at.row, at.die);
        let mut batch = std::mem::take(&mut self.batch);
        self.gathers[0].pop_into(&mut batch, unit);
        self.map_new(first, &batch);
        batch.clear();
        self.batch = batch;
        self.live += u64::from(unit);
        self.programmed_plainly(at, first, erased);
        self.counters.slots_host += u64::from(unit);
    }

    /// Counts a programmed whole unit of data.
    #[inline(always)]
    fn programmed_plainly(&mut self, at: UnitPlace, first: u32, erased: bool) {
        let unit = self.unit_slots();
        let bits = u64::MAX >> (64 - unit);
        self.valid[first as usize / 64] |= bits << (first % 64);
        self.candidates.add_valid(at.superblock, unit);
        self.counters.nand_programs += 1;
        self.counters.nand_erases += u64::from(erased);
        self.journal_change(unit);
    }

    /// Does reclaim work until a host unit is paid for, and pays for it.
    fn pay_plainly(&mut self) {
        let price = i64::from(self.unit_slots());
        while self.credits < price && self.needs_reclaim() {
            if !self.look_plainly() {
                self.settle_looked();
                let progress = self.reclaim_step(0);
                assert!(progress.is_some(), "reclaim found no victim");
            }
        }
        if self.needs_reclaim() {
            self.credits -= price;
        }
    }

    /// Scans one unit of the victim and programs once a whole unit is gathered. False: the general
    /// path must do it.
    #[inline(always)]
    fn look_plainly(&mut self) -> bool {
        let geometry = &self.nand.geometry;
        let (slots, units) = (geometry.slots_per_unit, geometry.units_per_superblock());
        let mover = &mut self.movers[Which::Reclaim as usize];
        let Some(victim) = mover.victim else {
            return false;
        };
        let unit = mover.unit;
        let last = unit + 1 >= units;
        if unit == 0 || last || mover.epoch != self.epoch || !mover.retiring.is_empty() {
            return false;
        }
        mover.unit += 1;
        let waiting = mover.moving.len() as u32 + self.looked.slots;
        let begin = victim * geometry.slots_per_superblock;
        let first = begin + unit * slots;
        let next = (unit + 1) * slots;
        if next.is_multiple_of(VICTIM_AHEAD) {
            let end = begin + units * slots;
            let block = begin + next + VICTIM_AHEAD;
            self.prefetch_ahead(block.min(end), (block + VICTIM_AHEAD).min(end));
        }
        let bits = self.valid[first as usize / 64] >> (first % 64) & (u64::MAX >> (64 - slots));
        let found = bits.count_ones();
        self.credits += i64::from(slots - found);
        if found == 0 {
            return true;
        }
        let (row, die) = self.nand.geometry.row_and_die(unit);
        let at = UnitPlace {
            superblock: victim,
            row,
            die,
            mode: Mode::Native,
        };
        self.nand.read(0, at, found, Purpose::Relocation);
        self.counters.nand_reads_internal += 1;
        let looked = LookedUnit {
            first,
            slots: found,
            bits,
        };
        self.looked.units.push(looked);
        self.looked.slots += found;
        if waiting + found >= slots {
            self.move_plainly(victim);
        }
        true
    }

    /// Programs a whole unit of slots found in the victim.
    #[inline(always)]
    fn move_plainly(&mut self, victim: u32) {
        if self.frontiers[RELOCATED].open().is_none() {
            self.open(RELOCATED, Mode::Native);
        }
        let at = self.frontiers[RELOCATED].take(&self.nand);
        let erased = self.nand.program(0, at, Purpose::Relocation, false).erased;
        let geometry = &self.nand.geometry;
        let target = geometry.first_slot(at.superblock, at.row, at.die);
        let unit = geometry.slots_per_unit;
        let begin = victim * geometry.slots_per_superblock;
        let victim_slots = begin..begin + geometry.slots_per_superblock;
        let (map, gather) = (&mut self.map[..], &mut self.gathers[0]);
        let (source, mut targets) = apart(&mut self.owner, victim_slots, target, unit);
        let mut value = target;
        let moving = &mut self.movers[Which::Reclaim as usize].moving;
        for (entry, owner) in moving.iter().zip(&mut targets) {
            clear(&mut self.valid, entry.old - 1);
            *owner = entry.lpn;
            value += 1;
            relocate(map, gather, entry.lpn, entry.old, value);
        }
        moving.clear();
        let mut rest = None;
        for looked in self.looked.units.drain(..) {
            let first = looked.first;
            let source = &source[(first - begin) as usize..][..unit as usize];
            let count = looked.slots.min(target + unit - value);
            let mut left = looked.bits;
            for owner in targets.by_ref().take(count as usize) {
                let slot = left.trailing_zeros();
                left &= left - 1;
                let lpn = source[slot as usize];
                *owner = lpn;
                value += 1;
                relocate(map, gather, lpn, first + slot + 1, value);
            }
            self.valid[first as usize / 64] ^= (looked.bits ^ left) << (first % 64);
            if count < looked.slots {
                rest = Some(LookedUnit {
                    first,
                    slots: looked.slots - count,
                    bits: left,
                });
            }
        }
        // Only the last one can have a rest: without it, there was less than a unit.
        self.looked.units.extend(rest);
        self.looked.slots = rest.map_or(0, |looked| looked.slots);
        self.candidates.remove_valid(victim, unit);
        self.programmed_plainly(at, target, erased);
        self.counters.slots_relocated += u64::from(unit);
        self.close_if_full(RELOCATED);
    }

    /// Hands the slots still to be moved back to the mover.
    fn settle_looked(&mut self) {
        let moving = &mut self.movers[Which::Reclaim as usize].moving;
        for looked in self.looked.units.drain(..) {
            let mut left = looked.bits;
            while left != 0 {
                let ppn = looked.first + left.trailing_zeros();
                left &= left - 1;
                moving.push(Entry {
                    lpn: self.owner[ppn as usize],
                    old: ppn + 1,
                    weight: 1,
                });
            }
        }
        self.looked.slots = 0;
    }
}
