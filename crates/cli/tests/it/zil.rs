//! Does `ssdlab host zil` say what it does, the same every time, and refuse what it cannot do?

use assert_cmd::Command;
use serde_json::Value;
use std::process::Output;

fn zil(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("ssdlab").unwrap();
    command.args(["host", "zil"]).args(args).output().unwrap()
}

fn json(args: &[&str]) -> Value {
    let out = zil(&[args, &["--json"]].concat());
    assert!(out.status.success(), "{out:?}");
    serde_json::from_slice(&out.stdout).unwrap()
}

#[test]
fn text_fits_80_columns_and_is_the_same_every_time() {
    let args = ["--writers", "5", "--duration", "3s"];
    let text = zil(&args).stdout;
    assert_eq!(text, zil(&args).stdout);
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    for word in ["%RAN", "Seek distance", "Latency", "flushes"] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

/// The trace that is written shows, by another path, what was printed.
#[test]
fn the_trace_shows_what_was_printed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.csv");
    let path = path.to_str().unwrap();
    let run = json(&["--writers", "3", "--duration", "2s", "--trace", path]);
    let mut show = Command::cargo_bin("ssdlab").unwrap();
    let out = show
        .args(["trace", "show", path, "--json"])
        .output()
        .unwrap();
    assert!(out.status.success(), "{out:?}");
    let text = String::from_utf8(out.stdout).unwrap();
    let count = run["pattern_total"]["count"].as_u64().unwrap();
    assert!(
        text.contains(&format!("\"count\": {count}")),
        "{count} in {text}"
    );
    let seeks: u64 = run["seeks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b[1].as_u64().unwrap())
        .sum();
    assert_eq!(seeks, count - 1);
}

#[test]
fn a_modelled_drive_slows_the_writers_down() {
    let ideal = json(&["--duration", "2s"]);
    let drive = json(&["--duration", "2s", "--target", "drive:consumer-sata-1tb"]);
    let writes = |value: &Value| value["sync_writes"].as_u64().unwrap();
    assert!(writes(&drive) * 5 < writes(&ideal) * 4, "{drive} {ideal}");
    assert!(drive["flushes"].as_u64().unwrap() >= writes(&drive));
}

#[test]
fn every_parameter_has_a_kind_and_a_reason() {
    for preset in ["2010", "2.1"] {
        let list = json(&["--preset", preset, "--parameters"]);
        for p in list["parameters"].as_array().unwrap() {
            let kind = p["kind"].as_str().unwrap();
            assert!(["code", "calibrated", "measured", "assumed"].contains(&kind));
            assert!(!p["why"].as_str().unwrap().is_empty());
        }
    }
}

#[test]
fn impossible_requests_are_refused_with_a_hint() {
    for args in [
        &["--writers", "0"][..],
        &["--writers", "1", "--datasets", "2"],
        &["--device", "1KiB"],
        &["--preset", "3"],
        &["--duration", "0s"],
        &["--target", "null:1GiB", "--device", "2GiB"],
        &["--target", "drive:none"],
    ] {
        let out = zil(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        let text = String::from_utf8(out.stderr).unwrap();
        assert!(text.contains("hint:"), "{args:?}: {text}");
    }
}
