//! JSON Schemas of the documents of runs.

use crate::run_dir::{RunHeader, RunResult};
use ssdlab_base::schema::DocumentSchema;

/// Each document by name.
pub const SCHEMAS: &[DocumentSchema] = &[
    DocumentSchema::of::<RunHeader>("run", "run.json: what was run"),
    DocumentSchema::of::<RunResult>(
        "result",
        "result.json, and the output of `ssdlab run --json` and `ssdlab report --json`",
    ),
];
