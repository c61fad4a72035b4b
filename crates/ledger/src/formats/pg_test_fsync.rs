//! `pg_test_fsync`: the durable writes of one 8 kB block at one place, by method.

use super::results::{ReadResults, ReportedDrive, ReportedFigure};
use crate::metric::Metric;
use crate::row::{LoadKind, RowLoad, RowPath, SyncMethod, Through};
use std::collections::BTreeSet;

const METHODS: [(&str, SyncMethod); 5] = [
    ("open_datasync", SyncMethod::OpenDatasync),
    ("fdatasync", SyncMethod::Fdatasync),
    ("fsync", SyncMethod::Fsync),
    (WRITETHROUGH, SyncMethod::Fsync),
    ("open_sync", SyncMethod::OpenSync),
];

/// The method that systems have on which `fsync` alone leaves the drive's cache as it is.
const WRITETHROUGH: &str = "fsync_writethrough";

/// Whether a text is this tool's: its heading, or lines of two of its methods, one with a rate.
pub(super) fn is_output(text: &str) -> bool {
    let lines = || text.lines().filter(|line| method(line).is_some());
    text.contains("Compare file sync methods")
        || lines().count() >= 2 && lines().any(|line| rate(line).is_some())
}

/// Reads the part that writes one block and syncs it; the other parts test the system.
///
/// The part is known by the methods and not by its heading, which is in the language of the system.
pub(super) fn read(text: &str) -> ReadResults {
    let mut results = ReadResults {
        drive: ReportedDrive::default(),
        figures: Vec::new(),
        left_out: Vec::new(),
    };
    let is_direct = !["O_DIRECT not supported", "Direct I/O is not supported"]
        .iter()
        .any(|words| text.contains(words));
    let (block_bytes, lines) = one_write(text);
    let leaves_cache = lines
        .iter()
        .any(|line| line.contains(WRITETHROUGH) && rate(line).is_some());
    for line in lines {
        let Some((name, sync)) = method(line) else {
            continue;
        };
        let is_durable = !leaves_cache || name == WRITETHROUGH;
        match rate(line) {
            Some(rate) if is_durable => {
                results
                    .figures
                    .push(figure(rate, sync, is_direct, block_bytes));
            }
            Some(_) => results.left_out.push(format!(
                "{name}: that system leaves the drive's cache as it is; `{WRITETHROUGH}` does not"
            )),
            None if name == WRITETHROUGH => {}
            None => results
                .left_out
                .push(format!("{}: no rate is given", sync.word())),
        }
    }
    results
}

/// The method that a line begins with.
fn method(line: &str) -> Option<(&'static str, SyncMethod)> {
    let word = line.split_whitespace().next()?.trim_end_matches('*');
    METHODS.into_iter().find(|(method, _)| *method == word)
}

/// The rate of a line: the number after the method, with a point or a comma, and a unit behind it.
fn rate(line: &str) -> Option<f64> {
    let mut words = line.split_whitespace().skip(1);
    let number = words.next()?.replace(',', ".");
    let rate: f64 = number.parse().ok()?;
    words.next().filter(|_| rate.is_finite() && rate > 0.0)?;
    Some(rate)
}

/// The lines of the first part, and the size of its write: the number of the heading's `8kB`.
fn one_write(text: &str) -> (u64, Vec<&str>) {
    let lines: Vec<&str> = text.lines().collect();
    let is_method = |line: &&str| method(line).is_some();
    let first = lines.iter().position(is_method);
    let (before, part) = lines.split_at(first.unwrap_or(lines.len()));
    let kilobytes = before.iter().rev().find_map(|line| {
        let words = line.split_whitespace();
        words
            .filter_map(|word| word.split_once("kB")?.0.parse().ok())
            .next()
    });
    // The next part has a heading with a size, and the same methods again.
    let mut seen = BTreeSet::new();
    let part = part.iter().take_while(|line| {
        let is_again = method(line).is_some_and(|(name, _)| !seen.insert(name));
        !is_again && !line.contains("kB")
    });
    (kilobytes.unwrap_or(8_u64) * 1024, part.copied().collect())
}

fn figure(rate: f64, sync: SyncMethod, is_direct: bool, block_bytes: u64) -> ReportedFigure {
    let opens = matches!(sync, SyncMethod::OpenDatasync | SyncMethod::OpenSync);
    let trap = if opens && !is_direct {
        "no direct I/O on that file system"
    } else {
        ""
    };
    ReportedFigure {
        metric: Metric::WriteIops,
        value: rate,
        path: RowPath {
            through: Through::FileSystem,
            how: String::new(),
        },
        load: RowLoad {
            rw: Some(LoadKind::Overwrite),
            read_pct: None,
            block_bytes: Some(block_bytes),
            queue_depth: Some(1),
            jobs: Some(1),
            sync: Some(sync),
        },
        is_of_drive: true,
        trap: trap.into(),
        note: format!("pg_test_fsync, one {} kB write", block_bytes / 1024),
    }
}
