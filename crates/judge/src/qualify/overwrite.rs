//! The sustained step of a modelled drive: overwritten at random until nothing moves any more.
//!
//! *Sustained* is counted in bytes. A new drive is made smaller (rates do not depend on size:
//! [`ssdlab_drives::scaling`]), one writer's durable rate is taken, then 4 KiB random writes, 32
//! outstanding, go over the whole drive: at least [`CAPACITIES`] times its user capacity, until
//! the rate is steady by SNIA's rule, and write amplification and the map's share of it no longer
//! move. Then the durable rates are taken again, with enough writes for the longest tails. A drive
//! that was kept (`age`, `simulate --save`) is taken as it is, and what it wrote before counts.

use super::{loads, names};
use crate::ablate::{AblationLoad, Bottleneck, diagnose_faults};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_base::latencies::{Latencies, latencies};
use ssdlab_bench::analysis::{stats, steady};
use ssdlab_bench::engine::devices::{CommandSource, DeviceCompletion, Devices, new_drive};
use ssdlab_drives::scaling::{ScaledDrive, scaled};
use ssdlab_ssd::counters::DriveCounters;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, DriveConfig, Nanos};
use std::sync::atomic::{AtomicBool, Ordering};

/// Capacities to be overwritten before anything counts as sustained.
pub const CAPACITIES: u64 = 3;
/// Capacities after which a drive that still moves is given up.
const CAPACITIES_MAX: u64 = 12;
/// Windows of half a capacity that must agree, and points of the curve in each.
const WINDOW: usize = 5;
const POINTS: u64 = 4;
/// Most that write amplification may range over the windows, as a share of its mean, and most that
/// map programs per host write, or map misses per host write, may.
const WAF_RANGE_MAX: f64 = 0.05;
const MAP_RANGE_MAX: f64 = 0.05;
/// Commands outstanding, bytes of each, and windows of a kept drive, as a share of half a capacity.
const DEPTH: u32 = 32;
const BLOCK: u32 = 4096;
const KEPT_SHARE: u64 = 16;
/// Largest drive that is taken apart, bytes of memory, and the loads.
const FORK_MAX: u64 = 64 << 20;
const LOADS: [AblationLoad; 3] = [
    AblationLoad::DurableWrite,
    AblationLoad::RandomWrite,
    AblationLoad::ReadTail,
];
/// Durable writes measured before and after: ten beyond the 99.99th percentile.
const DURABLE_BEFORE: u64 = 20_000;
const DURABLE_AFTER: u64 = 100_000;
/// Times its user capacity that a drive programs before it is given up: one whose map feeds on
/// itself programs that much for each capacity of the host, and would never end.
const PROGRAMS_MAX: u64 = 90;
/// Slots programmed after which durable writes are enough, and the fewest of them.
const DURABLE_PROGRAMS_MAX: u64 = 2_000_000;
const DURABLE_LEAST: u64 = 100;
/// The longest run of random writes that was published of a drive that never settled (article zil,
/// `zil.rw80`). Models are calibrated to it and to nothing beyond. Its figure is the last minute's.
const LONGEST_RUN: Nanos = Nanos::from_secs(80 * 60);
const MINUTE: Nanos = Nanos::from_secs(60);

/// One writer's durable writes.
#[derive(Clone, Debug, Default, Serialize, JsonSchema, Deserialize, PartialEq)]
pub struct DurableRun {
    /// `fua` or `write_flush`.
    pub method: String,
    /// Completed per second, before any overwrite, on the drive made smaller. Its fast cache is
    /// smaller too, so that the fresh rate of the whole drive is the probe's.
    pub before: f64,
    /// Completed per second, after all of them.
    pub after: f64,
    /// Writes measured afterwards.
    pub count: u64,
    /// Quantiles of the time until durable, afterwards, ns.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// 99.99th percentile.
    pub p9999_ns: u64,
    /// Longest.
    pub max_ns: u64,
    /// Of a drive that was given up: completed per second in the last of 80 minutes of durable
    /// writes, on the whole drive and new before ([`Overwrite::written_80_min`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_80_min: Option<f64>,
}

/// A drive overwritten at random.
#[derive(Clone, Debug, Default, Serialize, JsonSchema, Deserialize, PartialEq)]
pub struct Overwrite {
    /// How the measured drive differs from the whole one.
    pub scaled: String,
    /// User capacity of the whole drive.
    pub capacity: u64,
    /// Bytes overwritten, as of the whole drive.
    pub written: u64,
    /// Bytes that a sustained figure takes at least.
    pub needed: u64,
    /// 4 KiB random writes a second, 32 outstanding, by [`Overwrite::point_bytes`].
    pub rates: Vec<f64>,
    /// Bytes of a point of `rates`, as of the whole drive.
    pub point_bytes: u64,
    /// Rate in the end: mean of the last windows.
    pub sustained: f64,
    /// NAND bytes per host byte in the last windows.
    pub waf: f64,
    /// Longest time of a single write of all, ns.
    pub longest_ns: u64,
    /// Rate steady by SNIA's rule.
    pub rate_steady: bool,
    /// Write amplification no longer moves.
    pub waf_steady: bool,
    /// The map's programs and misses no longer move.
    pub map_steady: bool,
    /// Bytes written in 80 minutes of writes that were each flushed, by one writer: measured when
    /// upkeep of the map grew until the drive was given up, while its rate collapsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_80_min: Option<u64>,
    /// Durable writes before and after.
    pub durable: Vec<DurableRun>,
    /// The roles' loads on the drive once it was overwritten and had been idle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<loads::UsedRun>,
    /// Causes of slowness in this state, found by taking it apart ([`crate::ablate`]), worst first;
    /// `None`: it was not.
    pub faults: Option<Vec<Bottleneck>>,
}

impl Overwrite {
    /// Whether the figures at the end are sustained ones.
    pub fn is_sustained(&self) -> bool {
        let steady = self.rate_steady && self.waf_steady && self.map_steady;
        steady && self.written >= self.needed
    }

    /// Durable writes by this method.
    pub fn durable(&self, method: &str) -> Option<&DurableRun> {
        self.durable.iter().find(|run| run.method == method)
    }

    /// The run of this load on the used drive.
    pub fn used(&self, load: &str) -> Option<&loads::UsedRun> {
        self.used.iter().find(|run| run.load == load)
    }

    /// What has been covered, in a sentence without its full stop.
    pub fn covered(&self) -> String {
        let bytes = ssdlab_ssd::Bytes;
        let moves: Vec<&str> = [
            (self.rate_steady, "the rate"),
            (self.waf_steady, "write amplification"),
            (self.map_steady, "the map"),
        ]
        .into_iter()
        .filter_map(|(steady, what)| (!steady).then_some(what))
        .collect();
        let still = if moves.is_empty() {
            String::new()
        } else {
            format!("; still moving: {}", moves.join(", "))
        };
        format!(
            "{} of at least {} overwritten at random{still}",
            bytes(self.written),
            bytes(self.needed)
        )
    }
}

/// Random writes, with the longest time that one took.
struct RandomOverwrite<'a> {
    rng: &'a mut Rng,
    slots: u64,
    left: u64,
    longest: u64,
    /// Slots programmed after which the drive is given up.
    programs_max: u64,
    stop: &'a AtomicBool,
}

impl CommandSource for RandomOverwrite<'_> {
    fn next(&mut self, drive: &Drive) -> Option<Command> {
        let over = drive.counters().slots_programmed() > self.programs_max;
        if over || self.left.is_multiple_of(4096) && self.stop.load(Ordering::Relaxed) {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        let place = self.rng.below(self.slots) * u64::from(BLOCK);
        Some(Command::write(place, BLOCK))
    }

    fn done(&mut self, _: &Drive, done: &DeviceCompletion) {
        self.longest = self.longest.max(done.done.0 - done.submitted.0);
    }
}

/// Rates per host write in one window.
#[derive(Clone, Copy)]
struct OverwriteWindow {
    rate: f64,
    waf: f64,
    map: f64,
    misses: f64,
}

struct OverwriteBench<'a> {
    devices: Devices,
    rng: Rng,
    slots: u64,
    programs_max: u64,
    stop: &'a AtomicBool,
}

impl<'a> OverwriteBench<'a> {
    fn new(devices: Devices, rng: Rng, stop: &'a AtomicBool) -> OverwriteBench<'a> {
        let drive = devices.drive(0);
        let programmed = drive.counters().slots_programmed();
        OverwriteBench {
            rng,
            slots: drive.config().user_bytes / u64::from(BLOCK),
            programs_max: programmed + PROGRAMS_MAX * drive.config().user_slots(),
            devices,
            stop,
        }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether the user stops it, or the drive has programmed more than it ever should.
    fn is_over(&self) -> bool {
        let programmed = self.devices.drive(0).counters().slots_programmed();
        self.stopped() || programmed > self.programs_max
    }

    /// Durable writes a second of one writer, and how long each took.
    fn durable(&mut self, method: &str, count: u64) -> (f64, Latencies, u64) {
        let (mut all, mut longest) = (latencies(), 0);
        let programmed = |devices: &Devices| devices.drive(0).counters().slots_programmed();
        self.devices.settle();
        let programs_max = programmed(&self.devices) + DURABLE_PROGRAMS_MAX;
        let start = self.devices.now();
        for number in 0..count {
            let enough = self.stopped() || programmed(&self.devices) > programs_max;
            if enough && number >= DURABLE_LEAST {
                break;
            }
            let ns = self.write_durably(method);
            all.saturating_record(ns);
            longest = longest.max(ns);
        }
        let took = (self.devices.now() - start).as_secs_f64();
        (all.len() as f64 / took.max(1e-9), all, longest)
    }

    /// One durable write, and how long it took, ns.
    fn write_durably(&mut self, method: &str) -> u64 {
        let began = self.devices.now();
        let place = self.rng.below(self.slots) * u64::from(BLOCK);
        let mut serve = |command: &Command| {
            self.devices.submit(0, command, 0);
            self.devices.next(Nanos::MAX);
        };
        match method {
            names::FUA => serve(&Command::write_fua(place, BLOCK)),
            _ => {
                serve(&Command::write(place, BLOCK));
                serve(&Command::flush());
            }
        }
        (self.devices.now() - began).0
    }

    /// Durable writes for this long, and how many a second.
    fn durable_for(&mut self, method: &str, time: Nanos) -> f64 {
        let start = self.devices.now();
        let mut count = 0_u64;
        while self.devices.now() - start < time && !self.stopped() {
            self.write_durably(method);
            count += 1;
        }
        count as f64 / (self.devices.now() - start).as_secs_f64().max(1e-9)
    }

    /// Random writes of a point of the curve.
    fn point(&mut self, count: u64, longest: &mut u64) -> OverwriteWindow {
        let before = self.devices.drive(0).counters().clone();
        let began = self.devices.now();
        let mut source = RandomOverwrite {
            rng: &mut self.rng,
            slots: self.slots,
            left: count,
            longest: *longest,
            programs_max: self.programs_max,
            stop: self.stop,
        };
        self.devices.keep(DEPTH, Nanos::MAX, &mut source);
        *longest = source.longest;
        let count = count - source.left;
        let took = (self.devices.now() - began).as_secs_f64();
        let drive = self.devices.drive(0);
        let per_write = |pick: fn(&DriveCounters) -> u64| {
            (pick(drive.counters()) - pick(&before)) as f64 / count.max(1) as f64
        };
        let slot = drive.config().shape.slot_bytes;
        OverwriteWindow {
            rate: count as f64 / took.max(1e-9),
            waf: drive.counters().waf_since(&before, slot).unwrap_or(0.0),
            map: per_write(|c| c.slots_map),
            misses: per_write(|c| c.map_misses),
        }
    }
}

/// Whether the last [`WINDOW`] windows agree, by each of three measures.
fn steady_by(windows: &[OverwriteWindow]) -> [bool; 3] {
    let Some(last) = windows.len().checked_sub(WINDOW) else {
        return [false; 3];
    };
    let last = &windows[last..];
    let values_of = |pick: fn(&OverwriteWindow) -> f64| last.iter().map(pick).collect::<Vec<f64>>();
    let range = |values: &[f64]| {
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), v| {
            (low.min(*v), high.max(*v))
        });
        high - low
    };
    let (rates, wafs) = (values_of(|w| w.rate), values_of(|w| w.waf));
    let attained = steady::steady_state(&rates).is_some_and(|state| state.attained);
    // A program or a miss counts as the write that causes it: against all that a write costs.
    let cost = stats::mean(&wafs).max(1.0);
    let map = range(&values_of(|w| w.map)).max(range(&values_of(|w| w.misses)));
    [
        attained,
        range(&wafs) <= WAF_RANGE_MAX * stats::mean(&wafs),
        map <= MAP_RANGE_MAX * cost,
    ]
}

fn mean_window(points: &[OverwriteWindow]) -> OverwriteWindow {
    let mean = |pick: fn(&OverwriteWindow) -> f64| {
        points.iter().map(pick).sum::<f64>() / points.len().max(1) as f64
    };
    // Points are of equal bytes: the rate over all of them is the harmonic mean.
    let seconds: f64 = points.iter().map(|point| 1.0 / point.rate).sum();
    OverwriteWindow {
        rate: points.len() as f64 / seconds,
        waf: mean(|w| w.waf),
        map: mean(|w| w.map),
        misses: mean(|w| w.misses),
    }
}

/// The drive made smaller to about `capacity` bytes, or to the next double of it that its parts
/// allow: superblocks kept for commits do not shrink, and can leave a small drive too full.
fn small_enough(config: &DriveConfig, capacity: u64) -> Result<ScaledDrive, LabError> {
    let larger = [2, 4, 8].map(|factor| capacity.saturating_mul(factor));
    let smallest = scaled(config, capacity);
    larger.into_iter().fold(smallest, |found, capacity| {
        found.or_else(|error| scaled(config, capacity).map_err(|_| error))
    })
}

/// Overwrites a drive, one made smaller to about `capacity` bytes unless it was `kept`, and shows
/// `watch` the bytes overwritten and those needed.
///
/// # Errors
/// When so small a drive cannot be made.
pub fn overwrite(
    drive: &Drive,
    kept: bool,
    capacity: u64,
    seed: u64,
    watch: &mut dyn FnMut(u64, u64),
    stop: &AtomicBool,
) -> Result<Overwrite, LabError> {
    let whole_drive = drive.config();
    let whole = whole_drive.user_bytes;
    let (devices, said) = if kept {
        (
            Devices::one(drive.clone()),
            "the drive as it was kept".into(),
        )
    } else {
        let small = small_enough(drive.config(), capacity)?;
        (Devices::one(new_drive(&small.config)?), small.said)
    };
    let mut bench = OverwriteBench::new(devices, Rng::named(seed, "overwrite"), stop);
    let user = bench.devices.drive(0).config().user_bytes;
    let share = if kept { KEPT_SHARE } else { 1 };
    let count = bench.slots / 2 / POINTS / share;
    let as_whole = |bytes: u64| (u128::from(bytes) * u128::from(whole) / u128::from(user)) as u64;
    let before = bench.devices.drive(0).counters().host_bytes_written;
    let mut result = Overwrite {
        scaled: said,
        capacity: whole,
        written: as_whole(before),
        needed: CAPACITIES * whole,
        point_bytes: as_whole(count * u64::from(BLOCK)),
        ..Overwrite::default()
    };
    for method in [names::FUA, names::WRITE_FLUSH] {
        let (before, _, _) = bench.durable(method, DURABLE_BEFORE.min(bench.slots / 8));
        result.durable.push(DurableRun {
            method: method.to_owned(),
            before,
            ..DurableRun::default()
        });
    }
    let most = 2 * CAPACITIES_MAX;
    let mut windows: Vec<OverwriteWindow> = Vec::new();
    while (windows.len() as u64) < most && !result.is_sustained() && !bench.is_over() {
        let points: Vec<OverwriteWindow> = (0..POINTS)
            .map(|_| bench.point(count, &mut result.longest_ns))
            .filter(|point| point.rate > 0.0)
            .collect();
        if points.is_empty() {
            break;
        }
        result.rates.extend(points.iter().map(|point| point.rate));
        result.written += points.len() as u64 * result.point_bytes;
        windows.push(mean_window(&points));
        [result.rate_steady, result.waf_steady, result.map_steady] = steady_by(&windows);
        watch(result.written, result.needed);
    }
    let collapses = bench.is_over() && collapses(&result.rates);
    let last = mean_window(&windows[windows.len().saturating_sub(WINDOW)..]);
    (result.sustained, result.waf) = (last.rate, last.waf);
    if !bench.stopped() {
        result.used = used(&mut bench.devices, whole, seed, stop);
        durable_after(&mut bench, &mut result);
        result.faults = faults(bench.devices, seed)?;
        if collapses && !kept {
            longest_run(new_drive(whole_drive)?, &mut result, seed, stop);
        }
    }
    Ok(result)
}

/// The roles' loads on forks of the drive, unless these would be too large.
fn used(devices: &mut Devices, whole: u64, seed: u64, stop: &AtomicBool) -> Vec<loads::UsedRun> {
    devices.settle();
    let drive = devices.drive(0);
    if drive.config().memory_bytes() <= FORK_MAX && drive.ended().is_none() {
        loads::used(drive, whole, seed, stop)
    } else {
        Vec::new()
    }
}

/// Whether the rate lost more than half within the last half capacity.
fn collapses(rates: &[f64]) -> bool {
    let before = rates.len().checked_sub(1 + POINTS as usize);
    before.is_some_and(|before| rates[rates.len() - 1] < 0.5 * rates[before])
}

/// Of a drive that feeds on itself: the rates after the longest published run, on the whole drive.
fn longest_run(drive: Drive, found: &mut Overwrite, seed: u64, stop: &AtomicBool) {
    let rng = Rng::named(seed, "longest run");
    let mut bench = OverwriteBench::new(Devices::one(drive), rng, stop);
    bench.durable_for(names::WRITE_FLUSH, LONGEST_RUN - MINUTE);
    // The last minute by the same method; the other method in the minute that follows.
    for run in found.durable.iter_mut().rev() {
        run.after_80_min = Some(bench.durable_for(&run.method, MINUTE));
        let written = bench.devices.drive(0).counters().host_bytes_written;
        found.written_80_min.get_or_insert(written);
    }
}

/// Takes the drive apart, unless its forks would be too large.
fn faults(mut devices: Devices, seed: u64) -> Result<Option<Vec<Bottleneck>>, LabError> {
    devices.settle();
    let drive = devices.into_drive();
    if drive.config().memory_bytes() <= FORK_MAX && drive.ended().is_none() {
        diagnose_faults(&drive, &LOADS, seed).map(Some)
    } else {
        Ok(None)
    }
}

fn durable_after(bench: &mut OverwriteBench<'_>, overwrite: &mut Overwrite) {
    for run in &mut overwrite.durable {
        let (after, times, longest) = bench.durable(&run.method, DURABLE_AFTER);
        let quantile = |q| times.value_at_quantile(q).min(longest);
        (run.after, run.count, run.max_ns) = (after, times.len(), longest);
        (run.p50_ns, run.p99_ns) = (quantile(0.5), quantile(0.99));
        (run.p999_ns, run.p9999_ns) = (quantile(0.999), quantile(0.9999));
    }
}
