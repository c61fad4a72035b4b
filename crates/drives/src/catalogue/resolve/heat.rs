//! `[heat]` of a drive file.

use super::energy::quantity;
use crate::catalogue::reader::QuantityReader;
use crate::catalogue::sourced::SourcedValue;
use crate::catalogue::tables::HeatTable;
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::config::{DriveConfig, HeatConfig, ThrottleStep};

const CAPACITY: [(&str, f64); 1] = [("J/K", 1e3)];
const RESISTANCE: [(&str, f64); 1] = [("K/W", 1e3)];

/// Whole degrees: `70 C`.
fn degrees(r: &QuantityReader<'_>, key: &str, text: &str, unit: &str) -> Result<u32, LabError> {
    let number = text.strip_suffix(unit).map(str::trim);
    let parsed = number.and_then(|number| number.parse().ok());
    parsed.filter(|degrees| *degrees <= 1_000).ok_or_else(|| {
        let allowed = format!("a whole number and {unit}, such as 70 {unit}, is allowed");
        r.bad(key, text, allowed)
    })
}

fn step(
    r: &QuantityReader<'_>,
    name: &str,
    threshold: &SourcedValue<String>,
    programs: &SourcedValue<u32>,
    pause: Option<&SourcedValue<String>>,
) -> Result<ThrottleStep, LabError> {
    let at_c = degrees(r, &format!("heat.{name}_at"), &threshold.value, "C")?;
    let mut step = ThrottleStep::new(at_c, programs.value);
    step.pause = match pause {
        Some(pause) => r.time(&format!("heat.{name}_pause"), &pause.value)?,
        None => Nanos::ZERO,
    };
    Ok(step)
}

pub(super) fn config(r: &QuantityReader<'_>, t: &HeatTable) -> Result<HeatConfig, LabError> {
    let celsius = |key: &str, text: &SourcedValue<String>| degrees(r, key, &text.value, "C");
    let capacity = quantity(r, "heat.capacity", &t.capacity.value, &CAPACITY)?;
    let resistance = quantity(r, "heat.resistance", &t.resistance.value, &RESISTANCE)?;
    let ambient = celsius("heat.ambient", &t.ambient)?;
    let mut heat = HeatConfig::new(capacity, resistance, steps(r, t)?);
    heat.ambient_c = ambient;
    heat.hysteresis_k = degrees(r, "heat.hysteresis", &t.hysteresis.value, "K")?;
    heat.warning_c = celsius("heat.warning", &t.warning)?;
    heat.overheated_c = celsius("heat.overheated", &t.overheated)?;
    Ok(heat)
}

/// The steps of throttling from the mildest on.
fn steps(r: &QuantityReader<'_>, t: &HeatTable) -> Result<[ThrottleStep; 3], LabError> {
    let (light, heavy, critical) = (&t.light_pause, &t.heavy_pause, &t.critical_pause);
    Ok([
        step(r, "light", &t.light_at, &t.light_programs, light.as_ref())?,
        step(r, "heavy", &t.heavy_at, &t.heavy_programs, heavy.as_ref())?,
        step(
            r,
            "critical",
            &t.critical_at,
            &t.critical_programs,
            critical.as_ref(),
        )?,
    ])
}

/// What follows from heat: the time constant, and what the drive may dissipate for ever without
/// throttling, (light_at - ambient) / R.
pub(super) fn derived(config: &DriveConfig) -> Vec<(&'static str, String)> {
    let Some(heat) = &config.heat else {
        return Vec::new();
    };
    let rise = f64::from(heat.light.at_c - heat.ambient_c);
    let watts = 1e3 * rise / heat.resistance_mk_per_w as f64;
    let idle = config.energy.idle_mw as f64 / 1e3 * heat.resistance_mk_per_w as f64 / 1e3;
    vec![
        ("thermal time constant", heat.time_constant().to_string()),
        (
            "power it bears",
            format!("{watts:.2} W before it throttles"),
        ),
        (
            "temperature at rest",
            format!("{:.1} C, awake", f64::from(heat.ambient_c) + idle),
        ),
    ]
}
