//! A qualification as text for a terminal.

use super::account;
use crate::others;
use crate::qualify::{
    Assessment, OpenQuestion, Qualification, QualifyOutcome, RoleFinding, RoleVerdict, compare,
    names, readings,
};
use ssdlab_bench::device::TargetKind;
use ssdlab_drives::rests_on::RestsOn;
use ssdlab_view::text::{
    PLAIN, RULED, bound, clean, finish, list, new_table, paragraph, widen_labels, with_label, wrap,
};
use ssdlab_view::units;

/// Drives beside each other in one table; more go into another below.
const DRIVES_ACROSS: usize = 3;

/// Most lines of [`answer`].
pub const ANSWER_LINES_MAX: usize = 40;
/// Most things not known, things missed, and warnings that it names.
const NAMED_MAX: usize = 3;
/// Most drives beside the target: the nearest two, the best and the worst.
const BESIDE_MAX: usize = 4;

/// The first screen: the answer, the number that decided, what it means for the role, what is not
/// known, and the one command that would find it out.
pub fn answer(q: &Qualification, width: usize) -> String {
    let verdict = &q.target.verdict;
    let (symbol, word) = compare::outcome(verdict.outcome);
    let mut rows = vec![(format!("{symbol} {word}"), verdict.answer.clone())];
    let worst = compare::worst_first(&verdict.findings);
    if let Some(f) = deciding(verdict) {
        let harm = (!f.harm.is_empty()).then(|| format!(". {}", f.harm));
        let text = format!("{}{}", with_limit(f), harm.unwrap_or_default());
        rows.push(("Decided by".into(), text));
    } else if let Some(f) = least_room(verdict) {
        rows.push(("Least room".into(), with_limit(f)));
    }
    let not_validated = compare::not_validated(&q.target.evidence);
    rows.extend(not_validated.map(|why| ("Mind".to_owned(), format!("{why}."))));
    if !verdict.consequence.is_empty() {
        rows.push(("It means".into(), verdict.consequence.clone()));
    }
    let with_outcome = |outcome| worst.iter().filter(move |f| f.outcome == outcome);
    for (head, outcome) in [
        ("Not met", QualifyOutcome::Fail),
        ("Not known", QualifyOutcome::Unknown),
    ] {
        let findings: Vec<&&RoleFinding> = with_outcome(outcome).collect();
        if !findings.is_empty() {
            rows.push((head.into(), titles(&findings)));
        }
    }
    let question = OpenQuestion {
        facts: &q.target.evidence.facts,
        role: &q.role,
        profile: &q.profile,
    };
    let step = question.first_step(&worst);
    rows.extend(step.map(|step| ("Find out by".into(), step)));
    let health = &q.target.evidence.facts.health;
    let warnings = health
        .iter()
        .flat_map(|health| &health.warnings)
        .take(NAMED_MAX);
    rows.extend(warnings.map(|warning| ("It warns".to_owned(), warning.clone())));
    rows.extend(by_others(q).map(|others| ("Others have".to_owned(), format!("{others}."))));
    rows.extend(account::forecast(q).map(|text| ("Credit".to_owned(), text)));
    let gives = verdict.mechanisms.first();
    rows.extend(gives.map(|m| ("What gives?".into(), format!("{}. {}", m.title, m.sentence))));
    let mut notes: Vec<(String, String)> = Vec::new();
    let note = q.kept.as_ref();
    notes.extend(note.map(|note| (String::new(), format!("{note}."))));
    let incomplete = q.incomplete.len();
    notes.extend((incomplete > 0).then(|| {
        let verb = if incomplete == 1 { "was" } else { "were" };
        let steps = units::plural(incomplete as u64, "step");
        let cut = format!("{steps} {verb} left out or cut short");
        ("Incomplete".to_owned(), cut)
    }));
    let heads = rows.iter().chain(&notes);
    let indent = heads.map(|(head, _)| head.chars().count()).max();
    let indent = indent.unwrap_or(0) + 2;
    let mut lines = wrapped(&rows, indent, width);
    let heads = std::iter::once("Beside it").chain(std::iter::repeat(""));
    let beside = beside(q).into_iter().zip(heads);
    lines.extend(beside.map(|(line, head)| format!("{head:indent$}{line}")));
    lines.extend(wrapped(&notes, indent, width));
    lines.truncate(ANSWER_LINES_MAX);
    lines.join("\n") + "\n"
}

/// A finding with what is required, and what drawn drives say.
fn with_limit(f: &RoleFinding) -> String {
    let drawn = f.ensemble.as_ref();
    let drawn = drawn.map_or(String::new(), |drawn| format!("; {}", drawn.clause()));
    format!("{}: {} (required {}{drawn})", f.title, f.value, f.limit)
}

/// The first few findings by title, with their values where there are any.
fn titles(findings: &[&&RoleFinding]) -> String {
    let more = findings.len().saturating_sub(NAMED_MAX);
    let with_value = |f: &&&RoleFinding| match (f.value.as_str(), drawn_interval(f)) {
        ("unknown", _) => f.title.clone(),
        (value, Some(interval)) => format!("{} ({value}; drawn: {interval})", f.title),
        (value, None) => format!("{} ({value})", f.title),
    };
    let mut titles: Vec<String> = findings.iter().take(NAMED_MAX).map(with_value).collect();
    titles.extend((more > 0).then(|| format!("{more} more")));
    titles.join("; ")
}

/// What the ledger has of a real target's drive, beside what was measured here.
fn by_others(q: &Qualification) -> Option<String> {
    let evidence = &q.target.evidence;
    let facts = &evidence.facts;
    if matches!(
        facts.kind,
        TargetKind::Modelled | TargetKind::Volume | TargetKind::Null
    ) {
        return None;
    }
    let capacity = (facts.kind == TargetKind::BlockDevice).then_some(facts.capacity);
    let own = evidence
        .probe(names::WRITE_FLUSH, 1)
        .map(|probe| probe.per_second);
    others::said(facts.model.as_deref(), capacity, own)
}

/// Heads in a column, and each text wrapped beside its own.
fn wrapped(rows: &[(String, String)], indent: usize, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (head, text) in rows {
        let wrapped = wrap(&clean(text), width.max(indent + 20) - indent);
        let heads = std::iter::once(head.as_str()).chain(std::iter::repeat(""));
        lines.extend(
            wrapped
                .iter()
                .zip(heads)
                .map(|(line, head)| format!("{head:indent$}{line}")),
        );
    }
    lines
}

/// The finding on which an outcome rests: a *must* with that outcome. A PASS rests on all of them.
pub fn deciding(verdict: &RoleVerdict) -> Option<&RoleFinding> {
    if verdict.outcome == QualifyOutcome::Pass {
        return None;
    }
    let mut findings = verdict.findings.iter();
    findings.find(|f| f.hard && f.outcome == verdict.outcome)
}

/// The *must* of a PASS whose number is nearest to its limit.
pub fn least_room(verdict: &RoleVerdict) -> Option<&RoleFinding> {
    let musts = verdict.findings.iter().filter(|f| f.hard);
    let numbers = musts.filter_map(|f| Some((f.room?, f)));
    numbers.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, f)| f)
}

/// Modelled drives that were measured beside it, a line each: the answer and the rate of durable
/// writes in each state.
fn beside(q: &Qualification) -> Vec<String> {
    let states = [readings::FRESH, readings::USED, readings::WORST_CASE];
    let rate = |drive: &Assessment, state: &str| {
        let is_rate = |f: &&RoleFinding| f.title.ends_with(state) && f.value.contains("/s");
        let f = drive.verdict.findings.iter().find(is_rate);
        let number = f.and_then(|f| f.value.split(' ').next());
        number.unwrap_or(units::NOTHING).to_owned()
    };
    let drives = q.references.iter().take(BESIDE_MAX);
    let rows: Vec<(&str, String, Vec<String>)> = drives
        .map(|drive| {
            let name = drive.evidence.facts.name.trim_start_matches("drive:");
            let rates = states.iter().map(|state| rate(drive, state));
            (name, badge(drive), rates.collect())
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let longest = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let line = |name: &str, badge: &str, rates: &[String]| {
        let [fresh, used, worst] = [&rates[0], &rates[1], &rates[2]];
        let name = clean(name);
        format!("{name:longest$}  {badge:9} {fresh:>7} {used:>7} {worst:>10}")
    };
    let head = line("durable writes a second", "", &states.map(str::to_owned));
    let drives = rows
        .iter()
        .map(|(name, badge, rates)| line(name, badge, rates));
    std::iter::once(head).chain(drives).collect()
}

/// The comparison, then the verdict.
pub fn text(q: &Qualification) -> String {
    format!("{}\n{}", comparison_table(q), verdict_summary(q))
}

/// Every requirement, what gives, and last, where a person looks first, the answer.
pub fn verdict_summary(q: &Qualification) -> String {
    let verdict = &q.target.verdict;
    let headline = format!(
        "{} as {} ({} profile). {}.",
        q.target.evidence.facts.name,
        verdict.role,
        q.profile,
        compare::tally(&verdict.findings)
    );
    let mut out = paragraph("", &headline);
    out += &findings(&verdict.findings);
    out += &list(
        "\nThese figures rest on",
        &calibrated(&q.target.evidence.rests_on),
    );
    out += &list("\nLeft out or cut short", &q.incomplete);
    if let Some(drawn) = &q.target.evidence.ensemble {
        out += &list("\nDrawn", &[drawn.sentence() + "."]);
    }
    if !verdict.mechanisms.is_empty() {
        out += "\nWhat gives?\n";
        for mechanism in &verdict.mechanisms {
            out += &paragraph("-", &format!("{}. {}", mechanism.title, mechanism.sentence));
        }
    }
    let (symbol, word) = compare::outcome(verdict.outcome);
    out += "\nIs it a good choice?\n";
    out += &paragraph(&format!("{symbol} {word}"), &verdict.answer);
    out
}

/// The calibrated values by name, the assumed ones by number.
fn calibrated(rests_on: &[RestsOn]) -> Vec<String> {
    let calibrated = rests_on.iter().filter(|value| value.is_calibrated());
    let mut named: Vec<String> = calibrated.map(RestsOn::to_string).collect();
    let assumed = rests_on.len() - named.len();
    if assumed > 0 {
        named.push(format!(
            "{assumed} assumed values: `ssdlab drives show` gives each with its reason"
        ));
    }
    named
}

fn findings(findings: &[RoleFinding]) -> String {
    let mut table = new_table(RULED);
    table.set_header(["Outcome", "Requirement and why", "Measured", "Limit"]);
    let mut reasons = Vec::new();
    for f in compare::worst_first(findings) {
        let (symbol, word) = compare::outcome(f.outcome);
        let need = if f.hard { "must" } else { "should" };
        // What is met needs no excuse; the page has the reasons of all.
        let why = match f.outcome {
            QualifyOutcome::Pass => format!("[{}]", compare::grade(f.grade)),
            _ if reasons.contains(&&f.why) => format!("As above. [{}]", compare::grade(f.grade)),
            _ => format!("{} [{}]", clean(&f.why), compare::grade(f.grade)),
        };
        reasons.push(&f.why);
        table.add_row([
            format!("{symbol} {word}\n  {need}"),
            format!("{}\n{why}", clean(&f.title)),
            measured(f),
            clean(&f.limit),
        ]);
    }
    bound(&mut table, &[(0, 11), (2, 14), (3, 14)]);
    finish(&table)
}

/// The interval that holds 80 % of the draws.
fn drawn_interval(f: &RoleFinding) -> Option<&str> {
    f.ensemble.as_ref()?.interval.as_deref()
}

/// The number, and below it the interval of an ensemble.
fn measured(f: &RoleFinding) -> String {
    let interval = drawn_interval(f);
    let within = interval.map(|interval| format!("\n80 %: {interval}"));
    clean(&f.value) + &within.unwrap_or_default()
}

/// The target beside the modelled drives, measure by measure.
pub fn comparison_table(q: &Qualification) -> String {
    let drives = compare::drives(q);
    let rows = compare::rows(q);
    let mut out = String::new();
    // The target stands in every table, so that each can be read alone.
    let groups = match drives.len() {
        1 => vec![vec![0]],
        n => (1..n)
            .collect::<Vec<usize>>()
            .chunks(DRIVES_ACROSS - 1)
            .map(|group| [&[0], group].concat())
            .collect(),
    };
    for columns in groups {
        let mut table = new_table(PLAIN);
        let name = |&i: &usize| clean(&drives[i].evidence.facts.name);
        table.set_header(with_label("", columns.iter().map(name)));
        let verdict = |&i: &usize| badge(drives[i]);
        table.add_row(with_label("Verdict", columns.iter().map(verdict)));
        for row in &rows {
            let cell = |&i: &usize| match &row.cells[i] {
                Some(text) => clean(text),
                None => units::NOTHING.to_owned(),
            };
            table.add_row(with_label(&clean(&row.label), columns.iter().map(cell)));
        }
        widen_labels(&mut table);
        if !out.is_empty() {
            out.push('\n');
        }
        out += &finish(&table);
    }
    out
}

fn badge(drive: &Assessment) -> String {
    let (symbol, word) = compare::outcome(drive.verdict.outcome);
    format!("{symbol} {word}")
}
