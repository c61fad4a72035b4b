//! JSON Schemas of the documents of twins.

use crate::fingerprint::Fingerprint;
use crate::fit::Twin;
use crate::predict::LoadPrediction;
use ssdlab_base::schema::DocumentSchema;

/// Each document by name.
pub const SCHEMAS: &[DocumentSchema] = &[
    DocumentSchema::of::<Fingerprint>(
        "fingerprint",
        "fingerprint.json, and the output of `ssdlab fingerprint --json`",
    ),
    DocumentSchema::of::<Twin>(
        "twin",
        "twin.json, and the output of `ssdlab twin fit --json`",
    ),
    DocumentSchema::of::<Vec<LoadPrediction>>(
        "prediction",
        "Output of `ssdlab twin predict --json`",
    ),
];
