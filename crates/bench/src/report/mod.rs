//! Results as people read them: one self-contained HTML page, and tables for a terminal.
//!
//! Everything here is pure: records and verdicts in, text out. No number is computed here that
//! is not a ratio of two measured ones; a value that was not measured is marked, never zero.
//! Left out on purpose: files of numbers for other programs (`export`).

mod headline;
mod of_dir;
mod page;
pub mod series;
pub mod terminal;
pub mod words;

pub use headline::headline;
pub use page::run_page;

use crate::analysis::{SteadyState, WriteCliff};
use crate::device::TargetFacts;
use crate::record::{JobRecord, OpStats, PhaseCounters, RunEnding, RunRecord, Second};
use crate::run_dir::JobResult;
use ssdlab_base::check::SelfCheck;
use ssdlab_ssd::{Nanos, Op};

/// A plain run, ready to be shown; several at once are compared.
#[derive(Clone)]
pub struct RunReport {
    /// Short name of this run in legends and column heads; differs between runs compared.
    pub label: String,
    /// What the run was, in a line.
    pub title: String,
    /// The command line or job file that asked for it, as the user wrote it.
    pub command: String,
    /// What it ran on.
    pub facts: TargetFacts,
    /// Per second, in order of time.
    pub seconds: Vec<Second>,
    /// Per phase and kind of command; kinds that did not occur are left out.
    pub totals: Vec<OpTotals>,
    /// What the phases are called and do; empty of a run of one phase.
    pub phase_names: Vec<PhaseName>,
    /// What reached the device, per phase.
    pub counters: Vec<PhaseCounters>,
    /// The phase that `steady` and `cliff` describe.
    pub analysed_phase: usize,
    /// Steady state over rounds of `steady_round_s`; `None` = too short to say.
    pub steady: Option<SteadyState>,
    /// Seconds per round of `steady`.
    pub steady_round_s: f64,
    /// The write cliff, if there is one.
    pub cliff: Option<WriteCliff>,
    /// How it ended.
    pub ending: RunEnding,
    /// Self-checks.
    pub checks: Vec<SelfCheck>,
    /// What the reader must know before the figures: on what state of the drive they were measured.
    pub premises: Vec<String>,
    /// Anything else that a reader should know: seed, versions, ignored options.
    pub notes: Vec<String>,
}

/// Totals of one kind of command over the counted part of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct OpTotals {
    /// Phase number, from 0.
    pub phase: usize,
    /// The kind.
    pub op: Op,
    /// Completed.
    pub count: u64,
    /// Bytes completed.
    pub bytes: u64,
    /// Failed.
    pub errors: u64,
    /// Length of the counted part, s.
    pub length_s: f64,
    /// Mean latency, ns.
    pub mean_ns: f64,
    /// Median, ns, within the histogram's 1 %; so are the other percentiles.
    pub p50_ns: u64,
    /// 99th percentile, ns.
    pub p99_ns: u64,
    /// 99.9th percentile, ns.
    pub p999_ns: u64,
    /// Longest, ns, exact.
    pub max_ns: u64,
}

impl OpTotals {
    /// Totals of `stats`, which were counted for `length`.
    pub fn new(phase: usize, op: Op, stats: &OpStats, length: Nanos) -> OpTotals {
        OpTotals {
            phase,
            op,
            count: stats.count,
            bytes: stats.bytes,
            errors: stats.errors,
            length_s: length.as_secs_f64(),
            mean_ns: stats.mean_ns(),
            p50_ns: stats.quantile_ns(0.5),
            p99_ns: stats.quantile_ns(0.99),
            p999_ns: stats.quantile_ns(0.999),
            max_ns: stats.latency_ns_max,
        }
    }

    /// Completed commands per second; 0 when nothing was counted.
    pub fn iops(&self) -> f64 {
        per_second(self.count, self.length_s)
    }

    /// Completed bytes per second; 0 when nothing was counted.
    pub fn bytes_per_second(&self) -> f64 {
        per_second(self.bytes, self.length_s)
    }
}

fn per_second(count: u64, length_s: f64) -> f64 {
    if length_s > 0.0 {
        count as f64 / length_s
    } else {
        0.0
    }
}

impl RunReport {
    /// The phase's number, counted from 1, and its name if it has one.
    pub fn phase_label(&self, phase: usize) -> String {
        match self.phase_names.get(phase) {
            Some(PhaseName { name, .. }) if !name.is_empty() => format!("{} {name}", phase + 1),
            _ => (phase + 1).to_string(),
        }
    }

    /// A report of `record` without analysis: `steady` and `cliff` are for the caller to add.
    pub fn new(record: &RunRecord, label: &str, title: &str, command: &str) -> RunReport {
        RunReport {
            label: label.to_owned(),
            title: title.to_owned(),
            command: command.to_owned(),
            facts: record.facts.clone(),
            seconds: record.seconds.clone(),
            totals: totals(&record.jobs),
            phase_names: Vec::new(),
            counters: record.counters.clone(),
            analysed_phase: 0,
            steady: None,
            steady_round_s: 1.0,
            cliff: None,
            ending: record.ending.clone(),
            checks: record.checks.clone(),
            premises: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// A phase, for people: of 58 phases a number says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseName {
    /// Its jobs' names; empty when not known.
    pub name: String,
    /// What its jobs do; empty when not known.
    pub what: String,
}

/// Maximum number of jobs of a phase that are named; of more, the number is given.
const JOBS_NAMED: usize = 2;

/// What the phases of a run of several are called. A phase that was not reached has no jobs here,
/// and no name if it is followed by one that was.
pub fn phase_names(jobs: &[JobResult]) -> Vec<PhaseName> {
    let phases = jobs.iter().map(|job| job.phase + 1).max().unwrap_or(0);
    if phases < 2 {
        return Vec::new();
    }
    let join_texts = |phase: usize, text: fn(&JobResult) -> &str| {
        let mut texts: Vec<&str> = Vec::new();
        for job in jobs.iter().filter(|job| job.phase == phase) {
            if !text(job).is_empty() && !texts.contains(&text(job)) {
                texts.push(text(job));
            }
        }
        let mut joined = texts[..texts.len().min(JOBS_NAMED)].join(" + ");
        if texts.len() > JOBS_NAMED {
            joined += &format!(" + {} more", texts.len() - JOBS_NAMED);
        }
        joined
    };
    (0..phases)
        .map(|phase| PhaseName {
            name: join_texts(phase, |job| &job.name),
            what: join_texts(phase, |job| &job.what),
        })
        .collect()
}

/// The jobs of a phase together, kinds that did not occur left out. Rates are over the longest
/// job of the phase.
fn totals(jobs: &[JobRecord]) -> Vec<OpTotals> {
    let phases = jobs.iter().map(|job| job.phase + 1).max().unwrap_or(0);
    let mut totals = Vec::new();
    for phase in 0..phases {
        let of_phase = || jobs.iter().filter(move |job| job.phase == phase);
        let length = of_phase().map(|job| job.length).max();
        for op in Op::ALL {
            let mut sum = OpStats::default();
            for job in of_phase() {
                sum.merge(&job.ops[op as usize]);
            }
            if sum.count > 0 || sum.errors > 0 {
                let length = length.unwrap_or(Nanos::ZERO);
                totals.push(OpTotals::new(phase, op, &sum, length));
            }
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(phase: usize, latency_ns: u64, count: u64, seconds: u64) -> JobRecord {
        let mut ops: [OpStats; Op::COUNT] = std::array::from_fn(|_| OpStats::default());
        let writes = &mut ops[Op::Write as usize];
        writes.count = count;
        writes.bytes = count * 4096;
        writes.latency_ns_sum = u128::from(latency_ns * count);
        writes.latency_ns_min = latency_ns;
        writes.latency_ns_max = latency_ns;
        writes.latencies.record_n(latency_ns, count).unwrap();
        JobRecord {
            phase,
            job: 0,
            start: Nanos::ZERO,
            length: Nanos::from_secs(seconds),
            ops,
            iops_samples: Default::default(),
        }
    }

    #[test]
    fn jobs_of_a_phase_are_added_and_phases_kept_apart() {
        let all = totals(&[
            job(0, 1_000, 99, 10),
            job(0, 9_000, 1, 10),
            job(1, 500, 5, 1),
        ]);
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].count, all[0].max_ns), (100, 9_000));
        assert_eq!(all[0].iops(), 10.0);
        assert_eq!(all[0].mean_ns, 1_080.0);
        assert!(all[0].p50_ns.abs_diff(1_000) <= 10);
        assert_eq!((all[1].phase, all[1].iops()), (1, 5.0));
        // A p99 of 298 ms was shown beside a longest of 296 ms.
        assert_eq!([all[1].p50_ns, all[1].p99_ns, all[1].p999_ns], [500; 3]);
    }

    fn named(names: &[(usize, &str, &str)]) -> Vec<(String, String)> {
        let jobs: Vec<JobResult> = names
            .iter()
            .map(|&(phase, name, what)| JobResult {
                phase,
                job: 0,
                name: name.to_owned(),
                what: what.to_owned(),
                start_ns: 0,
                length_ns: 0,
                ops: Vec::new(),
            })
            .collect();
        let names = phase_names(&jobs).into_iter();
        names.map(|phase| (phase.name, phase.what)).collect()
    }

    /// The 58 phases of `pts-iops` were numbered only.
    #[test]
    fn phases_go_by_their_jobs_names() {
        let pair = |name: &str, what: &str| (name.to_owned(), what.to_owned());
        let own = named(&[(0, "fill", "write"), (1, "r65-4k", "randrw")]);
        assert_eq!(own, [pair("fill", "write"), pair("r65-4k", "randrw")]);
        let alike = named(&[(0, "a", "read"), (1, "a", "read"), (1, "b", "read")]);
        assert_eq!(alike, [pair("a", "read"), pair("a + b", "read")]);
        let many = [
            (0, "a", ""),
            (1, "a", ""),
            (1, "b", ""),
            (1, "c", ""),
            (1, "d", ""),
        ];
        assert_eq!(named(&many)[1].0, "a + b + 2 more");
        assert_eq!(named(&[(0, "only", "write")]), []);
        assert_eq!(named(&[]), []);
        assert_eq!(named(&[(1, "b", "")]), [pair("", ""), pair("b", "")]);
    }

    #[test]
    fn nothing_counted_gives_no_nan() {
        let totals = OpTotals::new(0, Op::Read, &OpStats::default(), Nanos::ZERO);
        assert_eq!((totals.iops(), totals.bytes_per_second()), (0.0, 0.0));
        assert_eq!(totals.p99_ns, 0);
    }
}
