//! JSON Schemas of the documents of this program beyond those of the crates.

use crate::commands::list::policies::PolicyTable;
use crate::documents::{ComparedRun, SavedDriveReport};
use ssdlab_base::schema::DocumentSchema;

/// Each document by name.
const SCHEMAS: &[DocumentSchema] = &[
    DocumentSchema::of::<PolicyTable>("policies", "Output of `ssdlab list policies --json`"),
    DocumentSchema::of::<Vec<ComparedRun>>("compare", "Output of `ssdlab compare --json`"),
    DocumentSchema::of::<SavedDriveReport>("check-file", "Output of `ssdlab check FILE --json`"),
];

/// The documents of all crates.
const TABLES: &[&[DocumentSchema]] = &[
    SCHEMAS,
    ssdlab_articles::schemas::SCHEMAS,
    ssdlab_bench::schemas::SCHEMAS,
    ssdlab_drives::schemas::SCHEMAS,
    ssdlab_hosts::schemas::SCHEMAS,
    ssdlab_judge::schemas::SCHEMAS,
    ssdlab_life::schemas::SCHEMAS,
    ssdlab_load::schemas::SCHEMAS,
    ssdlab_predict::schemas::SCHEMAS,
    ssdlab_twin::schemas::SCHEMAS,
    ssdlab_watch::schemas::SCHEMAS,
    #[cfg(target_os = "linux")]
    ssdlab_conform::schemas::SCHEMAS,
    #[cfg(target_os = "linux")]
    ssdlab_power::schemas::SCHEMAS,
];

/// Every document, by name.
pub fn documents() -> Vec<&'static DocumentSchema> {
    let mut documents: Vec<_> = TABLES.iter().copied().flatten().collect();
    documents.sort_unstable_by_key(|document| document.name);
    documents
}
