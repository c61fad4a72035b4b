//! Interface of every kind of translation layer to the drive.

use super::policies::VictimPolicy;
use crate::command::Command;
use crate::config::DriveConfig;
use crate::counters::DriveCounters;
use crate::image::{Image, image_of};
use crate::nand::{EndOfLife, Gear, Nand, NandWork, Purpose, Reliability, Ticket, UsedArray};
use std::fmt::Debug;
use std::ops::Range;

/// Place of a logical slot's newest copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotPlace {
    /// Nowhere: never written, or trimmed.
    Unmapped,
    /// In the write buffer.
    Buffered,
    /// On media, at this slot.
    Media(u32),
}

/// Information of the host about a write besides its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    /// Stream, for drives that separate data by stream.
    pub stream: u8,
    /// Percentage of the data that a compressor removes.
    pub compress_pct: u8,
    /// Tag of the command, under which media that keep data find its content.
    pub tag: u32,
}

impl Hint {
    /// The hint of a write command under its `tag`.
    #[inline(always)]
    pub fn of(command: &Command, tag: u32) -> Hint {
        Hint {
            stream: command.stream,
            compress_pct: command.compress_pct,
            tag,
        }
    }
}

image_of! {
    /// A booked unit of host data, which frees mapping units of buffer when its program ends.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct BookedUnit {
        /// Number of mapping units.
        pub slots: u32,
        /// Program that frees them.
        pub ticket: Ticket,
    }
}

/// State of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuperblockView {
    /// Valid slots.
    pub valid: u32,
    /// Slots of the superblock in its present mode.
    pub slots: u32,
    /// Erases.
    pub erases: u32,
    /// Whether it is empty and waits to be opened.
    pub free: bool,
}

/// Distance of prefetching map entries, in commands, where many commands are known in advance.
pub(crate) const AHEAD: usize = 64;

/// A translation layer: maps logical slots to media.
pub trait Translation: Clone + Debug + Image {
    /// With or without time.
    type Gear: Gear;
    /// The array.
    fn nand(&self) -> &Nand<Self::Gear>;
    /// Mutable access to the array.
    fn nand_mut(&mut self) -> &mut Nand<Self::Gear>;
    /// Creates the layer over factory-fresh media. `config` has been validated; `victim` replaces
    /// its policy.
    fn new(config: &DriveConfig, victim: Option<Box<dyn VictimPolicy>>) -> Self;
    /// Sets a lower bound of the times of all later requests.
    #[inline(always)]
    fn set_now(&mut self, now: u64) {
        self.nand_mut().set_now(now);
    }
    /// Takes a mapping unit of the host into the buffer, programming older ones as needed; true if
    /// it takes additional space, false if it replaces a buffered one.
    fn write(&mut self, from: u64, lpn: u32, hint: Hint) -> bool;
    /// Takes a run of mapping units of the host into the buffer, as [`Translation::write`] would
    /// one by one.
    fn write_run(&mut self, from: u64, lpns: Range<u32>, hint: Hint) {
        for lpn in lpns {
            self.write(from, lpn, hint);
        }
    }
    /// Whether only the address of a write matters and the drive cannot reach its end of life: no
    /// streams, no compression, no wear.
    fn writes_are_plain(&self) -> bool {
        false
    }
    /// Takes the first `count` of `lpns` into the buffer, as [`Translation::write`] would one by
    /// one; prefetches for the others. Only where writes are plain.
    fn write_each(&mut self, lpns: &[u32], count: usize) {
        for &lpn in &lpns[..count] {
            self.write(0, lpn, Hint::default());
        }
    }
    /// Adds to counters and cycles `times` their growth since the given ones, without simulation.
    fn leap(&mut self, _counters: &DriveCounters, _work: &NandWork, _times: u64) {}
    /// Programs mapping units that cannot wait, without buffering them. Returns when they are safe
    /// on media, and how many of them were removed from the buffer.
    fn write_through(&mut self, from: u64, lpns: Range<u32>, hint: Hint) -> (u64, u32);
    /// Programs everything buffered as a commit requires; returns the end.
    fn flush_data(&mut self, from: u64) -> u64;
    /// Whether a commit must write the map because it has changed since the last one.
    fn uncommitted(&self) -> bool;
    /// Programs the map pages of a commit, one after another; returns the end.
    fn commit_map(&mut self, from: u64) -> u64;
    /// Trims a mapping unit; returns the number of buffer places that this frees (0 or 1).
    fn trim(&mut self, lpn: u32) -> u32;
    /// Reads mapping units for the host; returns when all are in the controller.
    fn read(&mut self, from: u64, lpns: Range<u32>) -> u64;
    /// Reads one mapping unit for the drive itself (read-modify-write).
    fn read_internal(&mut self, from: u64, lpn: u32) -> u64;
    /// Does one step of idle work; returns its end, or `None` when nothing is left.
    fn idle(&mut self, from: u64) -> Option<u64>;
    /// Whether [`Translation::idle`] has something to do.
    fn has_idle_work(&self) -> bool;
    /// Requests that a superblock with fading data be rewritten when idle; false if it is not full
    /// or this layer does not refresh.
    fn request_refresh(&mut self, superblock: u32) -> bool;
    /// Wear of the media, where it wears.
    fn reliability(&self) -> Option<&Reliability> {
        self.nand().wear()
    }
    /// Behaviour at the end of life; `None`: the reserve is not used up.
    #[inline(always)]
    fn ended(&self) -> Option<EndOfLife> {
        None
    }
    /// Counts a command refused because the drive has reached its end of life.
    fn count_refused(&mut self) {
        if let Some(wear) = self.nand_mut().wear_mut() {
            wear.count_refused();
        }
    }
    /// Lets hours pass on the media at the reference temperature; a patrol is then due when the
    /// drive is idle.
    fn rest(&mut self, _hours: u32) {}
    /// Superblocks that the current patrol still has to scan.
    fn patrol_left(&self) -> u32 {
        0
    }
    /// Patrols the next full superblock now, busy or not; returns the end.
    fn patrol_now(&mut self, _from: u64) -> Option<u64> {
        None
    }
    /// Discards all data and erases the media; returns the end.
    fn secure_erase(&mut self, from: u64) -> u64;
    /// Units of host data booked since this list was last emptied.
    fn launched(&mut self) -> &mut Vec<BookedUnit>;
    /// Currently known end of a program; zero when it is over.
    fn end_of(&self, ticket: Ticket) -> u64 {
        self.nand().end_of(ticket)
    }
    /// Fixes the end of a program, because others depend on it: no read overtakes it from now on.
    fn make_firm(&mut self, ticket: Ticket) -> u64 {
        self.nand_mut().make_firm(ticket)
    }
    /// Whether the mapping unit is in the buffer, so that a write to it takes no additional space.
    fn is_buffered(&self, lpn: u32) -> bool;
    /// Mapping units in the buffer that are not yet booked for programming.
    fn buffered_slots(&self) -> u32;
    /// Place of a mapping unit's newest copy.
    fn find(&self, lpn: u32) -> SlotPlace;
    /// The newest copy booked or programmed on media, whether or not the buffer holds a newer one.
    fn media_copy(&self, lpn: u32) -> Option<u32>;
    /// Holds the whole map in DRAM from now on, where only a part of it was.
    fn hold_whole_map(&mut self) {}
    /// Prefetches the map entry of this mapping unit; no effect on the model.
    fn prefetch(&self, lpn: u32);
    /// Prefetches the memory behind the map entry, some time after [`Translation::prefetch`].
    fn prefetch_behind(&self, _lpn: u32) {}
    /// Mutable counters; the drive updates those of the host side.
    fn counters(&mut self) -> &mut DriveCounters;
    /// Counters.
    fn counted(&self) -> &DriveCounters;
    /// Work done on the array.
    fn nand_work(&self) -> &NandWork {
        &self.nand().work
    }
    /// Wear and work counts of the array.
    fn array(&self) -> UsedArray {
        self.nand().used()
    }
    /// Busy time of all dies by purpose, ns; zeroes without time.
    fn busy_by_purpose(&self) -> [u64; Purpose::COUNT] {
        self.nand().gear().busy_by_purpose()
    }
    /// Busy time of each die and channel, ns; empty without time.
    fn busy_ns(&self) -> (Vec<u64>, Vec<u64>) {
        self.nand().gear().busy_ns()
    }
    /// End of everything booked on a die; zero without time.
    fn die_free_at(&self, die: u32) -> u64 {
        self.nand().gear().die_free_at(die)
    }
    /// Superblocks free for data in native mode.
    fn free_superblocks(&self) -> usize;
    /// Superblocks of the static pSLC cache ready for use.
    fn free_slc_superblocks(&self) -> usize;
    /// Number of superblocks.
    fn superblock_count(&self) -> u32 {
        self.nand().geometry.superblock_count
    }
    /// State of a superblock.
    fn superblock(&self, superblock: u32) -> SuperblockView;
    /// Checks everything and reports the first contradiction, in a sentence.
    ///
    /// # Errors
    /// The contradiction.
    fn check(&self) -> Result<(), String>;
}
