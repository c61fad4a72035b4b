//! Made-up plans and records for tests: every number is known or can be added up.

use super::{JobRecord, OpSecond, OpStats, PhaseCounters, RunEnding, RunRecord, Second, latencies};
use crate::analysis::latency::percentile_ns;
use crate::device::{Counters, TargetFacts, TargetKind};
use ssdlab_base::check::SelfCheck;
use ssdlab_load::plan::{
    BlockSize, Distribution, JobRateLimits, JobSpec, JobTiming, Language, Mix, Order, PlanPhase,
    WorkloadPlan, WriteDurability, WritePayload,
};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Nanos, Op};

/// A random 4 KiB job of the given mix: depth 8, two copies, ten seconds.
pub(crate) fn job(name: &str, mix: Mix) -> JobSpec {
    JobSpec {
        name: name.to_string(),
        target: Some("/dev/made-up".to_string()),
        options: vec![("bs".to_string(), "4k".to_string())],
        mix,
        order: Order::Random {
            align: 4096,
            distribution: Distribution::Uniform,
            each_once: false,
        },
        random_pct: 100,
        block_sizes: [(); 3].map(|()| {
            vec![BlockSize {
                bytes: 4096,
                percent: 100,
            }]
        }),
        offset: 0,
        region: None,
        shares: ssdlab_load::plan::CapacityShares::default(),
        io_limit: None,
        depth: 8,
        copies: 2,
        time: JobTiming {
            run: Some(Nanos::from_secs(10)),
            time_based: true,
            ..JobTiming::default()
        },
        durability: WriteDurability::default(),
        pace: JobRateLimits::default(),
        data: WritePayload {
            compress_pct: 0,
            refill: false,
        },
        direct: true,
        seed: 1,
        ..JobSpec::default()
    }
}

/// One phase per job.
pub(crate) fn plan(language: Language, jobs: Vec<JobSpec>) -> WorkloadPlan {
    let phase = |job| PlanPhase { jobs: vec![job] };
    WorkloadPlan {
        language,
        phases: jobs.into_iter().map(phase).collect(),
    }
}

/// A modelled drive of 1 GiB.
pub(crate) fn facts() -> TargetFacts {
    TargetFacts {
        capacity: 1 << 30,
        model: Some("Made <Up> & Sons".to_string()),
        ..TargetFacts::unknown("made-up".to_string(), TargetKind::Modelled)
    }
}

/// One completed command.
pub(crate) fn complete(stats: &mut OpStats, bytes: u64, latency_ns: u64) {
    stats.count += 1;
    stats.bytes += bytes;
    stats.latency_ns_sum += u128::from(latency_ns);
    stats.latency_ns_sum_squares += (latency_ns as f64).powi(2);
    stats.latency_ns_min = stats.latency_ns_min.min(latency_ns);
    stats.latency_ns_max = stats.latency_ns_max.max(latency_ns);
    stats.latencies.saturating_record(latency_ns);
}

/// A record of `plan`: `length_s` seconds per phase, a few hundred commands per second of the
/// kinds that each job has, latencies from 60 us to 0.4 s; a flush per 32 writes.
pub(crate) fn record(plan: &WorkloadPlan, length_s: u64, seed: u64) -> RunRecord {
    let mut made = Maker {
        rng: Rng::named(seed, "record"),
        seconds: Vec::new(),
    };
    let mut jobs = Vec::new();
    for (phase, jobs_of) in plan.phases.iter().enumerate() {
        let first = made.seconds.len();
        for (number, spec) in jobs_of.jobs.iter().enumerate() {
            jobs.push(made.job(phase, number, spec, length_s, first));
        }
    }
    RunRecord {
        facts: facts(),
        ending: RunEnding::Complete,
        jobs,
        seconds: made.seconds,
        counters: plan
            .phases
            .iter()
            .map(|_| PhaseCounters {
                before: Counters::default(),
                after: Counters::default(),
            })
            .collect(),
        cpu_ns: (400_000_000, 100_000_000),
        wall_ns: 1_000_000_000,
        checks: vec![SelfCheck::new("pages conserved", Ok(()))],
        notes: Vec::new(),
    }
}

struct Maker {
    rng: Rng,
    seconds: Vec<Second>,
}

impl Maker {
    fn job(
        &mut self,
        phase: usize,
        job: usize,
        spec: &JobSpec,
        length_s: u64,
        first: usize,
    ) -> JobRecord {
        let mut ops = [(); Op::COUNT].map(|()| OpStats::default());
        let mut iops_samples = [(); Op::COUNT].map(|()| Vec::new());
        for t in 0..length_s as usize {
            if self.seconds.len() <= first + t {
                self.seconds.push(idle(phase, t as i64));
            }
            let per_op = self.second(spec);
            for (op, stats) in per_op.iter().enumerate() {
                iops_samples[op].push(stats.count as f64);
                self.seconds[first + t].ops[op] = shown(stats);
                ops[op] = crate::analysis::latency::merged([&ops[op], stats]);
            }
        }
        JobRecord {
            phase,
            job,
            start: Nanos::ZERO,
            length: Nanos::from_secs(length_s),
            ops,
            iops_samples,
        }
    }

    fn second(&mut self, spec: &JobSpec) -> [OpStats; Op::COUNT] {
        let mut ops = [(); Op::COUNT].map(|()| OpStats::default());
        for n in 0..300 + self.rng.below(100) {
            let op = match spec.mix {
                Mix::Read => Op::Read,
                Mix::Write => Op::Write,
                Mix::Trim => Op::Trim,
                Mix::ReadWrite { read_pct } if self.rng.percent(u32::from(read_pct)) => Op::Read,
                Mix::ReadWrite { .. } => Op::Write,
            };
            let slow = if self.rng.percent(1) { 4000 } else { 1 };
            let latency_ns = (60_000 + self.rng.below(40_000)) * slow;
            complete(&mut ops[op as usize], 4096, latency_ns);
            if spec.mix != Mix::Read && n % 32 == 0 {
                complete(&mut ops[Op::Flush as usize], 0, 500_000);
            }
        }
        ops
    }
}

fn shown(stats: &OpStats) -> OpSecond {
    OpSecond {
        count: stats.count,
        bytes: stats.bytes,
        mean_ns: stats.mean_ns(),
        p50_ns: percentile_ns(stats, 50.0),
        p99_ns: percentile_ns(stats, 99.0),
        p999_ns: percentile_ns(stats, 99.9),
        max_ns: stats.latency_ns_max,
    }
}

/// A second in which nothing happened.
pub(crate) fn idle(phase: usize, t_s: i64) -> Second {
    Second {
        phase,
        t_s,
        length_s: 1.0,
        ops: [OpSecond::default(); Op::COUNT],
        nand_bytes_written: Some(1 << 20),
        device_flushes: None,
    }
}

/// Empty histograms, one per kind of command.
pub(crate) fn no_latencies() -> Vec<super::Latencies> {
    vec![latencies(); Op::COUNT]
}
