//! The table of `drives/verdicts.csv`: run directories of `ssdlab qualify` held against two roles,
//! and the drives whose quick figures are kept. With `--laws` first: what contradicts a law of
//! verdicts (`qualify::laws`) in any role, by profile, and where one profile contradicts another;
//! exit code 1 if something does. With `--merge TABLE` first, rows of that table that were not
//! measured again stay, and what changed or stayed is said on standard error.
//!
//! `tests/verdicts.sh` measures the whole catalogue and writes the table with this.

use ssdlab_base::LabError;
use ssdlab_judge::qualify::references::{self, KEPT_PROFILE};
use ssdlab_judge::qualify::{
    Assessment, Evidence, QualifyOutcome, compare, files, judge, laws, role, roles,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// Roles of the table.
const ROLES: [&str; 2] = ["slog", "s2d-cache"];

/// Rows of the table: the answer by `DRIVE,ROLE,PROFILE`.
type VerdictRows = BTreeMap<String, String>;

fn rows(evidence: &Evidence, profile: &str, rows: &mut VerdictRows) -> Result<(), LabError> {
    let drive = evidence.facts.name.trim_start_matches("drive:");
    for name in ROLES {
        let (_, answer) = compare::outcome(judge(role(name)?, evidence).outcome);
        rows.insert(format!("{drive},{name},{profile}"), answer.to_owned());
    }
    Ok(())
}

/// Rows of a table as it was, where they were not measured again.
fn merge(table: &Path, rows: &mut VerdictRows) -> Result<(), LabError> {
    let text = std::fs::read_to_string(table);
    let text = text.map_err(|error| LabError::file("reading", table, error))?;
    let mut stayed = 0;
    for line in text.lines().skip(1) {
        let Some((key, answer)) = line.rsplit_once(',') else {
            continue;
        };
        match rows.get(key) {
            Some(now) if now != answer => eprintln!("changed: {key}: {answer}, now {now}"),
            Some(_) => {}
            None => {
                rows.insert(key.to_owned(), answer.to_owned());
                stayed += 1;
            }
        }
    }
    eprintln!("{stayed} rows were not measured again and stay as they were");
    Ok(())
}

/// The evidence of run directories by profile, and of the kept drives that are not among them.
fn evidence(directories: &[OsString]) -> Result<BTreeMap<String, Vec<Evidence>>, LabError> {
    let mut found: BTreeMap<String, Vec<Evidence>> = BTreeMap::new();
    for directory in directories {
        let Some(q) = files::read(Path::new(directory))? else {
            continue;
        };
        // A run that was stopped has decided nothing.
        if let Some(cut) = q.incomplete.iter().find(|note| note.contains("stopped")) {
            eprintln!("{}: {cut}", directory.display());
            continue;
        }
        found.entry(q.profile).or_default().push(q.target.evidence);
    }
    let quick = found.entry(KEPT_PROFILE.name().to_owned()).or_default();
    for kept in references::kept()? {
        let is_it = |e: &Evidence| e.facts.name == kept.evidence.facts.name;
        if !quick.iter().any(is_it) {
            quick.push(kept.evidence);
        }
    }
    Ok(found)
}

/// Prints what contradicts a law, and how many verdicts were held against them.
fn laws(by_profile: &BTreeMap<String, Vec<Evidence>>) -> usize {
    let (mut contradictions, mut verdicts) = (0, 0);
    for (profile, drives) in by_profile {
        for role in roles() {
            let assess = |e: &Evidence| Assessment {
                verdict: judge(role, e),
                evidence: e.clone(),
            };
            let drives: Vec<Assessment> = drives.iter().map(assess).collect();
            let alone = drives.iter().flat_map(|drive| laws::of_one(role, drive));
            verdicts += drives.len();
            for said in alone.chain(laws::of_order(role, &drives)) {
                contradictions += 1;
                println!("{profile}: {said}");
            }
        }
    }
    println!("{verdicts} verdicts, {contradictions} contradictions");
    contradictions
}

/// Prints where a longer profile contradicts a shorter one: it may decide what that leaves open.
fn between_profiles(by_profile: &BTreeMap<String, Vec<Evidence>>) -> usize {
    let (mut contradictions, mut pairs) = (0, 0);
    let of = |profile: &str| by_profile.get(profile).into_iter().flatten();
    for (shorter, longer) in [
        ("quick", "standard"),
        ("standard", "full"),
        ("quick", "full"),
    ] {
        for short in of(shorter) {
            let name = &short.facts.name;
            let Some(long) = of(longer).find(|long| long.facts.name == *name) else {
                continue;
            };
            for role in roles() {
                let answers = [short, long].map(|e| judge(role, e).outcome);
                pairs += 1;
                if answers[0] != answers[1] && answers[0] != QualifyOutcome::Unknown {
                    let [first, then] = answers.map(|answer| compare::outcome(answer).1);
                    contradictions += 1;
                    println!("{name}, {}: {shorter} {first}, {longer} {then}", role.name);
                }
            }
        }
    }
    println!("{pairs} pairs of profiles, {contradictions} contradictions");
    contradictions
}

fn main() -> Result<(), LabError> {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let is_laws = arguments.first().is_some_and(|first| first == "--laws");
    if is_laws {
        arguments.remove(0);
    }
    let is_merged = arguments.first().is_some_and(|first| first == "--merge");
    let table = is_merged
        .then(|| arguments.drain(..2).next_back())
        .flatten();
    let by_profile = evidence(&arguments)?;
    if is_laws {
        let contradictions = laws(&by_profile) + between_profiles(&by_profile);
        std::process::exit(i32::from(contradictions > 0));
    }
    let mut verdicts = VerdictRows::new();
    for (profile, drives) in &by_profile {
        for drive in drives {
            rows(drive, profile, &mut verdicts)?;
        }
    }
    if let Some(table) = table {
        merge(Path::new(&table), &mut verdicts)?;
    }
    println!("drive,role,profile,answer");
    for (key, answer) in verdicts {
        println!("{key},{answer}");
    }
    Ok(())
}
