//! A run directory, shown again as the run itself was.

use super::{OpTotals, RunReport};
use crate::record::RunEnding;
use crate::run_dir::{JobResult, OpResult, RunDir, RunResult};
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_ssd::Op;
use std::path::Path;

impl RunReport {
    /// The report of the run directory at `path`, with the far quantiles of each second; when they
    /// cannot be read, a note says so.
    ///
    /// # Errors
    /// When it is no run directory, or a file that a report needs is damaged.
    pub fn open(path: &Path, label: &str) -> Result<(RunReport, Option<RunResult>), LabError> {
        let mut dir = RunDir::open(path)?;
        let tails = dir.read_tails();
        let mut report = RunReport::of_dir(&dir, label);
        if let Err(error) = tails {
            let note = format!("99.9th percentiles of seconds were not read: {error}");
            report.notes.push(note);
        }
        Ok((report, dir.result))
    }

    /// The report of a run directory; for one that was cut off, from its series alone.
    pub fn of_dir(dir: &RunDir, label: &str) -> RunReport {
        let mut report = RunReport {
            label: label.to_owned(),
            title: format!("run of {}", dir.header.started_at),
            command: dir.header.arguments.join(" "),
            facts: dir.header.target.clone(),
            seconds: dir.seconds.clone(),
            totals: Vec::new(),
            phase_names: Vec::new(),
            counters: Vec::new(),
            analysed_phase: 0,
            steady: None,
            steady_round_s: 60.0,
            cliff: None,
            ending: RunEnding::Interrupted,
            checks: Vec::new(),
            premises: Vec::new(),
            notes: vec![format!(
                "started at {}, seed {}",
                dir.header.started_at, dir.header.seed
            )],
        };
        match &dir.result {
            Some(result) => report.take(result),
            None => {
                report.ending = RunEnding::Failed("cut off before its result was written".into());
            }
        }
        report
    }

    fn take(&mut self, result: &RunResult) {
        self.ending = result.ending.clone();
        self.checks = result
            .checks
            .iter()
            .map(|row| SelfCheck {
                name: row.name.clone(),
                failure: row.detail.clone(),
            })
            .collect();
        self.counters = result
            .phases
            .iter()
            .filter_map(|p| p.counters.clone())
            .collect();
        self.phase_names = super::phase_names(&result.jobs);
        if let Some(phase) = result.last_phase() {
            self.analysed_phase = phase.phase;
            self.steady.clone_from(&phase.steady_state);
            self.steady_round_s = phase.round_s as f64;
            self.cliff.clone_from(&phase.write_cliff);
        }
        for job in &result.jobs {
            for op in &job.ops {
                self.add(job, op);
            }
        }
    }

    /// Adds a job's totals to its phase's. Percentiles of several jobs cannot be added: the
    /// largest is shown, which bounds the joint one from above.
    fn add(&mut self, job: &JobResult, result: &OpResult) {
        let Some(op) = Op::ALL.into_iter().find(|op| op.name() == result.op) else {
            return;
        };
        let percentile = |percent: f64| {
            let exact = result
                .latency
                .percentiles
                .iter()
                .find(|p| p.percent == percent);
            exact.map_or(0, |p| p.ns)
        };
        let more = OpTotals {
            phase: job.phase,
            op,
            count: result.count,
            bytes: result.bytes,
            errors: result.errors,
            length_s: job.length_ns as f64 / 1e9,
            mean_ns: result.latency.mean_ns,
            p50_ns: percentile(50.0),
            p99_ns: percentile(99.0),
            p999_ns: percentile(99.9),
            max_ns: result.latency.max_ns,
        };
        match self
            .totals
            .iter_mut()
            .find(|t| t.phase == job.phase && t.op == op)
        {
            None => self.totals.push(more),
            Some(totals) => {
                let count = (totals.count + more.count).max(1) as f64;
                totals.mean_ns = (totals.mean_ns * totals.count as f64
                    + more.mean_ns * more.count as f64)
                    / count;
                totals.count += more.count;
                totals.bytes += more.bytes;
                totals.errors += more.errors;
                totals.length_s = totals.length_s.max(more.length_s);
                totals.p50_ns = totals.p50_ns.max(more.p50_ns);
                totals.p99_ns = totals.p99_ns.max(more.p99_ns);
                totals.p999_ns = totals.p999_ns.max(more.p999_ns);
                totals.max_ns = totals.max_ns.max(more.max_ns);
            }
        }
    }
}
