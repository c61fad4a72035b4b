//! Verdicts on models whose file assumes what was never measured of the drive.
//!
//! ```text
//! file with assumed constants -> drives with draws of them (crate predict) -> evidence of each
//!      -> share: how many meet a requirement, and within what values
//! ```
//! A requirement that the draws move is met, or missed, only where more than nine of ten drives
//! say so: the drive as its file has it, and the draws. Otherwise it is unknown, so that draws only
//! take certainty away, and the value shown, which is the file's, never contradicts the outcome.
//! What the draws leave alone keeps the judgement on the drive's own reading. Each drawn drive is
//! judged as the drive itself, so that the margin of a model that misses its sheet counts once. The
//! draws of validated drives are kept in `drives/ensembles.jsonl`, because a drive of the catalogue
//! needs no ten measurements; `ssdlab drives references --ensembles` makes it.

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

/// More than this share of the drives decides.
pub const SHARE: f64 = 0.9;
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

/// How many of the draws meet a requirement.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct RequirementShare {
    /// Name of the role.
    pub role: String,
    /// The requirement's stable name.
    pub requirement: String,
    /// Draws that meet it.
    pub met: u32,
    /// Draws that miss it; of the rest it is unknown.
    pub missed: u32,
    /// Value that a tenth of the draws are below, in the requirement's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Value that a tenth of the draws are above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// The same beside a finding, with the drive itself.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct FindingEnsemble {
    /// The draws, and the drive as its file has it.
    pub drives: u32,
    /// Drives that meet the requirement.
    pub met: u32,
    /// Drives that miss it; of the rest it is unknown.
    pub missed: u32,
    /// The interval that holds 80 % of the draws, as shown: `210 to 1,900 /s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// The value of the file's own constants is outside of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_is_outside: bool,
}

impl FindingEnsemble {
    /// What more than nine of ten drives say; nothing less decides.
    pub fn outcome(&self) -> QualifyOutcome {
        let decides = |count: u32| f64::from(count) > SHARE * f64::from(self.drives);
        if decides(self.met) {
            QualifyOutcome::Pass
        } else if decides(self.missed) {
            QualifyOutcome::Fail
        } else {
            QualifyOutcome::Unknown
        }
    }

    /// Whether the drives say different things, so that the constants decide.
    pub fn is_divided(&self) -> bool {
        let undecided = self.drives - self.met - self.missed;
        ![self.met, self.missed, undecided].contains(&self.drives)
    }

    /// `7 of 10 drives meet it`, and of how many it is unknown.
    fn share(&self) -> String {
        let FindingEnsemble {
            drives,
            met,
            missed,
            ..
        } = self;
        match drives - met - missed {
            0 if *met == 0 => format!("all {drives} drives miss it"),
            0 if *missed == 0 => format!("all {drives} drives meet it"),
            0 => format!("{met} of {drives} drives meet it"),
            open => format!("of {drives} drives {met} meet it, {missed} miss it, {open} not known"),
        }
    }

    /// The share and the interval, in a clause.
    pub fn clause(&self) -> String {
        let share = self.share();
        match &self.interval {
            Some(interval) if self.own_is_outside => {
                format!("{share}; its file assumes other than 80 % of the draws, {interval}")
            }
            Some(interval) => format!("{share}; 80 % of the draws {interval}"),
            None => share,
        }
    }

    /// Why a requirement has the outcome that it has.
    pub(super) fn why(&self) -> String {
        let drawn = self.drives - 1;
        let share = self.share();
        let within = self.interval.as_ref().map_or(String::new(), |interval| {
            format!("; 80 % of the draws are within {interval}")
        });
        let outside = if self.own_is_outside {
            ", and the value shown, of the file's own constants, is not"
        } else {
            ""
        };
        format!(
            "It depends on what the file only assumes. With its own constants and {drawn} draws of \
             what measured drives have, {share}{within}{outside}."
        )
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

    /// What it says of a requirement of which `own` has the drive itself; `None`: the draws do not
    /// move it.
    pub(super) fn finding(
        &self,
        requirement: &Requirement,
        role: &Role,
        own: &OwnReading,
    ) -> Option<FindingEnsemble> {
        let is_it = |share: &&RequirementShare| {
            share.role == role.name && share.requirement == requirement.id
        };
        let share = self.shares.iter().find(is_it)?;
        let interval = share.low.zip(share.high);
        let is_outside = |(low, high): (f64, f64)| {
            own.amount
                .is_some_and(|amount| amount * MOVED < low || amount > high * MOVED)
        };
        Some(FindingEnsemble {
            drives: self.members + 1,
            met: share.met + u32::from(own.outcome == QualifyOutcome::Pass),
            missed: share.missed + u32::from(own.outcome == QualifyOutcome::Fail),
            interval: interval.map(|(low, high)| between(low, high, requirement.unit)),
            own_is_outside: interval.is_some_and(is_outside),
        })
    }

    /// What is drawn, in a sentence.
    pub fn sentence(&self) -> String {
        format!(
            "Its file only assumes {}. They are drawn {} times, as measured drives of the ledger \
             have them, and what most of the drives do not agree on is unknown",
            self.constants.join(", "),
            self.members
        )
    }
}

/// What the drive as its file has it says of a requirement.
pub(super) struct OwnReading {
    /// Its outcome.
    pub outcome: QualifyOutcome,
    /// Its number, where it has one.
    pub amount: Option<f64>,
}

/// `210 to 1,900 /s`; one value where both look the same.
fn between(low: f64, high: f64, unit: MeasureUnit) -> String {
    let high = show::with_unit(high, unit);
    let low = show::with_unit(low, unit);
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        _ if low == high => high,
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
        title: title(drawn),
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
    let members = parallel::all(&drawn.drives, threads, measured);
    if stop.load(Ordering::Relaxed) {
        return Ok(Some(EnsembleEvidence::unmeasured(drawn)));
    }
    Ok(Some(EnsembleEvidence::of(drawn, own, &members?)))
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
