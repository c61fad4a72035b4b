//! A role's requirements held against evidence: per requirement a finding, over all an answer.
//!
//! A modelled drive that is not validated meets a requirement on a rate or a time only with the
//! model's worst error against its data sheet as margin: else the outcome is unknown.
//! The outcome is FAIL when a hard requirement fails, UNKNOWN when none fails but one is unknown,
//! else PASS; soft requirements that fail are named in the answer and change nothing else.

use super::readings::{self, MeasureReading};
use super::roles::{MeasureUnit, QualifyMeasure, Requirement, Role};
use super::{
    Evidence, EvidenceGrade, Mechanism, QualifyOutcome, RoleFinding, RoleVerdict, mechanisms, show,
};
use super::{compare, cuts};

/// Holds `evidence` against `role`.
pub fn judge(role: &Role, evidence: &Evidence) -> RoleVerdict {
    let findings: Vec<RoleFinding> = role
        .requirements
        .iter()
        .map(|r| find(r, role, evidence))
        .collect();
    let mechanisms = mechanisms::explain(evidence);
    let outcome = overall(&findings);
    let answer = match outcome {
        QualifyOutcome::Fail => answer_no(role, evidence, &findings, &mechanisms),
        QualifyOutcome::Unknown => answer_unknown(role, evidence, &findings),
        QualifyOutcome::Pass => answer_yes(role, evidence, &findings),
    };
    RoleVerdict {
        role: role.name.clone(),
        outcome,
        answer,
        consequence: consequence(role, evidence),
        findings,
        mechanisms,
    }
}

fn overall(findings: &[RoleFinding]) -> QualifyOutcome {
    let any = |outcome| findings.iter().any(|f| f.hard && f.outcome == outcome);
    if any(QualifyOutcome::Fail) {
        QualifyOutcome::Fail
    } else if any(QualifyOutcome::Unknown) {
        QualifyOutcome::Unknown
    } else {
        QualifyOutcome::Pass
    }
}

// ---- one requirement --------------------------------------------------------------------------

struct RequirementJudgement {
    outcome: QualifyOutcome,
    value: String,
    grade: EvidenceGrade,
    why: String,
}

fn weigh(
    reading: MeasureReading,
    at_least: Option<f64>,
    at_most: Option<f64>,
    unit: MeasureUnit,
    margin: f64,
) -> RequirementJudgement {
    let meets_by = |value: f64, margin: f64| {
        at_least.is_none_or(|l| value / margin >= l) && at_most.is_none_or(|l| value * margin <= l)
    };
    let meets = |value| meets_by(value, 1.0);
    let margin = match unit {
        MeasureUnit::PerSecond | MeasureUnit::Milliseconds => margin,
        _ => 1.0,
    };
    match reading {
        MeasureReading::Unknown { grade, why } => RequirementJudgement {
            outcome: QualifyOutcome::Unknown,
            value: "unknown".into(),
            grade,
            why,
        },
        MeasureReading::Fact { holds, grade, why } => RequirementJudgement {
            outcome: fail_unless(holds, QualifyOutcome::Pass),
            value: if holds { "yes" } else { "no" }.into(),
            grade,
            why,
        },
        MeasureReading::Partial { value, why } => {
            let met = meets(value);
            RequirementJudgement {
                outcome: fail_unless(met, QualifyOutcome::Unknown),
                value: if met {
                    format!("{} so far", show::with_unit(value, unit))
                } else {
                    show::with_unit(value, unit)
                },
                grade: EvidenceGrade::Behavioural,
                why,
            }
        }
        MeasureReading::Falling { value, last, why } => RequirementJudgement {
            outcome: fail_unless(meets(value) && meets(last), QualifyOutcome::Unknown),
            value: format!(
                "{} after 80 min, then {}",
                show::with_unit(value, unit),
                show::with_unit(last, unit)
            ),
            grade: EvidenceGrade::Behavioural,
            why,
        },
        MeasureReading::Number { value, grade, why } => {
            let (outcome, why) = match (meets(value), meets_by(value, margin)) {
                (false, _) => (QualifyOutcome::Fail, why),
                (true, true) => (QualifyOutcome::Pass, why),
                (true, false) => (QualifyOutcome::Unknown, too_near(&why, margin)),
            };
            RequirementJudgement {
                outcome,
                value: show::with_unit(value, unit),
                grade,
                why,
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

fn limit_text(at_least: Option<f64>, at_most: Option<f64>, unit: MeasureUnit) -> String {
    match (at_least, at_most) {
        (Some(l), _) => format!(">= {}", show::limit(l, unit)),
        (_, Some(l)) => format!("<= {}", show::limit(l, unit)),
        (None, None) => "yes".into(),
    }
}

fn find(r: &Requirement, role: &Role, e: &Evidence) -> RoleFinding {
    let margin = compare::margin(e);
    let reading = readings::read(r.measure, role.durable_method, e);
    let mut judged = weigh(reading, r.at_least, r.at_most, r.unit, margin);
    let mut limit = limit_text(r.at_least, r.at_most, r.unit);
    if let Some(or) = &r.or {
        let reading = readings::read(or.measure, role.durable_method, e);
        let alternative = weigh(reading, or.at_least, or.at_most, or.unit, margin);
        judged = either(judged, alternative);
        limit = format!(
            "{limit} or {}",
            limit_text(or.at_least, or.at_most, or.unit)
        );
    }
    RoleFinding {
        id: r.id.clone(),
        title: r.title.clone(),
        hard: r.hard,
        outcome: judged.outcome,
        value: judged.value,
        limit,
        grade: judged.grade,
        why: judged.why,
        source: r.source.clone(),
    }
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

// ---- the answer -------------------------------------------------------------------------------

fn measure_of(role: &Role, finding: &RoleFinding) -> Option<QualifyMeasure> {
    let requirement = role.requirements.iter().find(|r| r.id == finding.id);
    requirement.map(|r| r.measure)
}

/// "a durable 4 KiB write takes 15.2 ms (66 a second)"
fn durable_clause(role: &Role, e: &Evidence) -> Option<String> {
    let p = e.probe(role.durable_method.probe(), 1)?;
    Some(format!(
        "a durable 4 KiB write takes {} ({} a second)",
        show::time(p.p50_ns),
        show::rate(p.per_second)
    ))
}

/// A failed finding inside the answer.
struct AnswerClause {
    text: String,
    /// It gives the time and rate of durable writes, which the volatile buffer may explain.
    is_durable_rate: bool,
}

fn clause(role: &Role, e: &Evidence, f: &RoleFinding) -> AnswerClause {
    use QualifyMeasure::*;
    let measure = measure_of(role, f);
    if let Some(DurableWriteP50 | DurableWritesPerSecond) = measure
        && let Some(text) = durable_clause(role, e)
    {
        return AnswerClause {
            text,
            is_durable_rate: true,
        };
    }
    let text = match measure {
        Some(PowerLossProtection) => "it has no power-loss protection".into(),
        Some(Health) => lower_first(f.why.trim_end_matches('.')),
        Some(SustainedDurableIops | DurableFall) if e.overwrite.is_some() => fall(role, e),
        Some(FlushP99) => format!(
            "one flush in a hundred takes {} or more (required {})",
            f.value, f.limit
        ),
        _ => format!(
            "{}: {} (required {})",
            lower_first(&f.title),
            f.value,
            f.limit
        ),
    };
    AnswerClause {
        text,
        is_durable_rate: false,
    }
}

/// "a pool commits 2,559 durable writes a second, and after 21 GB of overwrites 670"
fn fall(role: &Role, e: &Evidence) -> String {
    let run = e
        .overwrite
        .as_ref()
        .and_then(|o| Some((o, o.durable(role.durable_method.probe())?)));
    let Some((o, run)) = run.filter(|(_, run)| run.count > 0) else {
        return durable_clause(role, e).unwrap_or_default();
    };
    let (commits, before, after) = (&role.commits, show::rate(run.before), show::rate(run.after));
    if let (Some(rate), Some(bytes)) = (run.after_80_min, o.written_80_min) {
        let (rate, gigabytes) = (show::rate(rate), bytes as f64 / 1e9);
        return format!(
            "{commits} {before} durable writes a second, {rate} after 80 minutes and \
             {gigabytes:.0} GB of them, and ever fewer after that"
        );
    }
    if run.after < FELL * run.before {
        format!(
            "{commits} {before} durable writes a second, and after {:.0} GB of overwrites {after}",
            o.fell_after() as f64 / 1e9
        )
    } else {
        format!("{commits} {after} durable writes a second, however much is written")
    }
}

/// A rate below this share of the first one has fallen.
const FELL: f64 = 0.9;

/// What it means for the role, in its own terms; empty when nothing durable was measured.
fn consequence(role: &Role, e: &Evidence) -> String {
    let text = match &e.overwrite {
        Some(_) => fall(role, e),
        None => match e.probe(role.durable_method.probe(), 1) {
            Some(p) => format!(
                "{} {} durable writes a second at first",
                role.commits,
                show::rate(p.per_second)
            ),
            None => return String::new(),
        },
    };
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str() + "."
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let acronym = text.chars().nth(1).is_some_and(|c| !c.is_lowercase());
    match chars.next() {
        Some(first) if !acronym => first.to_lowercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

fn join(mut clauses: Vec<String>) -> String {
    clauses.dedup();
    match clauses.pop() {
        None => String::new(),
        Some(last) if clauses.is_empty() => last,
        Some(last) => format!("{}, and {last}", clauses.join(", ")),
    }
}

/// Why durable writes are slow, where a mechanism shows it.
fn because(e: &Evidence, mechanisms: &[Mechanism]) -> &'static str {
    let forced = |m: &Mechanism| m.id == "volatile_buffer_forced_to_media";
    match readings::known_protection(e) {
        _ if !mechanisms.iter().any(forced) => "",
        Some(_) => " because the volatile buffer is forced to media on each one",
        None => ", as when a volatile buffer is forced to media on each one",
    }
}

fn answer_no(role: &Role, e: &Evidence, findings: &[RoleFinding], m: &[Mechanism]) -> String {
    // The durable rate goes last, so that its cause can follow it.
    let mut failed: Vec<&RoleFinding> = findings
        .iter()
        .filter(|f| f.hard && f.outcome == QualifyOutcome::Fail)
        .collect();
    let is = |f: &RoleFinding, measure| measure_of(role, f) == Some(measure);
    failed.sort_by_key(|f| is(f, QualifyMeasure::DurableWritesPerSecond));
    if failed
        .iter()
        .any(|f| is(f, QualifyMeasure::DurableWritesPerSecond))
    {
        // A rate that was too low at first need not be called too low in the end.
        failed.retain(|f| !is(f, QualifyMeasure::SustainedDurableIops));
    }
    let clauses: Vec<AnswerClause> = failed.iter().map(|f| clause(role, e, f)).collect();
    let cause = match clauses.last() {
        Some(last) if last.is_durable_rate => because(e, m),
        _ => "",
    };
    let clauses = join(clauses.into_iter().map(|clause| clause.text).collect());
    format!("No: not a good choice as {}: {clauses}{cause}.", role.as_a)
}

/// Soft requirements with this outcome, as a list of titles.
fn soft(findings: &[RoleFinding], outcome: QualifyOutcome) -> String {
    let titles: Vec<String> = findings
        .iter()
        .filter(|f| !f.hard && f.outcome == outcome)
        .map(|f| match outcome {
            QualifyOutcome::Fail => format!("{} ({}, {})", lower_first(&f.title), f.value, f.limit),
            _ => lower_first(&f.title),
        })
        .collect();
    titles.join("; ")
}

fn shortcomings(findings: &[RoleFinding]) -> String {
    let mut text = short_of(findings);
    let unknown = soft(findings, QualifyOutcome::Unknown);
    if !unknown.is_empty() {
        text += &format!(" Not known: {unknown}.");
    }
    text
}

fn short_of(findings: &[RoleFinding]) -> String {
    match soft(findings, QualifyOutcome::Fail) {
        failed if failed.is_empty() => failed,
        failed => format!(" Falls short in: {failed}."),
    }
}

fn answer_yes(role: &Role, e: &Evidence, findings: &[RoleFinding]) -> String {
    let shows = durable_clause(role, e).unwrap_or_else(|| "every hard requirement is met".into());
    let protected = match readings::known_protection(e) {
        Some(true) if readings::protection_is_assumed(e) => " and the buffer is assumed protected",
        Some(true) => " and the buffer is power-protected",
        _ => "",
    };
    let good = if soft(findings, QualifyOutcome::Fail).is_empty() {
        "a good choice"
    } else {
        "usable"
    };
    format!(
        "Yes: {good} as {}: {shows}{protected}{}.{}",
        role.as_a,
        cuts::passed(e),
        shortcomings(findings)
    )
}

fn answer_unknown(role: &Role, e: &Evidence, findings: &[RoleFinding]) -> String {
    let unknown: Vec<String> = findings
        .iter()
        .filter(|f| f.hard && f.outcome == QualifyOutcome::Unknown)
        .map(|f| match measure_of(role, f) {
            Some(QualifyMeasure::Durability) => "whether flushed writes survive a power cut".into(),
            Some(QualifyMeasure::PowerLossProtection) => {
                "whether its buffer is power-protected".into()
            }
            _ => format!("whether it meets `{}`", f.title),
        })
        .collect();
    let unknown = match unknown.as_slice() {
        [] => "enough".to_owned(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first}, and {} more", rest.len()),
    };
    let measured = match durable_clause(role, e) {
        Some(clause) => format!("{clause}, but "),
        None => String::new(),
    };
    let suspicious = mechanisms::explain(e)
        .iter()
        .any(|m| m.id == "implausibly_fast_flush");
    let suspicious = if suspicious {
        "; the flush is suspiciously fast"
    } else {
        ""
    };
    format!(
        "Unknown whether it is a good choice as {}: {measured}it is not known {unknown}\
         {suspicious}.{}",
        role.as_a,
        short_of(findings)
    )
}
