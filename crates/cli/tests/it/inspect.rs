//! `ssdlab inspect`: is each drive read as its report means, is what cannot be read refused, and
//! does a record survive being cut off?
//!
//! `INSTA_UPDATE=always cargo test -p ssdlab --test it inspect` rewrites `snapshots/`.

use assert_cmd::Command;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../judge/tests/samples/smart")
}

fn inspect(dir: &Path, args: &[&str]) -> Output {
    let output = Command::cargo_bin("ssdlab")
        .expect("built")
        .current_dir(dir)
        .arg("inspect")
        .args(args)
        .output()
        .expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Reports without the fields, or with nonsense in them: "unknown", and no number of life or bytes.
#[test]
fn missing_fields_are_unknown_and_never_a_number() {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, json) in [
        (
            "no-table",
            r#"{"model_name":"X","device":{"protocol":"ATA"}}"#,
        ),
        (
            "no-raw",
            r#"{"model_name":"X","ata_smart_attributes":{"table":[{"id":233}]}}"#,
        ),
        (
            "words",
            r#"{"device":{"protocol":"NVMe"},
                "nvme_smart_health_information_log":{"percentage_used":"many"}}"#,
        ),
        (
            "negative",
            r#"{"device":{"protocol":"NVMe"},
                "nvme_smart_health_information_log":{"percentage_used":-1,
                "data_units_written":-7}}"#,
        ),
    ] {
        let file = format!("{name}.json");
        fs::write(dir.path().join(&file), json).expect("written");
        let output = inspect(dir.path(), &[&file]);
        let said = text(&output.stdout);
        for line in ["life used", "written"] {
            let row = said.lines().find(|row| row.trim().starts_with(line));
            let row = row.unwrap_or_else(|| panic!("{name}: {said}"));
            assert!(row.contains("unknown"), "{name}: {said}");
            assert!(
                !row.contains(|c: char| c.is_ascii_digit()),
                "{name}: {said}"
            );
        }
    }
}

/// Every sample, as a person sees it, with its exit code.
#[test]
fn drives_of_many_vendors_are_read_as_agreed() {
    let mut names: Vec<String> = fs::read_dir(samples())
        .expect("samples")
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.into_string().expect("UTF-8"))
        .filter(|name| name.ends_with(".json"))
        .collect();
    names.sort();
    assert!(names.len() >= 20);
    let mut seen = String::new();
    for name in &names {
        let output = inspect(&samples(), &[name]);
        seen += &text(&output.stdout);
        seen += &text(&output.stderr);
        seen += &format!("exit code {}\n\n", output.status.code().expect("no signal"));
    }
    let two = ["intel-s3610-480g-later.json", "intel-s3610-480g-first.json"];
    seen += &text(&inspect(&samples(), &two).stdout);
    assert!(seen.lines().all(|line| line.chars().count() <= 80
        || line.starts_with("hint")
        || line.starts_with("error")));
    insta::assert_snapshot!("inspect", seen);
}

#[test]
fn json_has_what_the_text_has() {
    let output = inspect(&samples(), &["--json", "intel-p3700-400g.json"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = &value[0]["inspection"];
    assert_eq!(found["protection"]["grade"], "documented");
    assert_eq!(
        found["life"]["host_bytes_written"]["value"],
        655_012_839.0 * 512_000.0
    );
    assert_eq!(found["life"]["waf"], serde_json::Value::Null);
    assert_eq!(value[0]["forecasts"][0]["method"], "lifetime_average");
}

#[test]
fn bad_input_is_refused_with_a_hint() {
    let dir = tempfile::tempdir().expect("a directory");
    let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("written");
    put("cut.json", "{\"device\": {");
    put("other.json", "{\"hello\": 1}");
    put("empty.json", "");
    for (args, expected) in [
        (
            &["cut.json"][..],
            "cut.json:1: no report of smartctl: it ends in the middle",
        ),
        (&["other.json"], "no report of smartctl"),
        (&["empty.json"], "empty"),
        (&["nonesuch.json"], "nonesuch.json"),
        (&["."], "no saved drive"),
        (
            &["--watch", "10ms", "--out", "o", "/dev/null"],
            "once a second",
        ),
        (&["--watch", "x", "--out", "o", "/dev/null"], "`x`"),
        (&["--watch", "1s", "--out", "o", "a", "b"], "one device"),
    ] {
        let output = inspect(dir.path(), args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
        assert!(stderr.contains("hint: "), "{args:?}: {stderr}");
        assert!(!dir.path().join("o").exists(), "{args:?} left a record");
    }
}

/// A directory with a smartctl that prints a sample, whatever it is asked.
fn pretended(sample: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let tool = dir.path().join("smartctl");
    let sample = samples().join(sample);
    fs::write(&tool, format!("#!/bin/sh\ncat '{}'\n", sample.display())).expect("written");
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).expect("executable");
    dir
}

fn watching(tools: &Path, args: &[&str]) -> std::process::Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("ssdlab"));
    command
        .current_dir(tools)
        .env("PATH", format!("{}:{path}", tools.display()))
        .args(["inspect", "--watch", "1s", "--out", "record.jsonl"])
        .args(args)
        .arg("/dev/null")
        .stderr(Stdio::null());
    command
}

#[test]
fn a_record_is_added_to_and_read_back() {
    let tools = pretended("dell-intel-s3520-240g.json");
    let record = tools.path().join("record.jsonl");
    let run = || {
        watching(tools.path(), &["--count", "2"])
            .status()
            .expect("runs")
    };
    assert!(run().success());
    let lines = || {
        fs::read_to_string(&record)
            .expect("a record")
            .lines()
            .count()
    };
    assert_eq!(lines(), 2);
    // The machine lost power in the middle of a line.
    let whole = fs::read(&record).expect("a record");
    fs::write(&record, &whole[..whole.len() - 100]).expect("written");
    assert!(run().success());
    assert_eq!(lines(), 3, "one whole line was left, two were added");
    let output = inspect(tools.path(), &["--json", "record.jsonl"]);
    // The sample's time stands still, so there is nothing to forecast from.
    assert!(
        text(&output.stderr).contains("not later"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn ctrl_c_leaves_whole_lines() {
    let tools = pretended("dell-intel-s3520-240g.json");
    let record = tools.path().join("record.jsonl");
    let mut child = watching(tools.path(), &[]).spawn().expect("starts");
    let begun = Instant::now();
    while fs::metadata(&record).map_or(0, |meta| meta.len()) == 0 {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "nothing was recorded"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.expect("runs").success());
    assert!(child.wait().expect("ends").success());
    let text = fs::read_to_string(&record).expect("a record");
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("a whole line");
    }
}

#[test]
fn a_file_that_is_no_record_is_not_overwritten() {
    let tools = pretended("dell-intel-s3520-240g.json");
    let record = tools.path().join("record.jsonl");
    fs::write(&record, "precious\n").expect("written");
    let status = watching(tools.path(), &["--count", "1"])
        .status()
        .expect("runs");
    assert_eq!(status.code(), Some(2));
    assert_eq!(
        fs::read_to_string(&record).expect("still there"),
        "precious\n"
    );
}

/// `inspect drive:NAME` said "No such file".
#[test]
fn modelled_drives_are_inspected_as_real_ones_are() {
    let dir = tempfile::tempdir().expect("a directory");
    let new = inspect(dir.path(), &["drive:intel-dc-s3700-200gb"]);
    assert_eq!(new.status.code(), Some(0), "{}", text(&new.stderr));
    let page = text(&new.stdout);
    assert!(
        page.contains("INTEL SSDSC2BA200G3") && page.contains("life used    0 %"),
        "{page}"
    );
    let report = inspect(
        dir.path(),
        &["drive:intel-dc-s3700-200gb", "--format", "smartctl-json"],
    );
    fs::write(dir.path().join("report.json"), &report.stdout).expect("written");
    let saved = inspect(dir.path(), &["report.json"]);
    assert_eq!(
        text(&saved.stdout).replace("report.json", "drive:intel-dc-s3700-200gb"),
        page
    );
    for (args, message) in [
        (&["drive:nonesuch"][..], "no drive `nonesuch`"),
        (
            &["intel-dc-s3700-200gb"],
            "ssdlab inspect drive:intel-dc-s3700-200gb",
        ),
        (&["report.json", "--format", "text"], "report.json"),
        (
            &[
                "drive:intel-x25e-64gb",
                "drive:intel-x25e-32gb",
                "--format",
                "text",
            ],
            "one modelled",
        ),
        (&["."], "no saved drive"),
    ] {
        let output = inspect(dir.path(), args);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
        assert!(
            error.contains(message) && error.contains("hint: "),
            "{args:?}: {error}"
        );
    }
}

/// A former name is an error whose hint is the command of today.
#[test]
fn former_names_of_commands_are_refused_with_todays_command() {
    let output = Command::cargo_bin("ssdlab")
        .expect("built")
        .args(["smart", "my drive"])
        .output();
    let output = output.expect("runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).ends_with("\nhint: ssdlab inspect 'my drive'\n"));
}
