//! Procedures on a target of known, constant latencies: does the evidence say what it does?

use super::fixtures::facts;
use super::settings::region_of;
use super::steps::{always_s, steps};
use super::{
    Evidence, QualifyProfile, QualifyProgress, QualifySettings, QualifyStep, SilentProgress,
    measure, names,
};
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_bench::device::{Counters, Target, TargetCompletion, TargetFacts, TargetKind};
use ssdlab_bench::record::Second;
use ssdlab_ssd::{Command, Nanos, Op};
use std::sync::atomic::{AtomicBool, Ordering};

const WRITE: u64 = 1_000_000;
const FUA: u64 = 5_000_000;
const FLUSH_BASE: u64 = 4_000_000;
/// Per byte written since the last flush: 16 MiB take 168 ms.
const FLUSH_PER_BYTE: u64 = 10;
const READ: u64 = 2_000_000;

/// Any number of commands at a time, each as long as the constants say.
struct Constant {
    facts: TargetFacts,
    now: u64,
    dirty: u64,
    pending: Vec<(u64, u32, u64)>,
    counters: Counters,
}

impl Constant {
    fn new() -> Constant {
        let mut facts = facts(TargetKind::Modelled);
        facts.capacity = 64 << 20;
        Constant {
            facts,
            now: 0,
            dirty: 0,
            pending: Vec::new(),
            counters: Counters {
                writes: Some(0),
                fua_writes: Some(0),
                flushes: Some(0),
                host_bytes_written: Some(0),
                nand_bytes_written: Some(0),
                ..Counters::default()
            },
        }
    }
}

fn add(counter: &mut Option<u64>, n: u64) {
    *counter = counter.map(|c| c + n);
}

impl Target for Constant {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn depth_max(&self) -> u32 {
        64
    }

    fn now(&mut self) -> Nanos {
        Nanos(self.now)
    }

    fn submit(&mut self, tag: u32, command: &Command) -> Result<(), LabError> {
        let len = u64::from(command.len);
        let takes = match command.op {
            Op::Write => {
                add(&mut self.counters.writes, 1);
                add(&mut self.counters.fua_writes, u64::from(command.fua));
                add(&mut self.counters.host_bytes_written, len);
                add(&mut self.counters.nand_bytes_written, 2 * len);
                self.dirty += len;
                if command.fua { FUA } else { WRITE }
            }
            Op::Flush => {
                add(&mut self.counters.flushes, 1);
                FLUSH_BASE + FLUSH_PER_BYTE * std::mem::take(&mut self.dirty)
            }
            _ => READ,
        };
        self.pending.push((self.now + takes, tag, self.now));
        Ok(())
    }

    fn reap(
        &mut self,
        until: Option<Nanos>,
        done: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError> {
        let first = self.pending.iter().map(|p| p.0).min().unwrap_or(u64::MAX);
        self.now = self.now.max(first.min(until.map_or(u64::MAX, |t| t.0)));
        self.pending.sort_unstable();
        let ready = self.pending.partition_point(|p| p.0 <= self.now);
        done.extend(
            self.pending
                .drain(..ready)
                .map(|(at, tag, from)| TargetCompletion {
                    tag,
                    submitted: Nanos(from),
                    done: Nanos(at),
                    errno: 0,
                }),
        );
        Ok(())
    }

    fn counters(&mut self) -> Counters {
        self.counters.clone()
    }
}

fn settings() -> QualifySettings {
    QualifySettings {
        region: Some(32 << 20),
        ..QualifySettings::usual(QualifyProfile::Quick, TargetKind::Modelled)
    }
}

fn near(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= 0.02 * expected
}

fn quick() -> Evidence {
    let stop = AtomicBool::new(false);
    measure(
        &mut Constant::new(),
        &settings(),
        &mut SilentProgress,
        &stop,
    )
    .unwrap()
}

#[test]
fn evidence_repeats_what_the_target_does() {
    let e = quick();
    assert_eq!(e.incomplete, Vec::<String>::new());
    assert_eq!(e.region_bytes, 32 << 20);
    let probe = |method, writers| e.probe(method, writers).unwrap();
    assert!(near(probe(names::PLAIN, 1).p50_ns as f64, WRITE as f64));
    let fua = probe(names::FUA, 1);
    assert!(near(fua.p99_ns as f64, FUA as f64));
    assert!(near(fua.per_second, 200.0), "{}", fua.per_second);
    assert_eq!((fua.device_fua, fua.device_flushes), (Some(1.0), Some(0.0)));
    assert_eq!(fua.waf, Some(2.0));
    let flushed = probe(names::WRITE_FLUSH, 1);
    let flush_ns = (FLUSH_BASE + FLUSH_PER_BYTE * 4096) as f64;
    assert!(
        near(flushed.p50_ns as f64, WRITE as f64 + flush_ns),
        "{flushed:?}"
    );
    assert!(near(flushed.flush_p99_ns.unwrap() as f64, flush_ns));
    assert!(near(flushed.device_flushes.unwrap(), 1.0), "{flushed:?}");
    assert!(near(probe(names::FUA, 8).per_second, 1_600.0));
    let last = e.flush_by_dirty.last().unwrap();
    assert_eq!(last.dirty_bytes, 16 << 20);
    let expected = FLUSH_BASE + FLUSH_PER_BYTE * (16 << 20);
    assert!(near(last.p50_ns as f64, expected as f64), "{last:?}");
    let run = |name| e.run(name).unwrap();
    assert!(near(run(names::RANDOM_WRITE).iops_end, 32_000.0));
    assert!(near(run(names::READ_QD1).read_p99_ns as f64, READ as f64));
    assert!(run(names::MIXED).iops_end > run(names::MIXED_DURABLE).iops_end);
    assert!(near(run(names::DURABLE_WRITE).iops_end, 200.0));
}

#[test]
fn the_same_seed_gives_the_same_evidence() {
    let json = |e: Evidence| serde_json::to_string(&e).unwrap();
    assert_eq!(json(quick()), json(quick()));
}

/// Sets `stop` when the given number of steps has begun.
struct StopAt<'a> {
    step: usize,
    stop: &'a AtomicBool,
}

impl QualifyProgress for StopAt<'_> {
    fn step(&mut self, _step: &QualifyStep) {}

    fn second(&mut self, step: &QualifyStep, _: &Second, _: &[Latencies]) -> Result<(), LabError> {
        if step.number == self.step {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[test]
fn a_stopped_qualification_keeps_what_it_has_and_says_what_is_missing() {
    let stop = AtomicBool::new(false);
    let mut progress = StopAt {
        step: 3,
        stop: &stop,
    };
    let e = measure(&mut Constant::new(), &settings(), &mut progress, &stop).unwrap();
    assert!(e.probe(names::PLAIN, 1).is_some());
    let cut = &e.incomplete[0];
    assert!(
        cut.contains("written through, one writer: stopped after"),
        "{cut}"
    );
    assert!(e.incomplete.last().unwrap().ends_with("not run: stopped"));
    assert!(e.run(names::RANDOM_WRITE).is_none());
}

#[test]
fn profiles_take_as_long_as_they_say() {
    let e = |profile, kind| {
        let mut facts = facts(kind);
        facts.capacity = 1 << 40;
        let settings = QualifySettings::usual(profile, kind);
        let region = region_of(&settings, facts.capacity).unwrap();
        let list = steps(&settings, region, facts.capacity, facts.block_size);
        always_s(&list)
    };
    let quick = e(QualifyProfile::Quick, TargetKind::File);
    // With the filling of its file a quick look must fit into a minute.
    assert!((30.0..40.0).contains(&quick), "{quick}");
    assert_eq!(quick, e(QualifyProfile::Quick, TargetKind::Modelled));
    let standard = e(QualifyProfile::Standard, TargetKind::File);
    assert!((780.0..900.0).contains(&standard), "{standard}");
    let full = e(QualifyProfile::Full, TargetKind::File);
    assert!((7_000.0..9_000.0).contains(&full), "{full}");
}

#[test]
fn a_region_beyond_the_target_is_refused() {
    let settings = QualifySettings {
        offset: 64 << 20,
        ..settings()
    };
    let stop = AtomicBool::new(false);
    let error = measure(&mut Constant::new(), &settings, &mut SilentProgress, &stop).unwrap_err();
    assert!(error.to_string().contains("too small"), "{error}");
}
