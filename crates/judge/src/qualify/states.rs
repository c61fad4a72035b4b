//! The later states of a real drive.
//!
//! A model is overwritten to the end ([`super::overwrite`]). A real drive is overwritten as far as
//! the profile goes; right afterwards its durable writes are measured again (*worst case*), then,
//! after a pause, the role's loads run on it as they do on a model ([`super::loads`]), in a region
//! of the load's size or of what the target has (*used*). The pause is shorter than a model's hour
//! and is reported with the result.

use super::loads::{CommitStream, RoleLoad, UsedRun};
use super::overwrite::DurableRun;
use super::plans::QualifyRegion;
use super::settings::QualifyProfile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_base::latencies::{Latencies, latencies};
use ssdlab_bench::device::{Target, TargetCompletion};
use ssdlab_ssd::Nanos;
use std::sync::atomic::{AtomicBool, Ordering};

/// What was measured of a real drive after the profile's random writes.
#[derive(Clone, Debug, Default, Serialize, JsonSchema, Deserialize, PartialEq)]
pub struct LaterStates {
    /// Durable writes right after the random writes, by method; `before` is the fresh rate.
    pub worst: Vec<DurableRun>,
    /// Idle time before each of the role's loads, s.
    pub idle_s: f64,
    /// Bytes within which the loads stay, at most.
    pub region_bytes: u64,
    /// The role's loads.
    pub used: Vec<UsedRun>,
}

impl LaterStates {
    /// The run of this load.
    pub fn used(&self, load: &str) -> Option<&UsedRun> {
        self.used.iter().find(|run| run.load == load)
    }

    /// Durable writes by this method right after the random writes.
    pub fn worst_case(&self, method: &str) -> Option<&DurableRun> {
        self.worst.iter().find(|run| run.method == method)
    }
}

/// How long each part of a load takes, s.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadDurations {
    /// Idle before it.
    pub idle_s: f64,
    /// Commits that are not measured: at most one round of the region.
    pub round_s: f64,
    /// Commits that are measured.
    pub measured_s: f64,
}

impl LoadDurations {
    pub const fn of(profile: QualifyProfile) -> LoadDurations {
        let (idle_s, round_s, measured_s) = match profile {
            QualifyProfile::Quick => (3.0, 2.0, 3.0),
            QualifyProfile::Standard => (60.0, 60.0, 30.0),
            QualifyProfile::Full => (600.0, 300.0, 120.0),
        };
        LoadDurations {
            idle_s,
            round_s,
            measured_s,
        }
    }

    pub fn total_s(self) -> f64 {
        self.idle_s + self.round_s + self.measured_s
    }
}

/// A load, where it goes and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedLoad {
    pub load: &'static RoleLoad,
    pub region: QualifyRegion,
    pub durations: LoadDurations,
}

impl PlannedLoad {
    /// Bytes in which it stays.
    pub fn region_bytes(&self) -> u64 {
        self.load.region.min(self.region.bytes)
    }
}

fn seconds(s: f64) -> Nanos {
    Nanos((s * 1e9) as u64)
}

struct TargetLoad<'a, T: Target> {
    target: &'a mut T,
    stream: CommitStream,
    completions: Vec<TargetCompletion>,
    stop: &'a AtomicBool,
}

/// Commits one after the other.
struct CommitSeries {
    times: Latencies,
    longest_ns: u64,
    bytes: u64,
    took: Nanos,
}

impl<T: Target> TargetLoad<'_, T> {
    /// Leaves the target idle, a second at a time.
    fn idle(&mut self, time: Nanos) -> Result<(), LabError> {
        let until = self.target.now() + time;
        while !self.stopped() && self.target.now() < until {
            let second = self.target.now() + Nanos::from_secs(1);
            let next = Nanos(second.0.min(until.0));
            self.target.reap(Some(next), &mut self.completions)?;
        }
        self.completions.clear();
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// One commit: its bytes, and how long it took, ns.
    fn commit(&mut self) -> Result<(u64, u64), LabError> {
        let commit = self.stream.next();
        let mut began = None;
        let mut ended = Nanos::ZERO;
        for command in commit.commands(self.stream.load) {
            self.completions.clear();
            self.target.submit(0, &command)?;
            while self.completions.is_empty() {
                self.target.reap(None, &mut self.completions)?;
            }
            let completion = self.completions[0];
            if completion.errno != 0 {
                let problem = format!("a commit failed with error {}", completion.errno);
                return Err(LabError::refused(problem, "see the kernel's log"));
            }
            began.get_or_insert(completion.submitted);
            ended = completion.done;
        }
        let took = ended.0 - began.map_or(ended.0, |began| began.0);
        Ok((commit.bytes, took))
    }

    /// Commits until `bytes_max` bytes are written, or the time is over.
    fn commits(&mut self, bytes_max: u64, time: Nanos) -> Result<CommitSeries, LabError> {
        let start = self.target.now();
        let mut series = CommitSeries {
            times: latencies(),
            longest_ns: 0,
            bytes: 0,
            took: Nanos::ZERO,
        };
        while series.bytes < bytes_max && series.took < time && !self.stopped() {
            let (bytes, ns) = self.commit()?;
            series.bytes += bytes;
            series.times.saturating_record(ns);
            series.longest_ns = series.longest_ns.max(ns);
            series.took = self.target.now() - start;
        }
        Ok(series)
    }
}

/// Runs a role's load on a target that the profile has overwritten; `None` when it was stopped
/// before anything was measured.
///
/// # Errors
/// When the target or a commit fails.
pub(super) fn used<T: Target>(
    target: &mut T,
    plan: &PlannedLoad,
    stop: &AtomicBool,
) -> Result<Option<UsedRun>, LabError> {
    let bytes = plan.region_bytes();
    let mut bench = TargetLoad {
        target,
        stream: CommitStream::new(plan.load, plan.region.offset, bytes, plan.region.seed),
        completions: Vec::new(),
        stop,
    };
    bench.idle(seconds(plan.durations.idle_s))?;
    bench.commits(bytes, seconds(plan.durations.round_s))?;
    let series = bench.commits(u64::MAX, seconds(plan.durations.measured_s))?;
    let count = series.times.len();
    if count == 0 {
        return Ok(None);
    }
    let quantile = |q| series.times.value_at_quantile(q).min(series.longest_ns);
    Ok(Some(UsedRun {
        load: plan.load.name.to_owned(),
        per_second: count as f64 / series.took.as_secs_f64().max(1e-9),
        count,
        p50_ns: quantile(0.5),
        p99_ns: quantile(0.99),
        max_ns: series.longest_ns,
        commit_bytes: series.bytes as f64 / count as f64,
    }))
}
