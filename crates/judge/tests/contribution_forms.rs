//! Forms of other tools' output that differ by option, language and build: is each read as the tool
//! meant it?

use serde_json::{Value, json};
use ssdlab_judge::contribution::{Contribution, ContributionSettings, contribution};
use ssdlab_ledger::metric::Metric;
use ssdlab_ledger::row::DriveState;
use std::fs;
use std::path::{Path, PathBuf};

const DRIVE: &str = "Samsung SSD 990 PRO 2TB";

fn settings() -> ContributionSettings {
    ContributionSettings {
        drive: Some(DRIVE.to_owned()),
        state: DriveState::Unknown,
        source: "contribution".into(),
    }
}

fn added(path: &Path) -> Contribution {
    contribution(path, &settings()).expect("rows")
}

fn value(contribution: &Contribution, metric: Metric) -> Option<f64> {
    let row = contribution
        .rows
        .iter()
        .find(|row| row.figure.metric == metric)?;
    Some(row.figure.value)
}

fn written(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, text).expect("written");
    path
}

/// `4kib` is 4,000 bytes to fio, `kb_base` changes what `4k` is, and reads and writes may differ:
/// the size in the row was that of the option as one would read it.
#[test]
fn the_size_of_a_command_is_the_one_that_fio_used() {
    let dir = tempfile::tempdir().expect("a directory");
    let sizes = |options: &Value, counted: [u64; 2]| {
        let side = |bytes: u64| {
            json!({"iops": 1000.0, "runtime": 90_000, "total_ios": 90_000,
                "io_bytes": 90_000 * bytes})
        };
        let text = json!({"fio version": "fio-3.36", "jobs": [{"jobname": "a", "error": 0,
            "job options": options, "read": side(counted[0]), "write": side(counted[1])}]});
        let path = written(dir.path(), "fio.json", &text.to_string());
        let rows = added(&path).rows;
        let size = |metric: Metric| {
            let row = rows.iter().find(|row| row.figure.metric == metric);
            row.and_then(|row| row.load.block_bytes)
        };
        [size(Metric::ReadIops), size(Metric::WriteIops)]
    };
    let both = json!({"rw": "randrw", "bs": "4k,8k", "direct": "1"});
    assert_eq!(sizes(&both, [4096, 8192]), [Some(4096), Some(8192)]);
    let based = json!({"rw": "randwrite", "bs": "4k", "kb_base": "1000", "direct": "1"});
    assert_eq!(sizes(&based, [0, 4000])[1], Some(4000));
    // A version that does not say how much it moved.
    let text = json!({"fio version": "fio-2.16", "jobs": [{"jobname": "a", "error": 0,
        "job options": {"rw": "randwrite", "bs": "4kib", "direct": "1"},
        "read": {"iops": 0.0}, "write": {"iops": 1000.0, "runtime": 90_000}}]});
    let path = written(dir.path(), "fio2.json", &text.to_string());
    assert_eq!(added(&path).rows[0].load.block_bytes, Some(4000));
}

/// With `unified_rw_reporting` fio gives one count of both directions under a key of its own, and
/// nothing was found in the document.
#[test]
fn one_count_of_both_directions_is_read_as_such() {
    let dir = tempfile::tempdir().expect("a directory");
    let rows = |rw: &str| {
        let text = json!({"fio version": "fio-3.36", "jobs": [{"jobname": "a", "error": 0,
            "job options": {"rw": rw, "bs": "4k", "direct": "1", "filename": "/dev/sdb"},
            "mixed": {"iops": 1500.0, "runtime": 90_000,
                "lat_ns": {"mean": 9000.0, "percentile": {"99.000000": 30_000}}}}]});
        let path = written(dir.path(), "fio.json", &text.to_string());
        added(&path)
    };
    assert_eq!(value(&rows("randrw"), Metric::MixedIops), Some(1500.0));
    let writes = rows("randwrite");
    assert_eq!(value(&writes, Metric::WriteIops), Some(1500.0));
    // The percentile of the whole command, as `lat_percentiles` asks for.
    assert_eq!(value(&writes, Metric::WriteLatencyP99), Some(30.0));
}

/// The heading is in the language of the system and the decimal sign with it, and PostgreSQL can be
/// built with other blocks: only the English heading and blocks of 8 kB were known.
#[test]
fn pg_test_fsync_is_read_in_any_language_and_of_any_block() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = "5 Sekunden pro Test\n\nDateien mit einmal 16kB:\n\
        \x20       open_datasync              n/a*\n\
        \x20       fdatasync                  608,573 Op./s   1643 us/Op.\n\
        \x20       fsync                      177,431 Op./s   5636 us/Op.\n\n\
        Dateien mit zweimal:\n\
        \x20       fdatasync                  300,000 Op./s   3333 us/Op.\n";
    let path = written(dir.path(), "pg.txt", text);
    let added = added(&path);
    let rates: Vec<f64> = added.rows.iter().map(|row| row.figure.value).collect();
    assert_eq!(rates, [608.573, 177.431]);
    assert_eq!(added.rows[0].load.block_bytes, Some(16384));
}

/// It was called no report of smartctl.
#[test]
fn the_text_that_fio_prints_leads_to_its_json() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = "a: (g=0): rw=write, bs=(R) 2300B-2300B, ioengine=sync, iodepth=1\n  \
        write: IOPS=313, BW=704KiB/s (721kB/s)(4096KiB/5816msec)\n";
    let path = written(dir.path(), "fio.txt", text);
    let error = contribution(&path, &settings()).expect_err("refused");
    assert!(error.hint().contains("--output-format=json"), "{error}");
}
