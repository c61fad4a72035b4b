//! `ssdlab simulate` and `ssdlab list policies` end to end: results, screens, refusals.

use crate::run::{Outcome, small, ssdlab};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// `ssdlab simulate --drive small.toml` and more words.
fn simulate(dir: &Path, more: &[&str]) -> Outcome {
    let drive = small();
    let args: Vec<&str> = ["simulate", "--drive", &drive]
        .into_iter()
        .chain(more.iter().copied())
        .collect();
    ssdlab(dir, &args)
}

fn good(outcome: &Outcome) {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a result")).expect("JSON")
}

#[test]
fn the_drive_is_named_first_or_by_its_option_and_not_by_both() {
    let (dir, drive) = (tempfile::tempdir().expect("a directory"), small());
    let rest = [
        "--until",
        "1x",
        "--json",
        "--quiet",
        "--replace",
        "--out",
        "out",
    ];
    let first = ssdlab(dir.path(), &[&["simulate", &drive][..], &rest].concat());
    good(&first);
    assert_eq!(first.stdout, simulate(dir.path(), &rest).stdout);
    let both = simulate(dir.path(), &["consumer-sata-1tb"]);
    assert_eq!(both.code, Some(2), "{}", both.stdout);
}

#[test]
fn a_life_leaves_summary_result_series_and_page() {
    let dir = tempfile::tempdir().expect("a directory");
    for (gear, more) in [("counting", &["IOPS over"][..]), ("timed", &[])] {
        let out = simulate(
            dir.path(),
            &["--until", "1x", "--gear", gear, "--out", gear],
        );
        good(&out);
        let wide = out.stdout.lines().map(|line| line.chars().count()).max();
        assert!(wide <= Some(80), "{}", out.stdout);
        for text in ["WAF", "R = 3", "spare factor", "self-checks passed"] {
            assert!(out.stdout.contains(text), "{text}: {}", out.stdout);
        }
        assert!(out.stderr.contains("a second"), "{}", out.stderr);
        let run = dir.path().join(gear);
        let result = json(&run.join("result.json"));
        assert_eq!(result["gear"], gear);
        assert!(result["waf"].as_f64().expect("a WAF") > 1.0);
        let series = fs::read_to_string(run.join("series.csv")).expect("a series");
        assert!(series.lines().count() > 100);
        let page = fs::read_to_string(run.join("report.html")).expect("a page");
        assert!(page.contains("Erases of superblocks"));
        for absent in more {
            assert!(!page.contains(absent), "{gear}: {absent}");
        }
        assert!(!page.contains("http://") || page.contains("MIT"));
        let again = ssdlab(dir.path(), &["report", gear]);
        assert_eq!(again.code, Some(2), "{}", again.stderr);
        assert!(again.stderr.contains("there already: open"));
    }
}

#[test]
fn both_gears_program_the_same_slots() {
    let dir = tempfile::tempdir().expect("a directory");
    let counters = |gear: &str| {
        let out = simulate(
            dir.path(),
            &["--until", "2x", "--gear", gear, "--json", "--quiet"],
        );
        good(&out);
        let result: Value = serde_json::from_str(&out.stdout).expect("JSON");
        result["counters"].clone()
    };
    let (counting, timed) = (counters("counting"), counters("timed"));
    assert_eq!(counting["slots_relocated"], timed["slots_relocated"]);
    assert_eq!(counting["nand_erases"], timed["nand_erases"]);
}

#[test]
fn a_saved_drive_goes_on_and_a_damaged_one_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    good(&simulate(
        dir.path(),
        &["--until", "1x", "--save", "d", "--set", "op=20%"],
    ));
    let out = ssdlab(
        dir.path(),
        &["simulate", "--from", "d", "--until", "1s", "--out", "on"],
    );
    good(&out);
    for text in ["before", "fill sequential; uniform", "op=20%", "timed gear"] {
        assert!(out.stdout.contains(text), "{text}: {}", out.stdout);
    }
    let again = simulate(dir.path(), &["--until", "1x", "--save", "d"]);
    refused(&again, &["d exists", "--replace"]);
    good(&simulate(
        dir.path(),
        &["--until", "1x", "--save", "d", "--replace"],
    ));
    let mut bytes = fs::read(dir.path().join("d")).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(dir.path().join("d"), &bytes).expect("written");
    refused(
        &ssdlab(dir.path(), &["simulate", "--from", "d"]),
        &["damaged", "checksum"],
    );
    fs::write(dir.path().join("d"), &bytes[..middle]).expect("written");
    refused(
        &ssdlab(dir.path(), &["simulate", "--from", "d"]),
        &["cut short"],
    );
    fs::write(dir.path().join("d"), "hello").expect("written");
    refused(
        &ssdlab(dir.path(), &["simulate", "--from", "d"]),
        &["no saved drive"],
    );
}

fn refused(outcome: &Outcome, expected: &[&str]) {
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("hint: "), "{}", outcome.stderr);
    for text in expected {
        assert!(outcome.stderr.contains(text), "{text}: {}", outcome.stderr);
    }
}

#[test]
fn bad_input_is_refused_and_leaves_nothing() {
    let cases: [(&[&str], &str); 17] = [
        (&["--set", "bananas=3"], "no parameter `bananas`"),
        (&["--set", "ftl.victim=lru"], "greedy, fifo"),
        (&["--set", "op=0%"], "raw capacity is"),
        (&["--set", "streams=12"], "1 to 8"),
        (&["--set", "victim"], "key=value"),
        (&["--until", "ten"], "10x"),
        (&["--until", "30s", "--gear", "counting"], "has no time"),
        (&["--gear", "fourth"], "counting or timed"),
        (&["--load", "hotcold:80"], "hotcold:80/20"),
        (&["--load", "zipf:nan"], "zipf:0.99"),
        (&["--block", "1000"], "512-byte"),
        (&["--block", "1GiB"], "16 MiB"),
        (&["--read-pct", "100"], "without writes"),
        (&["--read-pct", "60", "--trim-pct", "60"], "more than 100"),
        (&["--iodepth", "0"], "1 to 65536"),
        (&["--save", "x", "--gear", "counting"], "timed gear"),
        (&["--sweep", "op=", "--jobs", "1"], "not empty"),
    ];
    for (args, expected) in cases {
        let dir = tempfile::tempdir().expect("a directory");
        refused(&simulate(dir.path(), args), &[expected]);
        let left = fs::read_dir(dir.path()).expect("readable").count();
        assert_eq!(left, 0, "{args:?} left something");
    }
    let dir = tempfile::tempdir().expect("a directory");
    refused(&ssdlab(dir.path(), &["simulate"]), &["no drive was given"]);
    refused(
        &ssdlab(dir.path(), &["simulate", "--from", "nowhere"]),
        &["nowhere"],
    );
}

#[test]
fn a_drive_beyond_memory_is_refused_before_it_starts() {
    let dir = tempfile::tempdir().expect("a directory");
    // 15 TB in mapping units of 4 KiB, sixteen times over: half a terabyte of tables.
    let drive = small();
    let args = [
        "simulate",
        "--drive",
        &drive,
        "--set",
        "nand.blocks_per_plane=5000000",
        "--set",
        "op=28%",
        "--sweep",
        "seed=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
        "--jobs",
        "16",
    ];
    let out = ssdlab(dir.path(), &args);
    refused(&out, &["of memory", "are available"]);
    assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 0);
}

#[test]
fn example_drives_are_possible_and_as_large_as_they_say() {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, memory) in [("ssd-300gb", 10 * 75_000_000_u64), ("ssd-16tb", 24 << 30)] {
        let path = small().replace("small", name);
        let out = ssdlab(dir.path(), &["drives", "show", &path, "--json"]);
        good(&out);
        let text: Value = serde_json::from_str(&out.stdout).expect("JSON");
        let shown = text["derived"]["memory of the model"]
            .as_str()
            .expect("a size");
        let (number, unit) = shown.split_once(' ').expect("a unit");
        let scale = if unit == "GiB" { 1 << 30 } else { 1 << 20 };
        let bytes = number.parse::<f64>().expect("a number") * f64::from(scale);
        assert!(bytes < memory as f64, "{name}: {shown}");
    }
}

#[test]
fn a_sweep_is_the_same_bytes_on_one_and_two_threads() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = |jobs: &str| {
        let out = simulate(
            dir.path(),
            &[
                "--until",
                "1x",
                "--sweep",
                "victim=greedy,fifo",
                "--sweep",
                "op=20%,28%",
                "--jobs",
                jobs,
                "--out",
                jobs,
            ],
        );
        good(&out);
        let file = |name: &str| fs::read(dir.path().join(jobs).join(name)).expect("a file");
        (out.stdout, file("sweep.csv"), file("result.json"))
    };
    let one = run("1");
    assert_eq!(one, run("2"));
    assert!(
        one.0.lines().all(|line| line.chars().count() <= 80),
        "{}",
        one.0
    );
}

#[test]
fn every_policy_is_listed_and_in_the_guide() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = ssdlab(dir.path(), &["list", "policies", "--json"]);
    good(&out);
    let all: Value = serde_json::from_str(&out.stdout).expect("JSON");
    let people = ssdlab(dir.path(), &["list", "policies"]).stdout;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_to_string(root.join("docs/simulate.md")).expect("a guide");
    for kind in ["victim", "separation"] {
        for policy in all[kind].as_array().expect("a list") {
            let text = |key: &str| policy[key].as_str().expect("a text");
            assert!(people.contains(text("name")), "{policy}");
            let parameter = match policy["parameter"].as_object() {
                Some(p) => format!(
                    "{}, {} to {}, {} unless given",
                    p["name"].as_str().expect("a name"),
                    p["min"],
                    p["max"],
                    p["default"]
                ),
                None => "-".into(),
            };
            let row = format!(
                "| `{}` | {parameter} | {} | {} |",
                text("name"),
                text("text"),
                text("source")
            );
            assert!(guide.contains(&row), "the guide lacks: {row}");
        }
    }
}

/// The first Ctrl-C ends a life and keeps what there is; the drive is not saved then.
#[test]
fn an_interrupted_life_keeps_what_there_is() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_ssdlab"))
        .current_dir(dir.path())
        .args(["simulate", "--drive", &small(), "--gear", "timed"])
        .args(["--until", "10000x", "--out", "run", "--save", "d"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    std::thread::sleep(std::time::Duration::from_millis(700));
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("kill").success());
    assert!(child.wait().expect("ended").success());
    let result = json(&dir.path().join("run/result.json"));
    assert_eq!(result["stopped"], true);
    assert!(result["host_bytes"].as_u64().expect("bytes") > 0);
    assert!(dir.path().join("run/report.html").exists());
    let left: Vec<_> = fs::read_dir(dir.path()).expect("readable").collect();
    assert_eq!(left.len(), 1, "neither saved nor a temporary file left");
}
