//! Places are used again, and never too early; directories of format 5 become ones of places.

use super::file::{FrameHead, HEAD};
use super::tests::{PAGE, config, content, open};
use super::*;
use ssdlab_ssd::rng::Rng;
use std::ffi::OsStr;
use twox_hash::XxHash3_64;

/// The files of a directory, as a process that is killed now leaves them.
type Files = BTreeMap<std::ffi::OsString, Vec<u8>>;

fn files(path: &Path) -> Files {
    let entries = std::fs::read_dir(path).expect("there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let read = |path: PathBuf| {
        let name = path.file_name().expect("a name").to_owned();
        (name, std::fs::read(&path).expect("readable"))
    };
    paths.map(read).collect()
}

/// What is in a copy of the directory.
fn killed(path: &Path, files: &Files, safety: CrashSafety) -> Vec<u8> {
    let _ = std::fs::remove_dir_all(path);
    std::fs::create_dir(path).expect("made");
    for (name, bytes) in files.iter().filter(|(name, _)| *name != "lock") {
        std::fs::write(path.join(name), bytes).expect("written");
    }
    let _ = std::fs::remove_file(path.join("hold-before"));
    let _ = std::fs::remove_file(path.join("hold-after"));
    let mut dir = open(path, safety).expect("opens");
    dir.drive().check().expect("consistent");
    content(&mut dir)
}

/// The files on disk after the machine has crashed: as last synced, but any block written since may
/// be there.
fn after_a_crash(synced: &Files, now: &Files, rng: &mut Rng) -> Files {
    let mut files = synced.clone();
    let (old, new) = (synced.get(OsStr::new("data")), now.get(OsStr::new("data")));
    let new = new.cloned().unwrap_or_default();
    let mut data = old.cloned().unwrap_or_default();
    data.resize(new.len(), 0);
    for (to, from) in data.chunks_mut(PAGE).zip(new.chunks(PAGE)) {
        if rng.percent(50) {
            to.copy_from_slice(from);
        }
    }
    files.insert("data".into(), data);
    for (name, bytes) in now {
        // Logs that have grown.
        if let Some(log) = files.get_mut(name)
            && name.to_string_lossy().starts_with("log-")
            && rng.percent(50)
        {
            *log = bytes.clone();
        }
    }
    files
}

/// Waits until no checkpoint is written: the files stay as they are.
fn wait_for_end(dir: &DriveDir) {
    while dir.background.as_ref().is_some_and(|b| !b.has_ended()) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Waits until the checkpoint that was begun stops at one of the moments.
fn wait_for_checkpoint(dir: &DriveDir, path: &Path, moment: &str) {
    let number = dir.log.place().number;
    let is_there = || match moment {
        "hold-after" => checkpoint_path(path, number).exists(),
        _ => true,
    };
    while dir.background.as_ref().is_some_and(|b| !b.has_ended()) && !is_there() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// A drive whose blocks have been erased and whose places are used again at once, with every value
/// that a page may have: the durable one first.
fn written_over(
    path: &Path,
    (protected, safety): (bool, CrashSafety),
    rng: &mut Rng,
) -> (DriveDir, Vec<Vec<u8>>) {
    let mut config = config();
    config.buffer.protected = protected;
    DriveDir::create(path, &config, "title").expect("created");
    let mut dir = open(path, safety).expect("opens");
    dir.set_kept_bytes(0);
    dir.set_log_bytes_max(6 << 10);
    dir.boot = 12345;
    let mut may: Vec<Vec<u8>> = vec![vec![0]; 60];
    for n in 0..1500 {
        let at = rng.below(60) as usize;
        dir.write((at * PAGE) as u64, &[n as u8 | 1; PAGE], false)
            .expect("written");
        may[at] = vec![n as u8 | 1];
    }
    dir.flush().expect("flushed");
    wait_for_end(&dir);
    (dir, may)
}

/// These pages were written.
fn note(may: &mut [Vec<u8>], value: u8, durable: bool) {
    for values in may {
        if durable {
            *values = vec![value]
        } else {
            values.push(value)
        }
    }
}

fn assert_may(found: &[u8], may: &[Vec<u8>], step: u32) {
    for (at, (found, may)) in found.iter().zip(may).enumerate() {
        assert!(
            may.contains(found),
            "step {step}, page {at}: {found}, not {may:?}"
        );
    }
}

/// Of every hundred steps, the first 70 hold a checkpoint at the moment of the file `hold`.
fn hold_checkpoints(dir: &DriveDir, hold: &Path, step: u32) {
    match step % 100 {
        0 => {
            wait_for_end(dir);
            std::fs::write(hold, "").expect("written");
        }
        70 => std::fs::remove_file(hold).expect("removed"),
        _ => {}
    }
}

/// A place was used again while a checkpoint or a log still named it. Here places are used again as
/// soon as they may, checkpoints stop before and after they are written, and the directory is
/// opened as a kill, or a crash of the machine, after any command would leave it.
fn places_are_used_again(protected: bool, safety: CrashSafety) {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, copy) = (folder.path().join("drive"), folder.path().join("copy"));
    let mut rng = Rng::named(u64::from(protected), "places");
    let (mut dir, mut may) = written_over(&path, (protected, safety), &mut rng);
    let (mut begun, mut in_flight, mut synced) = (0, 0, files(&path));
    let (steps, before) = (400, dir.places.fresh());
    for step in 0..steps {
        let held = ["hold-before", "hold-after"][(step / 100 % 2) as usize];
        let log = dir.log.place().number;
        hold_checkpoints(&dir, &path.join(held), step);
        let count = if rng.percent(30) { 8 } else { 1 };
        let (at, value) = (rng.below(61 - count), (step % 251) as u8 + 1);
        let durable = rng.percent(20);
        let bytes = vec![value; count as usize * PAGE];
        dir.write(at * PAGE as u64, &bytes, durable)
            .expect("written");
        note(
            &mut may[at as usize..(at + count) as usize],
            value,
            durable || protected,
        );
        let flushes = rng.percent(10);
        if flushes {
            dir.flush().expect("flushed");
            may.iter_mut()
                .for_each(|values| drop(values.drain(..values.len() - 1)));
        }
        let begins = dir.log.place().number > log;
        if begins {
            begun += 1;
            in_flight += u32::from(dir.drive().media().booked_ends().next().is_some());
            wait_for_checkpoint(&dir, &path, held);
        }
        if step % 100 >= 70 {
            wait_for_end(&dir);
        }
        let looks =
            safety == CrashSafety::Process || durable || flushes || begins || rng.percent(40);
        if !looks {
            // Each takes many syncs.
            continue;
        }
        let now = files(&path);
        assert_may(&killed(&copy, &now, safety), &may, step);
        if safety == CrashSafety::Host && (durable || flushes || begins) {
            synced = now;
        } else if safety == CrashSafety::Host && !protected {
            let crashed = after_a_crash(&synced, &now, &mut rng);
            assert_may(&killed(&copy, &crashed, safety), &may, step);
        }
    }
    let fresh = dir.places.fresh() - before;
    let _ = std::fs::remove_file(path.join("hold-before"));
    let _ = std::fs::remove_file(path.join("hold-after"));
    assert!(
        begun >= 5 && in_flight >= u32::from(protected),
        "{begun} checkpoints, {in_flight} with programs booked"
    );
    assert!(
        fresh < steps / 2,
        "{fresh} more places for {steps} writes: they are used again"
    );
}

#[test]
fn places_are_used_again_when_nothing_names_them() {
    places_are_used_again(false, CrashSafety::Process);
}

#[test]
fn places_are_used_again_when_nothing_names_them_on_a_protected_drive() {
    places_are_used_again(true, CrashSafety::Process);
}

#[test]
fn places_are_used_again_when_nothing_on_disk_names_them() {
    places_are_used_again(false, CrashSafety::Host);
}

#[test]
fn places_are_used_again_when_nothing_on_disk_names_them_on_a_protected_drive() {
    places_are_used_again(true, CrashSafety::Host);
}

/// The files of format 5: all bytes in checkpoints and logs.
fn as_format_5(path: &Path) {
    let patch = |file: &Path, kind: FrameFileKind| {
        let mut bytes = std::fs::read(file).expect("there");
        let head: [u8; HEAD] = bytes[..HEAD].try_into().expect("a head");
        let (place, chain) = FrameFileId::of_head(kind, &head).expect("whole");
        bytes[..HEAD].copy_from_slice(&place.head_of(5, chain));
        (bytes, place, chain)
    };
    let log = log_path(path, 1);
    std::fs::write(&log, patch(&log, FrameFileKind::Log).0).expect("written");
    let checkpoint = checkpoint_path(path, 1);
    let (bytes, place, mut chain) = patch(&checkpoint, FrameFileKind::Checkpoint);
    let (mut out, mut at, mut number) = (bytes[..HEAD].to_vec(), HEAD, 0);
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().expect("4 bytes"));
        let mut payload = bytes[at + HEAD..][..length as usize].to_vec();
        if number == 0 {
            assert_eq!(payload[..5], [0, VERSION as u8, 0, 0, 0]);
            payload[1] = 5;
        }
        let sum = XxHash3_64::oneshot(&payload);
        let head = FrameHead {
            length,
            number,
            chain,
            synced: 0,
            sum,
        };
        let (head, next) = head.bytes(place);
        out.extend(head);
        out.extend(payload);
        (at, number, chain) = (at + HEAD + length as usize, number + 1, next);
    }
    std::fs::write(&checkpoint, out).expect("written");
    let about = about::path(path);
    let text = std::fs::read_to_string(&about).expect("there");
    std::fs::write(&about, text.replace("\"format\": 6", "\"format\": 5")).expect("written");
    assert!(!places::path(path).exists());
}

#[test]
fn a_directory_of_format_5_goes_on_in_format_6_and_may_be_killed_meanwhile() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, copy) = (folder.path().join("drive"), folder.path().join("copy"));
    DriveDir::create(&path, &config(), "title").expect("created");
    let mut dir = open(&path, CrashSafety::Process).expect("opens");
    dir.places.set_none();
    for n in 0..40 {
        dir.write(n % 30 * PAGE as u64, &[n as u8 + 1; PAGE], true)
            .expect("written");
    }
    let mut expected = content(&mut dir);
    drop(dir);
    as_format_5(&path);
    let old = files(&path);
    let checked = check(&path).expect("readable");
    assert_eq!((checked.format, checked.damages), (Some(5), Vec::new()));
    assert!(files(&path) == old, "nothing was changed");
    for held in ["hold-before", "hold-after"] {
        assert_eq!(killed(&path, &old, CrashSafety::Process), expected);
        std::fs::remove_dir_all(&path).expect("removed");
        std::fs::create_dir(&path).expect("made");
        for (name, bytes) in &old {
            std::fs::write(path.join(name), bytes).expect("written");
        }
        std::fs::write(path.join(held), "").expect("written");
        let mut dir = open(&path, CrashSafety::Process).expect("opens");
        wait_for_checkpoint(&dir, &path, held);
        let mut expected = expected.clone();
        for n in 0..20 {
            dir.write(n * 3 * PAGE as u64, &[n as u8 + 100; PAGE], true)
                .expect("written");
            expected[n as usize * 3] = n as u8 + 100;
            assert_eq!(
                killed(&copy, &files(&path), CrashSafety::Process),
                expected,
                "{held}, {n}"
            );
        }
        std::fs::remove_file(path.join(held)).expect("removed");
    }
    let mut dir = open(&path, CrashSafety::Process).expect("opens");
    expected = content(&mut dir);
    dir.close().expect("closed");
    let checked = check(&path).expect("readable");
    assert_eq!((checked.format, checked.damages), (Some(6), Vec::new()));
    assert_eq!(
        content(&mut open(&path, CrashSafety::Process).expect("opens")),
        expected
    );
}

/// As a server does: many commands, and then the log. Blocks are erased meanwhile, and what lay in
/// them is still what a kill finds; with syncs, what a crash of the machine finds.
#[test]
fn places_freed_since_the_log_was_written_are_not_used_again() {
    for safety in [CrashSafety::Process, CrashSafety::Host] {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, copy) = (folder.path().join("drive"), folder.path().join("copy"));
        let mut rng = Rng::named(3, "places");
        let (mut dir, mut may) = written_over(&path, (false, safety), &mut rng);
        dir.set_log_bytes_max(1 << 30);
        for round in 0..4 {
            dir.flush().expect("flushed");
            wait_for_end(&dir);
            may.iter_mut()
                .for_each(|values| drop(values.drain(..values.len() - 1)));
            let synced = files(&path);
            for n in 0..1500_u32 {
                let (at, value) = (rng.below(60) as usize, (n % 251) as u8 + 1);
                let offset = (at * PAGE) as u64;
                dir.data
                    .write(offset, &[value; PAGE], false)
                    .expect("written");
                dir.keep_change(offset, PAGE as u64, false).expect("kept");
                may[at].push(value);
            }
            assert_may(&killed(&copy, &files(&path), safety), &may, round);
            dir.settle().expect("settled");
            let now = files(&path);
            assert_may(&killed(&copy, &now, safety), &may, round);
            if safety == CrashSafety::Host {
                assert_may(
                    &killed(&copy, &after_a_crash(&synced, &now, &mut rng), safety),
                    &may,
                    round,
                );
            }
        }
    }
}
