//! The experiment: loads and pauses on a target, as short as what they show allows.

use super::levels::{LevelDrop, RateLevel, drop_of, is_lower};
use super::record::{AccountRecord, RateSeries, SeriesPurpose};
use super::start::{drop_at_start, early_level};
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

/// Commands outstanding: as many as Linux queues for a device. They keep a slow limiter busy while
/// a busy host does not run us; more would wait in threads of the kernel, which it does not run
/// either.
pub const ACCOUNT_DEPTH: u32 = 128;
/// Of large ones: they take a slow target long enough.
const DEPTH_LARGE: u32 = 32;
/// The small command, the one that tells operations from bytes, and the large one.
const BLOCKS: (u32, u32, u32) = (4096, 16 << 10, 256 << 10);
/// A drop is looked for this often, s.
const LOOK_S: usize = 5;

/// How long the parts of the experiment are, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccountLengths {
    /// A load before the drain.
    early_s: u64,
    /// Another load after the drop.
    late_s: u64,
    /// At the lower level before a drain ends.
    after_s: usize,
    /// Pauses.
    pauses_s: [u64; 2],
    /// A load after a pause, beyond what it should have earned.
    beyond_s: f64,
    /// The shortest and the longest load after a pause.
    recovery_s: (f64, f64),
}

impl AccountLengths {
    /// As `qualify` does.
    pub const STANDARD: AccountLengths = AccountLengths {
        early_s: 6,
        late_s: 12,
        after_s: 30,
        pauses_s: [30, 90],
        beyond_s: 10.0,
        recovery_s: (15.0, 900.0),
    };
    /// About a minute beside the burst; intervals are wider.
    pub const BRIEF: AccountLengths = AccountLengths {
        early_s: 5,
        late_s: 6,
        after_s: 8,
        pauses_s: [4, 10],
        beyond_s: 4.0,
        recovery_s: (6.0, 30.0),
    };
}

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
    /// How long its parts are.
    pub lengths: AccountLengths,
}

/// Collects rates, and ends the run once they have dropped and stay.
struct DropWatch<'a> {
    op: Op,
    rates: Vec<f64>,
    /// Seconds at the lower level after which it ends; `None`: a drop does not end it.
    after_s: Option<usize>,
    /// The level before it began, where there was one.
    early: Option<RateLevel>,
    commands_left: u64,
    ends: &'a AtomicBool,
    stop: &'a AtomicBool,
}

impl DropWatch<'_> {
    /// Whether the rate has dropped, in this load or as it began, and stayed.
    fn has_dropped(&self, after_s: usize) -> bool {
        if let Some(drop) = drop_of(&self.rates) {
            return drop.after.length >= after_s;
        }
        let settled = self.rates.get(1..).unwrap_or_default();
        let level = RateLevel::of(settled);
        settled.len() >= after_s
            && level.is_constant()
            && self
                .early
                .is_some_and(|early| is_lower(level.rate, early.rate))
    }
}

impl Observer for DropWatch<'_> {
    fn second(&mut self, second: &Second, _: &[Latencies]) -> Result<(), LabError> {
        let count = second.ops[self.op as usize].count;
        if second.length_s >= 1.0 {
            self.rates.push(count as f64);
        }
        self.commands_left = self.commands_left.saturating_sub(count);
        let looks = self.rates.len().is_multiple_of(LOOK_S);
        let after_s = self.after_s.filter(|_| looks);
        let dropped = after_s.is_some_and(|after_s| self.has_dropped(after_s));
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
        let (_, middle, _) = BLOCKS;
        AccountLoad {
            purpose,
            reads: false,
            block,
            depth: if block <= middle {
                ACCOUNT_DEPTH
            } else {
                DEPTH_LARGE
            },
            pause_s: 0,
        }
    }

    fn read(purpose: SeriesPurpose, block: u32) -> AccountLoad {
        AccountLoad {
            reads: true,
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
            after_s: until_drop.then_some(self.plan.lengths.after_s),
            early: early_level(&self.record, u64::from(load.block)),
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
        let drop = drop_of(&series.rates).or_else(|| drop_at_start(&self.record, &series));
        self.record.series.push(series);
        Ok(drop)
    }

    fn early(&mut self) -> Result<(), LabError> {
        let (small, middle, _) = BLOCKS;
        let length_s = self.plan.lengths.early_s;
        // What a queue holds back grows with it, what an account holds back does not.
        for depth in [ACCOUNT_DEPTH / 2, ACCOUNT_DEPTH] {
            let load = AccountLoad::read(SeriesPurpose::Early, small);
            self.run(AccountLoad { depth, ..load }, length_s)?;
        }
        self.run(AccountLoad::write(SeriesPurpose::Early, middle), length_s)
    }

    /// Other loads at the lower level, and pauses.
    fn late(&mut self, block: u32, drop: &LevelDrop) -> Result<(), LabError> {
        let (before, after) = (drop.before.rate, drop.after.rate);
        let lengths = self.plan.lengths;
        self.run(
            AccountLoad::read(SeriesPurpose::Late, block),
            lengths.late_s,
        )?;
        if self.record.reads_are_apart(drop) {
            // A drive: pauses would tell nothing more.
            return Ok(());
        }
        // A pause in which the credit fills up would earn less than its length says.
        let burst_s = if drop.second == 0 {
            self.record.before_s()
        } else {
            drop.second as f64
        };
        let fills_s = (before - after) * burst_s / after.max(1e-9);
        for pause_s in lengths.pauses_s {
            let pause_s = pause_s.min((fills_s / 2.0) as u64).max(1);
            let load = AccountLoad {
                pause_s,
                ..AccountLoad::write(SeriesPurpose::Recovery, block)
            };
            let lasts = after * pause_s as f64 / (before - after).max(1e-9);
            let (shortest, longest) = lengths.recovery_s;
            let longest = longest.min(self.plan.drain_s as f64).max(shortest);
            let length_s = (1.2 * lasts + lengths.beyond_s).clamp(shortest, longest);
            self.run(load, length_s as u64)?;
        }
        let (small, middle, _) = BLOCKS;
        let second_block = if block == small { middle } else { block / 2 };
        self.run(
            AccountLoad::write(SeriesPurpose::Late, second_block),
            lengths.late_s,
        )
    }
}

/// Goes on where loads in which the rate dropped end: `seen` has them.
///
/// # Errors
/// When the target fails, the region does not fit, or nothing dropped in what was seen.
pub fn measure_after<T: Target>(
    target: &mut T,
    plan: AccountPlan,
    seen: AccountRecord,
    stop: &AtomicBool,
) -> Result<AccountRecord, LabError> {
    let Some((block, drop)) = seen.dropped() else {
        return Err(LabError::refused("no rate has dropped", ""));
    };
    let mut bench = AccountBench {
        target,
        plan,
        stop,
        record: seen,
    };
    bench.late(block, &drop)?;
    Ok(bench.record)
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
