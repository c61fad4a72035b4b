//! What every row of the ledger must hold to. Each law has a test with a row that breaks it.

use crate::read::place;
use crate::row::{LedgerRow, RowUse, Through};
use crate::source::LedgerSource;
use ssdlab_base::LabError;
use std::collections::BTreeMap;

/// Checks rows against every law; each error names file, line, what was given and what is allowed.
pub fn check(rows: &[LedgerRow], sources: &BTreeMap<String, LedgerSource>) -> Vec<LabError> {
    let mut breaches = Vec::new();
    for row in rows {
        breaches.extend(RANGES.iter().filter_map(|law| law(row)));
        breaches.extend(source_is_known(row, sources));
    }
    breaches
}

type RowLaw = fn(&LedgerRow) -> Option<LabError>;

const RANGES: [RowLaw; 2] = [value_is_in_range, row_of_a_drive_is_of_one_named_drive];

fn breach(row: &LedgerRow, column: &str, given: &str, allowed: &str, hint: &str) -> LabError {
    LabError::BadValue {
        option: column.into(),
        given: given.into(),
        allowed: allowed.into(),
        place: place(&row.location.file, Some(row.location.line)),
        hint: hint.into(),
    }
}

/// A value is one that a drive can have.
fn value_is_in_range(row: &LedgerRow) -> Option<LabError> {
    let (least, most) = row.figure.metric.range();
    let metric = row.figure.metric;
    (!(least..=most).contains(&row.figure.value)).then(|| {
        breach(
            row,
            "value",
            &row.figure.value.to_string(),
            &format!(
                "`{}` is from {least} to {most} {}",
                metric.name(),
                metric.unit()
            ),
            "is the value in another unit?",
        )
    })
}

/// A figure from a RAID, or of a drive without a name, is no drive's.
fn row_of_a_drive_is_of_one_named_drive(row: &LedgerRow) -> Option<LabError> {
    let is_named = !row.drive.model.is_empty() && !row.drive.model.contains("unnamed");
    let is_one = row.path.through != Through::Raid;
    (row.row_use == RowUse::Drive && !(is_named && is_one)).then(|| {
        let given = row.row_use.word();
        let allowed = "only `context` is allowed for a RAID or a drive without a name";
        breach(
            row,
            "use",
            given,
            allowed,
            "such a figure is never used as a drive's",
        )
    })
}

/// Every row has a source that `sources.toml` describes.
fn source_is_known(row: &LedgerRow, sources: &BTreeMap<String, LedgerSource>) -> Option<LabError> {
    (!sources.contains_key(&row.source)).then(|| {
        breach(
            row,
            "source",
            &row.source,
            "an id of ledger/sources.toml is allowed",
            "add the source there: address, date read, licence, class",
        )
    })
}
