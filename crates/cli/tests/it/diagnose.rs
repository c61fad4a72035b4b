//! `ssdlab diagnose` through the block interface: does it spare what is not its own, and does it
//! say what it did not try?

use crate::run::ssdlab;
use std::fs;

#[test]
fn a_file_that_is_not_its_own_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("mine");
    fs::write(&file, vec![7; 1 << 20]).expect("written");
    let outcome = ssdlab(dir.path(), &["diagnose", "./mine", "-q"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--overwrite"), "{}", outcome.stderr);
    assert_eq!(fs::read(&file).expect("readable"), vec![7; 1 << 20]);
}

#[test]
fn a_hypothesis_whose_experiment_is_not_allowed_stays_open() {
    let dir = tempfile::tempdir().expect("a directory");
    let drive = ["diagnose", "drive:intel-dc-s3700-400gb", "--black-box"];
    let args = [&drive[..], &["--writes", "1MiB", "-q"]].concat();
    let outcome = ssdlab(dir.path(), &args);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stdout);
    for text in ["open: reclaim", "1401057280", "Not\n        everything"] {
        assert!(outcome.stdout.contains(text), "{text}: {}", outcome.stdout);
    }
}
