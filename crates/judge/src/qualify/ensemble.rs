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
//! judged as the drive itself (module `draws`), so that the margin of a model that misses its sheet
//! counts once.

use super::evidence::{EnsembleEvidence, FindingEnsemble, QualifyOutcome, RequirementShare};
use super::roles::{MeasureUnit, Requirement, Role};
use super::show;

/// More than this share of the drives decides.
pub const SHARE: f64 = 0.9;
/// How far readings may differ, as a ratio, before the draws count as having moved them.
pub(super) const MOVED: f64 = 1.01;

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
