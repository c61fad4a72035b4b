//! A breach of a law, at its cell.

use crate::read::place;
use crate::row::LedgerRow;
use ssdlab_base::LabError;

/// A breach at a column of a row.
pub(super) fn breach(
    row: &LedgerRow,
    column: &str,
    given: &str,
    allowed: &str,
    hint: &str,
) -> LabError {
    LabError::BadValue {
        option: column.into(),
        given: given.into(),
        allowed: allowed.into(),
        place: place(&row.location.file, Some(row.location.line)),
        hint: hint.into(),
    }
}
