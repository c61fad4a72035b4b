//! A drive's own counters as figures, from whatever `inspect` reads.

use super::figures::{DriveFigures, no_load};
use crate::inspect::{self, Inspection};
use ssdlab_base::LabError;
use ssdlab_ledger::formats::{ReportedDrive, ReportedFigure};
use ssdlab_ledger::metric::Metric;
use ssdlab_ledger::row::{DriveState, FigureKind, RowPath, Through};
use std::path::Path;

/// Life used from which writes for 1 % of it mean something: it is counted in whole per cents.
const USED_MIN_PERCENT: f64 = 3.0;

pub(super) fn read(path: &Path) -> Result<Vec<DriveFigures>, LabError> {
    let reports = inspect::drive_reports(path)?;
    let sets = reports
        .iter()
        .map(|report| Ok(figures(&inspect::inspect(report)?)));
    sets.collect()
}

fn figures(inspection: &Inspection) -> DriveFigures {
    let mut set = DriveFigures {
        drive: ReportedDrive {
            model: inspection.identity.model.clone(),
            firmware: inspection.identity.firmware.clone(),
            capacity: inspection.identity.capacity,
        },
        kind: Some(FigureKind::Field),
        state: Some(DriveState::InService),
        ..DriveFigures::default()
    };
    if inspection.identity.is_virtual {
        set.left_out
            .push("a virtual machine's disk counts for no drive".into());
        return set;
    }
    let life = &inspection.life;
    let value = |reported: &Option<inspect::ReportedValue>| {
        reported.as_ref().map(|reported| reported.value)
    };
    let host_tb = value(&life.host_bytes_written).map(|bytes| bytes / 1e12);
    let used = value(&life.used_percent);
    let per_percent = host_tb
        .zip(used.filter(|used| *used >= USED_MIN_PERCENT))
        .map(|(host_tb, used)| host_tb / used);
    let values = [
        (Metric::HostTbWritten, host_tb),
        (
            Metric::NandTbWritten,
            value(&life.nand_bytes_written).map(|bytes| bytes / 1e12),
        ),
        (Metric::Waf, value(&life.waf)),
        (Metric::PercentUsed, used),
        (Metric::HostTbPerPct, per_percent),
        (Metric::EraseCyclesObserved, value(&life.cycles_average)),
        (Metric::PowerOnHours, inspection.events.power_on_hours),
    ];
    for (metric, value) in values {
        let (least, most) = metric.range();
        let Some(value) = value else { continue };
        if !(least..=most).contains(&value) {
            set.left_out
                .push(format!("`{}` is out of range", metric.name()));
            continue;
        }
        set.figures.push(ReportedFigure {
            metric,
            value,
            path: RowPath {
                through: Through::Counters,
                how: String::new(),
            },
            load: no_load(),
            is_of_drive: true,
            trap: String::new(),
            note: String::new(),
        });
    }
    set
}
