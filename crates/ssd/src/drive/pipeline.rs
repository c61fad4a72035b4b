//! Changes of the map in the order received: writes into the buffer, commits, TRIM.
//!
//! A write waits while the buffer is full, and all later changes of the map wait with it, so the
//! map depends on the order of commands alone. A slot occupies the buffer until its program has
//! ended.
//!
//! A FLUSH, or a FUA write to a volatile buffer, must commit before it completes: it programs the
//! data, then the map pages, each after the previous program has ended. Commits are serial. A small
//! durable write therefore costs several programs on a drive whose buffer does not survive a power
//! cut. Where commits have superblocks of their own, their data is programmed at once; map pages
//! and the time of the controller remain serial, except that of `fua_at_once` writes by FUA.
//!
//! On a drive with a tree map, a write is placed when it is complete: the rest of a partly written
//! mapping unit has been read. Until then no die is held for its program, which other reads would
//! have to wait behind. The order stays that of the commands.
//!
//! With `joined_flushes`, a write enters the buffer when its data have been received, and a FLUSH
//! overtakes writes that have not. It begins a commit at once if none is running; flushes that come
//! while one is wait for its end and share the next, which covers what is in the buffer by then.

use crate::ftl::Hint;
use crate::image::image_of;
use crate::nand::Ticket;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A change of the map in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct PipelineChange {
    pub tag: u32,
    pub kind: ChangeKind,
    /// First slot still to do.
    pub next: u32,
    pub last: u32,
    pub hint: Hint,
    /// Time at which the command and its data were in the controller.
    pub ready: u64,
    /// Time from the end of a write until it is answered, besides what every command takes.
    pub answer_ns: u64,
}

/// Kinds of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeKind {
    Write,
    WriteThrough,
    Flush,
    Trim { commit: bool },
}

image_of! {
    /// Room in the buffer, and the changes that wait for it.
    #[derive(Clone, Debug)]
    pub(super) struct Pipeline {
        pub capacity: u32,
        /// Slots in use: buffered ones and those whose program has not ended.
        pub occupied: u32,
        /// Programs in flight, by their last known end.
        pub in_flight: BinaryHeap<Reverse<(Ticket, u32)>>,
        pub in_flight_slots: u32,
        /// End of the last commit.
        pub commit_end: u64,
        /// Whether flushes are joined.
        pub joins: bool,
    } afresh {
        /// Whether changes wait until their data have been received; so they do where flushes are
        /// joined.
        pub waits: bool,
        pub waiting: VecDeque<PipelineChange>,
        /// The first waiting change has found no room.
        pub blocked: bool,
        /// Flushes that wait for the end of the running commit, by tag.
        pub joined: Vec<u32>,
        /// Ends of the last writes by FUA, where several take their time side by side: as many as
        /// may.
        pub fua_ends: VecDeque<u64>,
    }
}

impl Pipeline {
    pub fn new(capacity: u32, joins: bool, waits: bool) -> Pipeline {
        Pipeline {
            capacity,
            occupied: 0,
            in_flight: BinaryHeap::new(),
            in_flight_slots: 0,
            waiting: VecDeque::new(),
            blocked: false,
            commit_end: 0,
            joins,
            waits: joins || waits,
            joined: Vec::new(),
            fua_ends: VecDeque::new(),
        }
    }

    /// Time at which a waiting change may go on; `u64::MAX` when none waits.
    #[inline(always)]
    pub fn next_time(&self) -> u64 {
        if self.waits {
            return self.next_time_waiting();
        }
        if self.waiting.is_empty() {
            return u64::MAX;
        }
        self.in_flight.peek().map_or(u64::MAX, |f| f.0.0.end)
    }

    #[cold]
    fn next_time_waiting(&self) -> u64 {
        let commit = if self.joined.is_empty() {
            u64::MAX
        } else {
            self.commit_end
        };
        let change = match self.waiting.front() {
            Some(first) if !self.blocked => first.ready,
            Some(_) => self.in_flight.peek().map_or(u64::MAX, |f| f.0.0.end),
            None => u64::MAX,
        };
        commit.min(change)
    }

    /// Lets a change wait until its data have been received: behind all other changes, or, where
    /// flushes are joined, a flush behind those received before it.
    #[cold]
    #[inline(never)]
    pub fn receive(&mut self, mut change: PipelineChange) {
        let place = match change.kind {
            ChangeKind::Flush if self.joins => {
                let before = self.waiting.partition_point(|w| w.ready <= change.ready);
                before.max(usize::from(self.blocked))
            }
            _ => {
                let last = self.waiting.back().map_or(0, |last| last.ready);
                change.ready = change.ready.max(last);
                self.waiting.len()
            }
        };
        self.waiting.insert(place, change);
    }

    pub fn clear(&mut self) {
        *self = Pipeline {
            commit_end: self.commit_end,
            ..Pipeline::new(self.capacity, self.joins, self.waits)
        };
    }

    /// Empties the buffer and drops the waiting changes after a power failure.
    pub fn restart(&mut self) {
        *self = Pipeline::new(self.capacity, self.joins, self.waits);
    }

    pub fn check(&self, buffered: u32) -> Result<(), String> {
        let held = self.occupied - self.in_flight_slots;
        if held != buffered {
            return Err(format!("buffer counts {held} slots, holds {buffered}"));
        }
        if self.occupied > self.capacity {
            return Err(format!(
                "buffer of {} slots holds {}",
                self.capacity, self.occupied
            ));
        }
        Ok(())
    }
}
