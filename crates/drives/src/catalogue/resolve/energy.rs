//! `[energy]` of a drive file.

use crate::catalogue::reader::QuantityReader;
use crate::catalogue::tables::EnergyTable;
use ssdlab_base::LabError;
use ssdlab_ssd::config::{EnergyConfig, PowerState};
use ssdlab_ssd::nand::SLC_KIND;

/// A decimal number with a unit, in the smallest unit.
pub(super) fn quantity(
    r: &QuantityReader<'_>,
    key: &str,
    text: &str,
    units: &[(&str, f64)],
) -> Result<u64, LabError> {
    let names: Vec<&str> = units.iter().map(|&(name, _)| name).collect();
    let bad = || {
        r.bad(
            key,
            text,
            format!("a number and one of {} is allowed", names.join(", ")),
        )
    };
    let (number, unit) = text.trim().split_once(' ').ok_or_else(bad)?;
    let factor = units
        .iter()
        .find(|(name, _)| *name == unit.trim())
        .ok_or_else(bad)?
        .1;
    let value: f64 = number.parse().map_err(|_| bad())?;
    let scaled = value * factor;
    if !(0.0..1e18).contains(&scaled) {
        return Err(bad());
    }
    Ok(scaled.round() as u64)
}

const ENERGY: [(&str, f64); 3] = [("nJ", 1.0), ("uJ", 1e3), ("mJ", 1e6)];
const PER_BYTE: [(&str, f64); 2] = [("pJ/B", 1.0), ("nJ/B", 1e3)];
const POWER: [(&str, f64); 2] = [("mW", 1.0), ("W", 1e3)];

/// By page kind, SLC mode last.
fn by_kind(r: &QuantityReader<'_>, key: &str, list: &[String]) -> Result<[u64; 8], LabError> {
    let allowed = "one energy per page of a word line, and one for SLC mode, is allowed";
    let Some((slc, native)) = list
        .split_last()
        .filter(|(_, native)| native.len() < SLC_KIND)
    else {
        return Err(r.bad(key, &list.join(", "), allowed.into()));
    };
    let mut table = [0; 8];
    for (kind, text) in native.iter().enumerate() {
        table[kind] = quantity(r, key, text, &ENERGY)?;
    }
    table[SLC_KIND] = quantity(r, key, slc, &ENERGY)?;
    Ok(table)
}

/// Power states: lists of one length.
fn states(r: &QuantityReader<'_>, t: &EnergyTable) -> Result<Vec<PowerState>, LabError> {
    let (Some(after), Some(entry), Some(exit), Some(power)) = (
        &t.state_after,
        &t.state_entry,
        &t.state_exit,
        &t.state_power,
    ) else {
        let columns = [
            &t.state_after,
            &t.state_entry,
            &t.state_exit,
            &t.state_power,
        ];
        return match columns.into_iter().flatten().next() {
            None => Ok(Vec::new()),
            Some(column) => Err(r.bad(
                "energy.state_after",
                &column.value.join(", "),
                "all of state_after, state_entry, state_exit and state_power, or none, are \
                 allowed"
                    .into(),
            )),
        };
    };
    let lengths = [&entry.value, &exit.value, &power.value].map(Vec::len);
    if lengths != [after.value.len(); 3] {
        let allowed = "as many values in state_entry, state_exit and state_power are allowed";
        return Err(r.bad(
            "energy.state_after",
            &after.value.join(", "),
            allowed.into(),
        ));
    }
    let after = r.times("energy.state_after", after)?;
    let entry = r.times("energy.state_entry", entry)?;
    let exit = r.times("energy.state_exit", exit)?;
    let states = after.into_iter().zip(entry).zip(exit).zip(&power.value);
    states
        .map(|(((after, entry), exit), power)| {
            let mw = quantity(r, "energy.state_power", power, &POWER)?;
            let mut state = PowerState::new(after, mw);
            state.entry = entry;
            state.exit = exit;
            Ok(state)
        })
        .collect()
}

pub(super) fn config(r: &QuantityReader<'_>, t: &EnergyTable) -> Result<EnergyConfig, LabError> {
    let mut energy = EnergyConfig::default();
    energy.read_nj = by_kind(r, "energy.read", &t.read.value)?;
    energy.program_nj = by_kind(r, "energy.program", &t.program.value)?;
    energy.erase_nj = quantity(r, "energy.erase", &t.erase.value, &ENERGY)?;
    energy.channel_pj_per_byte = quantity(r, "energy.channel", &t.channel.value, &PER_BYTE)?;
    energy.link_pj_per_byte = quantity(r, "energy.link", &t.link.value, &PER_BYTE)?;
    energy.command_nj = quantity(r, "energy.command", &t.command.value, &ENERGY)?;
    energy.idle_mw = quantity(r, "energy.idle", &t.idle.value, &POWER)?;
    energy.active_mw = match &t.active {
        Some(active) => quantity(r, "energy.active", &active.value, &POWER)?,
        None => 0,
    };
    energy.states = states(r, t)?;
    Ok(energy)
}
