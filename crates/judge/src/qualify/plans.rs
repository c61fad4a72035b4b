//! The plans that procedures run: one phase, one job, our own language.

use ssdlab_load::plan::{
    BlockSize, Distribution, JobSpec, JobTiming, Language, Mix, Order, PlanPhase, WorkloadPlan,
    WriteDurability,
};
use ssdlab_ssd::Nanos;
use ssdlab_ssd::rng::Rng;

/// The part of the target that is used, and the seed of the streams.
#[derive(Clone, Copy, Debug)]
pub struct QualifyRegion {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
    /// Seed of the qualification.
    pub seed: u64,
}

const BLOCK: u32 = 4096;
const SEQUENTIAL_BLOCK: u32 = 128 << 10;

/// Not durable at all.
pub const BUFFERED: WriteDurability = WriteDurability {
    fua: false,
    flush_every: 0,
    data_only: true,
};
/// Durable when complete.
pub const FUA: WriteDurability = WriteDurability {
    fua: true,
    ..BUFFERED
};
/// A flush (fdatasync on a file) after every write.
pub const FLUSHED: WriteDurability = WriteDurability {
    flush_every: 1,
    ..BUFFERED
};

/// A job of random commands of one size, its random streams forked by `name`: steps must not
/// visit the same addresses in the same order.
fn job(name: &str, region: QualifyRegion, mix: Mix, block: u32) -> JobSpec {
    JobSpec {
        name: name.to_owned(),
        mix,
        order: Order::Random {
            align: u64::from(block),
            distribution: Distribution::Uniform,
            each_once: false,
        },
        block_sizes: BlockSize::always(block),
        offset: region.offset,
        region: Some(region.bytes),
        durability: BUFFERED,
        seed: Rng::named(region.seed, name).next_u64(),
        ..JobSpec::default()
    }
}

fn timed(ramp: Nanos, run_s: f64) -> JobTiming {
    JobTiming {
        ramp,
        run: Some(Nanos((run_s * 1e9) as u64)),
        time_based: true,
        cool_down: Nanos::ZERO,
        delay: Nanos::ZERO,
    }
}

fn plan(job: JobSpec) -> WorkloadPlan {
    WorkloadPlan {
        language: Language::Ssdlab,
        phases: vec![PlanPhase { jobs: vec![job] }],
    }
}

/// The region written once, front to back, 128 KiB at a time, 32 outstanding.
pub fn fill(region: QualifyRegion) -> WorkloadPlan {
    let mut job = job("fill", region, Mix::Write, SEQUENTIAL_BLOCK);
    job.order = Order::Sequential {
        stride: None,
        start_step: 0,
        split_positions: false,
    };
    job.depth = 32;
    job.io_limit = Some(region.bytes);
    plan(job)
}

/// 4 KiB random writes by `writers`, one outstanding each.
pub fn probe(
    name: &str,
    region: QualifyRegion,
    durability: WriteDurability,
    writers: u32,
    run_s: f64,
) -> WorkloadPlan {
    let name = format!("{name} x{writers}");
    let mut job = job(&name, region, Mix::Write, BLOCK);
    job.durability = durability;
    job.copies = writers;
    job.time = timed(Nanos::from_millis(200), run_s);
    plan(job)
}

/// `dirty` bytes of random writes of at most 128 KiB, then a flush; `repeats` times or `run_s`.
pub fn flush_after(region: QualifyRegion, dirty: u64, repeats: u64, run_s: f64) -> WorkloadPlan {
    let block = dirty.min(u64::from(SEQUENTIAL_BLOCK)) as u32;
    let mut job = job(&format!("flush after {dirty}"), region, Mix::Write, block);
    job.durability = WriteDurability {
        flush_every: (dirty / u64::from(block)) as u32,
        ..BUFFERED
    };
    job.io_limit = Some(dirty * repeats);
    job.time = JobTiming {
        run: Some(Nanos((run_s * 1e9) as u64)),
        time_based: false,
        ..JobTiming::default()
    };
    plan(job)
}

/// A 4 KiB random load.
pub fn load(
    name: &str,
    region: QualifyRegion,
    mix: Mix,
    streams: (u32, u32),
    run_s: f64,
) -> WorkloadPlan {
    let (copies, depth) = streams;
    let mut job = job(name, region, mix, BLOCK);
    job.copies = copies;
    job.depth = depth;
    job.time = timed(Nanos::ZERO, run_s);
    plan(job)
}

/// The same until this number of bytes is written, however long that takes.
pub fn load_of(
    name: &str,
    region: QualifyRegion,
    mix: Mix,
    streams: (u32, u32),
    bytes: u64,
) -> WorkloadPlan {
    let mut plan = load(name, region, mix, streams, 0.0);
    for job in plan.phases.iter_mut().flat_map(|p| &mut p.jobs) {
        job.time = JobTiming::default();
        job.io_limit = Some(bytes);
    }
    plan
}

/// The same, every write durable when complete.
pub fn durable(mut plan: WorkloadPlan) -> WorkloadPlan {
    for job in plan.phases.iter_mut().flat_map(|p| &mut p.jobs) {
        job.durability = FUA;
    }
    plan
}
