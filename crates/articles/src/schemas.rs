//! JSON Schemas of the documents of the experiments of the articles.

use crate::experiments::mirror::MirrorPairs;
use crate::figures::PublishedFigure;
use crate::row::ReproductionRow;
use ssdlab_base::schema::DocumentSchema;

/// Each document by name.
pub const SCHEMAS: &[DocumentSchema] = &[
    DocumentSchema::of::<Vec<PublishedFigure>>(
        "reproduce-list",
        "Output of `ssdlab reproduce --list --json`",
    ),
    DocumentSchema::of::<Vec<ReproductionRow>>("reproduce", "Output of `ssdlab reproduce --json`"),
    DocumentSchema::of::<MirrorPairs>("mirror", "Output of `ssdlab endurance --mirror --json`"),
];
