//! Loops of a lean drive, over many slots at once.

use super::{SlotMap, clear};
use crate::ftl::gather::{Gather, GatherEntry};
use crate::ftl::map_value::{BUFFERED, UNMAPPED};
use crate::ftl::page::layout::Layout;
use crate::ftl::page::scan::{Scan, ScannedUnit};
use crate::ftl::page::space::Space;
use crate::ftl::page::write_buffer::WriteBuffer;
use crate::geometry::Geometry;
use std::ops::Range;

/// Changes the map value of a relocated slot from `old` to `new`; `buffered` takes the value of a
/// slot whose newer data waits in the buffer.
#[inline(always)]
fn relocate(values: &mut [u32], lpn: u32, old: u32, new: u32, buffered: impl FnOnce(u32)) {
    let value = &mut values[lpn as usize];
    if *value == old {
        *value = new;
    } else {
        buffered(*value);
    }
}

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
    let entries = list.iter().enumerate();
    let difference = entries.fold(0, |difference, (index, entry)| {
        difference | (entry ^ expected(index))
    });
    if difference == 0 {
        return list.len() as u32;
    }
    let entries = list.iter().enumerate();
    entries
        .take_while(|(index, entry)| **entry == expected(*index))
        .count() as u32
}

/// Owners of a victim's slots, and of `count` slots of another superblock from `target` on.
#[inline(always)]
fn apart(
    owners: &mut [u32],
    victim: Range<u32>,
    target: u32,
    count: u32,
) -> (&[u32], std::slice::IterMut<'_, u32>) {
    let (start, end) = (victim.start as usize, victim.end as usize);
    let (target, count) = (target as usize, count as usize);
    if target < start {
        let (before, after) = owners.split_at_mut(start);
        (
            &after[..end - start],
            before[target..target + count].iter_mut(),
        )
    } else {
        let (before, after) = owners.split_at_mut(end);
        let target = target - end;
        (&before[start..], after[target..target + count].iter_mut())
    }
}

impl<L: Layout> SlotMap<L> {
    /// Maps new data to the slots from `first` on; returns the slot after the last.
    #[inline(always)]
    pub fn map_new(
        &mut self,
        first: u32,
        batch: &[GatherEntry],
        space: &mut Space,
        geometry: &Geometry,
    ) -> u32 {
        let (values, valid) = (&mut self.values[..], &mut self.valid[..]);
        let owners = &mut self.owners[first as usize..][..batch.len()];
        let (mut stale, mut remaining) = (0, 0);
        let mut ppn = first;
        for (entry, owner) in batch.iter().zip(owners) {
            if entry.old != UNMAPPED {
                let old = entry.old - 1;
                clear(valid, old);
                remaining |= space.remove_valid(geometry.superblock_of(old), 1);
                stale += 1;
            }
            ppn += 1;
            values[entry.lpn as usize] = ppn;
            *owner = entry.lpn;
        }
        self.live -= stale;
        space.note_lost(remaining);
        ppn
    }

    /// Maps data of one victim to the slots from `first` on; returns the slot after the last.
    #[inline(always)]
    pub fn map_moved(
        &mut self,
        first: u32,
        batch: &[GatherEntry],
        buffer: &mut WriteBuffer,
    ) -> u32 {
        let (values, valid) = (&mut self.values[..], &mut self.valid[..]);
        let owners = &mut self.owners[first as usize..][..batch.len()];
        let mut ppn = first;
        for (entry, owner) in batch.iter().zip(owners) {
            ppn += 1;
            clear(valid, entry.old - 1);
            *owner = entry.lpn;
            relocate(values, entry.lpn, entry.old, ppn, |newer| {
                buffer.set_old(newer, entry.old, ppn);
            });
        }
        self.live -= batch.len() as u64;
        ppn
    }

    /// Maps `moving` and then slots found in the victim's units to the unit of `unit` slots from
    /// `target` on; `gather` is the only one. The slots that did not fit stay in `scan`.
    #[inline(always)]
    pub fn map_scanned(
        &mut self,
        moving: &mut Vec<GatherEntry>,
        scan: &mut Scan,
        victim: Range<u32>,
        target: u32,
        unit: u32,
        gather: &mut Gather,
    ) {
        let begin = victim.start;
        let values = &mut self.values[..];
        let (source, mut targets) = apart(&mut self.owners, victim, target, unit);
        let mut value = target;
        for (entry, owner) in moving.iter().zip(&mut targets) {
            clear(&mut self.valid, entry.old - 1);
            *owner = entry.lpn;
            value += 1;
            relocate(values, entry.lpn, entry.old, value, |newer| {
                gather.set_old(newer - BUFFERED, entry.old, value);
            });
        }
        moving.clear();
        let mut unmoved = None;
        for scanned in scan.units.drain(..) {
            let first = scanned.first;
            let source = &source[(first - begin) as usize..][..unit as usize];
            let count = scanned.slots.min(target + unit - value);
            let mut bits = scanned.bits;
            for owner in targets.by_ref().take(count as usize) {
                let slot = bits.trailing_zeros();
                bits &= bits - 1;
                let lpn = source[slot as usize];
                *owner = lpn;
                value += 1;
                let old = first + slot + 1;
                relocate(values, lpn, old, value, |newer| {
                    gather.set_old(newer - BUFFERED, old, value);
                });
            }
            self.valid[first as usize / 64] ^= (scanned.bits ^ bits) << (first % 64);
            if count < scanned.slots {
                unmoved = Some(ScannedUnit {
                    first,
                    slots: scanned.slots - count,
                    bits,
                });
            }
        }
        // Only the last one can have a rest: without it, there was less than a unit.
        scan.units.extend(unmoved);
        scan.slots = unmoved.map_or(0, |scanned| scanned.slots);
    }

    /// Invalidates the copies on media of a run of mapping units.
    pub fn invalidate_run(&mut self, lpns: Range<u32>, space: &mut Space, geometry: &Geometry) {
        let mut lpn = lpns.start;
        while lpn < lpns.end {
            let value = self.values[lpn as usize];
            if value == UNMAPPED {
                lpn += 1;
                continue;
            }
            let superblock = geometry.superblock_of(value - 1);
            let limit = (superblock + 1) * geometry.slots_per_superblock;
            let most = (lpns.end - lpn).min(limit - (value - 1));
            let run = &self.values[lpn as usize..(lpn + most) as usize];
            let length = in_order(run, value);
            self.clear_valid(value - 1, value - 1 + length);
            self.live -= u64::from(length);
            space.remove_valid(superblock, length);
            lpn += length;
        }
    }

    /// Makes `lpns` the owners of the slots from `ppn` on.
    pub fn own_run(&mut self, lpns: Range<u32>, ppn: u32) {
        let length = lpns.len() as u32;
        count_up(
            &mut self.values[lpns.start as usize..lpns.end as usize],
            ppn + 1,
        );
        let owners = &mut self.owners[ppn as usize..(ppn + length) as usize];
        count_up(owners, lpns.start);
        self.set_valid(ppn, ppn + length);
    }

    /// Moves as many of `lpns` as fit into the only `gather`, in one piece; returns how
    /// many were looked at, and how many of them were not buffered before.
    #[inline(always)]
    pub fn buffer_some(&mut self, lpns: &[u32], gather: &mut Gather, room: u32) -> (usize, u32) {
        let (first, free) = gather.appending();
        let count = lpns.len().min(free.len()).min(room as usize);
        let lpns = &lpns[..count];
        let values = &mut self.values[..];
        let mut position = BUFFERED + first;
        let mut slots = free.iter_mut();
        for &lpn in lpns {
            let value = &mut values[lpn as usize];
            let old = *value;
            if old >= BUFFERED {
                continue;
            }
            *slots.next().expect("as many as there are addresses") = GatherEntry {
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
            self.note_written(last);
        }
        (count, appended)
    }
}
