//! JSON Schemas of the documents of conformance.

use crate::host::ConformReport;
use ssdlab_base::schema::DocumentSchema;

/// Each document by name.
pub const SCHEMAS: &[DocumentSchema] = &[DocumentSchema::of::<ConformReport>(
    "conform",
    "Output of `ssdlab conform --json`",
)];
