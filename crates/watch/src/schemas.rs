//! JSON Schemas of the documents of a watch.

use crate::report::WatchReport;
use ssdlab_base::schema::DocumentSchema;

/// Each document by name.
pub const SCHEMAS: &[DocumentSchema] = &[DocumentSchema::of::<WatchReport>(
    "watch",
    "Output of `ssdlab watch --json`",
)];
