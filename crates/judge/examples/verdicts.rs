//! The table of `drives/verdicts.csv`: run directories of `ssdlab qualify` held against two roles,
//! and the drives whose quick figures are kept. With `--laws` first: what contradicts a law of
//! verdicts (`qualify::laws`) in any role, by profile; exit code 1 if something does.
//!
//! `tests/verdicts.sh` measures the whole catalogue and writes the table with this.

use ssdlab_base::LabError;
use ssdlab_judge::qualify::references::{self, KEPT_PROFILE};
use ssdlab_judge::qualify::{Assessment, Evidence, compare, files, judge, laws, role, roles};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// Roles of the table.
const ROLES: [&str; 2] = ["slog", "s2d-cache"];

fn rows(evidence: &Evidence, profile: &str) -> Result<(), LabError> {
    let drive = evidence.facts.name.trim_start_matches("drive:");
    for name in ROLES {
        let (_, answer) = compare::outcome(judge(role(name)?, evidence).outcome);
        println!("{drive},{name},{profile},{answer}");
    }
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

fn main() -> Result<(), LabError> {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let is_laws = arguments.first().is_some_and(|first| first == "--laws");
    if is_laws {
        arguments.remove(0);
    }
    let by_profile = evidence(&arguments)?;
    if is_laws {
        std::process::exit(i32::from(laws(&by_profile) > 0));
    }
    println!("drive,role,profile,answer");
    for (profile, drives) in &by_profile {
        for drive in drives {
            rows(drive, profile)?;
        }
    }
    Ok(())
}
