//! Changes of the map on their way through the pipeline: writes, commits, TRIM.

use super::engine::Engine;
use super::pipeline::{ChangeKind, PipelineChange};
use super::span::{edges, slots_within};
use crate::command::{Command, Op};
use crate::ftl::{Hint, Translation};
use crate::nand::Ticket;
use crate::units::Nanos;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

impl<F: Translation> Engine<F> {
    #[inline]
    pub(super) fn start_write(&mut self, tag: u32, command: &Command, ready: u64) {
        let length = self.link_time(command.len);
        let mut received = self.link_in.reserve(self.now, ready, length);
        let slots = self.slots(command);
        if let Some(ahead) = &mut self.ahead {
            ahead.forget(&slots);
        }
        let partial = (command.offset | u64::from(command.len)) & ((1 << self.slot_shift) - 1);
        if partial != 0 {
            received = received.max(self.read_edges(command, &slots, ready));
        }
        if let Some(limit) = &mut self.limit {
            received = limit.admit(received, command.len);
        }
        self.ftl.counters().count_write(command);
        let buffer = &self.config.buffer;
        let through = (command.fua || !buffer.write_cache) && !buffer.protected;
        self.change(PipelineChange {
            tag,
            kind: if through {
                ChangeKind::WriteThrough
            } else {
                ChangeKind::Write
            },
            next: slots.start,
            last: slots.end,
            hint: Hint::of(command, tag),
            ready: received,
            answer_ns: {
                let committed = command.fua && buffer.protected;
                let time = if committed { buffer.fua_time.0 } else { 0 };
                time + self.config.host.write_latency.0
            },
        });
    }

    pub(super) fn start_flush(&mut self, tag: u32, ready: u64) {
        self.ftl.counters().host_flushes += 1;
        if self.config.buffer.protected {
            let end = self.flush_protected(ready);
            self.complete(tag, end);
            return;
        }
        self.change(PipelineChange {
            tag,
            kind: ChangeKind::Flush,
            next: 0,
            last: 0,
            hint: Hint::default(),
            ready,
            answer_ns: 0,
        });
    }

    pub(super) fn change_by_trim(&mut self, tag: u32, command: &Command, ready: u64) {
        let whole = slots_within(command, self.slot_shift);
        let buffer = &self.config.buffer;
        let durable = command.op == Op::WriteZeroes && command.fua || !buffer.write_cache;
        self.change(PipelineChange {
            tag,
            kind: ChangeKind::Trim {
                commit: durable && !buffer.protected,
            },
            next: whole.start,
            last: whole.end,
            hint: Hint::default(),
            ready,
            answer_ns: 0,
        });
    }

    /// Reads the rest of partly written mapping units: read-modify-write.
    fn read_edges(&mut self, command: &Command, slots: &Range<u32>, ready: u64) -> u64 {
        let mut end = ready;
        for lpn in edges(command, slots, self.slot_shift) {
            end = end.max(self.ftl.read_internal(ready, lpn));
        }
        end
    }

    #[inline]
    fn change(&mut self, change: PipelineChange) {
        if self.pipeline.waits {
            self.pipeline.receive(change);
        } else if self.pipeline.waiting.is_empty() {
            if let Some(rest) = self.proceed(change, change.ready) {
                self.pipeline.waiting.push_back(rest);
                self.pipeline.blocked = true;
            }
            self.charge_moved();
        } else {
            self.pipeline.waiting.push_back(change);
        }
    }

    /// Does as much of a change as there is room for; completes the command when all is done.
    #[inline]
    fn proceed(&mut self, change: PipelineChange, at: u64) -> Option<PipelineChange> {
        let begin = at.max(change.ready);
        match change.kind {
            ChangeKind::Write => return self.admit(change, begin),
            ChangeKind::WriteThrough => {
                self.commit_joined();
                let end = self.write_through(&change, begin);
                self.complete(change.tag, end + change.answer_ns);
            }
            ChangeKind::Flush if self.pipeline.joins && self.pipeline.commit_end > begin => {
                self.pipeline.joined.push(change.tag);
            }
            ChangeKind::Flush => {
                let end = self.flush(begin);
                self.complete(change.tag, end);
            }
            ChangeKind::Trim { commit } => {
                for lpn in change.next..change.last {
                    self.pipeline.occupied -= self.ftl.trim(lpn);
                }
                let end = if commit {
                    let from = begin.max(self.pipeline.commit_end);
                    self.commit_from(from, self.config.buffer.fua_time)
                } else {
                    begin
                };
                self.complete(change.tag, end);
            }
        }
        None
    }

    /// When data of a commit may be programmed that comes at `at`: after the commit that is
    /// running, or at once into superblocks kept for commits.
    fn commit_data_from(&self, at: u64) -> u64 {
        match self.config.ftl.slc.commit_superblocks {
            0 => at.max(self.pipeline.commit_end),
            _ => at,
        }
    }

    /// Writes past the buffer and commits; returns the end.
    fn write_through(&mut self, change: &PipelineChange, at: u64) -> u64 {
        let from = self.commit_data_from(at);
        let slots = change.next..change.last;
        let (end, released) = self.ftl.write_through(from, slots, change.hint);
        self.pipeline.occupied -= released;
        let buffer = &self.config.buffer;
        let (time, at_once) = (buffer.fua_time, buffer.fua_at_once);
        let end = end.max(from).max(self.pipeline.commit_end);
        if at_once <= 1 {
            return self.commit_from(end, time);
        }
        let end = self.commit_from(end, Nanos::ZERO);
        self.fua_from(end, time, at_once as usize)
    }

    /// Takes the `time` of the controller for a write by FUA beside `at_once` - 1 others, from
    /// `from` on; returns the end.
    fn fua_from(&mut self, from: u64, time: Nanos, at_once: usize) -> u64 {
        let ends = &mut self.pipeline.fua_ends;
        let free_at = if ends.len() < at_once {
            0
        } else {
            ends.pop_front().unwrap_or(0)
        };
        let end = from.max(free_at) + time.0;
        ends.push_back(end);
        end
    }

    /// Commits everything in the buffer, after the commit that is running; returns the end.
    #[inline(never)]
    fn flush(&mut self, at: u64) -> u64 {
        let from = self.commit_data_from(at);
        let end = self.ftl.flush_data(from).max(from);
        self.take_launched();
        let end = end.max(self.all_in_flight()).max(self.pipeline.commit_end);
        let end = self.commit_from(end, Nanos::ZERO) + self.config.buffer.flush_time.0;
        self.pipeline.commit_end = end;
        end
    }

    /// A flush of a protected buffer has nothing to commit: its end.
    fn flush_protected(&mut self, ready: u64) -> u64 {
        let time = self.config.buffer.flush_time.0;
        if time == 0 {
            return ready;
        }
        self.pipeline.commit_end = ready.max(self.pipeline.commit_end) + time;
        self.pipeline.commit_end
    }

    /// Commits for the flushes that wait for the end of the running commit, and completes them.
    #[cold]
    #[inline(never)]
    fn commit_joined(&mut self) {
        if !self.pipeline.joined.is_empty() {
            let end = self.flush(self.now);
            for tag in std::mem::take(&mut self.pipeline.joined) {
                self.complete(tag, end);
            }
        }
    }

    /// Commits the map, with the data on media at `from`, then takes the `time` of the controller
    /// unless nothing has changed; returns the end.
    fn commit_from(&mut self, from: u64, time: Nanos) -> u64 {
        let mut end = from;
        let has_changed = self.ftl.uncommitted();
        if has_changed {
            self.ftl.counters().commits += 1;
            end = self.ftl.commit_map(from).max(from);
        }
        if has_changed {
            end += time.0;
        }
        self.take_launched();
        self.pipeline.commit_end = end;
        end
    }

    /// End of all programs in flight, which become firm.
    fn all_in_flight(&mut self) -> u64 {
        let tickets = self.pipeline.in_flight.iter();
        tickets
            .map(|Reverse((ticket, _))| self.ftl.make_firm(*ticket))
            .max()
            .unwrap_or(0)
    }

    #[inline]
    fn admit(&mut self, mut change: PipelineChange, at: u64) -> Option<PipelineChange> {
        while change.next < change.last {
            if self.pipeline.occupied == self.pipeline.capacity {
                self.release(at);
                let full = self.pipeline.occupied == self.pipeline.capacity;
                if full && !self.ftl.is_buffered(change.next) {
                    return Some(change);
                }
            }
            if self.ftl.write(at, change.next, change.hint) {
                self.pipeline.occupied += 1;
            }
            if !self.ftl.launched().is_empty() {
                self.take_launched();
            }
            change.next += 1;
        }
        self.complete(change.tag, at + change.answer_ns);
        None
    }

    /// Units in flight hold their places in the buffer until their programs end.
    pub(super) fn take_launched(&mut self) {
        let mut launched = std::mem::take(self.ftl.launched());
        for unit in launched.drain(..) {
            self.pipeline
                .in_flight
                .push(Reverse((unit.ticket, unit.slots)));
            self.pipeline.in_flight_slots += unit.slots;
        }
        *self.ftl.launched() = launched;
    }

    fn release(&mut self, until: u64) {
        while let Some(mut first) = self.pipeline.in_flight.peek_mut() {
            let Reverse((ticket, slots)) = *first;
            if ticket.end > until {
                break;
            }
            let end = self.ftl.end_of(ticket);
            if end > ticket.end {
                // Reads have delayed it since.
                *first = Reverse((Ticket { end, ..ticket }, slots));
                continue;
            }
            PeekMut::pop(first);
            self.pipeline.occupied -= slots;
            self.pipeline.in_flight_slots -= slots;
        }
    }

    /// Earliest time from `from` on at which there is room for a mapping unit.
    pub(super) fn pipeline_room(&mut self, from: u64, lpn: u32) -> u64 {
        let mut time = from;
        loop {
            self.release(time);
            let full = self.pipeline.occupied == self.pipeline.capacity;
            let Some(first) = self.pipeline.in_flight.peek() else {
                return time;
            };
            if !full || self.ftl.is_buffered(lpn) {
                return time;
            }
            time = time.max(first.0.0.end);
        }
    }

    /// Resumes waiting changes after room may have become free.
    pub(super) fn run_pipeline(&mut self, at: u64) {
        self.release(at);
        self.pipeline.blocked = false;
        if self.pipeline.joins && self.pipeline.commit_end <= at {
            self.commit_joined();
        }
        while let Some(change) = self.pipeline.waiting.pop_front() {
            if self.pipeline.waits && change.ready > at {
                self.pipeline.waiting.push_front(change);
                break;
            }
            if let Some(rest) = self.proceed(change, at) {
                self.pipeline.waiting.push_front(rest);
                self.pipeline.blocked = true;
                break;
            }
        }
        self.charge_moved();
        let stuck = self.pipeline.blocked && self.pipeline.in_flight.is_empty();
        assert!(!stuck, "a write waits for room that will never become free");
    }
}
