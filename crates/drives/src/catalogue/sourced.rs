//! Values with where they come from.

use crate::rests_on::RestsOn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a value is known, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// The maker says so.
    Datasheet,
    /// Somebody opened a drive and looked.
    Teardown,
    /// Somebody measured it.
    Measured,
    /// Follows from other values by arithmetic.
    Derived,
    /// Fitted so that the model meets the published figures in `fitted_to`.
    Calibrated,
    /// Chosen by us; the source says why.
    Assumed,
}

impl Provenance {
    /// As written in drive files.
    pub const fn name(self) -> &'static str {
        match self {
            Provenance::Datasheet => "datasheet",
            Provenance::Teardown => "teardown",
            Provenance::Measured => "measured",
            Provenance::Derived => "derived",
            Provenance::Calibrated => "calibrated",
            Provenance::Assumed => "assumed",
        }
    }
}

/// A value with where it comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourcedValue<T> {
    /// The value.
    pub value: T,
    /// How it is known.
    pub kind: Provenance,
    /// Where from, or why.
    pub source: String,
    /// Ids of the published figures that a calibrated value was fitted to, or a derived one follows
    /// from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fitted_to: Vec<String>,
}

/// One parameter for showing: table, key, value, kind, source, fitted_to.
#[derive(Clone, Debug, Serialize, JsonSchema, PartialEq)]
pub struct CatalogueParameter {
    /// `nand.program` and so on.
    pub key: String,
    /// As written.
    pub value: String,
    /// How it is known.
    pub kind: Provenance,
    /// Where from.
    pub source: String,
    /// Figures it was fitted to.
    pub fitted_to: Vec<String>,
}

impl CatalogueParameter {
    /// The table of the file that it stands in: `nand` of `nand.program`.
    pub fn table(&self) -> &str {
        self.key.split('.').next().unwrap_or_default()
    }

    /// What figures of the drive rest on because of it: nothing but a calibrated or assumed value.
    pub fn rests_on(&self) -> Option<RestsOn> {
        match self.kind {
            Provenance::Calibrated => {
                Some(RestsOn::calibrated(&self.key, &self.value, &self.fitted_to))
            }
            Provenance::Assumed => Some(RestsOn::assumed(&self.key, &self.value, &self.source)),
            Provenance::Datasheet
            | Provenance::Teardown
            | Provenance::Measured
            | Provenance::Derived => None,
        }
    }
}
