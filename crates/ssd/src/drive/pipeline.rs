//! Changes of the map in the order received: writes into the buffer, commits, TRIM.
//!
//! A write waits while the buffer is full, and all later changes of the map wait with it, so the
//! map depends on the order of commands alone. A slot occupies the buffer until its program has
//! ended.
//!
//! A FLUSH, or a FUA write to a volatile buffer, must commit before it completes: it programs the
//! data, then the map pages, each after the previous program has ended. Commits are serial. A small
//! durable write therefore costs several programs on a drive whose buffer does not survive a power
//! cut.

use crate::ftl::Hint;
use crate::image::image_of;
use crate::nand::Ticket;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A change of the map in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub tag: u32,
    pub kind: Kind,
    /// First slot still to do.
    pub next: u32,
    pub last: u32,
    pub hint: Hint,
    /// Time at which the command and its data were in the controller.
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

/// Room in the buffer, and the changes that wait for it.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub capacity: u32,
    /// Slots in use: buffered ones and those whose program has not ended.
    pub occupied: u32,
    /// Programs in flight, by their last known end.
    pub in_flight: BinaryHeap<Reverse<(Ticket, u32)>>,
    pub in_flight_slots: u32,
    pub waiting: VecDeque<Change>,
    /// End of the last commit.
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

    /// Time at which room may become free for a waiting change; `u64::MAX` when none waits.
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

    /// Empties the buffer and drops the waiting changes after a power failure.
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
