//! Does `ssdlab create` make a drive directory, and refuse what it cannot make?

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
