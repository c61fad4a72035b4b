//! What the evidence says of a drive's health.
//!
//! Limits stand here, not in `roles/`, because health is one requirement of several numbers: a
//! rated life used up, by its own count or by rated writes (the maker's limits), any read that
//! error correction could not save (JESD218 allows one in 10^16 bits, which no rated life of a log
//! device reaches), a drive that refuses writes or fails its own judgement, less than a tenth of
//! the reserve left (the threshold that NVMe drives report), more than 70 degrees (the end of the
//! operating range in data sheets), and any time in which heat slowed it down.

use super::reading::{MeasureReading, unknown};
use super::{Evidence, EvidenceGrade};
use ssdlab_bench::device::TargetKind;
use ssdlab_bench::device::health::{DriveHealth, ThermalSummary};

const LIFE_USED_MAX: f64 = 100.0;
const SPARE_MIN: f64 = 10.0;
const CELSIUS_MAX: f64 = 70.0;

/// What is wrong, each in a clause.
fn troubles(h: &DriveHealth, rated: Option<u64>) -> Vec<String> {
    let mut clauses = Vec::new();
    if let Some(used) = h.used_percent.as_ref().filter(|u| u.value >= LIFE_USED_MAX) {
        clauses.push(format!(
            "worn out: {:.0} % of its rated life is used",
            used.value
        ));
    }
    let over = h.host_bytes_written.zip(rated);
    if let Some((written, rated)) = over.filter(|(written, rated)| written >= rated) {
        clauses.push(format!(
            "worn beyond its rating: {:.0} TB were written, rated are {:.0} TB",
            written as f64 / 1e12,
            rated as f64 / 1e12
        ));
    }
    if let Some(count) = h.uncorrectable.filter(|count| *count > 0) {
        clauses.push(format!("{count} reads were uncorrectable"));
    }
    if let Some(left) = h.spare_percent.filter(|left| *left < SPARE_MIN) {
        let retired = h.retired.unwrap_or(0);
        clauses.push(format!(
            "{retired} blocks retired, {left:.0} % of the reserve left"
        ));
    }
    if h.read_only == Some(true) {
        clauses.push("it refuses writes".into());
    }
    if let Some(celsius) = h.temperature_c.filter(|c| *c > CELSIUS_MAX) {
        clauses.push(format!("{celsius:.0} C"));
    }
    if h.passed == Some(false) && clauses.is_empty() {
        let why = if h.warnings.is_empty() {
            "it does not say why".to_owned()
        } else {
            h.warnings.join("; ")
        };
        clauses.push(format!("it fails by its own judgement ({why})"));
    }
    clauses
}

/// What the drive reports that is wrong, each in a clause; heat is left out.
pub(super) fn reported(e: &Evidence) -> Vec<String> {
    let health = e.facts.health.as_ref();
    health.map_or_else(Vec::new, |h| troubles(h, e.facts.rated_bytes_written))
}

/// What is wrong with the temperature while the drive was measured.
fn heat_troubles(heat: Option<&ThermalSummary>) -> Vec<String> {
    let Some(heat) = heat else {
        return Vec::new();
    };
    let mut clauses = Vec::new();
    if heat.throttled_s > 0.0 {
        clauses.push(format!(
            "it slowed down for {:.0} s because of heat",
            heat.throttled_s
        ));
    }
    if heat.highest_c > CELSIUS_MAX {
        clauses.push(format!("up to {:.0} C", heat.highest_c));
    }
    clauses
}

/// Health as one fact.
pub(super) fn health(e: &Evidence) -> MeasureReading {
    let warm = heat_troubles(e.facts.heat.as_ref());
    let Some(h) = &e.facts.health else {
        return match e.facts.kind {
            TargetKind::Modelled if !warm.is_empty() => MeasureReading::Fact {
                holds: false,
                grade: EvidenceGrade::Behavioural,
                why: format!("While it was measured: {}.", warm.join("; ")),
            },
            TargetKind::Modelled if e.overwrite.is_some() => MeasureReading::Fact {
                holds: true,
                grade: EvidenceGrade::Declared,
                why: "A modelled drive as it leaves the factory.".into(),
            },
            TargetKind::Volume => MeasureReading::Fact {
                holds: true,
                grade: EvidenceGrade::Assumed,
                why: "A volume: its provider replaces media that fail.".into(),
            },
            _ => unknown("The drive's SMART was not read.".into()),
        };
    };
    let mut clauses = troubles(h, e.facts.rated_bytes_written);
    clauses.extend(warm);
    let used = h.used_percent.as_ref().map_or_else(
        || "its life used is not reported".to_owned(),
        |used| format!("{:.0} % of its rated life is used", used.value),
    );
    MeasureReading::Fact {
        holds: clauses.is_empty(),
        grade: EvidenceGrade::Declared,
        why: if clauses.is_empty() {
            format!("No trouble is reported; {used}.")
        } else {
            format!("The drive reports: {}.", clauses.join("; "))
        },
    }
}
