//! Carrying out experiments: what each does to the target, and the figures that it yields.

use super::figures::{ExperimentFigure, ExperimentFigures};
use super::kinds::{AFTER_IDLE, ExperimentKind};
use ssdlab_base::LabError;
use ssdlab_bench::device::Target;
use ssdlab_bench::engine::{self, Unobserved};
use ssdlab_bench::record::{JobRecord, RunEnding, RunRecord};
use ssdlab_load::plan::{
    BlockSize, Distribution, JobRateLimits, JobSpec, JobTiming, Language, Mix, Order, PlanPhase,
    WorkloadPlan, WriteDurability,
};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Nanos, Op};
use std::sync::atomic::AtomicBool;

/// Bytes of a small command.
const SMALL: u32 = 4 << 10;
/// Bytes of a large command.
pub const LARGE: u32 = 128 << 10;
/// Commands outstanding where a queue is kept.
const DEPTH: u32 = 32;
/// Most commands outstanding in any experiment.
pub const DEPTH_MAX: u32 = DEPTH + 1;
/// Single commands of one measurement: small ones, and large ones.
const SINGLES: u64 = 300;
const SINGLES_LARGE: u64 = 60;
/// Pause after each single write of 4 KiB, in which the buffer drains; the pause after a larger one
/// is as many times as long.
const PAUSE: Nanos = Nanos::from_millis(2);
/// Rest after a load at depth, before anything else is measured: a full write buffer of a slow
/// drive takes seconds to drain.
const SETTLE: Nanos = Nanos::from_secs(10);
/// Bursts of as many commands as are outstanding, which any write buffer takes.
const BURSTS: usize = 25;
/// Bytes in which the map of a few places fits into any cache of it.
const NEAR: u64 = 2 << 20;
/// Longest measurement of a load at depth, and its share that warms up.
const LOAD: Nanos = Nanos::from_secs(8);
const WARM: Nanos = Nanos::from_secs(2);
/// Rest after which a drive has done in the background what it has to do.
const IDLE: Nanos = Nanos::from_secs(30);

/// Where and how experiments run.
pub struct ExperimentBench<'a, T: Target> {
    /// The target.
    pub target: &'a mut T,
    /// Bytes used, from its start.
    pub bytes: u64,
    /// Seed of every random stream.
    pub seed: u64,
    /// Ends an experiment early.
    pub stop: &'a AtomicBool,
    /// It may still be busy with earlier writes.
    pub busy: bool,
}

fn in_order() -> Order {
    Order::Sequential {
        stride: None,
        start_step: 0,
        split_positions: false,
    }
}

fn timed(run: Nanos, ramp: Nanos) -> JobTiming {
    JobTiming {
        ramp,
        run: Some(run),
        time_based: true,
        cool_down: Nanos::ZERO,
        delay: Nanos::ZERO,
    }
}

impl<T: Target> ExperimentBench<'_, T> {
    fn random(&self, name: &str, mix: Mix, block: u32) -> JobSpec {
        JobSpec {
            name: name.to_owned(),
            mix,
            order: Order::Random {
                align: u64::from(block),
                distribution: Distribution::Uniform,
                each_once: false,
            },
            block_sizes: BlockSize::always(block),
            region: Some(self.bytes / u64::from(LARGE) * u64::from(LARGE)),
            seed: Rng::named(self.seed, name).next_u64(),
            ..JobSpec::default()
        }
    }

    fn run(&mut self, jobs: Vec<JobSpec>) -> Result<RunRecord, LabError> {
        let plan = WorkloadPlan {
            language: Language::Ssdlab,
            phases: vec![PlanPhase { jobs }],
        };
        let record = engine::run(&plan, self.target, &mut Unobserved, self.stop)?;
        let failed = record.failed_checks();
        match &record.ending {
            RunEnding::Complete if failed.is_empty() => Ok(record),
            RunEnding::Complete => Err(LabError::SelfCheck(failed.join("; "))),
            RunEnding::Interrupted => Err(LabError::refused("stopped", "")),
            RunEnding::Failed(why) => Err(LabError::refused(
                format!("the target failed in an experiment: {why}"),
                "",
            )),
        }
    }

    fn one(&mut self, job: JobSpec) -> Result<JobRecord, LabError> {
        let mut record = self.run(vec![job])?;
        Ok(record.jobs.remove(0))
    }

    fn rest(&mut self, time: Nanos) -> Result<(), LabError> {
        let until = self.target.now() + time;
        self.target.reap(Some(until), &mut Vec::new())
    }

    /// Median time of a single command, ns.
    fn singles(
        &mut self,
        name: &str,
        mix: Mix,
        block: u32,
        durability: WriteDurability,
    ) -> Result<f64, LabError> {
        let mut job = self.random(name, mix, block);
        let count = if block == SMALL {
            SINGLES
        } else {
            SINGLES_LARGE
        };
        job.io_limit = Some(count * u64::from(block));
        job.durability = durability;
        if mix == Mix::Write {
            job.pace = JobRateLimits {
                think: Nanos(PAUSE.0 * u64::from(block / SMALL)),
                ..JobRateLimits::default()
            };
        }
        job.time.run = Some(LOAD);
        let op = if mix == Mix::Read {
            Op::Read
        } else {
            Op::Write
        };
        let record = self.one(job)?;
        Ok(record.ops[op as usize].quantile_ns(0.5) as f64)
    }

    /// Mean time between commands of a load at depth, ns.
    fn at_depth(&mut self, mut job: JobSpec) -> Result<f64, LabError> {
        job.depth = DEPTH;
        if job.io_limit.is_none() {
            job.time = timed(LOAD, WARM);
        }
        Ok(per_command(&self.one(job)?))
    }

    /// Carries out an experiment and enters its figures.
    ///
    /// # Errors
    /// When the target fails, does not take the commands, or the run is stopped.
    pub fn carry_out(
        &mut self,
        experiment: ExperimentKind,
        figures: &mut ExperimentFigures,
    ) -> Result<(), LabError> {
        let plain = WriteDurability::default();
        if std::mem::take(&mut self.busy) {
            self.rest(SETTLE)?;
        }
        let loads = [
            ExperimentKind::Overwrite,
            ExperimentKind::Beside,
            ExperimentKind::Rewrite,
        ];
        self.busy = loads.contains(&experiment) || experiment == ExperimentKind::Idle;
        let mut enter = |figure, value| figures.enter(figure, value);
        match experiment {
            ExperimentKind::Reads => {
                enter(
                    ExperimentFigure::Read,
                    self.singles("reads", Mix::Read, SMALL, plain)?,
                );
                let job = self.random("reads at depth", Mix::Read, SMALL);
                enter(ExperimentFigure::ReadAtDepth, self.at_depth(job)?);
            }
            ExperimentKind::Singles => {
                enter(
                    ExperimentFigure::Write,
                    self.singles("writes", Mix::Write, SMALL, plain)?,
                );
                let large = self.singles("large writes", Mix::Write, LARGE, plain)?;
                enter(ExperimentFigure::WriteLarge, large);
            }
            ExperimentKind::Bursts => enter(ExperimentFigure::Burst, self.bursts()?),
            ExperimentKind::Durable => {
                let durable = WriteDurability { fua: true, ..plain };
                let latency_ns = self.singles("durable writes", Mix::Write, SMALL, durable)?;
                enter(ExperimentFigure::Durable, latency_ns);
            }
            ExperimentKind::Near => self.near(figures)?,
            ExperimentKind::ReadBack => enter(ExperimentFigure::ReadBack, self.read_back()?),
            ExperimentKind::LargeReads => {
                let latency_ns = self.singles("large reads", Mix::Read, LARGE, plain)?;
                enter(ExperimentFigure::ReadLarge, latency_ns);
            }
            ExperimentKind::Overwrite => {
                let job = self.random("overwrite", Mix::Write, SMALL);
                enter(ExperimentFigure::Overwrite, self.at_depth(job)?);
            }
            ExperimentKind::Beside => self.beside(figures)?,
            ExperimentKind::Rewrite => self.rewrite(figures)?,
            ExperimentKind::Idle => {
                self.rest(IDLE)?;
                let mut job = self.random("after idle", Mix::Write, LARGE);
                job.order = in_order();
                job.io_limit = Some(AFTER_IDLE);
                self.at_depth(job.clone())?;
                job.offset = AFTER_IDLE;
                job.region = Some(AFTER_IDLE);
                enter(ExperimentFigure::AfterIdle, self.at_depth(job)?);
            }
        }
        Ok(())
    }

    fn bursts(&mut self) -> Result<f64, LabError> {
        let mut times_ns = Vec::new();
        for number in 0..BURSTS {
            self.rest(Nanos(PAUSE.0 * u64::from(DEPTH)))?;
            let mut job = self.random(&format!("burst {number}"), Mix::Write, SMALL);
            job.io_limit = Some(u64::from(DEPTH * SMALL));
            job.depth = DEPTH;
            let last = self.one(job)?.ops[Op::Write as usize].latency_ns_max;
            times_ns.push(last as f64 / f64::from(DEPTH));
        }
        times_ns.sort_by(f64::total_cmp);
        Ok(times_ns[BURSTS / 2])
    }

    fn read_back(&mut self) -> Result<f64, LabError> {
        let mut times_ns = Vec::new();
        for number in 0..BURSTS as u64 {
            self.rest(Nanos(PAUSE.0 * u64::from(DEPTH)))?;
            let mut job = self.random("written", Mix::Write, LARGE);
            job.order = in_order();
            job.offset = number * u64::from(LARGE);
            job.region = Some(u64::from(LARGE));
            self.one(job.clone())?;
            job.name = "read back".into();
            job.mix = Mix::Read;
            job.block_sizes = BlockSize::always(SMALL);
            job.depth = DEPTH;
            let last = self.one(job)?.ops[Op::Read as usize].latency_ns_max;
            times_ns.push(last as f64 / f64::from(DEPTH));
        }
        times_ns.sort_by(f64::total_cmp);
        Ok(times_ns[BURSTS / 2])
    }

    fn near(&mut self, figures: &mut ExperimentFigures) -> Result<(), LabError> {
        let region = NEAR.min(self.bytes);
        // Once through first: the map of the region is in its cache then.
        let mut warm = self.random("near, first", Mix::Read, LARGE);
        warm.order = in_order();
        warm.region = Some(region);
        self.one(warm)?;
        for (name, depth, figure) in [
            ("near", 1, ExperimentFigure::ReadNear),
            ("near at depth", DEPTH, ExperimentFigure::ReadNearAtDepth),
        ] {
            let mut job = self.random(name, Mix::Read, SMALL);
            job.region = Some(region);
            job.depth = depth;
            job.io_limit = Some(8 * SINGLES * u64::from(SMALL));
            job.time.run = Some(LOAD);
            figures.enter(figure, per_command(&self.one(job)?));
        }
        Ok(())
    }

    fn beside(&mut self, figures: &mut ExperimentFigures) -> Result<(), LabError> {
        let mut writer = self.random("beside, writes", Mix::Write, SMALL);
        writer.depth = DEPTH;
        let mut reader = self.random("beside, reads", Mix::Read, SMALL);
        for job in [&mut writer, &mut reader] {
            job.time = timed(LOAD, WARM);
        }
        let record = self.run(vec![writer, reader])?;
        let reads = &record.jobs[1].ops[Op::Read as usize];
        figures.enter(ExperimentFigure::ReadBeside, reads.mean_ns());
        figures.enter(
            ExperimentFigure::ReadBesideTail,
            reads.quantile_ns(0.99) as f64,
        );
        Ok(())
    }

    /// The whole region in order, and its first quarter again: the figure is that of this quarter,
    /// for which nothing has to be moved.
    fn rewrite(&mut self, figures: &mut ExperimentFigures) -> Result<(), LabError> {
        let quarter = self.bytes / 4 / u64::from(LARGE) * u64::from(LARGE);
        for part in [0, 1, 2, 3, 0] {
            let mut job = self.random("rewrite", Mix::Write, LARGE);
            job.order = in_order();
            job.offset = part * quarter;
            job.region = Some(quarter);
            job.io_limit = Some(quarter);
            let interval_ns = self.at_depth(job)?;
            figures.enter(ExperimentFigure::InOrder, interval_ns);
        }
        Ok(())
    }
}

fn per_command(job: &JobRecord) -> f64 {
    let count: u64 = job.ops.iter().map(|op| op.count).sum();
    job.length.0 as f64 / count.max(1) as f64
}
