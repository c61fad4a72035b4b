//! Does `ssdlab check` say what is in a drive directory or a saved drive, with the exit codes of
//! the house, and does `--repair` write what can be had back and nothing else?

use ssdlab_drives::keep::directory::{CrashSafety, DriveDir};
use ssdlab_ssd::drive::power::Power;
use std::path::Path;
use std::process::Command;

fn ssdlab(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ssdlab"));
    let output = command.args(arguments).output().expect("runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn create(path: &str) {
    let known = ["--drive", "consumer-sata-1tb", "--size", "64MiB"];
    let (code, _, errors) = ssdlab(&[&["create", path], &known[..]].concat());
    assert_eq!(code, Some(0), "{errors}");
}

/// A directory with one page written, closed.
fn used(path: &Path) {
    create(path.to_str().expect("text"));
    let (mut dir, _) = DriveDir::open(path, Power::default(), CrashSafety::Process).expect("opens");
    for at in 0..20 {
        dir.write(at * 4096, &[7; 4096], true).expect("written");
    }
    dir.close().expect("closed");
}

#[test]
fn a_directory_is_checked_and_had_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, to) = (folder.path().join("drive"), folder.path().join("to"));
    used(&path);
    let (drive, new) = (path.to_str().expect("text"), to.to_str().expect("text"));
    let (code, said, _) = ssdlab(&["check", drive]);
    assert_eq!(code, Some(0), "{said}");
    let whole = said.contains("format 6: consumer-sata-1tb, ") && said.ends_with("whole\n");
    assert!(whole && said.contains("shut down in order"), "{said}");
    let log = path.join("log-0000000001");
    let mut bytes = std::fs::read(&log).expect("there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(&log, &bytes).expect("written");
    let (code, said, _) = ssdlab(&["check", drive]);
    assert_eq!(code, Some(1), "{said}");
    let damage = format!("damage: {}: byte ", log.display());
    assert!(
        said.contains(&damage) && said.contains("good frames are behind it"),
        "{said}"
    );
    assert!(
        said.contains("lost: ") && said.contains("hint: ssdlab check"),
        "{said}"
    );
    let (code, _, errors) = ssdlab(&["serve", drive, "--nbd", "unix:nowhere"]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(
        errors.contains("--repair") && errors.contains(": byte "),
        "{errors}"
    );
    let (code, said, _) = ssdlab(&["check", drive, "--repair", new, "--json"]);
    assert_eq!(code, Some(1), "{said}");
    let json: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert!(
        json["damages"][0]["byte"].as_u64() <= Some(middle as u64),
        "{said}"
    );
    assert!(json["lost_frames"].as_u64() > Some(0), "{said}");
    assert_eq!(json["repaired"]["wrong"], serde_json::Value::Null, "{said}");
    assert_eq!(std::fs::read(&log).expect("there"), bytes, "not touched");
    let (code, said, _) = ssdlab(&["check", new]);
    assert_eq!(code, Some(0), "{said}");
    let (code, _, errors) = ssdlab(&["check", drive, "--repair", new]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("exists"), "{errors}");
}

#[test]
fn a_saved_drive_is_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("aged.ssd");
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/drives/small.toml");
    let mut simulate = Command::new(env!("CARGO_BIN_EXE_ssdlab"));
    simulate
        .current_dir(folder.path())
        .arg("simulate")
        .arg("--drive");
    simulate
        .arg(small)
        .args(["--until", "1x", "-q", "--out", "life"]);
    let done = simulate.arg("--save").arg(&file).output().expect("runs");
    assert!(done.status.success(), "{done:?}");
    let path = file.to_str().expect("text");
    let (code, said, _) = ssdlab(&["check", path]);
    assert_eq!(
        (code, said.contains(": whole, ")),
        (Some(0), true),
        "{said}"
    );
    let mut bytes = std::fs::read(&file).expect("there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(&file, &bytes).expect("written");
    let (code, said, _) = ssdlab(&["check", path]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("damaged: its checksum is"), "{said}");
    let (code, _, errors) = ssdlab(&["check", path, "--repair", "x"]);
    assert_eq!(
        (code, errors.contains("hint: ")),
        (Some(2), true),
        "{errors}"
    );
}

#[test]
fn what_is_neither_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let (code, _, errors) = ssdlab(&["check", &at("nowhere")]);
    assert_eq!(
        (code, errors.contains("nowhere")),
        (Some(2), true),
        "{errors}"
    );
    std::fs::create_dir(at("empty")).expect("made");
    let (code, _, errors) = ssdlab(&["check", &at("empty")]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(
        errors.contains("is no drive directory") && errors.contains("hint: "),
        "{errors}"
    );
    let left = std::fs::read_dir(at("empty")).expect("there").count();
    assert_eq!(left, 0, "nothing was made");
}

/// A drive too large for a limit on memory used to end in an abort without a word.
#[test]
fn a_drive_that_does_not_fit_into_memory_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let new = folder.path().join("new");
    let new = new.to_str().expect("text");
    let cases: [&[&str]; 3] = [
        &[
            "create",
            new,
            "--drive",
            "consumer-sata-1tb",
            "--size",
            "10TiB",
        ],
        &[
            "serve",
            "drive:consumer-sata-1tb",
            "--size",
            "10TiB",
            "--nbd",
            "unix:x",
        ],
        &[
            "simulate",
            "--drive",
            "consumer-sata-1tb",
            "--until",
            "1x",
            "--out",
            new,
        ],
    ];
    for case in cases {
        let mut limited = Command::new("prlimit");
        limited.args(["--as=2000000000", env!("CARGO_BIN_EXE_ssdlab")]);
        let output = limited.args(case).output().expect("prlimit");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{case:?}: {errors}");
        let said = errors.contains(" of memory for its tables, ") && errors.contains("hint: ");
        assert!(said, "{case:?}: {errors}");
        assert!(!Path::new(new).exists(), "{case:?}");
    }
}
