//! `ssdlab host tier`, `months` and `oltp` end to end: what a person gets, what is kept, what is
//! refused.
//!
//! `INSTA_UPDATE=always cargo test -p ssdlab --test it hosts` rewrites `snapshots/`.

use crate::run::{Outcome, small, ssdlab as run};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Runs `ssdlab host WORDS`, where `small` is the example drive.
fn ssdlab(dir: &Path, words: &str) -> Outcome {
    let small = small();
    let words = std::iter::once("host").chain(words.split_whitespace());
    let args: Vec<&str> = words
        .map(|word| if word == "small" { &small } else { word })
        .collect();
    run(dir, &args)
}

const RUNS: [(&str, &str); 3] = [
    ("months", "months small --days 21 --daily 30"),
    ("tier", "tier small --duration 3s"),
    ("oltp", "oltp small --tps 2000 --months 1 --window 1s"),
];

/// Text as agreed, in 80 columns; results kept and the same every time.
#[test]
fn each_model_prints_what_was_agreed_and_keeps_its_results() {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, words) in RUNS {
        let out = ssdlab(dir.path(), &format!("{words} --out {name}"));
        assert_eq!(out.code, Some(0), "{}", out.stderr);
        let wide = out.stdout.lines().map(|line| line.chars().count()).max();
        assert!(wide <= Some(80), "{}", out.stdout);
        insta::assert_snapshot!(name, out.stdout);
        let series = fs::read_to_string(dir.path().join(name).join("series.csv")).expect("rows");
        let columns = |line: &str| line.split(',').count();
        let head = columns(series.lines().next().unwrap_or_default());
        assert!(series.lines().count() > 2 && head > 5, "{series}");
        assert!(series.lines().all(|line| columns(line) == head), "{series}");
    }
}

#[test]
fn json_is_the_result_file_and_says_what_it_rests_on() {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, words) in RUNS {
        let out = ssdlab(dir.path(), &format!("{words} --json --quiet --out {name}"));
        assert_eq!((out.code, out.stderr.as_str()), (Some(0), ""));
        let file = dir.path().join(name).join("result.json");
        assert_eq!(out.stdout, fs::read_to_string(file).expect("a result"));
        let value: Value = serde_json::from_str(&out.stdout).expect("JSON");
        assert_eq!(value["model"], name);
        assert_eq!(value["drives"][0]["name"], "small");
        assert_eq!(value["drives"][0]["scaled"], "the whole drive");
        assert!(
            !value["drives"][0]["rests_on"]
                .as_array()
                .expect("a list")
                .is_empty()
        );
        let again = ssdlab(dir.path(), &format!("{words} --json -q --out {name}-2"));
        assert_eq!(again.stdout, out.stdout);
    }
}

#[test]
fn a_drive_is_scaled_down_and_that_is_said() {
    let dir = tempfile::tempdir().expect("a directory");
    let words = "months intel-dc-s3700-100gb --capacity 256MiB --days 2 --every 1 --trim at-once";
    let out = ssdlab(dir.path(), words);
    assert_eq!(out.code, Some(0), "{}", out.stderr);
    assert!(
        out.stdout.contains("scaled from 93.2 GiB to"),
        "{}",
        out.stdout
    );
    assert!(out.stdout.contains("effective over-provisioning"));
}

const REFUSED: [&str; 45] = [
    "months nonesuch",
    "months small --trim sometimes",
    "months small --trim batch:0",
    "months small --used 99",
    "months small --updates 100",
    "months small --days 0",
    "months small --every 1000",
    "months small --daily 0",
    "months small --file-max 1GiB",
    "months small --file-max 1KiB",
    "months small --file-max many",
    "months small --iodepth 0",
    "months small --read-pct 100",
    "months small --capacity 0",
    "months small --capacity 5bananas",
    "months small --set bananas=1",
    "tier nonesuch",
    "tier small --copies 0",
    "tier small small --copies 3",
    "tier small --durable maybe",
    "tier small --block 5KiB",
    "tier small --block 8GiB",
    "tier small --cache 1KiB",
    "tier small --working-set 0",
    "tier small --duration 0s",
    "tier small --interval 0s",
    "tier small --duration 999d",
    "tier small --workers 0",
    "tier small --read-pct 100",
    "tier small --disks 0",
    "tier small --fill 21",
    "tier small --destage-above 101",
    "oltp nonesuch",
    "oltp small --tps 0",
    "oltp small --connections 0",
    "oltp small --months 999",
    "oltp small --window 0s",
    "oltp small --window 2h",
    "oltp small --tables 2",
    "oltp small --tables 80 --used 70",
    "oltp small --used 98",
    "oltp small --monthly 0",
    "oltp small --other 100",
    "oltp small --read-pct 0",
    "oltp small --set capacity.user=8MiB",
];

#[test]
fn what_is_impossible_is_refused_with_a_hint_and_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    for words in REFUSED {
        let out = ssdlab(dir.path(), &format!("{words} --out run"));
        assert_eq!(out.code, Some(2), "{words}: {}", out.stdout);
        assert!(out.stderr.contains("hint: "), "{words}: {}", out.stderr);
        assert!(!dir.path().join("run").exists(), "{words}");
    }
    for words in ["tier", "months", "oltp", "months small --days x"] {
        let out = ssdlab(dir.path(), words);
        assert_eq!(out.code, Some(2), "{words}");
        assert!(out.stderr.contains("Usage") || out.stderr.contains("invalid value"));
    }
}

/// A place of results that is not empty is left as it is.
#[test]
fn results_are_not_written_over() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("mine")).expect("a directory");
    fs::write(dir.path().join("mine/notes"), "mine").expect("written");
    for (name, words) in RUNS {
        let out = ssdlab(dir.path(), &format!("{words} --out mine"));
        assert_eq!(out.code, Some(2), "{name}");
        assert!(out.stderr.contains("--replace"), "{name}: {}", out.stderr);
    }
    let left = fs::read_dir(dir.path().join("mine")).expect("a directory");
    assert_eq!(left.count(), 1);
}

/// Ctrl-C ends a run of any length; what was done by then is kept, checked and said to be short.
#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let small = format!(
        "{}/../../examples/drives/small.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    for (model, words) in [
        ("months", "--days 3650 --daily 1000"),
        ("oltp", "--months 240 --monthly 10000 --tps 2000"),
        ("tier", "--duration 48h --interval 1h"),
    ] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("ssdlab"));
        command
            .current_dir(dir.path())
            .args(["host", model, &small]);
        command
            .args(words.split_whitespace())
            .args(["--out", "kept"]);
        let child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("runs");
        std::thread::sleep(std::time::Duration::from_secs(3));
        let id = child.id().to_string();
        let kill = std::process::Command::new("kill")
            .args(["-INT", &id])
            .status();
        assert!(kill.expect("runs").success());
        let output = child.wait_with_output().expect("ends");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{model}: {stderr}");
        assert!(stderr.contains("stopped early"), "{model}: {stderr}");
        assert!(!output.stdout.is_empty(), "{model}");
        let text = fs::read_to_string(dir.path().join("kept/result.json")).expect("kept");
        let result: Value = serde_json::from_str(&text).expect("JSON");
        let runs = &result["runs"];
        let first = if model == "tier" {
            &runs["tiers"][0]
        } else {
            &runs[0]
        };
        assert_eq!(first["stopped"], true, "{model}: {runs}");
        let checks = first["checks"].as_array().expect("checks");
        assert!(!checks.is_empty(), "{model}");
        assert!(
            checks.iter().all(|check| check["failure"].is_null()),
            "{model}: {checks:?}"
        );
    }
}
