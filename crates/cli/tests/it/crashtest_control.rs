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

/// Acknowledges nothing.
const SILENT: &str = "echo x > log; sync log";
/// Acknowledges nothing after its preparation.
const EARLY: &str = "echo \"record 1\"; echo ready; echo x > log; sync log";

struct WayToTestNothing {
    what: &'static str,
    program: &'static str,
    judged_by: &'static [&'static str],
    says: &'static str,
}

const WAYS: [WayToTestNothing; 12] = [
    WayToTestNothing {
        what: "no mark, and no such program",
        program: SILENT,
        judged_by: &["--found", "no-such-command"],
        says: "acknowledged nothing",
    },
    WayToTestNothing {
        what: "no mark",
        program: SILENT,
        judged_by: &["--check", "test -e log"],
        says: "acknowledged nothing",
    },
    WayToTestNothing {
        what: "no mark after the preparation",
        program: EARLY,
        judged_by: &["--check", "true", "--after-mark", "ready"],
        says: "acknowledged nothing",
    },
    WayToTestNothing {
        what: "no such program",
        program: PROGRAM,
        judged_by: &["--found", "no-such-command"],
        says: "the check could not run: exit status: 127",
    },
    WayToTestNothing {
        what: "a file that is not a program",
        program: PROGRAM,
        judged_by: &["--check", "./plain.txt"],
        says: "the check could not run: exit status: 126",
    },
    WayToTestNothing {
        what: "a file of another name",
        program: PROGRAM,
        judged_by: &["--found", "cat log.txt"],
        says: "fails on a run that was not cut",
    },
    WayToTestNothing {
        what: "prints nothing",
        program: PROGRAM,
        judged_by: &["--found", "true"],
        says: "lost: 6 of 6 acknowledged",
    },
    WayToTestNothing {
        what: "never passes",
        program: PROGRAM,
        judged_by: &["--check", "exit 1"],
        says: "fails on a run that was not cut",
    },
    WayToTestNothing {
        what: "comes to no end",
        program: PROGRAM,
        judged_by: &["--check", "sleep 60", "--timeout", "4"],
        says: "fails on a run that was not cut: not done in 4s",
    },
    WayToTestNothing {
        what: "always passes",
        program: PROGRAM,
        judged_by: &["--check", "true"],
        says: "the check tests nothing",
    },
    WayToTestNothing {
        what: "prints the marks themselves",
        program: PROGRAM,
        judged_by: &["--found", "cat \"$SSDLAB_MARKS\""],
        says: "the check tests nothing",
    },
    WayToTestNothing {
        what: "looks beside the drive",
        program: PROGRAM,
        judged_by: &["--check", "test -e /etc/passwd"],
        says: "the check tests nothing",
    },
];

fn has_mounts() -> bool {
    use std::os::unix::fs::MetadataExt;
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let has = root && Path::new("/dev/fuse").exists() && Path::new("/dev/loop-control").exists();
    if !has {
        ssdlab_skips::skip("needs root, /dev/fuse and loop devices");
    }
    has
}

/// `crashtest run` of `program` with a few cuts; `judged_by` has `--check` or `--found`.
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
fn twelve_ways_of_testing_nothing_are_refused_before_any_cut() {
    if !has_mounts() {
        return;
    }
    for way in WAYS {
        let (what, says) = (way.what, way.says);
        let (_dir, run) = crashtest(way.program, way.judged_by);
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
