//! The experiment: loads and pauses on a target, as short as what they show allows.

use super::levels::{LevelDrop, drop_of};
use super::record::{AccountRecord, RateSeries, SeriesPurpose};
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_bench::device::Target;
use ssdlab_bench::engine::{self, Observer};
use ssdlab_bench::record::{RunEnding, Second};
use ssdlab_load::plan::{
    BlockSize, Distribution, JobSpec, JobTiming, Language, Mix, Order, PlanPhase, WorkloadPlan,
};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Nanos, Op};
use std::sync::atomic::{AtomicBool, Ordering};

/// Commands outstanding.
const DEPTH: u32 = 32;
/// Twice as many: what a queue holds back grows with it, what an account holds back does not.
const DEEP: u32 = 64;
/// The small command, the one that tells operations from bytes, and the large one.
const BLOCKS: (u32, u32, u32) = (4096, 16 << 10, 256 << 10);
/// Seconds of a load beside the drain.
const BESIDE_S: u64 = 6;
/// A drop is looked for this often, s.
const LOOK_S: usize = 5;
/// Seconds at the lower level before a drain ends.
const AFTER_S: usize = 30;
/// Pauses, s.
const PAUSES_S: [u64; 2] = [30, 90];
/// The shortest and the longest load after a pause, s.
const RECOVERY_S: (f64, f64) = (15.0, 900.0);

/// Where the experiment goes, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct AccountPlan {
    /// First byte used.
    pub offset: u64,
    /// Bytes used.
    pub bytes: u64,
    /// A drain ends after this time, dropped or not.
    pub drain_s: u64,
    /// And after this number of commands.
    pub commands: u64,
    /// Seed of the addresses.
    pub seed: u64,
}

/// Collects rates, and ends the run once they have dropped and stay.
struct DropWatch<'a> {
    op: Op,
    rates: Vec<f64>,
    until_drop: bool,
    commands_left: u64,
    ends: &'a AtomicBool,
    stop: &'a AtomicBool,
}

impl Observer for DropWatch<'_> {
    fn second(&mut self, second: &Second, _: &[Latencies]) -> Result<(), LabError> {
        let count = second.ops[self.op as usize].count;
        if second.length_s >= 1.0 {
            self.rates.push(count as f64);
        }
        self.commands_left = self.commands_left.saturating_sub(count);
        let looks = self.until_drop && self.rates.len().is_multiple_of(LOOK_S);
        let drop = looks.then(|| drop_of(&self.rates)).flatten();
        let dropped = drop.is_some_and(|drop| drop.after.length >= AFTER_S);
        if dropped || self.commands_left == 0 || self.stop.load(Ordering::Relaxed) {
            self.ends.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

struct AccountBench<'a, T: Target> {
    target: &'a mut T,
    plan: AccountPlan,
    stop: &'a AtomicBool,
    record: AccountRecord,
}

/// One load.
#[derive(Clone, Copy)]
struct AccountLoad {
    purpose: SeriesPurpose,
    reads: bool,
    block: u32,
    depth: u32,
    pause_s: u64,
}

impl AccountLoad {
    fn write(purpose: SeriesPurpose, block: u32) -> AccountLoad {
        AccountLoad {
            purpose,
            reads: false,
            block,
            depth: DEPTH,
            pause_s: 0,
        }
    }

    fn read(purpose: SeriesPurpose, block: u32, depth: u32) -> AccountLoad {
        AccountLoad {
            reads: true,
            depth,
            ..AccountLoad::write(purpose, block)
        }
    }

    fn series(self) -> RateSeries {
        RateSeries {
            purpose: self.purpose,
            reads: self.reads,
            block: u64::from(self.block),
            depth: self.depth,
            pause_s: self.pause_s as f64,
            rates: Vec::new(),
        }
    }

    fn plan(self, plan: &AccountPlan, number: usize, length_s: u64) -> WorkloadPlan {
        let name = format!("account {number}");
        let job = JobSpec {
            mix: if self.reads { Mix::Read } else { Mix::Write },
            order: Order::Random {
                align: u64::from(self.block),
                distribution: Distribution::Uniform,
                each_once: false,
            },
            block_sizes: BlockSize::always(self.block),
            offset: plan.offset,
            region: Some(plan.bytes),
            depth: self.depth,
            time: JobTiming {
                run: Some(Nanos::from_secs(length_s)),
                time_based: true,
                ..JobTiming::default()
            },
            seed: Rng::named(plan.seed, &name).next_u64(),
            name,
            ..JobSpec::default()
        };
        WorkloadPlan {
            language: Language::Ssdlab,
            phases: vec![PlanPhase { jobs: vec![job] }],
        }
    }
}

impl<T: Target> AccountBench<'_, T> {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The rates of a load, whole seconds; it ends early where `until_drop` says so.
    fn rates(
        &mut self,
        load: AccountLoad,
        length_s: u64,
        until_drop: bool,
    ) -> Result<Vec<f64>, LabError> {
        let number = self.record.series.len();
        let plan = load.plan(&self.plan, number, length_s);
        let ends = AtomicBool::new(self.stopped());
        let mut watch = DropWatch {
            op: if load.reads { Op::Read } else { Op::Write },
            rates: Vec::new(),
            until_drop,
            commands_left: self.plan.commands,
            ends: &ends,
            stop: self.stop,
        };
        let record = engine::run(&plan, self.target, &mut watch, &ends)?;
        if let RunEnding::Failed(why) = record.ending {
            return Err(LabError::refused(format!("the target failed: {why}"), ""));
        }
        Ok(watch.rates)
    }

    /// Idles, then runs a load, and keeps its rates.
    fn run(&mut self, load: AccountLoad, length_s: u64) -> Result<(), LabError> {
        for _ in 0..load.pause_s {
            if self.stopped() {
                return Ok(());
            }
            let until = self.target.now() + Nanos::from_secs(1);
            self.target.reap(Some(until), &mut Vec::new())?;
        }
        let mut series = load.series();
        series.rates = self.rates(load, length_s, false)?;
        self.record.series.push(series);
        Ok(())
    }

    /// Writes until the rate has dropped and stays, or the time is over.
    fn drain(&mut self, block: u32) -> Result<Option<LevelDrop>, LabError> {
        let load = AccountLoad::write(SeriesPurpose::Drain, block);
        let mut series = load.series();
        series.rates = self.rates(load, self.plan.drain_s, true)?;
        let drop = drop_of(&series.rates);
        self.record.series.push(series);
        Ok(drop)
    }

    fn early(&mut self) -> Result<(), LabError> {
        let (small, middle, _) = BLOCKS;
        self.run(
            AccountLoad::read(SeriesPurpose::Early, small, DEPTH),
            BESIDE_S,
        )?;
        self.run(
            AccountLoad::read(SeriesPurpose::Early, small, DEEP),
            BESIDE_S,
        )?;
        self.run(AccountLoad::write(SeriesPurpose::Early, middle), BESIDE_S)
    }

    /// Other loads at the lower level, and pauses.
    fn late(&mut self, block: u32, drop: &LevelDrop) -> Result<(), LabError> {
        let (before, after) = (drop.before.rate, drop.after.rate);
        self.run(
            AccountLoad::read(SeriesPurpose::Late, block, DEPTH),
            2 * BESIDE_S,
        )?;
        // A pause in which the credit fills up would earn less than its length says.
        let fills_s = (before - after) * drop.second as f64 / after.max(1e-9);
        for pause_s in PAUSES_S {
            let pause_s = pause_s.min((fills_s / 2.0) as u64).max(1);
            let load = AccountLoad {
                pause_s,
                ..AccountLoad::write(SeriesPurpose::Recovery, block)
            };
            let lasts = after * pause_s as f64 / (before - after).max(1e-9);
            let length_s = (1.2 * lasts + 10.0).clamp(RECOVERY_S.0, RECOVERY_S.1);
            self.run(load, length_s as u64)?;
        }
        let (small, middle, _) = BLOCKS;
        let second_block = if block == small { middle } else { block / 2 };
        self.run(
            AccountLoad::write(SeriesPurpose::Late, second_block),
            2 * BESIDE_S,
        )
    }
}

/// Carries the experiment out.
///
/// # Errors
/// When the target fails or the region does not fit.
pub fn measure<T: Target>(
    target: &mut T,
    plan: AccountPlan,
    stop: &AtomicBool,
) -> Result<AccountRecord, LabError> {
    let mut bench = AccountBench {
        target,
        plan,
        stop,
        record: AccountRecord::default(),
    };
    let (small, _, large) = BLOCKS;
    bench.early()?;
    if let Some(drop) = bench.drain(small)? {
        bench.late(small, &drop)?;
    } else if let Some(drop) = bench.drain(large)? {
        bench.late(large, &drop)?;
    }
    Ok(bench.record)
}
