//! `ssdlab ledger`: are bad rows refused with file and line, and are rows of others' results
//! written once, and only where the drive is named?

use assert_cmd::Command;
use std::fs;
use std::path::Path;
use std::process::Output;

fn ledger(dir: &Path, args: &[&str]) -> Output {
    let output = Command::cargo_bin("ssdlab")
        .expect("built")
        .current_dir(dir)
        .arg("ledger")
        .args(args)
        .output()
        .expect("runs");
    let stderr = text(&output.stderr);
    assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

const FSYNC: &str = "5 seconds per test\n\n\
    Compare file sync methods using one 8kB write:\n\
    \x20       fdatasync                           608.573 ops/sec    1643 usecs/op\n";
const DRIVE: &str = "Vorrath Rocket 1TB";

#[test]
fn the_ledger_that_comes_with_ssdlab_holds_to_its_laws() {
    let dir = tempfile::tempdir().expect("a directory");
    let output = ledger(dir.path(), &["check"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("every law holds"));
}

#[test]
fn rows_are_written_once_and_a_spoilt_file_is_refused_at_its_line() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("fsync.txt"), FSYNC).expect("written");
    let refused = ledger(dir.path(), &["add", "fsync.txt", "--out", "new.csv"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("hint: --drive \"MAKER MODEL CAPACITY\""));
    assert!(
        !dir.path().join("new.csv").exists(),
        "nothing is left of a refusal"
    );

    let add = ["add", "fsync.txt", "--drive", DRIVE, "--out", "new.csv"];
    let added = ledger(dir.path(), &add);
    assert_eq!(added.status.code(), Some(0), "{}", text(&added.stderr));
    let rows = fs::read_to_string(dir.path().join("new.csv")).expect("rows");
    assert_eq!(text(&added.stdout).trim_end(), rows.trim_end());
    assert!(
        rows.contains("Vorrath,Rocket 1TB,vorrath-rocket,1000,"),
        "{rows}"
    );
    assert_eq!(
        ledger(dir.path(), &["check", "new.csv"]).status.code(),
        Some(0)
    );

    let again = ledger(dir.path(), &add);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("new.csv exists"));
    assert_eq!(
        fs::read_to_string(dir.path().join("new.csv")).expect("rows"),
        rows
    );

    fs::write(dir.path().join("bad.csv"), rows.replace(",1/s,", ",us,")).expect("written");
    let bad = ledger(dir.path(), &["check", "bad.csv"]);
    assert_eq!(bad.status.code(), Some(2));
    let report = text(&bad.stdout);
    assert!(
        report.contains("bad.csv:2: `unit` cannot be `us`: `write_iops` is in 1/s"),
        "{report}"
    );
    assert!(
        report.contains("hint: convert the value to that unit"),
        "{report}"
    );
}
