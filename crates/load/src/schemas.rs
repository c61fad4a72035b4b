//! JSON Schemas of the documents of profiles and traces.

use crate::profiles::ProfileSummary;
use crate::trace::TraceDocument;
use ssdlab_base::schema::DocumentSchema;

/// Each document by name.
pub const SCHEMAS: &[DocumentSchema] = &[
    DocumentSchema::of::<Vec<ProfileSummary>>(
        "profiles",
        "Output of `ssdlab list profiles --json`",
    ),
    DocumentSchema::of::<TraceDocument>(
        "trace",
        "Output of `ssdlab trace show FILE --json`; of several files, an array of these",
    ),
];
