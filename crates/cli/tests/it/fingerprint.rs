//! `ssdlab fingerprint`: does it end in a drive file that can be used, the same for the same seed,
//! within its budget, and is what it must not touch refused?

use crate::bad_input::refused;
use crate::run::ssdlab;
use std::fs;

#[test]
fn a_model_ends_in_a_drive_file_with_measured_values_and_the_same_bytes() {
    let dir = tempfile::tempdir().expect("a directory");
    for out in ["a", "b"] {
        let drive = "drive:consumer-sata-1tb";
        let args = ["fingerprint", drive, "--capacity", "256MiB", "--out", out];
        let outcome = ssdlab(dir.path(), &args);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let wide = outcome
            .stdout
            .lines()
            .find(|line| line.chars().count() > 80);
        assert_eq!(wide, None);
        // The cost comes before the first probe.
        let at = |text: &str| outcome.stderr.find(text).expect(text);
        assert!(at("Writes at most") < at("\nsingle writes"));
    }
    for name in ["fingerprint.json", "fingerprint.toml", "report.html"] {
        let read = |out: &str| fs::read(dir.path().join(out).join(name)).expect("written");
        assert_eq!(read("a"), read("b"), "{name}");
    }
    let checked = ssdlab(dir.path(), &["drives", "check", "a/fingerprint.toml"]);
    assert_eq!(
        checked.code,
        Some(0),
        "{}{}",
        checked.stdout,
        checked.stderr
    );
    let text = fs::read_to_string(dir.path().join("a/fingerprint.toml")).expect("written");
    let file: toml::Table = text.parse().expect("TOML");
    let kind = |table: &str, key: &str| file[table][key]["kind"].as_str().expect("a kind");
    assert_eq!(kind("buffer", "protected"), "measured");
    assert_eq!(kind("nand", "page"), "assumed");
    assert_eq!(file["buffer"]["protected"]["value"].as_bool(), Some(false));
}

#[test]
fn a_budget_leaves_out_what_it_does_not_cover() {
    let dir = tempfile::tempdir().expect("a directory");
    let drive = "drive:consumer-sata-1tb";
    let args = [
        "fingerprint",
        drive,
        "--capacity",
        "256MiB",
        "--budget",
        "300MB",
        "--out",
        "d",
    ];
    let outcome = ssdlab(dir.path(), &args);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("left out:"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("UNKNOWN"), "{}", outcome.stdout);
    let text = fs::read_to_string(dir.path().join("d/fingerprint.json")).expect("written");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let done = json["done"].as_array().expect("probes");
    let written: u64 = done
        .iter()
        .filter_map(|d| d["cost"]["bytes"].as_u64())
        .sum();
    assert!(written <= 300_000_000, "{written}");
}

/// What was not probed comes from a product of 1.9 TB, whose model keeps more flash than such a
/// target has room for.
#[test]
fn a_small_target_ends_in_a_drive_file_too() {
    let dir = tempfile::tempdir().expect("a directory");
    for size in ["64MiB", "512MiB"] {
        let drive = "drive:tlc-enterprise-nvme-1920gb";
        let mut args = vec!["fingerprint", drive, "--size", size, "--out", size];
        args.extend(["--budget", "30MB"]);
        let outcome = ssdlab(dir.path(), &args);
        // Of one of them nothing is known with so few probes.
        assert!(matches!(outcome.code, Some(0 | 3)), "{}", outcome.stderr);
        let file = format!("{size}/fingerprint.toml");
        let checked = ssdlab(dir.path(), &["drives", "check", &file]);
        assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    }
}

#[test]
fn what_may_not_be_written_is_refused_and_budgets_have_units() {
    let data = [("data.bin", "not to be lost")];
    refused(
        &data,
        &["fingerprint", "data.bin"],
        &["data.bin", "overwrite"],
    );
    let bad = ["fingerprint", "drive:consumer-sata-1tb", "--budget", "30"];
    refused(&[], &bad, &["--budget", "30m", "200GB"]);
    let small = ["fingerprint", "drive:consumer-sata-1tb", "--size", "1MiB"];
    refused(&[], &small, &["64 MiB or more"]);
}
