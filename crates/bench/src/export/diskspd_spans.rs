//! What DISKSPD's XML and text have in common: phases as time spans, jobs as targets.

use super::spec_of;
use crate::analysis::{latency, series};
use crate::record::{JobRecord, OpStats, RunRecord, Second};
use ssdlab_load::plan::{JobSpec, WorkloadPlan};
use ssdlab_ssd::Op;

/// The machine that a run was made on, for DISKSPD's `<System>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskspdMachine {
    /// Host name; may be empty.
    pub name: String,
    /// Time of the run, in the format to show.
    pub run_time: String,
    /// Logical processors, at least 1.
    pub processors: u32,
}

/// CPU use in per cent of all processors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cpu {
    pub user: f64,
    pub kernel: f64,
}

impl Cpu {
    /// Of this process over the whole run; DISKSPD shows that of the whole system.
    pub fn of(record: &RunRecord, machine: &DiskspdMachine) -> Cpu {
        let available = record.wall_ns.max(1) as f64 * f64::from(machine.processors.max(1));
        Cpu {
            user: 100.0 * record.cpu_ns.0 as f64 / available,
            kernel: 100.0 * record.cpu_ns.1 as f64 / available,
        }
    }

    pub fn usage(self) -> f64 {
        self.user + self.kernel
    }

    pub fn idle(self) -> f64 {
        (100.0 - self.usage()).max(0.0)
    }
}

/// One phase.
pub(super) struct DiskspdSpan<'a> {
    /// The jobs, copies together.
    pub jobs: Vec<SpanJob<'a>>,
    /// Its counted, whole seconds.
    pub seconds: Vec<&'a Second>,
    /// Length of the counted part, s; 0 when it was interrupted before.
    pub time_s: f64,
    /// Threads of all jobs.
    pub threads: u64,
}

/// Threads of these jobs: those that share their depth have the same ones.
fn threads(jobs: &[SpanJob<'_>]) -> u64 {
    let copies = |job: &SpanJob<'_>| u64::from(job.spec.copies);
    let shared = jobs.iter().filter(|job| job.spec.ties.shares_depth);
    let own = jobs.iter().filter(|job| !job.spec.ties.shares_depth);
    shared.map(copies).max().unwrap_or(0) + own.map(copies).sum::<u64>()
}

/// One job of a phase.
pub(super) struct SpanJob<'a> {
    pub spec: &'a JobSpec,
    pub record: &'a JobRecord,
}

impl SpanJob<'_> {
    pub fn path(&self) -> &str {
        self.spec.target.as_deref().unwrap_or(&self.spec.name)
    }

    pub fn reads(&self) -> &OpStats {
        &self.record.ops[Op::Read as usize]
    }

    pub fn writes(&self) -> &OpStats {
        &self.record.ops[Op::Write as usize]
    }

    /// IOPS per second of reads, writes and both.
    pub fn iops(&self) -> [Vec<f64>; 3] {
        let samples = |op: Op| &self.record.iops_samples[op as usize];
        let (reads, writes) = (samples(Op::Read), samples(Op::Write));
        let value_at = |values: &[f64], i: usize| values.get(i).copied().unwrap_or(0.0);
        let sums =
            (0..reads.len().max(writes.len())).map(|i| value_at(reads, i) + value_at(writes, i));
        let combined = sums.collect();
        // DISKSPD has no buckets for what never happened.
        let used = |op: Op| {
            if self.record.ops[op as usize].count > 0 {
                samples(op).clone()
            } else {
                Vec::new()
            }
        };
        [used(Op::Read), used(Op::Write), combined]
    }
}

impl DiskspdSpan<'_> {
    /// Reads of all jobs, writes of all jobs, both.
    pub fn totals(&self) -> [OpStats; 3] {
        let reads = latency::merged(self.jobs.iter().map(SpanJob::reads));
        let writes = latency::merged(self.jobs.iter().map(SpanJob::writes));
        let combined = latency::merged([&reads, &writes]);
        [reads, writes, combined]
    }

    /// IOPS per second of reads, writes and both, all jobs together.
    pub fn iops(&self) -> [Vec<f64>; 3] {
        let rate = |op: Op| -> Vec<f64> {
            self.seconds
                .iter()
                .map(|s| s.ops[op as usize].count as f64 / s.length_s)
                .collect()
        };
        let used = |op: Op| {
            self.jobs
                .iter()
                .any(|job| job.record.ops[op as usize].count > 0)
        };
        let (reads, writes) = (rate(Op::Read), rate(Op::Write));
        let combined = reads.iter().zip(&writes).map(|(r, w)| r + w).collect();
        [
            if used(Op::Read) { reads } else { Vec::new() },
            if used(Op::Write) { writes } else { Vec::new() },
            combined,
        ]
    }
}

/// The phases of a run, in order.
pub(super) fn spans<'a>(plan: &'a WorkloadPlan, record: &'a RunRecord) -> Vec<DiskspdSpan<'a>> {
    let span = |phase: usize| {
        let in_phase = record.jobs.iter().filter(|job| job.phase == phase);
        let jobs: Vec<SpanJob<'_>> = in_phase
            .filter_map(|record| {
                Some(SpanJob {
                    spec: spec_of(plan, record)?,
                    record,
                })
            })
            .collect();
        let longest = jobs.iter().map(|job| job.record.length).max();
        DiskspdSpan {
            time_s: longest.map_or(0.0, |length| length.as_secs_f64()),
            threads: threads(&jobs),
            seconds: series::whole_seconds(&record.seconds, phase).collect(),
            jobs,
        }
    };
    (0..plan.phases.len()).map(span).collect()
}
