//! Does `ssdlab create` make a drive directory, of a new drive and of a used one, and
//! refuse what it cannot make?

use ssdlab_drives::keep::directory::{CrashSafety, DriveDir};
use ssdlab_drives::keep::saved;
use ssdlab_ssd::DriveCounters;
use ssdlab_ssd::drive::power::Power;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn create(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ssdlab"));
    command.arg("create").args(arguments);
    command.output().expect("runs")
}

#[test]
fn a_drive_directory_is_made_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    let path = path.to_str().expect("text");
    let arguments = [path, "--drive", "intel-dc-s3700-100gb", "--size", "256MiB"];
    let made = create(&arguments);
    assert!(made.status.success(), "{made:?}");
    let about = std::fs::read_to_string(format!("{path}/about.json")).expect("there");
    assert!(about.contains("268435456"), "{about}");
    let again = create(&arguments);
    let text = String::from_utf8_lossy(&again.stderr);
    assert_eq!(again.status.code(), Some(2));
    assert!(text.contains("exists") && text.contains("hint:"), "{text}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn refused(arguments: &[&str], said: &str) {
    let output = create(arguments);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    let good = errors.contains(said) && errors.contains("hint:");
    assert!(good, "{arguments:?}: {errors}");
}

/// A drive that has been written over three times, saved in `folder`.
fn aged(folder: &Path) -> PathBuf {
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/drives/small.toml");
    let file = folder.join("aged.ssd");
    let mut simulate = Command::new(env!("CARGO_BIN_EXE_ssdlab"));
    simulate.current_dir(folder).arg("simulate").arg("--drive");
    simulate
        .arg(small)
        .args(["--until", "2x", "-q", "--out", "life"]);
    let done = simulate.arg("--save").arg(&file).output().expect("runs");
    assert!(done.status.success(), "{}", text(&done.stderr));
    file
}

/// Bytes written, slots programmed, programs and erases.
fn used(counters: &DriveCounters) -> [u64; 4] {
    let (written, slots) = (counters.host_bytes_written, counters.slots_programmed());
    [written, slots, counters.nand_programs, counters.nand_erases]
}

#[test]
fn a_drive_of_a_used_one_is_as_used_and_empty() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = aged(folder.path());
    let path = folder.path().join("drive");
    let arguments = [path.to_str(), Some("--from"), file.to_str()].map(|it| it.expect("text"));
    let made = create(&arguments);
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert!(text(&made.stderr).contains("300 MiB"), "{made:?}");
    let (left, _) = saved::load(&file).expect("saved");
    let (mut dir, _) =
        DriveDir::open(&path, Power::default(), CrashSafety::Process).expect("opens");
    let before = used(left.counters());
    assert!(before[0] >= 3 * (300 << 20) && before[3] > 0, "{before:?}");
    assert_eq!(used(dir.drive().counters()), before);
    let mut bytes = vec![1; 1 << 20];
    for at in [0, 150 << 20, 299 << 20] {
        dir.read(at, &mut bytes).expect("read");
        assert!(bytes.iter().all(|&byte| byte == 0), "empty at {at}");
    }
    dir.close().expect("closed");
    refused(&arguments, "exists");
}

#[test]
fn what_no_drive_can_be_made_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let (new, junk, cut) = (at("new"), at("junk"), at("cut"));
    std::fs::write(&junk, "no drive").expect("written");
    let whole = std::fs::read(aged(folder.path())).expect("there");
    std::fs::write(&cut, &whole[..whole.len() / 2]).expect("written");
    std::fs::create_dir(at("empty")).expect("made");
    refused(&[&new, "--from", &at("nowhere")], "nowhere");
    refused(&[&new, "--from", &junk], "no saved drive");
    refused(&[&new, "--from", &cut], "cut short or damaged");
    refused(&[&new, "--from", &at("empty")], "no saved drive in");
    refused(&[&new], "no drive is named");
    refused(&[&new, "--drive", "nosuch"], "no drive `nosuch`");
    let known = ["--drive", "intel-dc-s3700-100gb", "--size", "64MiB"];
    refused(&[&[&junk as &str], &known[..]].concat(), "exists");
    let below_a_file = format!("{junk}/new");
    refused(&[&[&below_a_file as &str], &known[..]].concat(), "junk/new");
    assert_eq!(std::fs::read(&junk).expect("there"), b"no drive");
    assert!(!Path::new(&new).exists(), "nothing was begun");
}

#[test]
fn sizes_that_no_drive_has_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    let path = path.to_str().expect("text");
    for size in ["0", "1000B"] {
        let refused = create(&[path, "--drive", "intel-dc-s3700-100gb", "--size", size]);
        let text = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{size}: {text}");
        assert!(text.contains("hint:"), "{size}: {text}");
    }
}
