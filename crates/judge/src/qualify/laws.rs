//! Laws that verdicts obey, whatever was measured: a screen may not contradict itself, and a better
//! drive may not have the worse verdict.
//!
//! - *Order*: a drive at least as good as another in every reading has no worse verdict, and no
//!   requirement is missed by a better value than one that meets it.
//! - *Numbers*: every number of a sentence is one that a finding holds.
//! - *Brackets*: a rate in brackets behind a time is that of the mean time, and its reciprocal.
//! - *One value*: a rate of durable writes in a state has one value on the page.
//! - *Decided*: a finding decides a FAIL or UNKNOWN only if it has that outcome, and no PASS.
//! - *Ensemble*: where constants are drawn, no requirement is met or missed unless more than nine
//!   drives of ten say so, no verdict is a PASS over one of which they do not, and the drive as its
//!   file has it says the same.
//! - *Exact*: what misses its limit is not shown as equal to it.

use super::ensemble::SHARE;
use super::readings::{self, MeasureReading};
use super::roles::{Requirement, Role};
use super::verdict::SO_FAR;
use super::{Assessment, Evidence, Qualification, QualifyOutcome, RoleFinding, RoleVerdict};
use super::{compare, show, terminal, weigh};
use ssdlab_bench::run_dir::FORMAT_VERSION;

/// What contradicts a law in one verdict on one drive, each as a sentence.
pub fn of_one(role: &Role, assessment: &Assessment) -> Vec<String> {
    let verdict = &assessment.verdict;
    let mut found = numbers(role, verdict);
    found.extend(brackets(verdict));
    found.extend(one_value(role, assessment));
    found.extend(decided(verdict, terminal::deciding(verdict)));
    found.extend(exact(verdict));
    found.extend(ensemble(role, assessment));
    let name = &assessment.evidence.facts.name;
    let named = |said: String| format!("{name}, {}: {said}", role.name);
    found.into_iter().map(named).collect()
}

// ---- numbers ----------------------------------------------------------------------------------

/// Numbers of a text as they are written, thousands with their commas.
fn numerals(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
    let words = text.split(|c: char| !is_part(c));
    let trimmed = words.map(|word| word.trim_matches([',', '.']));
    trimmed.filter(|word| !word.is_empty()).collect()
}

fn sentences(verdict: &RoleVerdict) -> [&str; 2] {
    [&verdict.answer, &verdict.consequence]
}

fn numbers(role: &Role, verdict: &RoleVerdict) -> Vec<String> {
    let texts = verdict.findings.iter().flat_map(|f| {
        let texts: [&str; 4] = [&f.title, &f.value, &f.limit, &f.why];
        texts
    });
    let held: Vec<&str> = texts
        .flat_map(numerals)
        .chain(numerals(&role.as_a))
        .collect();
    let said = sentences(verdict).into_iter().flat_map(numerals);
    // "And 2 more" counts findings.
    let counts = |number: &str| verdict.answer.contains(&format!("and {number} more"));
    let unheld = said.filter(|number| !held.contains(number) && !counts(number));
    unheld
        .map(|number| format!("no finding holds the {number} of its sentences"))
        .collect()
}

// ---- rates in brackets ------------------------------------------------------------------------

/// A number as it is shown, and by what share it may be off as its places are cut.
struct Shown {
    value: f64,
    precision: f64,
}

fn shown(number: &str) -> Option<Shown> {
    let plain = number.replace(',', "");
    let value: f64 = plain.parse().ok()?;
    let places = plain.split_once('.').map_or(0, |(_, places)| places.len());
    let half = 0.5 / 10_f64.powi(i32::try_from(places).ok()?);
    (value > 0.0).then(|| Shown {
        value,
        precision: half / value,
    })
}

fn nanoseconds(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1.0),
        "us" => Some(1e3),
        "ms" => Some(1e6),
        "s" => Some(1e9),
        _ => None,
    }
}

fn brackets(verdict: &RoleVerdict) -> Vec<String> {
    let whys = verdict.findings.iter().map(|f| f.why.as_str());
    let mechanisms = verdict.mechanisms.iter().map(|m| m.sentence.as_str());
    let texts = sentences(verdict).into_iter().chain(whys).chain(mechanisms);
    texts.flat_map(brackets_in).collect()
}

fn brackets_in(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('(') {
        let words: Vec<&str> = text[at + 1..].split([' ', ')']).take(3).collect();
        let rate = words.first().and_then(|word| shown(word));
        let (Some(rate), ["a", "second"]) = (rate, &words[1..]) else {
            continue;
        };
        let before: Vec<&str> = text[..at].split_whitespace().collect();
        let mean = match before.as_slice() {
            [.., number, unit, "on", "average"] => shown(number).zip(nanoseconds(unit)),
            _ => None,
        };
        let agrees = mean.is_some_and(|(mean, unit)| {
            let product = mean.value * unit * rate.value / 1e9;
            (product - 1.0).abs() <= 1.01 * (mean.precision + rate.precision)
        });
        if !agrees {
            let rate = rate.value;
            found.push(format!(
                "{rate} a second is not the rate of the time before it: {text}"
            ));
        }
    }
    found
}

// ---- one value --------------------------------------------------------------------------------

fn one_value(role: &Role, assessment: &Assessment) -> Vec<String> {
    let findings = &assessment.verdict.findings;
    let method = compare::capital(&compare::method_title(role.durable_method.probe()));
    let rows = compare::rows(&alone(role, assessment));
    let mut found = Vec::new();
    let is_rate = |f: &&RoleFinding| f.title.starts_with("Durable 4 KiB writes, one writer");
    for f in findings.iter().filter(is_rate) {
        let Some((_, state)) = f.title.rsplit_once(", ") else {
            continue;
        };
        let label = format!("{method}, {state}");
        let cell = rows.iter().find(|row| row.label == label);
        let value = f.value.trim_end_matches(SO_FAR);
        if let Some(cell) = cell.and_then(|row| row.cells[0].as_deref())
            && !numerals(cell).iter().all(|n| numerals(value).contains(n))
        {
            found.push(format!("`{}` is {value} here and {cell} there", f.title));
        }
        found.extend(said_otherwise(&assessment.verdict, state, value));
    }
    for (i, f) in findings.iter().enumerate() {
        let same = |contradicting: &&RoleFinding| {
            contradicting.title == f.title && contradicting.value != f.value
        };
        let contradicting = findings[i + 1..].iter().find(same);
        found
            .extend(contradicting.map(|o| format!("`{}` is {} and {}", f.title, f.value, o.value)));
    }
    found
}

/// A sentence that gives another rate for a state than its finding.
fn said_otherwise(verdict: &RoleVerdict, state: &str, value: &str) -> Option<String> {
    let clause = verdict.consequence.split(", ").find(|clause| {
        let clause = clause.trim_end_matches('.');
        clause.trim_end_matches(SO_FAR).ends_with(state)
    })?;
    let first = numerals(clause).first().copied()?;
    let agrees = numerals(value).contains(&first);
    (!agrees).then(|| format!("{state}: {value}, but it is said: {clause}"))
}

fn alone(role: &Role, assessment: &Assessment) -> Qualification {
    Qualification {
        version: FORMAT_VERSION,
        role: role.name.clone(),
        profile: String::new(),
        seed: 1,
        target: assessment.clone(),
        references: Vec::new(),
        kept: None,
        incomplete: Vec::new(),
    }
}

// ---- what decides -----------------------------------------------------------------------------

fn decided(verdict: &RoleVerdict, deciding: Option<&RoleFinding>) -> Vec<String> {
    let musts = || verdict.findings.iter().filter(|f| f.hard);
    let any = |outcome| musts().any(|f| f.outcome == outcome);
    let follows = if any(QualifyOutcome::Fail) {
        QualifyOutcome::Fail
    } else if any(QualifyOutcome::Unknown) {
        QualifyOutcome::Unknown
    } else {
        QualifyOutcome::Pass
    };
    let mut found = Vec::new();
    if follows != verdict.outcome {
        let [is, should] = [verdict.outcome, follows].map(|outcome| compare::outcome(outcome).1);
        found.push(format!("{is}, but its findings make it {should}"));
    }
    let is_apt = match deciding {
        Some(f) => f.hard && f.outcome == verdict.outcome && f.outcome != QualifyOutcome::Pass,
        None => verdict.outcome == QualifyOutcome::Pass,
    };
    if !is_apt {
        let title = deciding.map_or("nothing", |f| f.title.as_str());
        found.push(format!(
            "{} decided by {title}",
            compare::outcome(verdict.outcome).1
        ));
    }
    found
}

// ---- ensemble ---------------------------------------------------------------------------------

fn ensemble(role: &Role, assessment: &Assessment) -> Vec<String> {
    let verdict = &assessment.verdict;
    let mut alone = assessment.evidence.clone();
    alone.ensemble = None;
    let mut found = Vec::new();
    for f in &verdict.findings {
        let Some(drawn) = &f.ensemble else {
            continue;
        };
        let title = &f.title;
        let drives = drawn.drives;
        let is_enough = |count: u32| f64::from(count) > SHARE * f64::from(drives);
        let outcome = compare::outcome(f.outcome).1;
        let count = match f.outcome {
            QualifyOutcome::Pass => drawn.met,
            QualifyOutcome::Fail => drawn.missed,
            QualifyOutcome::Unknown => continue,
        };
        if !is_enough(count) {
            found.push(format!(
                "`{title}` is {outcome} by {count} of {drives} drives"
            ));
        }
        if verdict.outcome == QualifyOutcome::Pass && f.hard && !is_enough(drawn.met) {
            found.push(format!(
                "PASS, and {} of {drives} drives meet `{title}`",
                drawn.met
            ));
        }
        let mut requirements = role.requirements.iter();
        let own = requirements.find(|r| r.id == f.id);
        let own = own.map(|r| weigh::find(r, role, &alone).outcome);
        if own != Some(f.outcome) {
            found.push(format!(
                "`{title}` is {outcome}, and its value {} is not",
                f.value
            ));
        }
    }
    found
}

// ---- exact ------------------------------------------------------------------------------------

/// Numbers with their units: `3.00 DWPD, 2.40 TB/day`.
fn quantities(text: &str) -> Vec<(f64, &str)> {
    let words: Vec<&str> = text.split([' ', ',']).filter(|w| !w.is_empty()).collect();
    let pairs = words.windows(2);
    pairs
        .filter_map(|pair| Some((pair[0].parse().ok()?, pair[1])))
        .collect()
}

fn exact(verdict: &RoleVerdict) -> Vec<String> {
    let failed = verdict.findings.iter();
    let failed = failed.filter(|f| f.outcome == QualifyOutcome::Fail);
    let equal = failed.filter(|f| {
        let limits = quantities(&f.limit);
        let value = quantities(&f.value);
        value.iter().any(|quantity| limits.contains(quantity))
    });
    equal
        .map(|f| format!("`{}`: {} misses {}", f.title, f.value, f.limit))
        .collect()
}

// ---- order ------------------------------------------------------------------------------------

/// A requirement's reading, and whether more is better; of an alternative likewise.
struct OrderedReading {
    reading: MeasureReading,
    more_is_better: bool,
}

impl OrderedReading {
    fn of(r: &Requirement, role: &Role, e: &Evidence) -> Vec<OrderedReading> {
        let own = (r.measure, r.at_most.is_none());
        let or = r.or.as_ref().map(|or| (or.measure, or.at_most.is_none()));
        let measures = std::iter::once(own).chain(or);
        measures
            .map(|(measure, more_is_better)| OrderedReading {
                reading: readings::read(measure, role.durable_method, e),
                more_is_better,
            })
            .collect()
    }

    fn is_at_least(&self, other: &OrderedReading) -> bool {
        use MeasureReading::{Fact, Falling, Number, Partial, Unknown};
        let better = |a: f64, b: f64| if self.more_is_better { a >= b } else { a <= b };
        match (&self.reading, &other.reading) {
            (Number { value: a, .. }, Number { value: b, .. } | Partial { value: b, .. })
            | (Partial { value: a, .. }, Partial { value: b, .. }) => better(*a, *b),
            (Fact { holds: a, .. }, Fact { holds: b, .. }) => a >= b,
            (Fact { holds: true, .. }, Unknown { .. })
            | (Unknown { .. }, Fact { holds: false, .. } | Unknown { .. }) => true,
            (
                Falling {
                    value: a, last: x, ..
                },
                Falling {
                    value: b, last: y, ..
                },
            ) => better(*a, *b) && better(*x, *y),
            _ => false,
        }
    }
}

fn rank(outcome: QualifyOutcome) -> u8 {
    match outcome {
        QualifyOutcome::Fail => 0,
        QualifyOutcome::Unknown => 1,
        QualifyOutcome::Pass => 2,
    }
}

/// Whether a verdict is open because drives with drawn constants do not agree.
fn is_left_open(verdict: &RoleVerdict) -> bool {
    let is_divided = |f: &RoleFinding| f.ensemble.as_ref().is_some_and(|drawn| drawn.is_divided());
    let mut open = verdict.findings.iter();
    let open = open.any(|f| f.hard && f.outcome == QualifyOutcome::Unknown && is_divided(f));
    verdict.outcome == QualifyOutcome::Unknown && open
}

/// What contradicts the order of drives in a role. Readings are those of the files as they are.
pub fn of_order(role: &Role, drives: &[Assessment]) -> Vec<String> {
    let readings = |e: &Evidence| {
        let requirements = role.requirements.iter();
        let readings = requirements.flat_map(|r| OrderedReading::of(r, role, e));
        readings.collect::<Vec<OrderedReading>>()
    };
    let readings: Vec<_> = drives
        .iter()
        .map(|drive| readings(&drive.evidence))
        .collect();
    let margins: Vec<f64> = drives
        .iter()
        .map(|d| compare::margin(&d.evidence))
        .collect();
    let mut found = Vec::new();
    for (a, better) in drives.iter().enumerate() {
        for (b, worse) in drives.iter().enumerate() {
            let pairs = || readings[a].iter().zip(&readings[b]);
            let lower = rank(better.verdict.outcome) < rank(worse.verdict.outcome);
            // What drawn constants leave open is neither better than a FAIL nor worse than a PASS.
            let is_open = is_left_open(&better.verdict) || is_left_open(&worse.verdict);
            if lower
                && !is_open
                && margins[a] <= margins[b]
                && pairs().all(|(x, y)| x.is_at_least(y))
            {
                found.push(format!(
                    "{}: {} is at least as good as {} in every reading, and its verdict is worse",
                    role.name, better.evidence.facts.name, worse.evidence.facts.name
                ));
            }
        }
    }
    let plain = role.requirements.iter();
    let plain = plain.filter(|r| r.or.is_none() && r.moot.is_none());
    found.extend(plain.filter_map(|r| crossed(r, role, drives)));
    found
}

/// A value that meets a requirement and is worse than one that misses it.
fn crossed(r: &Requirement, role: &Role, drives: &[Assessment]) -> Option<String> {
    let number = |drive: &Assessment, wanted: QualifyOutcome| {
        let f = drive.verdict.findings.iter().find(|f| f.id == r.id)?;
        let reading = readings::read(r.measure, role.durable_method, &drive.evidence);
        match reading {
            MeasureReading::Number { value, .. } if f.outcome == wanted => Some(value),
            _ => None,
        }
    };
    let of = |wanted| drives.iter().filter_map(move |drive| number(drive, wanted));
    let least = |values: &mut dyn Iterator<Item = f64>| values.min_by(f64::total_cmp);
    let most = |values: &mut dyn Iterator<Item = f64>| values.max_by(f64::total_cmp);
    let (met, missed) = if r.at_most.is_some() {
        (
            most(&mut of(QualifyOutcome::Pass))?,
            least(&mut of(QualifyOutcome::Fail))?,
        )
    } else {
        (
            least(&mut of(QualifyOutcome::Pass))?,
            most(&mut of(QualifyOutcome::Fail))?,
        )
    };
    let is_crossed = if r.at_most.is_some() {
        missed <= met
    } else {
        missed >= met
    };
    is_crossed.then(|| {
        let [met, missed] = [met, missed].map(|value| show::with_unit(value, r.unit));
        format!(
            "{}: `{}` is met by {met} and missed by {missed}",
            role.name, r.title
        )
    })
}

#[cfg(test)]
#[path = "law_tests.rs"]
mod tests;
