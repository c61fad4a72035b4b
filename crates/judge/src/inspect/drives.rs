//! Drives and saved reports by path: each drive once, with a forecast of the end of its life.

use super::collect::collect;
use super::forecast::{Forecast, forecasts};
use super::inspection::Inspection;
use super::read::inspect;
use super::report::{DriveReport, drive_reports, piped_reports};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_ledger::Ledger;
use ssdlab_ledger::placing::{DriveCounters, FieldStanding, PlacedDrive};
use std::fs::FileType;
use std::path::{Path, PathBuf};

/// A drive's last look, and the forecasts from all looks at it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InspectedDrive {
    /// The last look.
    pub inspection: Inspection,
    /// When the drive will be worn out, by each method that applies.
    pub forecasts: Vec<Forecast>,
    /// Where it stands among drives of its model in service; absent: no population is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_service: Option<FieldStanding>,
}

/// The drives in `reports`: those of each device or file, or why it could not be read.
///
/// # Errors
/// When one cannot be read, is not an SSD, or two reports of a drive do not fit together.
pub fn drives(
    reports: impl IntoIterator<Item = Result<Vec<DriveReport>, LabError>>,
) -> Result<Vec<InspectedDrive>, LabError> {
    let mut drives: Vec<InspectionHistory> = Vec::new();
    for reports in reports {
        for report in reports? {
            add(&mut drives, inspect(&report)?);
        }
    }
    let inspected = |drive: InspectionHistory| {
        let (first, last) = drive.ends();
        Ok(InspectedDrive {
            forecasts: forecasts(first, last)?,
            in_service: standing(last),
            inspection: last.clone(),
        })
    };
    drives.into_iter().map(inspected).collect()
}

/// Where a drive stands among those of its model, by the ledger's counters of drives in service.
fn standing(inspection: &Inspection) -> Option<FieldStanding> {
    let identity = &inspection.identity;
    let model = identity.model.as_deref().filter(|_| !identity.is_virtual)?;
    let life = &inspection.life;
    let value =
        |reported: &Option<super::ReportedValue>| reported.as_ref().map(|reported| reported.value);
    let counters = DriveCounters {
        used_percent: value(&life.used_percent),
        host_bytes: value(&life.host_bytes_written),
        waf: value(&life.waf),
        erase_cycles: value(&life.cycles_average),
        hours: inspection.events.power_on_hours,
    };
    Ledger::open().standing(&PlacedDrive {
        model,
        capacity: identity.capacity,
        counters,
    })
}

/// The reports that a path leads to: one of the device itself, or those in a file or, for `-`, on
/// standard input; `kind` is smartctl's `-d`.
///
/// # Errors
/// When it cannot be read.
pub fn reports(path: &Path, kind: Option<&str>) -> Result<Vec<DriveReport>, LabError> {
    if path.as_os_str() == "-" {
        return piped_reports();
    }
    let meta = std::fs::metadata(path).map_err(|error| LabError::file("reading", path, error))?;
    if let Some(device) = device(path, meta.file_type()) {
        return Ok(vec![collect(&device, kind)?]);
    }
    drive_reports(path)
}

/// The device to ask, if `path` is one.
#[cfg(target_os = "linux")]
fn device(path: &Path, kind: FileType) -> Option<PathBuf> {
    use ssdlab_bench::device::generic::block_path;
    use ssdlab_bench::device::system::SystemPaths;
    use std::os::unix::fs::FileTypeExt;
    // smartctl and the kernel's queue know an NVMe drive by its block device.
    let is_device = kind.is_block_device() || kind.is_char_device();
    is_device.then(|| block_path(&SystemPaths::live(), path))
}

/// Devices have no paths among files there; reports that were saved are read.
#[cfg(not(target_os = "linux"))]
fn device(_path: &Path, _kind: FileType) -> Option<PathBuf> {
    None
}

/// The looks at one drive.
struct InspectionHistory {
    looks: Vec<Inspection>,
}

impl InspectionHistory {
    /// The last look, and the first if there is more than one.
    fn ends(&self) -> (Option<&Inspection>, &Inspection) {
        let last = &self.looks[self.looks.len() - 1];
        let first = (self.looks.len() > 1).then(|| &self.looks[0]);
        (first, last)
    }
}

fn add(drives: &mut Vec<InspectionHistory>, look: Inspection) {
    let same = |drive: &&mut InspectionHistory| {
        let known = &drive.looks[0].identity;
        (&known.model, &known.serial) == (&look.identity.model, &look.identity.serial)
    };
    match drives.iter_mut().find(same) {
        Some(drive) => {
            drive.looks.push(look);
            drive.looks.sort_by_key(|look| look.taken_at);
        }
        None => drives.push(InspectionHistory { looks: vec![look] }),
    }
}
