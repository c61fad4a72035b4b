//! A drive in use run until it becomes slow, and what a watch of it sees.

use crate::truth::{DrawnClass, DrawnDrive, DrawnLoad};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, DriveConfig, DriveCounters, Nanos, Op};
use ssdlab_watch::figures::WatchFigures;
use ssdlab_watch::forecast::fill::{FillLaw, WritePressure};
use ssdlab_watch::forecast::warmth::TemperatureReading;
use ssdlab_watch::request::{BlockRequest, InFlight};
use ssdlab_watch::source::event::{BioOrigin, RequestFlags, RequestKind};
use ssdlab_watch::steps::WatchedSecond;
use std::collections::VecDeque;

/// Busy slices that decide whether writes have become slow.
const AFTER: usize = 20;
/// And the share of the rate before that they then have, at most.
const SLOWED: f64 = 0.8;
/// Requests that places are known of.
const PLACES: usize = 4000;

/// Issues the commands of a load, and says what it did.
struct LoadRunner {
    drive: Drive,
    load: DrawnLoad,
    rng: Rng,
    next: u64,
    commands: Vec<Command>,
    /// Tags that are free.
    free: Vec<u32>,
    now_ns: u64,
    burst_left: u64,
    next_issue_ns: u64,
}

impl LoadRunner {
    fn new(drive: Drive, load: DrawnLoad) -> LoadRunner {
        let now_ns = drive.now().0;
        LoadRunner {
            rng: Rng::named(1, "places"),
            next: load.begin,
            commands: vec![Command::flush(); load.depth as usize],
            free: (0..load.depth).collect(),
            burst_left: load.burst.map_or(u64::MAX, |(bytes, _)| bytes),
            next_issue_ns: now_ns,
            now_ns,
            drive,
            load,
        }
    }

    fn command(&mut self) -> Command {
        let (bytes, span) = (u64::from(self.load.bytes), self.load.span);
        let anywhere = self.rng.below(span / bytes) * bytes;
        if self.rng.percent(self.load.reads) {
            return Command::read(anywhere, self.load.bytes);
        }
        let offset = if self.load.in_order {
            self.next = if self.next + bytes > span {
                0
            } else {
                self.next
            };
            self.next += bytes;
            self.next - bytes
        } else {
            anywhere
        };
        Command::write(offset, self.load.bytes)
    }

    /// Hands over what the load allows.
    fn issue(&mut self) {
        while self.burst_left > 0 && self.next_issue_ns <= self.now_ns {
            let Some(tag) = self.free.pop() else { return };
            let command = self.command();
            self.drive.submit(tag, &command, Nanos(self.now_ns));
            self.commands[tag as usize] = command;
            self.burst_left = self.burst_left.saturating_sub(command.len.into());
            if self.load.pace_ns > 0 {
                self.next_issue_ns += self.load.pace_ns;
            }
        }
    }

    /// The next request that is done; the drive rests in between where the load does.
    fn next_done(&mut self) -> BlockRequest {
        loop {
            self.issue();
            let waits = self.burst_left > 0 && !self.free.is_empty();
            let until = if waits { self.next_issue_ns } else { u64::MAX };
            if self.free.len() < self.commands.len()
                && let Some(done) = self.drive.pop_completion(Nanos(until))
            {
                self.now_ns = done.done.0;
                self.free.push(done.tag);
                let command = self.commands[done.tag as usize];
                return block_request(&command, done.submitted.0, done.done.0);
            }
            if waits {
                self.now_ns = self.now_ns.max(self.next_issue_ns);
            } else if let Some((bytes, pause_s)) = self.load.burst {
                self.now_ns += (pause_s * 1e9) as u64;
                self.burst_left = bytes;
                self.next_issue_ns = self.now_ns;
            }
            let none = self.drive.pop_completion(Nanos(self.now_ns));
            if let Some(done) = none {
                self.now_ns = self.now_ns.max(done.done.0);
                self.free.push(done.tag);
                let command = self.commands[done.tag as usize];
                return block_request(&command, done.submitted.0, done.done.0);
            }
        }
    }
}

fn block_request(command: &Command, issued_ns: u64, done_ns: u64) -> BlockRequest {
    let (kind, letters) = match command.op {
        Op::Read => (RequestKind::Read, "R"),
        _ => (RequestKind::Write, "W"),
    };
    BlockRequest {
        kind,
        flags: RequestFlags::parse(letters.as_bytes()),
        sector: command.offset / 512,
        bytes: command.len.into(),
        queued_ns: issued_ns,
        issued_ns,
        done_ns,
        origin: BioOrigin::default(),
        beside: InFlight::default(),
        joined: InFlight::default(),
        failed: false,
    }
}

/// What happened in a slice, which a watch does not see.
#[derive(Clone, Copy, Debug, Default)]
struct SliceTruth {
    /// Past the cache, or reclaim at work.
    past: bool,
    throttled: bool,
}

/// A run, as seen and as it was.
pub struct DrawnRun {
    pub slice_s: f64,
    pub slices: Vec<WatchedSecond>,
    pub temperatures: Vec<TemperatureReading>,
    pub pressure: WritePressure,
    /// Slice in which writes became slow.
    pub cliff: Option<usize>,
    /// Slice in which the drive began to throttle.
    pub throttling: Option<usize>,
}

/// Bytes and time after which nothing is waited for.
struct RunLimits {
    bytes: u64,
    seconds: f64,
}

impl RunLimits {
    fn new(drawn: &DrawnDrive) -> RunLimits {
        let is_warm = drawn.model.config.heat.is_some();
        let user = drawn.drive.config().user_bytes;
        RunLimits {
            bytes: if is_warm { u64::MAX } else { user * 3 / 2 },
            seconds: if drawn.class == DrawnClass::Calm {
                60.0
            } else {
                200.0
            },
        }
    }
}

fn slice_truth(has_cache: bool, before: &DriveCounters, drive: &Drive) -> SliceTruth {
    let counters = drive.counters();
    let host = counters.slots_host - before.slots_host;
    let slc = counters.slots_slc_mode - before.slots_slc_mode;
    let moved = counters.slots_relocated - before.slots_relocated;
    let native = has_cache && 2 * slc < host;
    SliceTruth {
        past: native || 10 * moved > host,
        throttled: drive
            .heat()
            .is_some_and(|heat| heat.counters.entered.iter().sum::<u64>() > 0),
    }
}

/// The first slice that is past the cache or in reclaim, with the rate of writes fallen for good.
fn slowed(truth: &[SliceTruth], slices: &[WatchedSecond]) -> Option<usize> {
    let busy: Vec<usize> = (0..slices.len())
        .filter(|&index| slices[index].writes.bytes > 0)
        .collect();
    // Bytes of all busy slices before each.
    let mut sums = vec![0];
    for &index in &busy {
        sums.push(sums[sums.len() - 1] + slices[index].writes.bytes);
    }
    let mean = |from: usize, to: usize| (sums[to] - sums[from]) as f64 / (to - from) as f64;
    (1..busy.len().saturating_sub(AFTER))
        .find(|&place| {
            let after = &busy[place..place + AFTER];
            let past = after.iter().filter(|&&index| truth[index].past).count();
            truth[busy[place]].past
                && 10 * past >= 8 * AFTER
                && mean(place, place + AFTER) < SLOWED * mean(0, place)
        })
        .map(|place| busy[place])
}

/// Seconds of a small drive are short: a slice is a hundredth of what its cache, or a fifth of its
/// capacity, takes at full speed.
fn fine_slice(config: &DriveConfig) -> f64 {
    let law = FillLaw::new(config);
    let cache = law.cache_bytes(law.native_bytes);
    let (bytes, rate) = if law.has_cache() {
        (cache, law.slc_rate)
    } else {
        (0.2 * law.native_bytes, law.native_rate)
    };
    (bytes / rate / 100.0).clamp(0.002, 0.05)
}

/// The load, at the moment at which the watch begins.
fn begun(drawn: &DrawnDrive) -> LoadRunner {
    let mut runner = LoadRunner::new(drawn.drive.clone(), drawn.load.clone());
    let mut written = 0;
    let bursts = runner.load.burst.take();
    runner.burst_left = u64::MAX;
    while written < drawn.run_up {
        written += runner.next_done().bytes;
    }
    runner.load.burst = bursts;
    runner.burst_left = bursts.map_or(u64::MAX, |(bytes, _)| bytes);
    runner
}

/// Runs a drive in use.
pub fn run(drawn: &DrawnDrive) -> DrawnRun {
    let config = drawn.drive.config().clone();
    let slc = &config.ftl.slc;
    let has_cache = slc.superblocks > 0 || slc.dynamic_above_free > 0;
    let is_warm = drawn.model.config.heat.is_some();
    let slice_s = if is_warm { 0.5 } else { fine_slice(&config) };
    let limits = RunLimits::new(drawn);
    let mut runner = begun(drawn);
    let begun_ns = runner.now_ns;
    let slice_ns = (slice_s * 1e9) as u64;
    let mut slices: Vec<WatchedSecond> = vec![WatchedSecond::default()];
    let mut truth = Vec::new();
    let mut temperatures = Vec::new();
    let mut places = VecDeque::new();
    let mut before = runner.drive.counters().clone();
    let mut bytes = 0;
    let mut looked_at = 0;
    loop {
        let request = runner.next_done();
        bytes += request.bytes;
        let slice = ((request.done_ns - begun_ns) / slice_ns) as usize;
        while slices.len() <= slice {
            truth.push(slice_truth(has_cache, &before, &runner.drive));
            before = runner.drive.counters().clone();
            if let Some(heat) = runner.drive.heat() {
                temperatures.push(TemperatureReading {
                    at_s: slices.len() as f64 * slice_s,
                    celsius: (heat.millicelsius as f64 / 1e3).round(),
                });
            }
            slices.push(WatchedSecond::default());
        }
        slices[slice].add(&request);
        places.push_back(request);
        if places.len() > PLACES {
            places.pop_front();
        }
        let seconds = slices.len() as f64 * slice_s;
        let is_over = bytes > limits.bytes || seconds > limits.seconds;
        let is_slow =
            truth.len() >= looked_at + 16 && slowed(&truth, &slices[..truth.len()]).is_some();
        if truth.len() >= looked_at + 16 {
            looked_at = truth.len();
        }
        let throttles = truth.last().is_some_and(|last: &SliceTruth| last.throttled);
        if is_over || throttles || is_slow {
            break;
        }
    }
    slices.truncate(truth.len());
    let figures = WatchFigures::new(places.make_contiguous(), 1.0);
    DrawnRun {
        pressure: WritePressure {
            random: 1.0 - figures.pattern.sequential,
            span_bytes: (!drawn.load.in_order).then_some(figures.pattern.span_bytes as f64),
        },
        cliff: slowed(&truth, &slices),
        throttling: truth.iter().position(|slice| slice.throttled),
        slice_s,
        slices,
        temperatures,
    }
}
