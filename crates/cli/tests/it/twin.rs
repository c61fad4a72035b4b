//! `ssdlab twin`: is bad input refused, does what does not decide stay UNKNOWN, and does the same
//! table give the same bytes?

use crate::bad_input::refused;
use crate::run::ssdlab;
use std::fs;

/// Columns of every table here, and the row that each needs.
fn table(rows: &str) -> String {
    format!("load,used_pct,overwrites,write_mibs,drift_pct\nsequential,,,1400,\n{rows}")
}

fn fit_refused(text: &str, expected: &[&str]) {
    let args = ["twin", "fit", "t.csv", "--capacity", "800GB", "--out", "d"];
    refused(&[("t.csv", text)], &args, expected);
}

#[test]
fn tables_that_cannot_be_are_refused() {
    let cases: [(&str, &[&str]); 7] = [
        (
            "uniform,100,5,1500,\n",
            &["t.csv:3", "above the sequential rate"],
        ),
        (
            "uniform,100,5,620,\nuniform,100,5,300,\n",
            &["t.csv:4", "line 3"],
        ),
        (
            "gaussian,100,5,620,\n",
            &["t.csv:3", "gaussian", "zipf:0.99"],
        ),
        ("uniform,100,5,0.6,\n", &["t.csv:3", "unit"]),
        ("uniform,100,,620,\n", &["t.csv:3", "overwrit"]),
        ("uniform,100,5\n", &["t.csv:3", "3 cells"]),
        ("uniform,100,5,fast,\n", &["t.csv:3", "fast"]),
    ];
    for (rows, expected) in cases {
        fit_refused(&table(rows), expected);
    }
    fit_refused(
        "load,overwrites,write_kbs\n",
        &["t.csv:1", "write_kbs", "write_mibs"],
    );
    fit_refused(
        "load,overwrites,iops\nuniform,5,9\n",
        &["no row `sequential`"],
    );
    fit_refused("", &["t.csv:1"]);
}

#[test]
fn requests_that_cannot_be_are_refused() {
    let good = table("uniform,100,5,620,\n");
    let files: &[(&str, &str)] = &[("t.csv", &good)];
    refused(files, &["twin", "fit", "t.csv"], &["capacity is not given"]);
    let small = ["twin", "fit", "t.csv", "--capacity", "10MB"];
    refused(files, &small, &["1 GiB or more"]);
    let slow = ["twin", "fit", "t.csv", "--from", "drive:consumer-sata-1tb"];
    refused(files, &slow, &["above the link"]);
    refused(
        files,
        &["twin", "fit", "no.csv", "--capacity", "1TB"],
        &["no.csv"],
    );
    refused(files, &["twin", "predict", "."], &["twin.json"]);
}

#[test]
fn rows_that_are_no_evidence_leave_everything_unknown() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = table("uniform,100,1,620,\nzipf:0.8,100,5,500,-12\n");
    fs::write(dir.path().join("t.csv"), text).expect("written");
    let args = ["twin", "fit", "t.csv", "--capacity", "800GB", "--out", "d"];
    let outcome = ssdlab(dir.path(), &args);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("UNKNOWN"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("line 3") && outcome.stdout.contains("line 4"));
    assert!(!dir.path().join("d/drive.toml").exists());
    let outcome = ssdlab(dir.path(), &["twin", "predict", "d"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stdout);
    assert!(
        outcome.stderr.contains("knows nothing"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn the_same_table_gives_the_same_bytes_and_its_drive_can_be_used() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("t.csv"), table("uniform,100,3,620,\n")).expect("written");
    for out in ["a", "b"] {
        let args = ["twin", "fit", "t.csv", "--capacity", "800GB", "--out", out];
        let outcome = ssdlab(dir.path(), &args);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let wide = outcome
            .stdout
            .lines()
            .find(|line| line.chars().count() > 80);
        assert_eq!(wide, None);
    }
    for name in ["twin.json", "drive.toml", "report.html"] {
        let read = |out: &str| fs::read(dir.path().join(out).join(name)).expect("written");
        assert_eq!(read("a"), read("b"), "{name}");
    }
    let shown = ssdlab(dir.path(), &["drives", "show", "a/drive.toml"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let args = [
        "twin",
        "predict",
        "a",
        "--load",
        "uniform",
        "--spare",
        "+20%",
        "--overwrites",
        "3",
    ];
    let outcome = ssdlab(dir.path(), &args);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("prediction"), "{}", outcome.stdout);
    for bad in ["20", "+60%", "+x%"] {
        let outcome = ssdlab(dir.path(), &["twin", "predict", "a", "--spare", bad]);
        assert_eq!(outcome.code, Some(2), "{bad}");
    }
}
