//! Drives with drawn constants, measured: how many of them meet each requirement.

use super::ensemble::MOVED;
use super::evidence::{EnsembleEvidence, Evidence, QualifyOutcome, RequirementShare};
use super::roles::{MeasureUnit, Requirement, Role, roles};
use super::{readings, weigh};
use ssdlab_base::{LabError, parallel};
use ssdlab_drives::catalogue::CatalogueDrive;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shares of the ensemble below and above the interval that is shown.
const INTERVAL: (f64, f64) = (0.1, 0.9);
/// Most drives measured at once: each needs the memory of a modelled drive.
const THREADS_MAX: usize = 4;

/// A drive with draws of the constants that its file assumes.
#[derive(Clone, Debug, Default)]
pub struct DrawnDrives {
    /// One for each draw; none where nothing is drawn.
    pub drives: Vec<CatalogueDrive>,
    /// Keys of the constants that were drawn.
    pub constants: Vec<String>,
    /// Hash of the figures that the constants are estimated from.
    pub prior: String,
}

/// What `members`, which differ from `own` by the constants that were drawn, say of each role.
pub(super) fn of(drawn: &DrawnDrives, own: &Evidence, members: &[Evidence]) -> EnsembleEvidence {
    let shares = roles().iter().flat_map(|role| {
        let requirements = role.requirements.iter();
        requirements.filter_map(|requirement| share(requirement, role, own, members))
    });
    EnsembleEvidence {
        members: members.len() as u32,
        constants: drawn.constants.clone(),
        prior: drawn.prior.clone(),
        shares: shares.collect(),
    }
}

/// That nothing is known of the draws, so that no rate and no time is decided.
fn unmeasured(drawn: &DrawnDrives) -> EnsembleEvidence {
    let moves = |requirement: &&Requirement| {
        matches!(
            requirement.unit,
            MeasureUnit::PerSecond | MeasureUnit::Milliseconds
        )
    };
    let shares = roles().iter().flat_map(|role| {
        let requirements = role.requirements.iter().filter(moves);
        requirements.map(|requirement| RequirementShare {
            role: role.name.clone(),
            requirement: requirement.id.clone(),
            met: 0,
            missed: 0,
            low: None,
            high: None,
        })
    });
    EnsembleEvidence {
        members: drawn.drives.len() as u32,
        constants: drawn.constants.clone(),
        prior: drawn.prior.clone(),
        shares: shares.collect(),
    }
}

fn share(
    requirement: &Requirement,
    role: &Role,
    own: &Evidence,
    members: &[Evidence],
) -> Option<RequirementShare> {
    let outcome = |evidence: &Evidence| weigh::find(requirement, role, evidence).outcome;
    let amount = |evidence: &Evidence| {
        readings::read(requirement.measure, role.durable_method, evidence).amount()
    };
    let outcomes: Vec<QualifyOutcome> = members.iter().map(outcome).collect();
    let mut amounts: Vec<f64> = members.iter().filter_map(amount).collect();
    amounts.sort_by(f64::total_cmp);
    let values = amounts.iter().copied().chain(amount(own));
    let (least, most) = values.fold((f64::MAX, f64::MIN), |(least, most), value| {
        (least.min(value), most.max(value))
    });
    let is_moved = outcomes.iter().any(|member| *member != outcome(own)) || most > MOVED * least;
    let count = |wanted| {
        outcomes
            .iter()
            .filter(|outcome| **outcome == wanted)
            .count() as u32
    };
    is_moved.then(|| RequirementShare {
        role: role.name.clone(),
        requirement: requirement.id.clone(),
        met: count(QualifyOutcome::Pass),
        missed: count(QualifyOutcome::Fail),
        low: middle(&amounts, INTERVAL.0),
        high: middle(&amounts, INTERVAL.1),
    })
}

/// The value that `share` of the sorted values do not exceed: each value is the middle of an equal
/// part of the distribution.
fn middle(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)? as f64;
    let place = (share * sorted.len() as f64 - 0.5).clamp(0.0, last);
    let below = *sorted.get(place.floor() as usize)?;
    let above = *sorted.get(place.ceil() as usize)?;
    Some(below + (above - below) * place.fract())
}

/// Title of the step that measures the draws.
pub(super) fn title(drawn: &DrawnDrives) -> String {
    format!(
        "the same of {} drives with drawn constants",
        drawn.drives.len()
    )
}

/// The ensemble of a drive whose own evidence is `own`: each of the drawn drives goes through
/// `measure`.
///
/// # Errors
/// When a drawn drive cannot be measured.
pub(super) fn measured(
    drawn: &DrawnDrives,
    own: &Evidence,
    measure: impl Fn(&CatalogueDrive) -> Result<Evidence, LabError> + Sync,
    stop: &AtomicBool,
) -> Result<EnsembleEvidence, LabError> {
    let measured = |drive: &CatalogueDrive| {
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::refused("stopped", ""));
        }
        measure(drive)
    };
    let threads = parallel::cores().min(THREADS_MAX);
    let members = parallel::all(&drawn.drives, threads, measured);
    if stop.load(Ordering::Relaxed) {
        return Ok(unmeasured(drawn));
    }
    Ok(of(drawn, own, &members?))
}

#[cfg(test)]
#[path = "draws_tests.rs"]
mod tests;
