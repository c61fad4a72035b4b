//! Times by kind and size as text, and which source gave them.

use crate::report::WatchReport;
use crate::source::histogram::{HistogramKind, LatencyRow, TimeQuantiles};
use ssdlab_view::text::{self, PLAIN};
use ssdlab_view::units;

/// Rows with fewer requests have no tail to show.
const FEW: u64 = 1000;
/// The share seen singly from which it is all of them, but for those under way.
const ALL: f64 = 0.99;

fn name(row: &LatencyRow) -> String {
    let kind = match row.kind {
        HistogramKind::Read => "reads",
        HistogramKind::Write => "writes",
        HistogramKind::Fua => "FUA writes",
        HistogramKind::Flush => "flushes",
        HistogramKind::Discard => "discards",
        HistogramKind::Awaited => return "awaited, in all".to_owned(),
    };
    match (row.bytes_at_most, row.kind) {
        (Some(bytes), _) => format!("{kind} up to {}", units::bytes(bytes)),
        (None, HistogramKind::Flush | HistogramKind::Discard) => kind.to_owned(),
        (None, _) => format!("larger {kind}"),
    }
}

fn cells(row: &LatencyRow, times: &TimeQuantiles) -> [String; 7] {
    [
        name(row),
        units::count(row.count),
        units::time(times.p50_ns),
        units::time(times.p99_ns),
        units::time(times.p99_9_ns),
        units::time(times.p99_99_ns),
        units::time(times.max_ns),
    ]
}

/// Tails of kinds and sizes that were asked for often enough to have one.
pub fn table(report: &WatchReport) -> String {
    let mut rows = report
        .latency
        .iter()
        .filter(|row| row.count >= FEW)
        .peekable();
    if rows.peek().is_none() {
        return String::new();
    }
    let mut table = text::new_table(PLAIN);
    table.set_header([
        "in the drive",
        "",
        "median",
        "99 %",
        "99.9 %",
        "99.99 %",
        "longest",
    ]);
    for row in rows {
        table.add_row(cells(row, &row.device));
    }
    text::finish(&table)
}

/// Who counted, where that is not who saw single requests.
pub fn origin(report: &WatchReport) -> String {
    let origin = &report.origin;
    if origin.single_requests.as_ref() == Some(&origin.counts) || report.figures.only_means {
        return String::new();
    }
    let mut line = format!("{} counted every request", origin.counts);
    if origin.uncounted > 0 {
        line += &format!(" but {}", units::count(origin.uncounted));
    }
    match &origin.single_requests {
        None => line += "; who asked and what was beside what is not known",
        Some(single) if origin.share_seen < ALL => {
            line += &format!(
                "; who asked and what was beside what is from {:.2} % of them, by {single}",
                100.0 * origin.share_seen
            );
        }
        Some(single) => line += &format!("; who asked and what was beside what by {single}"),
    }
    text::paragraph("counts", &line)
}
