//! What `check` says of a drive directory, and what `repair` has back of a damaged one: a state
//! that the drive had, with all that was before the damage, in a new directory.

use ssdlab_drives::keep::directory::{CrashSafety, DirectoryCheck, DriveDir, check, repair};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::Power;
use ssdlab_ssd::rng::Rng;
use std::collections::BTreeMap;
use std::path::Path;

const PAGE: u64 = 4096;
const PAGES: u64 = 60;
const LOG: &str = "log-0000000001";

fn config() -> DriveConfig {
    let mut config = DriveConfig::tiny();
    config.user_bytes = PAGES * PAGE;
    config
}

fn page(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(PAGE as usize / 8)
}

fn open(path: &Path) -> DriveDir {
    let opened = DriveDir::open(path, Power::default(), CrashSafety::Process);
    opened.expect("opens").0
}

fn content(path: &Path) -> Vec<u64> {
    let mut bytes = vec![0; (PAGES * PAGE) as usize];
    open(path).read(0, &mut bytes).expect("read");
    let number = |page: &[u8]| u64::from_le_bytes(page[..8].try_into().expect("8 bytes"));
    bytes.chunks(PAGE as usize).map(number).collect()
}

fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(path).expect("there");
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("text");
        (name, std::fs::read(entry.path()).expect("readable"))
    };
    entries.map(read).collect()
}

/// A directory after 100 durable writes, one of the states after each, and where the log ended
/// then.
fn used(path: &Path) -> (Vec<Vec<u64>>, Vec<u64>) {
    DriveDir::create(path, &config(), "a title").expect("created");
    let mut dir = open(path);
    let mut rng = Rng::named(1, "repair");
    let mut states = vec![vec![0; PAGES as usize]];
    let mut ends = vec![path.join(LOG).metadata().expect("there").len()];
    for number in 1..=100 {
        let at = rng.below(PAGES);
        dir.write(at * PAGE, &page(number), true).expect("written");
        let mut state = states[states.len() - 1].clone();
        state[at as usize] = number;
        states.push(state);
        ends.push(path.join(LOG).metadata().expect("there").len());
    }
    (states, ends)
}

fn damages(checked: &DirectoryCheck) -> Vec<String> {
    let said = checked.damages.iter();
    said.map(|damage| {
        let file = damage.file.file_name().expect("a name").to_string_lossy();
        format!("{file}: {}", damage.what)
    })
    .collect()
}

#[test]
fn everything_before_the_damage_is_had_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, to) = (folder.path().join("drive"), folder.path().join("to"));
    let (states, ends) = used(&path);
    let whole = check(&path).expect("readable");
    assert!(whole.damages.is_empty() && whole.lost.bytes == 0 && !whole.closed);
    assert_eq!(
        (whole.format, whole.title.as_deref()),
        (Some(6), Some("a title"))
    );
    let log = std::fs::read(path.join(LOG)).expect("there");
    let mut rng = Rng::named(2, "repair");
    for round in 0..60 {
        let at = (ends[0] + rng.below(log.len() as u64 - ends[0])) as usize;
        let mut bytes = log.clone();
        match round % 3 {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes.truncate(at),
            _ => drop(bytes.drain(at..(at + 3000).min(log.len()))),
        }
        std::fs::write(path.join(LOG), &bytes).expect("written");
        let before = files(&path);
        let checked = check(&path).expect("readable");
        assert_eq!(checked.damages.len(), 1, "{checked:?}");
        let damage = &checked.damages[0];
        assert!(
            damage.at.is_some_and(|byte| byte <= at as u64),
            "{damage}, not {at}"
        );
        let repaired = repair(&path, &to).expect("had back");
        assert_eq!(repaired.wrong, None);
        assert!(files(&path) == before, "nothing was changed");
        // The last write that was whole before the damage.
        let last = ends.iter().filter(|&&end| end <= at as u64).count() - 1;
        let found = content(&to);
        assert!(
            found == states[last],
            "round {round}: not as after write {last}"
        );
        // A frame of each write that is not there, and some for what the drive did beside.
        let (lost, missing) = (checked.lost, 100 - last as u64);
        assert!(
            (missing..=2 * missing + 2).contains(&lost.frames),
            "{lost:?} of {missing}"
        );
        assert_eq!(
            lost.bytes,
            log.len() as u64 - damage.at.unwrap_or(0),
            "{damage}"
        );
        std::fs::remove_dir_all(&to).expect("removed");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, to) = (folder.path().join("drive"), folder.path().join("to"));
    let (states, _) = used(&path);
    let whole = files(&path);
    let about = "about.json";
    let text = String::from_utf8(whole[about].clone()).expect("text");
    let cases: [(&str, Option<Vec<u8>>, &str); 9] = [
        (about, None, "about.json: it is missing"),
        (about, Some(b"{}".to_vec()), "about.json: it has other keys"),
        (
            about,
            Some(b"nothing".to_vec()),
            "about.json: it is no JSON",
        ),
        (
            about,
            Some(text.replace("a title", "another").into_bytes()),
            "about.json: `title` is \"another\", the drive in the directory has \"a title\"",
        ),
        (
            about,
            Some(text.replace("245760", "245761").into_bytes()),
            "about.json: `user_bytes` is 245761, the drive in the directory has 245760",
        ),
        ("end", None, "end: it is missing"),
        ("end", Some(vec![0; 600]), "end: it is damaged"),
        (LOG, None, "log-0000000001: the log is missing"),
        (
            "checkpoint-0000000001",
            Some(Vec::new()),
            "checkpoint-0000000001: it is cut short",
        ),
    ];
    for (name, bytes, said) in cases {
        match &bytes {
            Some(bytes) => std::fs::write(path.join(name), bytes).expect("written"),
            None => std::fs::remove_file(path.join(name)).expect("removed"),
        }
        let opened = DriveDir::open(&path, Power::default(), CrashSafety::Process);
        let error = opened.expect_err(said);
        let (file, what) = said.split_once(": ").expect("a file");
        let full = error.to_string();
        assert!(full.contains(file) && full.contains(what), "{error}");
        assert!(error.hint().contains("--repair"), "{error}");
        let checked = check(&path).expect("readable");
        assert!(
            damages(&checked).iter().any(|text| text.starts_with(said)),
            "{checked:?}"
        );
        let repaired = repair(&path, &to);
        if name.starts_with("checkpoint") {
            let error = repaired.expect_err("nothing is left").to_string();
            assert!(error.contains("no checkpoint is whole"), "{error}");
        } else {
            assert_eq!(repaired.expect("had back").wrong, None);
            assert_eq!(
                std::fs::read_to_string(to.join(about)).expect("there"),
                text
            );
            let kept = if name == LOG { 0 } else { 100 };
            assert!(content(&to) == states[kept], "{said}");
            std::fs::remove_dir_all(&to).expect("removed");
        }
        std::fs::write(path.join(name), &whole[name]).expect("written");
    }
}

/// Bytes of a mapping unit that are not those that were written: all others are had back.
#[test]
fn a_damaged_place_costs_what_lies_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, to) = (folder.path().join("drive"), folder.path().join("to"));
    let (states, _) = used(&path);
    let data = path.join("data");
    let whole = std::fs::read(&data).expect("there");
    let last = page(100);
    let place = whole.chunks(PAGE as usize).rposition(|bytes| bytes == last);
    let place = place.expect("the last write has a place");
    let mut bytes = whole.clone();
    bytes[place * PAGE as usize + 9] ^= 1;
    std::fs::write(&data, &bytes).expect("written");
    let error = DriveDir::open(&path, Power::default(), CrashSafety::Process).expect_err("damaged");
    let at = format!("data: byte {}: ", place * PAGE as usize);
    assert!(error.to_string().contains(&at), "{error}");
    let checked = check(&path).expect("readable");
    assert_eq!(
        damages(&checked),
        ["data: the bytes of 1 mapping units are not those that were written"]
    );
    assert_eq!(repair(&path, &to).expect("had back").wrong, None);
    let (found, all) = (content(&to), &states[100]);
    let differ = found.iter().zip(all).filter(|(found, all)| found != all);
    let differ: Vec<_> = differ.collect();
    assert!(differ.len() == 1 && *differ[0].1 == 100, "{differ:?}");
    std::fs::remove_file(&data).expect("removed");
    let checked = check(&path).expect("readable");
    assert_eq!(damages(&checked), ["data: it is missing"]);
}

#[test]
fn a_directory_without_a_checkpoint_is_damaged_and_one_without_anything_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    used(&path);
    let checkpoint = path.join("checkpoint-0000000001");
    std::fs::remove_file(checkpoint).expect("removed");
    let checked = check(&path).expect("readable");
    assert_eq!(
        damages(&checked),
        ["checkpoint-0000000001: the checkpoint is missing"]
    );
    let error = check(folder.path()).expect_err("no directory of a drive");
    assert!(
        error.to_string().contains("is no drive directory"),
        "{error}"
    );
}

/// The checkpoint before the newest one and both logs, where both are there.
#[test]
fn an_older_checkpoint_takes_the_place_of_a_damaged_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, to) = (folder.path().join("drive"), folder.path().join("to"));
    let (states, _) = used(&path);
    let before = files(&path);
    let mut dir = open(&path);
    dir.set_log_bytes_max(0);
    dir.flush().expect("a checkpoint begins");
    dir.set_log_bytes_max(u64::MAX);
    dir.close().expect("closed");
    assert!(path.join("checkpoint-0000000002").exists());
    // Killed before the old ones were removed.
    std::fs::write(
        path.join("checkpoint-0000000001"),
        &before["checkpoint-0000000001"],
    )
    .expect("written");
    let first = std::fs::read(path.join("log-0000000002")).expect("there");
    assert!(check(&path).expect("readable").damages.is_empty());
    std::fs::write(path.join("checkpoint-0000000002"), "").expect("written");
    std::fs::write(path.join(LOG), &before[LOG]).expect("written");
    let checked = check(&path).expect("readable");
    assert!(
        damages(&checked)[0].starts_with("checkpoint-0000000002: "),
        "{checked:?}"
    );
    assert_eq!(repair(&path, &to).expect("had back").wrong, None);
    assert!(
        content(&to) == states[100],
        "{} bytes of log 2",
        first.len()
    );
}

#[test]
fn a_directory_that_is_open_is_not_looked_at() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    DriveDir::create(&path, &config(), "tiny").expect("created");
    let dir = open(&path);
    let error = check(&path).expect_err("open").to_string();
    assert!(error.contains("is open elsewhere"), "{error}");
    drop(dir);
    assert!(check(&path).expect("readable").damages.is_empty());
}
