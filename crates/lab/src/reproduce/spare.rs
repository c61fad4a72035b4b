//! Article spare: what [`crate::experiments::spare`] found, as measures and curves.

use super::experiment::{Outcome, Setup, stopped};
use crate::LabError;
use crate::experiments::spare::{DriveRuns, SpareResult, SpareSettings, run_spare};
use crate::experiments::{Curve, Health};
use std::sync::atomic::Ordering;

/// Short names of the drives, in the order of the result.
pub const DRIVES: [&str; 4] = ["sf28", "sf13", "x25m", "barefoot"];

/// Runs the article.
///
/// # Errors
/// When a drive is not possible at the article's scale, or the run is stopped.
pub fn run(setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let found = run_spare(SpareSettings {
        seed: setup.seed,
        ..SpareSettings::default()
    })?;
    if setup.stop.load(Ordering::Relaxed) {
        return Err(stopped());
    }
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
        if let Some(by_dirt) = drive.by_dirt.get(i) {
            curve(outcome, format!("{short}_{weight}_by_dirt"), by_dirt);
        }
    }
    let farthest = drive.kept.iter().map(|kept| (kept.full_pct - 100.0).abs());
    outcome.value(format!("{short}_full_change"), farthest.fold(0.0, f64::max));
    outcome.value(format!("{short}_dirty_waf"), drive.dirty_waf);
}

fn compare(outcome: &mut Outcome, found: &SpareResult) {
    let full = found.full_13_less_28();
    outcome.value("full_difference", full[0].abs().max(full[1].abs()));
    let dirty = found.dirty_28_less_13();
    outcome.value("dirty_light_difference", dirty[0]);
    outcome.value("dirty_heavy_difference", dirty[1]);
    let of = |after: &str| found.intel.rounds.iter().find(|round| round.after == after);
    if let (Some(full), Some(dirty), Some(rested)) = (of("full"), of("dirty at once"), of("a rest"))
    {
        outcome.value("intel_dirty_less_full", dirty.with_pct - full.with_pct);
        outcome.value("intel_rested_less_full", rested.with_pct - full.with_pct);
        outcome.value("intel_rested_less_dirty", rested.with_pct - dirty.with_pct);
        outcome.value(
            "intel_rested_less_full_without",
            rested.without_pct - full.without_pct,
        );
    }
    for (name, fill) in ["random", "system", "empty"].iter().zip(&found.compress) {
        outcome.value(format!("flash_used_{name}"), 100.0 * fill.flash_used);
    }
}
