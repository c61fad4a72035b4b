//! `result.json`: the totals of a finished run.

use super::FORMAT_VERSION;
use crate::analysis::{
    SteadyState, WriteCliff, latency, series, steady, steady_state, write_cliff,
};
use crate::record::{JobRecord, OpStats, PhaseCounters, RunEnding, RunRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::check::SelfCheck;
use ssdlab_load::plan::WorkloadPlan;
use ssdlab_ssd::{Nanos, Op};

/// What a run gave: `result.json`.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct RunResult {
    /// [`FORMAT_VERSION`] of the writer.
    #[schemars(extend("enum" = [1, 2]))]
    pub version: u32,
    /// Version of the program.
    pub ssdlab: String,
    /// How the run ended.
    pub ending: RunEnding,
    /// Wall time, ns.
    pub wall_ns: u64,
    /// CPU time in user mode, ns.
    pub cpu_user_ns: u64,
    /// CPU time in the kernel, ns.
    pub cpu_system_ns: u64,
    /// Per phase.
    pub phases: Vec<PhaseResult>,
    /// Per job, in plan order.
    pub jobs: Vec<JobResult>,
    /// Self-checks.
    pub checks: Vec<CheckRow>,
}

/// What a phase as a whole shows.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct PhaseResult {
    /// Phase number, from 0.
    pub phase: usize,
    /// Device counters around its counted part.
    pub counters: Option<PhaseCounters>,
    /// Length of a round of the steady-state test, s.
    pub round_s: usize,
    /// Steady state of the IOPS of all kinds together; absent when there are fewer than five
    /// rounds.
    pub steady_state: Option<SteadyState>,
    /// The write cliff, if there is one.
    pub write_cliff: Option<WriteCliff>,
}

/// Totals of one job over its counted part.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct JobResult {
    /// Phase number, from 0.
    pub phase: usize,
    /// Position within the phase.
    pub job: usize,
    /// The section's name, or DISKSPD's target.
    pub name: String,
    /// What it does, in a few words; empty where an older version wrote the result.
    #[serde(default)]
    pub what: String,
    /// When counting began, on the target's clock, ns.
    pub start_ns: u64,
    /// Length of the counted part, ns.
    pub length_ns: u64,
    /// The kinds of commands that completed or failed at least once.
    pub ops: Vec<OpResult>,
}

/// Totals of one kind of command.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct OpResult {
    /// `read`, `write`, `trim`, `flush`, `write_zeroes`.
    #[schemars(extend("enum" = ["read", "write", "trim", "flush", "write_zeroes"]))]
    pub op: String,
    /// Completed.
    pub count: u64,
    /// Bytes completed.
    pub bytes: u64,
    /// Failed.
    pub errors: u64,
    /// Completed per second.
    pub iops: f64,
    /// Bytes completed per second.
    pub bytes_per_second: f64,
    /// From submission to completion.
    pub latency: LatencySummary,
}

/// A latency distribution in figures, ns.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct LatencySummary {
    /// Mean.
    pub mean_ns: f64,
    /// Shortest.
    pub min_ns: u64,
    /// Longest.
    pub max_ns: u64,
    /// Sample standard deviation.
    pub stddev_ns: f64,
    /// fio's 17 percentiles.
    #[schemars(length(equal = 17))]
    pub percentiles: Vec<Percentile>,
}

/// One percentile.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, Deserialize, PartialEq)]
pub struct Percentile {
    /// 0 to 100.
    pub percent: f64,
    /// Latency, ns.
    pub ns: u64,
}

/// A self-check.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct CheckRow {
    /// What was checked.
    pub name: String,
    /// Whether it holds.
    pub passed: bool,
    /// What is wrong.
    pub detail: Option<String>,
}

impl RunResult {
    /// The result of `record`, a run of `plan`. `round_s` is the length of a steady-state round
    /// in seconds: 60 for SNIA PTS.
    pub fn new(plan: &WorkloadPlan, record: &RunRecord, round_s: usize) -> RunResult {
        let check = |check: &SelfCheck| CheckRow {
            name: check.name.clone(),
            passed: check.failure.is_none(),
            detail: check.failure.clone(),
        };
        RunResult {
            version: FORMAT_VERSION,
            ssdlab: env!("CARGO_PKG_VERSION").to_string(),
            ending: record.ending.clone(),
            wall_ns: record.wall_ns,
            cpu_user_ns: record.cpu_ns.0,
            cpu_system_ns: record.cpu_ns.1,
            phases: (0..plan.phases.len())
                .map(|phase| phase_result(record, phase, round_s))
                .collect(),
            jobs: record
                .jobs
                .iter()
                .map(|job| job_result(plan, job))
                .collect(),
            checks: record.checks.iter().map(check).collect(),
        }
    }
}

impl RunResult {
    /// The last phase that was reached: an interrupted run has nothing to say of the others.
    pub fn last_phase(&self) -> Option<&PhaseResult> {
        let reached = self.jobs.iter().map(|job| job.phase).max();
        let mut phases = self.phases.iter().rev();
        phases.find(|phase| reached.is_none_or(|last| phase.phase <= last))
    }
}

fn phase_result(record: &RunRecord, phase: usize, round_s: usize) -> PhaseResult {
    let rates = series::iops(&record.seconds, phase, &[Op::Read, Op::Write, Op::Trim]);
    PhaseResult {
        phase,
        counters: record.counters.get(phase).cloned(),
        round_s,
        steady_state: steady_state(&steady::rounds(&rates, round_s)),
        write_cliff: write_cliff(&record.seconds, phase),
    }
}

fn job_result(plan: &WorkloadPlan, job: &JobRecord) -> JobResult {
    let spec = plan
        .phases
        .get(job.phase)
        .and_then(|phase| phase.jobs.get(job.job));
    let happened = |op: &Op| {
        let stats = &job.ops[*op as usize];
        stats.count > 0 || stats.errors > 0
    };
    let ops = Op::ALL.into_iter().filter(happened);
    JobResult {
        phase: job.phase,
        job: job.job,
        name: spec.map(|spec| spec.name.clone()).unwrap_or_default(),
        what: spec.map(|spec| spec.what()).unwrap_or_default(),
        start_ns: job.start.0,
        length_ns: job.length.0,
        ops: ops
            .map(|op| op_result(op, &job.ops[op as usize], job.length))
            .collect(),
    }
}

fn op_result(op: Op, stats: &OpStats, length: Nanos) -> OpResult {
    let per_second = |n: u64| {
        if length.0 == 0 {
            0.0
        } else {
            n as f64 / length.as_secs_f64()
        }
    };
    let percentile = |percent| Percentile {
        percent,
        ns: latency::percentile_ns(stats, percent),
    };
    OpResult {
        op: op.name().to_string(),
        count: stats.count,
        bytes: stats.bytes,
        errors: stats.errors,
        iops: per_second(stats.count),
        bytes_per_second: per_second(stats.bytes),
        latency: LatencySummary {
            mean_ns: stats.mean_ns(),
            min_ns: latency::shortest_ns(stats),
            max_ns: stats.latency_ns_max,
            stddev_ns: latency::standard_deviation_ns(stats),
            percentiles: latency::PERCENTILES.into_iter().map(percentile).collect(),
        },
    }
}
