//! JSON Schemas of the documents of campaigns and the power switch.

use crate::crashtest::scripts::{CampaignDocument, CutRecord};
use crate::inside::DatabasePreset;
use crate::verified::FioCampaignReport;
use ssdlab_base::schema::DocumentSchema;
use ssdlab_serve::control::ControlReply;

/// Each document by name.
pub const SCHEMAS: &[DocumentSchema] = &[
    DocumentSchema::of::<CampaignDocument>(
        "crashtest",
        "Output of `ssdlab crashtest --json` and `ssdlab crashtest run --json`",
    ),
    DocumentSchema::of::<CutRecord>(
        "crashtest-replay",
        "Output of `ssdlab crashtest --replay TOKEN --json`: one cut",
    ),
    DocumentSchema::of::<Vec<DatabasePreset>>(
        "crashtest-presets",
        "Output of `ssdlab crashtest presets --json`",
    ),
    DocumentSchema::of::<FioCampaignReport>(
        "crashtest-fio",
        "Output of `ssdlab crashtest fio --json`",
    ),
    DocumentSchema::of::<ControlReply>("power", "Output of `ssdlab power ... --json`"),
];
