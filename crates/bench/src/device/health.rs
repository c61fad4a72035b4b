//! The health that a drive reports of itself, as evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_ssd::Drive;

/// How good a piece of evidence is, weakest first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceGrade {
    /// None was found.
    None,
    /// An assumption: usual for drives of the kind, without a source.
    Assumed,
    /// The device or the kernel says so of itself.
    Declared,
    /// A data sheet or a published list says so.
    Documented,
    /// Others measured it on a drive of the kind.
    MeasuredByOthers,
    /// Measured behaviour shows it.
    Behavioural,
    /// Power cuts showed it.
    ProvedByCuts,
}

/// A number with where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct ReportedValue {
    /// The number, in the unit of the field that holds it.
    pub value: f64,
    /// The true number lies between `value - resolution` and `value + resolution`.
    pub resolution: f64,
    /// Which counter said so.
    pub source: String,
}

/// A drive's own report of its health, as evidence.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct DriveHealth {
    /// Grade of the target's `power_loss_protection`.
    pub protection_grade: EvidenceGrade,
    /// Whether it passes its own assessment.
    pub passed: Option<bool>,
    /// What it warns of.
    pub warnings: Vec<String>,
    /// Per cent of the rated life used.
    pub used_percent: Option<ReportedValue>,
    /// Reads that error correction could not save.
    #[serde(default)]
    pub uncorrectable: Option<u64>,
    /// Blocks or sectors retired since it left the factory.
    #[serde(default)]
    pub retired: Option<u64>,
    /// Per cent of the reserve left.
    #[serde(default)]
    pub spare_percent: Option<f64>,
    /// It refuses writes.
    #[serde(default)]
    pub read_only: Option<bool>,
    /// Bytes that the host has written, by the drive's own count.
    #[serde(default)]
    pub host_bytes_written: Option<u64>,
    /// Celsius now.
    #[serde(default)]
    pub temperature_c: Option<f64>,
    /// Minutes above its own temperature limit, over its life.
    #[serde(default)]
    pub too_warm_minutes: Option<f64>,
}

/// How warm a modelled drive was, and how it slowed down because of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct ThermalSummary {
    /// Highest temperature so far, Celsius.
    pub highest_c: f64,
    /// Seconds so far in which it slowed down.
    pub throttled_s: f64,
}

impl ThermalSummary {
    /// That of a drive whose temperature is modelled.
    pub fn of(drive: &Drive) -> Option<ThermalSummary> {
        let heat = drive.heat()?;
        let throttled: u64 = heat.counters.time_ns[1..].iter().sum();
        Some(ThermalSummary {
            highest_c: heat.millicelsius_max as f64 / 1e3,
            throttled_s: throttled as f64 / 1e9,
        })
    }
}
