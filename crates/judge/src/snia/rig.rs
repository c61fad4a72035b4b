//! Runs loads on a modelled drive and keeps what they measured.

use super::load::{SniaClass, SniaLoad, SniaSizes};
use super::result::{ResponseHistogram, SniaPoint};
use ssdlab_base::LabError;
use ssdlab_bench::device::ModelledTarget;
use ssdlab_bench::engine::{self, Observer};
use ssdlab_bench::record::{JobRecord, OpStats, RunEnding, RunRecord};
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_load::plan::{Language, WorkloadPlan};
use std::sync::atomic::{AtomicBool, Ordering};

/// A drive under test, and what was measured of it.
pub struct SniaRig<'a> {
    /// The drive as it comes.
    pub drive: &'a CatalogueDrive,
    /// Class of the tests.
    pub class: SniaClass,
    /// All times are divided by this.
    pub reduction: f64,
    /// Seed of the next load.
    pub seed: u64,
    /// Ends the test.
    pub stop: &'a AtomicBool,
    /// Sees every second.
    pub observer: &'a mut dyn Observer,
    /// The drive in its state.
    pub target: ModelledTarget,
    /// Every measured point.
    pub rows: Vec<SniaPoint>,
    /// Self-checks that failed.
    pub failures: Vec<String>,
}

impl SniaRig<'_> {
    /// Puts the drive back into the state in which it left the factory.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn purge(&mut self) -> Result<(), LabError> {
        self.target = ModelledTarget::new(self.drive, None)?;
        Ok(())
    }

    /// Workload-independent preconditioning: twice the capacity in sequential 128 KiB writes, all
    /// of the drive.
    ///
    /// # Errors
    /// When the drive fails.
    pub fn precondition(&mut self) -> Result<(), LabError> {
        let capacity = self.drive.config.user_bytes;
        let mut plan = WorkloadPlan::fill(capacity * 2);
        for job in plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
            job.block_sizes = ssdlab_load::plan::BlockSize::always(128 << 10);
            job.depth = 32;
            job.durability.fua = self.class == SniaClass::Enterprise;
        }
        self.record(&plan).map(|_| ())
    }

    /// The test is to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Runs `loads` one after the other as round `round` of `part`, and keeps a row of each.
    ///
    /// # Errors
    /// When the drive fails.
    pub fn round(&mut self, part: &str, round: usize, loads: &[SniaLoad]) -> Result<(), LabError> {
        let record = self.record(&self.plan(loads))?;
        self.seed += 1;
        for (job, load) in record.jobs.iter().zip(loads) {
            self.rows.push(row(part, round, load, job));
        }
        Ok(())
    }

    /// Runs `load` as one row, and keeps its response times.
    ///
    /// # Errors
    /// When the drive fails.
    pub fn histogram(
        &mut self,
        part: &str,
        load: &SniaLoad,
    ) -> Result<Option<ResponseHistogram>, LabError> {
        let record = self.record(&self.plan(&[*load]))?;
        self.seed += 1;
        let Some(job) = record.jobs.first() else {
            return Ok(None);
        };
        let row = row(part, 1, load, job);
        self.rows.push(row.clone());
        let stats = all_of(job);
        let percentile = |percent: f64| (percent, stats.quantile_ns(percent / 100.0));
        Ok(Some(ResponseHistogram {
            title: load.what(),
            row,
            percentiles_ns: [50.0, 99.0, 99.9, 99.99, 99.999].map(percentile).to_vec(),
            buckets: buckets(&stats),
        }))
    }

    /// The rows of `part`, round by round, that `load` gave; `value` of each.
    pub fn values(&self, part: &str, load: &SniaLoad, value: fn(&SniaPoint) -> f64) -> Vec<f64> {
        let is_of_load = |row: &&SniaPoint| {
            row.part == part
                && row.read_pct == load.read_pct
                && row.block_bytes == block_bytes(load)
                && row.threads == load.threads
                && row.depth == load.depth
        };
        self.rows.iter().filter(is_of_load).map(value).collect()
    }

    fn plan(&self, loads: &[SniaLoad]) -> WorkloadPlan {
        let phase = |(index, load): (usize, &SniaLoad)| {
            let seed = (self.seed << 20) + index as u64;
            load.phase(self.class, self.reduction, seed)
        };
        WorkloadPlan {
            language: Language::Ssdlab,
            phases: loads.iter().enumerate().map(phase).collect(),
        }
    }

    /// Runs a plan; failed self-checks are kept.
    ///
    /// # Errors
    /// When the drive fails.
    pub fn record(&mut self, plan: &WorkloadPlan) -> Result<RunRecord, LabError> {
        let record = engine::run(plan, &mut self.target, self.observer, self.stop)?;
        if let RunEnding::Failed(why) = &record.ending {
            return Err(LabError::refused(
                format!("the drive failed: {why}"),
                "choose a drive that does not come to its end",
            ));
        }
        let failed = record.failed_checks();
        self.failures.extend(failed.iter().map(ToString::to_string));
        Ok(record)
    }
}

/// Bytes of a load's commands; `None`: a mix.
pub fn block_bytes(load: &SniaLoad) -> Option<u32> {
    match load.sizes {
        SniaSizes::One(bytes) => Some(bytes),
        SniaSizes::Composite => None,
    }
}

/// Every command of a job.
fn all_of(job: &JobRecord) -> OpStats {
    let mut total = OpStats::default();
    for op in &job.ops {
        total.merge(op);
    }
    total
}

fn row(part: &str, round: usize, load: &SniaLoad, job: &JobRecord) -> SniaPoint {
    let stats = all_of(job);
    let length_s = job.length.as_secs_f64();
    let per_second = |n: u64| {
        if length_s > 0.0 {
            n as f64 / length_s
        } else {
            0.0
        }
    };
    SniaPoint {
        part: part.to_owned(),
        round,
        threads: load.threads,
        depth: load.depth,
        read_pct: load.read_pct,
        block_bytes: block_bytes(load),
        length_s,
        read_count: job.ops[0].count,
        write_count: job.ops[1].count,
        bytes: stats.bytes,
        iops: per_second(stats.count),
        bytes_per_second: per_second(stats.bytes),
        mean_ns: stats.mean_ns(),
        p99999_ns: stats.quantile_ns(0.99999),
        max_ns: stats.latency_ns_max,
    }
}

/// Commands by half octaves of latency: the bucket's shortest latency, and its commands.
fn buckets(all: &OpStats) -> Vec<(u64, u64)> {
    let mut buckets: Vec<(u64, u64)> = Vec::new();
    for bucket in all.latencies.iter_recorded() {
        let ns = bucket.value_iterated_to().max(1);
        let octave = 1_u64 << ns.ilog2();
        let low = if ns >= octave + octave / 2 {
            octave + octave / 2
        } else {
            octave
        };
        let count = bucket.count_since_last_iteration();
        match buckets.last_mut() {
            Some(last) if last.0 == low => last.1 += count,
            _ => buckets.push((low, count)),
        }
    }
    buckets
}
