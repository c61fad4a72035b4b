//! The published figures and the real traces, held against the model; the promise of the log.

use super::chain::LogBlockFormat;
use super::host::{HostModel, IssuedCommand};
use super::published::{SEEKS_FIVE, SEEKS_ONE, total_variation};
use super::replay::{LogReplayResult, replay};
use super::space::MetaslabPolicy;
use super::structure::structure;
use super::*;
use crate::scenario::run_all;
use ssdlab_base::check::failures;
use ssdlab_bench::device::{Counters, Target, TargetCompletion, TargetFacts};
use ssdlab_load::trace::{IoPattern, PatternRow, ReadOptions, TraceEvent, TraceReader};
use ssdlab_ssd::{Command, Nanos, Op};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const GIB: u64 = 1 << 30;

fn pattern_of(
    preset: ZfsPreset,
    streams: usize,
    seconds: u64,
    seed: u64,
) -> (LogDevicePattern, HostCounts) {
    let mut spec = preset.host(streams, streams, 4 * GIB, seed).unwrap();
    if preset == ZfsPreset::V2_1 && streams == 5 {
        // As in the trace: four of the five chains share an allocator.
        spec.allocator_of = vec![0, 0, 0, 0, 1];
    }
    let mut host = LogHost::new(spec);
    let found = run_fixed(&mut host, seconds);
    (found, host.counts().clone())
}

fn fixed() -> FixedTarget {
    let latency = Nanos::from_micros(50);
    FixedTarget::new(4 * GIB, latency, latency)
}

fn run_fixed(host: &mut LogHost, seconds: u64) -> LogDevicePattern {
    run_on(host, &mut fixed(), seconds, &mut |_| Ok(()))
}

fn run_on(
    host: &mut LogHost,
    target: &mut FixedTarget,
    seconds: u64,
    sink: &mut dyn FnMut(&TraceEvent) -> Result<(), ssdlab_base::LabError>,
) -> LogDevicePattern {
    let options = RunOptions {
        duration: Nanos::from_secs(seconds),
        interval: Nanos::from_secs(1),
        stop: &AtomicBool::new(false),
    };
    run(host, target, &options, sink).unwrap()
}

fn mean(rows: &[PatternRow], of: impl Fn(&PatternRow) -> u64) -> f64 {
    rows.iter().map(|row| of(row) as f64).sum::<f64>() / rows.len() as f64
}

fn random_share(found: &LogDevicePattern) -> f64 {
    100.0 * found.total.random as f64 / found.total.count as f64
}

/// `zil.pattern.five` and `zil.seek.five`: as many commands as were published.
#[test]
fn five_streams_of_2010_look_as_published() {
    let (found, _) = pattern_of(ZfsPreset::V2010, 5, 300, 1);
    let rows = &found.rows;
    let distance = total_variation(&found.seeks.buckets(), &SEEKS_FIVE);
    assert!(distance <= 0.10, "total variation {distance}");
    let mean_random = mean(rows, PatternRow::random_pct);
    assert!((mean_random - 38.9).abs() <= 5.0, "mean %RAN {mean_random}");
    // The published rows are 20 of some 300: of 300, one in a hundred may lie outside.
    let outside = |row: &&PatternRow| !(21..=71).contains(&row.random_pct());
    let outside = rows.iter().filter(outside).count();
    assert!(outside <= rows.len() / 100, "{outside} of {}", rows.len());
    // Published means of the rows: COUNT 850, AVG 15.7 KB, KW 9130.
    assert!((600.0..1100.0).contains(&mean(rows, |row| row.count)));
    assert!((10_000.0..20_000.0).contains(&mean(rows, PatternRow::mean)));
    assert!((7_000.0..12_000.0).contains(&mean(rows, PatternRow::kib_written)));
    assert_eq!((found.total.min, found.total.max), (4096, 131_072));
}

/// `zil.pattern.one` and `zil.seek.one`, by the same parameters.
#[test]
fn one_stream_of_2010_looks_as_published() {
    let (found, _) = pattern_of(ZfsPreset::V2010, 1, 116, 1);
    let rows = &found.rows;
    let distance = total_variation(&found.seeks.buckets(), &SEEKS_ONE);
    assert!(distance <= 0.03, "total variation {distance}");
    assert!(rows.iter().all(|row| row.random_pct() <= 6));
    let mostly = rows.iter().filter(|row| row.random_pct() <= 2).count();
    assert!(mostly * 2 > rows.len());
    // Published means of the rows: COUNT 495, KW 5160; AVG 7.2 to 34.7 KB.
    assert!((350.0..650.0).contains(&mean(rows, |row| row.count)));
    assert!((4_000.0..6_500.0).contains(&mean(rows, PatternRow::kib_written)));
    assert!((7_200.0..34_700.0).contains(&mean(rows, PatternRow::mean)));
}

/// The figures do not hang on one lucky seed.
#[test]
fn other_seeds_give_the_same_picture() {
    for seed in [2, 3, 4] {
        let (five, _) = pattern_of(ZfsPreset::V2010, 5, 150, seed);
        assert!(total_variation(&five.seeks.buckets(), &SEEKS_FIVE) <= 0.10);
        let (one, _) = pattern_of(ZfsPreset::V2010, 1, 60, seed);
        assert!(total_variation(&one.seeks.buckets(), &SEEKS_ONE) <= 0.03);
    }
}

/// Which allocator the code had is seen in the distances: with the one before, the far seeks are
/// fewer and elsewhere.
#[test]
fn the_far_seeks_are_those_of_the_ndf_allocator() {
    let far = |policy| {
        let mut spec = ZfsPreset::V2010.host(5, 5, 4 * GIB, 1).unwrap();
        spec.space.policy = policy;
        let found = run_fixed(&mut LogHost::new(spec), 100);
        let far = |(bucket, _): &&(i64, u64)| bucket.unsigned_abs() >= 4096;
        let buckets = found.seeks.buckets();
        let far: u64 = buckets.iter().filter(far).map(|(_, count)| count).sum();
        let share = 100.0 * far as f64 / found.seeks.count() as f64;
        (share, total_variation(&found.seeks.buckets(), &SEEKS_FIVE))
    };
    let (ndf, near) = far(MetaslabPolicy::Ndf { clump_shift: 4 });
    let (df, off) = far(MetaslabPolicy::Df {
        free_pct_low: 30,
        search_max: None,
    });
    // Published: 12.4 %.
    assert!((10.0..15.0).contains(&ndf), "NDF {ndf} %");
    assert!(df < ndf - 2.0, "DF {df} %");
    assert!(off > near, "DF {off}, NDF {near}");
}

/// The random share of the data commands of a real trace.
fn random_share_of_trace(name: &str) -> f64 {
    let path = format!(
        "{}/../../examples/traces/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    let mut reader = TraceReader::open(path.as_ref(), &ReadOptions::default()).unwrap();
    let mut events = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        events.push(event);
    }
    events.sort_by_key(|event| event.done_or_issued_ns());
    let mut pattern = IoPattern::new(0, IoPattern::INTERVAL_NS);
    for event in &events {
        pattern.completed(event);
    }
    let total = pattern.total();
    100.0 * total.random as f64 / total.count as f64
}

/// Nothing was fitted to these: a prediction.
#[test]
fn zfs_2_1_is_as_random_as_the_real_one() {
    let (one, _) = pattern_of(ZfsPreset::V2_1, 1, 200, 1);
    let real = random_share_of_trace("zfs-2.1.11-log-1-dataset.csv.gz");
    let ours = random_share(&one);
    assert!((ours - real).abs() <= 5.0, "{ours} against {real} %");
    let (five, _) = pattern_of(ZfsPreset::V2_1, 5, 200, 1);
    let real = random_share_of_trace("zfs-2.1.11-log-5-datasets.csv.gz");
    let ours = random_share(&five);
    assert!((ours - real).abs() <= 5.0, "{ours} against {real} %");
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_does_not() {
    let commands = |seed| {
        let mut host = LogHost::new(ZfsPreset::V2010.host(5, 5, 4 * GIB, seed).unwrap());
        let mut seen = Vec::new();
        let mut sink = |event: &TraceEvent| {
            seen.push(*event);
            Ok(())
        };
        run_on(&mut host, &mut fixed(), 3, &mut sink);
        seen
    };
    let first = commands(1);
    assert!(first.len() > 1000);
    assert_eq!(first, commands(1));
    assert_ne!(first, commands(2));
}

/// Every acknowledged write was followed by a flush, and latencies are those of write and flush.
#[test]
fn nothing_is_acknowledged_before_its_flush() {
    let (found, counts) = pattern_of(ZfsPreset::V2010, 1, 10, 1);
    assert!(counts.flushes >= counts.writes && counts.writes > 1000);
    let least = counts.latencies.iter().min().unwrap();
    // 50 us each for block and flush, 30 us for handing the flush over, 180 us x 73 % of path.
    assert!(*least >= Nanos::from_micros(130 + 131), "{least}");
    assert_eq!(found.total.bytes_read, 0);
}

#[test]
fn a_full_log_device_waits_for_the_group_and_goes_on() {
    let mut spec = ZfsPreset::V2010.host(3, 3, 64 << 20, 1).unwrap();
    spec.group.bytes_max = None;
    let mut host = LogHost::new(spec);
    run_fixed(&mut host, 60);
    let counts = host.counts();
    assert!(counts.full > 0);
    assert!(counts.writes > 5000, "{}", counts.writes);
}

/// Contents of an honest volatile device: written and flushed, or written and kept by chance.
struct Crash {
    blocks: BTreeMap<u64, u64>,
}

/// Stops a run in its middle and replays every chain with what `kept` leaves of the device.
fn crash(honest: bool) -> LogReplayResult {
    let mut host = LogHost::new(ZfsPreset::V2010.host(5, 5, 4 * GIB, 7).unwrap());
    let mut issues: Vec<IssuedCommand> = Vec::new();
    let mut under_way: BTreeMap<(Nanos, u32), Command> = BTreeMap::new();
    // Offset -> when its last write completed; durable once a flush began after that.
    let mut written = Crash {
        blocks: BTreeMap::new(),
    };
    let mut flushed = BTreeSet::new();
    let mut now = Nanos::ZERO;
    while now < Nanos::from_millis(2345) {
        let next = under_way.keys().next().map(|key| key.0);
        now = next.into_iter().chain(host.wake()).min().unwrap();
        if next == Some(now) {
            let ((_, tag), command) = under_way.pop_first().unwrap();
            if command.op == Op::Write {
                written.blocks.insert(command.offset, now.0);
                flushed.remove(&command.offset);
            } else if honest {
                flushed.extend(written.blocks.keys().copied());
            }
            host.completed(tag, now);
        }
        host.poll(now, &mut issues);
        for issue in issues.drain(..) {
            // A flush that is under way covers what was complete when it began; completing at
            // once keeps this test's device simple.
            let time = match issue.command.op {
                Op::Flush => now,
                _ => now + Nanos::from_micros(50),
            };
            under_way.insert((time, issue.tag), issue.command);
        }
    }
    let mut sum = LogReplayResult::default();
    for chain in host.chains() {
        let found = replay(chain, |block| flushed.contains(&block.extent.offset));
        sum.blocks += found.blocks;
        sum.writes += found.writes;
        sum.acknowledged_lost += found.acknowledged_lost;
    }
    sum
}

#[test]
fn an_honest_device_loses_no_acknowledged_write() {
    let found = crash(true);
    assert!(found.writes > 100, "{found:?}");
    assert_eq!(found.acknowledged_lost, 0);
}

#[test]
fn a_device_that_ignores_flushes_loses_acknowledged_writes() {
    let found = crash(false);
    assert_eq!(found.blocks, 0);
    assert!(found.acknowledged_lost > 100, "{found:?}");
}

/// Both sides get every block, and no writer continues before the slower side has flushed.
#[test]
fn a_mirror_waits_for_its_slower_side() {
    let mut spec = ZfsPreset::V2010.host(1, 1, 4 * GIB, 1).unwrap();
    spec.sides = 2;
    let mut host = LogHost::new(spec);
    let mut issues: Vec<IssuedCommand> = Vec::new();
    let mut under_way: BTreeMap<(Nanos, u32), IssuedCommand> = BTreeMap::new();
    let mut by_side = [Vec::new(), Vec::new()];
    let mut now = Nanos::ZERO;
    while now < Nanos::from_secs(2) {
        let next = under_way.keys().next().map(|key| key.0);
        now = next.into_iter().chain(host.wake()).min().unwrap();
        if next == Some(now) {
            let (key, _) = under_way.pop_first().unwrap();
            host.completed(key.1, now);
        }
        host.poll(now, &mut issues);
        for issue in issues.drain(..) {
            by_side[issue.side as usize].push(issue.command);
            let time = Nanos::from_micros(if issue.side == 0 { 50 } else { 5000 });
            under_way.insert((now + time, issue.tag), issue);
        }
    }
    assert!(by_side[0].len() > 100);
    assert_eq!(by_side[0], by_side[1]);
    let least = host.counts().latencies.iter().min().unwrap();
    assert!(*least >= Nanos::from_millis(10), "{least}");
}

#[test]
fn impossible_hosts_are_refused() {
    for (writers, datasets, capacity) in [(0, 0, GIB), (1, 2, GIB), (1, 0, GIB), (1, 1, 1 << 20)] {
        for preset in [ZfsPreset::V2010, ZfsPreset::V2_1] {
            assert!(preset.host(writers, datasets, capacity, 1).is_err());
        }
    }
    assert!(ZfsPreset::named("2.2").is_err());
}

/// A fixed device whose self-check fails.
struct Broken(FixedTarget);

impl Target for Broken {
    fn facts(&self) -> &TargetFacts {
        self.0.facts()
    }
    fn depth_max(&self) -> u32 {
        self.0.depth_max()
    }
    fn now(&mut self) -> Nanos {
        self.0.now()
    }
    fn submit(&mut self, tag: u32, command: &Command) -> Result<(), LabError> {
        self.0.submit(tag, command)
    }
    fn reap(
        &mut self,
        until: Option<Nanos>,
        done: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError> {
        self.0.reap(until, done)
    }
    fn counters(&mut self) -> Counters {
        self.0.counters()
    }
    fn self_check(&mut self) -> Result<(), LabError> {
        Err(LabError::SelfCheck("a page is missing".into()))
    }
}

/// `zil` used to end without looking at itself or at its target.
#[test]
fn a_run_reports_its_self_checks_and_those_of_its_device() {
    let spec = ZilSpec {
        writers: 3,
        datasets: 3,
        duration: Nanos::from_secs(1),
        ..ZilSpec::default()
    };
    let stop = AtomicBool::new(false);
    let mut sound = LogDevice::fixed(LogDevice::USUAL);
    let report = run_all(std::slice::from_ref(&spec), &mut sound, &stop).unwrap();
    assert_eq!(report.checks.len(), 4);
    assert_eq!(failures(&report.checks), Vec::<String>::new());
    let mut broken = LogDevice::of(Box::new(Broken(fixed())), Vec::new(), None).unwrap();
    let report = run_all(&[spec], &mut broken, &stop).unwrap();
    let failed = failures(&report.checks);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].contains("a page is missing"), "{failed:?}");
}

/// A log block that is trimmed while it is in use again would be lost.
#[test]
fn autotrim_trims_what_groups_freed_and_nothing_that_is_in_use() {
    let mut spec = ZfsPreset::V2010.host(3, 3, 64 << 20, 1).unwrap();
    spec.autotrim = true;
    let mut host = LogHost::new(spec);
    let (mut issues, mut now) = (Vec::new(), Nanos::ZERO);
    let mut out: Vec<IssuedCommand> = Vec::new();
    let (mut trimmed, mut written) = (0, 0);
    while now < Nanos::from_secs(40) {
        host.poll(now, &mut issues);
        for issue in issues.drain(..) {
            let (first, len) = (issue.command.offset, u64::from(issue.command.len));
            if issue.command.op == Op::Trim {
                trimmed += len;
                let inside = |at: u64| (first..first + len).contains(&at);
                let in_use = host.chains().flat_map(|chain| chain.blocks());
                let hit = in_use.filter(|block| inside(block.extent.offset)).count();
                assert_eq!(hit, 0, "live blocks are trimmed");
            } else {
                written += len;
            }
            out.push(issue);
        }
        now += Nanos::from_millis(1);
        for issue in out.drain(..) {
            host.completed(issue.tag, now);
        }
    }
    host.check().unwrap();
    assert_eq!(host.counts().trimmed_bytes, trimmed);
    assert!(trimmed > 0 && trimmed <= written, "{trimmed} {written}");
}

#[test]
fn nothing_is_run_once_the_user_has_stopped() {
    let mut device = LogDevice::fixed(LogDevice::USUAL);
    let report = run_all(&[ZilSpec::default()], &mut device, &AtomicBool::new(true)).unwrap();
    assert!(report.stopped && report.checks.is_empty());
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/traces")
        .join(format!("{name}.csv.gz"))
}

/// Three traces of real guests: which code, how many logs, and, without having been fitted, the
/// share of random commands within 5 points, where the device queue's merging is taken back, and
/// the seeks within 0.10.
#[test]
fn a_host_fitted_to_a_trace_is_as_random_as_the_real_one() {
    for (name, whole, logs) in [
        ("zfs-2.1.11-log-1-dataset", false, vec![1]),
        ("zfs-2.1.11-log-5-datasets", false, vec![4, 1]),
        ("zfs-2010-emulation-5-datasets", true, vec![5]),
    ] {
        let fit = ZilTraceFit::of(&example(name), 4 * GIB, 1).unwrap();
        let of = &fit.structure;
        assert_eq!((of.whole(), of.buckets()), (whole, true), "{name}: {of:?}");
        assert_eq!(of.logs, logs, "{name}");
        let mut host = LogHost::new(fit.host(4 * GIB, 1).unwrap());
        let seconds = fit.duration(of.blocks as u64).as_secs_f64() as u64;
        let beside = fit.beside(&run_fixed(&mut host, seconds));
        let points = (beside.random_model - beside.random_apart).abs();
        assert!(points <= 5.0 && beside.seeks <= 0.10, "{name}: {beside:?}");
    }
}

fn commands(spec: HostSpec, seconds: u64) -> Vec<TraceEvent> {
    let mut events = Vec::new();
    let mut sink = |event: &TraceEvent| {
        events.push(*event);
        Ok(())
    };
    run_on(&mut LogHost::new(spec), &mut fixed(), seconds, &mut sink);
    events.sort_by_key(|event| event.issued_ns);
    events
}

/// What is known of a host is found in its commands: the number of its logs, their allocators,
/// the format and the sizes of its blocks, and how long its writers think.
#[test]
fn the_logs_of_a_known_host_are_found_in_its_commands() {
    for (whole, allocator_of) in [
        (true, vec![0]),
        (false, vec![0, 0, 0]),
        (true, vec![0; 5]),
        (true, vec![0; 7]),
        (false, vec![0, 1, 0, 1, 0]),
    ] {
        let count = allocator_of.len();
        let mut spec = ZfsPreset::V2_1.host(count, count, 4 * GIB, 5).unwrap();
        let mut logs = vec![0; 2];
        allocator_of.iter().for_each(|to| logs[*to] += 1);
        logs.retain(|count| *count > 0);
        spec.allocator_of = allocator_of;
        if whole {
            spec.commit.format = LogBlockFormat::Whole;
        }
        let found = structure(&commands(spec, 100), 4 * GIB).unwrap();
        assert_eq!((found.logs, found.gaps < 0.2), (logs, whole));
        assert!(found.in_buckets > 0.9);
        // 8 ms and 100 us for each KiB, exponential: the median is 69 % of the mean.
        let millis = found.cycle.as_secs_f64() * 1e3;
        assert!((4.0..12.0).contains(&millis), "{millis}");
    }
    let old = ZfsPreset::V2010.host(1, 1, 4 * GIB, 5).unwrap();
    let found = structure(&commands(old, 20), 4 * GIB).unwrap();
    assert!(found.gaps < 0.2 && found.in_buckets < 0.9, "{found:?}");
}

#[test]
fn reads_show_no_log() {
    let reads = (0..500).map(|at| TraceEvent::new(at, Op::Read, at * 8192, 4096));
    assert_eq!(structure(&reads.collect::<Vec<_>>(), 4 * GIB), None);
}
