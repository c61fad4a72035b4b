//! What an inspection adds to the facts of a target that is about to be judged.

use super::{Inspection, Told};
use crate::qualify::Grade;
use crate::target::TargetFacts;
use serde::{Deserialize, Serialize};

/// A real drive's own word on its health, as evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveHealth {
    /// Grade of the target's `power_loss_protection`.
    pub protection_grade: Grade,
    /// Whether it passes its own judgement.
    pub passed: Option<bool>,
    /// What it warns of.
    pub warnings: Vec<String>,
    /// Per cent of the rated life used.
    pub used_percent: Option<Told>,
}

/// Enters what the drive tells and what is published of its model. What the target already knows
/// stays; of protection, the drive's own report of a failure outweighs everything.
pub fn enrich(facts: &mut TargetFacts, found: &Inspection) {
    let failed = found.protection.holds == Some(false);
    if facts.power_loss_protection.is_none() || failed {
        facts.power_loss_protection = found.protection.holds;
        facts.power_loss_protection_source = Some(found.protection.why.clone());
    }
    if let Some(rating) = found.known.as_ref().and_then(|known| known.rating.as_ref()) {
        facts.rated_bytes_written = facts.rated_bytes_written.or(Some(rating.bytes_written));
        facts.warranty_years = facts.warranty_years.or(Some(rating.years));
    }
    facts.health = Some(DriveHealth {
        protection_grade: found.protection.grade,
        passed: found.passed,
        warnings: found.warnings.clone(),
        used_percent: found.life.used_percent.clone(),
    });
}
