//! Verdicts on models whose file assumes what was never measured of the drive.
//!
//! ```text
//! file with assumed constants -> drives with draws of them (crate predict) -> evidence of each
//!      -> share: how many meet a requirement, and within what values
//! ```
//! A requirement that the draws move is met, or missed, only where nine of ten say so; otherwise it
//! is unknown. What the draws leave alone keeps the judgement on the drive's own reading. Each drawn
//! drive is judged as the drive itself, so that the margin of a model that misses its sheet counts
//! once. The ensembles of validated drives are kept in `drives/ensembles.jsonl`, because a drive of
//! the catalogue needs no ten measurements; `ssdlab drives references --ensembles` makes it.

use super::procedures::{QualifyProgress, QualifyStep, SilentProgress};
use super::roles::{MeasureUnit, Requirement, Role, roles};
use super::{Evidence, QualifyOutcome, QualifyPlan, QualifySettings};
use super::{plan, readings, references, show, weigh};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::{LabError, parallel};
use ssdlab_bench::device::ModelledTarget;
use ssdlab_bench::device::named::{OpenTarget, TargetName};
use ssdlab_drives::catalogue::CatalogueDrive;
use std::sync::atomic::{AtomicBool, Ordering};

/// Share of an ensemble that decides.
pub const SHARE_MIN: f64 = 0.9;
/// How far readings may differ, as a ratio, before the draws count as having moved them.
const MOVED: f64 = 1.01;
/// Shares of the ensemble below and above the interval that is shown.
const INTERVAL: (f64, f64) = (0.1, 0.9);
/// Most drives measured at once: each needs the memory of a modelled drive.
const THREADS_MAX: usize = 4;
/// The ensembles that are kept.
const KEPT: &str = include_str!("../../../../drives/ensembles.jsonl");
/// Where they are in the repository.
pub const KEPT_FILE: &str = "drives/ensembles.jsonl";

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

/// What an ensemble of drives says of each requirement that its draws move.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct EnsembleEvidence {
    /// Drives in it.
    pub members: u32,
    /// Keys of the constants that were drawn.
    pub constants: Vec<String>,
    /// Hash of the figures that the constants are estimated from.
    pub prior: String,
    /// By role and requirement.
    pub shares: Vec<RequirementShare>,
}

/// How many drives of an ensemble meet a requirement.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct RequirementShare {
    /// Name of the role.
    pub role: String,
    /// The requirement's stable name.
    pub requirement: String,
    /// Drives that meet it.
    pub met: u32,
    /// Drives that miss it.
    pub missed: u32,
    /// Value that a tenth of the drives are below, in the requirement's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Value that a tenth of the drives are above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// The same beside a finding.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct FindingEnsemble {
    /// Drives in the ensemble.
    pub members: u32,
    /// Drives that meet the requirement.
    pub met: u32,
    /// Drives that miss it.
    pub missed: u32,
    /// The interval that holds 80 % of them, as shown: `210 to 1,900 /s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
}

impl FindingEnsemble {
    /// What at least nine of ten drives say; nothing less decides.
    pub fn outcome(&self) -> QualifyOutcome {
        let decides = |count: u32| f64::from(count) >= SHARE_MIN * f64::from(self.members);
        if decides(self.met) {
            QualifyOutcome::Pass
        } else if decides(self.missed) {
            QualifyOutcome::Fail
        } else {
            QualifyOutcome::Unknown
        }
    }

    /// The interval and the share, in a clause.
    pub fn clause(&self) -> String {
        let share = format!("{} of {} drawn drives meet it", self.met, self.members);
        match &self.interval {
            Some(interval) => format!("80 % within {interval}; {share}"),
            None => share,
        }
    }
}

impl EnsembleEvidence {
    /// What `members`, which differ from `own` by the constants that were drawn, say of each role.
    fn of(drawn: &DrawnDrives, own: &Evidence, members: &[Evidence]) -> EnsembleEvidence {
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

    /// What it says of a requirement; `None`: the draws do not move it.
    pub(super) fn finding(&self, requirement: &Requirement, role: &Role) -> Option<FindingEnsemble> {
        let is_it = |share: &&RequirementShare| {
            share.role == role.name && share.requirement == requirement.id
        };
        let share = self.shares.iter().find(is_it)?;
        let interval = share.low.zip(share.high);
        let text = interval.map(|(low, high)| between(low, high, requirement.unit));
        Some(FindingEnsemble {
            members: self.members,
            met: share.met,
            missed: share.missed,
            interval: text,
        })
    }

    /// Why a requirement has the outcome that it has.
    pub(super) fn why(&self, finding: &FindingEnsemble) -> String {
        let constants = self.constants.join(", ");
        let FindingEnsemble {
            members,
            met,
            missed,
            interval,
        } = finding;
        let within = interval.as_ref();
        let within = within.map_or(String::new(), |interval| format!("; 80 % are within {interval}"));
        format!(
            "It depends on constants that are assumed ({constants}): of {members} drives drawn as \
             measured drives of the class have them, {met} meet it and {missed} miss it{within}."
        )
    }
}

/// `210 to 1,900 /s`.
fn between(low: f64, high: f64, unit: MeasureUnit) -> String {
    let high = show::with_unit(high, unit);
    let low = show::with_unit(low, unit);
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, of_low)), Some((_, of_high))) if of_low == of_high => {
            format!("{number} to {high}")
        }
        _ => format!("{low} to {high}"),
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
    let all = amounts.iter().copied().chain(amount(own));
    let (least, most) = all.fold((f64::MAX, f64::MIN), |(least, most), value| {
        (least.min(value), most.max(value))
    });
    let is_moved = outcomes.iter().any(|member| *member != outcome(own)) || most > MOVED * least;
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count() as u32;
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

/// The ensemble of the target of `plan`: measured where the plan has drawn drives, else the one
/// that is kept of a drive of the catalogue.
///
/// # Errors
/// When a drawn drive cannot be measured.
pub(super) fn of_target(
    plan: &QualifyPlan,
    own: &Evidence,
    settings: &QualifySettings,
    progress: &mut dyn QualifyProgress,
    stop: &AtomicBool,
) -> Result<Option<EnsembleEvidence>, LabError> {
    let drawn = &plan.drawn;
    if drawn.drives.is_empty() {
        return Ok(match &plan.target {
            Some(TargetName::Drive(name)) => kept(name),
            _ => None,
        });
    }
    let step = QualifyStep {
        number: 1,
        count: 1,
        title: format!("the same of {} drives with drawn constants", drawn.drives.len()),
        expected_s: 0.0,
    };
    progress.step(&step);
    let measured = |drive: &CatalogueDrive| {
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::refused("stopped", ""));
        }
        let target = ModelledTarget::new(drive, plan.open.size)?;
        let mut open = OpenTarget::Modelled(Box::new(target), Vec::new());
        plan::measure_opened(&mut open, settings, &mut SilentProgress, stop)
    };
    let threads = parallel::cores().min(THREADS_MAX);
    let members = parallel::all(&drawn.drives, threads, measured)?;
    Ok(Some(EnsembleEvidence::of(drawn, own, &members)))
}

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptEnsemble {
    drive: String,
    /// Hash of the configuration that the constants were drawn for.
    config: String,
    ensemble: EnsembleEvidence,
}

/// The ensemble that is kept of the drive of this name, as the catalogue has it now.
pub fn kept(name: &str) -> Option<EnsembleEvidence> {
    let wanted = format!("{{\"drive\":\"{name}\",");
    let line = KEPT.lines().find(|line| line.starts_with(&wanted))?;
    let kept: KeptEnsemble = serde_json::from_str(line).ok()?;
    let is_current = references::config_hash(name).ok()? == kept.config;
    is_current.then_some(kept.ensemble)
}

/// Names of the drives whose ensembles are kept.
pub fn names_kept() -> Vec<&'static str> {
    let names = KEPT.lines().filter_map(|line| line.split('"').nth(3));
    names.collect()
}

/// The line of a drive of the catalogue, without its line feed.
///
/// # Errors
/// When no drive has this name.
pub fn line(name: &str, ensemble: EnsembleEvidence) -> Result<String, LabError> {
    let kept = KeptEnsemble {
        drive: name.to_owned(),
        config: references::config_hash(name)?,
        ensemble,
    };
    let text = serde_json::to_string(&kept);
    text.map_err(|error| LabError::refused(format!("{name}: {error}"), ""))
}

#[cfg(test)]
#[path = "ensemble_tests.rs"]
mod tests;
