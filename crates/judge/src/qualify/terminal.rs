//! A qualification as text for a terminal.

use crate::qualify::{Assessed, Finding, Outcome, Qualification, compare};
use ssdlab_drives::rests_on::RestsOn;
use ssdlab_view::text::{
    PLAIN, RULED, bound, clean, finish, list, new_table, paragraph, widen_labels, with_label,
};
use ssdlab_view::units;

/// Drives beside each other in one table; more go into another below.
const DRIVES_ACROSS: usize = 3;

/// The comparison, then the verdict.
pub fn text(q: &Qualification) -> String {
    format!("{}\n{}", comparison_table(q), verdict_summary(q))
}

/// Every requirement, what gives, and last, where a person looks first, the answer.
pub fn verdict_summary(q: &Qualification) -> String {
    let verdict = &q.target.verdict;
    let what = format!(
        "{} as {} ({} profile). {}.",
        q.target.evidence.facts.name,
        verdict.role,
        q.profile,
        compare::tally(&verdict.findings)
    );
    let mut out = paragraph("", &what);
    out += &findings(&verdict.findings);
    out += &list(
        "\nThese figures rest on",
        &calibrated(&q.target.evidence.rests_on),
    );
    out += &list("\nLeft out or cut short", &q.incomplete);
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

fn findings(findings: &[Finding]) -> String {
    let mut table = new_table(RULED);
    table.set_header(["Outcome", "Requirement and why", "Measured", "Limit"]);
    for f in compare::worst_first(findings) {
        let (symbol, word) = compare::outcome(f.outcome);
        let need = if f.hard { "must" } else { "should" };
        // What is met needs no excuse; the page has the reasons of all.
        let why = match f.outcome {
            Outcome::Pass => format!("[{}]", compare::grade(f.grade)),
            _ => format!("{} [{}]", clean(&f.why), compare::grade(f.grade)),
        };
        table.add_row([
            format!("{symbol} {word}\n  {need}"),
            format!("{}\n{why}", clean(&f.title)),
            clean(&f.value),
            clean(&f.limit),
        ]);
    }
    bound(&mut table, &[(0, 11), (2, 14), (3, 14)]);
    finish(&table)
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

fn badge(drive: &Assessed) -> String {
    let (symbol, word) = compare::outcome(drive.verdict.outcome);
    format!("{symbol} {word}")
}
