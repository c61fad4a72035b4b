//! Can a drive directory lose anything quietly?
//!
//! The issue behind it: one flipped bit in the middle of a log was taken for a torn tail. The drive
//! opened in an older state, said nothing, and the rest of the log was destroyed, 120 times of 120.
//!
//! Here files of a directory are damaged at random: bits flipped, ends cut off, pieces cut out,
//! blocks overwritten, files removed, swapped, or taken from an older state of the directory or
//! from another one. What the drive must hold is in a ledger outside of it. Each damage must be
//! found (the directory is refused, with a file named and none changed) or harmless (everything is
//! there).
//! `SSDLAB_DAMAGES=10000` runs it at length; `SSDLAB_SEED` draws others.

use ssdlab_drives::keep::directory::{CrashSafety, DriveDir};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::Power;
use ssdlab_ssd::rng::Rng;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::Path;

const PAGE: u64 = 4096;
const PAGES: u64 = 60;

/// Every file of a directory.
type Files = BTreeMap<String, Vec<u8>>;

/// A directory in some state, with what its drive must hold, as the number in each page.
struct Base {
    name: &'static str,
    files: Files,
    ledger: Vec<u64>,
    /// Some moments before.
    older: Vec<Files>,
}

fn config(protected: bool) -> DriveConfig {
    let mut config = DriveConfig::tiny();
    config.user_bytes = PAGES * PAGE;
    config.buffer.protected = protected;
    config
}

fn page(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(PAGE as usize / 8)
}

fn files_of(path: &Path) -> Files {
    let entries = std::fs::read_dir(path).expect("there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().expect("a name").to_str().expect("text");
        (name.to_owned(), std::fs::read(&path).expect("readable"))
    };
    paths.filter(|path| path.is_file()).map(read).collect()
}

fn put(path: &Path, files: &Files) {
    let _ = std::fs::remove_dir_all(path);
    std::fs::create_dir(path).expect("made");
    for (name, bytes) in files {
        std::fs::write(path.join(name), bytes).expect("written");
    }
}

/// A drive at work, and its ledger.
struct Work<'a> {
    path: &'a Path,
    dir: DriveDir,
    ledger: Vec<u64>,
    older: Vec<Files>,
    rng: Rng,
    number: u64,
}

impl Work<'_> {
    fn begin<'a>(path: &'a Path, seed: u64, protected: bool, safety: CrashSafety) -> Work<'a> {
        let _ = std::fs::remove_dir_all(path);
        DriveDir::create(path, &config(protected), "tiny").expect("created");
        let (dir, _) = DriveDir::open(path, Power::default(), safety).expect("opens");
        Work {
            path,
            dir,
            ledger: vec![0; PAGES as usize],
            older: Vec::new(),
            rng: Rng::named(seed, "work on a directory"),
            number: seed << 32,
        }
    }

    /// Durable writes; now and then the files are looked at.
    fn write(&mut self, count: u64) {
        for _ in 0..count {
            if self.rng.percent(4) {
                self.older.push(files_of(self.path));
            }
            let at = self.rng.below(PAGES);
            self.number += 1;
            let page = page(self.number);
            self.dir.write(at * PAGE, &page, true).expect("written");
            self.ledger[at as usize] = self.number;
        }
    }

    fn reopen(mut self, safety: CrashSafety) -> Self {
        drop(self.dir);
        self.older.push(files_of(self.path));
        self.dir = DriveDir::open(self.path, Power::default(), safety)
            .expect("opens")
            .0;
        self
    }

    fn end(self, name: &'static str, close: bool) -> Base {
        let (ledger, older) = (self.ledger, self.older);
        if close {
            self.dir.close().expect("closed")
        } else {
            drop(self.dir)
        }
        Base {
            name,
            files: files_of(self.path),
            ledger,
            older,
        }
    }
}

/// Directories in every state in which one can be left.
fn bases(path: &Path) -> Vec<Base> {
    let mut all = Vec::new();
    let process = CrashSafety::Process;
    let mut work = Work::begin(path, 1, false, process);
    work.write(120);
    all.push(work.end("closed", true));
    let mut work = Work::begin(path, 2, false, process);
    work.write(60);
    work = work.reopen(process);
    work.write(60);
    all.push(work.end("killed", false));
    let mut work = Work::begin(path, 3, true, process);
    work.write(120);
    all.push(work.end("protected, killed", false));
    let mut work = Work::begin(path, 4, false, CrashSafety::Host);
    work.write(100);
    all.push(work.end("synced, killed", false));
    let mut work = Work::begin(path, 5, false, process);
    work.dir.set_log_bytes_max(100 << 10);
    work.write(150);
    all.push(work.end("after checkpoints, killed", false));
    all.push(unfinished_checkpoint(path));
    all.push(torn(path));
    all
}

/// A checkpoint that was never finished: two logs.
fn unfinished_checkpoint(path: &Path) -> Base {
    let mut work = Work::begin(path, 6, false, CrashSafety::Process);
    work.write(50);
    let part = path.join("checkpoint-0000000002.part");
    std::fs::create_dir(&part).expect("made");
    work.dir.set_log_bytes_max(0);
    // The last one may be there or not.
    let mut last = work.number;
    while work.dir.write(0, &page(last + 1), true).is_ok() {
        last += 1;
    }
    drop(work.dir);
    std::fs::remove_dir(&part).expect("removed");
    let files = files_of(path);
    let (mut dir, _) = DriveDir::open(path, Power::default(), CrashSafety::Process).expect("opens");
    let mut bytes = page(0);
    dir.read(0, &mut bytes).expect("read");
    let found = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"));
    assert!([last, last + 1].contains(&found), "{found}, not {last}");
    work.ledger[0] = found;
    work.dir = dir;
    Base {
        files,
        ..work.end("two logs, killed", false)
    }
}

/// Killed while a frame was written.
fn torn(path: &Path) -> Base {
    let mut work = Work::begin(path, 7, false, CrashSafety::Process);
    work.write(80);
    let (mut before, ledger) = (files_of(path), work.ledger.clone());
    work.write(1);
    let log = "log-0000000001";
    let mut after = std::fs::read(path.join(log)).expect("there");
    after.truncate((before[log].len() + after.len()) / 2);
    before.insert(log.to_owned(), after);
    Base {
        files: before,
        ledger,
        ..work.end("torn", false)
    }
}

/// Where frames begin and end.
fn borders(file: &[u8]) -> Vec<usize> {
    let (mut at, head, length_at) = if file.starts_with(b"ssdlab") {
        (48, 48, 4)
    } else {
        (0, 12, 0)
    };
    let mut found = vec![0];
    while at <= file.len() {
        found.push(at);
        let Some(length) = file.get(at + length_at..at + length_at + 4) else {
            break;
        };
        let length = u32::from_le_bytes(length.try_into().expect("4 bytes"));
        at += head + length as usize;
    }
    found
}

fn below(rng: &mut Rng, count: usize) -> usize {
    rng.below(count.max(1) as u64) as usize
}

/// One damage: a name for the table, and the files after it.
fn damage(base: &Base, others: &[Base], rng: &mut Rng) -> (&'static str, Files) {
    let mut files = base.files.clone();
    let names: Vec<&String> = base.files.keys().collect();
    let name = names[below(rng, names.len())].clone();
    let what = match rng.below(16) {
        0..=3 => flip(files.get_mut(&name).expect("there"), rng),
        4..=6 => shorten(files.get_mut(&name).expect("there"), rng),
        7..=11 => put_elsewhere(files.get_mut(&name).expect("there"), rng),
        12 => {
            files.remove(&name);
            "removed"
        }
        13 => {
            let other = names[below(rng, names.len())].clone();
            let (one, two) = (files[&name].clone(), files[&other].clone());
            files.insert(name, two);
            files.insert(other, one);
            "swapped"
        }
        14 => {
            let older = &base.older[below(rng, base.older.len())];
            if let Some(old) = older.get(&name) {
                files.insert(name, old.clone());
            }
            "older"
        }
        _ => {
            let other = &others[below(rng, others.len())];
            if let Some(theirs) = other.files.get(&name) {
                files.insert(name, theirs.clone());
            }
            "of another directory"
        }
    };
    (what, files)
}

fn flip(file: &mut [u8], rng: &mut Rng) -> &'static str {
    for _ in 0..=rng.below(2) * rng.below(8) {
        let bit = below(rng, file.len() * 8);
        if let Some(byte) = file.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
    }
    "flip"
}

fn shorten(file: &mut Vec<u8>, rng: &mut Rng) -> &'static str {
    let (all, borders) = (file.len(), borders(file));
    match rng.below(4) {
        0 => {
            file.truncate(below(rng, all));
            "truncate"
        }
        1 => {
            file.truncate(borders[below(rng, borders.len())]);
            "truncate at a frame"
        }
        2 => {
            let from = below(rng, all);
            file.drain(from..(from + 1 + below(rng, 9000)).min(all));
            "cut out"
        }
        _ => {
            let (one, two) = (below(rng, borders.len()), below(rng, borders.len()));
            let (from, to) = (borders[one.min(two)], borders[one.max(two)]);
            file.drain(from.min(all)..to.min(all));
            "cut out frames"
        }
    }
}

/// Bytes that belong elsewhere, or nowhere.
fn put_elsewhere(file: &mut Vec<u8>, rng: &mut Rng) -> &'static str {
    let (all, borders) = (file.len(), borders(file));
    match rng.below(4) {
        0 => {
            let from = below(rng, all) / 512 * 512;
            let to = (from + (512 << rng.below(5))).min(all);
            let fill = [0, 0xff, 0x5a][below(rng, 3)];
            file[from.min(to)..to].fill(fill);
            "block overwritten"
        }
        1 => {
            let (from, to) = (below(rng, all) / 512 * 512, below(rng, all) / 512 * 512);
            let bytes = file[from..(from + 4096).min(all)].to_vec();
            let to = to..(to + bytes.len()).min(all);
            let length = to.len();
            file[to].copy_from_slice(&bytes[..length]);
            "block of another place"
        }
        2 => {
            let one = below(rng, borders.len());
            let from = borders[one].min(all);
            let to = borders.get(one + 1).map_or(all, |&to| to.min(all));
            let frame = file[from..to].to_vec();
            let at = borders[below(rng, borders.len())].min(all);
            file.splice(at..at, frame);
            "frame twice"
        }
        _ => {
            let more = 1 + below(rng, 6000);
            file.extend((0..more).map(|n| (n as u8).wrapping_mul(37)));
            "longer"
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Found,
    Harmless,
    Silent,
    Destroyed,
}

/// Opens the directory, and says what became of the damage.
fn judge(path: &Path, files: &Files, ledger: &[u64]) -> (Verdict, String) {
    put(path, files);
    let opened = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let (mut dir, _) = DriveDir::open(path, Power::default(), CrashSafety::Process)?;
        let mut bytes = vec![0; (PAGES * PAGE) as usize];
        dir.read(0, &mut bytes)?;
        Ok::<_, ssdlab_base::LabError>(bytes)
    }));
    match opened {
        Ok(Ok(bytes)) => {
            let pages = bytes.chunks_exact(PAGE as usize).zip(ledger);
            let lost = pages.filter(|(bytes, number)| *bytes != page(**number));
            match lost.count() {
                0 => (Verdict::Harmless, String::new()),
                lost => (Verdict::Silent, format!("{lost} pages lost")),
            }
        }
        Ok(Err(error)) => {
            let left = files_of(path);
            let named = error.to_string().contains(path.to_str().expect("text"));
            let text = error.to_string();
            if left == *files && named && !error.hint().is_empty() {
                (Verdict::Found, text)
            } else {
                (Verdict::Destroyed, text)
            }
        }
        Err(_) => (Verdict::Destroyed, "panicked".to_owned()),
    }
}

#[test]
fn no_damage_is_silent_and_none_destroys() {
    let number = |name, usual| std::env::var(name).map_or(usual, |n| n.parse().expect("a number"));
    let (count, seed) = (number("SSDLAB_DAMAGES", 400), number("SSDLAB_SEED", 1));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drive");
    let bases = bases(&path);
    for base in &bases {
        let (verdict, why) = judge(&path, &base.files, &base.ledger);
        assert_eq!(verdict, Verdict::Harmless, "{}: {why}", base.name);
    }
    let mut rng = Rng::named(seed, "damage to directories");
    let mut table: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
    let mut bad = Vec::new();
    let mut done = 0;
    while done < count {
        let base = &bases[rng.below(bases.len() as u64) as usize];
        let (what, files) = damage(base, &bases, &mut rng);
        if files == base.files {
            continue;
        }
        done += 1;
        let (verdict, why) = judge(&path, &files, &base.ledger);
        table.entry(what).or_default()[verdict as usize] += 1;
        if matches!(verdict, Verdict::Silent | Verdict::Destroyed) {
            let changed = base
                .files
                .iter()
                .filter(|(name, bytes)| files.get(*name) != Some(bytes));
            let changed: Vec<_> = changed.map(|(name, _)| name.as_str()).collect();
            bad.push(format!(
                "{verdict:?}: {} {what} {changed:?}: {why}",
                base.name
            ));
        }
    }
    show(&table);
    let first = &bad[..bad.len().min(40)];
    assert!(
        bad.is_empty(),
        "{} of {count}:\n{}",
        bad.len(),
        first.join("\n")
    );
    let both = (0..2).all(|at| table.values().any(|row| row[at] > 0));
    assert!(both, "some are found, some are harmless");
}

fn show(table: &BTreeMap<&str, [u64; 4]>) {
    println!("{:24}   found harmless silent destroyed", "damage");
    for (what, [found, harmless, silent, destroyed]) in table {
        println!("{what:24} {found:7} {harmless:8} {silent:6} {destroyed:9}");
    }
    let sum = |at: usize| table.values().map(|row| row[at]).sum::<u64>();
    println!(
        "{:24} {:7} {:8} {:6} {:9}",
        "all",
        sum(0),
        sum(1),
        sum(2),
        sum(3)
    );
}
