//! Is a crash test that tests nothing refused before any cut, with what is wrong with it?

use crate::run::{Outcome, ssdlab};
use std::path::Path;

/// A program that syncs each line before it prints it.
const PROGRAM: &str = "\
i=0
while [ $i -lt 6 ]; do
  i=$((i + 1))
  echo \"record $i\" >> log
  sync log
  echo \"record $i\"
done
";

fn has_mounts() -> bool {
    use std::os::unix::fs::MetadataExt;
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let has = root && Path::new("/dev/fuse").exists() && Path::new("/dev/loop-control").exists();
    if !has {
        ssdlab_skips::skip("needs root, /dev/fuse and loop devices");
    }
    has
}

/// `crashtest run` of `program` with a few cuts; `judged_by` is a check or what prints what is there.
fn crashtest(program: &str, judged_by: &[&str]) -> (tempfile::TempDir, Outcome) {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("program.sh"), program).expect("written");
    std::fs::write(dir.path().join("plain.txt"), "echo\n").expect("written");
    let mut args = vec!["crashtest", "run", "--minimise", "0", "-q"];
    args.extend(judged_by);
    if !judged_by.contains(&"--cuts") {
        args.extend(["--cuts", "2"]);
    }
    args.extend(["--", "sh", "./program.sh"]);
    let outcome = ssdlab(dir.path(), &args);
    (dir, outcome)
}

#[test]
fn ten_ways_of_testing_nothing_are_refused_before_any_cut() {
    if !has_mounts() {
        return;
    }
    let silent = "echo x > log; sync log";
    let early = "echo \"record 1\"; echo ready; echo x > log; sync log";
    for (what, program, judged_by, says) in [
        (
            "no mark, and no such program",
            silent,
            &["--found", "no-such-command"][..],
            "acknowledged nothing",
        ),
        (
            "no mark",
            silent,
            &["--check", "test -e log"],
            "acknowledged nothing",
        ),
        (
            "no mark after the preparation",
            early,
            &["--check", "true", "--after-mark", "ready"],
            "acknowledged nothing",
        ),
        (
            "no such program",
            PROGRAM,
            &["--found", "no-such-command"],
            "the check could not run: exit status: 127",
        ),
        (
            "a program that is none",
            PROGRAM,
            &["--check", "./plain.txt"],
            "the check could not run: exit status: 126",
        ),
        (
            "a file of another name",
            PROGRAM,
            &["--found", "cat log.txt"],
            "fails on a run that was not cut",
        ),
        (
            "prints nothing",
            PROGRAM,
            &["--found", "true"],
            "lost: 6 of 6 acknowledged",
        ),
        (
            "never passes",
            PROGRAM,
            &["--check", "exit 1"],
            "fails on a run that was not cut",
        ),
        (
            "comes to no end",
            PROGRAM,
            &["--check", "sleep 60", "--timeout", "1"],
            "fails on a run that was not cut: not done in 1s",
        ),
        (
            "always passes",
            PROGRAM,
            &["--check", "true"],
            "the check tests nothing",
        ),
        (
            "prints the marks themselves",
            PROGRAM,
            &["--found", "cat \"$SSDLAB_MARKS\""],
            "the check tests nothing",
        ),
        (
            "looks beside the drive",
            PROGRAM,
            &["--check", "test -e /etc/passwd"],
            "the check tests nothing",
        ),
    ] {
        let (_dir, run) = crashtest(program, judged_by);
        assert_eq!(run.code, Some(2), "{what}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(says), "{what}: {}", run.stderr);
        assert!(run.stderr.contains("hint: "), "{what}: {}", run.stderr);
        assert!(!run.stdout.contains("passed"), "{what}: {}", run.stdout);
    }
}

#[test]
fn an_honest_test_says_what_was_held_against_what() {
    if !has_mounts() {
        return;
    }
    let (dir, run) = crashtest(PROGRAM, &["--found", "cat log"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let says = "control: with 6 marks the check passes on the uncut run, and fails without its \
                writes";
    assert!(run.stdout.contains(says), "{}", run.stdout);
    assert!(run.stdout.contains("2  passed"), "{}", run.stdout);
    let control = std::fs::read_to_string(dir.path().join("crashtest/control.json"));
    assert!(control.expect("kept").contains("\"fails_empty\": true"));
}

#[test]
fn a_test_of_consistency_alone_says_so() {
    if !has_mounts() {
        return;
    }
    let (_dir, run) = crashtest("echo x > log", &["--check", "true", "--consistency-only"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("consistency only"), "{}", run.stdout);
}

/// A program that syncs nothing passes the control run, and fails the cuts.
#[test]
fn a_careless_program_is_found_by_cuts_and_not_by_the_control_run() {
    if !has_mounts() {
        return;
    }
    let careless = PROGRAM.replace("  sync log\n", "");
    let (_dir, run) = crashtest(&careless, &["--found", "cat log", "--cuts", "8"]);
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
}

/// A capacitor that a drive does not have cannot fail: nothing is said of it.
#[test]
fn a_fault_that_never_struck_is_no_pass() {
    if !has_mounts() {
        return;
    }
    let fault = |name| {
        let judged_by = [
            "--found",
            "cat log",
            "--drive",
            "consumer-sata-1tb",
            "--fault",
            name,
        ];
        crashtest(PROGRAM, &judged_by).1
    };
    let idle = fault("capacitor-failed");
    assert_eq!(idle.code, Some(2), "{}{}", idle.stdout, idle.stderr);
    let says = "capacitor-failed never struck";
    assert!(idle.stderr.contains(says), "{}", idle.stderr);
    assert!(idle.stderr.contains("hint: "), "{}", idle.stderr);
    let lying = fault("ignores-flush");
    assert_eq!(lying.code, Some(1), "{}{}", lying.stdout, lying.stderr);
    let says = "2  cuts before which ignores-flush had struck";
    assert!(lying.stdout.contains(says), "{}", lying.stdout);
}
