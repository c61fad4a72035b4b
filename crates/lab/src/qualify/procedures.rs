//! Measuring the evidence: a list of named steps, each a plan run on the target.
//!
//! The steps are the same for a modelled drive in virtual time and for a real file or device, on
//! a region of the same size and with the same seed, so both see the same stream of commands and
//! their numbers can be put side by side. A file of one GiB on a large drive exercises little of
//! its spare area, so the whole of a modelled drive is looked at in a step of its own, which the
//! longer profiles add: filled once, then written at random. On a real drive that step would
//! destroy data and take hours; it is only run when asked for.
//!
//! Order: probes before heavy loads, reads before heavy writes, so that each step finds the
//! drive as little disturbed by the one before as may be. Nothing is idled away in between.
//!
//! Source: SNIA SSS PTS 2.0.2 (rounds, preconditioning); the probes follow S. Han's journal test,
//! the Ceph documentation's fio line and FreeBSD's `diskinfo -wS` (docs: methods, section 3.1).

use super::plans::{self, Region};
use super::{Evidence, extract, names};
use crate::LabError;
use crate::host::{self, Observer};
use crate::record::{Ending, Latencies, RunRecord, Second};
use crate::target::{Target, TargetFacts, TargetKind};
use crate::workload::{Durability, Mix, Plan};
use serde::{Deserialize, Serialize};
use ssdlab_ssd::Nanos;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// About a minute. Too short for steady state or for ruling a write cliff out.
    Quick,
    /// About a quarter of an hour.
    Standard,
    /// Hours; adds SNIA preconditioning and up to 25 one-minute rounds.
    Full,
}

/// What precedes the first measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// Write the region once, front to back.
    Fill,
    /// Nothing: the caller did it; the text says what, for the report.
    Done(String),
}

/// What to measure, where and how long.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long.
    pub profile: Profile,
    /// Seed of every random stream.
    pub seed: u64,
    /// First byte used, a multiple of 4096.
    pub offset: u64,
    /// Bytes used; `None`: all from `offset`. Cut to what the target has.
    pub region: Option<u64>,
    /// What precedes the first measurement.
    pub precondition: Precondition,
    /// Add the whole-drive step (standard and full only). It fills the target.
    pub whole_drive: bool,
}

impl Settings {
    /// A profile's usual settings for a target of this kind: one GiB (quick), 8 GiB (standard) or
    /// 32 GiB (full); modelled drives are filled first and measured whole as well, real targets
    /// are taken to have just been written.
    pub fn usual(profile: Profile, kind: TargetKind) -> Settings {
        let modelled = matches!(kind, TargetKind::Modelled | TargetKind::Null);
        Settings {
            profile,
            seed: 1,
            offset: 0,
            region: Some(match profile {
                Profile::Quick => 1 << 30,
                Profile::Standard => 8 << 30,
                Profile::Full => 32 << 30,
            }),
            precondition: if modelled {
                Precondition::Fill
            } else {
                Precondition::Done("the file was written once, front to back, when made".into())
            },
            whole_drive: modelled,
        }
    }
}

/// One step, for progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// From 1.
    pub number: usize,
    /// How many there are.
    pub count: usize,
    /// What it measures.
    pub title: String,
    /// About how long it takes on the target's clock, s; for a fill, 0.
    pub expected_s: f64,
}

/// Sees a qualification as it happens.
pub trait Progress {
    /// A step begins.
    fn step(&mut self, step: &Step);

    /// A second of it has been counted.
    ///
    /// # Errors
    /// When results cannot be written: the run ends.
    fn second(
        &mut self,
        _step: &Step,
        _second: &Second,
        _latencies: &[Latencies],
    ) -> Result<(), LabError> {
        Ok(())
    }
}

/// Progress that nobody watches.
pub struct Silent;

impl Progress for Silent {
    fn step(&mut self, _step: &Step) {}
}

/// Seconds per kind of step.
struct Durations {
    probe: f64,
    scaling: f64,
    flush: f64,
    flush_repeats: u64,
    read: f64,
    mixed: f64,
    sustained: f64,
    whole_drive: f64,
    snia_rounds: usize,
    dirty: &'static [u64],
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

impl Profile {
    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Quick => "quick",
            Profile::Standard => "standard",
            Profile::Full => "full",
        }
    }

    const fn durations(self) -> Durations {
        match self {
            Profile::Quick => Durations {
                probe: 4.0,
                scaling: 1.5,
                flush: 1.0,
                flush_repeats: 16,
                read: 2.0,
                mixed: 6.0,
                sustained: 12.0,
                whole_drive: 0.0,
                snia_rounds: 0,
                dirty: &[512, 4 * KIB, 64 * KIB, 512 * KIB, 4 * MIB, 16 * MIB],
            },
            Profile::Standard => Durations {
                probe: 30.0,
                scaling: 15.0,
                flush: 8.0,
                flush_repeats: 64,
                read: 20.0,
                mixed: 120.0,
                sustained: 300.0,
                whole_drive: 300.0,
                snia_rounds: 0,
                dirty: DIRTY_LONG,
            },
            Profile::Full => Durations {
                probe: 60.0,
                scaling: 60.0,
                flush: 30.0,
                flush_repeats: 256,
                read: 60.0,
                mixed: 1800.0,
                sustained: 1800.0,
                whole_drive: 4800.0,
                snia_rounds: 25,
                dirty: DIRTY_LONG,
            },
        }
    }
}

const DIRTY_LONG: &[u64] = &[
    512,
    4 * KIB,
    16 * KIB,
    64 * KIB,
    256 * KIB,
    MIB,
    4 * MIB,
    16 * MIB,
    64 * MIB,
];

/// What becomes of a step's record.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Yields {
    /// Nothing: it prepares.
    Preparation,
    /// A probe; with a name, also a series.
    Probe(&'static str, u32, Option<&'static str>),
    /// A flush point.
    Flush(u64),
    /// A series.
    Series(&'static str),
}

struct Work {
    title: String,
    expected_s: f64,
    plan: Plan,
    yields: Yields,
    /// Later steps make no sense when this one did not finish.
    needed: bool,
}

fn fill(region: Region, title: &str) -> Work {
    Work {
        title: title.into(),
        expected_s: 0.0,
        plan: plans::fill(region),
        yields: Yields::Preparation,
        needed: true,
    }
}

fn work(title: String, expected_s: f64, plan: Plan, yields: Yields) -> Work {
    Work {
        title,
        expected_s,
        plan,
        yields,
        needed: false,
    }
}

const METHODS: [(&str, Durability, &str); 3] = [
    (names::PLAIN, plans::BUFFERED, "plain 4 KiB writes"),
    (
        names::FUA,
        plans::FUA,
        "durable 4 KiB writes, written through",
    ),
    (
        names::WRITE_FLUSH,
        plans::FLUSHED,
        "durable 4 KiB writes, write then flush",
    ),
];

fn probes(region: Region, d: &Durations, list: &mut Vec<Work>) {
    for (method, durability, title) in METHODS {
        let series = (method == names::FUA).then_some(names::DURABLE_WRITE);
        list.push(work(
            format!("{title}, one writer"),
            d.probe,
            plans::probe(method, region, durability, 1, d.probe),
            Yields::Probe(method, 1, series),
        ));
    }
    for (method, durability, title) in &METHODS[1..] {
        for writers in [2, 4, 8] {
            list.push(work(
                format!("{title}, {writers} writers"),
                d.scaling,
                plans::probe(method, region, *durability, writers, d.scaling),
                Yields::Probe(method, writers, None),
            ));
        }
    }
}

fn flushes(region: Region, block_size: u32, d: &Durations, list: &mut Vec<Work>) {
    for &dirty in d.dirty {
        if dirty < u64::from(block_size) || dirty > region.bytes {
            continue;
        }
        list.push(work(
            format!("flush after {} of writes", ssdlab_ssd::units::Bytes(dirty)),
            d.flush,
            plans::flush_after(region, dirty, d.flush_repeats, d.flush),
            Yields::Flush(dirty),
        ));
    }
}

/// A 4 KiB random load as (copies, depth) streams.
fn load(name: &'static str, title: &str, streams: (u32, u32), mix: Mix, s: f64, r: Region) -> Work {
    let plan = plans::load(name, r, mix, streams, s);
    work(title.into(), s, plan, Yields::Series(name))
}

fn loads(r: Region, d: &Durations, list: &mut Vec<Work>) {
    let mixed = Mix::ReadWrite { read_pct: 70 };
    list.extend([
        load(
            names::READ_QD1,
            "4 KiB random reads, QD1",
            (1, 1),
            Mix::Read,
            d.read,
            r,
        ),
        load(
            names::READ_QD32,
            "4 KiB random reads, QD32",
            (1, 32),
            Mix::Read,
            d.read,
            r,
        ),
        load(
            names::MIXED,
            "4 KiB 70/30 mix, QD8, buffered",
            (8, 1),
            mixed,
            d.mixed,
            r,
        ),
    ]);
    let title = "4 KiB 70/30 mix, QD8, written through";
    let mut through = load(names::MIXED_DURABLE, title, (8, 1), mixed, d.mixed, r);
    through.plan = plans::durable(through.plan);
    list.push(through);
    let title = "4 KiB random writes, QD32";
    list.push(load(
        names::RANDOM_WRITE,
        title,
        (1, 32),
        Mix::Write,
        d.sustained,
        r,
    ));
}

fn long_steps(region: Region, whole: Option<Region>, d: &Durations, list: &mut Vec<Work>) {
    if d.snia_rounds > 0 {
        for pass in ["first", "second"] {
            let title = format!("fill the region with 128 KiB writes, {pass} pass");
            list.push(fill(region, &title));
        }
        let s = (d.snia_rounds * extract::ROUND_S) as f64;
        let title = "4 KiB random writes in one-minute rounds after two fills of the region \
                     (SNIA PTS rounds and criterion; no purge, writes only)";
        list.push(load(
            names::SNIA_ROUNDS,
            title,
            (1, 32),
            Mix::Write,
            s,
            region,
        ));
    }
    if let Some(whole) = whole.filter(|_| d.whole_drive > 0.0) {
        list.push(fill(whole, "fill the whole drive"));
        let title = "4 KiB random writes over the whole drive, QD32, after one fill";
        list.push(load(
            names::WHOLE_DRIVE,
            title,
            (1, 32),
            Mix::Write,
            d.whole_drive,
            whole,
        ));
    }
}

fn steps(settings: &Settings, region: Region, capacity: u64, block_size: u32) -> Vec<Work> {
    let d = settings.profile.durations();
    let mut list = Vec::new();
    if settings.precondition == Precondition::Fill {
        list.push(fill(region, "fill the region"));
    }
    probes(region, &d, &mut list);
    flushes(region, block_size, &d, &mut list);
    loads(region, &d, &mut list);
    let whole = settings.whole_drive.then_some(Region {
        offset: 0,
        bytes: capacity / (128 * KIB) * (128 * KIB),
        seed: settings.seed,
    });
    long_steps(region, whole, &d, &mut list);
    list
}

fn region_of(settings: &Settings, capacity: u64) -> Result<Region, LabError> {
    let room = capacity.saturating_sub(settings.offset);
    let bytes = settings.region.unwrap_or(room).min(room) / (128 * KIB) * (128 * KIB);
    if bytes < MIB || !settings.offset.is_multiple_of(4096) {
        return Err(LabError::refused(
            format!(
                "a region of {bytes} bytes at {} of a target of {capacity} bytes is too small or \
                 not aligned to 4096",
                settings.offset
            ),
            "measure at least 1 MiB",
        ));
    }
    Ok(Region {
        offset: settings.offset,
        bytes,
        seed: settings.seed,
    })
}

/// About how long measuring takes on the target's clock, s, fills left out.
///
/// # Errors
/// As [`measure`]: when the region does not fit.
pub fn expected_s(settings: &Settings, facts: &TargetFacts) -> Result<f64, LabError> {
    let region = region_of(settings, facts.capacity)?;
    let list = steps(settings, region, facts.capacity, facts.block_size);
    Ok(list.iter().map(|w| w.expected_s).sum())
}

struct Watch<'a> {
    step: &'a Step,
    progress: &'a mut dyn Progress,
}

impl Observer for Watch<'_> {
    fn second(&mut self, second: &Second, latencies: &[Latencies]) -> Result<(), LabError> {
        self.progress.second(self.step, second, latencies)
    }
}

/// Measures everything of the profile on `target`. When `stop` is set or the target fails, what
/// was measured so far is returned and the rest is listed in [`Evidence::incomplete`].
///
/// # Errors
/// When the region does not fit the target, or no step at all could be run.
pub fn measure<T: Target>(
    target: &mut T,
    settings: &Settings,
    progress: &mut dyn Progress,
    stop: &AtomicBool,
) -> Result<Evidence, LabError> {
    let facts = target.facts().clone();
    let region = region_of(settings, facts.capacity)?;
    let list = steps(settings, region, facts.capacity, facts.block_size);
    let mut evidence = Evidence::none(facts);
    evidence.region_bytes = region.bytes;
    evidence.precondition = match &settings.precondition {
        Precondition::Fill => "the region was written once, front to back".into(),
        Precondition::Done(what) => what.clone(),
    };
    let mut refused = None;
    for (index, work) in list.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            not_run(&list[index..], "stopped", &mut evidence);
            break;
        }
        let step = Step {
            number: index + 1,
            count: list.len(),
            title: work.title.clone(),
            expected_s: work.expected_s,
        };
        progress.step(&step);
        let mut watch = Watch {
            step: &step,
            progress: &mut *progress,
        };
        match host::run(&work.plan, target, &mut watch, stop) {
            Ok(record) => {
                keep(work, &record, &mut evidence);
                if let Some(why) = ended_early(&record, work) {
                    not_run(&list[index + 1..], why, &mut evidence);
                    break;
                }
            }
            Err(error) if work.needed => return Err(error),
            Err(error) => {
                let note = format!("{}: not run: {error}", work.title);
                evidence.incomplete.push(note);
                refused.get_or_insert(error);
            }
        }
    }
    let nothing = evidence.probes.is_empty() && evidence.sustained.is_empty();
    match refused {
        Some(error) if nothing => Err(error),
        _ => Ok(evidence),
    }
}

fn not_run(rest: &[Work], why: &str, evidence: &mut Evidence) {
    let notes = rest.iter().map(|w| format!("{}: not run: {why}", w.title));
    evidence.incomplete.extend(notes);
}

/// Why no further step should run, if so.
fn ended_early(record: &RunRecord, work: &Work) -> Option<&'static str> {
    match &record.ending {
        Ending::Complete if work.needed && extract::errors(record) > 0 => {
            Some("preparing for it failed")
        }
        Ending::Complete => None,
        Ending::Interrupted => Some("stopped"),
        Ending::Failed(_) => Some("the target failed before"),
    }
}

fn keep(work: &Work, record: &RunRecord, evidence: &mut Evidence) {
    let length = record.jobs.first().map_or(Nanos::ZERO, |job| job.length);
    match &record.ending {
        Ending::Complete => {}
        Ending::Interrupted => evidence.incomplete.push(format!(
            "{}: stopped after {length} of {} s",
            work.title, work.expected_s
        )),
        Ending::Failed(why) => evidence
            .incomplete
            .push(format!("{}: failed after {length}: {why}", work.title)),
    }
    let errors = extract::errors(record);
    if errors > 0 {
        let note = format!("{}: {errors} commands failed", work.title);
        evidence.incomplete.push(note);
    }
    let failed_checks = record
        .checks
        .iter()
        .filter_map(|(n, why)| Some((n, why.as_ref()?)));
    for (name, why) in failed_checks {
        let note = format!("{}: self-check `{name}` failed: {why}", work.title);
        evidence.incomplete.push(note);
    }
    let kept = match work.yields {
        Yields::Preparation => true,
        Yields::Probe(method, writers, series) => {
            let run = series.and_then(|name| extract::sustained(record, name, &work.title));
            evidence.sustained.extend(run);
            let probe = extract::probe(record, method, writers);
            probe.map(|p| evidence.probes.push(p)).is_some()
        }
        Yields::Flush(dirty) => {
            let point = extract::flush_point(record, dirty);
            point.map(|p| evidence.flush_by_dirty.push(p)).is_some()
        }
        Yields::Series(name) => {
            let run = extract::sustained(record, name, &work.title);
            run.map(|r| evidence.sustained.push(r)).is_some()
        }
    };
    if !kept && record.ending == Ending::Complete {
        let note = format!("{}: nothing completed within its time", work.title);
        evidence.incomplete.push(note);
    }
}
