//! A row of the ledger in words.

use super::parts::number;
use crate::predict::FrozenPrediction;
use ssdlab_ledger::row::{DriveState, LoadKind, SyncMethod, Through};
use ssdlab_ledger::{LedgerRow, Metric};
use ssdlab_view::units::time_mean;

/// What a row measures.
pub fn figure(row: &LedgerRow) -> &'static str {
    match row.figure.metric {
        Metric::WriteIops if row.load.is_durable() => "durable writes per second",
        Metric::WriteIops => "writes per second",
        metric => metric.words(),
    }
}

/// A value with its unit: times as people read them, rates as `1,084/s`.
pub fn quantity(value: f64, metric: Metric) -> String {
    match metric.unit() {
        "us" => time_mean(value * 1e3),
        "" => number(value),
        "%" => format!("{} %", number(value)),
        unit => match unit.strip_prefix("1/") {
            Some(time) => format!("{}/{time}", number(value)),
            None => format!("{} {unit}", number(value)),
        },
    }
}

/// A prediction with its unit.
pub fn predicted(prediction: &FrozenPrediction, metric: Metric) -> String {
    quantity(prediction.predicted, metric)
}

/// Where eight of ten such figures are predicted to be.
pub fn within(prediction: &FrozenPrediction, metric: Metric) -> String {
    range(prediction.low, prediction.high, metric)
}

/// Two ends of a range.
fn range(low: f64, high: f64, metric: Metric) -> String {
    format!("{} to {}", quantity(low, metric), quantity(high, metric))
}

/// Least and most of a row that gives them.
pub fn spread(row: &LedgerRow) -> Option<String> {
    let figure = &row.figure;
    let (low, high) = figure.low.zip(figure.high)?;
    Some(range(low, high, figure.metric))
}

/// A load in a few words: `random writes, 16 KiB, 1 outstanding, fsync`.
pub fn load(row: &LedgerRow) -> String {
    let load = &row.load;
    let kind = load.rw.map(|rw| match rw {
        LoadKind::Read => "reads in order",
        LoadKind::Write => "writes in order",
        LoadKind::RandRead => "random reads",
        LoadKind::RandWrite => "random writes",
        LoadKind::RandRw => "random reads and writes",
        LoadKind::Rw => "reads and writes in order",
        LoadKind::Overwrite => "one place overwritten",
        LoadKind::Trace => "a trace",
    });
    let block = load.block_bytes.map(|bytes| match bytes {
        _ if bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
        _ if bytes % 1024 == 0 => format!("{} KiB", bytes / 1024),
        _ => format!("{bytes} B"),
    });
    let sync = load.sync.and_then(|sync| match sync {
        SyncMethod::None => None,
        SyncMethod::Fsync => Some("fsync"),
        SyncMethod::Fdatasync => Some("fdatasync"),
        SyncMethod::Flush => Some("flush"),
        SyncMethod::OpenDatasync => Some("O_DSYNC"),
        SyncMethod::OpenSync => Some("O_SYNC"),
    });
    let parts = [
        kind.map(str::to_owned),
        load.read_pct.map(|percent| format!("{percent} % reads")),
        block,
        load.outstanding().map(|n| format!("{n} outstanding")),
        sync.map(str::to_owned),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What the drive held.
pub fn state(row: &LedgerRow) -> String {
    let state = match row.state.state {
        DriveState::InService => "in service",
        DriveState::Unknown => "not said",
        state => state.word(),
    };
    joined(&[state, &row.state.how])
}

/// The way to the drive, and what else decides or misleads.
pub fn how(row: &LedgerRow) -> String {
    let through = match row.path.through {
        Through::Raw => "the block device",
        Through::FileSystem => "a file",
        Through::Raid => "several drives as one",
        Through::Sheet => "the maker's sheet",
        Through::Counters => "the drive's counters",
        Through::Unknown => "",
    };
    let path = match row.path.how.as_str() {
        how if row.path.through == Through::FileSystem && !how.is_empty() => {
            format!("a file of {how}")
        }
        how => joined(&[through, how]),
    };
    let mind = match row.trap.as_str() {
        "" => String::new(),
        trap => format!("mind: {trap}"),
    };
    let parts = [path, row.note.clone(), mind];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("; ")
}

fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts
        .iter()
        .copied()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(", ")
}

/// What a prediction's model was made from.
pub fn basis(basis: &str) -> &'static str {
    match basis {
        "draft:class" => "draft of its class",
        "draft:sheet" => "draft of its sheet",
        _ => "catalogue",
    }
}
