//! One look at a drive, understood: identity, cache, protection, life and events.

use super::json::Doc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_bench::device::health::{EvidenceGrade, ReportedValue};
use ssdlab_drives::known::KnownModel;

/// Format of [`Inspection`] as JSON.
pub const FORMAT_VERSION: u32 = 1;

/// What the drive is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct DriveIdentity {
    /// As the drive says.
    pub model: Option<String>,
    /// Family in smartctl's database.
    pub family: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// `ATA`, `NVMe`, `SCSI`.
    pub protocol: Option<String>,
    /// Bytes the host may address.
    pub capacity: Option<u64>,
    /// A virtual machine's disk.
    pub is_virtual: bool,
}

/// Cache as drive and kernel see it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct WriteCacheStatus {
    /// Whether the drive says that it has a volatile write cache that could be on.
    pub volatile: Option<bool>,
    /// Whether it is on.
    pub enabled: Option<bool>,
    /// `write back` or `write through`: what the kernel believes.
    pub kernel: Option<String>,
    /// Whether the kernel sends FUA.
    pub fua: Option<bool>,
}

/// Wear, writes and remaining life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct WearStatus {
    /// Per cent of the rated life used, by the drive's own estimate; may pass 100.
    pub used_percent: Option<ReportedValue>,
    /// Bytes the host wrote.
    pub host_bytes_written: Option<ReportedValue>,
    /// Bytes the host read.
    pub host_bytes_read: Option<ReportedValue>,
    /// Bytes programmed into NAND.
    pub nand_bytes_written: Option<ReportedValue>,
    /// NAND bytes programmed per host byte written, over the drive's life.
    pub waf: Option<ReportedValue>,
    /// Per cent of the spare left.
    pub spare_percent: Option<ReportedValue>,
    /// The spare at which the drive warns, per cent.
    pub spare_threshold: Option<f64>,
    /// Mean program and erase cycles.
    pub cycles_average: Option<ReportedValue>,
}

/// Counters of events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct DriveEvents {
    /// Hours powered.
    pub power_on_hours: Option<f64>,
    /// Times powered up.
    pub power_cycles: Option<u64>,
    /// Of these, after power was lost without notice.
    pub unsafe_shutdowns: Option<u64>,
    /// Errors that error correction could not save.
    pub media_errors: Option<u64>,
    /// Blocks or sectors retired since it left the factory.
    pub retired: Option<u64>,
    /// Celsius now.
    pub temperature_c: Option<f64>,
    /// Minutes above its warning or critical temperature.
    #[serde(default)]
    pub too_warm_minutes: Option<f64>,
}

/// Intel's timed workload: E2, E3, E4.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct TimedWorkload {
    /// Per cent of rated cycles used since the timer was reset (raw / 1,024).
    pub media_wear_percent: f64,
    /// Per cent of the commands that read.
    pub reads_percent: f64,
    /// Minutes since.
    pub minutes: f64,
}

/// Everything that a drive reports of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Inspection {
    /// [`FORMAT_VERSION`].
    pub version: u32,
    /// The file or device.
    pub source: String,
    /// When it was asked, seconds since 1970.
    pub taken_at: Option<i64>,
    /// What it is.
    pub identity: DriveIdentity,
    /// Whether it passes its own judgement.
    pub passed: Option<bool>,
    /// What it warns of, in words.
    pub warnings: Vec<String>,
    /// Cache.
    pub cache: WriteCacheStatus,
    /// Power-loss protection, by grade of evidence.
    pub protection: Protection,
    /// Wear and writes.
    pub life: WearStatus,
    /// Counters.
    pub events: DriveEvents,
    /// Timed workload, where it is running and plausible.
    pub timed: Option<TimedWorkload>,
    /// What published sources say of the model.
    pub known: Option<KnownModel>,
    /// What was there and could not be used, and why.
    pub notes: Vec<String>,
}

/// Whether acknowledged writes survive a power cut, as far as it is known.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Protection {
    /// `None`: not known.
    pub holds: Option<bool>,
    /// How it is known.
    pub grade: EvidenceGrade,
    /// In a sentence without its full stop.
    pub why: String,
}

impl Default for Protection {
    fn default() -> Protection {
        Protection {
            holds: None,
            grade: EvidenceGrade::None,
            why: "nothing documents or declares it".into(),
        }
    }
}

/// Longer than any SSD has existed.
pub(super) const HOURS_MAX: f64 = 50.0 * 8760.0;

impl TimedWorkload {
    /// What the three counters say, unless that cannot be: less than the hour after which they
    /// count, or longer than the drive has been powered.
    pub(super) fn believed(
        wear: f64,
        reads: f64,
        minutes: f64,
        powered_hours: Option<f64>,
    ) -> Option<Self> {
        let most = 60.0 * (powered_hours.unwrap_or(HOURS_MAX) + 1.0);
        let fits = (60.0..=most).contains(&minutes) && (0.0..=100.0).contains(&reads);
        (fits && wear >= 0.0).then_some(TimedWorkload {
            media_wear_percent: wear / 1024.0,
            reads_percent: reads,
            minutes,
        })
    }
}

/// A whole per cent from `path`, if it is one.
pub(super) fn percent(doc: &Doc, path: &str, most: f64) -> Option<ReportedValue> {
    let value = doc.number(path)?;
    let source = path.to_owned();
    (0.0..=most).contains(&value).then_some(ReportedValue {
        value,
        resolution: 1.0,
        source,
    })
}
