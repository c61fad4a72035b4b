//! The benchmark: Iometer, server profiles, CrystalDiskMark, client traces, power.
//!
//! Assumed, because the article does not say: a test file of 8 GiB on an otherwise empty drive,
//! written in order first; four transfers of 2 MB outstanding; CrystalDiskMark's usual 1000 MB
//! five times over at depth 1. "Repeating" data compresses as far as it can.

use super::super::{Curve, Health};
use super::measure::Bench;
use super::traces::{TRACES, Trace};
use ssdlab_base::LabError;
use ssdlab_load::profiles::Profile;
use ssdlab_load::stream::Stream;
use ssdlab_ssd::{Command, Drive, Op};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// The two kinds of data, and per cent that a compressor takes off each.
pub const DATA: [(&str, u8); 2] = [("repeating", 100), ("random", 0)];
/// Queue depths of the 4 KiB sweeps.
pub const DEPTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Server profiles: short name, and that of the profile.
pub const PROFILES: [(&str, &str); 4] = [
    ("database", "iometer-database"),
    ("file_server", "iometer-file-server"),
    ("web_server", "iometer-web-server"),
    ("workstation", "iometer-workstation"),
];
/// Queue depths of the profiles.
pub const DEPTHS_MIXED: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const LARGE: u32 = 2 << 20;
const LARGE_DEPTH: u32 = 4;
const SMALL: u32 = 4096;

/// How much of everything is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Bytes of the test file.
    pub span: u64,
    /// Commands of each point of a sweep.
    pub commands: u64,
    /// Volumes of CrystalDiskMark and of the traces are divided by this.
    pub smaller: u64,
}

impl Default for Size {
    fn default() -> Size {
        Size {
            span: 8 << 30,
            commands: 20_000,
            smaller: 1,
        }
    }
}

/// What a drive measured, by name, and its curves over queue depth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Benchmark {
    /// Numbers: MB/s, IOPS, ms, W, as the name's end says.
    pub values: BTreeMap<String, f64>,
    /// Curves.
    pub curves: BTreeMap<String, Curve>,
}

/// Measures drives that `drive` makes, each in the same state.
///
/// # Errors
/// When a drive is not possible, or `stop` is set.
pub fn benchmark(
    drive: &dyn Fn() -> Result<Drive, LabError>,
    size: Size,
    seed: u64,
    health: &mut Health,
    stop: &AtomicBool,
) -> Result<Benchmark, LabError> {
    let mut found = Benchmark::default();
    for kind in DATA {
        let mut bench = Bench::new(drive()?, kind, &mut found, seed, stop);
        large(&mut bench, size)?;
        latency(&mut bench, size)?;
        sweeps(&mut bench, size)?;
        profiles(&mut bench, size, seed)?;
        let idle = bench.idle_power();
        bench.keep("idle_w", idle);
        bench.finish("Iometer", health);
    }
    let mut bench = Bench::new(drive()?, ("cdm", 0), &mut found, seed, stop);
    crystal_disk_mark(&mut bench, size)?;
    bench.finish("CrystalDiskMark", health);
    let mut bench = Bench::new(drive()?, ("trace", 0), &mut found, seed, stop);
    for trace in &TRACES {
        play(&mut bench, trace, size)?;
    }
    bench.finish("traces", health);
    Ok(found)
}

fn mb_s(span: &super::super::Span) -> f64 {
    span.mb_s()
}

/// 2 MB in order and at random; the first lays the test file down.
fn large(bench: &mut Bench<'_>, size: Size) -> Result<(), LabError> {
    let (count, whole) = (size.span / u64::from(LARGE), (0, size.span));
    for op in [Op::Write, Op::Read] {
        let commands = bench.in_order(op, 0, LARGE, count);
        let (span, power) = bench.run(LARGE_DEPTH, commands)?;
        bench.keep(&format!("sequential_{}_mb_s", op.name()), mb_s(&span));
        bench.keep(&format!("sequential_{}_w", op.name()), power);
        let commands = bench.at_random(op, whole, LARGE, count);
        let (span, _) = bench.run(LARGE_DEPTH, commands)?;
        bench.keep(&format!("random_2m_{}_mb_s", op.name()), mb_s(&span));
    }
    Ok(())
}

/// 4 KiB random writes, one at a time.
fn latency(bench: &mut Bench<'_>, size: Size) -> Result<(), LabError> {
    let commands = bench.at_random(Op::Write, (0, size.span), SMALL, size.commands);
    let (span, _) = bench.run(1, commands)?;
    bench.keep("latency_mean_ms", span.write_latency.mean() / 1e6);
    bench.keep("latency_max_ms", span.write_latency.max() as f64 / 1e6);
    bench.keep("qd1_write_iops", span.iops());
    Ok(())
}

/// 4 KiB random reads and writes over queue depth.
fn sweeps(bench: &mut Bench<'_>, size: Size) -> Result<(), LabError> {
    for op in [Op::Read, Op::Write] {
        let mut peak = 0.0_f64;
        for depth in DEPTHS {
            let commands = bench.at_random(op, (0, size.span), SMALL, size.commands);
            let (span, power) = bench.run(depth, commands)?;
            bench.point(&format!("4k_{}", op.name()), f64::from(depth), span.iops());
            peak = peak.max(span.iops());
            if depth == 32 {
                bench.keep(&format!("4k_{}_w", op.name()), power);
            }
        }
        bench.keep(&format!("4k_{}_peak_iops", op.name()), peak);
    }
    Ok(())
}

/// The server profiles over queue depth.
fn profiles(bench: &mut Bench<'_>, size: Size, seed: u64) -> Result<(), LabError> {
    for (short, name) in PROFILES {
        let plan = Profile::named(name)?.plan(None, None)?;
        let Some(job) = plan.phases.first().and_then(|phase| phase.jobs.first()) else {
            return Err(LabError::refused(format!("profile {name} is empty"), ""));
        };
        let mut job = job.clone();
        job.seed = seed;
        job.region = Some(size.span);
        job.data.compress_pct = bench.compress_pct;
        let mut stream = Stream::new(&job, 0, bench.user_bytes())?;
        for depth in DEPTHS_MIXED {
            let commands = std::iter::from_fn(|| stream.next_command());
            let commands: Vec<Command> = commands.take(size.commands as usize).collect();
            let (span, _) = bench.run(depth, commands)?;
            bench.point(short, f64::from(depth), span.iops());
        }
    }
    Ok(())
}

/// CrystalDiskMark's writes, incompressible: in order, and 512 KiB at random.
fn crystal_disk_mark(bench: &mut Bench<'_>, size: Size) -> Result<(), LabError> {
    const RUNS: u64 = 5;
    let volume = 1000 * (1 << 20) / size.smaller;
    for (name, block, random) in [("sequential", 1 << 20, false), ("512k", 512 << 10, true)] {
        let count = volume / u64::from(block);
        let mut best = 0.0_f64;
        for _ in 0..RUNS {
            let commands = if random {
                bench.at_random(Op::Write, (0, volume), block, count)
            } else {
                bench.in_order(Op::Write, 0, block, count)
            };
            let (span, _) = bench.run(1, commands)?;
            best = best.max(mb_s(&span));
        }
        bench.keep(&format!("{name}_write_mb_s"), best);
    }
    Ok(())
}

/// A client trace.
fn play(bench: &mut Bench<'_>, trace: &Trace, size: Size) -> Result<(), LabError> {
    // What is read must have been written.
    bench.compress_pct = trace.compress_pct;
    let chunk = 1 << 20;
    let system = trace.system_bytes / size.smaller;
    let fill = bench.in_order(Op::Write, 0, chunk, system / u64::from(chunk));
    bench.run(LARGE_DEPTH, fill)?;
    let commands = trace.commands(&mut bench.rng(trace.name), size.smaller);
    let (span, _) = bench.run(trace.depth, commands)?;
    let count = (span.read_latency.len() + span.write_latency.len()) as f64;
    let total = span.read_latency.mean() * span.read_latency.len() as f64
        + span.write_latency.mean() * span.write_latency.len() as f64;
    bench.keep(&format!("{}_ms", trace.name), total / count.max(1.0) / 1e6);
    bench.keep(&format!("{}_mb_s", trace.name), mb_s(&span));
    Ok(())
}
