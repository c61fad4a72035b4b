//! The target beside the modelled drives: the rows that the page and the terminal both show, and
//! the words for outcomes, grades and methods.

use super::units;
use crate::analysis::{SteadyState, WriteCliff};
use crate::qualify::{
    Assessed, Evidence, Finding, Grade, Outcome, Probe, Qualification, Sustained,
};
use crate::target::{TargetFacts, TargetKind};

/// Days per year in which endurance is spread, as data sheets count.
const DAYS_PER_YEAR: f64 = 365.0;
/// Names of probes, weakest promise first, with what a person calls them.
const METHODS: [(&str, &str); 3] = [
    ("plain", "plain write"),
    ("fua", "written through (FUA)"),
    ("write_flush", "write, then flush"),
];

/// One measure of every drive, the target first; `None` = not measured or not known.
pub(crate) struct Row {
    pub label: String,
    pub cells: Vec<Option<String>>,
}

/// The target, then the modelled drives.
pub(crate) fn drives(q: &Qualification) -> Vec<&Assessed> {
    std::iter::once(&q.target).chain(&q.references).collect()
}

/// Every measure that at least one drive has.
pub(crate) fn rows(q: &Qualification) -> Vec<Row> {
    let all: Vec<&Evidence> = drives(q).iter().map(|d| &d.evidence).collect();
    let mut rows = durable_rows(&all);
    rows.extend(sustained_rows(&all));
    rows.push(row(&all, "Power-loss protection", |e| {
        Some(protection(&e.facts))
    }));
    rows.push(row(&all, "Rated endurance", |e| endurance(&e.facts)));
    rows.push(row(&all, "Capacity", |e| Some(capacity(&e.facts))));
    rows.retain(|row| row.cells.iter().any(Option::is_some));
    rows
}

fn row(all: &[&Evidence], label: &str, cell: impl Fn(&Evidence) -> Option<String>) -> Row {
    Row {
        label: label.to_owned(),
        cells: all.iter().map(|e| cell(e)).collect(),
    }
}

fn durable_rows(all: &[&Evidence]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (method, title) in METHODS {
        let cell = |label: String, show: &dyn Fn(&Probe) -> String| {
            row(all, &label, |e| one_writer(e, method).map(show))
        };
        rows.push(cell(format!("{}, per second", capital(title)), &|p| {
            format!("{} /s", units::rate(p.per_second))
        }));
        rows.push(cell(format!("{}, p50", capital(title)), &|p| {
            units::time(p.p50_ns)
        }));
        rows.push(cell(format!("{}, p99", capital(title)), &|p| {
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

fn sustained_rows(all: &[&Evidence]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, title) in sustained_names(all) {
        let run = |e: &Evidence, show: &dyn Fn(&Sustained) -> String| sustained(e, &name).map(show);
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
pub(crate) fn sustained_names(all: &[&Evidence]) -> Vec<(String, String)> {
    let mut names: Vec<(String, String)> = Vec::new();
    for run in all.iter().flat_map(|e| &e.sustained) {
        if !names.iter().any(|(name, _)| *name == run.name) {
            names.push((run.name.clone(), run.title.clone()));
        }
    }
    names
}

/// The run of this name.
pub(crate) fn sustained<'a>(e: &'a Evidence, name: &str) -> Option<&'a Sustained> {
    e.sustained.iter().find(|s| s.name == name)
}

/// The probe of this method with one writer.
pub(crate) fn one_writer<'a>(e: &'a Evidence, method: &str) -> Option<&'a Probe> {
    let mut found = e.probes.iter();
    found.find(|p| p.method == method && p.writers == 1 && p.count > 0)
}

/// All methods that any drive was probed with, with what a person calls them.
pub(crate) fn methods(all: &[&Evidence]) -> Vec<(String, String)> {
    let mut found: Vec<String> = METHODS.iter().map(|(m, _)| (*m).to_owned()).collect();
    for probe in all.iter().flat_map(|e| &e.probes) {
        if !found.contains(&probe.method) {
            found.push(probe.method.clone());
        }
    }
    found.retain(|m| {
        all.iter()
            .any(|e| e.probes.iter().any(|p| p.method == *m && p.count > 0))
    });
    let titled = |m: String| (m.clone(), method_title(&m));
    found.into_iter().map(titled).collect()
}

/// What a person calls a method.
pub(crate) fn method_title(method: &str) -> String {
    let known = METHODS.iter().find(|(name, _)| *name == method);
    known.map_or(method, |(_, title)| title).to_owned()
}

/// With its first letter large.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Flush time at the most dirty bytes over that at the least.
fn flush_growth(e: &Evidence) -> Option<String> {
    let least = e.flush_by_dirty.iter().min_by_key(|p| p.dirty_bytes)?;
    let most = e.flush_by_dirty.iter().max_by_key(|p| p.dirty_bytes)?;
    if least.dirty_bytes == most.dirty_bytes || least.p50_ns == 0 {
        return None;
    }
    Some(units::ratio(most.p50_ns as f64 / least.p50_ns as f64))
}

/// A cliff in a few words.
pub(crate) fn cliff(cliff: Option<&WriteCliff>) -> String {
    match cliff {
        Some(c) => format!(
            "at {}: {} to {} IOPS",
            units::clock(c.at_s),
            units::rate(c.before),
            units::rate(c.after)
        ),
        None => "none found".to_owned(),
    }
}

/// Steady state in a few words.
pub(crate) fn steady(steady: Option<&SteadyState>) -> String {
    match steady {
        Some(s) if s.attained => {
            let at = units::rate(s.average);
            match s.left_for {
                Some(last) => format!(
                    "attained at {at}, left again: {} in the end",
                    units::rate(last)
                ),
                None => format!("attained at {at}"),
            }
        }
        Some(s) => format!(
            "not attained (range {:.0} %, slope {:.0} %)",
            s.range_share * 100.0,
            s.excursion_share * 100.0
        ),
        None => "too short to say".to_owned(),
    }
}

/// Power-loss protection in a few words, without its source.
pub(crate) fn protection(facts: &TargetFacts) -> String {
    let said = match facts.power_loss_protection {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    match facts.virtualised {
        Some(true) => format!("{said} (virtual disk)"),
        _ => said.to_owned(),
    }
}

/// `185 TB, 0.10 DWPD`.
pub(crate) fn endurance(facts: &TargetFacts) -> Option<String> {
    let written = facts.rated_bytes_written? as f64;
    let total = units::decimal_bytes(written);
    let per_day = facts
        .warranty_years
        .filter(|years| *years > 0.0)
        .map(|years| written / (years * DAYS_PER_YEAR));
    let drive_writes = per_day.map(|per_day| per_day / facts.capacity as f64);
    Some(match drive_writes {
        Some(d) if d < 100.0 => format!("{total}, {d:.2} DWPD"),
        Some(d) if d.is_finite() => format!("{total}, {} DWPD", units::rate(d)),
        _ => total,
    })
}

/// `1.00 TB`.
pub(crate) fn capacity(facts: &TargetFacts) -> String {
    units::decimal_bytes(facts.capacity as f64)
}

/// What kind of thing was measured.
pub(crate) fn kind(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Modelled => "modelled drive, in virtual time",
        TargetKind::File => "file on a file system",
        TargetKind::BlockDevice => "block device",
        TargetKind::Null => "nothing: completes everything at once",
    }
}

/// Symbol and word of an outcome.
pub(crate) fn outcome(outcome: Outcome) -> (&'static str, &'static str) {
    match outcome {
        Outcome::Pass => ("✓", "PASS"),
        Outcome::Fail => ("✗", "FAIL"),
        Outcome::Unknown => ("?", "UNKNOWN"),
    }
}

/// A grade in words.
pub(crate) fn grade(grade: Grade) -> &'static str {
    match grade {
        Grade::None => "no evidence",
        Grade::Declared => "declared",
        Grade::Documented => "documented",
        Grade::Behavioural => "behavioural",
        Grade::ProvedByCuts => "proved by cuts",
    }
}

/// Findings not met first, then those left open, then those met; hard ones before soft ones.
pub(crate) fn worst_first(findings: &[Finding]) -> Vec<&Finding> {
    let rank = |f: &&Finding| match f.outcome {
        Outcome::Fail => (0, !f.hard),
        Outcome::Unknown => (1, !f.hard),
        Outcome::Pass => (2, !f.hard),
    };
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(rank);
    sorted
}

/// How many findings met, missed and left open their limits.
pub(crate) fn tally(findings: &[Finding]) -> String {
    let count = |outcome| findings.iter().filter(|f| f.outcome == outcome).count();
    format!(
        "{} requirements: {} met, {} not met, {} unknown",
        findings.len(),
        count(Outcome::Pass),
        count(Outcome::Fail),
        count(Outcome::Unknown)
    )
}

/// The facts that are known, as label and text.
pub(crate) fn facts(f: &TargetFacts) -> Vec<(&'static str, String)> {
    let yes_no = |b: bool| if b { "yes" } else { "no" }.to_owned();
    let mut known = vec![
        ("Kind", kind(f.kind).to_owned()),
        (
            "Capacity",
            format!("{} ({})", capacity(f), units::bytes(f.capacity)),
        ),
        ("Smallest unit", units::bytes(f.block_size.into())),
    ];
    let mut add = |label, text: Option<String>| known.extend(text.map(|t| (label, t)));
    add("Model", f.model.clone());
    add("Serial", f.serial.clone());
    add("Interface", f.interface.clone());
    add("File system", f.file_system.clone());
    add("Write cache", f.write_cache.clone());
    add("FUA used", f.fua.map(yes_no));
    add("Rotating", f.rotational.map(yes_no));
    add("Virtual disk", f.virtualised.map(yes_no));
    let source = f.power_loss_protection_source.as_deref();
    let source = source.map_or(String::new(), |s| format!(" ({s})"));
    add(
        "Power-loss protection",
        Some(format!("{}{source}", protection(f))),
    );
    add("Rated endurance", endurance(f));
    add("Warranty", f.warranty_years.map(|y| format!("{y} years")));
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endurance_is_total_and_drive_writes_per_day() {
        let mut facts: TargetFacts = serde_json::from_value(serde_json::json!({
            "name": "x", "kind": "modelled", "capacity": 1_000_000_000_000u64,
            "block_size": 512, "rated_bytes_written": 185_000_000_000_000u64,
            "warranty_years": 5.0, "notes": []
        }))
        .unwrap();
        assert_eq!(endurance(&facts).unwrap(), "185 TB, 0.10 DWPD");
        facts.capacity = 0;
        assert_eq!(endurance(&facts).unwrap(), "185 TB");
        facts.rated_bytes_written = None;
        assert_eq!(endurance(&facts), None);
    }

    #[test]
    fn capitals_survive_any_first_letter() {
        assert_eq!(capital("written"), "Written");
        assert_eq!(capital("ß"), "SS");
        assert_eq!(capital(""), "");
    }
}
