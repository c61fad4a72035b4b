//! The map: the value of each logical slot, the owner of each slot on media, and which of these are
//! valid. It counts the extents of a tree's leaves as values change.
//!
//! Both gears spend most of their time here, so a lean drive has loops of its own, in `lean`.

mod lean;

use super::layout::Layout;
use super::space::Space;
use super::table::Table;
use super::upkeep::Upkeep;
use super::{BUFFERED, GatherEntry, SlotPlace, UNMAPPED};
use crate::caches::prefetch;
use crate::config::DriveConfig;
use crate::ftl::recover::NewestCopy;
use crate::geometry::Geometry;
use crate::image::image_of;
use std::marker::PhantomData;

image_of! {
    /// See the module's documentation.
    #[derive(Clone, Debug)]
    pub(super) struct SlotMap<L: Layout> {
        values: Table,
        /// One past the highest host slot ever written.
        written_end: u32,
        user_slots: u32,
        owners: Table,
        valid: Vec<u64>,
        /// Weight of each entry in slots; empty unless data is compressed.
        weights: Vec<u8>,
        /// Total of valid slots.
        live: u64,
        /// The leaves of a map that is not all in DRAM.
        upkeep: Upkeep,
    } afresh {
        layout: PhantomData<L>,
    }
}

/// Marks the slot at `ppn` stale.
#[inline(always)]
fn clear(valid: &mut [u64], ppn: u32) {
    let word = &mut valid[ppn as usize / 64];
    let remaining = *word & !(1 << (ppn % 64));
    if remaining == *word {
        stale_twice(ppn);
    }
    *word = remaining;
}

/// A separate function with a by-value argument, so that the loops keep their counters in
/// registers.
#[cold]
fn stale_twice(ppn: u32) -> ! {
    panic!("slot {ppn} made stale twice");
}

/// Calls `f` for each valid slot from `first` up to `last`, a word at a time.
#[inline(always)]
fn each_valid(valid: &[u64], first: u32, last: u32, mut f: impl FnMut(u32)) {
    let mut ppn = first;
    while ppn < last {
        let word = ppn / 64;
        let until = last.min((word + 1) * 64);
        let mut bits = valid[word as usize] >> (ppn % 64);
        if until - ppn < 64 {
            bits &= (1 << (until - ppn)) - 1;
        }
        while bits != 0 {
            f(ppn + bits.trailing_zeros());
            bits &= bits - 1;
        }
        ppn = until;
    }
}

impl<L: Layout> SlotMap<L> {
    pub fn new(config: &DriveConfig, geometry: &Geometry) -> Self {
        let media = geometry.superblock_count as usize * geometry.slots_per_superblock as usize;
        SlotMap {
            values: Table::new(config.mapped_slots() as usize),
            written_end: 0,
            user_slots: config.user_slots() as u32,
            owners: Table::new(media),
            valid: vec![0; media.div_ceil(64)],
            weights: if config.pack() > 1 {
                vec![0; media]
            } else {
                Vec::new()
            },
            live: 0,
            upkeep: Upkeep::new(config),
            layout: PhantomData,
        }
    }

    /// Discards all places; the owners of slots that are not valid mean nothing.
    pub fn clear(&mut self) {
        self.values.fill(UNMAPPED);
        self.written_end = 0;
        self.valid.fill(0);
        self.live = 0;
        self.upkeep.clear();
    }

    /// Discards all that is not on media, before recovery.
    pub fn forget(&mut self) {
        self.clear();
        self.owners.fill(0);
    }

    /// The values of all logical slots.
    #[inline(always)]
    pub fn values(&self) -> &[u32] {
        &self.values
    }

    /// The value of a logical slot: unmapped, in the buffer, or its place on media plus one.
    #[inline(always)]
    pub fn value(&self, lpn: u32) -> u32 {
        self.values[lpn as usize]
    }

    #[inline(always)]
    pub fn find(&self, lpn: u32) -> SlotPlace {
        match self.value(lpn) {
            UNMAPPED => SlotPlace::Unmapped,
            value if value >= BUFFERED => SlotPlace::Buffered,
            value => SlotPlace::Media(value - 1),
        }
    }

    /// Changes a value. All changes but those of the lean loops go through here.
    #[inline(always)]
    pub fn set(&mut self, lpn: u32, value: u32) {
        if L::FULL && self.upkeep.is_tree() && lpn < self.user_slots {
            self.upkeep.before_change(&self.values, lpn);
            self.values[lpn as usize] = value;
            self.upkeep.after_change(&self.values, lpn);
        } else {
            self.values[lpn as usize] = value;
        }
    }

    /// Slots of the host; hidden addresses follow.
    #[inline(always)]
    pub fn user_slots(&self) -> u32 {
        self.user_slots
    }

    /// One past the highest host slot ever written.
    pub fn written_end(&self) -> u32 {
        self.written_end
    }

    /// Records that the host has written slots up to `end`.
    #[inline(always)]
    pub fn note_written(&mut self, end: u32) {
        self.written_end = self.written_end.max(end);
    }

    /// Total of valid slots.
    #[inline(always)]
    pub fn live(&self) -> u64 {
        self.live
    }

    /// Counts slots that have become valid.
    #[inline(always)]
    pub fn add_live(&mut self, slots: u32) {
        self.live += u64::from(slots);
    }

    /// The leaves of a map that is not all in DRAM.
    #[inline(always)]
    pub fn upkeep(&self) -> &Upkeep {
        &self.upkeep
    }

    #[inline(always)]
    pub fn upkeep_mut(&mut self) -> &mut Upkeep {
        &mut self.upkeep
    }

    #[inline(always)]
    pub fn owner(&self, ppn: u32) -> u32 {
        self.owners[ppn as usize]
    }

    #[inline(always)]
    pub fn is_valid(&self, ppn: u32) -> bool {
        self.valid[ppn as usize / 64] >> (ppn % 64) & 1 == 1
    }

    /// Slots of media that the entry at `ppn` takes.
    #[inline(always)]
    pub fn weight_at(&self, ppn: u32) -> u32 {
        if L::FULL && !self.weights.is_empty() {
            u32::from(self.weights[ppn as usize])
        } else {
            1
        }
    }

    /// A bit for each of up to 64 slots of one unit, set while the slot is valid.
    #[inline(always)]
    pub fn valid_bits(&self, first: u32, slots: u32) -> u64 {
        self.valid[first as usize / 64] >> (first % 64) & (u64::MAX >> (64 - slots))
    }

    /// Calls `f` for each valid slot from `first` up to `last`.
    #[inline(always)]
    pub fn each_valid(&self, first: u32, last: u32, f: impl FnMut(u32)) {
        each_valid(&self.valid, first, last, f);
    }

    /// Marks the copy behind a value stale, outside of movers.
    #[inline(always)]
    pub fn invalidate(&mut self, value: u32, space: &mut Space, geometry: &Geometry) {
        if value != UNMAPPED {
            let weight = self.leave(value - 1);
            space.lose(geometry.superblock_of(value - 1), weight);
        }
    }

    /// Marks the slot that is moved from `value` stale.
    #[inline(always)]
    pub fn move_out(&mut self, value: u32, space: &mut Space, geometry: &Geometry) {
        let weight = self.leave(value - 1);
        space.move_out(geometry.superblock_of(value - 1), weight);
    }

    /// Marks a slot stale; returns its weight.
    #[inline(always)]
    fn leave(&mut self, ppn: u32) -> u32 {
        clear(&mut self.valid, ppn);
        let weight = self.weight_at(ppn);
        self.live -= u64::from(weight);
        weight
    }

    /// Makes the entry the owner of the slot at `ppn`; returns the slot after it.
    #[inline(always)]
    pub fn own(&mut self, ppn: u32, entry: &GatherEntry) -> u32 {
        self.owners[ppn as usize] = entry.lpn;
        if !L::FULL {
            return ppn + 1;
        }
        self.valid[ppn as usize / 64] |= 1 << (ppn % 64);
        if !self.weights.is_empty() {
            self.weights[ppn as usize] = entry.weight as u8;
        }
        ppn + entry.weight
    }

    /// Takes a copy that recovery has found.
    pub fn restore(&mut self, lpn: u32, copy: &NewestCopy) {
        if lpn < self.user_slots {
            self.note_written(lpn + 1);
        }
        self.set(lpn, copy.slot + 1);
        self.owners[copy.slot as usize] = lpn;
        self.valid[copy.slot as usize / 64] |= 1 << (copy.slot % 64);
        if let Some(weight) = self.weights.get_mut(copy.slot as usize) {
            *weight = copy.weight as u8;
        }
        self.live += u64::from(copy.weight);
    }

    /// Marks the slots from `first` up to `last` valid.
    #[inline(always)]
    pub fn set_valid(&mut self, first: u32, last: u32) {
        let mut ppn = first;
        while ppn < last {
            let until = last.min((ppn / 64 + 1) * 64);
            let bits = u64::MAX >> (64 - (until - ppn));
            self.valid[ppn as usize / 64] |= bits << (ppn % 64);
            ppn = until;
        }
    }

    /// Marks the `slots` slots of one unit, within a word, valid.
    #[inline(always)]
    pub fn set_unit_valid(&mut self, first: u32, slots: u32) {
        let bits = u64::MAX >> (64 - slots);
        self.valid[first as usize / 64] |= bits << (first % 64);
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
}

/// Prefetches, which have no effect on the model.
impl<L: Layout> SlotMap<L> {
    #[inline(always)]
    pub fn prefetch_value(&self, lpn: u32) {
        prefetch(&self.values, lpn as usize);
    }

    /// The word with the valid bit of the copy behind a value.
    #[inline(always)]
    pub fn prefetch_valid(&self, value: u32) {
        prefetch(&self.valid, value.wrapping_sub(1) as usize / 64);
    }

    #[inline(always)]
    pub fn prefetch_owner(&self, ppn: u32) {
        prefetch(&self.owners, ppn as usize);
    }

    /// The words with the valid bits of the copies that writes to `lpns` will make stale.
    #[inline(always)]
    pub fn prefetch_each_valid(&self, lpns: &[u32]) {
        for &lpn in lpns {
            if let Some(value) = self.values.get(lpn as usize) {
                prefetch(&self.valid, value.wrapping_sub(1) as usize / 64);
            }
        }
    }

    /// The values of `lpns`, all at once, so that their memory accesses overlap.
    #[inline(always)]
    pub fn prefetch_each_value(&self, lpns: &[u32]) {
        for &lpn in lpns {
            prefetch(&self.values, lpn as usize);
        }
    }

    /// The value of the map page of a slot, if it must be read.
    #[inline(always)]
    pub fn prefetch_map_page(&self, lpn: u32) {
        if self.upkeep.is_on()
            && let Some(missing) = self.upkeep.missing(lpn)
        {
            prefetch(&self.values, missing as usize);
        }
    }

    /// The values of the valid slots from `first` up to `last`, and the owners of the `ahead` slots
    /// after them, a cache line at a time.
    #[inline(always)]
    pub fn prefetch_valid_slots(&self, first: u32, last: u32, ahead: u32) {
        let later = (last + ahead) as usize;
        for ppn in (later..later + ahead as usize).step_by(16) {
            prefetch(&self.owners, ppn);
        }
        let (values, owners) = (&self.values[..], &self.owners[..]);
        each_valid(&self.valid, first, last, |ppn| {
            if let Some(&lpn) = owners.get(ppn as usize) {
                prefetch(values, lpn as usize);
                if L::FULL {
                    self.upkeep.prefetch(lpn);
                }
            }
        });
    }
}
