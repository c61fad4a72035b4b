//! Modelled drives beside a target: kept figures of validated drives, so that a verdict need not
//! measure them again.
//!
//! `drives/references.jsonl` holds the quick qualification of every validated drive of the
//! catalogue, seed 1, one drive a line, with the hash of the configuration that was measured.
//! `ssdlab drives references --write` makes it; tests hold it to the catalogue and to the model.
//! A role's requirements are held against these figures when they are shown, so one file serves
//! all roles. Beside a target are shown the best and the worst drive for the role and those
//! nearest to the target: the least mean square of the logarithms of their ratios, over the rates
//! that both have.

use super::evidence::{Assessment, Evidence, QualifyOutcome};
use super::kept_ensembles::{self, hash};
use super::roles::Role;
use super::verdict::judge;
use super::{QualifyProfile, names};
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_bench::device::named::TargetName;
use ssdlab_bench::record::{OpSecond, Second};
use ssdlab_drives::catalogue::{self, DatasheetStanding};
use ssdlab_ssd::DriveConfig;

/// The figures that are kept.
const KEPT: &str = include_str!("../../../../drives/references.jsonl");
/// Where they are in the repository.
pub const KEPT_FILE: &str = "drives/references.jsonl";
/// Profile and seed with which they are measured.
pub const KEPT_PROFILE: QualifyProfile = QualifyProfile::Quick;
/// See [`KEPT_PROFILE`].
pub const KEPT_SEED: u64 = 1;
/// Drives nearest to the target that are shown.
const NEAREST: usize = 4;
/// Rates that two drives must both have before a distance between them means anything.
const RATES_MIN: usize = 3;

/// Which modelled drives stand beside the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceSelection {
    /// None.
    None,
    /// Those nearest to the target, the best and the worst for the role, by their kept figures.
    Kept,
    /// These drives of the catalogue, measured with the target; the target itself is skipped.
    Measured(Vec<String>),
}

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReferenceRecord {
    /// Hash of the configuration that was measured.
    pub config: String,
    /// What was measured; each run of a load as one [`Second`] of its whole length.
    pub evidence: Evidence,
}

/// Names of the drives of the catalogue to measure beside the target: `families` is one validated
/// drive of each family, `all` is every drive, anything else the drives so named.
///
/// # Errors
/// When no drive has a name that is given.
pub fn references(which: &[String]) -> Result<Vec<String>, LabError> {
    match which {
        [one] if one == "families" => catalogue::references(),
        [one] if one == "all" => catalogue::names(),
        names => {
            let drives = names.iter().map(|name| catalogue::drive(name));
            let drives: Vec<_> = drives.collect::<Result<_, _>>()?;
            Ok(drives.into_iter().map(|drive| drive.file.name).collect())
        }
    }
}

/// Names of the drives whose figures are kept: those that meet their own data sheets.
///
/// # Errors
/// Never for a released build: a test loads every file.
pub fn names_kept() -> Result<Vec<String>, LabError> {
    let mut names = catalogue::names()?;
    names.retain(|name| DatasheetStanding::of(name) == DatasheetStanding::Validated);
    Ok(names)
}

/// The line of a drive of the catalogue that was measured, without its line feed.
///
/// # Errors
/// When no drive has this name.
pub fn line(name: &str, measured: Evidence) -> Result<String, LabError> {
    line_of(name, &catalogue::drive(name)?.config, measured)
}

/// The line of a drive of this name and configuration, which the catalogue need not have yet.
///
/// # Errors
/// Never: what was measured can be written as JSON.
pub fn line_of(name: &str, config: &DriveConfig, measured: Evidence) -> Result<String, LabError> {
    let mut evidence = measured;
    evidence.facts.name = format!("drive:{name}");
    // The path by which it was measured means nothing elsewhere.
    evidence.facts.typed = None;
    evidence.ensemble = None;
    for run in &mut evidence.sustained {
        run.seconds = whole(&run.seconds).into_iter().collect();
    }
    let config = hash(config);
    let record = ReferenceRecord { config, evidence };
    let text = serde_json::to_string(&record);
    text.map_err(|error| LabError::refused(format!("{name}: {error}"), ""))
}

/// The counted seconds of a run as one; quantiles are left out.
fn whole(seconds: &[Second]) -> Option<Second> {
    let add = |(a, b): (u64, u64)| a + b;
    let mut counted = seconds.iter().filter(|second| second.t_s >= 0);
    let mut sum = counted.next()?.clone();
    for second in counted {
        sum.length_s += second.length_s;
        sum.nand_bytes_written = sum
            .nand_bytes_written
            .zip(second.nand_bytes_written)
            .map(add);
        sum.device_flushes = sum.device_flushes.zip(second.device_flushes).map(add);
        for (all, one) in sum.ops.iter_mut().zip(&second.ops) {
            let ns = all.mean_ns * all.count as f64 + one.mean_ns * one.count as f64;
            all.count += one.count;
            all.bytes += one.bytes;
            all.mean_ns = ns / all.count.max(1) as f64;
            all.max_ns = all.max_ns.max(one.max_ns);
        }
    }
    for op in &mut sum.ops {
        *op = OpSecond {
            p50_ns: 0,
            p99_ns: 0,
            p999_ns: 0,
            ..*op
        };
    }
    Some(sum)
}

/// The kept drives.
///
/// # Errors
/// Never for a released build: a test reads the file.
pub fn kept() -> Result<Vec<ReferenceRecord>, LabError> {
    let read = |line: &str| {
        let record: Result<ReferenceRecord, _> = serde_json::from_str(line);
        record
            .map(with_ensemble)
            .map_err(|error| LabError::refused(format!("{KEPT_FILE}: {error}"), "write it again"))
    };
    KEPT.lines().map(read).collect()
}

/// The drive's ensemble is kept apart: it changes with the ledger, and the drive's figures do not.
fn with_ensemble(mut record: ReferenceRecord) -> ReferenceRecord {
    let name = record.evidence.facts.name.trim_start_matches("drive:");
    record.evidence.ensemble = kept_ensembles::kept(name);
    record
}

/// The line that is kept of the drive of this name.
pub fn kept_line(name: &str) -> Option<&'static str> {
    let name = format!("\"drive:{name}\"");
    KEPT.lines().find(|line| line.contains(&name))
}

/// What is said of kept drives wherever they are shown.
pub fn kept_said() -> String {
    format!(
        "The drives beside it are validated models measured beforehand ({} profile, seed \
         {KEPT_SEED}): those nearest to the target, the best and the worst for the role",
        KEPT_PROFILE.name()
    )
}

/// Kept drives to show beside a target, each judged for `role`: the nearest two, the best, the
/// worst, then the other near ones.
///
/// # Errors
/// As [`kept`].
pub fn beside(
    role: &Role,
    target: &TargetName,
    evidence: &Evidence,
) -> Result<Vec<Assessment>, LabError> {
    let name = |drive: &Assessment| drive.evidence.facts.name.clone();
    let is_other = |drive: &Assessment| match target {
        TargetName::Drive(target) => name(drive) != format!("drive:{target}"),
        TargetName::Path(_) | TargetName::Volume(_) | TargetName::Null(_) => true,
    };
    let assess = |kept: ReferenceRecord| Assessment {
        verdict: judge(role, &kept.evidence),
        evidence: kept.evidence,
    };
    let mut assessments: Vec<Assessment> =
        kept()?.into_iter().map(assess).filter(is_other).collect();
    assessments.sort_by(|a, b| standing(role, b).total_cmp(&standing(role, a)));
    let (best, worst) = (assessments.first().map(name), assessments.last().map(name));
    let mut near: Vec<(f64, String)> = assessments
        .iter()
        .filter_map(|drive| Some((distance(evidence, &drive.evidence)?, name(drive))))
        .collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut near = near.into_iter().map(|(_, name)| name).take(NEAREST);
    let mut order: Vec<String> = near.by_ref().take(2).collect();
    order.extend(best.into_iter().chain(worst).chain(near));
    let mut chosen: Vec<Assessment> = Vec::new();
    for wanted in order {
        let index = assessments.iter().position(|drive| name(drive) == wanted);
        chosen.extend(index.map(|index| assessments.remove(index)));
    }
    Ok(chosen)
}

/// How well a drive serves a role: its outcome, the requirements met, then its sustained durable
/// rate, as one number.
fn standing(role: &Role, drive: &Assessment) -> f64 {
    let outcome = match drive.verdict.outcome {
        QualifyOutcome::Pass => 2.0,
        QualifyOutcome::Unknown => 1.0,
        QualifyOutcome::Fail => 0.0,
    };
    let met = drive
        .verdict
        .findings
        .iter()
        .filter(|f| f.outcome == QualifyOutcome::Pass);
    let run = drive.evidence.overwrite.as_ref();
    let run = run.and_then(|o| o.durable(role.durable_method.probe()));
    let rate = run.map_or(0.0, |run| run.after);
    // Less than one requirement, whatever the rate.
    outcome * 1000.0 + met.count() as f64 + rate / (rate + 1e4)
}

/// Rates by which drives are near or far: one writer's by each method, and short loads.
fn rates(e: &Evidence) -> Vec<Option<f64>> {
    let methods = [names::PLAIN, names::FUA, names::WRITE_FLUSH];
    let probe = |method| e.probe(method, 1).map(|p| p.per_second);
    let loads = [
        names::READ_QD1,
        names::READ_QD32,
        names::RANDOM_WRITE,
        names::MIXED,
    ];
    let load = |name| e.run(name).map(|run| run.iops_end);
    let rates_by_load = methods
        .into_iter()
        .map(probe)
        .chain(loads.into_iter().map(load));
    rates_by_load
        .map(|rate| rate.filter(|rate| *rate > 0.0))
        .collect()
}

fn distance(a: &Evidence, b: &Evidence) -> Option<f64> {
    let pairs = rates(a).into_iter().zip(rates(b));
    let logs: Vec<f64> = pairs.filter_map(|(a, b)| Some((a? / b?).ln())).collect();
    let sum: f64 = logs.iter().map(|log| log * log).sum();
    (logs.len() >= RATES_MIN).then(|| sum / logs.len() as f64)
}

#[cfg(test)]
#[path = "reference_tests.rs"]
mod tests;
