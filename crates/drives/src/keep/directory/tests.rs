//! States that need another build, or another run of the machine, to arise.

use super::file::{FrameFileKind, HEAD, VERSION};
use super::frames::{self, ExpectedFrameFile};
use super::records::{FrameRecord, LastContents};
use super::*;
use ssdlab_ssd::image::Writer;
use twox_hash::XxHash3_64;

pub(super) const PAGE: usize = 4096;

pub(super) fn config() -> DriveConfig {
    let mut config = DriveConfig::tiny();
    config.user_bytes = 60 * PAGE as u64;
    config
}

pub(super) fn open(path: &Path, safety: CrashSafety) -> Result<DriveDir, LabError> {
    DriveDir::open(path, Power::default(), safety).map(|(dir, _)| dir)
}

fn write(dir: &mut DriveDir, pages: std::ops::Range<u64>, fill: u8) {
    for at in pages {
        let page = [fill; PAGE];
        dir.write(at * PAGE as u64, &page, true).expect("written");
    }
}

/// The first byte of each page.
pub(super) fn content(dir: &mut DriveDir) -> Vec<u8> {
    let mut bytes = vec![0; 60 * PAGE];
    dir.read(0, &mut bytes).expect("read");
    bytes.chunks(PAGE).map(|page| page[0]).collect()
}

/// Writes a file again as format 4 had it.
fn as_old(path: &Path, kind: FrameFileKind) {
    let places = Arc::new(DataPlaces::of(path.parent().expect("a folder"), false));
    places.are_of(&config()).expect("readable");
    // Of other places: all bytes are in it.
    let none = Arc::new(DataPlaces::of(Path::new("none"), false));
    let (mut bytes, mut said) = (Vec::new(), LastContents::of(&none));
    let each = |record| {
        let record = match record {
            FrameRecord::Header(VERSION, config) => FrameRecord::Header(4, config),
            FrameRecord::Title(_) => return,
            record => record,
        };
        let mut payload = Vec::new();
        let mut out = Writer::new(&mut payload);
        record.save(&mut out, &mut said).expect("saved");
        out.flush().expect("saved");
        bytes.extend((payload.len() as u32).to_le_bytes());
        bytes.extend(XxHash3_64::oneshot(&payload).to_le_bytes());
        bytes.extend(payload);
    };
    frames::read(path, ExpectedFrameFile::any(kind), &places, each).expect("readable");
    std::fs::write(path, bytes).expect("written");
}

/// A directory of format 4 with pages 0 to 29 written; returns its log.
fn old_directory(path: &Path) -> PathBuf {
    DriveDir::create(path, &config(), "title").expect("created");
    write(
        &mut open(path, CrashSafety::Process).expect("opens"),
        0..30,
        7,
    );
    let log = log_path(path, 1);
    as_old(&checkpoint_path(path, 1), FrameFileKind::Checkpoint);
    as_old(&log, FrameFileKind::Log);
    std::fs::remove_file(end::path(path)).expect("removed");
    std::fs::remove_file(places::path(path)).expect("removed");
    let about = about::path(path);
    let text = std::fs::read_to_string(&about).expect("there");
    std::fs::write(&about, text.replace("\"format\": 6", "\"format\": 4")).expect("written");
    log
}

#[test]
fn a_directory_of_format_4_goes_on_in_format_6() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    let log = old_directory(&path);
    assert_eq!(check(&path).expect("readable").format, Some(4));
    // Killed in the middle of a frame.
    let whole = std::fs::read(&log).expect("there");
    std::fs::write(&log, [whole.as_slice(), &[200, 0, 0, 0, 1, 2]].concat()).expect("written");
    let mut dir = open(&path, CrashSafety::Process).expect("opens");
    let expected: Vec<u8> = (0..60).map(|at| if at < 30 { 7 } else { 0 }).collect();
    assert_eq!(content(&mut dir), expected);
    write(&mut dir, 30..31, 8);
    drop(dir);
    let checked = check(&path).expect("readable");
    assert_eq!(
        (checked.format, checked.damages),
        (Some(VERSION), Vec::new())
    );
    assert_eq!(checked.title.as_deref(), Some("title"));
    let mut dir = open(&path, CrashSafety::Process).expect("opens");
    assert_eq!(content(&mut dir)[29..32], [7, 8, 0]);
}

/// 120 of 120 flips were silent, those of a length too.
#[test]
fn a_flip_in_a_log_of_format_4_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    let log = old_directory(&path);
    let whole = std::fs::read(&log).expect("there");
    let lengths = [3, 2, 1, 0].map(|byte| 8 * byte + 5);
    let step = whole.len() * 4 / 97;
    for bit in lengths.into_iter().chain((0..97).map(|n| n * step)) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&log, &bytes).expect("written");
        let error = open(&path, CrashSafety::Process).expect_err("damaged");
        let said = error.to_string();
        assert!(said.contains("log-0000000001: byte "), "bit {bit}: {said}");
        assert_eq!(std::fs::read(&log).expect("there"), bytes, "bit {bit}");
    }
}

/// Pages 0 to 9 are synced and 10 to 19 are not; `end` says that the machine has started since.
fn crashed(path: &Path, safety: CrashSafety) -> (PathBuf, u64, u64) {
    let _ = std::fs::remove_dir_all(path);
    DriveDir::create(path, &config(), "title").expect("created");
    let mut dir = open(path, safety).expect("opens");
    write(&mut dir, 0..10, 1);
    dir.keep(true).expect("synced");
    let synced = dir.log.bytes();
    // FUA would sync.
    dir.safety = CrashSafety::Process;
    write(&mut dir, 10..20, 2);
    dir.safety = safety;
    dir.boot = 12345;
    dir.log_on().expect("logged");
    let all = dir.log.bytes();
    drop(dir);
    (log_path(path, 1), synced, all)
}

#[test]
fn after_a_crash_of_the_machine_what_was_synced_must_be_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    for lost in 0..4 {
        let (log, synced, all) = crashed(&path, CrashSafety::Host);
        let mut bytes = std::fs::read(&log).expect("there");
        let from = synced as usize + 100;
        match lost {
            // A block that never was written, an end that never was, zeroes in its place.
            0 => bytes[from..from + 400].fill(0),
            1 => bytes.truncate(from),
            2 => bytes[synced as usize..].fill(0),
            _ => bytes.truncate(synced as usize),
        }
        std::fs::write(&log, &bytes).expect("written");
        let mut dir = open(&path, CrashSafety::Host).expect("what was synced is there");
        assert_eq!(content(&mut dir)[..10], [1; 10], "{lost}");
        let said = dir.notes().concat();
        let cut = format!("{} bytes behind the last sync", bytes.len() as u64 - synced);
        assert!(
            lost == 1 || lost == 3 || said.contains(&cut),
            "{lost}: {said}"
        );
        assert!(lost != 1 || said.contains("behind the last sync"), "{said}");
        drop(dir);
        // The same in what was synced is damage.
        let (log, synced, _) = crashed(&path, CrashSafety::Host);
        let mut bytes = std::fs::read(&log).expect("there");
        assert_eq!(bytes.len() as u64, all);
        match lost {
            0 => bytes[synced as usize - 200..][..100].fill(0),
            1 => bytes.truncate(synced as usize - 1),
            2 => bytes[HEAD..].fill(0),
            _ => bytes.truncate(0),
        }
        std::fs::write(&log, &bytes).expect("written");
        let error = open(&path, CrashSafety::Host)
            .expect_err("damaged")
            .to_string();
        assert!(error.contains("log-0000000001: byte "), "{lost}: {error}");
        assert_eq!(std::fs::read(&log).expect("there"), bytes, "{lost}");
    }
}

/// Frames may reach the disk before the bytes that they name: what was synced has both.
#[test]
fn frames_whose_bytes_were_not_on_disk_are_cut_off_behind_the_last_sync() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    for lost in [1 << 9, 1, 0b10_0100_1000, (1 << 10) - 1] {
        crashed(&path, CrashSafety::Host);
        let data = places::path(&path);
        let mut bytes = std::fs::read(&data).expect("there");
        let whole = bytes.clone();
        let second = bytes.chunks_mut(PAGE).filter(|page| page[0] == 2);
        for (_, page) in (0..).zip(second).filter(|(n, _)| lost >> n & 1 == 1) {
            page.fill(0);
        }
        std::fs::write(&data, &bytes).expect("written");
        let mut dir = open(&path, CrashSafety::Host).expect("what was synced is there");
        let found = content(&mut dir);
        assert_eq!(found[..10], [1; 10]);
        let kept = found[10..20].iter().filter(|&&byte| byte == 2).count();
        assert!(
            kept <= (lost as u32).trailing_zeros() as usize,
            "{lost:b}: {found:?}"
        );
        assert!(
            lost != 1 << 9 || kept >= 5,
            "frames before it are kept: {kept}"
        );
        let said = dir.notes().concat();
        assert!(said.contains("behind the last sync"), "{said}");
        drop(dir);
        // The same in what was synced is damage.
        crashed(&path, CrashSafety::Host);
        let mut bytes = whole;
        let first = bytes.chunks(PAGE).position(|page| page[0] == 1);
        bytes[first.expect("there") * PAGE + 100] ^= 1;
        std::fs::write(&data, &bytes).expect("written");
        let error = open(&path, CrashSafety::Host)
            .expect_err("damaged")
            .to_string();
        assert!(error.contains("data: byte "), "{error}");
    }
}

/// Without syncs nothing was promised for a crash: but nothing is lost quietly either.
#[test]
fn a_crash_of_the_machine_without_syncs_is_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    let (log, synced, _) = crashed(&path, CrashSafety::Process);
    let mut bytes = std::fs::read(&log).expect("there");
    bytes.truncate(synced as usize + 100);
    std::fs::write(&log, &bytes).expect("written");
    let error = open(&path, CrashSafety::Process)
        .expect_err("damaged")
        .to_string();
    assert!(error.contains("that were acknowledged"), "{error}");
}

/// A checkpoint for which there is no room is put off, and nothing else happens.
#[test]
fn a_checkpoint_without_room_is_put_off() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    DriveDir::create(&path, &config(), "title").expect("created");
    let mut dir = open(&path, CrashSafety::Process).expect("opens");
    let part = path.join("checkpoint-0000000002.part");
    std::os::unix::fs::symlink("/dev/full", &part).expect("linked");
    dir.set_log_bytes_max(100 << 10);
    let mut n = 0;
    while dir.put_off().is_none() {
        write(&mut dir, n % 60..n % 60 + 1, n as u8);
        n += 1;
        assert!(n < 20_000, "it was tried");
    }
    let said = dir.put_off().expect("put off");
    assert!(said.contains("checkpoint-0000000002.part"), "{said}");
    while dir.put_off().is_some() {
        write(&mut dir, n % 60..n % 60 + 1, n as u8);
        n += 1;
        assert!(n < 20_000, "it was tried again");
    }
    let expected = content(&mut dir);
    drop(dir);
    let mut dir = open(&path, CrashSafety::Process).expect("opens");
    assert_eq!(content(&mut dir), expected);
}
