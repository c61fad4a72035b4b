//! Are the options' names those of the installed fio?

use ssdlab_fio::names::{NAMES, canonical, nearest};
use std::process::Command;

#[test]
fn fio_has_these_options() {
    let Ok(output) = Command::new("fio").arg("--cmdhelp=all").output() else {
        return ssdlab_skips::skip("fio is not installed");
    };
    let version = Command::new("fio").arg("--version").output().expect("runs");
    if !version.stdout.starts_with(b"fio-3.33") {
        return ssdlab_skips::skip("the table is of fio 3.33");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().filter_map(|line| {
        let (name, _) = line.split_once(" : ")?;
        let of_letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        let name = name.trim();
        (!name.is_empty() && name.chars().all(of_letters)).then_some(name)
    });
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 200, "{}", names.len());
    assert_eq!(names, NAMES.iter().map(|name| name.0).collect::<Vec<_>>());
}

#[test]
fn names_and_other_names_are_found() {
    assert_eq!(canonical("blocksize"), Some("bs"));
    assert_eq!(canonical("bs"), Some("bs"));
    assert_eq!(canonical(""), None);
    assert_eq!(canonical("iodeph"), None);
    let near = |name| nearest(name, NAMES.iter().map(|n| n.0));
    assert_eq!(near("iodeph"), Some("iodepth"));
    assert_eq!(near("rate_iop"), Some("rate_iops"));
    assert_eq!(near("a_word_of_its_own"), None);
    assert_eq!(near(&"x".repeat(1 << 16)), None);
}
