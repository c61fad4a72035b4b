//! The list of steps that a profile consists of.

use super::plans::{self, QualifyRegion};
use super::settings::{Precondition, QualifyProfile, QualifySettings, fill_of};
use super::{extract, names};
use ssdlab_load::plan::{Mix, WorkloadPlan, WriteDurability};

/// Seconds per kind of step.
struct StepDurations {
    probe: f64,
    scaling: f64,
    /// Writers of the durable writes that are shared.
    writers: &'static [u32],
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

impl QualifyProfile {
    const fn durations(self) -> StepDurations {
        match self {
            QualifyProfile::Quick => StepDurations {
                probe: 2.5,
                scaling: 1.5,
                // What many writers gain is read from eight; two and four only draw the curve.
                writers: &[8],
                flush: 1.0,
                flush_repeats: 16,
                read: 1.5,
                mixed: 4.0,
                sustained: 8.0,
                whole_drive: 0.0,
                snia_rounds: 0,
                dirty: &[512, 4 * KIB, 64 * KIB, 512 * KIB, 4 * MIB, 16 * MIB],
            },
            QualifyProfile::Standard => StepDurations {
                probe: 30.0,
                scaling: 15.0,
                writers: WRITERS_LONG,
                flush: 8.0,
                flush_repeats: 64,
                read: 20.0,
                mixed: 120.0,
                sustained: 300.0,
                whole_drive: 300.0,
                snia_rounds: 0,
                dirty: DIRTY_LONG,
            },
            QualifyProfile::Full => StepDurations {
                probe: 60.0,
                scaling: 60.0,
                writers: WRITERS_LONG,
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

const WRITERS_LONG: &[u32] = &[2, 4, 8];
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
pub enum StepYield {
    /// Nothing: it prepares.
    Preparation,
    /// A probe; with a name, also a series.
    Probe(&'static str, u32, Option<&'static str>),
    /// A flush point.
    Flush(u64),
    /// Durable writes by this method, after the random writes.
    WorstCase(&'static str),
    /// A series.
    Series(&'static str),
    /// Whether its speed is an account.
    Account,
}

/// One step.
pub struct PlannedStep {
    /// What it measures.
    pub title: String,
    /// About how long, s; 0 for a fill.
    pub expected_s: f64,
    /// What is run.
    pub plan: WorkloadPlan,
    /// What is kept of it.
    pub yields: StepYield,
    /// Later steps make no sense when this one did not finish.
    pub needed: bool,
}

fn fill(region: QualifyRegion, title: &str) -> PlannedStep {
    PlannedStep {
        title: title.into(),
        expected_s: 0.0,
        plan: plans::fill(region),
        yields: StepYield::Preparation,
        needed: true,
    }
}

/// Seconds of the steps that every target takes: an account is looked for only where reads and
/// writes have one rate.
pub fn always_s(steps: &[PlannedStep]) -> f64 {
    let always = steps
        .iter()
        .filter(|work| work.yields != StepYield::Account);
    always.map(|work| work.expected_s).sum()
}

fn work(title: String, expected_s: f64, plan: WorkloadPlan, yields: StepYield) -> PlannedStep {
    PlannedStep {
        title,
        expected_s,
        plan,
        yields,
        needed: false,
    }
}

const METHODS: [(&str, WriteDurability, &str); 3] = [
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

fn probes(region: QualifyRegion, d: &StepDurations, list: &mut Vec<PlannedStep>) {
    for (method, durability, title) in METHODS {
        let series = (method == names::FUA).then_some(names::DURABLE_WRITE);
        list.push(work(
            format!("{title}, one writer"),
            d.probe,
            plans::probe(method, region, durability, 1, d.probe),
            StepYield::Probe(method, 1, series),
        ));
    }
    for (method, durability, title) in &METHODS[1..] {
        for &writers in d.writers {
            list.push(work(
                format!("{title}, {writers} writers"),
                d.scaling,
                plans::probe(method, region, *durability, writers, d.scaling),
                StepYield::Probe(method, writers, None),
            ));
        }
    }
}

fn flushes(region: QualifyRegion, block_size: u32, d: &StepDurations, list: &mut Vec<PlannedStep>) {
    for &dirty in d.dirty {
        if dirty < u64::from(block_size) || dirty > region.bytes {
            continue;
        }
        list.push(work(
            format!("flush after {} of writes", ssdlab_ssd::Bytes(dirty)),
            d.flush,
            plans::flush_after(region, dirty, d.flush_repeats, d.flush),
            StepYield::Flush(dirty),
        ));
    }
}

/// A 4 KiB random load as (copies, depth) streams.
fn load(
    name: &'static str,
    title: &str,
    streams: (u32, u32),
    mix: Mix,
    s: f64,
    r: QualifyRegion,
) -> PlannedStep {
    let plan = plans::load(name, r, mix, streams, s);
    work(title.into(), s, plan, StepYield::Series(name))
}

fn loads(r: QualifyRegion, d: &StepDurations, list: &mut Vec<PlannedStep>) {
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

fn long_steps(
    region: QualifyRegion,
    whole: Option<QualifyRegion>,
    d: &StepDurations,
    list: &mut Vec<PlannedStep>,
) {
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

/// Durable writes of a real drive right after the random writes.
fn worst_case(region: QualifyRegion, d: &StepDurations, list: &mut Vec<PlannedStep>) {
    for (method, durability, title) in &METHODS[1..] {
        let name = format!("{method} after random writes");
        list.push(work(
            format!("{title}, one writer, right after the random writes"),
            d.probe,
            plans::probe(&name, region, *durability, 1, d.probe),
            StepYield::WorstCase(method),
        ));
    }
}

/// A whole real drive overwritten at random until this number of bytes is written.
fn until_overwritten(region: QualifyRegion, bytes: u64) -> PlannedStep {
    let title = format!(
        "4 KiB random writes over the whole drive, QD32, until {} are written",
        ssdlab_ssd::Bytes(bytes)
    );
    let plan = plans::load_of(names::WHOLE_DRIVE, region, Mix::Write, (1, 32), bytes);
    work(title, 0.0, plan, StepYield::Series(names::WHOLE_DRIVE))
}

/// Writes until a credit is spent, then pauses; its loads are not one plan.
fn account(drain_s: u64) -> PlannedStep {
    let plan = WorkloadPlan::fill(0);
    let title = "4 KiB random writes until a credit is spent, then pauses".to_owned();
    work(title, drain_s as f64, plan, StepYield::Account)
}

/// The steps of `settings` on a target of `capacity` bytes, in order.
pub fn steps(
    settings: &QualifySettings,
    region: QualifyRegion,
    capacity: u64,
    block_size: u32,
) -> Vec<PlannedStep> {
    let d = settings.profile.durations();
    let mut list = Vec::new();
    if let Precondition::Fill(_) = settings.precondition {
        let filled = fill_of(settings, region, capacity);
        let title = format!("fill {}", ssdlab_ssd::Bytes(filled.bytes));
        list.push(fill(filled, &title));
    }
    probes(region, &d, &mut list);
    flushes(region, block_size, &d, &mut list);
    loads(region, &d, &mut list);
    let whole = settings.whole_drive.then_some(QualifyRegion {
        offset: 0,
        bytes: capacity / (128 * KIB) * (128 * KIB),
        seed: settings.seed,
    });
    long_steps(region, whole, &d, &mut list);
    let overwritten = settings.until_overwritten;
    list.extend(overwritten.map(|bytes| until_overwritten(region, bytes)));
    list.extend(settings.account_s.map(account));
    if !settings.loads.is_empty() {
        worst_case(region, &d, &mut list);
    }
    list
}
