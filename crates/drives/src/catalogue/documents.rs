//! What is printed of drives as JSON.

use super::sourced::CatalogueParameter;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A drive in the list of all.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DriveSummary {
    /// Name in the catalogue.
    pub name: String,
    /// Name of its family.
    pub family: String,
    /// What a person calls it.
    pub title: String,
    /// Interface to the host.
    pub interface: String,
    /// Size for the host, in bytes.
    pub user_bytes: u64,
    /// Whether acknowledged writes survive a power cut.
    pub power_loss_protection: bool,
    /// Rated endurance in bytes written by the host.
    pub rated_bytes_written: Option<u64>,
    /// The same as drive writes per day over the warranty.
    pub drive_writes_per_day: Option<f64>,
    /// How many figures of its data sheet the model meets.
    pub meets_its_sheet: String,
}

/// A drive with its parameters.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DriveDescription {
    /// Name in the catalogue.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// How many figures of its data sheet the model meets.
    pub meets_its_sheet: String,
    /// Every parameter with its source.
    pub parameters: Vec<CatalogueParameter>,
    /// The values that follow from the parameters, by name.
    pub derived: BTreeMap<&'static str, String>,
}
