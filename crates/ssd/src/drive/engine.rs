//! The host side of a drive in time: commands, link, queue depth, idle work.

use super::ahead::ReadAhead;
use super::completions::{Completion, Completions};
use super::limit::WriteLimit;
use super::patrol::Patrol;
use super::pipeline::Pipeline;
use super::span::{assert_possible, refuses, slots_touched, transfer_ns};
use super::thermal::{Thermal, ThermalState};
use crate::command::{Command, Op};
use crate::config::{DriveConfig, MappingKind};
use crate::ftl::policies::VictimPolicy;
use crate::ftl::{Hint, Translation};
use crate::image::{Image, ImageError, Reader, Writer};
use crate::nand::Bus;
use crate::units::Nanos;
use std::collections::VecDeque;
use std::ops::Range;

/// A drive over one kind of translation layer.
#[derive(Clone, Debug)]
pub(super) struct Engine<F> {
    pub config: DriveConfig,
    pub ftl: F,
    /// Time of the last event: no later event precedes it.
    pub now: u64,
    pub(super) controller_free_at: u64,
    /// Slots moved that the controller has been charged for.
    moved: u64,
    pub link_in: Bus,
    link_out: Bus,
    /// ns to move 0..=64 sectors of 512 bytes over the link; longer ones are computed.
    link_ns: [u64; 65],
    pub slot_shift: u32,
    pub(super) outstanding: u32,
    held: VecDeque<(u32, Command)>,
    /// A TRIM that is not queued is in progress: no other command starts.
    barrier: bool,
    submitted: Vec<u64>,
    completions: Completions,
    pub pipeline: Pipeline,
    pub(super) idle_at: u64,
    pub(super) patrol: Patrol,
    /// Time from which a command or other work looks at what the clock has brought: a patrol, a
    /// step of temperature, the end of an idle time.
    pub(super) alarm: u64,
    /// `None` on a drive whose draw never changes and whose temperature is not modelled.
    pub(super) thermal: Option<Box<Thermal>>,
    /// Controller time that each command needs in addition because of heat, ns.
    pub(super) pause: u64,
    /// Tags of reads that met data beyond correction, until they are taken.
    pub(super) unreadable: Vec<u32>,
    /// `None` on a drive that does not read ahead.
    pub(super) ahead: Option<Box<ReadAhead>>,
    /// `None` on a drive whose firmware takes writes as they come.
    pub(super) limit: Option<WriteLimit>,
    /// The media does not wear and nothing is read ahead.
    reads_plainly: bool,
}

fn link_ns(bytes_per_second: u64) -> [u64; 65] {
    std::array::from_fn(|sectors| transfer_ns(512 * sectors as u64, bytes_per_second))
}

impl<F: Translation> Engine<F> {
    pub fn new(config: DriveConfig, victim: Option<Box<dyn VictimPolicy>>) -> Engine<F> {
        let ftl = F::new(&config, victim);
        Engine::around(config, ftl)
    }

    pub fn around(config: DriveConfig, ftl: F) -> Engine<F> {
        let slots = config.buffer.bytes / u64::from(config.shape.slot_bytes);
        let joins = config.buffer.joined_flushes && !config.buffer.protected;
        let waits = config.ftl.mapping.kind == MappingKind::Tree;
        let patrol = Patrol::new(&config);
        let mut engine = Engine {
            moved: ftl.counted().slots_moved(),
            ftl,
            now: 0,
            controller_free_at: 0,
            link_in: Bus::default(),
            link_out: Bus::default(),
            link_ns: link_ns(config.host.link_bytes_per_second),
            slot_shift: config.shape.slot_bytes.trailing_zeros(),
            outstanding: 0,
            held: VecDeque::new(),
            barrier: false,
            submitted: Vec::new(),
            completions: Completions::default(),
            pipeline: Pipeline::new(slots as u32, joins, waits),
            idle_at: u64::MAX,
            alarm: patrol.next,
            patrol,
            thermal: None,
            pause: 0,
            unreadable: Vec::new(),
            ahead: ReadAhead::of(&config.host),
            limit: WriteLimit::of(&config.host),
            reads_plainly: config.wear.is_none() && config.host.read_ahead == 0,
            config,
        };
        engine.begin_thermal();
        engine
    }

    pub(super) fn set_link(&mut self, bytes_per_second: u64) {
        self.config.host.link_bytes_per_second = bytes_per_second;
        self.link_ns = link_ns(bytes_per_second);
    }

    pub fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        if self.outstanding() > 0 {
            return Err(ImageError::Unknown(format!(
                "{} commands are outstanding: a drive is saved when it has none",
                self.outstanding()
            )));
        }
        (self.now, self.controller_free_at).save(out)?;
        (self.link_in.clone(), self.link_out.clone()).save(out)?;
        self.idle_at.save(out)?;
        self.patrol.save(out)?;
        let thermal = self.thermal.as_ref().map(|thermal| thermal.state());
        thermal.save(out)?;
        if let Some(ahead) = &self.ahead {
            ahead.save(out)?;
        }
        if let Some(limit) = &self.limit {
            limit.due.save(out)?;
        }
        self.pipeline.save(out)?;
        self.ftl.save(out)
    }

    pub fn load(config: DriveConfig, from: &mut Reader<'_>) -> Result<Engine<F>, ImageError> {
        let (now, controller_free_at) = Image::load(from)?;
        let (link_in, link_out) = Image::load(from)?;
        let idle_at = Image::load(from)?;
        let patrol = Image::load(from)?;
        let thermal: Option<ThermalState> = Image::load(from)?;
        let ahead = match config.host.read_ahead {
            0 => None,
            _ => Some(Box::new(Image::load(from)?)),
        };
        let mut limit = WriteLimit::of(&config.host);
        if let Some(limit) = &mut limit {
            limit.due = Image::load(from)?;
        }
        let mut pipeline: Pipeline = Image::load(from)?;
        pipeline.waits = pipeline.joins || config.ftl.mapping.kind == MappingKind::Tree;
        let ftl = F::load(from)?;
        let mut engine = Engine {
            now,
            controller_free_at,
            link_in,
            link_out,
            idle_at,
            patrol,
            ahead,
            limit,
            pipeline,
            ..Engine::around(config, ftl)
        };
        engine.thermal = thermal.map(|state| Thermal::restored(&engine.config, state));
        engine.set_alarm();
        engine.throttle();
        Ok(engine)
    }

    pub fn outstanding(&self) -> usize {
        self.outstanding as usize + self.held.len()
    }

    #[inline(always)]
    pub fn prefetch(&self, command: &Command) {
        self.ftl
            .prefetch((command.offset >> self.slot_shift) as u32);
    }

    #[inline(always)]
    pub fn prefetch_behind(&self, command: &Command) {
        self.ftl
            .prefetch_behind((command.offset >> self.slot_shift) as u32);
    }

    #[inline(always)]
    pub(super) fn set_now(&mut self, now: u64) {
        self.now = now;
        self.ftl.set_now(now);
    }

    #[inline]
    pub fn submit(&mut self, tag: u32, command: &Command, now: Nanos) {
        assert!(
            now.0 >= self.now,
            "command at {now}, the drive is at {}",
            Nanos(self.now)
        );
        assert_possible(command, self.config.user_bytes);
        if now.0 >= self.alarm {
            self.ring(now.0);
        }
        if tag as usize >= self.submitted.len() {
            self.submitted.resize(tag as usize + 1, 0);
        }
        self.submitted[tag as usize] = now.0;
        if !self.held.is_empty() || !self.may_start(command) {
            self.held.push_back((tag, *command));
            return;
        }
        self.run_internal(now.0);
        self.set_now(now.0);
        self.start(tag, command, now.0);
    }

    /// Whether the command can start beside those in progress.
    #[inline(always)]
    fn may_start(&self, command: &Command) -> bool {
        let room = self.outstanding < self.config.host.queue_depth && !self.barrier;
        room && (self.outstanding == 0 || command.op != Op::Trim || self.config.ftl.trim_queued)
    }

    fn start(&mut self, tag: u32, command: &Command, at: u64) {
        self.outstanding += 1;
        let begin = at.max(self.controller_free_at);
        let host = &self.config.host;
        let overhead = match command.op {
            Op::Write => host.write_overhead,
            _ => host.command_overhead,
        };
        self.controller_free_at = begin + overhead.0 + self.pause;
        let ready = self.controller_free_at;
        if refuses(self.ftl.ended(), command.op) {
            self.ftl.count_refused();
            return self.complete(tag, ready);
        }
        match command.op {
            Op::Read => self.start_read(tag, command, ready),
            Op::Write => self.start_write(tag, command, ready),
            Op::Flush => self.start_flush(tag, ready),
            Op::Trim | Op::WriteZeroes => self.start_trim(tag, command, ready),
        }
    }

    /// Books the controller's work for the slots moved since the last call, behind what it is busy
    /// with.
    #[inline(always)]
    pub(super) fn charge_moved(&mut self) {
        if self.config.host.moved_slot.0 > 0 {
            let moved = self.ftl.counted().slots_moved();
            let work = (moved - self.moved) * self.config.host.moved_slot.0;
            if work > 0 {
                self.controller_free_at = self.controller_free_at.max(self.now) + work;
                self.moved = moved;
            }
        }
    }

    pub fn complete(&mut self, tag: u32, at: u64) {
        self.completions.push(at + self.config.host.latency.0, tag);
    }

    #[inline]
    pub fn pop_completion(&mut self, until: Nanos) -> Option<Completion> {
        loop {
            let next = self.completions.next_time();
            let limit = next.min(until.0);
            let internal = self.internal_time();
            if internal <= limit && internal != u64::MAX {
                self.run_one_internal(internal);
                continue;
            }
            if next > until.0 || next == u64::MAX {
                if until != Nanos::MAX {
                    if until.0 >= self.patrol.next {
                        self.patrol_by_clock(until.0);
                        continue;
                    }
                    self.set_now(self.now.max(until.0));
                }
                return None;
            }
            let (done, tag) = self.completions.pop()?;
            let submitted = Nanos(self.submitted[tag as usize]);
            self.finish(done);
            return Some(Completion {
                tag,
                submitted,
                done: Nanos(done),
            });
        }
    }

    #[inline]
    fn finish(&mut self, done: u64) {
        self.set_now(self.now.max(done));
        self.outstanding -= 1;
        if self.outstanding == 0 {
            self.barrier = false;
            self.idle_at = done + self.config.ftl.idle_after.0;
            if self.thermal.is_some() && self.held.is_empty() {
                self.rest_from(self.now, self.now);
            }
        }
        while let Some(&(tag, command)) = self.held.front() {
            if !self.may_start(&command) {
                return;
            }
            self.held.pop_front();
            // A host that takes completions late may have submitted the command since.
            let start = done.max(self.submitted[tag as usize]);
            if start > self.now {
                self.run_internal(start);
                self.set_now(start);
            }
            self.start(tag, &command, start);
        }
    }

    /// Time of the next event; `u64::MAX` if there is none.
    pub fn next_event(&self) -> u64 {
        self.completions.next_time().min(self.internal_time())
    }

    /// Time of the next internal work of the drive.
    #[inline]
    fn internal_time(&self) -> u64 {
        let work = self.pipeline.next_time();
        if self.outstanding > 0 {
            work
        } else {
            work.min(self.idle_at)
        }
    }

    #[inline(always)]
    pub(super) fn run_internal(&mut self, until: u64) {
        loop {
            let next = self.internal_time();
            if next > until || next == u64::MAX {
                return;
            }
            self.run_one_internal(next);
        }
    }

    fn run_one_internal(&mut self, at: u64) {
        self.set_now(self.now.max(at));
        if at >= self.alarm {
            self.advance_thermal(at);
        }
        if self.pipeline.next_time() <= at {
            self.run_pipeline(at);
        } else {
            self.run_idle(at);
        }
    }

    /// Does one step of idle work.
    fn run_idle(&mut self, at: u64) {
        let end = self.ftl.idle(at);
        self.take_launched();
        self.charge_moved();
        if let (true, Some(end)) = (self.thermal.is_some(), end) {
            self.rest_from(at, end);
        }
        self.idle_at = match end {
            Some(end) if self.ftl.has_idle_work() => end.max(at + 1),
            _ => u64::MAX,
        };
    }

    pub fn slots(&self, command: &Command) -> Range<u32> {
        slots_touched(command, self.slot_shift)
    }

    #[inline]
    pub fn link_time(&self, bytes: u32) -> u64 {
        match self.link_ns.get(bytes as usize / 512) {
            Some(&time) => time,
            None => transfer_ns(bytes.into(), self.config.host.link_bytes_per_second),
        }
    }

    #[inline]
    fn start_read(&mut self, tag: u32, command: &Command, ready: u64) {
        let slots = self.slots(command);
        let in_controller = if self.reads_plainly {
            self.ftl.read(ready, slots)
        } else {
            self.read_with_care(tag, command, slots, ready)
        };
        let length = self.link_time(command.len);
        let link = if self.config.host.full_duplex {
            &mut self.link_out
        } else {
            &mut self.link_in
        };
        let end = link.reserve(self.now, in_controller, length);
        self.ftl.counters().count_read(command);
        self.complete(tag, end);
    }

    fn start_trim(&mut self, tag: u32, command: &Command, ready: u64) {
        let queued = command.op != Op::Trim || self.config.ftl.trim_queued;
        self.barrier |= !queued;
        if let Some(ahead) = &mut self.ahead {
            ahead.forget(&slots_touched(command, self.slot_shift));
        }
        let time = if command.op == Op::Trim {
            self.config.ftl.trim_time.0
        } else {
            0
        };
        self.controller_free_at = ready + time;
        self.ftl.counters().host_trims += 1;
        self.change_by_trim(tag, command, ready + time);
    }

    pub fn request_refresh(&mut self, superblock: u32) -> bool {
        let requested = self.ftl.request_refresh(superblock);
        if requested {
            self.wake_when_idle();
        }
        requested
    }

    pub fn rest(&mut self, hours: u32) {
        self.ftl.rest(hours);
        if self.ftl.has_idle_work() {
            self.wake_when_idle();
        }
    }

    /// Runs the patrols that are due by `until`, before the clock gets there.
    #[cold]
    pub(super) fn patrol_by_clock(&mut self, until: u64) {
        while self.patrol.next <= until {
            let due = self.patrol.next;
            // Internal work due by then comes first.
            self.run_internal(due);
            self.set_now(self.now.max(due));
            if due >= self.patrol.begins {
                let hours = self.patrol.begin();
                self.rest(hours);
            } else if self.ftl.patrol_left() > 0 {
                self.ftl.patrol_now(self.now);
                self.charge_moved();
            }
            let unscanned = self.ftl.patrol_left();
            let count = self.config.geometry().superblock_count;
            self.patrol.next = self.patrol.next_step(due, unscanned, count);
        }
        self.run_internal(until);
    }

    /// Schedules idle work.
    pub(super) fn wake_when_idle(&mut self) {
        if self.outstanding == 0 {
            self.idle_at = self.idle_at.min(self.now + self.config.ftl.idle_after.0);
        }
    }

    pub fn secure_erase(&mut self, now: Nanos) -> Nanos {
        assert_eq!(
            self.outstanding(),
            0,
            "secure erase with commands outstanding"
        );
        self.run_internal(now.0);
        self.set_now(self.now.max(now.0));
        self.pipeline.clear();
        self.ahead = ReadAhead::of(&self.config.host);
        let end = self.ftl.secure_erase(self.now);
        if self.thermal.is_some() {
            self.rest_from(self.now, end);
        }
        self.set_now(end);
        self.idle_at = u64::MAX;
        Nanos(end)
    }

    /// Resets the host side when power returns: nothing is outstanding, and commands start from
    /// `ready` on.
    pub fn restart(&mut self, at: u64, ready: u64) {
        self.set_now(at);
        if self.thermal.is_some() {
            self.rest_from(at, at);
        }
        self.controller_free_at = ready;
        self.link_in.restart();
        self.link_out.restart();
        self.outstanding = 0;
        self.held.clear();
        self.barrier = false;
        self.completions = Completions::default();
        self.pipeline.restart();
        self.ahead = ReadAhead::of(&self.config.host);
        self.idle_at = ready + self.config.ftl.idle_after.0;
    }

    /// Lets commands start from `ready` on.
    pub fn ready_at(&mut self, ready: u64) {
        self.controller_free_at = ready;
        self.idle_at = ready + self.config.ftl.idle_after.0;
    }

    /// Puts a saved mapping unit back into the buffer; returns the end.
    pub fn restore(&mut self, from: u64, lpn: u32) -> u64 {
        let from = self.pipeline_room(from, lpn);
        if self.ftl.write(
            from,
            lpn,
            Hint {
                tag: u32::MAX,
                ..Hint::default()
            },
        ) {
            self.pipeline.occupied += 1;
        }
        self.take_launched();
        from
    }

    pub fn check(&self) -> Result<(), String> {
        self.ftl.check()?;
        if let Some(thermal) = &self.thermal {
            thermal.check()?;
        }
        self.pipeline.check(self.ftl.buffered_slots())
    }
}
