//! `pg_test_fsync`: the durable writes of one 8 kB block at one place, by method.

use super::results::{ReadResults, ReportedDrive, ReportedFigure};
use crate::metric::Metric;
use crate::row::{LoadKind, RowLoad, RowPath, SyncMethod, Through};

const METHODS: [(&str, SyncMethod); 4] = [
    ("open_datasync", SyncMethod::OpenDatasync),
    ("fdatasync", SyncMethod::Fdatasync),
    ("fsync", SyncMethod::Fsync),
    ("open_sync", SyncMethod::OpenSync),
];

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
    for line in lines.take_while(|line| !line.starts_with("Compare")) {
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
        match rate.filter(|rate| rate.is_finite() && *rate > 0.0) {
            Some(rate) => results.figures.push(figure(rate, *sync, is_direct)),
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
