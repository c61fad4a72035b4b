//! JSON Schemas of the documents of lives.

use crate::age::result::LifeResult;
use crate::endurance::study::StudyResults;
use crate::simulate::result::Simulation;
use crate::simulate::sweep::LifeGridRow;
use crate::theory::report::TheoryRow;
use crate::validate::Validation;
use ssdlab_base::schema::DocumentSchema;

/// Each document by name.
pub const SCHEMAS: &[DocumentSchema] = &[
    DocumentSchema::of::<Simulation>(
        "simulation",
        "simulation.json, and the output of `ssdlab simulate --json`",
    ),
    DocumentSchema::of::<Vec<LifeGridRow>>(
        "grid",
        "grid.json, and the output of `ssdlab simulate --sweep --json`",
    ),
    DocumentSchema::of::<LifeResult>("life", "life.json, and the output of `ssdlab age --json`"),
    DocumentSchema::of::<StudyResults>("endurance", "Output of `ssdlab endurance --json`"),
    DocumentSchema::of::<Vec<TheoryRow>>("theory", "Output of `ssdlab theory --json`"),
    DocumentSchema::of::<Vec<Validation>>(
        "drives-validate",
        "Output of `ssdlab drives validate --json`",
    ),
];
