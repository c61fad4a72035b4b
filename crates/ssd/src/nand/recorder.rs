//! The gear that keeps data: time, and the content of the media at each moment.

use super::clock::Clock;
use super::gear::Gear;
use super::media::{CutDamage, Media, Progress};
use super::operation::{Program, Purpose, Read, Ticket};
use super::reliability::Reliability;
use crate::config::NandConfig;
use crate::geometry::Geometry;
use crate::image::{Image, ImageError, Reader, Writer};
use std::cmp::Reverse;

/// Dies and channels in time, over media that keep data.
#[derive(Clone, Debug)]
pub struct Recorder {
    clock: Clock,
    media: Media,
    now: u64,
    /// Retirements of superblocks: when each takes effect, and the wear before it.
    given_up: Vec<(u64, Reliability)>,
}

impl Recorder {
    fn settle(&mut self, die: u32) {
        let first = self.clock.first_after(die, self.now);
        self.media.settle(die, first);
    }

    /// Updates the times of the target of a cut, which may just have been booked or delayed by a
    /// read.
    #[inline(always)]
    fn place_aimed(&mut self) {
        let Some(aimed) = self.media.aimed() else {
            return;
        };
        if let Some((start, end)) = self.clock.span_of(aimed.ticket, aimed.erase) {
            self.media.aimed_lies(start, end);
        }
    }

    /// Earliest erase of a superblock; the operations that it waits for become firm.
    fn may_erase(&mut self, mut from: u64, superblock: u32) -> u64 {
        for ticket in self.media.waits(superblock) {
            from = from.max(self.clock.make_firm(ticket));
        }
        from
    }
}

impl Gear for Recorder {
    const TIMED: bool = true;
    const KEEPS: bool = true;

    fn new(geometry: &Geometry, config: &NandConfig) -> Recorder {
        Recorder {
            clock: Clock::new(geometry, config),
            media: Media::new(geometry),
            now: 0,
            given_up: Vec::new(),
        }
    }

    fn set_now(&mut self, now: u64) {
        self.now = now;
        self.clock.set_now(now);
    }

    fn read(&mut self, from: u64, channel: u32, op: &Read) -> u64 {
        let end = self.clock.read(from, channel, op);
        self.place_aimed();
        end
    }

    fn program(&mut self, from: u64, channel: u32, op: &Program) -> Ticket {
        self.settle(op.die);
        let from = if op.erase {
            self.may_erase(from, op.superblock)
        } else {
            from
        };
        let ticket = self.clock.program(from, channel, op);
        self.media.book_program(op, ticket);
        self.place_aimed();
        ticket
    }

    fn erase(&mut self, from: u64, superblock: u32) -> u64 {
        for die in 0..self.media.die_count() {
            self.settle(die);
        }
        let from = self.may_erase(from, superblock);
        let end = self.clock.erase(from, superblock);
        for die in 0..self.media.die_count() {
            let id = self.clock.last_id(die);
            self.media.book_erase(superblock, Ticket { end, die, id });
        }
        self.place_aimed();
        end
    }

    fn erase_all(&mut self, from: u64, blocks_per_die: u64) -> u64 {
        self.media.wipe();
        self.clock.erase_all(from, blocks_per_die)
    }

    fn is_pending(&self, superblock: u32, row: u32, die: u32) -> bool {
        self.clock.is_pending(superblock, row, die)
    }

    fn end_of(&self, ticket: Ticket) -> u64 {
        self.clock.end_of(ticket)
    }

    fn make_firm(&mut self, ticket: Ticket) -> u64 {
        self.clock.make_firm(ticket)
    }

    fn limit_programs(&mut self, at_once: u32) {
        self.clock.limit_programs(at_once);
    }

    fn die_free_at(&self, die: u32) -> u64 {
        self.clock.die_free_at(die)
    }

    fn busy_by_purpose(&self) -> [u64; Purpose::COUNT] {
        self.clock.busy_by_purpose()
    }

    fn busy_ns(&self) -> (Vec<u64>, Vec<u64>) {
        self.clock.busy_ns()
    }

    fn freed(&mut self, superblock: u32) {
        for die in 0..self.media.die_count() {
            self.settle(die);
        }
        self.media.freed(superblock);
    }

    /// Everything booked ends before anything else begins, and the trims until now are recorded
    /// then. So a cut finds the superblock either unchanged or without needed data.
    fn gave_up(&mut self, before: Reliability) {
        let dies = self.media.die_count();
        let mut end = self.now;
        for die in 0..dies {
            self.settle(die);
            if let Some(last) = self.clock.dies[die as usize].booked.back() {
                let ticket = Ticket {
                    end: 0,
                    die,
                    id: last.id,
                };
                end = end.max(self.clock.make_firm(ticket));
            }
        }
        for die in &mut self.clock.dies {
            die.free_at = die.free_at.max(end);
        }
        self.media.note_forgotten(end);
        self.given_up.retain(|(end, _)| *end > self.now);
        self.given_up.push((end, before));
    }

    fn worn_at_cut(&mut self) -> Option<Reliability> {
        let cut_at = self.now;
        let mut given_up = std::mem::take(&mut self.given_up).into_iter();
        given_up.find(|(end, _)| *end > cut_at).map(|found| found.1)
    }

    fn worn_before(&self) -> Option<&Reliability> {
        let mut given_up = self.given_up.iter();
        given_up
            .find(|(end, _)| *end > self.now)
            .map(|found| &found.1)
    }

    fn media(&self) -> Option<&Media> {
        Some(&self.media)
    }

    fn media_mut(&mut self) -> Option<&mut Media> {
        Some(&mut self.media)
    }

    fn settle_all(&mut self) {
        for die in 0..self.media.die_count() {
            self.settle(die);
        }
        self.media.settle_notes(self.now);
    }

    fn cut(&mut self, hold: Option<u64>) -> CutDamage {
        self.settle_all();
        let (clock, now) = (&self.clock, self.now);
        let until = now.saturating_add(hold.unwrap_or(0));
        self.media
            .cut(hold.is_some(), |ticket| clock.progress(ticket, now, until))
    }

    fn power_on(&mut self, at: u64) -> Vec<Option<u32>> {
        self.clock.restart(at);
        self.now = at;
        self.media.power_on()
    }
}

impl Clock {
    /// The first operation of a die that has not ended by `now`.
    fn first_after(&mut self, die: u32, now: u64) -> Option<u32> {
        let die = &mut self.dies[die as usize];
        die.booked.forget(now);
        die.booked.front().map(|op| op.id)
    }

    fn last_id(&self, die: u32) -> u32 {
        self.dies[die as usize].next_id.wrapping_sub(1)
    }

    /// Start and end of a booked operation's erase or program. `None`: it is over.
    fn span_of(&self, ticket: Ticket, erase: bool) -> Option<(u64, u64)> {
        let die = &self.dies[ticket.die as usize];
        let op = &die.booked[die.booked.find(ticket.id)?];
        let erased = if op.row == u16::MAX {
            op.end
        } else if op.erases {
            op.end.min(op.start + self.erase_ns)
        } else {
            op.start
        };
        Some(if erase {
            (op.start, erased)
        } else {
            (erased, op.end)
        })
    }

    /// State of an operation at `now`, when operations that end by `until` are finished.
    fn progress(&self, ticket: Ticket, now: u64, until: u64) -> Progress {
        let die = &self.dies[ticket.die as usize];
        let Some(op) = die.booked.find(ticket.id).map(|index| &die.booked[index]) else {
            return Progress::Done;
        };
        let alone = op.row == u16::MAX;
        if op.end <= now || (op.start < now && op.end <= until) {
            Progress::Done
        } else if op.start >= now {
            Progress::NotBegun
        } else if alone || (op.erases && now < op.start + self.erase_ns) {
            Progress::Erasing
        } else {
            Progress::Programming
        }
    }

    /// Clears all bookings when power returns.
    fn restart(&mut self, at: u64) {
        self.now = at;
        for die in &mut self.dies {
            die.booked.clear();
            die.free_at = at;
            die.reads_end = at;
        }
        for bus in &mut self.channels {
            bus.restart();
        }
        self.turns = self.turns.iter().map(|_| Reverse(at)).collect();
    }
}

/// A drive directory keeps the content of the media; all other state is lost with power.
impl Image for Recorder {
    fn save(&self, _: &mut Writer<'_>) -> Result<(), ImageError> {
        Err(kept_elsewhere())
    }

    fn load(_: &mut Reader<'_>) -> Result<Recorder, ImageError> {
        Err(kept_elsewhere())
    }
}

fn kept_elsewhere() -> ImageError {
    ImageError::Unknown("media that keep data are stored by their events, not as an image".into())
}
