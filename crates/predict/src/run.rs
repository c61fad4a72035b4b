//! Runs a load on a modelled drive, made smaller, in the state that a row names.
//!
//! ```text
//! config -> scaled -> prepared (fresh, filled, steady) -> clone -> writers, each in its steps
//! ```
//! Each writer has one command outstanding: a write, then what makes it durable, then the next.
//! Writers of a file system share the commits of its journal: who began to write before a commit is
//! in it if its data comes before the flush, so that writers served together stay together. A sync
//! commits only if the time stamp of the file has moved since the last commit, which it does once a
//! tick of the kernel.
//! Deliberately left out: host time beyond the latency that the model adds to every command, and
//! plugs and schedulers of the host.

use crate::load::{AddressOrder, ClosedLoad, Durability, StateBefore};
use crate::untimed::{FILL_BLOCK, UntimedRig};
use ssdlab_base::LabError;
use ssdlab_bench::engine::devices::{Devices, new_drive};
use ssdlab_drives::scaling::scaled;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, DriveConfig, Nanos};

/// Tick of the kernel, by which time stamps of files move.
const TICK: Nanos = Nanos::from_millis(1);
/// Size of the models.
pub const MODEL_BYTES: u64 = 1 << 30;
/// Share of the drive that a load on a file covers: 1/64. Files of published tests have 1 to 16
/// GiB, on drives of half a TB and more.
const REGION_SHARE: u64 = 64;
/// The largest share, where the buffer asks for more.
const REGION_SHARE_MOST: u64 = 8;
/// Most commands of a run, and the fewest.
const COMMANDS_MAX: u64 = 40_000;
const COMMANDS_MIN: u64 = 600;
/// Virtual time of a run where writes are durable.
const DURABLE_TIME: Nanos = Nanos::from_secs(2);
/// Idle time before a load.
const REST: Nanos = Nanos::from_secs(5);
/// Sizes of the buffer that may go into a drive without a cache before its own rate shows.
const BUFFERED: u64 = 4;
/// Journal of a file system's commit, and its record.
const JOURNAL: u32 = 8 << 10;
const RECORD: u32 = 4 << 10;
const SEED: u64 = 1;
/// Most writers of a load.
const WRITERS_MAX: u32 = 4096;
/// Token of the commands of a commit.
const COMMIT: u64 = u64::MAX;

/// A drive made smaller.
#[derive(Clone)]
pub struct ModelRig {
    devices: Devices,
    user: u64,
    rng: Rng,
    /// FUA is a write and a flush: what hosts do over SATA.
    fua_by_flush: bool,
    /// The drive says that it has no volatile cache, and hosts send no flushes.
    flushes: bool,
}

/// What a run gave.
#[derive(Clone, Debug, Default)]
pub struct RunTimes {
    /// Seconds of virtual time.
    pub seconds: f64,
    /// Times in ns, sorted: reads, writes without sync, what follows them, both.
    pub reads: Vec<u64>,
    /// See [`RunTimes::reads`].
    pub writes: Vec<u64>,
    /// See [`RunTimes::reads`].
    pub syncs: Vec<u64>,
    /// See [`RunTimes::reads`].
    pub durable: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq)]
enum WriteStep {
    Data { fua: bool },
    Journal,
    Flush,
    Record,
}

/// Steps of a durable write.
struct WriteSteps {
    /// Of each writer.
    own: Vec<WriteStep>,
    /// Of a commit that serves all who wait for it.
    shared: Vec<WriteStep>,
    /// The same where the journal has nothing to commit.
    clean: Vec<WriteStep>,
}

/// A writer: where it is in its steps, since when, and when its data was written.
#[derive(Clone, Copy, Default)]
struct LoadWriter {
    step: usize,
    reads: bool,
    began: Nanos,
    written: Nanos,
}

impl LoadWriter {
    /// Time stamp of its file.
    fn tick(&self) -> u64 {
        self.began.0 / TICK.0
    }

    fn step_done(&mut self, time: Nanos) {
        if self.step == 0 {
            self.written = time;
        }
        self.step += 1;
    }
}

/// The commits of a file system: writers that begin while one is under way share the next.
struct HostCommits<'a> {
    /// Steps of the commit under way.
    steps: &'a [WriteStep],
    shared: &'a [WriteStep],
    clean: &'a [WriteStep],
    /// Tick whose time stamp is in the journal.
    tick: Option<u64>,
    waiting: Vec<u64>,
    /// Whom the commit under way serves; empty: none is.
    served: Vec<u64>,
    /// When it began: time stamps from before are in it.
    began: Nanos,
    step: usize,
    count: u64,
}

impl HostCommits<'_> {
    fn of(steps: &WriteSteps) -> HostCommits<'_> {
        HostCommits {
            steps: &steps.shared,
            shared: &steps.shared,
            clean: &steps.clean,
            tick: None,
            waiting: Vec::new(),
            served: Vec::new(),
            began: Nanos::ZERO,
            step: 0,
            count: 0,
        }
    }

    /// Whether the sync of a writer asks anything of the drive.
    fn has_steps_for(&self, writer: &LoadWriter) -> bool {
        Some(writer.tick()) > self.tick || !self.clean.is_empty()
    }

    /// Whether the commit under way serves a writer whose data is written: it has its time stamp,
    /// which moved when the write began, and the flush is still to come.
    fn takes(&self, writer: &LoadWriter) -> bool {
        let mut sent = self.steps.iter().take(self.step + 1);
        let is_before_flush = sent.all(|step| *step == WriteStep::Journal);
        !self.served.is_empty() && writer.began < self.began && is_before_flush
    }
}

impl ModelRig {
    /// A fresh drive of `config`, made smaller.
    ///
    /// # Errors
    /// When so small a drive cannot be made of its parts.
    pub fn new(config: &DriveConfig, sata: bool) -> Result<ModelRig, LabError> {
        let small = scaled(config, MODEL_BYTES)?.config;
        let user = small.user_bytes / u64::from(FILL_BLOCK) * u64::from(FILL_BLOCK);
        Ok(ModelRig {
            flushes: sata || !small.buffer.protected,
            fua_by_flush: sata,
            devices: Devices::one(new_drive(&small)?),
            user,
            rng: Rng::named(SEED, "ledger"),
        })
    }

    /// Brings it into a state, then leaves it idle.
    ///
    /// # Errors
    /// When the state cannot be reached without time: of a block-mapped drive.
    pub fn prepare(&mut self, state: StateBefore) -> Result<(), LabError> {
        match state {
            StateBefore::Fresh => {}
            StateBefore::Filled(percent) => {
                self.fill(self.user * u64::from(percent) / 100);
                self.devices.rest(REST);
            }
            StateBefore::Steady => {
                let config = self.devices.drive(0).config().clone();
                self.devices = Devices::one(UntimedRig::new(config)?.steady()?);
            }
        }
        Ok(())
    }

    fn fill(&mut self, bytes: u64) {
        let block = u64::from(FILL_BLOCK);
        let mut offset = 0;
        let mut next = || {
            (offset + block <= bytes).then(|| {
                offset += block;
                Command::write(offset - block, FILL_BLOCK)
            })
        };
        self.devices.keep(32, Nanos::MAX, &mut next);
        self.devices.settle();
    }

    /// Rates in bytes a second over equal parts of the drive, written once in order.
    pub fn fill_curve(mut self, block: u32, parts: usize) -> Vec<f64> {
        let part = self.user / parts as u64 / u64::from(block).max(1) * u64::from(block);
        let mut offset = 0;
        let mut rates: Vec<f64> = (0..parts)
            .map(|_| {
                let (began, end) = (self.devices.now(), offset + part);
                let mut next = || {
                    (offset < end).then(|| {
                        offset += u64::from(block);
                        Command::write(offset - u64::from(block), block)
                    })
                };
                self.devices.keep(8, Nanos::MAX, &mut next);
                part as f64 * 1e9 / (self.devices.now() - began).0.max(1) as f64
            })
            .collect();
        // The buffer is not made smaller with the drive. While it drains it takes a few times its
        // size, of the drive itself a thousandth.
        let config = self.devices.drive(0).config();
        let slc = &config.ftl.slc;
        if slc.superblocks == 0 && slc.dynamic_above_free == 0 {
            let buffered = (BUFFERED * config.buffer.bytes).div_ceil(part.max(1)) as usize;
            if let Some(after) = rates.get(buffered).copied() {
                rates[..buffered].fill(after);
            }
        }
        rates
    }

    /// Runs a load; `None` when a command is larger than its region.
    pub fn run(mut self, load: &ClosedLoad, state: StateBefore) -> Option<RunTimes> {
        let region = self.region(load, state)?;
        let steps = self.steps(load.sync);
        let block = u64::from(load.block);
        let bytes_max = self.user / 4 / block;
        let start = self.devices.now();
        let mut course = Course {
            load,
            own: &steps.own,
            slots: region / block,
            given: 0,
            most: COMMANDS_MAX.min(bytes_max.max(COMMANDS_MIN)),
            journal: self.user - self.user / 16,
            rng: self.rng.clone(),
        };
        let mut commits = HostCommits::of(&steps);
        let writers = load.outstanding.min(WRITERS_MAX) as usize;
        let mut writers = vec![LoadWriter::default(); writers];
        let mut times = RunTimes::default();
        for (token, writer) in writers.iter_mut().enumerate() {
            self.begin(writer, token as u64, &mut course);
        }
        let until = match load.sync {
            Durability::None => Nanos::MAX,
            _ => start.saturating_add(DURABLE_TIME),
        };
        while self.devices.outstanding(0) > 0 {
            let Some(done) = self.devices.next(until) else {
                break;
            };
            let time = done.done;
            if done.token == COMMIT {
                for token in self.commit_goes_on(&mut commits, &course, &writers) {
                    times.end(&writers[token as usize], time);
                    self.begin(&mut writers[token as usize], token, &mut course);
                }
                continue;
            }
            let writer = &mut writers[done.token as usize];
            writer.step_done(time);
            if writer.reads {
                times.reads.push((time - writer.began).0);
            } else if writer.step < steps.own.len() {
                self.submit(steps.own[writer.step], done.token, &course, 0);
                continue;
            } else if !steps.shared.is_empty() && commits.takes(writer) {
                commits.tick = commits.tick.max(Some(writer.tick()));
                commits.served.push(done.token);
                continue;
            } else if !steps.shared.is_empty() && commits.has_steps_for(writer) {
                commits.waiting.push(done.token);
                self.commit_starts(&mut commits, &course, &writers);
                continue;
            } else {
                times.end(writer, time);
            }
            self.begin(writer, done.token, &mut course);
        }
        times.seconds = (self.devices.now() - start).as_secs_f64();
        times.sort();
        Some(times)
    }

    /// A commit for all who wait, unless one is under way.
    fn commit_starts(
        &mut self,
        commits: &mut HostCommits<'_>,
        course: &Course<'_>,
        writers: &[LoadWriter],
    ) {
        if commits.served.is_empty() && !commits.waiting.is_empty() {
            commits.served = std::mem::take(&mut commits.waiting);
            commits.began = self.devices.now();
            commits.step = 0;
            commits.count += 1;
            let waiting = commits.served.iter().map(|token| &writers[*token as usize]);
            let last = waiting.map(LoadWriter::tick).max();
            commits.steps = if last > commits.tick || commits.clean.is_empty() {
                commits.tick = last;
                commits.shared
            } else {
                commits.clean
            };
            self.submit(commits.steps[0], COMMIT, course, commits.count);
        }
    }

    /// The next step of a commit, or its end: the writers that it served.
    fn commit_goes_on(
        &mut self,
        commits: &mut HostCommits<'_>,
        course: &Course<'_>,
        writers: &[LoadWriter],
    ) -> Vec<u64> {
        commits.step += 1;
        if let Some(step) = commits.steps.get(commits.step) {
            self.submit(*step, COMMIT, course, commits.count);
            return Vec::new();
        }
        let served = std::mem::take(&mut commits.served);
        self.commit_starts(commits, course, writers);
        served
    }

    /// Bytes of the region: the whole drive in a steady state, half of a fresh one; else that of a
    /// file. The buffer is not made smaller with the drive, and must not hold most of the region.
    fn region(&self, load: &ClosedLoad, state: StateBefore) -> Option<u64> {
        let region = match state {
            StateBefore::Steady => self.user,
            StateBefore::Fresh => self.user / 2,
            StateBefore::Filled(_) => {
                let buffered = BUFFERED * self.devices.drive(0).config().buffer.bytes;
                let file = (self.user / REGION_SHARE).max(buffered);
                file.min(self.user / REGION_SHARE_MOST)
            }
        };
        (u64::from(load.block) * 4 <= region && load.block >= 512).then_some(region)
    }

    /// The steps of a writer, and those of the commits that writers share: a file system has one
    /// journal, and over SATA a host has one flush under way.
    fn steps(&self, sync: Durability) -> WriteSteps {
        let plain = WriteStep::Data { fua: false };
        let fua = WriteStep::Data {
            fua: !self.fua_by_flush,
        };
        let flush_for_fua = self.fua_by_flush.then_some(WriteStep::Flush);
        let journal = [WriteStep::Journal, WriteStep::Flush, WriteStep::Record];
        let journal = || journal.into_iter().chain(flush_for_fua).collect::<Vec<_>>();
        let through: Vec<WriteStep> = [fua].into_iter().chain(flush_for_fua).collect();
        let (mut own, mut shared) = match sync {
            Durability::None => (vec![plain], vec![]),
            // The write itself is durable; nothing tells it from one by FUA.
            Durability::Flush if !self.flushes => (through, vec![]),
            Durability::Flush | Durability::Fua if self.fua_by_flush => {
                (vec![plain], vec![WriteStep::Flush])
            }
            Durability::Flush => (vec![plain, WriteStep::Flush], vec![]),
            Durability::Journal => (vec![plain], journal()),
            Durability::Fua => (through, vec![]),
            Durability::FuaJournal => (through, journal()),
        };
        // The data itself has to be flushed, unless it went through by FUA.
        let mut clean = match sync {
            Durability::Journal | Durability::Flush => vec![WriteStep::Flush],
            Durability::Fua if self.fua_by_flush => vec![WriteStep::Flush],
            _ => vec![],
        };
        if !self.flushes {
            for steps in [&mut own, &mut shared, &mut clean] {
                steps.retain(|step| *step != WriteStep::Flush);
            }
        }
        WriteSteps { own, shared, clean }
    }

    /// The next command of a writer; none after the last.
    fn begin(&mut self, writer: &mut LoadWriter, token: u64, course: &mut Course<'_>) {
        if course.given >= course.most {
            return;
        }
        let reads = course.rng.percent(u32::from(course.load.read_pct));
        *writer = LoadWriter {
            step: 0,
            reads,
            began: self.devices.now(),
            written: self.devices.now(),
        };
        let offset = course.next_offset();
        let block = course.load.block;
        let command = match course.own[0] {
            _ if reads => Command::read(offset, block),
            WriteStep::Data { fua: true } => Command::write_fua(offset, block),
            _ => Command::write(offset, block),
        };
        self.devices.submit(0, &command, token);
    }

    fn submit(&mut self, step: WriteStep, token: u64, course: &Course<'_>, commit: u64) {
        // The journal goes round in the last sixteenth.
        let room = self.user - course.journal;
        let entry = u64::from(JOURNAL + RECORD);
        let entries = (room / entry).clamp(1, 256);
        let place = course.journal + commit % entries * entry;
        let record = place + u64::from(JOURNAL);
        let command = match step {
            WriteStep::Journal => Command::write(place, JOURNAL),
            WriteStep::Record if self.fua_by_flush => Command::write(record, RECORD),
            WriteStep::Record => Command::write_fua(record, RECORD),
            WriteStep::Flush | WriteStep::Data { .. } => Command::flush(),
        };
        self.devices.submit(0, &command, token);
    }
}

/// The commands of a load, as they are drawn.
struct Course<'a> {
    load: &'a ClosedLoad,
    /// Steps of a writer.
    own: &'a [WriteStep],
    slots: u64,
    given: u64,
    /// Commands of the run.
    most: u64,
    /// Where the journal lies.
    journal: u64,
    rng: Rng,
}

impl Course<'_> {
    fn next_offset(&mut self) -> u64 {
        let slot = match self.load.order {
            AddressOrder::Random => self.rng.below(self.slots),
            AddressOrder::Sequential => self.given % self.slots,
            AddressOrder::SamePlace => 0,
        };
        self.given += 1;
        slot * u64::from(self.load.block)
    }
}

impl RunTimes {
    /// Notes the end of a durable write.
    fn end(&mut self, writer: &LoadWriter, time: Nanos) {
        self.writes.push((writer.written - writer.began).0);
        self.syncs.push((time - writer.written).0);
        self.durable.push((time - writer.began).0);
    }

    fn sort(&mut self) {
        for times in [
            &mut self.reads,
            &mut self.writes,
            &mut self.syncs,
            &mut self.durable,
        ] {
            times.sort_unstable();
        }
    }
}

/// The time in us that `share` of sorted times in ns keep; `None`: their mean.
pub fn time_us(times: &[u64], share: Option<f64>) -> Option<f64> {
    let last = times.len().checked_sub(1)?;
    Some(match share {
        None => times.iter().sum::<u64>() as f64 / times.len() as f64 / 1e3,
        Some(share) => times[((times.len() as f64 * share) as usize).min(last)] as f64 / 1e3,
    })
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
