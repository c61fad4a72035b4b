//! Writes: into the buffer, and from it to media a unit at a time.

use super::Drive;
use crate::command::Command;
use crate::ftl::{Found, Ftl};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

/// A write that found the buffer full: slots from `next` to `last` are not yet in.
#[derive(Clone, Debug)]
struct Waiting {
    tag: u32,
    next: u32,
    last: u32,
    /// When its data was in the controller.
    ready: u64,
}

/// Room in the buffer, and who waits for it.
#[derive(Clone, Debug)]
pub(super) struct WriteBuffer {
    capacity: u32,
    /// Slots taken: buffered ones and those whose program has not ended.
    occupied: u32,
    /// Programs under way: end and slots, earliest first.
    in_flight: BinaryHeap<Reverse<(u64, u32)>>,
    in_flight_slots: u32,
    /// When the last program of host data ends.
    last_end: u64,
    waiting: VecDeque<Waiting>,
    /// When the die that the next unit goes to is free; `u64::MAX` when nothing is to be drained.
    drain_at: u64,
}

impl WriteBuffer {
    pub fn new(capacity: u32) -> WriteBuffer {
        WriteBuffer {
            capacity,
            occupied: 0,
            in_flight: BinaryHeap::new(),
            in_flight_slots: 0,
            last_end: 0,
            waiting: VecDeque::new(),
            drain_at: u64::MAX,
        }
    }

    /// When the buffer next has something to do.
    #[inline(always)]
    pub fn next_time(&self) -> u64 {
        if self.waiting.is_empty() {
            return self.drain_at;
        }
        let room = self.in_flight.peek().map_or(u64::MAX, |first| first.0.0);
        self.drain_at.min(room)
    }

    /// When everything already given to media is on it.
    pub fn last_end(&self) -> u64 {
        self.last_end
    }

    pub fn clear(&mut self) {
        *self = WriteBuffer {
            last_end: self.last_end,
            ..WriteBuffer::new(self.capacity)
        };
    }

    fn release(&mut self, until: u64) {
        while let Some(&Reverse((end, slots))) = self.in_flight.peek() {
            if end > until {
                break;
            }
            self.in_flight.pop();
            self.occupied -= slots;
            self.in_flight_slots -= slots;
        }
    }

    fn launched(&mut self, slots: u32, end: u64) {
        self.in_flight.push(Reverse((end, slots)));
        self.in_flight_slots += slots;
        self.last_end = self.last_end.max(end);
    }

    pub fn check(&self, ftl: &Ftl) -> Result<(), String> {
        let held = self.occupied - self.in_flight_slots;
        if held != ftl.ring_len() {
            return Err(format!(
                "buffer counts {held} slots, holds {}",
                ftl.ring_len()
            ));
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

impl Drive {
    #[inline]
    pub(super) fn start_write(&mut self, tag: u32, command: &Command, ready: u64) {
        let length = self.link_time(command.len);
        let mut received = self.link_in.reserve(self.now, ready, length);
        let slots = self.slots(command);
        let partial = (command.offset | u64::from(command.len)) & ((1 << self.slot_shift) - 1);
        if partial != 0 {
            received = received.max(self.read_edges(command, &slots, ready));
        }
        self.ftl.counters.host_writes += 1;
        self.ftl.counters.host_bytes_written += u64::from(command.len);
        self.ftl.counters.host_fua_writes += u64::from(command.fua);
        if command.fua && !self.config.buffer.protected {
            self.commit_fua(tag, slots, received);
            return;
        }
        let write = Waiting {
            tag,
            next: slots.start,
            last: slots.end,
            ready: received,
        };
        if !self.buffer.waiting.is_empty() {
            self.buffer.waiting.push_back(write);
            return;
        }
        if let Some(rest) = self.admit(write, received) {
            self.buffer.waiting.push_back(rest);
        }
        self.drain(received);
    }

    /// A write of part of a mapping unit needs the rest of it: read-modify-write.
    fn read_edges(&mut self, command: &Command, slots: &Range<u32>, ready: u64) -> u64 {
        let within = (1 << self.slot_shift) - 1;
        let last = command.offset + u64::from(command.len);
        let head = (command.offset & within != 0).then_some(slots.start);
        let tail = (last & within != 0).then_some(slots.end - 1);
        let mut end = ready;
        for lpn in head.into_iter().chain(tail.filter(|_| tail != head)) {
            if let Found::Media(ppn) = self.ftl.find(lpn) {
                let at = self.ftl.nand.geometry.place(ppn);
                let mode = self.ftl.mode_of(at.superblock);
                end = end.max(self.ftl.nand.read(self.now, ready, at.die, at.row, mode, 1));
                self.ftl.counters.nand_reads_internal += 1;
            }
        }
        end
    }

    /// Puts as much of a write into the buffer as has room; completes it when all is in.
    #[inline]
    fn admit(&mut self, mut write: Waiting, at: u64) -> Option<Waiting> {
        while write.next < write.last {
            if self.buffer.occupied == self.buffer.capacity {
                self.buffer.release(at);
                let full = self.buffer.occupied == self.buffer.capacity;
                if full && !self.ftl.is_buffered(write.next) {
                    return Some(write);
                }
            }
            if !self.ftl.buffer(write.next) {
                self.buffer.occupied += 1;
            }
            write.next += 1;
        }
        self.complete(write.tag, at.max(write.ready));
        None
    }

    /// Gives whole units to media as long as the die whose turn it is is free.
    #[inline]
    pub(super) fn drain(&mut self, at: u64) {
        if self.buffer.drain_at != u64::MAX && self.buffer.drain_at > at {
            return;
        }
        self.buffer.drain_at = u64::MAX;
        self.purge();
        while self.must_drain() {
            let free_at = self.ftl.host_die_free_at(self.now, at);
            if free_at > at {
                self.buffer.drain_at = free_at;
                return;
            }
            let Some((slots, end)) = self.ftl.program_buffered(self.now, at) else {
                return;
            };
            self.buffer.launched(slots, end);
        }
    }

    /// A whole unit is there; or less, but a write waits for room that nothing else will give.
    #[inline]
    fn must_drain(&self) -> bool {
        let live = self.ftl.buffered_slots();
        live >= self.ftl.nand.geometry.slots_per_unit
            || (live > 0 && !self.buffer.waiting.is_empty() && self.buffer.in_flight.is_empty())
    }

    /// Dead entries (trimmed, or overtaken by FUA) give up their room when their turn comes.
    #[inline]
    fn purge(&mut self) {
        if self.ftl.ring_len() > self.ftl.buffered_slots() {
            self.buffer.occupied -= self.ftl.purge_dead();
        }
    }

    /// Gives everything buffered to media at once; returns when it is there. A commit also makes
    /// it safe there.
    pub(super) fn drain_all(&mut self, at: u64, commit: bool) -> u64 {
        self.purge();
        self.buffer.drain_at = u64::MAX;
        let before = self.ftl.ring_len();
        let end = if commit {
            self.ftl.commit_buffered(self.now, at)
        } else {
            self.ftl.program_all_buffered(self.now, at)
        };
        let slots = before - self.ftl.ring_len();
        if slots > 0 {
            self.buffer.launched(slots, end);
        }
        end
    }

    /// Room has come free, or a die has: go on.
    pub(super) fn run_buffer(&mut self, at: u64) {
        self.buffer.release(at);
        if self.buffer.drain_at <= at {
            self.drain(at);
        }
        while let Some(write) = self.buffer.waiting.pop_front() {
            if let Some(rest) = self.admit(write, at) {
                self.buffer.waiting.push_front(rest);
                break;
            }
        }
        self.buffer.drain_at = u64::MAX;
        self.drain(at);
    }
}
