//! Article spare: what [`crate::experiments::spare`] found, as measures and curves.

use super::experiment::{Outcome, Setup};
use crate::experiments::spare::{DriveRuns, SpareResult, SpareSettings, run_spare};
use crate::experiments::{Curve, Health};
use ssdlab_base::LabError;

/// Short names of the drives, in the order of the result.
pub const DRIVES: [&str; 4] = ["sf28", "sf13", "x25m", "barefoot"];

/// Runs the article.
///
/// # Errors
/// When a drive is not possible at the article's scale, or the run is stopped.
pub fn run(setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let settings = SpareSettings {
        seed: setup.seed,
        ..SpareSettings::default()
    };
    let found = run_spare(settings, setup.stop)?;
    let mut outcome = Outcome::default();
    health(&mut outcome, &found.health);
    for (short, drive) in DRIVES.iter().zip(&found.drives) {
        measure(&mut outcome, short, drive);
    }
    compare(&mut outcome, &found);
    Ok(outcome)
}

/// The self-checks of an article's drives as one.
pub fn health(outcome: &mut Outcome, health: &Health) {
    let name = format!("{} drives, {} commands", health.drives, health.commands);
    let result = if health.passed() {
        Ok(())
    } else {
        Err(health.faults.join("; "))
    };
    outcome.check(name, result);
}

/// Keeps a curve.
pub fn curve(outcome: &mut Outcome, name: impl Into<String>, curve: &Curve) {
    outcome.curves.insert(name.into(), curve.points.clone());
}

fn measure(outcome: &mut Outcome, short: &str, drive: &DriveRuns) {
    for (i, kept) in drive.kept.iter().enumerate() {
        let weight = kept.weight;
        outcome.value(format!("{short}_{weight}_full"), kept.full_pct);
        outcome.value(format!("{short}_{weight}_dirty"), kept.dirty_pct);
        outcome.value(format!("{short}_{weight}_scattered"), kept.scattered_pct);
        let of_installed = kept.of_installed_pct;
        outcome.value(
            format!("{short}_{weight}_full_of_installed"),
            of_installed.0,
        );
        curve(
            outcome,
            format!("{short}_{weight}_by_dirt"),
            &drive.by_dirt[i],
        );
        curve(
            outcome,
            format!("{short}_{weight}_by_share"),
            &drive.by_share[i],
        );
    }
    let farthest = drive.kept.iter().map(|kept| (kept.full_pct - 100.0).abs());
    outcome.value(format!("{short}_full_change"), farthest.fold(0.0, f64::max));
    let farthest = drive.kept.iter().map(|kept| (kept.dirty_pct - 100.0).abs());
    outcome.value(
        format!("{short}_dirty_change"),
        farthest.fold(0.0, f64::max),
    );
    outcome.value(format!("{short}_dirty_waf"), drive.dirty_waf[0]);
    outcome.value(format!("{short}_scattered_waf"), drive.dirty_waf[1]);
}

fn compare(outcome: &mut Outcome, found: &SpareResult) {
    let full = found.full_13_less_28();
    outcome.value("full_difference", full[0].abs().max(full[1].abs()));
    let dirty = found.dirty_28_less_13();
    outcome.value("dirty_light_difference", dirty[0]);
    outcome.value("dirty_heavy_difference", dirty[1]);
    let scattered = found.scattered_28_less_13();
    outcome.value("scattered_light_difference", scattered[0]);
    outcome.value("scattered_heavy_difference", scattered[1]);
    for (weight, difference) in ["light", "heavy"].iter().zip(&found.rested.difference) {
        curve(outcome, format!("rested_{weight}_difference"), difference);
    }
    intel(outcome, found);
    for (name, fill) in ["random", "system", "empty"].iter().zip(&found.compress) {
        outcome.value(format!("flash_used_{name}"), 100.0 * fill.flash_used);
    }
}

/// The X25-M between its two runs, both at once after the preparation and both rested.
fn intel(outcome: &mut Outcome, found: &SpareResult) {
    let of = |after: &str| found.intel.rounds.iter().find(|round| round.after == after);
    for (name, from, to) in [
        ("intel_dirty_less_full", "full", "dirty"),
        (
            "intel_rested_dirty_less_full",
            "full, rested",
            "dirty, rested",
        ),
        ("intel_rested_less_dirty", "dirty", "dirty, rested"),
        (
            "intel_scattered_rested_less_at_once",
            "scattered",
            "scattered, rested",
        ),
    ] {
        if let (Some(from), Some(to)) = (of(from), of(to)) {
            outcome.value(name, to.with_pct - from.with_pct);
            outcome.value(format!("{name}_without"), to.without_pct - from.without_pct);
        }
    }
}
