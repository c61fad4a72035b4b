//! JSON Schemas of the documents of hosts.

use crate::months::Months;
use crate::oltp::Oltp;
use crate::scenario::ScenarioDocument;
use crate::tier::TierRuns;
use crate::zil::preset::ZfsParameters;
use ssdlab_base::schema::DocumentSchema;

/// Each document by name.
pub const SCHEMAS: &[DocumentSchema] = &[
    DocumentSchema::of::<ZfsParameters>(
        "zil-parameters",
        "Output of `ssdlab host zil --parameters --json`",
    ),
    DocumentSchema::of::<ScenarioDocument<TierRuns>>("tier", "Output of `ssdlab host tier --json`"),
    DocumentSchema::of::<ScenarioDocument<&[Months]>>(
        "months",
        "Output of `ssdlab host months --json`",
    ),
    DocumentSchema::of::<ScenarioDocument<&[Oltp]>>("oltp", "Output of `ssdlab host oltp --json`"),
];
