//! How a drive was aged, as its files say.

use crate::rests_on::RestsOn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The load and conditions of a life, as files keep them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LifeConditions {
    /// Name of the drive.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// Parameters changed from the drive's file.
    pub settings: Vec<String>,
    /// Calibrated and assumed values.
    pub rests_on: Vec<RestsOn>,
    /// The load's pattern, as on the command line.
    pub pattern: String,
    /// Bytes of each command.
    pub block: u32,
    /// Percentage of commands that are reads.
    pub read_pct: u32,
    /// Percentage of commands that are trims.
    pub trim_pct: u32,
    /// Of the load's random numbers, and of how blocks differ.
    pub seed: u64,
    /// Bytes that the host writes a day.
    pub per_day: u64,
    /// Celsius.
    pub temperature_c: f64,
    /// Extrapolates between exact spans.
    pub fast: bool,
}
