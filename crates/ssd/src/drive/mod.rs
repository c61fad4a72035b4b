//! The host side: commands, link, write buffer, FLUSH and FUA, idle work.
//!
//! ```text
//! submit -> queue depth -> controller -> link -> buffer -> acknowledged      (write)
//!                                                  |
//!                                                  +-> drained by the unit, when its die is free
//!                       FUA on a volatile buffer, FLUSH -> commit: data, then map, one at a time
//!           read: map -> buffer, or die and channel -> link -> completed
//! ```
//! Durability (see the contract in `docs/model.md`). A protected buffer makes every acknowledged
//! write durable, so FUA and FLUSH wait for nothing. A volatile one must commit: program the data,
//! then the map that leads to it. Commits are serial.
//!
//! Time is driven from outside: [`Drive::submit`] at times that never go back,
//! [`Drive::pop_completion`] moves the drive's own work forward.

mod commit;
mod completions;
mod write;

use crate::command::{Command, Op};
use crate::config::{ConfigError, DriveConfig};
use crate::counters::DriveCounters;
use crate::ftl::{Found, Ftl};
use crate::nand::Bus;
use crate::units::Nanos;
use commit::Commits;
use completions::Completions;
use std::collections::VecDeque;
use write::WriteBuffer;

/// A finished command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// As given to [`Drive::submit`].
    pub tag: u32,
    /// When it was submitted.
    pub submitted: Nanos,
    /// When it completed.
    pub done: Nanos,
}

/// A software SSD in virtual time. Cloning it forks its whole state.
#[derive(Clone, Debug)]
pub struct Drive {
    config: DriveConfig,
    ftl: Ftl,
    /// Time of the last event seen: nothing happens before it any more.
    now: u64,
    controller_free_at: u64,
    link_in: Bus,
    link_out: Bus,
    /// ns to move 0..=64 sectors of 512 bytes over the link; longer ones are computed.
    link_ns: [u64; 65],
    slot_shift: u32,
    outstanding: u32,
    held: VecDeque<(u32, Command)>,
    submitted: Vec<u64>,
    completions: Completions,
    buffer: WriteBuffer,
    commits: Commits,
    idle_at: u64,
}

impl Drive {
    /// A drive as it comes from the factory.
    ///
    /// # Errors
    /// When the configuration is impossible; see [`DriveConfig::validate`].
    pub fn new(config: DriveConfig) -> Result<Drive, ConfigError> {
        config.validate()?;
        let slots = config.buffer.bytes / u64::from(config.shape.slot_bytes);
        let mut link_ns = [0; 65];
        for (sectors, time) in link_ns.iter_mut().enumerate() {
            *time = transfer_ns(512 * sectors as u64, config.host.link_bytes_per_second);
        }
        Ok(Drive {
            ftl: Ftl::new(&config),
            now: 0,
            controller_free_at: 0,
            link_in: Bus::default(),
            link_out: Bus::default(),
            link_ns,
            slot_shift: config.shape.slot_bytes.trailing_zeros(),
            outstanding: 0,
            held: VecDeque::new(),
            submitted: Vec::new(),
            completions: Completions::default(),
            buffer: WriteBuffer::new(slots as u32),
            commits: Commits::default(),
            idle_at: u64::MAX,
            config,
        })
    }

    /// The drive's configuration.
    pub fn config(&self) -> &DriveConfig {
        &self.config
    }

    /// The translation layer, to look at.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// Counters since the drive was made.
    pub fn counters(&self) -> &DriveCounters {
        &self.ftl.counters
    }

    /// Time of the last event.
    pub fn now(&self) -> Nanos {
        Nanos(self.now)
    }

    /// Commands submitted and not yet popped.
    pub fn outstanding(&self) -> usize {
        self.outstanding as usize + self.held.len()
    }

    /// Fetches what `command` will need early; has no effect on the model.
    #[inline(always)]
    pub fn prefetch(&self, command: &Command) {
        self.ftl
            .prefetch((command.offset >> self.slot_shift) as u32);
    }

    /// Hands over a command at time `now`, which must not be before any event already seen. Each
    /// outstanding command has its own tag, below 2^24.
    ///
    /// # Panics
    /// When the command lies outside the drive, is not in whole 512-byte blocks, or time runs
    /// backwards: the caller has checked.
    #[inline]
    pub fn submit(&mut self, tag: u32, command: &Command, now: Nanos) {
        assert!(
            now.0 >= self.now,
            "command at {now}, the drive is at {}",
            Nanos(self.now)
        );
        let end = command.offset + u64::from(command.len);
        assert!(
            end <= self.config.user_bytes,
            "command ends at {end}, beyond the drive"
        );
        assert!(
            (command.offset | u64::from(command.len)).is_multiple_of(512),
            "not in whole blocks"
        );
        if tag as usize >= self.submitted.len() {
            self.submitted.resize(tag as usize + 1, 0);
        }
        self.submitted[tag as usize] = now.0;
        if self.outstanding >= self.config.host.queue_depth {
            self.held.push_back((tag, *command));
            return;
        }
        self.run_internal(now.0);
        self.now = now.0;
        self.start(tag, command, now.0);
    }

    fn start(&mut self, tag: u32, command: &Command, at: u64) {
        self.outstanding += 1;
        let begin = at.max(self.controller_free_at);
        self.controller_free_at = begin + self.config.host.command_overhead.0;
        let ready = self.controller_free_at;
        match command.op {
            Op::Read => self.start_read(tag, command, ready),
            Op::Write => self.start_write(tag, command, ready),
            Op::Flush => self.start_flush(tag, ready),
            Op::Trim | Op::WriteZeroes => self.start_trim(tag, command, ready),
        }
    }

    fn complete(&mut self, tag: u32, at: u64) {
        self.completions.push(at + self.config.host.latency.0, tag);
    }

    /// Takes the next command that completes by `until`, doing the drive's own work up to then.
    /// With `None`, nothing more completes by `until`, and the drive has lived until then.
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
                    self.now = self.now.max(until.0);
                }
                return None;
            }
            let (done, tag) = self.completions.pop()?;
            self.finish(done);
            let submitted = Nanos(self.submitted[tag as usize]);
            return Some(Completion {
                tag,
                submitted,
                done: Nanos(done),
            });
        }
    }

    #[inline]
    fn finish(&mut self, done: u64) {
        self.now = self.now.max(done);
        self.outstanding -= 1;
        if self.outstanding == 0 {
            self.idle_at = done + self.config.ftl.idle_after.0;
        }
        if let Some((tag, command)) = self.held.pop_front() {
            // A host that takes completions late may have submitted it since.
            let at = done.max(self.submitted[tag as usize]);
            if at > done {
                self.run_internal(at);
                self.now = at;
            }
            self.start(tag, &command, at);
        }
    }

    /// When the drive itself next has something to do.
    #[inline]
    fn internal_time(&self) -> u64 {
        let work = self.buffer.next_time().min(self.commits.next_time());
        if self.outstanding > 0 {
            work
        } else {
            work.min(self.idle_at)
        }
    }

    fn run_internal(&mut self, until: u64) {
        loop {
            let next = self.internal_time();
            if next > until || next == u64::MAX {
                return;
            }
            self.run_one_internal(next);
        }
    }

    fn run_one_internal(&mut self, at: u64) {
        self.now = self.now.max(at);
        if self.buffer.next_time() <= at {
            self.run_buffer(at);
        } else if self.commits.next_time() <= at {
            self.run_commit(at);
        } else {
            self.run_idle(at);
        }
    }

    /// One step of idle work: empty the buffer, then fold the pSLC cache.
    fn run_idle(&mut self, at: u64) {
        let end = if self.ftl.buffered_slots() > 0 {
            self.drain_all(at, false)
        } else {
            self.ftl.fold_some(at).unwrap_or(u64::MAX)
        };
        self.idle_at = end.max(at + 1);
        if self.ftl.buffered_slots() == 0 && !self.ftl.can_fold() {
            self.idle_at = u64::MAX;
        }
    }

    fn slots(&self, command: &Command) -> std::ops::Range<u32> {
        let first = command.offset >> self.slot_shift;
        let end = command.offset + u64::from(command.len);
        let last = (end + (1 << self.slot_shift) - 1) >> self.slot_shift;
        first as u32..last as u32
    }

    #[inline]
    fn link_time(&self, bytes: u32) -> u64 {
        match self.link_ns.get(bytes as usize / 512) {
            Some(&time) => time,
            None => transfer_ns(bytes.into(), self.config.host.link_bytes_per_second),
        }
    }

    #[inline]
    fn start_read(&mut self, tag: u32, command: &Command, ready: u64) {
        let slots = self.slots(command);
        let in_controller = self.read_slots(slots, ready);
        let length = self.link_time(command.len);
        let link = if self.config.host.full_duplex {
            &mut self.link_out
        } else {
            &mut self.link_in
        };
        let done = link.reserve(self.now, in_controller, length);
        self.ftl.counters.host_reads += 1;
        self.ftl.counters.host_bytes_read += u64::from(command.len);
        self.complete(tag, done);
    }

    /// Reads slots into the controller, one media read per unit touched; returns the end.
    fn read_slots(&mut self, slots: std::ops::Range<u32>, ready: u64) -> u64 {
        let mut end = ready;
        let mut run: Option<(u32, u32)> = None;
        for lpn in slots {
            let Found::Media(ppn) = self.ftl.find(lpn) else {
                continue;
            };
            let unit_of = |p: u32| p / self.ftl.nand.geometry.slots_per_unit;
            match run {
                Some((first, count)) if unit_of(first) == unit_of(ppn) => {
                    run = Some((first, count + 1));
                }
                _ => {
                    end = end.max(self.read_run(run.take(), ready));
                    run = Some((ppn, 1));
                }
            }
        }
        end.max(self.read_run(run, ready))
    }

    #[inline]
    fn read_run(&mut self, run: Option<(u32, u32)>, ready: u64) -> u64 {
        let Some((ppn, count)) = run else {
            return ready;
        };
        let at = self.ftl.nand.geometry.place(ppn);
        let mode = self.ftl.mode_of(at.superblock);
        self.ftl.counters.nand_reads_host += 1;
        let count = count.min(self.ftl.nand.geometry.slots_per_unit);
        self.ftl
            .nand
            .read(self.now, ready, at.die, at.row, mode, count)
    }

    fn start_trim(&mut self, tag: u32, command: &Command, ready: u64) {
        let slot_bytes = 1 << self.slot_shift;
        // Only whole mapping units can be forgotten.
        let first = command.offset.next_multiple_of(slot_bytes) >> self.slot_shift;
        let last = (command.offset + u64::from(command.len)) >> self.slot_shift;
        for lpn in first..last.max(first) {
            self.ftl.trim(lpn as u32);
        }
        self.ftl.counters.host_trims += 1;
        self.complete(tag, ready);
    }

    /// Secure erase: forgets all data at once, as the command of that name does, and returns when
    /// the drive is ready again. No command may be outstanding.
    ///
    /// # Panics
    /// When a command is outstanding.
    pub fn secure_erase(&mut self, now: Nanos) -> Nanos {
        assert_eq!(
            self.outstanding(),
            0,
            "secure erase with commands outstanding"
        );
        self.run_internal(now.0);
        self.buffer.clear();
        let end = self.ftl.secure_erase(now.0.max(self.now));
        self.now = end;
        self.idle_at = u64::MAX;
        Nanos(end)
    }

    /// The drive checks itself: map, reverse map, valid counts, buffer and page conservation.
    ///
    /// # Errors
    /// The first contradiction found, in a sentence.
    pub fn check(&self) -> Result<(), String> {
        self.ftl.check()?;
        self.buffer.check(&self.ftl)
    }
}

fn transfer_ns(bytes: u64, bytes_per_second: u64) -> u64 {
    (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_second)) as u64
}
