//! The benchmark: Iometer, server profiles, CrystalDiskMark, client traces, power.
//!
//! Assumed, because the article does not say: a test file of 8 GiB on an otherwise empty drive,
//! written in order first; four transfers of 2 MB outstanding; CrystalDiskMark's usual 1000 MB
//! five times over at depth 1. "Repeating" data compresses as far as it can.

use super::measure::{
    BenchmarkMetric, BenchmarkResults, BenchmarkRig, CrystalDiskMarkMetric, DataCompressibility,
    DepthSweep, IometerMetric, TracePlaybackMetric,
};
use super::traces::{ClientTrace, TRACES};
use crate::experiments::host::DriveSelfChecks;
use crate::keys::ExperimentKey;
use ssdlab_base::LabError;
use ssdlab_load::profiles::WorkloadProfile;
use ssdlab_load::stream::JobStream;
use ssdlab_ssd::{Command, Drive, Op};
use std::sync::atomic::AtomicBool;

/// Queue depths of the 4 KiB sweeps.
const DEPTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Server profiles.
const PROFILES: [(DepthSweep, &str); 4] = [
    (DepthSweep::Database, "iometer-database"),
    (DepthSweep::FileServer, "iometer-file-server"),
    (DepthSweep::WebServer, "iometer-web-server"),
    (DepthSweep::Workstation, "iometer-workstation"),
];
/// Queue depths of the profiles.
const DEPTHS_MIXED: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const LARGE: u32 = 2 << 20;
const LARGE_DEPTH: u32 = 4;
const SMALL: u32 = 4096;

/// Amount of work of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BenchmarkSize {
    /// Bytes of the test file.
    pub span: u64,
    /// Commands of each point of a sweep.
    pub commands: u64,
    /// Volumes of CrystalDiskMark and of the traces are divided by this.
    pub smaller: u64,
}

impl Default for BenchmarkSize {
    fn default() -> BenchmarkSize {
        BenchmarkSize {
            span: 8 << 30,
            commands: 20_000,
            smaller: 1,
        }
    }
}

/// Measures drives that `drive` makes, each in the same state.
///
/// # Errors
/// When a drive is not possible, or `stop` is set.
pub(super) fn benchmark(
    drive: &dyn Fn() -> Result<Drive, LabError>,
    size: BenchmarkSize,
    seed: u64,
    health: &mut DriveSelfChecks,
    stop: &AtomicBool,
) -> Result<BenchmarkResults, LabError> {
    let mut results = BenchmarkResults::default();
    for data in DataCompressibility::all() {
        let mut bench = BenchmarkRig::new(
            drive()?,
            data.name(),
            data.compress_pct(),
            &mut results,
            seed,
            stop,
        );
        large(&mut bench, data, size)?;
        latency(&mut bench, data, size)?;
        sweeps(&mut bench, data, size)?;
        profiles(&mut bench, data, size, seed)?;
        let idle = bench.idle_power();
        bench.keep(BenchmarkMetric::Iometer((data, IometerMetric::IdleW)), idle);
        bench.finish("Iometer", health);
    }
    let mut bench = BenchmarkRig::new(drive()?, "cdm", 0, &mut results, seed, stop);
    crystal_disk_mark(&mut bench, size)?;
    bench.finish("CrystalDiskMark", health);
    let mut bench = BenchmarkRig::new(drive()?, "trace", 0, &mut results, seed, stop);
    for trace in &TRACES {
        play(&mut bench, trace, size)?;
    }
    bench.finish("traces", health);
    Ok(results)
}

/// 2 MB in order and at random; the first lays the test file down.
fn large(
    bench: &mut BenchmarkRig<'_>,
    data: DataCompressibility,
    size: BenchmarkSize,
) -> Result<(), LabError> {
    let count = size.span / u64::from(LARGE);
    let writes = [
        IometerMetric::SequentialWriteMbS,
        IometerMetric::SequentialWriteW,
        IometerMetric::Random2mWriteMbS,
    ];
    let reads = [
        IometerMetric::SequentialReadMbS,
        IometerMetric::SequentialReadW,
        IometerMetric::Random2mReadMbS,
    ];
    for (op, numbers) in [(Op::Write, writes), (Op::Read, reads)] {
        let [sequential, power, random] = numbers.map(|n| BenchmarkMetric::Iometer((data, n)));
        let commands = bench.in_order(op, 0, LARGE, count);
        let (span, power_w) = bench.run(LARGE_DEPTH, commands)?;
        bench.keep(sequential, span.mb_s());
        bench.keep(power, power_w);
        let commands = bench.at_random(op, 0..size.span, LARGE, count);
        let (span, _) = bench.run(LARGE_DEPTH, commands)?;
        bench.keep(random, span.mb_s());
    }
    Ok(())
}

/// 4 KiB random writes, one at a time.
fn latency(
    bench: &mut BenchmarkRig<'_>,
    data: DataCompressibility,
    size: BenchmarkSize,
) -> Result<(), LabError> {
    let commands = bench.at_random(Op::Write, 0..size.span, SMALL, size.commands);
    let (span, _) = bench.run(1, commands)?;
    for (number, value) in [
        (
            IometerMetric::LatencyMeanMs,
            span.write_latency.mean() / 1e6,
        ),
        (
            IometerMetric::LatencyMaxMs,
            span.write_latency.max() as f64 / 1e6,
        ),
        (IometerMetric::Qd1WriteIops, span.iops()),
    ] {
        bench.keep(BenchmarkMetric::Iometer((data, number)), value);
    }
    Ok(())
}

/// 4 KiB random reads and writes over queue depth.
fn sweeps(
    bench: &mut BenchmarkRig<'_>,
    data: DataCompressibility,
    size: BenchmarkSize,
) -> Result<(), LabError> {
    let reads = (
        DepthSweep::Read4k,
        [IometerMetric::Read4kPeakIops, IometerMetric::Read4kW],
    );
    let writes = (
        DepthSweep::Write4k,
        [IometerMetric::Write4kPeakIops, IometerMetric::Write4kW],
    );
    for (op, (sweep, numbers)) in [(Op::Read, reads), (Op::Write, writes)] {
        let [peak, power] = numbers.map(|number| BenchmarkMetric::Iometer((data, number)));
        let mut peak_iops = 0.0_f64;
        for depth in DEPTHS {
            let commands = bench.at_random(op, 0..size.span, SMALL, size.commands);
            let (span, power_w) = bench.run(depth, commands)?;
            bench.point((data, sweep), f64::from(depth), span.iops());
            peak_iops = peak_iops.max(span.iops());
            if depth == 32 {
                bench.keep(power, power_w);
            }
        }
        bench.keep(peak, peak_iops);
    }
    Ok(())
}

/// The server profiles over queue depth.
fn profiles(
    bench: &mut BenchmarkRig<'_>,
    data: DataCompressibility,
    size: BenchmarkSize,
    seed: u64,
) -> Result<(), LabError> {
    for (sweep, name) in PROFILES {
        let plan = WorkloadProfile::named(name)?.plan(None, None)?;
        let Some(job) = plan.phases.first().and_then(|phase| phase.jobs.first()) else {
            return Err(LabError::refused(format!("profile {name} is empty"), ""));
        };
        let mut job = job.clone();
        job.seed = seed;
        job.region = Some(size.span);
        job.data.compress_pct = bench.compress_pct;
        let mut stream = JobStream::new(&job, 0, bench.user_bytes())?;
        for depth in DEPTHS_MIXED {
            let commands = std::iter::from_fn(|| stream.next_command());
            let commands: Vec<Command> = commands.take(size.commands as usize).collect();
            let (span, _) = bench.run(depth, commands)?;
            bench.point((data, sweep), f64::from(depth), span.iops());
        }
    }
    Ok(())
}

/// CrystalDiskMark's writes, incompressible: in order, and 512 KiB at random.
fn crystal_disk_mark(bench: &mut BenchmarkRig<'_>, size: BenchmarkSize) -> Result<(), LabError> {
    const RUNS: u64 = 5;
    let volume = 1000 * (1 << 20) / size.smaller;
    for (number, block, random) in [
        (CrystalDiskMarkMetric::SequentialWrite, 1 << 20, false),
        (CrystalDiskMarkMetric::Write512k, 512 << 10, true),
    ] {
        let count = volume / u64::from(block);
        let mut best = 0.0_f64;
        for _ in 0..RUNS {
            let commands = if random {
                bench.at_random(Op::Write, 0..volume, block, count)
            } else {
                bench.in_order(Op::Write, 0, block, count)
            };
            let (span, _) = bench.run(1, commands)?;
            best = best.max(span.mb_s());
        }
        bench.keep(BenchmarkMetric::Cdm(number), best);
    }
    Ok(())
}

/// A client trace.
fn play(
    bench: &mut BenchmarkRig<'_>,
    trace: &ClientTrace,
    size: BenchmarkSize,
) -> Result<(), LabError> {
    // Addresses must be written before they are read.
    bench.compress_pct = trace.compress_pct;
    let chunk = 1 << 20;
    let system = trace.system_bytes / size.smaller;
    let fill = bench.in_order(Op::Write, 0, chunk, system / u64::from(chunk));
    bench.run(LARGE_DEPTH, fill)?;
    let commands = trace.commands(&mut bench.rng(&trace.name.name()), size.smaller);
    let (span, _) = bench.run(trace.depth, commands)?;
    let count = (span.read_latency.len() + span.write_latency.len()) as f64;
    let total = span.read_latency.mean() * span.read_latency.len() as f64
        + span.write_latency.mean() * span.write_latency.len() as f64;
    let metric = |played| BenchmarkMetric::Trace((trace.name, played));
    bench.keep(
        metric(TracePlaybackMetric::Ms),
        total / count.max(1.0) / 1e6,
    );
    bench.keep(metric(TracePlaybackMetric::MbS), span.mb_s());
    Ok(())
}
