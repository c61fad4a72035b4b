//! The ensembles that are kept of validated drives, because a drive of the catalogue needs no ten
//! measurements; `ssdlab drives references --ensembles` makes the file.

use super::evidence::EnsembleEvidence;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_ssd::DriveConfig;
use twox_hash::XxHash3_64;

/// The file.
const KEPT: &str = include_str!("../../../../drives/ensembles.jsonl");

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptEnsemble {
    drive: String,
    /// Hash of the configuration that the constants were drawn for.
    config: String,
    ensemble: EnsembleEvidence,
}

/// The ensemble that is kept of the drive of this name, as the catalogue has it now.
pub fn kept(name: &str) -> Option<EnsembleEvidence> {
    let beginning = format!("{{\"drive\":\"{name}\",");
    let line = KEPT.lines().find(|line| line.starts_with(&beginning))?;
    let record: KeptEnsemble = serde_json::from_str(line).ok()?;
    let is_current = config_hash(name).ok()? == record.config;
    is_current.then_some(record.ensemble)
}

/// Names of the drives whose ensembles are kept.
pub fn names_kept() -> Vec<&'static str> {
    let names = KEPT.lines().filter_map(|line| line.split('"').nth(3));
    names.collect()
}

/// The line of a drive of the catalogue, without its line feed.
///
/// # Errors
/// When no drive has this name.
pub fn line(name: &str, ensemble: EnsembleEvidence) -> Result<String, LabError> {
    let record = KeptEnsemble {
        drive: name.to_owned(),
        config: config_hash(name)?,
        ensemble,
    };
    let text = serde_json::to_string(&record);
    text.map_err(|error| LabError::refused(format!("{name}: {error}"), ""))
}

/// Hash of the configuration that a drive of the catalogue resolves to.
///
/// # Errors
/// When no drive has this name.
pub fn config_hash(name: &str) -> Result<String, LabError> {
    Ok(hash(&catalogue::drive(name)?.config))
}

pub(super) fn hash(config: &DriveConfig) -> String {
    let hash = XxHash3_64::oneshot(format!("{config:?}").as_bytes());
    format!("{hash:016x}")
}
