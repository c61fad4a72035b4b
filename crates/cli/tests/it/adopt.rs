//! `ssdlab drives adopt`: does the catalogue get what its own commands would write, and is what
//! would spoil it refused?

use crate::run::{Outcome, ssdlab};
use std::fs;
use std::path::{Path, PathBuf};

/// A drive that meets its data sheet, and is measured in seconds.
const DRIVE: &str = "sandforce-sf1200-120gb";

fn catalogue() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drives")
}

/// A checkout without `DRIVE`, whose file is beside it.
fn checkout_without_the_drive() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let drives = dir.path().join("checkout/drives");
    fs::create_dir_all(&drives).expect("made");
    for entry in fs::read_dir(catalogue()).expect("drives") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        if name == format!("{DRIVE}.toml").as_str() {
            fs::copy(&path, dir.path().join(name)).expect("copied");
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        let is_other = |line: &&str| {
            !line.starts_with(&format!("{DRIVE},")) && !line.contains(&format!("\"drive:{DRIVE}\""))
        };
        let others: Vec<&str> = text.lines().filter(is_other).collect();
        fs::write(drives.join(name), others.join("\n") + "\n").expect("written");
    }
    dir
}

fn adopt(dir: &Path, args: &[&str]) -> Outcome {
    ssdlab(dir, &[&["drives", "adopt"], args].concat())
}

/// Adopted again, a drive of the catalogue has the very file, rows and line that it had.
#[test]
fn a_drive_gets_the_entries_that_the_catalogues_own_commands_write() {
    let dir = checkout_without_the_drive();
    let drives = dir.path().join("checkout/drives");
    // Anywhere in the checkout will do.
    let file = format!("../../{DRIVE}.toml");
    let outcome = adopt(&drives, &[&file]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for name in [
        &format!("{DRIVE}.toml"),
        "validated.csv",
        "references.jsonl",
    ] {
        let read = |folder: &Path| fs::read_to_string(folder.join(name)).expect("text");
        assert!(read(&drives) == read(&catalogue()), "{name} differs");
        assert!(outcome.stdout.contains(name), "{}", outcome.stdout);
    }
    let row = outcome.stdout.lines().find(|line| line.starts_with("| "));
    assert!(
        row.is_some_and(|row| row.contains("SandForce")),
        "{}",
        outcome.stdout
    );
    assert!(
        !outcome.stdout.contains("Not validated"),
        "{}",
        outcome.stdout
    );
    let again = adopt(&drives, &[&file]);
    assert_eq!(again.code, Some(2), "{}", again.stdout);
    assert!(again.stderr.contains("already") && again.stderr.contains("hint: "));
}

#[test]
fn what_would_spoil_the_catalogue_is_refused_with_a_hint_and_changes_nothing() {
    let dir = checkout_without_the_drive();
    let at = dir.path();
    let drive = format!("{DRIVE}.toml");
    let text = fs::read_to_string(at.join(&drive)).expect("text");
    fs::write(at.join("other.toml"), &text).expect("written");
    fs::write(
        at.join("odd.toml"),
        text.replace(DRIVE, "odd") + "\nx = 1\n",
    )
    .expect("written");
    fs::write(at.join("drive.txt"), &text).expect("written");
    fs::copy(
        catalogue().join("intel-x25e-64gb.toml"),
        at.join("intel-x25e-64gb.toml"),
    )
    .expect("copied");
    let tables = || {
        ["validated.csv", "references.jsonl"]
            .map(|name| fs::read(at.join("checkout/drives").join(name)).expect("a table"))
    };
    let before = tables();
    for (args, message) in [
        (&[drive.as_str()][..], "not in a checkout"),
        (&[&drive, "--into", "."], "not in a checkout"),
        (&["nonesuch.toml", "--into", "checkout"], "nonesuch.toml"),
        (
            &["drive.txt", "--into", "checkout"],
            "does not end in .toml",
        ),
        // Its name is not that of the file.
        (&["other.toml", "--into", "checkout"], "other"),
        (&["odd.toml", "--into", "checkout"], "odd.toml"),
        (&["intel-x25e-64gb.toml", "--into", "checkout"], "already"),
    ] {
        let outcome = adopt(at, args);
        assert_eq!(outcome.code, Some(2), "{args:?}: {}", outcome.stdout);
        let error = &outcome.stderr;
        assert!(
            error.contains(message) && error.contains("hint: "),
            "{args:?}: {error}"
        );
    }
    assert!(tables() == before);
    assert!(!at.join("checkout/drives").join(&drive).exists());
}
