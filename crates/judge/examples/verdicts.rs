//! The table of `drives/verdicts.csv`: run directories of `ssdlab qualify` held against two roles,
//! and the drives whose quick figures are kept.
//!
//! `tests/verdicts.sh` measures the whole catalogue and writes the table with this.

use ssdlab_base::LabError;
use ssdlab_judge::qualify::references::{self, KEPT_PROFILE};
use ssdlab_judge::qualify::{Evidence, compare, files, judge, role};
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

fn main() -> Result<(), LabError> {
    println!("drive,role,profile,answer");
    let mut quick = Vec::new();
    for directory in std::env::args_os().skip(1) {
        let Some(q) = files::read(Path::new(&directory))? else {
            continue;
        };
        // What was stopped has decided nothing.
        if let Some(cut) = q.incomplete.iter().find(|note| note.contains("stopped")) {
            eprintln!("{}: {cut}", directory.display());
            continue;
        }
        let evidence = &q.target.evidence;
        if q.profile == KEPT_PROFILE.name() {
            quick.push(evidence.facts.name.clone());
        }
        rows(evidence, &q.profile)?;
    }
    let kept = references::kept()?.into_iter().map(|drive| drive.evidence);
    for evidence in kept.filter(|kept| !quick.contains(&kept.facts.name)) {
        rows(&evidence, KEPT_PROFILE.name())?;
    }
    Ok(())
}
