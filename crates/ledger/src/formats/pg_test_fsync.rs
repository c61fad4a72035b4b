//! `pg_test_fsync`: the durable writes of one 8 kB block at one place, by method.

use super::results::{ReadResults, ReportedDrive, ReportedFigure};
use crate::metric::Metric;
use crate::row::{LoadKind, RowLoad, RowPath, SyncMethod, Through};

const METHODS: [(&str, SyncMethod); 5] = [
    ("open_datasync", SyncMethod::OpenDatasync),
    ("fdatasync", SyncMethod::Fdatasync),
    ("fsync", SyncMethod::Fsync),
    (WRITETHROUGH, SyncMethod::Fsync),
    ("open_sync", SyncMethod::OpenSync),
];

/// The method that systems have on which `fsync` alone leaves the drive's cache as it is.
const WRITETHROUGH: &str = "fsync_writethrough";

const BLOCK_BYTES: u64 = 8192;

/// Reads the part that writes one block and syncs it; the other parts test the system.
pub(super) fn read(text: &str) -> ReadResults {
    let mut results = ReadResults {
        drive: ReportedDrive::default(),
        figures: Vec::new(),
        left_out: Vec::new(),
    };
    let is_direct = !text.contains("O_DIRECT not supported");
    let lines = text.lines().skip_while(|line| !begins(line)).skip(1);
    let lines: Vec<&str> = lines
        .take_while(|line| !line.trim_start().starts_with("Compare"))
        .collect();
    let leaves_cache = lines
        .iter()
        .any(|line| line.contains(WRITETHROUGH) && line.contains("ops/sec"));
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(word) = words.first() else {
            continue;
        };
        let name = word.trim_end_matches('*');
        let Some((_, sync)) = METHODS.iter().find(|(method, _)| *method == name) else {
            continue;
        };
        let rate = words
            .windows(2)
            .find(|pair| pair[1].starts_with("ops/sec"))
            .and_then(|pair| pair[0].parse::<f64>().ok());
        let is_durable = !leaves_cache || name == WRITETHROUGH;
        match rate.filter(|rate| rate.is_finite() && *rate > 0.0) {
            Some(rate) if is_durable => results.figures.push(figure(rate, *sync, is_direct)),
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

fn begins(line: &str) -> bool {
    line.contains("Compare file sync methods using one 8")
}

fn figure(rate: f64, sync: SyncMethod, is_direct: bool) -> ReportedFigure {
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
            block_bytes: Some(BLOCK_BYTES),
            queue_depth: Some(1),
            jobs: Some(1),
            sync: Some(sync),
        },
        is_of_drive: true,
        trap: trap.into(),
        note: "pg_test_fsync, one 8 kB write".into(),
    }
}
