//! What every kind of translation layer offers the drive.

use super::policies::VictimPolicy;
use crate::config::DriveConfig;
use crate::counters::DriveCounters;
use crate::image::{Image, image_of};
use crate::nand::{EndOfLife, NandWork, Purpose, Reliability, Ticket, UsedArray};
use std::fmt::Debug;
use std::ops::Range;

/// Where a logical slot's newest copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nowhere: never written, or trimmed.
    Unmapped,
    /// In the write buffer.
    Buffered,
    /// On media, at this slot.
    Media(u32),
}

/// What the host says about a write besides its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    /// Stream, for drives that separate by it.
    pub stream: u8,
    /// Per cent of the data that a compressor removes.
    pub compress_pct: u8,
    /// The command's tag: under it media that remember find the data.
    pub tag: u32,
}

/// A unit of the host given to media: how many mapping units of buffer it frees when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Mapping units.
    pub slots: u32,
    /// When.
    pub ticket: Ticket,
}

image_of!(Launched { slots, ticket });

/// The state of a superblock, to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuperblockView {
    /// Valid slots.
    pub valid: u32,
    /// Slots that it has in the mode it is in.
    pub slots: u32,
    /// Erases.
    pub erases: u32,
    /// Holds nothing and waits to be opened.
    pub free: bool,
}

/// How many commands ahead map entries are fetched, where many commands are known.
pub(crate) const AHEAD: usize = 64;

/// Logical slots to media and back: what every kind of translation layer offers the drive.
pub trait Translation: Clone + Debug + Image {
    /// Over factory-fresh media. `config` has been validated; `victim` replaces its policy.
    fn new(config: &DriveConfig, victim: Option<Box<dyn VictimPolicy>>) -> Self;
    /// No later request will be for a time before `now`.
    fn set_now(&mut self, now: u64);
    /// Takes a mapping unit of the host into the buffer, giving older ones to media as needed;
    /// true when it takes room of its own (false: it replaced one there).
    fn write(&mut self, from: u64, lpn: u32, hint: Hint) -> bool;
    /// Takes a run of mapping units of the host into the buffer, as [`Translation::write`] would
    /// one by one.
    fn write_run(&mut self, from: u64, lpns: Range<u32>, hint: Hint) {
        for lpn in lpns {
            self.write(from, lpn, hint);
        }
    }
    /// Whether nothing but the address of a write matters, and the drive does not come to its end:
    /// no streams, no compression, no wear.
    fn writes_are_plain(&self) -> bool {
        false
    }
    /// Takes the first `count` of `lpns` into the buffer, as [`Translation::write`] would one by
    /// one; what the others will need, later, is fetched early. Only where writes are plain.
    fn write_each(&mut self, lpns: &[u32], count: usize) {
        for &lpn in &lpns[..count] {
            self.write(0, lpn, Hint::default());
        }
    }
    /// Counters and cycles grow by `times` what they grew by since then, without anything being
    /// played.
    fn leap(&mut self, _counters: &DriveCounters, _work: &NandWork, _times: u64) {}
    /// Programs mapping units that cannot wait, past the buffer. Returns when they are safe on
    /// media, and how many of them were in the buffer and are no more.
    fn write_through(&mut self, from: u64, lpns: Range<u32>, hint: Hint) -> (u64, u32);
    /// Gives everything in the buffer to media, safely; returns the end.
    fn flush_data(&mut self, from: u64) -> u64;
    /// Whether a commit must write map: something changed since the last one.
    fn uncommitted(&self) -> bool;
    /// Programs the map pages of a commit, one after another; returns the end.
    fn commit_map(&mut self, from: u64) -> u64;
    /// The mapping unit's data is no longer needed; returns how many places in the buffer are
    /// freed by that (0 or 1).
    fn trim(&mut self, lpn: u32) -> u32;
    /// Reads mapping units for the host; returns when all are in the controller.
    fn read(&mut self, from: u64, lpns: Range<u32>) -> u64;
    /// Reads one mapping unit for the drive itself (read-modify-write).
    fn read_internal(&mut self, from: u64, lpn: u32) -> u64;
    /// One step of what is left for idle time; returns its end, or `None` when nothing is left.
    fn idle(&mut self, from: u64) -> Option<u64>;
    /// Whether [`Translation::idle`] has something to do.
    fn has_idle_work(&self) -> bool;
    /// Asks for a superblock to be rewritten when idle (its data fades); false when it is not full
    /// or this layer does not refresh.
    fn request_refresh(&mut self, superblock: u32) -> bool;
    /// Wear of the media, where it wears.
    fn reliability(&self) -> Option<&Reliability> {
        None
    }
    /// What the drive does now that its reserve is used up; `None`: it is not.
    #[inline(always)]
    fn ended(&self) -> Option<EndOfLife> {
        None
    }
    /// A command was refused because the drive is at its end.
    fn count_refused(&mut self) {}
    /// The media lies for so many hours at its reference temperature; then a patrol is due, when
    /// the drive is idle.
    fn rest(&mut self, _hours: u32) {}
    /// Superblocks that the patrol under way has still to look through.
    fn patrol_left(&self) -> u32 {
        0
    }
    /// The patrol looks through the next full superblock now, busy or not; returns the end.
    fn patrol_now(&mut self, _from: u64) -> Option<u64> {
        None
    }
    /// Forgets everything and erases the media; returns when that is done.
    fn secure_erase(&mut self, from: u64) -> u64;
    /// Units of the host given to media since this list was last emptied.
    fn launched(&mut self) -> &mut Vec<Launched>;
    /// When a program ends as is now known; zero when it is over.
    fn end_of(&self, ticket: Ticket) -> u64;
    /// Somebody relies on when this program ends: no read overtakes it from now on.
    fn make_firm(&mut self, ticket: Ticket) -> u64;
    /// Whether the mapping unit is in the buffer, so that a write to it takes no room.
    fn is_buffered(&self, lpn: u32) -> bool;
    /// Mapping units in the buffer not yet given to media.
    fn buffered_slots(&self) -> u32;
    /// Where a mapping unit's newest copy is.
    fn find(&self, lpn: u32) -> Found;
    /// The newest copy that has been given to media, whether or not the buffer holds a newer one.
    fn media_copy(&self, lpn: u32) -> Option<u32>;
    /// Fetches what a command for this mapping unit will need early; no effect on the model.
    fn prefetch(&self, lpn: u32);
    /// Fetches what the map's value leads to, when [`Translation::prefetch`] has been long ago
    /// enough for it to be here.
    fn prefetch_behind(&self, _lpn: u32) {}
    /// Counters; those of the host side are kept by the drive.
    fn counters(&mut self) -> &mut DriveCounters;
    /// Counters, to look at.
    fn counted(&self) -> &DriveCounters;
    /// What was done to the array.
    fn nand_work(&self) -> &NandWork;
    /// What the array has been through.
    fn array(&self) -> UsedArray;
    /// Busy time of all dies by purpose, ns; zeroes without time.
    fn busy_by_purpose(&self) -> [u64; Purpose::COUNT];
    /// Busy time of each die and channel, ns; empty without time.
    fn busy_ns(&self) -> (Vec<u64>, Vec<u64>);
    /// When a die will have finished everything booked; zero without time.
    fn die_free_at(&self, die: u32) -> u64;
    /// Superblocks free for data in native mode.
    fn free_superblocks(&self) -> usize;
    /// Superblocks of the static pSLC cache ready for use.
    fn free_slc_superblocks(&self) -> usize;
    /// Superblocks.
    fn superblock_count(&self) -> u32;
    /// A superblock.
    fn superblock(&self, superblock: u32) -> SuperblockView;
    /// Walks everything and reports the first contradiction, in a sentence.
    ///
    /// # Errors
    /// The contradiction.
    fn check(&self) -> Result<(), String>;
}
