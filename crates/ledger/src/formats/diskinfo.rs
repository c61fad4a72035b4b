//! FreeBSD's `diskinfo -wS`: random writes, each followed by a flush, by size.

use super::results::{ReadResults, ReportedDrive, ReportedFigure};
use crate::metric::Metric;
use crate::row::{LoadKind, RowLoad, RowPath, SyncMethod, Through};

pub(super) fn read(text: &str) -> ReadResults {
    let lines = text
        .lines()
        .skip_while(|line| !line.contains("Synchronous random writes"))
        .skip(1);
    ReadResults {
        drive: drive(text),
        figures: lines.map_while(figure).collect(),
        left_out: Vec::new(),
    }
}

/// The drive by its lines `VALUE # Disk descr.` and `BYTES # mediasize in bytes`. The line with the
/// serial number, `# Disk ident.`, is not looked at.
fn drive(text: &str) -> ReportedDrive {
    let value = |label: &str| {
        let line = text.lines().find(|line| line.contains(label))?;
        let value = line.split('#').next()?.trim();
        (!value.is_empty()).then(|| value.to_owned())
    };
    let bytes = value("# mediasize in bytes");
    ReportedDrive {
        model: value("# Disk descr."),
        firmware: None,
        capacity: bytes.and_then(|bytes| bytes.split_whitespace().next()?.parse().ok()),
    }
}

/// A line as `4 kbytes:    157.8 usec/IO =     24.8 Mbytes/s`.
fn figure(line: &str) -> Option<ReportedFigure> {
    let (size, time) = line.split_once("kbytes:")?;
    let kilobytes: f64 = size.trim().parse().ok()?;
    let microseconds: f64 = time.split("usec/IO").next()?.trim().parse().ok()?;
    let is_plausible = kilobytes > 0.0 && microseconds > 0.0 && microseconds.is_finite();
    is_plausible.then(|| ReportedFigure {
        metric: Metric::SyncWriteLatencyMean,
        value: microseconds,
        path: RowPath {
            through: Through::Raw,
            how: String::new(),
        },
        load: RowLoad {
            rw: Some(LoadKind::RandWrite),
            read_pct: None,
            block_bytes: Some((kilobytes * 1024.0) as u64),
            queue_depth: Some(1),
            jobs: Some(1),
            sync: Some(SyncMethod::Flush),
        },
        is_of_drive: true,
        trap: String::new(),
        note: "diskinfo -wS, a write and its flush".into(),
    })
}
