//! Heat, throttling and power states.
//!
//! ```text
//! commands, background work --> draw (idle, active, asleep)  \
//!                                                             > energy --> heat --> throttle
//! counters of the array, link, controller -------------------/
//! ```
//! Everything is computed when something happens, on a grid of 10 ms: the energy of an operation
//! counts in the step in which it was booked, and throttling changes from one step to the next.
//! Asking for the temperature changes nothing, so results do not depend on who looks when.
//!
//! Left out: differences of temperature within the drive, the temperature's effect on leakage and
//! on the media, and that an operation may end long after it was booked.

mod decay;
mod draw;
mod heat;

pub use heat::{HeatCounters, Throttle};

use crate::config::{DriveConfig, HeatConfig, ThrottleStep};
use crate::image::image_of;
use crate::units::Nanos;
use draw::Draw;
use heat::{Heat, Law, STEP};

/// Temperature and throttling of a drive at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeatReport {
    /// Composite temperature, mC.
    pub millicelsius: u64,
    /// Highest so far, mC.
    pub millicelsius_max: u64,
    /// Air, mC.
    pub ambient_millicelsius: u64,
    /// How much the drive slows down.
    pub throttle: Throttle,
    /// Since the drive was created.
    pub counters: HeatCounters,
    /// Energy that came in, nJ.
    pub energy_nj: u128,
    /// Of it, stored as heat above ambient, nJ.
    pub stored_nj: u128,
    /// Of it, gone to the air, nJ.
    pub dissipated_nj: u128,
}

/// Power states of a drive at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SleepReport {
    /// Time in non-operational power states.
    pub asleep: Nanos,
    /// Commands that found the drive in one.
    pub wakes: u64,
}

/// A law with the heat that obeys it.
#[derive(Clone, Debug)]
struct Body {
    law: Law,
    heat: Heat,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct Thermal {
    draw: Draw,
    body: Option<Body>,
    /// Energy of operations up to the last step, nJ, and since the beginning.
    seen_nj: u128,
    operations_nj: u128,
    /// Energy drawn otherwise up to the last step, pJ.
    drawn_pj: u128,
    /// Throttling has been taken away from this fork.
    relieved: bool,
}

image_of! {
    /// What of a [`Thermal`] is saved; the rest follows from the configuration.
    #[derive(Clone, Debug)]
    pub(super) struct ThermalState {
        draw: Draw,
        heat: Option<Heat>,
        seen_nj: u128,
        operations_nj: u128,
        drawn_pj: u128,
    }
}

impl Thermal {
    /// A drive at ambient temperature at `now`, whose operations have used `seen_nj` before; `None`
    /// for one whose draw never changes and whose temperature is not modelled.
    pub fn new(config: &DriveConfig, now: u64, seen_nj: u128) -> Option<Box<Thermal>> {
        let energy = &config.energy;
        if config.heat.is_none() && energy.states.is_empty() && energy.active_mw == 0 {
            return None;
        }
        let body = |heat: &HeatConfig| Body {
            law: Law::new(heat),
            heat: Heat::new(now),
        };
        let mut thermal = Thermal {
            draw: Draw::new(energy, now),
            body: config.heat.as_ref().map(body),
            seen_nj,
            operations_nj: 0,
            drawn_pj: 0,
            relieved: false,
        };
        // The grid begins at or before `now`.
        thermal.drawn_pj = thermal.draw.total_pj(now);
        Some(Box::new(thermal))
    }

    pub fn state(&self) -> ThermalState {
        ThermalState {
            draw: self.draw.clone(),
            heat: self.body.as_ref().map(|body| body.heat.clone()),
            seen_nj: self.seen_nj,
            operations_nj: self.operations_nj,
            drawn_pj: self.drawn_pj,
        }
    }

    pub fn restored(config: &DriveConfig, state: ThermalState) -> Box<Thermal> {
        let body = |(law, heat): (&HeatConfig, Heat)| Body {
            law: Law::new(law),
            heat,
        };
        Box::new(Thermal {
            draw: state.draw,
            body: config.heat.as_ref().zip(state.heat).map(body),
            seen_nj: state.seen_nj,
            operations_nj: state.operations_nj,
            drawn_pj: state.drawn_pj,
            relieved: false,
        })
    }

    /// End of the step that is under way; `u64::MAX` where no temperature is modelled.
    pub fn next(&self) -> u64 {
        let body = self.body.as_ref();
        body.map_or(u64::MAX, |body| body.heat.at + STEP)
    }

    /// Ends all steps that are over by `now`; until now operations have used `operations_nj`.
    /// Returns whether throttling has changed.
    pub fn advance(&mut self, now: u64, operations_nj: u128) -> bool {
        let Some(Body { law, heat }) = &mut self.body else {
            return false;
        };
        let before = heat.throttle;
        while heat.at + STEP <= now {
            // Counters go back when power is cut.
            let used = operations_nj.saturating_sub(self.seen_nj);
            self.seen_nj = operations_nj;
            self.operations_nj += used;
            let steady = self.draw.next_change(heat.at).min(now) - heat.at;
            let is_steady = used == 0 && self.draw.settled() <= heat.at;
            if is_steady && steady >= 2 * STEP {
                let energy = u128::from(self.draw.mw(heat.at)) * u128::from(STEP);
                heat.leap(law, energy, steady / STEP);
                self.drawn_pj = self.draw.total_pj(heat.at);
                continue;
            }
            let drawn = self.draw.total_pj(heat.at + STEP);
            heat.step(law, used * 1000 + drawn - self.drawn_pj);
            self.drawn_pj = drawn;
        }
        heat.throttle != before
    }

    /// The step of throttling that holds, by the drive's configuration.
    pub fn measure<'a>(&self, config: &'a DriveConfig) -> Option<&'a ThrottleStep> {
        let body = self.body.as_ref().filter(|_| !self.relieved)?;
        let steps = config.heat.as_ref()?.steps();
        let level = (body.heat.throttle as usize).checked_sub(1)?;
        Some(steps[level])
    }

    /// Takes throttling away.
    pub fn relieve(&mut self) {
        self.relieved = true;
    }

    /// A command arrives at an idle drive; returns when the drive is operational.
    pub fn wake(&mut self, now: u64) -> u64 {
        self.draw.wake(now)
    }

    /// The last command has completed, or background work that began at `from` ends at `now`.
    pub fn rest(&mut self, from: u64, now: u64) {
        self.draw.rest(from, now);
    }

    /// Energy drawn by no operation up to `now`, nJ.
    pub fn drawn_nj(&self, now: u64) -> u128 {
        self.draw.total_pj(now) / 1000
    }

    pub fn sleep(&self, now: u64) -> SleepReport {
        SleepReport {
            asleep: Nanos(self.draw.asleep_ns(now)),
            wakes: self.draw.wakes(),
        }
    }

    /// Sets the temperature, mC.
    pub fn warm_to(&mut self, millicelsius: u64) {
        if let Some(Body { law, heat }) = &mut self.body {
            heat.set(law, law.stored_at(millicelsius));
        }
    }

    /// Equilibrium temperature under constant power, mC.
    pub fn equilibrium(&self, mw: u64) -> Option<u64> {
        self.body.as_ref().map(|body| body.law.equilibrium(mw))
    }

    /// The drive's temperature at the last step by `now`.
    pub fn report(&self, now: u64, operations_nj: u128) -> Option<HeatReport> {
        let mut fork = self.clone();
        fork.advance(now, operations_nj);
        let Body { law, heat } = fork.body?;
        let energy_out = |part: i64| u128::from(part.max(0).unsigned_abs()) / 1000;
        Some(HeatReport {
            millicelsius: law.millicelsius(heat.stored),
            millicelsius_max: law.millicelsius(heat.stored_max),
            ambient_millicelsius: law.millicelsius(0),
            throttle: heat.throttle,
            counters: heat.counters,
            energy_nj: fork.operations_nj + fork.drawn_pj / 1000 + energy_out(heat.given),
            stored_nj: heat.stored / 1000,
            dissipated_nj: heat.dissipated / 1000 + energy_out(-heat.given),
        })
    }

    /// Checks that energy is conserved: what came in is stored or gone.
    pub fn check(&self) -> Result<(), String> {
        let Some(Body { heat, .. }) = &self.body else {
            return Ok(());
        };
        let energy_out = |part: i64| u128::from(part.max(0).unsigned_abs());
        let came = self.operations_nj * 1000 + self.drawn_pj + energy_out(heat.given);
        let accounted = heat.stored + heat.dissipated + energy_out(-heat.given);
        // Over a step, the loss is computed from the mean of its ends.
        if came.abs_diff(accounted) <= came / 1000 + 1_000_000 {
            return Ok(());
        }
        Err(format!(
            "{came} pJ came in, {accounted} pJ are stored or gone as heat"
        ))
    }
}
