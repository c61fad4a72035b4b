//! The life itself: fill, then load, with samples on the way.

use super::machine::LifeDrive;
use super::result::{LoadBaseline, LoadLatency, Simulation};
use super::sample::{LifePhase, LifeSample, PhaseEnd, Sampler};
use super::{LoadEnd, Prefill, SimulationGear, SimulationPlan};
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_load::synthetic::{SyntheticCommands, SyntheticLoad};
use ssdlab_ssd::{Bytes, Command, CountingDrive, Drive, DriveCounters, Nanos, Op};
use ssdlab_view::units;
use std::sync::atomic::{AtomicBool, Ordering};

/// Commands between two looks at the clock, the progress and the stop flag.
const BATCH: usize = 4096;
/// Samples of a life.
const SAMPLES: u64 = 400;

/// How far a life is.
#[derive(Clone, Copy, Debug)]
pub struct LifeProgress {
    /// `fill` or `load`.
    pub phase: LifePhase,
    /// Share of the phase that is done, 0 to 1.
    pub done: f64,
    /// Bytes written by the host in this life.
    pub host_bytes: u64,
    /// WAF of the phase so far.
    pub waf: Option<f64>,
    /// Virtual time; zero in the counting gear.
    pub now: Nanos,
    /// Commands of this life.
    pub commands: u64,
}

/// Sees how a life goes.
pub trait LifeObserver {
    /// Called every few thousand commands.
    fn progress(&mut self, progress: &LifeProgress);
}

/// Nobody looks.
pub struct NullLifeObserver;

impl LifeObserver for NullLifeObserver {
    fn progress(&mut self, _: &LifeProgress) {}
}

/// What ran, and the drive afterwards.
pub struct SimulatedLife {
    /// What came out.
    pub simulation: Simulation,
    /// Its samples.
    pub samples: Vec<LifeSample>,
    /// The drive, where it can be saved: in the timed gear.
    pub drive: Option<Drive>,
}

impl SimulatedLife {
    /// Description of the drive that is left, to be saved with it; `before` is that of the drive
    /// that the life began with.
    pub fn about(&self, plan: &SimulationPlan, before: Option<SavedDriveInfo>) -> SavedDriveInfo {
        let s = &self.simulation;
        let mut history = plan.history.clone();
        history.push(format!(
            "fill {}; {} of {} QD{}, {} written, seed {}",
            s.fill,
            s.load,
            Bytes(s.block.into()),
            plan.depth,
            units::decimal_bytes(s.host_bytes as f64),
            s.seed
        ));
        SavedDriveInfo {
            name: plan.name.clone(),
            title: plan.title.clone(),
            settings: plan.settings.clone(),
            rests_on: plan.rests_on.clone(),
            attributes: plan.attributes,
            history,
            // A life that something else followed is not that life any more.
            lived: None,
            // Its age and interface are those that it had.
            ..before.unwrap_or_default()
        }
    }
}

/// Lives `plan`. Begins with `from`, or with a drive fresh from the factory.
///
/// # Errors
/// When the plan is not possible.
pub fn live(
    plan: &SimulationPlan,
    from: Option<Drive>,
    watch: &mut dyn LifeObserver,
    stop: &AtomicBool,
) -> Result<SimulatedLife, LabError> {
    plan.validate()?;
    let refused = |error: ssdlab_ssd::ConfigError| {
        LabError::refused(error.to_string(), "see `ssdlab drives show`")
    };
    match plan.gear {
        SimulationGear::Counting => {
            let drive = CountingDrive::new(plan.config.clone()).map_err(refused)?;
            let (life, _) = LifeRunner::run(plan, drive, watch, stop)?;
            Ok(life)
        }
        SimulationGear::Timed => {
            let drive = match from {
                Some(drive) => drive,
                None => Drive::new(plan.config.clone()).map_err(refused)?,
            };
            let timed = super::machine::TimedLifeDrive::new(drive, plan.depth);
            let (mut life, timed) = LifeRunner::run(plan, timed, watch, stop)?;
            life.drive = Some(timed.into_drive());
            Ok(life)
        }
    }
}

struct LifeRunner<'a, M> {
    plan: &'a SimulationPlan,
    machine: M,
    watch: &'a mut dyn LifeObserver,
    stop: &'a AtomicBool,
    sampler: Sampler,
    commands: u64,
    slot_bytes: u32,
    /// Counters when the life began.
    first: DriveCounters,
}

impl<M: LifeDrive> LifeRunner<'_, M> {
    fn run(
        plan: &SimulationPlan,
        machine: M,
        watch: &mut dyn LifeObserver,
        stop: &AtomicBool,
    ) -> Result<(SimulatedLife, M), LabError> {
        let mut life = LifeRunner {
            plan,
            first: machine.counters().clone(),
            slot_bytes: plan.config.geometry().slot_bytes,
            sampler: Sampler::new(plan, &machine),
            machine,
            watch,
            stop,
            commands: 0,
        };
        life.fill()?;
        let at_load = life.machine.counters().clone();
        let load_began = life.machine.now();
        let busy = life.machine.busy_by_purpose();
        let energy = life.machine.energy_nj();
        let mut commands = SyntheticCommands::new(&plan.load, plan.span_bytes())?;
        let capacity = plan.config.user_bytes;
        let end = match plan.until {
            LoadEnd::Drives(writes) => PhaseEnd::Bytes((writes * capacity as f64) as u64),
            LoadEnd::Bytes(bytes) => PhaseEnd::Bytes(bytes),
            LoadEnd::Time(time) => PhaseEnd::Time(time),
        };
        let before = life.commands;
        life.phase(LifePhase::Load, &mut commands, end)?;
        let count = life.commands - before;
        let LifeRunner {
            machine,
            mut sampler,
            first,
            commands,
            ..
        } = life;
        sampler.flush(LifePhase::Load, &machine);
        let part = LoadBaseline {
            counters: at_load,
            began: load_began,
            busy,
            energy_nj: energy,
            commands: count,
        };
        let mut simulation = Simulation::new(plan, &machine, &part, &sampler.samples);
        simulation.latency = LoadLatency::of(&sampler.load_latencies);
        simulation.stopped = stop.load(Ordering::Relaxed);
        simulation.checks = checks(&machine, &first, commands);
        let lived = SimulatedLife {
            simulation,
            samples: sampler.samples,
            drive: None,
        };
        Ok((lived, machine))
    }

    fn fill(&mut self) -> Result<(), LabError> {
        let (pattern, block) = match self.plan.fill {
            Prefill::None => return Ok(()),
            Prefill::Sequential => (
                ssdlab_load::synthetic::SyntheticPattern::Sequential,
                self.plan.fill_block(),
            ),
            Prefill::Random => return self.fill_at_random(),
        };
        let load = SyntheticLoad {
            pattern,
            block,
            read_pct: 0,
            trim_pct: 0,
            seed: 0,
        };
        let span = self.plan.span_bytes();
        let mut commands = SyntheticCommands::new(&load, span)?;
        let whole = span / u64::from(block) * u64::from(block);
        self.phase(LifePhase::Fill, &mut commands, PhaseEnd::Bytes(whole))?;
        // The rest at the end.
        if whole < span && !self.stopped() {
            let tail = Command::write(whole, (span - whole) as u32);
            self.give(LifePhase::Fill, &[tail]);
        }
        self.machine.settle(&mut self.sampler.latencies);
        self.sampler.flush(LifePhase::Fill, &self.machine);
        Ok(())
    }

    /// Every mapping unit once, in random order.
    fn fill_at_random(&mut self) -> Result<(), LabError> {
        let slot = u64::from(self.plan.config.shape.slot_bytes);
        let span = self.plan.span_bytes();
        let slots = span / slot;
        let mut rng = ssdlab_ssd::rng::Rng::named(self.plan.load.seed, "simulate: fill");
        let order = ssdlab_load::permutation::Permutation::new(slots, &mut rng);
        let end = PhaseEnd::Bytes(span);
        self.sampler.begin(&self.machine, end, slot as u32, 40);
        let mut batch = Vec::with_capacity(BATCH);
        for first in (0..slots).step_by(BATCH) {
            if self.stopped() {
                break;
            }
            batch.clear();
            let part = first..(first + BATCH as u64).min(slots);
            batch.extend(part.map(|n| Command::write(order.at(n) * slot, slot as u32)));
            self.give(LifePhase::Fill, &batch);
            self.report(LifePhase::Fill, first as f64 / slots as f64);
        }
        self.machine.settle(&mut self.sampler.latencies);
        self.sampler.flush(LifePhase::Fill, &self.machine);
        Ok(())
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn give(&mut self, phase: LifePhase, batch: &[Command]) {
        self.machine.run(batch, &mut self.sampler.latencies);
        self.commands += batch.len() as u64;
        self.sampler.look(phase, &self.machine, batch.len());
    }

    fn phase(
        &mut self,
        phase: LifePhase,
        commands: &mut SyntheticCommands,
        end: PhaseEnd,
    ) -> Result<(), LabError> {
        let began = self.machine.now();
        let through = self.plan.write_through && phase == LifePhase::Load;
        let (block, samples) = (
            commands.block(),
            if phase == LifePhase::Load {
                SAMPLES
            } else {
                40
            },
        );
        self.sampler.begin(&self.machine, end, block, samples);
        let mut batch = Vec::with_capacity(BATCH);
        // Counters of the host run behind in the timed gear: what has been asked for counts.
        let mut requested = 0;
        while !self.stopped() {
            let instant = self.machine.now();
            let (share, remaining) = match end {
                PhaseEnd::Bytes(bytes) => {
                    (requested as f64 / bytes.max(1) as f64, bytes - requested)
                }
                PhaseEnd::Time(time) => {
                    let passed = Nanos(instant.0 - began.0);
                    (
                        passed.0 as f64 / time.0.max(1) as f64,
                        time.0.saturating_sub(passed.0),
                    )
                }
            };
            self.report(phase, share);
            if remaining == 0 {
                break;
            }
            batch.clear();
            let most = self.sampler.batch(BATCH);
            while batch.len() < most {
                let mut command = commands.command();
                command.fua |= through && command.op == Op::Write;
                if let PhaseEnd::Bytes(bytes) = end {
                    if requested >= bytes {
                        break;
                    }
                    let writes = command.op == Op::Write;
                    requested += if writes { u64::from(command.len) } else { 0 };
                    requested = requested.min(bytes);
                }
                batch.push(command);
            }
            self.give(phase, &batch);
        }
        self.machine.settle(&mut self.sampler.latencies);
        Ok(())
    }

    fn report(&mut self, phase: LifePhase, share_done: f64) {
        let counters = self.machine.counters();
        self.watch.progress(&LifeProgress {
            phase,
            done: share_done.min(1.0),
            host_bytes: counters.host_bytes_written - self.first.host_bytes_written,
            waf: counters.waf_since(self.sampler.phase_began(), self.slot_bytes),
            now: self.machine.now(),
            commands: self.commands,
        });
    }
}

/// The self-checks of a life.
fn checks<M: LifeDrive>(machine: &M, first: &DriveCounters, commands: u64) -> Vec<SelfCheck> {
    let counters = machine.counters();
    let sum = |c: &DriveCounters| c.host_reads + c.host_writes + c.host_trims + c.host_flushes;
    let served = sum(counters) - sum(first);
    let mut checks = vec![
        SelfCheck::new("drive", machine.check()),
        SelfCheck::new(
            "every command served",
            if served == commands {
                Ok(())
            } else {
                Err(format!("{commands} given, {served} served"))
            },
        ),
    ];
    if let Some(little) = machine.littles_law() {
        checks.push(SelfCheck::new("Little's law", little));
    }
    checks
}
