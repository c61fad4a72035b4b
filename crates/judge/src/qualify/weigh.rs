//! One requirement held against its reading.
//!
//! A modelled drive that is not validated meets a requirement on a rate or a time only with the
//! model's worst error against its data sheet as margin: else the outcome is unknown. A value is
//! held against its limit as it was measured; where it is shown, it has the places that tell on
//! which side it lies. Where it depends on constants that are assumed, the share of drawn drives
//! that meet it decides ([`super::ensemble`]).

use super::compare;
use super::ensemble::OwnReading;
use super::readings::{self, MeasureReading};
use super::roles::{MeasureUnit, MootLimit, Requirement, Role};
use super::{Evidence, EvidenceGrade, QualifyOutcome, RoleFinding, show};

struct RequirementJudgement {
    outcome: QualifyOutcome,
    value: String,
    grade: EvidenceGrade,
    why: String,
    room: Option<f64>,
}

/// A limit of a requirement or of its alternative.
struct Limit {
    at_least: Option<f64>,
    at_most: Option<f64>,
    unit: MeasureUnit,
    /// How far the model may be from the drive, as a factor.
    margin: f64,
}

/// No figure is known to nine digits: what is nearer than that to its limit is at it.
const AT_LIMIT: f64 = 1e-9;

impl Limit {
    /// Times by which a value is better than the limit; infinite without one.
    fn room(&self, value: f64) -> f64 {
        let least = self.at_least.map_or(f64::INFINITY, |least| value / least);
        let most = self.at_most.map_or(f64::INFINITY, |most| most / value);
        least.min(most)
    }

    fn is_met(&self, value: f64) -> bool {
        self.room(value) >= 1.0 - AT_LIMIT
    }

    fn is_met_by_margin(&self, value: f64) -> bool {
        let margin = match self.unit {
            MeasureUnit::PerSecond | MeasureUnit::Milliseconds => self.margin,
            _ => 1.0,
        };
        self.room(value) >= margin * (1.0 - AT_LIMIT)
    }

    /// A value, with the places that tell it from a limit that it misses.
    fn shown(&self, value: f64) -> String {
        if self.is_met(value) {
            return show::with_unit(value, self.unit);
        }
        show::beside_limit(value, self.at_least.or(self.at_most), self.unit)
    }

    fn text(&self) -> String {
        match (self.at_least, self.at_most) {
            (Some(l), _) => format!(">= {}", show::limit(l, self.unit)),
            (_, Some(l)) => format!("<= {}", show::limit(l, self.unit)),
            (None, None) => "yes".into(),
        }
    }

    fn weigh(&self, reading: MeasureReading) -> RequirementJudgement {
        let judgement = |outcome, value, grade, why, room| RequirementJudgement {
            outcome,
            value,
            grade,
            why,
            room,
        };
        match reading {
            MeasureReading::Unknown { grade, why } => {
                judgement(QualifyOutcome::Unknown, "unknown".into(), grade, why, None)
            }
            MeasureReading::Fact { holds, grade, why } => {
                let value = if holds { "yes" } else { "no" };
                let outcome = fail_unless(holds, QualifyOutcome::Pass);
                judgement(outcome, value.into(), grade, why, None)
            }
            MeasureReading::Partial { value, why } => {
                let met = self.is_met(value);
                let so_far = if met { " so far" } else { "" };
                let shown = format!("{}{so_far}", self.shown(value));
                let outcome = fail_unless(met, QualifyOutcome::Unknown);
                let room = Some(self.room(value));
                judgement(outcome, shown, EvidenceGrade::Behavioural, why, room)
            }
            MeasureReading::Falling { value, last, why } => {
                let met = self.is_met(value) && self.is_met(last);
                let shown = format!(
                    "{} after 80 min, then {}",
                    self.shown(value),
                    self.shown(last)
                );
                let outcome = fail_unless(met, QualifyOutcome::Unknown);
                let room = Some(self.room(last));
                judgement(outcome, shown, EvidenceGrade::Behavioural, why, room)
            }
            MeasureReading::Number { value, grade, why } => {
                let (outcome, why) = match (self.is_met(value), self.is_met_by_margin(value)) {
                    (false, _) => (QualifyOutcome::Fail, why),
                    (_, false) => (QualifyOutcome::Unknown, too_near(&why, self.margin)),
                    _ => (QualifyOutcome::Pass, why),
                };
                judgement(
                    outcome,
                    self.shown(value),
                    grade,
                    why,
                    Some(self.room(value)),
                )
            }
        }
    }
}

/// The outcome where the limit is met, else a failure.
fn fail_unless(is_met: bool, outcome: QualifyOutcome) -> QualifyOutcome {
    if is_met {
        outcome
    } else {
        QualifyOutcome::Fail
    }
}

fn too_near(why: &str, margin: f64) -> String {
    format!(
        "{why} The limit is nearer than the model is true: it misses its own data sheet by up to \
         {margin:.1} times."
    )
}

/// Holds `e` against a requirement of `role`.
pub(super) fn find(r: &Requirement, role: &Role, e: &Evidence) -> RoleFinding {
    let limit = Limit {
        at_least: r.at_least,
        at_most: r.at_most,
        unit: r.unit,
        margin: compare::margin(e),
    };
    let reading = readings::read(r.measure, role.durable_method, e);
    let mut judged = limit.weigh(reading);
    let mut limit_text = limit.text();
    if let Some(or) = &r.or {
        let limit = Limit {
            at_least: or.at_least,
            at_most: or.at_most,
            unit: or.unit,
            ..limit
        };
        let reading = readings::read(or.measure, role.durable_method, e);
        judged = either(judged, limit.weigh(reading));
        limit_text += &format!(" or {}", limit.text());
    }
    if let Some(moot) = &r.moot
        && judged.outcome != QualifyOutcome::Pass
        && let Some(why) = surplus(moot, role, e)
    {
        judged.outcome = QualifyOutcome::Pass;
        judged.why += &format!(" {why}");
    }
    let own = OwnReading {
        outcome: judged.outcome,
        amount: readings::read(r.measure, role.durable_method, e).amount(),
    };
    let ensemble = e.ensemble.as_ref();
    let ensemble = ensemble.and_then(|all| all.finding(r, role, &own));
    if let Some(drawn) = &ensemble {
        judged.outcome = drawn.outcome();
        judged.why += &format!(" {}", drawn.why());
    }
    let state = readings::state(r.measure, role.durable_method, e);
    RoleFinding {
        id: r.id.clone(),
        title: state.map_or_else(|| r.title.clone(), |state| format!("{}, {state}", r.title)),
        hard: r.hard,
        outcome: judged.outcome,
        value: judged.value,
        limit: limit_text,
        grade: judged.grade,
        why: judged.why,
        source: r.source.clone(),
        harm: r.harm.clone(),
        room: judged.room.filter(|room| room.is_finite()),
        ensemble,
    }
}

/// That the absolute figure has enough surplus to make a relative limit pointless.
fn surplus(moot: &MootLimit, role: &Role, e: &Evidence) -> Option<String> {
    let mut requirements = role.requirements.iter();
    let absolute = requirements.find(|r| r.id == moot.requirement)?;
    let least = absolute.at_least?;
    let reading = readings::read(absolute.measure, role.durable_method, e);
    let MeasureReading::Number { value, .. } = reading else {
        return None;
    };
    (value >= moot.times * compare::margin(e) * least).then(|| {
        format!(
            "It does no harm: {} is {} times what is required.",
            show::with_unit(value, absolute.unit),
            show::plain(value / least)
        )
    })
}

/// Two ways to meet one requirement: one that is met is enough, and both must fail for a failure.
fn either(a: RequirementJudgement, b: RequirementJudgement) -> RequirementJudgement {
    use QualifyOutcome::{Fail, Pass, Unknown};
    match (a.outcome, b.outcome) {
        (Pass, _) => a,
        (_, Pass) => b,
        (Unknown, _) => a,
        (_, Unknown) => b,
        (Fail, Fail) => RequirementJudgement {
            value: format!("{}, {}", a.value, b.value),
            ..a
        },
    }
}
