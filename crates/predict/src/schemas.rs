//! JSON Schemas of the documents of this crate.

use crate::score::Score;
use ssdlab_base::schema::DocumentSchema;

/// Each document by name.
pub const SCHEMAS: &[DocumentSchema] = &[DocumentSchema::of::<Score>(
    "ledger-score",
    "Output of `ssdlab ledger score --json`",
)];
