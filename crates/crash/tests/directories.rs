//! Do directories keep their contract? Under the rules of ext4, what is there after a cut is one
//! of the trees that programs have seen since the last sync. Under those of POSIX, what was durable
//! and nobody has removed is somewhere.

use ssdlab_crash::{CrashDisk, CrashError, CrashFiles, DriveConfig, FileSystemRules};
use ssdlab_ssd::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};

/// Every path, with the stamp of its file, 0 for an empty file; directories have none.
type Tree = BTreeMap<String, Option<u8>>;

fn new(rules: FileSystemRules) -> CrashFiles {
    let mut disk = CrashDisk::new(DriveConfig::tiny(), 1).expect("possible");
    disk.stop_history();
    CrashFiles::format(disk, rules).expect("formatted")
}

/// The tree as it can be reached from the root.
fn walk(files: &mut CrashFiles, directory: &str, tree: &mut Tree) -> Result<(), CrashError> {
    for path in files.list(directory) {
        if files.is_dir(&path) {
            tree.insert(path.clone(), None);
            walk(files, &path, tree)?;
        } else {
            let id = files.open(&path)?;
            let first = files.read_at(id, 0, 1)?.first().copied();
            tree.insert(path, Some(first.unwrap_or(0)));
        }
    }
    Ok(())
}

fn tree_of(files: &mut CrashFiles) -> Tree {
    let mut tree = Tree::new();
    walk(files, "", &mut tree).expect("power is on");
    tree
}

/// A program that knows nothing but paths, and every tree that it has seen since all was durable.
struct Host {
    files: CrashFiles,
    tree: Tree,
    seen: Vec<Tree>,
    rng: Rng,
    stamp: u8,
    removed: BTreeSet<u8>,
    durable: BTreeSet<u8>,
}

impl Host {
    fn new(rules: FileSystemRules, seed: u64) -> Host {
        let mut files = new(rules);
        files.reseed(seed);
        Host {
            files,
            tree: Tree::new(),
            seen: vec![Tree::new()],
            rng: Rng::named(seed, "host"),
            stamp: 0,
            removed: BTreeSet::new(),
            durable: BTreeSet::new(),
        }
    }

    fn any(&mut self, wants_directory: bool) -> Option<String> {
        let of = |(path, stamp): (&String, &Option<u8>)| {
            (stamp.is_none() == wants_directory).then(|| path.clone())
        };
        let all: Vec<String> = self.tree.iter().filter_map(of).collect();
        let nth = self.rng.below(all.len().max(1) as u64) as usize;
        all.get(nth).cloned()
    }

    fn fresh(&mut self) -> String {
        let directory = self.any(true).filter(|_| self.rng.percent(70));
        let name = self.rng.below(4);
        match directory.filter(|path| path.len() < 8) {
            Some(directory) => format!("{directory}/{name}"),
            None => name.to_string(),
        }
    }

    fn is_inside(path: &str, directory: &str) -> bool {
        let rest = path.strip_prefix(directory);
        rest.is_some_and(|rest| rest.starts_with('/'))
    }

    fn is_empty(&self, directory: &str) -> bool {
        !self
            .tree
            .keys()
            .any(|path| Host::is_inside(path, directory))
    }

    /// The tree as it is if the next change reaches the disk.
    fn expects(&mut self, tree: Tree) {
        self.seen.push(tree.clone());
        self.tree = tree;
    }

    fn make(&mut self) -> Result<(), CrashError> {
        let path = self.fresh();
        if self.tree.contains_key(&path) {
            return Ok(());
        }
        let mut tree = self.tree.clone();
        if self.rng.percent(50) {
            tree.insert(path.clone(), None);
            self.expects(tree);
            return self.files.mkdir(&path);
        }
        if self.stamp == 250 {
            return Ok(());
        }
        self.stamp += 1;
        tree.insert(path.clone(), Some(0));
        let stamp = self.stamp;
        self.expects(tree.clone());
        let id = self.files.create(&path)?;
        tree.insert(path, Some(stamp));
        self.expects(tree);
        self.files.write_at(id, 0, &[stamp])?;
        self.files.fsync(id)
    }

    fn remove(&mut self) -> Result<(), CrashError> {
        let wants_directory = self.rng.percent(50);
        let Some(path) = self.any(wants_directory) else {
            return Ok(());
        };
        let mut tree = self.tree.clone();
        let stamp = tree.remove(&path).flatten();
        match stamp {
            Some(stamp) => {
                self.removed.insert(stamp);
                self.expects(tree);
                self.files.unlink(&path)
            }
            None if self.is_empty(&path) => {
                self.expects(tree);
                self.files.rmdir(&path)
            }
            None => {
                let refused = self.files.rmdir(&path).expect_err("not empty");
                if refused.is_power() {
                    Err(refused)
                } else {
                    Ok(())
                }
            }
        }
    }

    fn rename(&mut self) -> Result<(), CrashError> {
        let wants_directory = self.rng.percent(60);
        let (from, to) = (self.any(wants_directory), self.fresh());
        let Some(from) = from.filter(|from| *from != to && !Host::is_inside(&to, from)) else {
            return Ok(());
        };
        match (self.tree[&from], self.tree.get(&to)) {
            (_, None) => {}
            (None, Some(None)) if self.is_empty(&to) => {}
            (Some(_), Some(Some(replaced))) => {
                self.removed.insert(*replaced);
            }
            _ => return Ok(()),
        }
        let moved = |(path, stamp): (&String, &Option<u8>)| {
            let path = match path.strip_prefix(&from) {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{to}{rest}"),
                _ => path.clone(),
            };
            (path, *stamp)
        };
        let rest = self.tree.iter().filter(|(path, _)| **path != to);
        let tree = rest.map(moved).collect();
        self.expects(tree);
        self.files.rename(&from, &to)
    }

    /// Every directory, from the top.
    fn sync(&mut self) -> Result<(), CrashError> {
        self.files.sync_dir("")?;
        let directories = self.tree.iter().filter(|(_, stamp)| stamp.is_none());
        let directories: Vec<String> = directories.map(|(path, _)| path.clone()).collect();
        for directory in directories {
            self.files.sync_dir(&directory)?;
        }
        self.all_is_durable();
        Ok(())
    }

    fn all_is_durable(&mut self) {
        self.seen = vec![self.tree.clone()];
        let stamps = self.tree.values().copied().flatten();
        self.durable = stamps.filter(|&stamp| stamp > 0).collect();
        self.removed.clear();
    }

    fn step(&mut self) -> Result<(), CrashError> {
        match self.rng.below(10) {
            0..4 => self.make(),
            4 | 5 => self.remove(),
            6..9 => self.rename(),
            _ => self.sync(),
        }
    }

    /// Some steps, a cut in one of them, and the tree after it.
    fn cut(&mut self) -> Tree {
        let nth = self.rng.below(40);
        self.files.arm_call(nth);
        let lost = (0..200).find_map(|_| self.step().err()).expect("a cut");
        assert!(lost.is_power(), "{lost}");
        self.files.power_on().expect("mounted").assert_kept();
        tree_of(&mut self.files)
    }

    fn go_on(&mut self, found: Tree) {
        self.tree = found;
        self.all_is_durable();
    }
}

#[test]
fn on_ext4_the_tree_after_a_cut_is_one_that_was_there() {
    let mut between = 0;
    for seed in 0..60 {
        let mut host = Host::new(FileSystemRules::ext4(), seed);
        for cut in 0..8 {
            let found = host.cut();
            let fits = host.seen.iter().position(|tree| *tree == found);
            let Some(fits) = fits else {
                panic!("seed {seed}, cut {cut}: {found:?} of {:?}", host.seen);
            };
            between += u64::from(fits > 0 && fits + 1 < host.seen.len());
            host.go_on(found);
        }
    }
    assert!(between > 50, "{between} cuts between two trees");
}

#[test]
fn without_order_what_was_durable_and_not_removed_is_somewhere_and_once() {
    let mut moved = 0;
    for seed in 0..120 {
        let mut host = Host::new(FileSystemRules::posix(), seed);
        for cut in 0..8 {
            let found = host.cut();
            let mut stamps: BTreeMap<u8, u64> = BTreeMap::new();
            for stamp in found.values().flatten() {
                *stamps.entry(*stamp).or_default() += 1;
            }
            for stamp in host.durable.difference(&host.removed) {
                let count = stamps.get(stamp).copied().unwrap_or(0);
                assert_eq!(
                    count, 1,
                    "seed {seed}, cut {cut}: file {stamp} in {found:?}"
                );
                moved += 1;
            }
            host.go_on(found);
        }
    }
    assert!(moved > 200, "{moved} files were at stake");
}

/// What a program leaves at a cut at its end, over seeds.
fn outcomes(
    rules: FileSystemRules,
    program: fn(&mut CrashFiles) -> Result<(), CrashError>,
) -> BTreeSet<String> {
    let base = new(rules);
    let outcome = |seed| {
        let mut files = base.fork();
        files.reseed(seed);
        program(&mut files).expect("it runs");
        files.cut().expect("on");
        files.power_on().expect("mounted");
        let paths: Vec<String> = tree_of(&mut files).into_keys().collect();
        paths.join(" ")
    };
    (0..200).map(outcome).collect()
}

fn inner_synced(files: &mut CrashFiles) -> Result<(), CrashError> {
    files.mkdir("db")?;
    let log = files.create("db/log")?;
    files.fsync(log)?;
    files.sync_dir("db")
}

/// A program syncs the directory that it made, but not the one above: its file has a name in a
/// directory that has none.
#[test]
fn a_new_directory_needs_the_one_above_to_be_synced() {
    let posix = outcomes(FileSystemRules::posix(), inner_synced);
    assert_eq!(posix.into_iter().collect::<Vec<_>>(), ["", "db db/log"]);
    let ext4 = outcomes(FileSystemRules::ext4(), inner_synced);
    assert_eq!(ext4.into_iter().collect::<Vec<_>>(), ["db db/log"]);
}

fn swapped(files: &mut CrashFiles) -> Result<(), CrashError> {
    files.mkdir("new")?;
    let log = files.create("new/log")?;
    files.fsync(log)?;
    files.sync_dir("new")?;
    files.sync_dir("")?;
    files.mkdir("old")?;
    files.rename("new", "old/new")
}

#[test]
fn a_directory_is_moved_with_all_that_is_in_it_or_not() {
    for rules in [FileSystemRules::posix(), FileSystemRules::ext4()] {
        let found = outcomes(rules, swapped);
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            ["new new/log", "new new/log old", "old old/new old/new/log"]
        );
    }
}

fn moved_out_and_removed(files: &mut CrashFiles) -> Result<(), CrashError> {
    files.mkdir("a")?;
    files.mkdir("a/b")?;
    let log = files.create("a/b/log")?;
    files.fsync(log)?;
    for directory in ["a/b", "a", ""] {
        files.sync_dir(directory)?;
    }
    files.rename("a/b/log", "log")?;
    files.rmdir("a/b")?;
    files.sync_dir("a")
}

/// A directory can only go once what was in it has gone: its removal, synced, takes the rename of
/// its file along, although that is in another directory.
#[test]
fn a_removal_never_overtakes_what_empties_the_directory() {
    for rules in [FileSystemRules::posix(), FileSystemRules::ext4()] {
        let found = outcomes(rules, moved_out_and_removed);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a log"]);
    }
}

#[test]
fn what_directories_refuse_comes_with_a_hint() {
    let mut files = new(FileSystemRules::posix());
    files.mkdir("a").expect("made");
    files.mkdir("a/b").expect("made");
    files.create("log").expect("made");
    let cases: [(Result<(), CrashError>, &str); 8] = [
        (files.create("no/log").map(drop), "hint: mkdir()"),
        (files.create("log/x").map(drop), "`log` is a file"),
        (files.mkdir("a"), "`a` exists"),
        (files.unlink("a"), "rmdir()"),
        (files.rmdir("a"), "`b` is in it"),
        (files.rename("a", "a/b/c"), "into itself"),
        (files.rename("log", "a"), "`a` is a directory"),
        (files.rename("a/b", "log"), "`log` is a file"),
    ];
    for (result, said) in cases {
        let error = result.expect_err(said).to_string();
        assert!(error.contains(said), "{error}");
    }
    files.rename("a/b", "c").expect("moved");
    files.rename("a", "c").expect("replaces an empty directory");
    assert_eq!(files.list(""), ["c", "log"]);
    files.rmdir("c").expect("empty");
    assert!(files.sync_dir("c").is_err());
}
