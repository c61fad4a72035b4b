//! JSON Schemas of the documents of a watch.

use crate::events::WatchEvent;
use crate::report::WatchReport;
use ssdlab_base::schema::DocumentSchema;

/// Each document by name.
pub const SCHEMAS: &[DocumentSchema] = &[
    DocumentSchema::of::<WatchReport>("watch", "Output of `ssdlab watch --json`"),
    DocumentSchema::of::<WatchEvent>(
        "watch-event",
        "A line of the output of `ssdlab watch --events`",
    ),
];
