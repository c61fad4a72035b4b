//! `ssdlab drives references --ensembles`: the kept draws of validated drives.

use crate::failure::{CliFailure, CommandExit};
use crate::output::print;
use crate::progress::stop_on_signal;
use ssdlab_base::LabError;
use ssdlab_bench::device::named::TargetName;
use ssdlab_drives::catalogue;
use ssdlab_judge::qualify::evidence::EnsembleEvidence;
use ssdlab_judge::qualify::kept_ensembles;
use ssdlab_judge::qualify::references::{KEPT_PROFILE, KEPT_SEED};
use ssdlab_judge::qualify::{QualifyPlan, SilentProgress, qualify, role};
use ssdlab_life::draft::prior::DraftPrior;
use ssdlab_predict::members::draws;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The ensemble of a drive of the catalogue; `None`: nothing that its file assumes is drawn.
fn measured_ensemble(name: &str, stop: &AtomicBool) -> Result<Option<EnsembleEvidence>, LabError> {
    let drawn = draws(&catalogue::drive(name)?, DraftPrior::built_in());
    if drawn.drives.is_empty() {
        return Ok(None);
    }
    let plan = QualifyPlan {
        profile: KEPT_PROFILE,
        seed: KEPT_SEED,
        drawn,
        ..QualifyPlan::new(Some(TargetName::Drive(name.to_owned())), role("general")?)
    };
    let qualification = qualify(&plan, &mut SilentProgress, stop)?;
    Ok(qualification.target.evidence.ensemble)
}

/// Measures ensembles one after another, each on all cores, and compares or writes: each line as
/// soon as it is known, because all together take long. The lines of other drives stay, unless it
/// `replaces_all`.
///
/// # Errors
/// When a drive is unknown, the file cannot be read or written, or the user stops it.
pub fn ensembles(
    names: &[String],
    write: Option<&Path>,
    replaces_all: bool,
) -> Result<CommandExit, CliFailure> {
    let stop = stop_on_signal()?;
    let mut lines = BTreeMap::new();
    if let (Some(path), false) = (write, replaces_all) {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| LabError::file("reading", path, error))?;
        let name_of = |line: &str| Some((line.split('"').nth(3)?.to_owned(), line.to_owned()));
        lines.extend(text.lines().filter_map(name_of));
    }
    let mut exit = CommandExit::Good;
    for name in names {
        let Some(found) = measured_ensemble(name, &stop)? else {
            continue;
        };
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::refused(format!("{name}: stopped"), "").into());
        }
        let is_kept = kept_ensembles::kept(name).is_some_and(|kept| kept == found);
        if !is_kept && write.is_none() {
            exit = CommandExit::Fails;
        }
        let state = if is_kept {
            "as kept"
        } else {
            "differs from what is kept"
        };
        print(&format!("{name}: {state}\n"))?;
        lines.insert(name.clone(), kept_ensembles::line(name, found)?);
        if let Some(path) = write {
            let text: Vec<&str> = lines.values().map(String::as_str).collect();
            let written = std::fs::write(path, text.join("\n") + "\n");
            written.map_err(|error| LabError::file("writing", path, error))?;
        }
    }
    Ok(exit)
}
