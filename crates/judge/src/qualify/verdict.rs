//! A role's requirements held against evidence: per requirement a finding, over all an answer.
//!
//! The outcome is FAIL when a hard requirement fails, UNKNOWN when none fails but one is unknown,
//! else PASS; soft requirements that fail are named in the answer and change nothing else.
//! Every number of the sentences is the value of a finding, and a rate in brackets is the
//! reciprocal of the time before it.

use super::readings;
use super::roles::{MeasureUnit, QualifyMeasure, Role};
use super::weigh::find;
use super::{Evidence, Mechanism, QualifyOutcome, RoleFinding, RoleVerdict, mechanisms, show};
use super::{cuts, loads};

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
        consequence: consequence(role, &findings),
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

// ---- the answer -------------------------------------------------------------------------------

fn measure_of(role: &Role, finding: &RoleFinding) -> Option<QualifyMeasure> {
    let requirement = role.requirements.iter().find(|r| r.id == finding.id);
    requirement.map(|r| r.measure)
}

/// "a durable 4 KiB write takes 15.2 ms on average (66 a second)": the fresh rate, and the time
/// that is its reciprocal.
fn durable_clause(role: &Role, e: &Evidence) -> Option<String> {
    let p = e.probe(role.durable_method.probe(), 1)?;
    (p.per_second > 0.0).then(|| {
        format!(
            "a durable 4 KiB write takes {} on average ({} a second)",
            show::time((1e9 / p.per_second).round() as u64),
            show::rate(p.per_second)
        )
    })
}

/// A failed finding inside the answer.
struct AnswerClause {
    text: String,
    /// It gives the time and rate of durable writes, which the volatile buffer may explain.
    is_durable_rate: bool,
}

fn clause(role: &Role, e: &Evidence, findings: &[RoleFinding], f: &RoleFinding) -> AnswerClause {
    use QualifyMeasure::*;
    let measure = measure_of(role, f);
    if measure == Some(DurableWritesPerSecond)
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
        _ if is_later_rate(role, f) => {
            rates(role, findings).unwrap_or_else(|| lower_first(&f.title))
        }
        Some(FlushP99) => format!(
            "one flush in a hundred takes {} or more (required {})",
            f.value, f.limit
        ),
        Some(EtcdAppendP99) => format!(
            "one commit in a hundred takes {} or more (required {})",
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

/// Whether a finding is a rate of durable writes on a used drive or in the worst case.
fn is_later_rate(role: &Role, f: &RoleFinding) -> bool {
    measure_of(role, f).is_some_and(|measure| {
        let is_rate = measure.unit() == MeasureUnit::PerSecond;
        let is_worst = measure == QualifyMeasure::SustainedDurableIops;
        is_worst || is_rate && measure.load().is_some()
    })
}

/// "a pool commits 18,710 durable 4 KiB writes a second fresh, 7,411 log blocks of 15 KiB used, and
/// 8,233 writes in the worst case": the values of the findings.
fn rates(role: &Role, findings: &[RoleFinding]) -> Option<String> {
    let rates = findings.iter().filter_map(|f| {
        let measure = measure_of(role, f)?;
        let known = f.value != "unknown";
        let is_rate = measure.unit() == MeasureUnit::PerSecond;
        let is_measured = measure.load().is_none() || f.title.ends_with(readings::USED);
        (known && is_rate && is_measured).then(|| (measure, f.value.replace(" /s", "")))
    });
    let rates: Vec<(QualifyMeasure, String)> = rates.collect();
    let rate = |is: &dyn Fn(QualifyMeasure) -> bool| rates.iter().find(|(measure, _)| is(*measure));
    let mut clauses = Vec::new();
    if let Some((_, fresh)) = rate(&|m| m == QualifyMeasure::DurableWritesPerSecond) {
        let commits = &role.commits;
        clauses.push(format!(
            "{commits} {fresh} durable 4 KiB writes a second fresh"
        ));
    }
    // What a real drive was written is short of a sustained figure: "so far".
    let split = |rate: &str| match rate.strip_suffix(SO_FAR) {
        Some(number) => (number.to_owned(), SO_FAR),
        None => (rate.to_owned(), ""),
    };
    if let Some((measure, used)) = rate(&|m| m.load().is_some()) {
        let load = measure.load().and_then(loads::load)?;
        let (used, so_far) = split(used);
        clauses.push(format!("{used} {} used{so_far}", load.commits));
    }
    if let Some((_, worst)) = rate(&|m| m == QualifyMeasure::SustainedDurableIops) {
        let (worst, so_far) = split(worst);
        clauses.push(if worst.contains(' ') {
            // "670 after 80 min, then 4.5"
            format!("in the worst case {worst}")
        } else {
            format!("{worst} writes in the worst case{so_far}")
        });
    }
    let has_fresh = clauses.first()?.ends_with(readings::FRESH);
    has_fresh.then(|| join(clauses))
}

/// What it means for the role, in its own terms; empty when nothing durable was measured.
fn consequence(role: &Role, findings: &[RoleFinding]) -> String {
    rates(role, findings).map_or(String::new(), |rates| show::sentence_case(&rates) + ".")
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

/// What follows a value that a longer run may change.
pub(super) const SO_FAR: &str = " so far";

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
        failed.retain(|f| !is_later_rate(role, f));
    }
    let clauses: Vec<AnswerClause> = failed
        .iter()
        .map(|f| clause(role, e, findings, f))
        .collect();
    let cause = match clauses.last() {
        Some(last) if last.is_durable_rate => because(e, m),
        _ => "",
    };
    let clauses = join(clauses.into_iter().map(|clause| clause.text).collect());
    format!("No: not a good choice as {}: {clauses}{cause}.", role.as_a)
}

/// Most soft requirements that a sentence names.
const NAMED_MAX: usize = 3;

/// Soft requirements with this outcome, as a list of titles.
fn soft(findings: &[RoleFinding], outcome: QualifyOutcome) -> String {
    let of_outcome = |f: &&RoleFinding| !f.hard && f.outcome == outcome;
    let mut titles: Vec<String> = findings
        .iter()
        .filter(of_outcome)
        .map(|f| match outcome {
            QualifyOutcome::Fail => {
                let title = lower_first(&f.title);
                format!("{title} ({}, required {})", f.value, f.limit)
            }
            _ => lower_first(&f.title),
        })
        .collect();
    let more = titles.len().saturating_sub(NAMED_MAX);
    titles.truncate(NAMED_MAX);
    let more = (more > 0).then(|| format!(", and {more} more"));
    titles.join("; ") + &more.unwrap_or_default()
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
    let open = || {
        let findings = findings.iter();
        findings.filter(|f| f.hard && f.outcome == QualifyOutcome::Unknown)
    };
    let is_divided = |f: &RoleFinding| f.ensemble.as_ref().is_some_and(|drawn| drawn.is_divided());
    let drawn = if open().any(is_divided) {
        " Its file only assumes what decides, and drives that have it as others do differ."
    } else {
        ""
    };
    let unknown: Vec<String> = open()
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
         {suspicious}.{drawn}{}",
        role.as_a,
        short_of(findings)
    )
}
