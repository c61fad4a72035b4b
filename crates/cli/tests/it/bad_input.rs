//! Bad input: does each get exit code 2, a message that says what and where, a hint, and is
//! nothing written?

use crate::run::ssdlab;
use assert_cmd::Command;
use std::fs;
use std::path::Path;

/// Runs in an empty directory with `files`; nothing else may be there afterwards.
pub fn refused(files: &[(&str, &str)], args: &[&str], expected: &[&str]) {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        fs::write(dir.path().join(name), text).expect("written");
    }
    let outcome = ssdlab(dir.path(), args);
    assert_eq!(outcome.code, Some(2), "{args:?}: {}", outcome.stderr);
    for text in expected {
        assert!(
            outcome.stderr.contains(text),
            "{args:?}: `{text}` not in: {}",
            outcome.stderr
        );
    }
    assert!(
        outcome.stderr.contains("hint: "),
        "{args:?}: {}",
        outcome.stderr
    );
    let left: Vec<String> = fs::read_dir(dir.path())
        .expect("readable")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| !files.iter().any(|(file, _)| file == name))
        .collect();
    assert!(left.is_empty(), "{args:?} left {left:?}");
}

const JOB: &str = "[j]\nrw=randwrite\nbs=4k\nsize=1m\nfilename=t\ndirect=1\nruntime=1\n";

#[test]
fn targets_that_cannot_be() {
    refused(
        &[("j.fio", "[j]\nrw=read\nsize=1m\n")],
        &["run", "j.fio"],
        &["names no target"],
    );
    refused(
        &[("j.fio", JOB)],
        &["run", "j.fio", "--target", "drive:nonesuch"],
        &["nonesuch"],
    );
    refused(
        &[("j.fio", JOB)],
        &["run", "j.fio", "--target", "/no/such/dir/f"],
        &["/no/such/dir"],
    );
    refused(
        &[("j.fio", JOB)],
        &["run", "j.fio", "--target", "/dev/no-such-disk"],
        &["/dev/no-such"],
    );
    refused(
        &[("j.fio", JOB)],
        &["run", "j.fio", "--target", "."],
        &["directory"],
    );
    refused(
        &[("j.fio", JOB)],
        &["run", "j.fio", "--target", "/dev/null"],
        &["/dev/null"],
    );
    refused(
        &[("t", "precious"), ("j.fio", JOB)],
        &["run", "j.fio"],
        &["exists and holds 8 bytes", "--overwrite"],
    );
    refused(
        &[("t", "precious")],
        &["qualify", "t"],
        &["exists and holds 8 bytes", "--overwrite"],
    );
}

#[test]
fn job_files_that_cannot_be_read() {
    refused(&[], &["run", "no.fio", "--target", "t"], &["no.fio"]);
    refused(
        &[("j.fio", "[j]\nrw=write\nfrobnicate=1\n")],
        &["run", "j.fio"],
        &["frobnicate", "j.fio:3"],
    );
    refused(
        &[("j.fio", "[j]\nrw=write\nzonemode=zbd\n")],
        &["run", "j.fio"],
        &["zonemode", "j.fio:3"],
    );
    refused(
        &[("j.fio", "\u{0}\u{1}garbage")],
        &["run", "j.fio"],
        &["j.fio:1"],
    );
    refused(&[], &["run", "--", "diskspd", "-b4k", "-Q7", "t"], &["-Q7"]);
    refused(&[], &["run"], &["nothing to run"]);
}

#[test]
fn sizes_that_cannot_be() {
    let zero = JOB.replace("bs=4k", "bs=0");
    refused(&[("j.fio", &zero)], &["run", "j.fio"], &["j.fio:3", "0"]);
    let odd = JOB.replace("bs=4k", "bs=1000");
    refused(&[("j.fio", &odd)], &["run", "j.fio"], &["1000"]);
    let empty = JOB.replace("size=1m", "size=0");
    // All of a file that is not there: nothing.
    refused(
        &[("j.fio", &empty)],
        &["run", "j.fio"],
        &["would have 0 bytes"],
    );
    refused(
        &[("j.fio", JOB)],
        &["run", "j.fio", "--target", "null:0"],
        &["0"],
    );
    refused(&[("j.fio", JOB)], &["run", "j.fio", "--size", "0"], &["0"]);
    refused(
        &[("j.fio", JOB)],
        &[
            "run",
            "j.fio",
            "--target",
            "drive:consumer-sata-1tb",
            "--size",
            "5TB",
        ],
        &["931.5 GiB"],
    );
    refused(&[], &["qualify", "--size", "many"], &["many"]);
    // 10 TiB were looked for until the disk was full.
    let said = ["do not fit", "free"];
    refused(&[], &["qualify", "--size", "1000TiB"], &said);
}

#[test]
fn drives_that_cannot_be() {
    let toml = |from: &str, to: &str| {
        let text = include_str!("../../../../drives/consumer-sata-1tb.toml");
        assert!(text.contains(from));
        text.replacen(from, to, 1)
    };
    let more_user = toml("1000204886016 B", "2 TB");
    refused(
        &[("x.toml", &more_user)],
        &["drives", "show", "x.toml"],
        &["user capacity", "raw capacity is"],
    );
    refused(
        &[("x.toml", &more_user)],
        &["qualify", "drive:x.toml"],
        &["raw capacity is"],
    );
    let zero = toml("channels = { value = 8", "channels = { value = 0");
    refused(
        &[("x.toml", &zero)],
        &["drives", "show", "x.toml"],
        &["channels", "0"],
    );
    let unknown = toml("channels =", "chanels =");
    refused(
        &[("x.toml", &unknown)],
        &["drives", "show", "x.toml"],
        &["chanels"],
    );
    refused(
        &[("x.toml", "\u{0}")],
        &["drives", "show", "x.toml"],
        &["x.toml"],
    );
}

/// A file that is no text at all is refused like any other, wherever a file is taken.
#[test]
fn files_that_are_not_text() {
    for (name, args) in [
        ("x.toml", &["drives", "show", "x.toml"][..]),
        ("x.toml", &["drives", "check", "x.toml"]),
        ("x.toml", &["qualify", "drive:x.toml"]),
        ("x.toml", &["host", "months", "x.toml"]),
        ("x.fio", &["run", "x.fio", "--target", "t"]),
    ] {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(
            dir.path().join(name),
            [0x7f, b'E', b'L', b'F', 0xff, 0xfe, 0],
        )
        .expect("written");
        let output = Command::cargo_bin("ssdlab")
            .expect("built")
            .current_dir(dir.path())
            .args(args)
            .output()
            .expect("runs");
        // `drives check` reports on files, so its findings are its output.
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        for text in [name, "hint: ", "not text"] {
            assert!(said.contains(text), "{args:?}: {said}");
        }
        let left = fs::read_dir(dir.path()).expect("readable").count();
        assert_eq!(left, 1, "{args:?}");
    }
}

#[test]
fn roles_and_run_directories_that_are_none() {
    refused(
        &[],
        &[
            "qualify",
            "drive:consumer-sata-1tb",
            "--role",
            "paperweight",
        ],
        &["paperweight", "slog"],
    );
    refused(&[], &["report", "nothing-here"], &["nothing-here"]);
    refused(&[("f", "x")], &["report", "f"], &["f"]);
    refused(&[("run.json", "{")], &["report", "."], &["run.json"]);
}

/// A result directory with something in it is not written over.
#[test]
fn a_used_result_directory_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("out")).expect("made");
    fs::write(dir.path().join("out/thesis.txt"), "years of work").expect("written");
    fs::write(dir.path().join("j.fio"), JOB).expect("written");
    let args = ["run", "j.fio", "--target", "null:1GiB", "--out", "out"];
    let outcome = ssdlab(dir.path(), &args);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("out"), "{}", outcome.stderr);
    assert_eq!(
        fs::read_dir(dir.path().join("out")).expect("there").count(),
        1
    );
}

/// What hints send people to as a complete file: of a member of a family it was refused.
#[test]
fn a_drive_that_is_shown_as_toml_is_a_good_drive_file() {
    let dir = tempfile::tempdir().expect("a directory");
    for name in [
        "intel-x25m-g2-80gb",
        "sandforce-sf1200-120gb",
        "ddrdrive-x1",
    ] {
        let output = Command::cargo_bin("ssdlab")
            .expect("built")
            .args(["drives", "show", name, "--toml"])
            .output()
            .expect("runs");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        let own = text.replacen(&format!("name = \"{name}\""), "name = \"own\"", 1);
        let file = dir.path().join("own.toml");
        fs::write(&file, own).expect("written");
        let outcome = ssdlab(dir.path(), &["drives", "check", "own.toml"]);
        assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.stderr);
    }
}

/// An argument that is not UTF-8 ended the program with a panic.
#[test]
fn an_argument_that_is_not_utf8_is_no_panic() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("job.fio"), "[j]\nrw=read\nsize=64k\n").expect("written");
    let out = std::ffi::OsStr::from_bytes(b"out-\xff");
    let output = Command::cargo_bin("ssdlab")
        .expect("built")
        .current_dir(dir.path())
        .args(["run", "job.fio", "--target", "null:1MiB", "--out"])
        .arg(out)
        .output()
        .expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(dir.path().join(out).join("run.json").exists());
}

/// `--size -1GiB` was an unexpected argument `-1`; `--size 0` announced a file of 1 GiB; a drive
/// named without `drive:` became a file; the hint on a trace named an option that `run` has for
/// something else.
#[test]
fn targets_sizes_and_traces_are_refused_before_anything_is_announced() {
    for (args, expected) in [
        (&["qualify", "--size", "-1GiB"][..], "`-1GiB`"),
        (&["qualify", "--size", "0"], "--size 0"),
        (&["qualify", "consumer-sata-1tb"], "drive:consumer-sata-1tb"),
        (
            &["qualify", "drive:consumer-sata-1t"],
            "did you mean consumer-sata-1tb",
        ),
    ] {
        refused(&[], args, &[expected]);
    }
    let said = ssdlab(Path::new("."), &["qualify", "--size", "0"]).stderr;
    assert!(!said.contains("Measuring"), "{said}");
    let files = [("x.txt", "nothing\nlike\na trace\n")];
    let args = ["run", "--trace", "x.txt", "--target", "null:1MiB"];
    refused(&files, &args, &["--trace-format"]);
}

/// `qualify intel-320-160gb` without `drive:` must ask, and so must a near miss.
#[test]
fn a_drive_of_the_catalogue_without_its_prefix_is_asked_about() {
    for (given, meant) in [
        ("intel-320-160gb", "drive:intel-320-160gb"),
        ("intel-320-160", "drive:intel-320-160gb"),
        ("consumer-sata-1tb-pl", "drive:consumer-sata-1tb"),
    ] {
        refused(&[], &["qualify", given], &["did you mean", meant]);
    }
    refused(
        &[],
        &["qualify", "drive:intel-320-160g"],
        &["did you mean", "intel-320-160gb"],
    );
    // A file of one's own, without the end of its name.
    let own = [("mine.toml", "")];
    refused(
        &own,
        &["qualify", "drive:mine"],
        &["did you mean drive:mine.toml?"],
    );
}

/// `qualify "Crucial T500"` made a file of that name, and gave the verdict on the disk under it as
/// if it were that drive's.
#[test]
fn the_name_of_a_drive_that_others_measured_is_answered_and_measures_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let outcome = ssdlab(dir.path(), &["qualify", "Crucial T500", "--role", "slog"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("no file is called `Crucial T500`"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("write ./Crucial T500"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stdout.contains("Measured by others"),
        "{}",
        outcome.stdout
    );
    let left = fs::read_dir(dir.path()).expect("readable").count();
    assert_eq!(left, 0, "something was written");
    for (given, expected) in [
        ("Radian RMS-200", "ssdlab drives known"),
        ("ledger:Radian RMS-200", "ssdlab drives known"),
        (
            "ledger:Kingston DC500 Pro",
            "did you mean ledger:kingston-dc500",
        ),
    ] {
        refused(&[], &["qualify", given], &[expected]);
    }
}

#[test]
fn negative_and_absurd_sizes_say_so() {
    for size in ["-1GiB", "0", "17EiB", "99999999999TiB", "1.5"] {
        refused(
            &[],
            &["qualify", "drive:intel-320-160gb", "--size", size],
            &["size"],
        );
    }
}

/// An argument that is not UTF-8 ended in a panic.
#[cfg(unix)]
#[test]
fn an_argument_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9");
    for command in ["qualify", "run", "inspect", "report", "create"] {
        let dir = tempfile::tempdir().expect("a directory");
        let mut ssdlab = Command::cargo_bin("ssdlab").expect("built");
        let output = ssdlab
            .current_dir(dir.path())
            .arg(command)
            .arg(odd)
            .output();
        let output = output.expect("runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {said}");
        assert!(!said.contains("panicked"), "{command}: {said}");
    }
}

/// `--replace` is for results: a stranger's folder is not written into.
#[test]
fn replace_takes_only_a_folder_with_results() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("photos");
    std::fs::create_dir(&out).expect("made");
    std::fs::write(out.join("report.html"), "mine").expect("written");
    let args = [
        "run",
        "--target",
        "null:1GiB",
        "--quiet",
        "--out",
        "photos",
        "--replace",
    ];
    let line = ["--", "diskspd", "-d1", "x"];
    let run = ssdlab(dir.path(), &[&args[..], &line].concat());
    assert_eq!(run.code, Some(2), "{}", run.stdout);
    assert!(
        run.stderr.contains("no results of ssdlab: report.html"),
        "{}",
        run.stderr
    );
    assert_eq!(
        std::fs::read(out.join("report.html")).expect("there"),
        b"mine"
    );
    std::fs::remove_file(out.join("report.html")).expect("removed");
    for _ in 0..2 {
        let run = ssdlab(dir.path(), &[&args[..], &line].concat());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
}
