//! What heat and power states do to a drive: slower commands, fewer programs at once, time to wake.

use super::energy::EnergyUse;
use super::engine::Engine;
use super::thermal::{HeatReport, SleepReport, Thermal};
use crate::ftl::Translation;
use crate::units::Nanos;

impl<F: Translation> Engine<F> {
    /// Begins at ambient temperature now, whatever the array has done before.
    pub fn begin_thermal(&mut self) {
        self.thermal = Thermal::new(&self.config, self.now, self.operations_nj());
        self.set_alarm();
        self.throttle();
    }

    /// Energy used by parts.
    pub fn energy(&self) -> EnergyUse {
        let (counters, work) = (self.ftl.counted(), self.ftl.nand_work());
        let mut used = EnergyUse::of(&self.config, counters, work, Nanos(self.now));
        if let Some(thermal) = &self.thermal {
            used.idle_nj = thermal.drawn_nj(self.now);
        }
        used
    }

    fn operations_nj(&self) -> u128 {
        let (counters, work) = (self.ftl.counted(), self.ftl.nand_work());
        EnergyUse::of(&self.config, counters, work, Nanos::ZERO).operations_nj()
    }

    /// Time of the next thing that only the clock brings.
    pub fn set_alarm(&mut self) {
        let next = match &self.thermal {
            // A command that finds the drive idle ends the idle time.
            Some(_) if self.outstanding() == 0 => 0,
            Some(thermal) => thermal.next(),
            None => u64::MAX,
        };
        self.alarm = next.min(self.patrol.next);
    }

    /// A command arrives at `now`, and the alarm was due.
    #[cold]
    pub fn ring(&mut self, now: u64) {
        if now >= self.patrol.next {
            self.patrol_by_clock(now);
        }
        if self.thermal.is_some() {
            self.run_internal(now);
            self.advance_thermal(now);
        }
        self.set_alarm();
        self.wake(now);
    }

    fn wake(&mut self, now: u64) {
        let is_idle = self.outstanding() == 0;
        if let Some(thermal) = self.thermal.as_mut().filter(|_| is_idle) {
            let ready = thermal.wake(now);
            if ready > now {
                self.controller_free_at = self.controller_free_at.max(ready);
            }
            // From here on the alarm is the next step.
            self.alarm = thermal.next().min(self.patrol.next);
        }
    }

    /// Lets the steps of temperature that are over by `now` take effect.
    #[cold]
    pub fn advance_thermal(&mut self, now: u64) {
        let is_due = |thermal: &&mut Box<Thermal>| now >= thermal.next();
        if self.thermal.as_mut().filter(is_due).is_none() {
            return;
        }
        let operations = self.operations_nj();
        let changed = match &mut self.thermal {
            Some(thermal) => thermal.advance(now, operations),
            None => false,
        };
        if changed {
            self.throttle();
        }
        self.set_alarm();
    }

    /// The drive has no command any more at `from`, and nothing to do from `to` on.
    #[cold]
    pub fn rest_from(&mut self, from: u64, to: u64) {
        self.advance_thermal(from);
        if let Some(thermal) = &mut self.thermal {
            thermal.rest(from, to);
        }
        self.alarm = 0;
    }

    /// Applies the measures of the throttling that holds.
    pub fn throttle(&mut self) {
        let Some(thermal) = &self.thermal else {
            return;
        };
        let step = thermal.measure(&self.config);
        let programs = step.map_or(0, |step| step.programs_at_once);
        self.pause = step.map_or(0, |step| step.pause.0);
        self.ftl.nand_mut().limit_programs(programs);
    }

    /// Temperature and throttling now.
    pub fn heat(&self) -> Option<HeatReport> {
        let thermal = self.thermal.as_ref()?;
        thermal.report(self.now, self.operations_nj())
    }

    /// Time in power states up to now.
    pub fn sleep(&self) -> SleepReport {
        let thermal = self.thermal.as_ref();
        thermal.map_or(SleepReport::default(), |t| t.sleep(self.now))
    }

    /// Sets the temperature, mC.
    pub fn warm_to(&mut self, millicelsius: u64) {
        self.advance_thermal(self.now);
        if let Some(thermal) = &mut self.thermal {
            thermal.warm_to(millicelsius);
        }
        self.throttle();
    }
}
