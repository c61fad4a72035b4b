//! Figures with where they come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a figure is known, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VolumeProvenance {
    /// The provider says so.
    Documented,
    /// Others measured it.
    MeasuredByOthers,
    /// Follows from other figures by arithmetic.
    Derived,
    /// Chosen by us; the source says why.
    Assumed,
}

/// A figure with where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourcedFigure {
    /// The figure, in the unit of its key.
    pub value: f64,
    /// How it is known.
    pub kind: VolumeProvenance,
    /// A key of `[sources]`, or why it was chosen.
    pub source: String,
}
