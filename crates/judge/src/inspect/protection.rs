//! Power-loss protection: what can be known without cutting the power, by grade of evidence.
//!
//! A published list or data sheet is `documented`, a test by others `behavioural`; a row of the
//! table of known drives without a source is `assumed`, and yields to the drive's own word. What
//! the drive says of itself is `declared`: a passed self-test of its capacitors, or the word of
//! an NVMe controller that it has no volatile write cache. A controller that has one may still be
//! protected, so that decides nothing.

use super::ata;
use super::inspection::{Inspection, Protection};
use super::json::Doc;
use super::nvme;
use super::report::DriveReport;
use ssdlab_bench::device::health::EvidenceGrade;
use ssdlab_drives::known::{KnownProtection, SourceClass};

/// Names, in smartctl's database, of the attributes that hold the health of the capacitors.
const CAPACITORS: [&str; 4] = [
    "Power_Loss_Cap_Test",
    "SuperCap_Health",
    "Supercap_Status",
    "Power_Fail_Health",
];

/// What a capacitor attribute says: `Some(true)` when it passed.
fn capacitor(doc: &Doc) -> Option<(bool, String)> {
    let rows = ata::rows(doc);
    let row = rows
        .iter()
        .find(|row| CAPACITORS.contains(&row.name.as_str()))?;
    let (value, limit) = (row.value?, row.threshold.filter(|limit| *limit > 0.0)?);
    let description = format!(
        "attribute {} {}, {value} of at least {limit}",
        row.id, row.name
    );
    Some((value > limit, description))
}

fn declared(holds: bool, why: String) -> Protection {
    Protection {
        holds: Some(holds),
        grade: EvidenceGrade::Declared,
        why,
    }
}

pub(super) fn judge(doc: &Doc, report: &DriveReport, found: &mut Inspection) {
    let backup_failed = nvme::backup_failed(doc, found);
    let capacitor = capacitor(doc);
    found.protection = if found.identity.is_virtual {
        Protection {
            why: "this is a virtual machine's disk: what is underneath is not visible".into(),
            ..Protection::default()
        }
    } else if backup_failed {
        declared(
            false,
            "the drive says that the backup of its buffer failed".into(),
        )
    } else if let Some((false, what)) = &capacitor {
        declared(false, format!("its capacitors failed their test ({what})"))
    } else if let Some(documented) = of_table(found, true) {
        documented
    } else if let Some((true, what)) = capacitor {
        declared(
            true,
            format!("it tests capacitors, and they passed ({what})"),
        )
    } else if report.nvme_controller.is_some() && found.cache.volatile == Some(false) {
        declared(
            true,
            "the controller says that it has no volatile write cache".into(),
        )
    } else {
        of_table(found, false).unwrap_or_default()
    };
}

/// What the table of known drives says, from a source or as an assumption.
fn of_table(found: &Inspection, is_sourced: bool) -> Option<Protection> {
    let known = found.known.as_ref().filter(|known| known.plp.is_some())?;
    let grade = match known.plp_class {
        Some(SourceClass::Test) => EvidenceGrade::Behavioural,
        Some(_) => EvidenceGrade::Documented,
        None => EvidenceGrade::Assumed,
    };
    let at_rest = match known.protection {
        KnownProtection::AtRestOnly => "only data at rest is protected: ",
        _ => "",
    };
    (known.plp_class.is_some() == is_sourced).then(|| Protection {
        holds: known.plp,
        grade,
        why: format!("{at_rest}{}", known.plp_source),
    })
}
