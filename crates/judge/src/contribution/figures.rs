//! Figures of a drive before they are rows, and those of power cuts.

use crate::pull::PullRecord;
use ssdlab_ledger::formats::{ReportedDrive, ReportedFigure};
use ssdlab_ledger::metric::Metric;
use ssdlab_ledger::row::{DriveState, FigureKind, RowLoad, RowPath, Through};

/// Figures of a drive before they are rows.
#[derive(Default)]
pub(super) struct DriveFigures {
    pub drive: ReportedDrive,
    pub figures: Vec<ReportedFigure>,
    pub kind: Option<FigureKind>,
    pub state: Option<DriveState>,
    pub left_out: Vec<String>,
}

/// A record of power cuts: how many counted, and after how many a promise was broken.
pub(super) fn pulls(record: &PullRecord) -> DriveFigures {
    let through = if record.is_file {
        Through::FileSystem
    } else {
        Through::Raw
    };
    let figure = |metric, count: u32| ReportedFigure {
        metric,
        value: f64::from(count),
        path: RowPath {
            through,
            how: String::new(),
        },
        load: no_load(),
        is_of_drive: true,
        trap: String::new(),
        note: "ssdlab pull".into(),
    };
    let mut figures = Vec::new();
    if record.counted > 0 {
        figures.push(figure(Metric::PowerCuts, record.counted));
        figures.push(figure(Metric::PowerCutsWithLoss, record.breaking));
    }
    DriveFigures {
        drive: ReportedDrive {
            model: record.model.clone(),
            ..ReportedDrive::default()
        },
        figures,
        ..DriveFigures::default()
    }
}

pub(super) fn no_load() -> RowLoad {
    RowLoad {
        rw: None,
        read_pct: None,
        block_bytes: None,
        queue_depth: None,
        jobs: None,
        sync: None,
    }
}
