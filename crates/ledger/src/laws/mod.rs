//! What every row of the ledger must hold to. Each law has a test with a row that breaks it.
//!
//! ```text
//! row       a row by itself: range, spread, link, use, load, state, text
//! rows      rows together: duplicates, facts of a drive, rates and counts, percentiles
//! sources   sources: known, dated, licensed, attributed
//! ```

mod personal;
mod row;
mod rows;
mod sources;

pub use personal::personal;

use crate::read::place;
use crate::row::LedgerRow;
use crate::source::LedgerSource;
use ssdlab_base::LabError;
use std::collections::BTreeMap;

/// Checks rows against every law; each error names file, line, what was given and what is allowed.
pub fn check(rows: &[LedgerRow], sources: &BTreeMap<String, LedgerSource>) -> Vec<LabError> {
    let mut breaches = Vec::new();
    for row in rows {
        breaches.extend(row::LAWS.iter().filter_map(|law| law(row)));
        breaches.extend(sources::of_row(row, sources));
    }
    breaches.extend(rows::LAWS.iter().flat_map(|law| law(rows)));
    breaches
}

/// Checks sources against the laws of sources.
pub fn check_sources(sources: &BTreeMap<String, LedgerSource>, file: &str) -> Vec<LabError> {
    sources
        .values()
        .filter_map(|source| sources::of_source(source, file))
        .collect()
}

/// A breach at a column of a row.
fn breach(row: &LedgerRow, column: &str, given: &str, allowed: &str, hint: &str) -> LabError {
    LabError::BadValue {
        option: column.into(),
        given: given.into(),
        allowed: allowed.into(),
        place: place(&row.location.file, Some(row.location.line)),
        hint: hint.into(),
    }
}
