//! A map that is not all in DRAM: the cost of loading and evicting its parts.
//!
//! The map is cut into leaves of equal runs of logical slots. `Cached`: each leaf is a full map
//! slot on media. `Tree`: a leaf takes as many bytes as it has extents, so the map is small while
//! data lies in long runs and grows as the runs are broken up; changed leaves are written together,
//! a map slot when enough bytes have gathered.
//!
//! DRAM holds leaves up to its size; the leaf to evict is chosen by second chance, oldest first.
//! Touching a leaf that is not in DRAM reads it; a changed leaf is written when it is evicted.
//!
//! Left out: the nodes above the leaves (small, always in DRAM), and compaction of a tree's area on
//! media, which is written as a ring.

use crate::caches::prefetch;
use crate::config::{DriveConfig, MappingKind};
use crate::ftl::map_value::{BUFFERED, UNMAPPED};
use crate::geometry::Divisor;
use crate::image::image_of;
use std::collections::VecDeque;

/// Distance of prefetching leaves ahead of their eviction: they are scattered in memory.
const LEAVES_AHEAD: usize = 16;

image_of! {
    /// A leaf of the map.
    #[derive(Clone, Debug, Default)]
    struct Leaf {
        /// Bytes of DRAM allotted to it.
        bytes: u32,
        /// Extents in it.
        extents: u32,
        /// Map slot it was last written to, plus one; zero: never.
        home: u32,
        cached: bool,
        used: bool,
        changed: bool,
    }
}

image_of! {
    /// See the module's documentation.
    #[derive(Clone, Debug)]
    pub(super) struct Upkeep {
        on: bool,
        tree: bool,
        entry_bytes: u32,
        slot_bytes: u32,
        slots_per_leaf: Divisor,
        /// Logical slots that the leaves map; the hidden ones beyond them have no leaves.
        user_slots: u32,
        leaves: Vec<Leaf>,
        /// Leaves in DRAM, oldest first.
        cached: VecDeque<u32>,
        dram_bytes: u64,
        dram_used: u64,
        /// Hidden logical address of the first map slot, number of map slots, and the next one to
        /// write.
        first: u32,
        slots: u32,
        next: u32,
        /// Bytes of changed leaves waiting for a whole map slot.
        waiting_bytes: u32,
        /// Map slots to be programmed, by hidden logical address, without duplicates: one program
        /// covers all changes.
        due: VecDeque<u32>,
        is_due: Vec<bool>,
        /// Number of map slots programmed together: a unit's worth, or all when the whole map is
        /// smaller.
        together: u32,
        serial: bool,
        /// Time at which the last requested leaf is in DRAM.
        brought_at: u64,
    }
}

fn together(config: &DriveConfig) -> u32 {
    let geometry = config.geometry();
    let per_unit = geometry.slots_per_unit / config.pack();
    match config.map_slots() as u32 {
        0 => u32::MAX,
        _ if config.ftl.mapping.leaf_programs > 0 => 1,
        slots => per_unit.min(slots),
    }
}

impl Upkeep {
    pub fn new(config: &DriveConfig) -> Upkeep {
        let mapping = &config.ftl.mapping;
        let on = mapping.kind.has_leaves();
        let slot_bytes = config.shape.slot_bytes;
        let slots_per_leaf = slot_bytes / mapping.entry_bytes;
        let leaves = config.user_slots().div_ceil(slots_per_leaf.into()) as usize;
        Upkeep {
            on,
            tree: mapping.kind == MappingKind::Tree,
            entry_bytes: mapping.entry_bytes,
            slot_bytes,
            slots_per_leaf: Divisor::new(slots_per_leaf),
            user_slots: config.user_slots() as u32,
            leaves: vec![Leaf::default(); if on { leaves } else { 0 }],
            cached: VecDeque::new(),
            dram_bytes: mapping.dram_bytes,
            dram_used: 0,
            first: (config.user_slots() + config.journal_slots()) as u32,
            slots: config.map_slots() as u32,
            next: 0,
            waiting_bytes: 0,
            due: VecDeque::new(),
            is_due: vec![false; config.map_slots() as usize],
            together: together(config),
            serial: mapping.serial_misses,
            brought_at: 0,
        }
    }

    /// Earliest start of reading a leaf.
    pub fn may_read(&self, from: u64) -> u64 {
        from.max(if self.serial { self.brought_at } else { 0 })
    }

    /// Records that a leaf is in DRAM at `end`.
    pub fn brought(&mut self, end: u64) {
        self.brought_at = self.brought_at.max(end);
    }

    /// Evicts nothing from now on.
    pub fn hold_all(&mut self) {
        self.dram_bytes = u64::MAX;
    }

    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.on
    }

    #[inline(always)]
    pub fn is_tree(&self) -> bool {
        self.tree
    }

    /// Map slots on media.
    pub fn slots(&self) -> u64 {
        self.slots.into()
    }

    /// Makes the next map slot of the ring due.
    pub fn owe_next(&mut self) {
        self.owe(self.next);
        self.next = (self.next + 1) % self.slots;
    }

    /// Makes the map slot at a hidden logical address due.
    pub fn owe_at(&mut self, lpn: u32) {
        self.owe(lpn - self.first);
    }

    /// Whether a map slot is due.
    pub fn owes(&self) -> bool {
        !self.due.is_empty()
    }

    fn owe(&mut self, slot: u32) {
        if !std::mem::replace(&mut self.is_due[slot as usize], true) {
            self.due.push_back(self.first + slot);
        }
    }

    /// Whether enough map slots are due for a program.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.due.len() as u32 >= self.together
    }

    /// Number of programs that the due map slots fill.
    pub fn units_due(&self) -> u32 {
        self.due.len() as u32 / self.together
    }

    /// Map slots programmed together.
    pub fn together(&self) -> u32 {
        self.together
    }

    /// Takes the next due map slot, by hidden logical address.
    pub fn take_due(&mut self) -> Option<u32> {
        let lpn = self.due.pop_front()?;
        self.is_due[(lpn - self.first) as usize] = false;
        Some(lpn)
    }

    /// Prefetches a mapping unit's leaf.
    #[inline(always)]
    pub fn prefetch(&self, lpn: u32) {
        if self.on {
            prefetch(&self.leaves, self.leaf_of(lpn));
        }
    }

    /// Hidden address of the map slot that a mapping unit's leaf must be read from, when it is not
    /// in DRAM.
    #[inline(always)]
    pub fn missing(&self, lpn: u32) -> Option<u32> {
        let leaf = self.leaves.get(self.leaf_of(lpn))?;
        let home = leaf.home.checked_sub(1).filter(|_| !leaf.cached)?;
        Some(self.first + home)
    }

    #[inline(always)]
    fn leaf_of(&self, lpn: u32) -> usize {
        self.slots_per_leaf.quotient(lpn) as usize
    }

    /// Number of extents that begin at `lpn`: zero or one.
    fn begins(&self, map: &[u32], lpn: u32) -> u32 {
        let value = map[lpn as usize];
        if value == UNMAPPED {
            return 0;
        }
        let first_of_leaf = self.slots_per_leaf.div_rem(lpn).1 == 0;
        let joined = !first_of_leaf
            && value < BUFFERED
            && map[lpn as usize - 1].wrapping_add(1) == value
            && map[lpn as usize - 1] != UNMAPPED;
        u32::from(!joined)
    }

    fn beginnings(&self, map: &[u32], lpn: u32) -> u32 {
        let next = lpn + 1;
        let has_next = self.slots_per_leaf.div_rem(next).1 != 0 && next < self.user_slots;
        let after = if has_next { self.begins(map, next) } else { 0 };
        self.begins(map, lpn) + after
    }

    /// Uncounts the extents at `lpn` before its map entry changes.
    pub fn before_change(&mut self, map: &[u32], lpn: u32) {
        let begin = self.beginnings(map, lpn);
        let leaf = self.leaf_of(lpn);
        self.leaves[leaf].extents -= begin;
    }

    /// Counts the extents at `lpn` after its map entry has changed.
    pub fn after_change(&mut self, map: &[u32], lpn: u32) {
        let begin = self.beginnings(map, lpn);
        let leaf = self.leaf_of(lpn);
        self.leaves[leaf].extents += begin;
    }

    fn bytes_of(&self, leaf: usize) -> u32 {
        if self.tree {
            (self.leaves[leaf].extents.max(1) * self.entry_bytes).min(self.slot_bytes)
        } else {
            self.slot_bytes
        }
    }

    /// Uses the leaf of `lpn`. Returns the hidden address of the map slot to read if the leaf is
    /// not in DRAM and is on media.
    pub fn touch(&mut self, lpn: u32, change: bool) -> Option<u32> {
        let leaf = self.leaf_of(lpn);
        let bytes = self.bytes_of(leaf);
        let entry = &mut self.leaves[leaf];
        entry.used = true;
        entry.changed |= change;
        if entry.cached {
            self.dram_used += u64::from(bytes);
            self.dram_used -= u64::from(entry.bytes);
            entry.bytes = bytes;
            if self.dram_used > self.dram_bytes {
                self.make_room();
            }
            return None;
        }
        entry.cached = true;
        entry.bytes = bytes;
        let home = entry.home;
        self.dram_used += u64::from(bytes);
        self.cached.push_back(leaf as u32);
        self.make_room();
        home.checked_sub(1).map(|slot| self.first + slot)
    }

    fn make_room(&mut self) {
        while self.dram_used > self.dram_bytes && self.cached.len() > 1 {
            let Some(leaf) = self.cached.pop_front() else {
                return;
            };
            if let Some(&later) = self.cached.get(LEAVES_AHEAD) {
                prefetch(&self.leaves, later as usize);
            }
            let entry = &mut self.leaves[leaf as usize];
            if std::mem::take(&mut entry.used) {
                self.cached.push_back(leaf);
                continue;
            }
            entry.cached = false;
            self.dram_used -= u64::from(entry.bytes);
            if std::mem::take(&mut entry.changed) {
                self.write_out(leaf);
            }
        }
    }

    fn write_out(&mut self, leaf: u32) {
        if !self.tree {
            self.leaves[leaf as usize].home = leaf + 1;
            self.owe(leaf);
            return;
        }
        self.waiting_bytes += self.bytes_of(leaf as usize);
        self.leaves[leaf as usize].home = self.next + 1;
        if self.waiting_bytes >= self.slot_bytes {
            self.waiting_bytes -= self.slot_bytes;
            self.owe_next();
        }
    }

    /// Restores after a power failure which map slots are on media. The place of each leaf in them
    /// is not kept; a tree's leaves are assumed to lie in order.
    pub fn take_homes(&mut self, on_media: &[bool]) {
        if !self.on || self.slots == 0 {
            return;
        }
        let leaves = self.leaves.len() as u64;
        for (number, leaf) in (0..).zip(&mut self.leaves) {
            let slot = (number * u64::from(self.slots) / leaves) as u32;
            let slot = if self.tree { slot } else { number as u32 };
            let is_on_media = on_media.get(slot as usize).copied().unwrap_or(false);
            leaf.home = if is_on_media { slot + 1 } else { 0 };
        }
    }

    /// Discards all state.
    pub fn clear(&mut self) {
        self.leaves.fill(Leaf::default());
        self.cached.clear();
        self.dram_used = 0;
        self.next = 0;
        self.waiting_bytes = 0;
        self.due.clear();
        self.is_due.fill(false);
        self.brought_at = 0;
    }
}
