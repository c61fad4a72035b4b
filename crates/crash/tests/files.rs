//! Do the files on a crash disk keep their contract, and do they break everything that it allows
//! to be broken?

use ssdlab_crash::{CrashDisk, CrashError, CrashFiles, DriveConfig, FileId, FileSystemRules};
use ssdlab_ssd::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};

fn new(rules: FileSystemRules) -> CrashFiles {
    let mut disk = CrashDisk::new(DriveConfig::tiny(), 1).expect("possible");
    disk.stop_history();
    CrashFiles::format(disk, rules).expect("formatted")
}

/// What may be there after a cut, by name: kept apart from the file system, in the plainest way.
#[derive(Clone, Debug, Default)]
struct Model {
    names: BTreeMap<String, u64>,
    /// Contents since the last fsync, oldest first.
    contents: BTreeMap<u64, Vec<Vec<u8>>>,
    /// Names that a sync made durable and nobody has changed since.
    firm: BTreeMap<String, u64>,
    /// Every file that a name has referred to since it was firm.
    loose: BTreeMap<String, BTreeSet<u64>>,
}

impl Model {
    fn touch(&mut self, name: &str) {
        if let Some(file) = self.firm.remove(name) {
            self.loose.entry(name.into()).or_default().insert(file);
        }
        if let Some(&file) = self.names.get(name) {
            self.loose.entry(name.into()).or_default().insert(file);
        }
    }

    fn synced_names(&mut self) {
        self.firm = self.names.clone();
        self.loose.clear();
    }

    /// A page-by-page mixture of the contents since the last fsync, of any length between.
    fn allows(&self, file: u64, found: &[u8]) -> bool {
        let Some(versions) = self.contents.get(&file) else {
            return false;
        };
        let lengths: Vec<usize> = versions.iter().map(Vec::len).collect();
        let (low, high) = (lengths.iter().min(), lengths.iter().max());
        let fits = low <= Some(&found.len()) && Some(&found.len()) <= high;
        let byte = |at: usize, found: u8| {
            // Grown before its data came, or shortened in the middle of a page.
            let is_end = found == 0 && Some(&at) >= low;
            is_end || versions.iter().any(|v| v.get(at) == Some(&found))
        };
        fits && (0..).zip(found).all(|(at, &found)| byte(at, found))
    }
}

struct Host {
    files: CrashFiles,
    model: Model,
    rng: Rng,
    rules: FileSystemRules,
    open: BTreeMap<String, FileId>,
    stamp: u8,
    next: u64,
}

impl Host {
    fn step(&mut self) -> Result<(), CrashError> {
        let name = format!("d/{}", self.rng.below(5));
        let exists = self.model.names.contains_key(&name);
        if !exists {
            self.model.touch(&name);
            self.next += 1;
            self.model
                .loose
                .entry(name.clone())
                .or_default()
                .insert(self.next);
            self.model.contents.insert(self.next, vec![Vec::new()]);
            self.model.names.insert(name.clone(), self.next);
            let id = self.files.create(&name)?;
            self.open.insert(name, id);
            return Ok(());
        }
        let id = self.files.open(&name)?;
        let file = self.model.names[&name];
        match self.rng.below(11) {
            10 => self.shorten(id, file),
            0..5 => self.write(id, file),
            5 | 6 => {
                self.files.fsync(id)?;
                let versions = self.model.contents.get_mut(&file).expect("known");
                versions.drain(..versions.len() - 1);
                if self.rules.fsync_commits_names {
                    self.model.synced_names();
                }
                Ok(())
            }
            7 => {
                self.files.sync_dir("d")?;
                self.model.synced_names();
                Ok(())
            }
            8 => {
                self.model.touch(&name);
                self.model.names.remove(&name);
                self.files.unlink(&name)
            }
            _ => {
                let to = format!("d/{}", self.rng.below(5));
                self.model.touch(&name);
                self.model.touch(&to);
                if to != name {
                    self.model.names.remove(&name);
                    self.model.names.insert(to.clone(), file);
                    self.model.loose.entry(to.clone()).or_default().insert(file);
                }
                self.files.rename(&name, &to)
            }
        }
    }

    /// Another length, mostly shorter.
    fn shorten(&mut self, id: FileId, file: u64) -> Result<(), CrashError> {
        let versions = self.model.contents.get_mut(&file).expect("known");
        let mut content = versions.last().expect("one").clone();
        let bytes = self.rng.below(content.len() as u64 + 2000);
        content.resize(bytes as usize, 0);
        versions.push(content);
        self.files.set_len(id, bytes)
    }

    fn write(&mut self, id: FileId, file: u64) -> Result<(), CrashError> {
        self.stamp = self.stamp % 250 + 1;
        let versions = self.model.contents.get_mut(&file).expect("known");
        let mut content = versions.last().expect("one").clone();
        let at = self.rng.below(content.len() as u64 + 1) as usize;
        let bytes = vec![self.stamp; 1 + self.rng.below(9000) as usize];
        let end = (at + bytes.len()).min(20_000);
        let bytes = &bytes[..end.saturating_sub(at)];
        content.resize(content.len().max(at + bytes.len()), 0);
        content[at..at + bytes.len()].copy_from_slice(bytes);
        versions.push(content);
        self.files.write_at(id, at as u64, bytes)
    }

    /// Everything that is there may be there, and everything firm is.
    fn check(&mut self) -> Result<(), String> {
        let there = self.files.list("d");
        let mut contents = BTreeMap::new();
        let mut names = BTreeMap::new();
        for name in &there {
            let id = self.files.open(name)?;
            let size = self.files.size(id)? as usize;
            let found = self.files.read_at(id, 0, size)?;
            let may: BTreeSet<u64> = match self.model.firm.get(name) {
                Some(&file) => BTreeSet::from([file]),
                None => self.model.loose.get(name).cloned().unwrap_or_default(),
            };
            let fits = may.iter().find(|&&file| self.model.allows(file, &found));
            let Some(&file) = fits else {
                return Err(format!(
                    "{name}: {size} bytes that it may not have, of {may:?}"
                ));
            };
            self.next += 1;
            contents.insert(self.next, vec![found]);
            names.insert(name.clone(), self.next);
            let _ = file;
        }
        let missing = self.model.firm.keys().find(|name| !there.contains(name));
        if let Some(name) = missing {
            return Err(format!("{name} was durable and is gone"));
        }
        self.model = Model {
            firm: names.clone(),
            names,
            contents,
            loose: BTreeMap::new(),
        };
        Ok(())
    }
}

#[test]
fn what_is_there_after_a_cut_is_what_the_contract_allows() {
    for rules in [
        FileSystemRules::posix(),
        FileSystemRules::ext4(),
        FileSystemRules::ext4_dioread_lock(),
        FileSystemRules::xfs(),
        FileSystemRules::btrfs(),
    ] {
        for seed in 0..60 {
            let mut files = new(rules);
            files.mkdir("d").expect("made");
            files.sync_dir("").expect("synced");
            files.reseed(seed);
            let mut host = Host {
                files,
                model: Model::default(),
                rng: Rng::named(seed, "host"),
                rules,
                open: BTreeMap::new(),
                stamp: 0,
                next: 0,
            };
            for cut in 0..12 {
                let nth = host.rng.below(40);
                host.files.arm_call(nth);
                let lost = (0..100).find_map(|_| host.step().err()).expect("a cut");
                assert!(lost.is_power(), "seed {seed}, cut {cut}: {lost}");
                host.files.power_on().expect("mounted").assert_kept();
                if let Err(what) = host.check() {
                    panic!("{rules:?}, seed {seed}, cut {cut}: {what}");
                }
            }
        }
    }
}

/// Outcomes of a program over seeds, cut at its end.
fn outcomes(
    rules: FileSystemRules,
    program: fn(&mut CrashFiles) -> Result<String, CrashError>,
) -> BTreeSet<String> {
    let base = new(rules);
    let outcome = |seed| {
        let mut files = base.fork();
        files.reseed(seed);
        program(&mut files).expect("it runs")
    };
    (0..200).map(outcome).collect()
}

fn seen(files: &mut CrashFiles, name: &str) -> Result<String, CrashError> {
    if !files.exists(name) {
        return Ok("none".into());
    }
    let id = files.open(name)?;
    let size = files.size(id)? as usize;
    let bytes = files.read_at(id, 0, size)?;
    let zeroes = bytes.iter().filter(|&&b| b == 0).count();
    Ok(format!(
        "{size} bytes{}",
        if zeroes > 0 { ", some zero" } else { "" }
    ))
}

fn replaced(files: &mut CrashFiles) -> Result<String, CrashError> {
    let conf = files.create("conf")?;
    files.append(conf, &[1; 100])?;
    files.fsync(conf)?;
    files.sync_dir("")?;
    let new = files.create("conf.new")?;
    files.append(new, &[2; 6000])?;
    files.rename("conf.new", "conf")?;
    files.cut()?;
    files.power_on()?;
    seen(files, "conf")
}

/// The zero-length file of 2009: only without ext4's remedy.
#[test]
fn a_rename_over_a_file_may_leave_nothing_of_either() {
    let posix = outcomes(FileSystemRules::posix(), replaced);
    assert!(posix.contains("0 bytes"), "{posix:?}");
    assert!(
        posix.contains("100 bytes") && posix.contains("6000 bytes"),
        "{posix:?}"
    );
    assert!(
        posix.iter().any(|seen| seen.ends_with("some zero")),
        "{posix:?}"
    );
    // As Linux 6.18 does it by default: zeroes.
    let ext4 = outcomes(FileSystemRules::ext4(), replaced);
    assert!(ext4.contains("6000 bytes, some zero"), "{ext4:?}");
    for rules in [
        FileSystemRules::ext4_dioread_lock(),
        FileSystemRules::ext4_data_journal(),
    ] {
        let waits = outcomes(rules, replaced);
        let waits: Vec<_> = waits.into_iter().collect();
        assert_eq!(waits, ["100 bytes", "6000 bytes"]);
    }
    // XFS leaves an empty file, and no zeroes.
    let xfs = outcomes(FileSystemRules::xfs(), replaced);
    assert!(xfs.contains("0 bytes"), "{xfs:?}");
    assert!(
        xfs.iter().all(|seen| !seen.ends_with("some zero")),
        "{xfs:?}"
    );
}

fn created(files: &mut CrashFiles) -> Result<String, CrashError> {
    let log = files.create("log")?;
    files.append(log, &[1; 10])?;
    files.fsync(log)?;
    files.cut()?;
    files.power_on()?;
    seen(files, "log")
}

#[test]
fn the_name_of_a_new_file_needs_its_directory_unless_the_journal_takes_it() {
    let posix = outcomes(FileSystemRules::posix(), created);
    assert_eq!(posix.into_iter().collect::<Vec<_>>(), ["10 bytes", "none"]);
    let ext4 = outcomes(FileSystemRules::ext4(), created);
    assert_eq!(ext4.into_iter().collect::<Vec<_>>(), ["10 bytes"]);
}

fn two_names(files: &mut CrashFiles) -> Result<String, CrashError> {
    files.create("a")?;
    files.create("b")?;
    files.cut()?;
    files.power_on()?;
    Ok(files.list("").join(" "))
}

#[test]
fn names_overtake_each_other_where_there_is_no_order() {
    let posix = outcomes(FileSystemRules::posix(), two_names);
    assert_eq!(posix.into_iter().collect::<Vec<_>>(), ["", "a", "a b", "b"]);
    let ext4 = outcomes(FileSystemRules::ext4(), two_names);
    assert_eq!(ext4.into_iter().collect::<Vec<_>>(), ["", "a", "a b"]);
}

fn shortened(files: &mut CrashFiles) -> Result<String, CrashError> {
    let log = files.create("log")?;
    files.append(log, &[1; 9000])?;
    files.fsync(log)?;
    files.sync_dir("")?;
    files.set_len(log, 10)?;
    files.cut()?;
    files.power_on()?;
    seen(files, "log")
}

#[test]
fn a_file_is_shortened_by_a_cut_or_not() {
    for rules in [FileSystemRules::posix(), FileSystemRules::ext4()] {
        let found = outcomes(rules, shortened);
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            ["10 bytes", "9000 bytes"]
        );
    }
}

/// What a cut left behind the end of a file came into view when a later write left a hole there.
#[test]
fn what_lies_behind_the_end_never_counts() {
    let base = new(FileSystemRules::posix());
    let mut short = 0;
    for seed in 0..200 {
        let mut files = base.fork();
        files.reseed(seed);
        let log = files.create("log").expect("created");
        files.sync_dir("").expect("synced");
        files.append(log, &[1; 4000]).expect("written");
        files.cut().expect("on");
        files.power_on().expect("mounted");
        let log = files.open("log").expect("synced");
        let size = files.size(log).expect("there") as usize;
        short += usize::from(size > 0 && size < 4000);
        files.write_at(log, 5000, b"x").expect("written");
        let hole = files.read_at(log, size as u64, 5000 - size).expect("read");
        assert!(
            hole.iter().all(|&byte| byte == 0),
            "seed {seed}, {size} bytes"
        );
    }
    assert!(short > 5, "{short} cuts inside the page");
}

fn linked(files: &mut CrashFiles) -> Result<String, CrashError> {
    files.mkdir("a")?;
    files.mkdir("b")?;
    files.sync_dir("")?;
    let log = files.create("a/log")?;
    files.append(log, &[1; 10])?;
    files.fsync(log)?;
    files.sync_dir("a")?;
    files.hard_link("a/log", "b/log")?;
    files.unlink("a/log")?;
    files.cut()?;
    files.power_on()?;
    Ok(format!(
        "{} | {}",
        seen(files, "a/log")?,
        seen(files, "b/log")?
    ))
}

/// A file that moves by link and unlink can lose both names where directories have no order.
#[test]
fn a_link_and_an_unlink_overtake_each_other_where_there_is_no_order() {
    let posix = outcomes(FileSystemRules::posix(), linked);
    assert!(posix.contains("none | none"), "{posix:?}");
    assert!(posix.contains("10 bytes | 10 bytes"), "{posix:?}");
    let ext4 = outcomes(FileSystemRules::ext4(), linked);
    let ext4: Vec<_> = ext4.into_iter().collect();
    assert_eq!(
        ext4,
        ["10 bytes | 10 bytes", "10 bytes | none", "none | 10 bytes"]
    );
}

/// A canary: on a drive that ignores FLUSH, files break their contract too, and the drive is
/// blamed.
#[test]
fn a_lying_drive_is_blamed() {
    let disk = CrashDisk::with_faults(DriveConfig::tiny(), 1, &["ignores-flush"]).expect("named");
    let mut files = CrashFiles::format(disk, FileSystemRules::posix()).expect("formatted");
    let log = files.create("log").expect("created");
    files.append(log, &[1; 10]).expect("written");
    files.fsync(log).expect("synced");
    files.sync_dir("").expect("synced");
    files.cut().expect("on");
    match files.power_on() {
        Ok(report) => assert!(!report.is_kept()),
        Err(error) => assert!(error.hint().contains("broke its promises"), "{error}"),
    }
}

#[test]
fn what_files_refuse_comes_with_a_hint() {
    let mut files = new(FileSystemRules::posix());
    let log = files.create("log").expect("created");
    let full = (0..600).find_map(|_| {
        let grown = files.append(log, &[1; 4096]);
        grown.and_then(|_| files.fsync(log)).err()
    });
    let full = full.expect("the disk is full").to_string();
    assert!(
        full.contains("full") && full.contains("hint: unlink()"),
        "{full}"
    );
    files.unlink("log").expect("there");
    let gone = files.append(log, b"x").expect_err("gone").to_string();
    assert!(gone.contains("hint: open()"), "{gone}");
    files.cut().expect("on");
    let off = files.open("log").expect_err("off").to_string();
    assert!(off.contains("hint: power_on()"), "{off}");
}
