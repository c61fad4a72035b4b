//! JSON Schemas of the documents of the catalogue and of directories.

use crate::catalogue::show::{DriveDescription, DriveSummary};
use crate::keep::directory::DirectoryReport;
use crate::known::ModelFamily;
use ssdlab_base::schema::DocumentSchema;

/// Each document by name.
pub const SCHEMAS: &[DocumentSchema] = &[
    DocumentSchema::of::<Vec<DriveSummary>>("drives-list", "Output of `ssdlab list drives --json`"),
    DocumentSchema::of::<DriveDescription>(
        "drives-show",
        "Output of `ssdlab drives show NAME --json`",
    ),
    DocumentSchema::of::<Vec<ModelFamily>>(
        "drives-known",
        "Output of `ssdlab drives known --json`",
    ),
    DocumentSchema::of::<DirectoryReport>(
        "check-drive",
        "Output of `ssdlab check DIRECTORY --json`",
    ),
];
