//! What a forecast starts from: what is known of a drive in use, and a model of its kind.

use super::fill::WritePressure;
use super::warmth::TemperatureReading;
use crate::source::settings::HostSettings;
use crate::steps::WatchedSecond;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_drives::catalogue::{CatalogueDrive, Provenance};
use ssdlab_ssd::DriveConfig;

/// Bytes between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ByteRange {
    /// At least.
    pub low: f64,
    /// At most.
    pub high: f64,
}

/// What the kernel says when a watch begins, and temperatures since.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForecastBeginning {
    /// Bytes written since the machine started.
    pub written_since_boot: Option<u64>,
    /// Temperatures that the drive has said.
    pub temperatures: Vec<TemperatureReading>,
}

/// Temperatures that are kept: two hours, one every 5 s.
const TEMPERATURES_MAX: usize = 1440;

impl ForecastBeginning {
    /// With the counters since the machine started, and the settings.
    pub fn new(since_boot: &WatchedSecond, settings: &HostSettings) -> ForecastBeginning {
        let mut beginning = ForecastBeginning {
            written_since_boot: Some(since_boot.writes.bytes),
            ..ForecastBeginning::default()
        };
        beginning.warmed(0.0, settings.temperature_c);
        beginning
    }

    /// Adds a temperature, if the drive has said one.
    pub fn warmed(&mut self, at_s: f64, celsius: Option<f64>) {
        let reading = celsius.map(|celsius| TemperatureReading { at_s, celsius });
        self.temperatures.extend(reading);
        let more = self.temperatures.len().saturating_sub(TEMPERATURES_MAX);
        self.temperatures.drain(..more);
    }
}

/// What is known of a drive in use without asking more of it.
#[derive(Clone, Debug, Default)]
pub struct ForecastEvidence {
    /// What was done since the beginning of the watch, in slices of equal length.
    pub slices: Vec<WatchedSecond>,
    /// Length of a slice, s.
    pub slice_s: f64,
    /// Temperatures that the drive has said.
    pub temperatures: Vec<TemperatureReading>,
    /// Share of the drive that holds data, if a file system says so.
    pub used: Option<f64>,
    /// Bytes written since the machine started, up to the beginning of the watch.
    pub written_since_boot: Option<u64>,
    /// Bytes written without a long pause right before the watch.
    pub run_up: Option<ByteRange>,
    /// Bytes that the host has written in the drive's life, up to the beginning of the watch.
    pub written_in_life: Option<u64>,
    /// Where writes go.
    pub pressure: Option<WritePressure>,
}

/// The drive that forecasts are made with.
#[derive(Clone, Debug)]
pub struct ForecastModel {
    /// Its configuration.
    pub config: DriveConfig,
    /// Bytes that its maker warrants.
    pub rated_bytes: Option<u64>,
    /// Deviation of the size of its pSLC cache, as a share.
    pub cache_sigma: f64,
}

/// Deviation of a parameter that is known in this way, as a share.
fn sigma_of(kind: Provenance) -> f64 {
    match kind {
        Provenance::Datasheet | Provenance::Teardown => 0.06,
        Provenance::Measured | Provenance::Calibrated => 0.08,
        Provenance::Derived => 0.10,
        Provenance::Assumed => 0.25,
    }
}

impl ForecastModel {
    /// Of a drive of the catalogue or of a file.
    pub fn new(drive: &CatalogueDrive) -> ForecastModel {
        let parameters = drive.parameters();
        let sizes = [
            "ftl.slc_dynamic_superblocks",
            "ftl.slc_dynamic_above_free",
            "ftl.slc_superblocks",
        ];
        // The larger part of the cache decides: a dynamic one, where there is one.
        let kind = sizes.iter().find_map(|key| {
            let size = parameters.iter().find(|parameter| parameter.key == *key)?;
            (size.value != "0").then_some(size.kind)
        });
        ForecastModel {
            config: drive.config.clone(),
            rated_bytes: drive.rated_bytes_written(),
            cache_sigma: sigma_of(kind.unwrap_or(Provenance::Assumed)),
        }
    }
}
