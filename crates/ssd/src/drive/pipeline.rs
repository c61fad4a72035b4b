//! What changes the map, in the order received: writes into the buffer, commits, TRIM.
//!
//! A write that finds the buffer full waits, and everything behind it that changes the map waits
//! with it; so the map depends on the order of commands alone. A slot takes its place in the
//! buffer until the program that puts it on media has ended.
//!
//! Commits are what FLUSH, and FUA on a volatile buffer, must do before they complete: the data
//! to media, then the map pages that lead to it, each program after the one before has ended.
//! One commit at a time. This is what makes a small durable write cost several programs on a
//! drive whose buffer does not survive a power cut.

use crate::ftl::Hint;
use crate::image::image_of;
use crate::nand::Ticket;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A change that has not yet happened in full.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub tag: u32,
    pub kind: Kind,
    /// Slots still to do.
    pub next: u32,
    pub last: u32,
    pub hint: Hint,
    /// When it, and its data, were in the controller.
    pub ready: u64,
}

/// Kinds of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Write,
    WriteThrough,
    Flush,
    Trim { commit: bool },
}

/// Room in the buffer, and who waits for it.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub capacity: u32,
    /// Slots taken: buffered ones and those whose program has not ended.
    pub occupied: u32,
    /// Programs under way, by the end they had when last looked at.
    pub in_flight: BinaryHeap<Reverse<(Ticket, u32)>>,
    pub in_flight_slots: u32,
    pub waiting: VecDeque<Change>,
    /// When the last commit ends.
    pub commit_end: u64,
}

image_of!(Pipeline {
    capacity,
    occupied,
    in_flight,
    in_flight_slots,
    commit_end
} afresh { waiting });

impl Pipeline {
    pub fn new(capacity: u32) -> Pipeline {
        Pipeline {
            capacity,
            occupied: 0,
            in_flight: BinaryHeap::new(),
            in_flight_slots: 0,
            waiting: VecDeque::new(),
            commit_end: 0,
        }
    }

    /// When room may come free for who waits; `u64::MAX` when nobody does.
    #[inline(always)]
    pub fn next_time(&self) -> u64 {
        if self.waiting.is_empty() {
            return u64::MAX;
        }
        self.in_flight
            .peek()
            .map_or(u64::MAX, |first| first.0.0.end)
    }

    pub fn clear(&mut self) {
        *self = Pipeline {
            commit_end: self.commit_end,
            ..Pipeline::new(self.capacity)
        };
    }

    /// Power failed: nothing is in the buffer, nobody waits.
    pub fn restart(&mut self) {
        *self = Pipeline::new(self.capacity);
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
