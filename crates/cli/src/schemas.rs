//! JSON Schemas of the documents of this program beyond those of the crates.

use crate::commands::list::policies::PolicyTable;
use crate::documents::{ComparedRun, SavedDriveReport};
use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::Value;
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
    ssdlab_twin::schemas::SCHEMAS,
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

/// The schema of a document as it is printed: a key that may be absent is never null.
pub fn schema_of(document: &DocumentSchema) -> Schema {
    let mut schema = document.schema();
    RecursiveTransform(absent_rather_than_null).transform(&mut schema);
    schema
}

fn absent_rather_than_null(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    let names = required.as_array().map_or(&[][..], Vec::as_slice);
    let optional = properties.iter_mut();
    for (_, value) in optional.filter(|(name, _)| !names.iter().any(|needed| needed == *name)) {
        if let Some(Value::Array(types)) = value.get_mut("type") {
            types.retain(|kind| kind != "null");
        }
        if let Some(Value::Array(alternatives)) = value.get_mut("anyOf") {
            alternatives.retain(|alternative| alternative["type"] != "null");
        }
    }
}
