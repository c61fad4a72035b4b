//! Checks that heat and power states are possible.

use super::heat::{HeatConfig, PowerState};
use super::validate::require;
use super::{ConfigError, DriveConfig};
use crate::units::Nanos;

/// Highest temperature of a setting, Celsius.
const CELSIUS_MAX: u32 = 150;
const SECOND: Nanos = Nanos::from_secs(1);

impl DriveConfig {
    pub(super) fn validate_heat(&self) -> Result<(), ConfigError> {
        self.validate_power_states()?;
        let Some(heat) = &self.heat else {
            return Ok(());
        };
        for (key, value) in [
            ("heat.capacity", heat.capacity_mj_per_k),
            ("heat.resistance", heat.resistance_mk_per_w),
        ] {
            let allowed = "0.001 to 1000 J/K or K/W is allowed";
            let shown = format!("{}", value as f64 / 1e3);
            require((1..=1_000_000).contains(&value), key, shown, allowed)?;
        }
        let constant = heat.time_constant();
        require(
            constant >= SECOND,
            "heat.capacity",
            format!("so small that it warms up in {constant}"),
            "capacity x resistance of at least 1 s is allowed",
        )?;
        require(
            self.energy.program_nj.iter().any(|nj| *nj > 0) || self.energy.idle_mw > 0,
            "heat",
            "given without energy",
            "a drive with an [energy] table is allowed: heat is the energy that it uses",
        )?;
        validate_steps(heat)
    }

    fn validate_power_states(&self) -> Result<(), ConfigError> {
        let states = &self.energy.states;
        require(
            states.len() <= 8,
            "energy.state_after",
            format!("{} states", states.len()),
            "at most 8 are allowed",
        )?;
        let mut before: Option<&PowerState> = None;
        for state in states {
            for (key, time) in [
                ("energy.state_entry", state.entry),
                ("energy.state_exit", state.exit),
            ] {
                let allowed = "at most 1 s to enter or leave a power state is allowed";
                require(time <= SECOND, key, time, allowed)?;
            }
            require(
                before.is_none_or(|b| state.after > b.after.saturating_add(b.entry)),
                "energy.state_after",
                state.after,
                "a time later than the entry into the previous state is allowed",
            )?;
            let draw = before.map_or(self.energy.idle_mw, |b| b.mw);
            require(
                state.mw <= draw,
                "energy.state_power",
                format!("{} mW", state.mw),
                "at most the draw of the previous state is allowed",
            )?;
            before = Some(state);
        }
        Ok(())
    }
}

fn validate_steps(heat: &HeatConfig) -> Result<(), ConfigError> {
    let keys = ["heat.light_at", "heat.heavy_at", "heat.critical_at"];
    let mut least = heat.ambient_c + heat.hysteresis_k;
    let mut most_programs = u32::MAX;
    for (key, step) in keys.into_iter().zip(heat.steps()) {
        require(
            step.at_c > least && step.at_c <= CELSIUS_MAX,
            key,
            format!("{} C", step.at_c),
            &format!(
                "more than {least} C (air plus hysteresis, or the previous step) and at most \
                 {CELSIUS_MAX} C is allowed"
            ),
        )?;
        require(
            (1..=most_programs).contains(&step.programs_at_once),
            &key.replace("_at", "_programs"),
            step.programs_at_once,
            "at least one, and no more than in the previous step, is allowed",
        )?;
        require(
            step.pause <= SECOND,
            &key.replace("_at", "_pause"),
            step.pause,
            "at most 1 s is allowed",
        )?;
        (least, most_programs) = (step.at_c, step.programs_at_once);
    }
    let (air, warning, overheated) = (heat.ambient_c, heat.warning_c, heat.overheated_c);
    require(
        overheated > air && overheated <= CELSIUS_MAX,
        "heat.overheated",
        format!("{overheated} C"),
        &format!("more than {air} C (air) and at most {CELSIUS_MAX} C is allowed"),
    )?;
    require(
        warning > air && warning <= overheated,
        "heat.warning",
        format!("{warning} C"),
        &format!("more than {air} C (air) and at most {overheated} C (overheated) is allowed"),
    )
}
