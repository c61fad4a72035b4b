//! What every row of the ledger must hold to. Each law has a test with a row that breaks it.
//!
//! ```text
//! row       a row by itself: range, spread, link, use, load, state, text
//! rows      rows together: duplicates, facts of a drive, rates and counts, percentiles
//! sources   sources: known, dated, licensed, attributed
//! ```

mod breach;
mod personal;
mod row;
mod rows;
mod sources;

pub use personal::personal;

use crate::row::LedgerRow;
use crate::source::LedgerSource;
use ssdlab_base::LabError;
use std::collections::BTreeMap;

/// Checks rows against every law; each error names file, line, the value given and the values
/// allowed.
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
