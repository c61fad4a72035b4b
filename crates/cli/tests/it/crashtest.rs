//! Do campaigns of scripts work end to end: recorded, cut, blamed, resumed, replayed, exported?
//!
//! With the scripts of docs/test-your-program.md on a FUSE file; skipped where there is none.

use assert_cmd::Command;
use std::path::{Path, PathBuf};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crashtest")
}

/// Whether a FUSE file can be had; says so if not.
fn has_fuse() -> bool {
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    });
    let has = root && Path::new("/dev/fuse").exists();
    if !has {
        ssdlab_skips::skip("needs root and /dev/fuse");
    }
    has
}

struct Run {
    code: i32,
    out: String,
    err: String,
}

fn crashtest(dir: &Path, env: &[(&str, &str)], args: &[&str]) -> Run {
    let mut command = Command::cargo_bin("ssdlab").expect("built");
    command.current_dir(dir).arg("crashtest").args(args);
    command.envs(env.iter().copied());
    let output = command.output().expect("runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Run {
        code: output.status.code().expect("ended"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// A new campaign with the example's scripts.
fn new(dir: &Path, env: &[(&str, &str)], out: &str, more: &[&str]) -> Run {
    let script = |name: &str| format!("sh {}", examples().join(name).display());
    let (fill, verify) = (script("values-fill.sh"), script("values-verify.sh"));
    let mut args = vec!["--workload", &fill, "--check", &verify, "--size", "64MiB"];
    args.extend(["--out", out, "-q"]);
    args.extend(more);
    crashtest(dir, env, &args)
}

/// The lines of `results.jsonl`, which come in the order of threads, in order of their text.
fn results(dir: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join("results.jsonl")).expect("there");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn token(out: &str) -> String {
    let at = out.rfind("replay: ").expect("a token") + "replay: ".len();
    out[at..]
        .split_whitespace()
        .next()
        .expect("a word")
        .to_owned()
}

#[test]
fn a_careful_program_passes_and_its_stream_is_exported() {
    if !has_fuse() {
        return;
    }
    let dir = tempfile::tempdir().expect("made");
    let more = ["--cuts", "12", "--export-dm-log-writes", "log"];
    let run = new(dir.path(), &[], "out", &more);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("12  passed"), "{}", run.out);
    let log = std::fs::read(dir.path().join("log")).expect("exported");
    // 8 writes of a sector with an entry each, 8 flushes, 8 marks, and the head.
    assert_eq!(log.len(), 512 * (1 + 8 * 2 + 8 + 8));
    let again = [
        "--stream",
        "log",
        "--check",
        "exit 0",
        "--consistency-only",
        "--size",
        "64MiB",
        "--cuts",
        "5",
    ];
    let run = crashtest(
        dir.path(),
        &[],
        &[&again[..], &["--out", "again", "-q"]].concat(),
    );
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("16 commands: 8 writes"), "{}", run.out);
}

/// Writes of many sizes, FUA, zeroes and trims over NBD; at each mark the drive's content is kept.
const MARKED: &str = r#"
set -e
at() {
  qemu-io -t writeback -f raw "$SSDLAB_NBD" "$@" > said.txt 2>&1 || { cat said.txt; exit 1; }
  cat said.txt
  if grep -q 'failed\|error' said.txt; then exit 1; fi
}
mark() {
  "$SSDLAB" mark "$1"
  qemu-img convert -f raw -O raw -S 0 "$SSDLAB_NBD" "$SNAPSHOTS/$1"
}
mark empty
at -c 'write -P 1 0 4096' -c 'write -P 2 512 512' -c 'write -P 3 1048064 1024'
mark small
at -c 'write -P 4 1048576 3145728' -c flush -c 'write -P 5 8388096 512'
mark "large, and the last sector"
at -c 'write -f -P 6 2097152 8192' -c 'write -z 1049600 4096' -c 'discard 3145728 65536'
mark rewritten
"#;

/// Is the exported log what the drive was asked for? A reader that shares no code with ours
/// replays it, and finds at each mark what the drive held then.
#[test]
fn an_exported_log_replays_to_the_drives_content_at_each_mark() {
    let dir = tempfile::tempdir().expect("made");
    let has = |tool: &str| {
        let mut command = std::process::Command::new(tool);
        command.arg("--version").output().is_ok()
    };
    if !["qemu-io", "qemu-img", "python3"].into_iter().all(has) {
        return ssdlab_skips::skip("needs qemu-io, qemu-img and python3");
    }
    let snapshots = dir.path().join("snapshots");
    std::fs::create_dir(&snapshots).expect("made");
    let snapshots = snapshots.to_str().expect("text");
    let args = "--check true --consistency-only --no-file --size 8MiB --cuts 3 --out out -q";
    let mut args: Vec<&str> = args.split_whitespace().collect();
    args.extend(["--workload", MARKED, "--export-dm-log-writes", "log"]);
    let run = crashtest(dir.path(), &[("SNAPSHOTS", snapshots)], &args);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let replay = || {
        let mut python = std::process::Command::new("python3");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replay_log.py");
        python.current_dir(dir.path()).arg(script);
        let output = python.args(["log", "8388608", snapshots]).output();
        let output = output.expect("runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), said, errors)
    };
    let (good, said, errors) = replay();
    assert!(good, "{errors}");
    assert!(
        said.contains("fua 1,") && said.contains("discards 1, marks 4"),
        "{said}"
    );
    // The replay can fail: one byte of a write's data is another.
    let path = dir.path().join("log");
    let mut log = std::fs::read(&path).expect("exported");
    let data = log.windows(512).position(|bytes| bytes == [4; 512]);
    log[data.expect("a write of fours")] = 9;
    std::fs::write(&path, log).expect("written");
    let (good, _, errors) = replay();
    assert!(!good && errors.contains("the last sector"), "{errors}");
}

/// A log that another program has written: qemu's blklogwrites.
#[test]
fn a_log_of_qemu_is_played() {
    let dir = tempfile::tempdir().expect("made");
    for (name, bytes) in [("image", 8 << 20), ("log", 16 << 20)] {
        let file = std::fs::File::create(dir.path().join(name)).expect("made");
        file.set_len(bytes).expect("long");
    }
    let image = "driver=blklogwrites,file.driver=file,file.filename=image,\
                 log.driver=file,log.filename=log";
    let mut qemu = std::process::Command::new("qemu-io");
    qemu.current_dir(dir.path()).args(["--image-opts", image]);
    for command in [
        "write -P 7 4096 8192",
        "flush",
        "write -P 9 0 512",
        "discard 65536 65536",
    ] {
        qemu.args(["-c", command]);
    }
    match qemu.output() {
        Ok(output) if output.status.success() => {}
        other => {
            return ssdlab_skips::skip(format_args!("needs qemu-io with blklogwrites: {other:?}"));
        }
    }
    let check = [
        "--stream",
        "log",
        "--check",
        "exit 0",
        "--consistency-only",
        "--size",
        "64MiB",
        "--no-file",
    ];
    let run = crashtest(
        dir.path(),
        &[],
        &[&check[..], &["--cuts", "9", "-q"]].concat(),
    );
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("2 writes (8.5 KiB)"), "{}", run.out);
    assert!(run.out.contains("1 trims"), "{}", run.out);
}

#[test]
fn a_forgotten_flush_is_the_programs_fault_and_one_write_is_named() {
    if !has_fuse() {
        return;
    }
    let dir = tempfile::tempdir().expect("made");
    let run = new(dir.path(), &[("FSYNC", "")], "out", &["--cuts", "12"]);
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(
        run.out.contains(" 0  the drive broke its word"),
        "{}",
        run.out
    );
    assert!(
        run.out.contains("smallest set of lost writes"),
        "{}",
        run.out
    );
    assert!(
        run.out
            .contains("512 bytes at 512, issued before any FLUSH"),
        "{}",
        run.out
    );
    let token = token(&run.out);
    assert!(token.contains('~'), "of the smallest set: {token}");
    let again = crashtest(dir.path(), &[], &["--out", "out", "--replay", &token]);
    assert_eq!(again.code, 1, "{}{}", again.out, again.err);
    assert!(again.out.contains("value 1 is missing"), "{}", again.out);
    let other = ["--out", "out", "--replay", &token, "--check", "exit 0"];
    assert_eq!(crashtest(dir.path(), &[], &other).code, 0);
    let wrong = crashtest(dir.path(), &[], &["--out", "out", "--replay", "1-00000000"]);
    assert!(
        wrong.code == 2 && wrong.err.contains("hint:"),
        "{}",
        wrong.err
    );
}

/// Occasions and ages are chosen, named in every line, and part of what a token repeats.
#[test]
fn cuts_are_chosen_by_occasion_and_age() {
    if !has_fuse() {
        return;
    }
    let dir = tempfile::tempdir().expect("made");
    let more = [
        "--cuts", "12", "--on", "recovery", "--on", "map", "--age", "full",
    ];
    let run = new(dir.path(), &[], "out", &more);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let said = "cuts: recovery 8, map 4, on a full drive 12";
    assert!(run.out.contains(said), "{}", run.out);
    for line in results(&dir.path().join("out")) {
        let line: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let (token, age) = (line["token"].as_str(), &line["age"]);
        let is_twice = token.is_some_and(|token| token.contains('r'));
        assert!(
            is_twice == (line["occasion"] == "recovery") && age == "full",
            "{line}"
        );
    }
    let mixed = new(dir.path(), &[], "mixed", &["--cuts", "12"]);
    assert!(
        mixed.out.contains("on a new drive 9, on a full drive 3"),
        "{}",
        mixed.out
    );
    let lines = results(&dir.path().join("mixed"));
    for line in &lines {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let token = line["token"].as_str().expect("text");
        let args = ["--out", "mixed", "--replay", token, "--json"];
        let again = crashtest(dir.path(), &[], &args);
        let again: serde_json::Value = serde_json::from_str(&again.out).expect("JSON");
        assert_eq!(
            (&again["age"], &again["place"]),
            (&line["age"], &line["place"])
        );
    }
}

/// Writes a sector, flushes it, and flushes once more; when it runs again, the sector is due if the
/// first flush was acknowledged.
const RELIES: &str = r#"
case $SSDLAB_CUT in control*) exit 0;; esac
due=due.$SSDLAB_CUT
if [ -e "$due" ]; then
  dd if="$SSDLAB_FILE" bs=512 count=1 status=none | grep -q here
  exit
fi
printf '%-512s' here | dd of="$SSDLAB_FILE" bs=512 conv=notrunc,fsync status=none || exit 1
touch "$due"
dd if=/dev/zero of="$SSDLAB_FILE" bs=512 seek=9 count=1 conv=notrunc,fsync status=none
"#;

/// The power is cut again while a check works, which then runs once more. What it loses is the
/// drive's fault if the drive had promised it.
#[test]
fn a_cut_strikes_the_check_and_the_right_one_is_blamed() {
    if !has_fuse() {
        return;
    }
    let dir = tempfile::tempdir().expect("made");
    let args = "--workload true --cuts 24 --on check --age new --size 64MiB --jobs 2 -q";
    let mut args: Vec<&str> = args.split(' ').collect();
    args.extend(["--consistency-only", "--check", RELIES, "--out"]);
    let run = |more: &[&str]| crashtest(dir.path(), &[], &[&args[..], more].concat());
    let honest = run(&["honest"]);
    assert_eq!(honest.code, 0, "{}{}", honest.out, honest.err);
    let due = || {
        let files = std::fs::read_dir(dir.path()).expect("there").flatten();
        let names = files.map(|file| file.file_name().into_string().expect("text"));
        names.filter(|name| name.starts_with("due.")).count()
    };
    assert!(due() > 12, "{} checks flushed", due());
    let liar = run(&["liar", "--fault", "ignores-flush"]);
    assert_eq!(liar.code, 1, "{}{}", liar.out, liar.err);
    assert!(
        liar.out.contains(" 0  the application failed"),
        "{}",
        liar.out
    );
    assert!(
        liar.out.contains("broke its word to the check"),
        "{}",
        liar.out
    );
}

#[test]
fn a_lying_drive_is_blamed_and_a_killed_campaign_goes_on() {
    if !has_fuse() {
        return;
    }
    let dir = tempfile::tempdir().expect("made");
    let more = ["--cuts", "12", "--fault", "ignores-flush"];
    let run = new(dir.path(), &[], "out", &more);
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("(fault: ignores-flush)"), "{}", run.out);
    assert!(
        run.out.contains("FLUSH #2 promised sector 1"),
        "{}",
        run.out
    );
    let whole = results(&dir.path().join("out"));
    // As if killed in the middle of the sixth line.
    let path = dir.path().join("out/results.jsonl");
    let text = std::fs::read_to_string(&path).expect("there");
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    std::fs::write(&path, &text[..ends[4] + 20]).expect("written");
    let again = crashtest(dir.path(), &[], &["--out", "out", "--resume", "-q"]);
    assert_eq!((again.code, again.out), (1, run.out), "{}", again.err);
    assert_eq!(results(&dir.path().join("out")), whole);
}

#[test]
fn what_cannot_be_is_refused_with_a_hint() {
    let dir = tempfile::tempdir().expect("made");
    let scripts = "--workload true --check true --consistency-only --no-file";
    let scripts: Vec<&str> = scripts.split(' ').collect();
    let with = |more: &[&str]| crashtest(dir.path(), &[], &[&scripts[..], more].concat());
    for (more, said) in [
        (&["--fault", "moonlight"][..], "ignores-flush"),
        (&["--fault", "ignores-flush:1001"], "per mille"),
        (&["--size", "1KiB"], "hint:"),
        (&["--on", "moonlight"], "after-recovery"),
        (&["--after-mark", "never"], "made no mark"),
    ] {
        let run = with(more);
        assert_eq!(run.code, 2, "{more:?} {}", run.err);
        assert!(
            run.err.contains(said) && run.err.contains("hint:"),
            "{more:?} {}",
            run.err
        );
        let _ = std::fs::remove_dir_all(dir.path().join("crashtest"));
    }
    let failed = crashtest(
        dir.path(),
        &[],
        &[
            "--workload",
            "echo oh; exit 7",
            "--check",
            "true",
            "--no-file",
        ],
    );
    assert!(
        failed.code == 2 && failed.err.contains("oh"),
        "{}",
        failed.err
    );
    let none_free = "case $SSDLAB_CUT in control*) exit 0;; esac; echo none free; exit 77";
    let could_not = [
        "--workload",
        "true",
        "--check",
        none_free,
        "--consistency-only",
    ];
    let run = crashtest(
        dir.path(),
        &[],
        &[&could_not[..], &["--no-file", "--out", "no"]].concat(),
    );
    assert!(
        run.code == 2 && run.err.contains("none free"),
        "{}",
        run.err
    );
    assert_eq!(
        std::fs::read(dir.path().join("no/results.jsonl")).expect("made"),
        b""
    );
    let resumed = crashtest(dir.path(), &[], &["--out", "none", "--resume"]);
    assert!(
        resumed.code == 2 && resumed.err.contains("hint:"),
        "{}",
        resumed.err
    );
}
