//! Lumped heat: one body of heat capacity C that is connected to the air by a thermal resistance R.
//!
//! C dT/dt = P - (T - air) / R. The model keeps the heat stored above ambient, C (T - air), in pJ,
//! on a grid of [`STEP`]. Over a step the power is taken as constant, and its solution is exact:
//! stored' = stored d + E (1 - d) tau / step with d = exp(-step / tau), tau = R C.

use super::decay::Decay;
use crate::config::HeatConfig;
use crate::image::{image_of, image_of_choice};

/// Grid of temperature and throttling, ns.
pub(super) const STEP: u64 = 10_000_000;

/// How much a drive slows down because of heat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Throttle {
    /// Not at all.
    None = 0,
    /// NVMe's thermal management temperature 1.
    Light = 1,
    /// NVMe's thermal management temperature 2.
    Heavy = 2,
    /// The drive's own protection.
    Critical = 3,
}

image_of_choice!(Throttle {
    None,
    Light,
    Heavy,
    Critical
});

impl Throttle {
    /// All, from the mildest on.
    pub const ALL: [Throttle; 4] = [
        Throttle::None,
        Throttle::Light,
        Throttle::Heavy,
        Throttle::Critical,
    ];

    /// For reports.
    pub const fn name(self) -> &'static str {
        match self {
            Throttle::None => "none",
            Throttle::Light => "light",
            Throttle::Heavy => "heavy",
            Throttle::Critical => "critical",
        }
    }
}

image_of! {
    /// Counters of heat, for SMART.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct HeatCounters {
        /// Times that each [`Throttle`] was entered from a milder one; the first is always zero.
        pub entered: [u64; 4],
        /// Time in each, ns.
        pub time_ns: [u64; 4],
        /// Time at or above the warning temperature and below that of overheating, ns.
        pub warning_ns: u64,
        /// Time at or above the temperature of overheating, ns.
        pub overheated_ns: u64,
    }
}

image_of! {
    /// State that a drive keeps.
    #[derive(Clone, Debug)]
    pub(super) struct Heat {
        /// Grid time reached.
        pub at: u64,
        pub throttle: Throttle,
        pub counters: HeatCounters,
        /// Heat above ambient, pJ.
        pub stored: u128,
        /// Largest so far, pJ.
        pub stored_max: u128,
        /// Heat that has gone to the air, pJ: temperature difference over time / R, so that the sum
        /// of it and the heat stored can be held against the energy that came in.
        pub dissipated: u128,
        /// Heat put in or taken out by [`Heat::set`], pJ.
        pub given: i64,
    }
}

/// Constants derived from the configuration.
#[derive(Clone, Debug)]
pub(super) struct Law {
    decay: Decay,
    /// pJ per K.
    pj_per_k: u128,
    ambient_c: u32,
    enter: [u128; 3],
    leave: [u128; 3],
    warning: u128,
    overheated: u128,
}

/// Everything that stays as it is until a boundary is crossed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Zone {
    throttle: Throttle,
    warning: bool,
    overheated: bool,
}

impl Law {
    pub fn new(config: &HeatConfig) -> Law {
        // mJ = 10^9 pJ.
        let pj_per_k = u128::from(config.capacity_mj_per_k) * 1_000_000_000;
        let heat = |celsius: u32| u128::from(celsius - config.ambient_c) * pj_per_k;
        let steps = config.steps().map(|step| step.at_c);
        Law {
            decay: Decay::new(STEP, config.time_constant().0),
            pj_per_k,
            ambient_c: config.ambient_c,
            enter: steps.map(heat),
            leave: steps.map(|celsius| heat(celsius - config.hysteresis_k)),
            warning: heat(config.warning_c),
            overheated: heat(config.overheated_c),
        }
    }

    /// Temperature of a body that stores `heat`, in mC, rounded down.
    pub fn millicelsius(&self, heat: u128) -> u64 {
        u64::from(self.ambient_c) * 1000 + (heat * 1000 / self.pj_per_k) as u64
    }

    /// Heat stored at a temperature, mC; the air's at least.
    pub fn stored_at(&self, millicelsius: u64) -> u128 {
        let above = millicelsius.saturating_sub(u64::from(self.ambient_c) * 1000);
        u128::from(above) * self.pj_per_k / 1000
    }

    /// Equilibrium under constant power, mC.
    pub fn equilibrium(&self, mw: u64) -> u64 {
        let energy = u128::from(mw) * u128::from(STEP);
        self.millicelsius(self.decay.equilibrium(energy))
    }

    fn zone(&self, throttle: Throttle, heat: u128) -> Zone {
        let mut level = throttle as usize;
        while level < 3 && heat >= self.enter[level] {
            level += 1;
        }
        while level > 0 && heat < self.leave[level - 1] {
            level -= 1;
        }
        Zone {
            throttle: Throttle::ALL[level],
            warning: heat >= self.warning,
            overheated: heat >= self.overheated,
        }
    }
}

impl Heat {
    pub fn new(now: u64) -> Heat {
        Heat {
            at: now / STEP * STEP,
            throttle: Throttle::None,
            counters: HeatCounters::default(),
            stored: 0,
            stored_max: 0,
            dissipated: 0,
            given: 0,
        }
    }

    /// Advances by a step that adds `energy`.
    pub fn step(&mut self, law: &Law, energy: u128) {
        let after = law.decay.after_one(self.stored, energy);
        self.dissipated += law.decay.lost_in_one(self.stored, after);
        self.move_to(law, after, 1);
    }

    /// Advances by `steps` that each add `energy`: the temperature moves one way only, so that a
    /// boundary is found by halving.
    pub fn leap(&mut self, law: &Law, energy: u128, mut steps: u64) {
        while steps > 0 {
            let zone = law.zone(self.throttle, self.stored);
            for power in (0..=Decay::power_below(steps)).rev() {
                let count = 1 << power;
                let after = law.decay.after(self.stored, energy, power);
                if count <= steps && law.zone(self.throttle, after) == zone {
                    self.dissipated += law.decay.lost(self.stored, energy, power);
                    self.move_to(law, after, count);
                    steps -= count;
                }
            }
            if steps > 0 {
                self.step(law, energy);
                steps -= 1;
            }
        }
    }

    /// Takes the heat after `steps` in one zone, which that of the last may leave.
    fn move_to(&mut self, law: &Law, after: u128, steps: u64) {
        let time = steps * STEP;
        let zone = law.zone(self.throttle, self.stored);
        self.counters.time_ns[self.throttle as usize] += time;
        self.counters.warning_ns += time * u64::from(zone.warning && !zone.overheated);
        self.counters.overheated_ns += time * u64::from(zone.overheated);
        self.at += time;
        self.stored = after;
        self.settle(law);
    }

    fn settle(&mut self, law: &Law) {
        self.stored_max = self.stored_max.max(self.stored);
        let next = law.zone(self.throttle, self.stored).throttle;
        for level in self.throttle as usize + 1..=next as usize {
            self.counters.entered[level] += 1;
        }
        self.throttle = next;
    }

    /// Sets the heat stored, as if the drive had been somewhere else before.
    pub fn set(&mut self, law: &Law, stored: u128) {
        self.given += (stored as i64) - (self.stored as i64);
        self.stored = stored;
        self.settle(law);
    }
}
