//! Block-mapped: a segment of logical slots lies in one superblock, each slot at its own offset.
//!
//! ```text
//!  host slots -> Gather -> the segment's home superblock
//!  segment r: home[r] --(cannot be programmed there)--> rewrite: fresh superblock, old one stale
//! ```
//! A segment has as many slots as a superblock, and one entry in the drive's map: its home. Pages
//! of a block are programmed in order and once, so a slot that is already programmed, or lies
//! before one that is, cannot be written again: the segment moves to a fresh superblock.
//!
//! A rewrite is left open at the unit last written, as in controllers with one replacement block: a
//! host that continues from there pays nothing more; the rest is copied when another segment must
//! be rewritten. Skipped rows on a die are padded when a later row is programmed on it.
//!
//! The model keeps a table of all slots to find them quickly; the rules above, which the self-check
//! verifies, make it a block map. The spare areas identify the slots of a segment, so only changes
//! of homes and trims count as changes of the map; see [`map_log`].
//!
//! Left out: reclaim for wear (segments that are never written never move), idle work other than
//! emptying the buffer, filling up of word lines.

mod check;
mod commit;
mod in_place;
mod interface;
mod map_log;
mod recover;
mod rewrite;

use super::gather::{Gather, GatherEntry};
use super::map_value::{BUFFERED, UNMAPPED};
use super::translation::BookedUnit;
use crate::config::DriveConfig;
use crate::counters::DriveCounters;
use crate::image::{image_of, image_of_choice};
use crate::nand::{Gear, Nand, Ticket};
use map_log::MapLog;
use std::collections::VecDeque;
use std::ops::Range;

/// No superblock.
const NONE: u32 = u32::MAX;
/// Tag of superblocks of the map; that of a home is its segment.
const MAP_TAG: u32 = u32::MAX;

/// Role of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum SuperblockRole {
    Free = 0,
    /// Home of a segment, or its old one while a rewrite is open.
    Data = 1,
    /// Holds the map's own pages.
    Map = 3,
}

image_of_choice!(SuperblockRole { Free, Data, Map });

image_of! {
    /// A segment being rewritten to another superblock.
    #[derive(Clone, Copy, Debug)]
    struct Rewrite {
        segment: u32,
        /// Superblock of the units not yet copied.
        old: u32,
        /// The next unit; nothing before it is valid in `old`.
        next: u32,
    }
}

/// Place of a unit of logical slots.
#[derive(Clone, Copy, Debug)]
struct SegmentUnit {
    segment: u32,
    /// Unit within the segment.
    unit: u32,
}

image_of! {
    /// A block-mapped translation layer over its media.
    #[derive(Clone, Debug)]
    pub struct BlockFtl<G: Gear> {
        nand: Nand<G>,
        counters: DriveCounters,
        /// Newest copy of each logical slot.
        table: Vec<u32>,
        /// One past the highest slot ever written.
        written_end: u32,
        /// Valid slots of each superblock.
        valid: Vec<u32>,
        role: Vec<SuperblockRole>,
        /// The superblock of each segment, or [`NONE`]: the block map.
        home: Vec<u32>,
        rewrite: Option<Rewrite>,
        free: VecDeque<u32>,
        gather: Gather,
        /// Slots gathered before the oldest is placed.
        gather_slots: u32,
        map_log: MapLog,
        launched: Vec<BookedUnit>,
        /// Buffered slots replaced by unbuffered writes.
        released: u32,
    }
}

impl<G: Gear> BlockFtl<G> {
    fn fresh(config: &DriveConfig) -> BlockFtl<G> {
        let geometry = config.geometry();
        let count = geometry.superblock_count as usize;
        let held = config.buffer.hold_bytes / u64::from(config.shape.slot_bytes);
        let gather_slots = geometry.slots_per_unit + held as u32;
        BlockFtl {
            counters: DriveCounters::default(),
            table: vec![UNMAPPED; config.user_slots() as usize],
            written_end: 0,
            valid: vec![0; count],
            role: vec![SuperblockRole::Free; count],
            home: vec![NONE; config.segments() as usize],
            rewrite: None,
            free: (0..count as u32).collect(),
            gather: Gather::new(gather_slots + 1),
            gather_slots,
            map_log: MapLog::new(config),
            launched: Vec::new(),
            released: 0,
            nand: Nand::new(geometry, &config.nand, None),
        }
    }

    fn user_slots(&self) -> u32 {
        self.table.len() as u32
    }

    fn units(&self) -> u32 {
        self.nand.geometry.units_per_superblock()
    }

    /// Segment and unit of a slot.
    #[inline(always)]
    fn target(&self, lpn: u32) -> SegmentUnit {
        // Segments are divided like superblocks.
        let place = self.nand.geometry.place(lpn);
        SegmentUnit {
            segment: place.superblock,
            unit: place.unit,
        }
    }

    /// The logical slots of a unit, excluding those beyond the drive's end.
    #[inline(always)]
    fn slots_of(&self, at: SegmentUnit) -> Range<u32> {
        let geometry = &self.nand.geometry;
        let first = at.segment * geometry.slots_per_superblock + at.unit * geometry.slots_per_unit;
        let end = self.user_slots();
        first.min(end)..(first + geometry.slots_per_unit).min(end)
    }

    /// Takes a slot of the host into the buffer.
    #[inline(always)]
    fn take_in(&mut self, lpn: u32) {
        if self.gather.is_full() {
            for (index, entry) in self.gather.compact() {
                self.table[entry.lpn as usize] = BUFFERED + index;
            }
        }
        let old = self.table[lpn as usize];
        self.written_end = self.written_end.max(lpn + 1);
        let entry = GatherEntry {
            lpn,
            old,
            weight: 1,
        };
        self.table[lpn as usize] = BUFFERED + self.gather.push(entry);
    }

    /// Takes a slot out of the buffer; returns the table's value for its copy on media.
    #[inline(always)]
    fn take_out(&mut self, lpn: u32) -> (u32, bool) {
        let value = self.table[lpn as usize];
        if value < BUFFERED {
            return (value, false);
        }
        let old = self.gather.kill(value - BUFFERED).old;
        self.table[lpn as usize] = old;
        (old, true)
    }

    /// The table's value for the slot's copy on media, whatever the buffer holds.
    #[inline(always)]
    fn copy_on_media(&self, lpn: u32) -> u32 {
        match self.table[lpn as usize] {
            value if value >= BUFFERED => self.gather.old(value - BUFFERED),
            value => value,
        }
    }

    /// Subtracts the copy behind a map value from the valid slots of its superblock.
    #[inline(always)]
    fn invalidate(&mut self, value: u32) {
        if value != UNMAPPED {
            let superblock = self.nand.geometry.superblock_of(value - 1);
            self.valid[superblock as usize] -= 1;
        }
    }

    fn take_free(&mut self, role: SuperblockRole) -> u32 {
        let superblock = self.free.pop_front();
        let superblock = superblock.expect("the configuration keeps superblocks free");
        self.role[superblock as usize] = role;
        // Moves finish one after another, so that a power cut finds at most one unfinished.
        self.nand.wait_before_erase(superblock);
        superblock
    }

    /// Frees a superblock without valid slots; it is erased before use.
    fn release(&mut self, superblock: u32) {
        let s = superblock as usize;
        assert_eq!(self.valid[s], 0, "superblock {superblock} goes free");
        self.role[s] = SuperblockRole::Free;
        self.nand.make_stale(superblock, false);
        self.free.push_back(superblock);
    }

    /// Frees the superblocks that a segment no longer needs after its slots have moved.
    #[inline(always)]
    fn settle(&mut self, segment: u32) {
        if let Some(rewrite) = self.rewrite.filter(|rewrite| rewrite.segment == segment) {
            if self.valid[rewrite.old as usize] > 0 {
                return;
            }
            self.rewrite = None;
            self.counters.superblocks_reclaimed += 1;
            self.release(rewrite.old);
        }
        let home = self.home[segment as usize];
        if home != NONE && self.valid[home as usize] == 0 {
            self.home[segment as usize] = NONE;
            self.map_log.change(1);
            self.release(home);
        }
    }

    /// Trims a slot; returns the number of buffer places that this frees.
    fn forget(&mut self, lpn: u32) -> u32 {
        let (old, was_buffered) = self.take_out(lpn);
        if old != UNMAPPED {
            self.invalidate(old);
            self.table[lpn as usize] = UNMAPPED;
            self.nand.remember_trim(lpn);
            self.map_log.change(1);
            self.settle(self.target(lpn).segment);
        }
        u32::from(was_buffered)
    }
}
