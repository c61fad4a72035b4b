//! Does the engine find what breaks, keep the input, and run the kept corpus of every target?

use assert_cmd::Command;
use ssdlab_fuzz::targets::{TARGETS, named};
use std::collections::BTreeSet;
use std::path::Path;

fn engine(findings: &Path) -> Command {
    let mut command = Command::cargo_bin("ssdlab-fuzz").expect("built");
    command.arg("--findings").arg(findings);
    command
}

/// Each canary ends the process, and its input is left in a file that breaks it again.
#[test]
fn a_target_that_breaks_is_found_and_its_input_kept() {
    for canary in ["canary-panic", "canary-memory"] {
        let folder = tempfile::tempdir().expect("a folder");
        engine(folder.path())
            .args([canary, "--seconds", "60"])
            .assert()
            .failure();
        let input = folder.path().join(format!("{canary}.input"));
        let bytes = std::fs::read(&input).expect("the input that broke it");
        assert!(!named(canary).expect("known").corpus().contains(&bytes));
        let again = tempfile::tempdir().expect("a folder");
        engine(again.path())
            .args([canary, "--replay"])
            .arg(&input)
            .assert()
            .failure();
    }
}

#[test]
fn every_target_holds_on_its_corpus_and_on_some_mutations() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = engine(folder.path()).args(["--seconds", "0.1"]).assert();
    let output = run.success().get_output().stdout.clone();
    let text = String::from_utf8(output).expect("text");
    for target in TARGETS {
        let line = format!("{}: ", target.name);
        assert!(text.contains(&line), "{line}did not run");
    }
}

#[test]
fn names_are_unique_and_every_kept_input_belongs_to_a_target() {
    let names: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names.len(), TARGETS.len());
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for folder in std::fs::read_dir(kept).expect("the corpus") {
        let name = folder.expect("a folder").file_name();
        let name = name.to_str().expect("UTF-8");
        assert!(names.contains(name), "corpus/{name} has no target");
    }
}
