//! The target beside the modelled drives: the rows that the page and the terminal both show, and
//! the words for outcomes, grades and methods.

use crate::qualify::loads::{LOADS, RoleLoad, load};
use crate::qualify::{
    Assessment, Evidence, Qualification, QualifyMeasure, QualifyOutcome, RoleFinding, SustainedRun,
    WriteProbe, role,
};
use crate::qualify::{cuts, show};
use maud::{Markup, html};
use ssdlab_bench::device::TargetKind;
use ssdlab_bench::device::health::EvidenceGrade;
use ssdlab_bench::report::words::{ComparisonRow, capacity, cliff, endurance, protection};
use ssdlab_drives::catalogue::DatasheetStanding;
use ssdlab_view::units;

/// Names of probes, weakest promise first, with what a person calls them.
const METHODS: [(&str, &str); 3] = [
    ("plain", "plain write"),
    ("fua", "written through (FUA)"),
    ("write_flush", "write, then flush"),
];

/// The target, then the modelled drives.
pub fn drives(q: &Qualification) -> Vec<&Assessment> {
    std::iter::once(&q.target).chain(&q.references).collect()
}

/// Every measure that at least one drive has.
pub fn rows(q: &Qualification) -> Vec<ComparisonRow> {
    let evidence: Vec<&Evidence> = drives(q).iter().map(|d| &d.evidence).collect();
    let mut rows = durable_rows(&evidence);
    rows.extend(overwritten_rows(&evidence));
    rows.extend(sustained_rows(&evidence));
    rows.push(row(&evidence, "Power-loss protection", |e| {
        Some(cuts::protection_word(e).unwrap_or_else(|| protection(&e.facts)))
    }));
    rows.push(row(&evidence, "Rated endurance", |e| endurance(&e.facts)));
    rows.push(row(&evidence, "Capacity", |e| Some(capacity(&e.facts))));
    rows.push(row(&evidence, "Meets its data sheet", meets_its_sheet));
    rows.retain(|row| row.cells.iter().any(Option::is_some));
    let used = used_label(&q.role);
    for row in &mut rows {
        let is_used = used.as_ref() == Some(&row.label);
        row.leads = is_used || LEAD.iter().any(|label| row.label == *label);
    }
    rows
}

/// The row of the load of a role.
fn used_label(role_name: &str) -> Option<String> {
    let mut measures = role(role_name).ok()?.requirements.iter().map(|r| r.measure);
    let name = measures.find_map(QualifyMeasure::load)?;
    load(name).map(used_row_label)
}

fn used_row_label(load: &RoleLoad) -> String {
    format!("{}, used", capital(load.title))
}

/// The rows that decide most verdicts.
const LEAD: [&str; 9] = [
    "Plain write, fresh",
    "Written through (FUA), fresh",
    "Write, then flush, fresh",
    "Write, then flush, fresh, p99",
    "Written through (FUA), worst case",
    "Write, then flush, worst case",
    "Power-loss protection",
    "Rated endurance",
    "Meets its data sheet",
];

/// Durable writes of drives once they are used, and in the worst case.
fn overwritten_rows(all: &[&Evidence]) -> Vec<ComparisonRow> {
    let method_row = |(method, title): (&str, &str)| {
        row(all, &format!("{}, worst case", capital(title)), |e| {
            let run = e.worst_case(method)?;
            let last = show::rate(run.after);
            Some(match run.after_80_min {
                Some(rate) => format!("{} /s after 80 min, then {last}", show::rate(rate)),
                None => format!("{last} /s"),
            })
        })
    };
    let used_row = |load: &RoleLoad| {
        row(all, &used_row_label(load), |e| {
            let run = e.used(load.name)?;
            Some(format!("{} /s", show::rate(run.per_second)))
        })
    };
    let used = LOADS.iter().map(used_row);
    used.chain(METHODS.into_iter().skip(1).map(method_row))
        .collect()
}

fn row(
    all: &[&Evidence],
    label: &str,
    cell: impl Fn(&Evidence) -> Option<String>,
) -> ComparisonRow {
    ComparisonRow {
        label: label.to_owned(),
        cells: all.iter().map(|e| cell(e)).collect(),
        leads: false,
    }
}

fn standing(e: &Evidence) -> Option<DatasheetStanding> {
    let name = e.facts.name.trim_start_matches("drive:");
    let modelled = e.facts.kind == TargetKind::Modelled;
    modelled.then(|| DatasheetStanding::of(name))
}

fn meets_its_sheet(e: &Evidence) -> Option<String> {
    standing(e).map(DatasheetStanding::cell)
}

/// How far a rate or a time of the target may be from the drive's that it stands for, as a factor.
pub(super) fn margin(e: &Evidence) -> f64 {
    standing(e).map_or(1.0, DatasheetStanding::margin)
}

/// That a modelled drive is not like the real one, where its data sheet says so, or that nothing
/// was held against one.
pub fn not_validated(e: &Evidence) -> Option<String> {
    let premise = standing(e)?.premise().or_else(|| own_file(e))?;
    Some(show::sentence_case(&premise))
}

/// That a drive file is the user's own, and on how many assumptions it rests.
fn own_file(e: &Evidence) -> Option<String> {
    let file = e.facts.typed.as_ref()?.strip_prefix("drive:")?;
    let assumed = e.rests_on.iter().filter(|value| !value.is_calibrated());
    let assumed = assumed.count() as u64;
    let fitted = e.rests_on.len() as u64 - assumed;
    let assumed = units::plural(assumed, "assumed value");
    if fitted > 0 {
        return Some(format!(
            "the model is a file of your own: {} fitted, and {assumed}, on which loads unlike \
             those of the fit rest",
            units::plural(fitted, "value")
        ));
    }
    Some(format!(
        "the model is a file of your own and rests on {assumed}; `ssdlab drives validate {file}` \
         holds it against its sheet"
    ))
}

fn durable_rows(all: &[&Evidence]) -> Vec<ComparisonRow> {
    let mut rows = Vec::new();
    for (method, title) in METHODS {
        let cell = |label: String, text: &dyn Fn(&WriteProbe) -> String| {
            row(all, &label, |e| one_writer(e, method).map(text))
        };
        rows.push(cell(format!("{}, fresh", capital(title)), &|p| {
            format!("{} /s", show::rate(p.per_second))
        }));
        rows.push(cell(format!("{}, fresh, p50", capital(title)), &|p| {
            units::time(p.p50_ns)
        }));
        rows.push(cell(format!("{}, fresh, p99", capital(title)), &|p| {
            units::time(p.p99_ns)
        }));
    }
    for (method, title) in METHODS.into_iter().skip(1) {
        rows.push(row(all, &format!("Plain over {title}"), |e| {
            let (plain, durable) = (one_writer(e, "plain")?, one_writer(e, method)?);
            Some(units::ratio(plain.per_second / durable.per_second))
        }));
    }
    rows.push(row(all, "Flush, most over least dirty bytes", flush_growth));
    rows
}

fn sustained_rows(all: &[&Evidence]) -> Vec<ComparisonRow> {
    let mut rows = Vec::new();
    for (name, title) in sustained_names(all) {
        let run =
            |e: &Evidence, show: &dyn Fn(&SustainedRun) -> String| sustained(e, &name).map(show);
        rows.push(row(all, &format!("{title}: IOPS at the end"), |e| {
            run(e, &|s| units::rate(s.iops_end))
        }));
        let fell = all
            .iter()
            .any(|e| sustained(e, &name).is_some_and(|s| s.cliff.is_some()));
        if fell {
            rows.push(row(all, &format!("{title}: write cliff"), |e| {
                run(e, &|s| cliff(s.cliff.as_ref()))
            }));
        }
    }
    rows
}

/// Names and titles of all sustained runs, in the order in which they are first met.
pub fn sustained_names(all: &[&Evidence]) -> Vec<(String, String)> {
    let mut names: Vec<(String, String)> = Vec::new();
    for run in all.iter().flat_map(|e| &e.sustained) {
        if !names.iter().any(|(name, _)| *name == run.name) {
            names.push((run.name.clone(), run.title.clone()));
        }
    }
    names
}

/// The run of this name.
pub fn sustained<'a>(e: &'a Evidence, name: &str) -> Option<&'a SustainedRun> {
    e.sustained.iter().find(|s| s.name == name)
}

/// The probe of this method with one writer.
pub fn one_writer<'a>(e: &'a Evidence, method: &str) -> Option<&'a WriteProbe> {
    let mut probes = e.probes.iter();
    probes.find(|p| p.method == method && p.writers == 1 && p.count > 0)
}

/// All methods that any drive was probed with, with what a person calls them.
pub fn methods(all: &[&Evidence]) -> Vec<(String, String)> {
    let mut methods: Vec<String> = METHODS.iter().map(|(m, _)| (*m).to_owned()).collect();
    for probe in all.iter().flat_map(|e| &e.probes) {
        if !methods.contains(&probe.method) {
            methods.push(probe.method.clone());
        }
    }
    methods.retain(|m| {
        all.iter()
            .any(|e| e.probes.iter().any(|p| p.method == *m && p.count > 0))
    });
    let titled = |m: String| (m.clone(), method_title(&m));
    methods.into_iter().map(titled).collect()
}

/// What a person calls a method.
pub fn method_title(method: &str) -> String {
    let known = METHODS.iter().find(|(name, _)| *name == method);
    known.map_or(method, |(_, title)| title).to_owned()
}

/// With its first letter large.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Flush time with most dirty data, divided by that with least.
fn flush_growth(e: &Evidence) -> Option<String> {
    let least = e.flush_by_dirty.iter().min_by_key(|p| p.dirty_bytes)?;
    let most = e.flush_by_dirty.iter().max_by_key(|p| p.dirty_bytes)?;
    if least.dirty_bytes == most.dirty_bytes || least.p50_ns == 0 {
        return None;
    }
    Some(units::ratio(most.p50_ns as f64 / least.p50_ns as f64))
}

/// Symbol and word of an outcome.
pub fn outcome(outcome: QualifyOutcome) -> (&'static str, &'static str) {
    match outcome {
        QualifyOutcome::Pass => ("✓", "PASS"),
        QualifyOutcome::Fail => ("✗", "FAIL"),
        QualifyOutcome::Unknown => ("?", "UNKNOWN"),
    }
}

/// A grade in words.
pub fn grade(grade: EvidenceGrade) -> &'static str {
    match grade {
        EvidenceGrade::None => "no evidence",
        EvidenceGrade::Assumed => "assumed",
        EvidenceGrade::Declared => "declared",
        EvidenceGrade::Documented => "documented",
        EvidenceGrade::MeasuredByOthers => "measured by others",
        EvidenceGrade::Behavioural => "behavioural",
        EvidenceGrade::ProvedByCuts => "proved by cuts",
    }
}

/// Findings not met first, then those left open, then those met; hard ones before soft ones.
pub fn worst_first(findings: &[RoleFinding]) -> Vec<&RoleFinding> {
    let rank = |f: &&RoleFinding| match f.outcome {
        QualifyOutcome::Fail => (0, !f.hard),
        QualifyOutcome::Unknown => (1, !f.hard),
        QualifyOutcome::Pass => (2, !f.hard),
    };
    let mut sorted: Vec<&RoleFinding> = findings.iter().collect();
    sorted.sort_by_key(rank);
    sorted
}

/// How many findings met, missed and left open their limits.
pub fn tally(findings: &[RoleFinding]) -> String {
    let count = |outcome| findings.iter().filter(|f| f.outcome == outcome).count();
    format!(
        "{} requirements: {} met, {} not met, {} unknown",
        findings.len(),
        count(QualifyOutcome::Pass),
        count(QualifyOutcome::Fail),
        count(QualifyOutcome::Unknown)
    )
}

/// An outcome as symbol and word; colour only repeats it.
pub fn badge(outcome: QualifyOutcome) -> Markup {
    let (symbol, word) = self::outcome(outcome);
    html! {
        span .badge .(word.to_lowercase()) { span aria-hidden="true" { (symbol) } " " (word) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_survive_any_first_letter() {
        assert_eq!(capital("written"), "Written");
        assert_eq!(capital("ß"), "SS");
        assert_eq!(capital(""), "");
    }

    #[test]
    fn a_model_that_misses_its_data_sheet_says_so_beside_the_answer() {
        let said = |name: &str, kind| {
            let mut facts = crate::qualify::fixtures::protected().facts;
            (facts.name, facts.kind) = (name.to_owned(), kind);
            not_validated(&Evidence::none(facts))
        };
        let off = said("drive:intel-320-160gb", TargetKind::Modelled).expect("not validated");
        assert!(off.contains("not those of the real drive"), "{off}");
        assert_eq!(
            said("drive:intel-dc-s3700-400gb", TargetKind::Modelled),
            None
        );
        assert_eq!(said("intel-320-160gb", TargetKind::File), None);
    }
}
