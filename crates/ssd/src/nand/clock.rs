//! The timed gear: dies and channels as resources in time.
//!
//! A die does one operation at a time. Programs and erases are booked behind everything already
//! booked on their die. Reads depend on the drive:
//!
//! - in order: it waits for everything booked before it;
//! - first: it overtakes every program and erase that has not begun, and with suspend also
//!   interrupts the one in progress; the operations it overtakes are delayed by its time. Firm
//!   operations (those of a commit) are never overtaken: a read goes before them only where it fits
//!   without delaying them. Reads stay in order among themselves.
//!
//! So the end of a read is known when it is booked, while the end of a program may still be
//! delayed; [`Gear::end_of`] returns its present value. An operation on another die that a program
//! waits for is never delayed: reads and firm programs are not.
//!
//! Where the dies that program at once are limited, a program takes the turn that is free first,
//! and its die waits for it before loading; with cache operations, loaded.
//!
//! Left out: a program that is overtaken keeps its turn on the channel (its data waits in the
//! die's register), and its turn ends when it would have ended; erases and reads need no turn.

use super::bus::Bus;
use super::gear::Gear;
use super::operation::{Program, Purpose, Read, SLC_KIND, Ticket};
use super::queue::{Booked, Queue};
use super::relief::{Charges, NandRelief};
use crate::config::{NandConfig, UNITY};
use crate::geometry::Geometry;
use crate::image::{image_of, image_of_choice};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Order of reads among the operations of their die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    InOrder,
    First,
    FirstSuspending,
}

image_of_choice!(Reads {
    InOrder,
    First,
    FirstSuspending
});

image_of! {
    #[derive(Clone, Debug, Default)]
    pub(super) struct Die {
        /// End of everything booked.
        pub(super) free_at: u64,
        /// End of the booked reads.
        pub(super) reads_end: u64,
        busy_ns: u64,
        pub(super) next_id: u32,
        pub(super) booked: Queue,
    }
}

image_of! {
    /// Dies and channels in time.
    #[derive(Clone, Debug)]
    pub struct Clock {
        pub(super) now: u64,
        read_ns: [u64; 8],
        program_ns: [u64; 8],
        pub(super) erase_ns: u64,
        /// ns to move 0..=slots_per_unit slots, each rounded once.
        transfer_ns: Vec<u64>,
        reads: Reads,
        suspend_ns: u64,
        resume_ns: u64,
        suspends_max: u8,
        cache_read: bool,
        cache_program: bool,
        /// When each of the turns to program is free; none: all dies may program at once.
        pub(super) turns: BinaryHeap<Reverse<u64>>,
        /// Dies that may program at once: by the configuration, and because of heat; 0: all.
        at_once: [u32; 2],
        pub(super) dies: Vec<Die>,
        pub(super) channels: Vec<Bus>,
        busy_by: [u64; Purpose::COUNT],
    } afresh {
        charges: Charges,
    }
}

impl Die {
    /// Delays the operations from `index` on so that none begins before `at`.
    #[inline]
    fn move_back(&mut self, index: usize, at: u64) {
        if let Some(last) = self.booked.move_back(index, at) {
            self.free_at = self.free_at.max(last);
        }
    }
}

/// A read before it is booked: its die, its channel and its times.
#[derive(Clone, Copy)]
struct Sense {
    die: usize,
    channel: usize,
    sense: u64,
    transfer: u64,
}

/// A time multiplied by a factor of wear.
#[inline(always)]
fn scaled(ns: u64, factor: u32) -> u64 {
    ns * u64::from(factor) / UNITY
}

impl Clock {
    /// A program that takes no time and whose ticket is never used.
    #[cold]
    fn free_program(&self, from: u64, die: u32) -> Ticket {
        let next = self.dies[die as usize].next_id;
        Ticket {
            end: from,
            die,
            id: next.wrapping_add(1 << 31),
        }
    }

    /// Books a read that begins at `start`; returns when its data is in the controller and when the
    /// die is free again.
    #[inline]
    fn sense_at(&mut self, start: u64, read: Sense) -> (u64, u64) {
        let sensed = start + read.sense;
        let end = self.channels[read.channel].reserve(self.now, sensed, read.transfer);
        let until = if self.cache_read { sensed } else { end };
        let die = &mut self.dies[read.die];
        die.busy_ns += until - start;
        die.reads_end = until;
        die.free_at = die.free_at.max(until);
        (end, until)
    }

    /// Time at which the die would be free again after a read begun at `start`.
    fn until_if(&self, start: u64, read: Sense) -> u64 {
        let sensed = start + read.sense;
        if self.cache_read {
            return sensed;
        }
        self.channels[read.channel].would_end(sensed, read.transfer)
    }

    /// Books a read that overtakes; see the module's documentation.
    #[inline(always)]
    fn read_first(&mut self, from: u64, read: Sense) -> (u64, u64) {
        self.dies[read.die].booked.forget(self.now);
        let mut start = from.max(self.dies[read.die].reads_end);
        if self.dies[read.die]
            .booked
            .back()
            .is_none_or(|last| last.end <= start)
        {
            // Behind everything; no search of the queue is needed.
            return self.sense_at(start, read);
        }
        let mut next = 0;
        loop {
            let die = &self.dies[read.die];
            next = die.booked.first_after(next, start);
            let Some(op) = die.booked.get(next) else {
                return self.sense_at(start, read);
            };
            if op.start < start {
                let may = self.reads == Reads::FirstSuspending
                    && op.suspends < self.suspends_max
                    && op.end - start > self.suspend_ns
                    && !die.booked.any_firm(next);
                if may {
                    return self.suspend(next, start, read);
                }
            } else if !die.booked.any_firm(next) || self.until_if(start, read) <= op.start {
                let (end, until) = self.sense_at(start, read);
                self.dies[read.die].move_back(next, until);
                return (end, until);
            }
            start = op.end;
        }
    }

    /// Turns to program, all free; none where there are enough for all dies.
    pub(super) fn new_turns(at_once: u32, dies: u32) -> BinaryHeap<Reverse<u64>> {
        let limits = at_once > 0 && at_once < dies;
        let count = if limits { at_once } else { 0 };
        (0..count).map(|_| Reverse(0)).collect()
    }

    /// Makes the turns as many as the limits allow. Of more, those that are free last stay, because
    /// that many programs are still at work.
    fn fit_turns(&mut self) {
        let limits = self.at_once.iter().filter(|limit| **limit > 0);
        let limit = limits.min().map_or(usize::MAX, |limit| *limit as usize);
        if limit >= self.dies.len() {
            self.turns.clear();
            return;
        }
        if self.turns.is_empty() {
            self.turns = self.dies.iter().map(|die| Reverse(die.free_at)).collect();
        }
        while self.turns.len() > limit {
            self.turns.pop();
        }
        while self.turns.len() < limit {
            self.turns.push(Reverse(self.now));
        }
    }

    fn suspend(&mut self, index: usize, at: u64, read: Sense) -> (u64, u64) {
        let (end, until) = self.sense_at(at + self.suspend_ns, read);
        let die = &mut self.dies[read.die];
        let moved = die.booked.interrupt(index, until + self.resume_ns - at);
        die.free_at = die.free_at.max(moved);
        die.busy_ns += self.suspend_ns + self.resume_ns;
        die.move_back(index + 1, moved);
        (end, until)
    }
}

/// Shortens times in proportion until their mean is at most `mean`.
fn shorten(times: &mut [u64], mean: u64) {
    let sum: u64 = times.iter().sum();
    let most = mean * times.len() as u64;
    if sum > most {
        for time in times {
            *time = *time * most / sum;
        }
    }
}

impl Gear for Clock {
    const TIMED: bool = true;

    fn new(geometry: &Geometry, config: &NandConfig) -> Clock {
        let mut read_ns = [0; 8];
        let mut program_ns = [0; 8];
        for (kind, time) in config.timing.read.iter().enumerate() {
            read_ns[kind] = time.0;
        }
        for (kind, time) in config.timing.program.iter().enumerate() {
            program_ns[kind] = time.0;
        }
        read_ns[SLC_KIND] = config.timing.slc_read.0;
        program_ns[SLC_KIND] = config.timing.slc_program.0;
        let slot = u128::from(geometry.slot_bytes) * 1_000_000_000;
        let rate = u128::from(config.timing.channel_bytes_per_second);
        let suspend = config.suspend.unwrap_or_default();
        Clock {
            now: 0,
            read_ns,
            program_ns,
            erase_ns: config.timing.erase.0,
            transfer_ns: (0..=geometry.slots_per_unit)
                .map(|slots| (slot * u128::from(slots)).div_ceil(rate) as u64)
                .collect(),
            reads: match (config.read_first, config.suspend) {
                (false, _) => Reads::InOrder,
                (true, None) => Reads::First,
                (true, Some(_)) => Reads::FirstSuspending,
            },
            suspend_ns: suspend.suspend.0,
            resume_ns: suspend.resume.0,
            suspends_max: suspend.most,
            cache_read: config.cache_read,
            cache_program: config.cache_program,
            turns: Clock::new_turns(config.programs_at_once, geometry.die_count),
            at_once: [config.programs_at_once, 0],
            dies: vec![Die::default(); geometry.die_count as usize],
            channels: vec![Bus::default(); geometry.shape.channel_count as usize],
            busy_by: [0; Purpose::COUNT],
            charges: Charges::default(),
        }
    }

    #[inline(always)]
    fn set_now(&mut self, now: u64) {
        self.now = now;
    }

    fn read(&mut self, from: u64, channel: u32, op: &Read) -> u64 {
        let mut read = Sense {
            die: op.die as usize,
            channel: channel as usize,
            sense: self.read_ns[op.kind]
                + u64::from(op.retries) * (self.read_ns[op.kind] + op.retry_ns),
            transfer: self.transfer_ns[op.slots as usize],
        };
        if self.charges.any {
            if self.charges.unworn {
                read.sense = self.read_ns[op.kind];
            }
            match self.charges.by_purpose[op.purpose as usize] {
                0 => return from,
                share => {
                    read.sense = scaled(read.sense, share);
                    read.transfer = scaled(read.transfer, share);
                }
            }
        }
        let before = self.dies[read.die].busy_ns;
        let (end, until) = if self.reads == Reads::InOrder {
            self.sense_at(from.max(self.dies[read.die].free_at), read)
        } else {
            self.read_first(from, read)
        };
        debug_assert!(until <= end || !self.cache_read);
        self.busy_by[op.purpose as usize] += self.dies[read.die].busy_ns - before;
        end
    }

    #[inline]
    fn program(&mut self, from: u64, channel: u32, op: &Program) -> Ticket {
        let mut program = scaled(self.program_ns[op.kind], op.pace.0);
        let mut erase = scaled(self.erase_ns, op.pace.1);
        let mut length = self.transfer_ns[self.transfer_ns.len() - 1];
        if self.charges.any {
            if self.charges.unworn {
                (program, erase) = (self.program_ns[op.kind], self.erase_ns);
            }
            let share = self.charges.by_purpose[op.purpose as usize];
            if share == 0 {
                return self.free_program(from, op.die);
            }
            (program, length) = (scaled(program, share), scaled(length, share));
            // Blocks are erased to reclaim them.
            let reclaim = self.charges.by_purpose[Purpose::Relocation as usize];
            erase = scaled(erase, share.min(reclaim));
        }
        let die = &mut self.dies[op.die as usize];
        die.booked.forget(self.now);
        let turn = match self.turns.peek() {
            Some(Reverse(free)) if self.cache_program => *free,
            Some(Reverse(free)) => free.saturating_sub(length),
            None => 0,
        };
        let begin = die.free_at.max(from).max(turn);
        let ready = if op.erase { begin + erase } else { begin };
        let load_from = if self.cache_program {
            // Into the register while the die is still busy with the previous operation.
            from.max(die.booked.back().map_or(0, |last| last.start))
        } else {
            ready
        };
        let loaded = self.channels[channel as usize].reserve(self.now, load_from, length);
        let start = if self.cache_program && !op.erase {
            ready.max(loaded)
        } else {
            begin
        };
        let end = ready.max(loaded) + program;
        if let Some(mut first) = self.turns.peek_mut() {
            *first = Reverse(end);
        }
        die.busy_ns += end - start;
        self.busy_by[op.purpose as usize] += end - start;
        die.free_at = end;
        let id = die.next_id;
        die.next_id = id.wrapping_add(1);
        die.booked.push(Booked {
            start,
            end,
            superblock: op.superblock,
            row: op.row as u16,
            firm: op.firm,
            erases: op.erase,
            suspends: 0,
            id,
        });
        Ticket {
            end,
            die: op.die,
            id,
        }
    }

    fn erase(&mut self, from: u64, superblock: u32) -> u64 {
        let mut last = from;
        for die in &mut self.dies {
            die.booked.forget(self.now);
            let start = die.free_at.max(from);
            let end = start + self.erase_ns;
            die.free_at = end;
            die.busy_ns += self.erase_ns;
            self.busy_by[Purpose::Fold as usize] += self.erase_ns;
            let id = die.next_id;
            die.next_id = id.wrapping_add(1);
            die.booked.push(Booked {
                start,
                end,
                superblock,
                row: u16::MAX,
                firm: false,
                erases: true,
                suspends: 0,
                id,
            });
            last = last.max(end);
        }
        last
    }

    fn erase_all(&mut self, from: u64, blocks_per_die: u64) -> u64 {
        let die_ns = self.erase_ns * blocks_per_die;
        let mut last = from;
        for die in &mut self.dies {
            die.booked.clear();
            die.free_at = die.free_at.max(from) + die_ns;
            die.busy_ns += die_ns;
            self.busy_by[Purpose::Host as usize] += die_ns;
            last = last.max(die.free_at);
        }
        last
    }

    #[inline]
    fn is_pending(&self, superblock: u32, row: u32, die: u32) -> bool {
        let booked = &self.dies[die as usize].booked;
        booked.is_pending(superblock, row, self.now)
    }

    fn end_of(&self, ticket: Ticket) -> u64 {
        let die = &self.dies[ticket.die as usize];
        die.booked
            .find(ticket.id)
            .map_or(0, |index| die.booked[index].end)
    }

    fn make_firm(&mut self, ticket: Ticket) -> u64 {
        let die = &mut self.dies[ticket.die as usize];
        die.booked.find(ticket.id).map_or(0, |index| {
            die.booked.make_firm(index);
            die.booked[index].end
        })
    }

    fn relieve(&mut self, relief: NandRelief) {
        match relief {
            NandRelief::Work(purpose, share) => {
                self.charges.by_purpose[purpose as usize] = share.min(UNITY as u32);
            }
            NandRelief::Unworn => self.charges.unworn = true,
            NandRelief::ReadsFirst => {
                if self.reads == Reads::InOrder {
                    self.reads = Reads::First;
                }
                return;
            }
            NandRelief::ProgramsAtOnce(least) => {
                if self.at_once[0] > 0 {
                    self.at_once[0] = self.at_once[0].max(least);
                }
                self.fit_turns();
                return;
            }
            NandRelief::SlcSpeed => {
                self.program_ns = self.program_ns.map(|ns| ns.min(self.program_ns[SLC_KIND]));
                return;
            }
            NandRelief::Cells {
                read,
                program,
                kinds,
            } => {
                shorten(&mut self.read_ns[..kinds], read.0);
                shorten(&mut self.program_ns[..kinds], program.0);
                return;
            }
        }
        self.charges.any = true;
    }

    fn limit_programs(&mut self, at_once: u32) {
        self.at_once[1] = at_once;
        self.fit_turns();
    }

    fn die_free_at(&self, die: u32) -> u64 {
        self.dies[die as usize].free_at
    }

    fn busy_by_purpose(&self) -> [u64; Purpose::COUNT] {
        self.busy_by
    }

    fn busy_ns(&self) -> (Vec<u64>, Vec<u64>) {
        (
            self.dies.iter().map(|die| die.busy_ns).collect(),
            self.channels.iter().map(|bus| bus.busy_ns).collect(),
        )
    }
}
