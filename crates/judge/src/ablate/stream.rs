//! A host's own commands as the load under which a drive is taken apart.
//!
//! A recorded command is taken to wait for every command that had completed when it was issued,
//! and then for the time that the host let pass: on a faster drive the host is faster too. Commands
//! that had not completed are not waited for. What the host does while it waits is not known, so
//! its pauses are the same on every drive, or are taken away all together.

use super::load::AblationMeasurement;
use ssdlab_base::LabError;
use ssdlab_bench::engine::devices::Devices;
use ssdlab_load::trace::{ReadOptions, TraceEvent, TraceReader};
use ssdlab_ssd::{Command, Drive, Nanos, Op};
use std::path::Path;

/// Commands of a trace that are replayed.
pub const COMMANDS_MAX: usize = 20_000;
/// Bytes of the longest command that is sent; longer ones are sent in parts.
const PART_MAX: u64 = 1 << 20;
/// Addresses and lengths are multiples of this.
const SECTOR: u64 = 512;

/// A recorded command.
#[derive(Clone, Copy, Debug)]
struct ReplayStep {
    event: TraceEvent,
    /// How many commands had completed when it was issued.
    after: usize,
    /// How long the host waited after the last of them.
    pause: Nanos,
    /// It flushes when there is nothing to flush, or before a write that is durable anyhow.
    doubled: bool,
}

/// What is taken away from the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostRelief {
    /// It never waits without a command outstanding.
    pub without_pauses: bool,
    /// It flushes once for what must be durable.
    pub without_doubled_flushes: bool,
}

/// Recorded commands of a host, in the order in which it issued them.
#[derive(Clone, Debug)]
pub struct HostStream {
    steps: Vec<ReplayStep>,
    /// Place of each step in the order of completion.
    place: Vec<usize>,
}

impl HostStream {
    /// The first [`COMMANDS_MAX`] commands of the trace at `path`.
    ///
    /// # Errors
    /// When it cannot be read, is empty, or does not say when its commands completed.
    pub fn read(path: &Path, options: &ReadOptions) -> Result<HostStream, LabError> {
        let mut reader = TraceReader::open(path, options)?;
        let mut events = Vec::new();
        while events.len() < COMMANDS_MAX {
            match reader.next_event()? {
                Some(event) => events.push(event),
                None => break,
            }
        }
        HostStream::new(&events).ok_or_else(|| {
            LabError::refused(
                if events.is_empty() {
                    format!("{} has no commands", path.display())
                } else {
                    format!(
                        "{} does not say when its commands completed, so what the host waited for \
                     is not known",
                        path.display()
                    )
                },
                "give a trace with issue and completion: csv, blkparse, blktrace, msr or biosnoop",
            )
        })
    }

    /// `None` when there is no event, or one that does not say when it completed.
    pub fn new(events: &[TraceEvent]) -> Option<HostStream> {
        let ends: Option<Vec<u64>> = events.iter().map(|event| event.done_ns).collect();
        let ends = ends.filter(|ends| !ends.is_empty())?;
        let mut order: Vec<usize> = (0..events.len()).collect();
        order.sort_by_key(|&step| (ends[step], step));
        let mut place = vec![0; events.len()];
        for (at, &step) in order.iter().enumerate() {
            place[step] = at;
        }
        let mut history = FlushHistory::default();
        let mut after = 0;
        let steps = events.iter().map(|event| {
            // A command that takes no time has not completed before it is issued.
            while after < order.len() && ends[order[after]] <= event.issued_ns {
                history.completed(&events[order[after]]);
                after += 1;
            }
            let since = after.checked_sub(1).map_or(0, |last| ends[order[last]]);
            ReplayStep {
                event: *event,
                after,
                pause: Nanos(event.issued_ns - since),
                doubled: history.issued(event),
            }
        });
        let steps = steps.collect();
        Some(HostStream { steps, place })
    }

    /// How many commands there are.
    pub fn count(&self) -> usize {
        self.steps.len()
    }

    /// Whether the host ever waits with no command outstanding.
    pub fn has_pauses(&self) -> bool {
        self.steps.iter().any(|step| step.pause > Nanos::ZERO)
    }

    /// Doubled flushes, and all flushes: a flush is doubled when an earlier one covers all that has
    /// completed, or when it goes before a FUA write, so that one commit waits for the media twice
    /// (a journal whose commit block has a checksum does without the first).
    pub fn doubled_flushes(&self) -> (usize, usize) {
        let flushes = self.steps.iter().filter(|step| flushes(&step.event));
        let doubled = flushes.clone().filter(|step| step.doubled).count();
        (doubled, flushes.count())
    }

    /// In a line.
    pub fn summary(&self) -> String {
        let (doubled, flushes) = self.doubled_flushes();
        let commands = self.count();
        format!("{commands} commands; {flushes} flushes, {doubled} of them doubled")
    }

    /// Time per command on `drive`, which has no command outstanding.
    pub fn measure(&self, drive: Drive, host: HostRelief) -> AblationMeasurement {
        let before = drive.counters().clone();
        let mut run = StreamReplay::new(self, drive, host);
        run.play();
        let after = run.devices.drive(0).counters();
        let written = after.slots_host - before.slots_host;
        let moved = after.slots_relocated - before.slots_relocated;
        AblationMeasurement {
            ns: (run.devices.now() - run.began).0 as f64 / self.count() as f64,
            moved: moved as f64 / written.max(1) as f64,
        }
    }
}

fn flushes(event: &TraceEvent) -> bool {
    event.op == Op::Flush || event.preflush
}

/// What is durable, in the recording.
#[derive(Debug, Default)]
struct FlushHistory {
    /// Something completed that no flush which was issued later covers.
    unflushed: bool,
    /// Flushes that have not completed.
    under_way: u32,
}

impl FlushHistory {
    fn completed(&mut self, event: &TraceEvent) {
        if flushes(event) {
            self.under_way -= 1;
        }
        let durable = event.op == Op::Read || event.op == Op::Flush || event.fua;
        self.unflushed |= !durable;
    }

    /// Whether the command has a doubled flush. One that may not complete before an earlier flush
    /// does not count as doubled.
    fn issued(&mut self, event: &TraceEvent) -> bool {
        if !flushes(event) {
            return false;
        }
        let nothing_to_do = !self.unflushed && self.under_way == 0;
        self.under_way += 1;
        self.unflushed = false;
        nothing_to_do || event.preflush && event.fua
    }
}

/// What a step still has to do.
#[derive(Clone, Copy, Debug)]
enum ReplayStage {
    /// The flush before its write.
    Preflush,
    /// Parts outstanding.
    Parts(u32),
}

/// A replay.
struct StreamReplay<'a> {
    stream: &'a HostStream,
    host: HostRelief,
    devices: Devices,
    began: Nanos,
    /// Whole sectors of the drive, in bytes.
    capacity: u64,
    stages: Vec<Option<ReplayStage>>,
    /// In the order of completion in the recording.
    ended: Vec<bool>,
    /// When all up to a place in that order had ended, for each place.
    reached: Vec<Nanos>,
}

impl<'a> StreamReplay<'a> {
    fn new(stream: &'a HostStream, drive: Drive, host: HostRelief) -> StreamReplay<'a> {
        let capacity = drive.config().user_bytes / SECTOR * SECTOR;
        let devices = Devices::one(drive);
        StreamReplay {
            stream,
            host,
            began: devices.now(),
            devices,
            capacity,
            stages: vec![None; stream.count()],
            ended: vec![false; stream.count()],
            reached: Vec::with_capacity(stream.count()),
        }
    }

    fn play(&mut self) {
        let stream = self.stream;
        for (index, step) in stream.steps.iter().enumerate() {
            while self.reached.len() < step.after {
                self.wait(Nanos::MAX);
            }
            let ready = match step.after {
                0 => self.began,
                some => self.reached[some - 1],
            };
            let pause = if self.host.without_pauses {
                Nanos::ZERO
            } else {
                step.pause
            };
            let due = ready.saturating_add(pause);
            while self.devices.now() < due {
                self.wait(due);
            }
            self.begin(index);
        }
        while self.reached.len() < stream.count() {
            self.wait(Nanos::MAX);
        }
    }

    /// Waits for one completion, or until `until`.
    fn wait(&mut self, until: Nanos) {
        if let Some(done) = self.devices.next(until) {
            self.part_done(done.token as usize);
        }
    }

    fn begin(&mut self, index: usize) {
        let step = self.stream.steps[index];
        let taken_away = step.doubled && self.host.without_doubled_flushes;
        let flush = flushes(&step.event) && !taken_away;
        if flush {
            self.stages[index] = Some(ReplayStage::Preflush);
            self.devices.submit(0, &Command::flush(), index as u64);
        } else {
            self.body(index)
        }
    }

    /// What follows the flush of a step.
    fn body(&mut self, index: usize) {
        let event = self.stream.steps[index].event;
        let mut parts = 0;
        if event.op != Op::Flush {
            let mut position = event.offset / SECTOR * SECTOR;
            let end = event.end().div_ceil(SECTOR).saturating_mul(SECTOR);
            while position < end {
                let offset = position % self.capacity;
                let len = (end - position).min(PART_MAX).min(self.capacity - offset);
                let command = Command {
                    op: event.op,
                    fua: event.fua,
                    ..Command::write(offset, len as u32)
                };
                self.devices.submit(0, &command, index as u64);
                position += len;
                parts += 1;
            }
        }
        self.stages[index] = Some(ReplayStage::Parts(parts));
        if parts == 0 {
            self.end(index);
        }
    }

    fn part_done(&mut self, index: usize) {
        match self.stages[index] {
            Some(ReplayStage::Preflush) if self.stream.steps[index].event.op != Op::Flush => {
                self.body(index);
            }
            Some(ReplayStage::Parts(parts)) if parts > 1 => {
                self.stages[index] = Some(ReplayStage::Parts(parts - 1));
            }
            _ => self.end(index),
        }
    }

    fn end(&mut self, index: usize) {
        self.ended[self.stream.place[index]] = true;
        while self.ended.get(self.reached.len()) == Some(&true) {
            self.reached.push(self.devices.now());
        }
    }
}
