//! Bugs that others have published, rebuilt from their reports as small engines on the files of a
//! crash disk: each is found, and its remedy is clean under every cut.
//!
//! `cargo test -p ssdlab-crash --test published -- --nocapture` prints the table of
//! `docs/power-cuts.md`.

use ssdlab_crash::{
    Blame, CrashDisk, CrashError, CrashFiles, DriveConfig, FileId, FileSystemRules, crash_test,
};

/// Seeds of each campaign; odd ones also cut the check.
const SEEDS: u64 = 40;
/// Transactions of a run.
const RUNS: u64 = 6;

/// A small engine: with its bug, or mended.
trait Engine {
    /// Runs transactions 1 to [`RUNS`], and notes in `acknowledged` the last that was reported as
    /// committed.
    fn run(&self, files: &mut CrashFiles, acknowledged: &mut u64) -> Result<(), CrashError>;
    /// Recovers, and returns the last transaction that is there, in full.
    fn recover(&self, files: &mut CrashFiles) -> Result<u64, String>;
}

fn new(rules: FileSystemRules) -> CrashFiles {
    let mut disk = CrashDisk::new(DriveConfig::tiny(), 1).expect("possible");
    disk.stop_history();
    let mut files = CrashFiles::format(disk, rules).expect("formatted");
    for directory in ["logs", "wal"] {
        files.mkdir(directory).expect("made");
    }
    files.sync_dir("").expect("synced");
    files
}

/// The first failure of a campaign in words, or its cuts.
fn campaign(engine: &impl Engine, rules: FileSystemRules) -> Result<u64, String> {
    let found = crash_test(
        &new(rules),
        SEEDS,
        |files, acknowledged| engine.run(files, acknowledged),
        |files, acknowledged| {
            let there = engine.recover(files)?;
            let is_there = (*acknowledged..=*acknowledged + 1).contains(&there);
            if is_there {
                return Ok(());
            }
            Err(format!(
                "transaction {acknowledged} was acknowledged, {there} is there"
            ))
        },
    );
    found.map_err(|failure| {
        assert_eq!(failure.blame, Blame::Program, "{failure}");
        failure.to_string()
    })
}

/// Shows that the bug is found and the remedy clean; returns whether ext4 hides the bug.
fn show(name: &str, buggy: &impl Engine, mended: &impl Engine) -> bool {
    let found = campaign(buggy, FileSystemRules::posix()).expect_err("the bug is found");
    let clean = campaign(mended, FileSystemRules::posix()).expect("the remedy holds");
    let ext4 = campaign(buggy, FileSystemRules::ext4());
    campaign(mended, FileSystemRules::ext4()).expect("the remedy holds on ext4");
    println!("{name}\n  bug: {found}\n  mended: clean in {clean} cuts");
    match &ext4 {
        Ok(cuts) => println!("  bug on ext4: hidden in {cuts} cuts"),
        Err(found) => println!("  bug on ext4: {found}"),
    }
    ext4.is_ok()
}

fn open_or_create(files: &mut CrashFiles, name: &str) -> Result<FileId, CrashError> {
    if files.exists(name) {
        files.open(name)
    } else {
        files.create(name)
    }
}

fn all_of(files: &mut CrashFiles, file: FileId) -> Result<Vec<u8>, CrashError> {
    let size = files.size(file)? as usize;
    files.read_at(file, 0, size)
}

fn number(bytes: &[u8], at: usize) -> u64 {
    let mut le = [0; 8];
    le.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(le)
}

/// A record that says of itself whether it is whole.
fn record(fields: &[u64]) -> Vec<u8> {
    let sum = fields
        .iter()
        .fold(77, |sum: u64, n| sum.rotate_left(9) ^ n.wrapping_mul(31));
    let all = fields.iter().chain([&sum]);
    all.flat_map(|n| n.to_le_bytes()).collect()
}

fn is_whole(bytes: &[u8]) -> bool {
    let count = bytes.len() / 8 - 1;
    let fields: Vec<u64> = (0..count).map(|n| number(bytes, 8 * n)).collect();
    record(&fields) == bytes
}

/// SQLite, journal_mode=DELETE: the old pages go to a rollback journal, the new ones to the
/// database, and the commit is the unlink of the journal.
struct Sqlite {
    /// The directory is synced once the journal is there, before the database changes. SQLite
    /// does this unless it is built with SQLITE_DISABLE_DIRSYNC.
    syncs_after_create: bool,
    /// And after the unlink: `PRAGMA synchronous=EXTRA`. Its documentation says of it: "EXTRA
    /// provides additional durability if the commit is followed closely by a power loss."
    syncs_after_unlink: bool,
}

/// Two pages that every transaction changes.
const PAGES: [u64; 2] = [0, 2 * 4096];

impl Engine for Sqlite {
    fn run(&self, files: &mut CrashFiles, acknowledged: &mut u64) -> Result<(), CrashError> {
        let db = files.create("db")?;
        files.append(db, &[0; 3 * 4096])?;
        files.fsync(db)?;
        files.sync_dir("")?;
        for transaction in 1..=RUNS {
            let journal = files.create("db-journal")?;
            let old: Vec<u64> = PAGES
                .iter()
                .map(|&at| Ok(number(&files.read_at(db, at, 8)?, 0)))
                .collect::<Result<_, CrashError>>()?;
            files.append(journal, &record(&old))?;
            files.fsync(journal)?;
            if self.syncs_after_create {
                files.sync_dir("")?;
            }
            for at in PAGES {
                files.write_at(db, at, &transaction.to_le_bytes())?;
            }
            files.fsync(db)?;
            files.unlink("db-journal")?;
            if self.syncs_after_unlink {
                files.sync_dir("")?;
            }
            *acknowledged = transaction;
        }
        Ok(())
    }

    fn recover(&self, files: &mut CrashFiles) -> Result<u64, String> {
        if !files.exists("db") {
            return Ok(0);
        }
        let db = files.open("db")?;
        if files.exists("db-journal") {
            let journal = files.open("db-journal")?;
            let old = all_of(files, journal)?;
            if old.len() == 24 && is_whole(&old) {
                for (n, at) in PAGES.into_iter().enumerate() {
                    files.write_at(db, at, &old[8 * n..8 * n + 8])?;
                }
                files.fsync(db)?;
            }
            files.unlink("db-journal")?;
            files.sync_dir("")?;
        }
        if files.size(db)? < 3 * 4096 {
            return Ok(0);
        }
        let mut pages = [0; 2];
        for (page, at) in pages.iter_mut().zip(PAGES) {
            *page = number(&files.read_at(db, at, 8)?, 0);
        }
        match pages {
            [one, other] if one == other => Ok(one),
            [one, other] => Err(format!("half a transaction: pages {one} and {other}")),
        }
    }
}

const SQLITE: Sqlite = Sqlite {
    syncs_after_create: true,
    syncs_after_unlink: true,
};

/// <https://www.sqlite.org/pragma.html#pragma_synchronous>
#[test]
fn sqlite_delete_full_loses_a_commit_without_directory_sync() {
    let buggy = Sqlite {
        syncs_after_unlink: false,
        ..SQLITE
    };
    let hidden = show(
        "SQLite DELETE, FULL: no directory sync after unlink",
        &buggy,
        &SQLITE,
    );
    assert!(
        !hidden,
        "ext4 does not commit an unlink that nobody asked for"
    );
}

/// <https://www.sqlite.org/compile.html#disable_dirsync>
#[test]
fn sqlite_without_dirsync_loses_the_journal_and_leaves_half_a_transaction() {
    let buggy = Sqlite {
        syncs_after_create: false,
        ..SQLITE
    };
    let hidden = show("SQLite built with SQLITE_DISABLE_DIRSYNC", &buggy, &SQLITE);
    assert!(hidden, "the fsync of the journal commits its name on ext4");
}

/// A page cache that writes pages of 8 KiB in place, over a log of changes. A page's number of its
/// last change says which changes of the log it lacks.
struct PageCache {
    /// PostgreSQL's full_page_writes: the whole page goes to the log before it is written.
    full_page_writes: bool,
}

const PAGE: usize = 8192;
/// Places in the page: one in each of its two blocks.
const PLACES: [usize; 2] = [16, 4096 + 16];

impl Engine for PageCache {
    fn run(&self, files: &mut CrashFiles, acknowledged: &mut u64) -> Result<(), CrashError> {
        let (db, log) = (files.create("db")?, files.create("log")?);
        let mut page = vec![0; PAGE];
        files.append(db, &page)?;
        files.fsync(db)?;
        files.fsync(log)?;
        files.sync_dir("")?;
        for transaction in 1..=RUNS {
            files.append(log, &record(&[1, transaction]))?;
            files.fsync(log)?;
            page[..8].copy_from_slice(&transaction.to_le_bytes());
            for place in PLACES {
                page[place..place + 8].copy_from_slice(&transaction.to_le_bytes());
            }
            *acknowledged = transaction;
            if transaction % 2 == 0 {
                if self.full_page_writes {
                    files.append(log, &record(&[2, transaction]))?;
                    files.append(log, &page)?;
                    files.fsync(log)?;
                }
                files.write_at(db, 0, &page)?;
            }
        }
        Ok(())
    }

    fn recover(&self, files: &mut CrashFiles) -> Result<u64, String> {
        if !files.exists("log") || !files.exists("db") {
            return Ok(0);
        }
        let (db, log) = (files.open("db")?, files.open("log")?);
        let mut page = files.read_at(db, 0, PAGE)?;
        page.resize(PAGE, 0);
        let log = all_of(files, log)?;
        let mut at = 0;
        while let Some(head) = log.get(at..at + 24).filter(|head| is_whole(head)) {
            at += 24;
            let (kind, change) = (number(head, 0), number(head, 8));
            if kind == 2 {
                // It was synced before the page was written: if it is not whole, the page is.
                if let Some(image) = log.get(at..at + PAGE) {
                    let whole = PLACES.iter().all(|&place| number(image, place) == change);
                    if whole && number(image, 0) == change {
                        page.copy_from_slice(image);
                    }
                }
                at += PAGE;
            } else if change > number(&page, 0) {
                page[..8].copy_from_slice(&change.to_le_bytes());
                for place in PLACES {
                    page[place..place + 8].copy_from_slice(&change.to_le_bytes());
                }
            }
        }
        match PLACES.map(|place| number(&page, place)) {
            [one, other] if one == other => Ok(one),
            halves => Err(format!("a torn page: halves {halves:?}")),
        }
    }
}

/// <https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-FULL-PAGE-WRITES>: "a page
/// write that is in process during an operating system crash might be only partially completed".
#[test]
fn a_page_cache_without_full_page_writes_leaves_a_torn_page() {
    let engine = |full_page_writes| PageCache { full_page_writes };
    let hidden = show(
        "PostgreSQL, full_page_writes=off",
        &engine(false),
        &engine(true),
    );
    assert!(!hidden, "ext4 writes a page of 8 KiB as two blocks");
}

/// Logs, a new one every two records, as LevelDB rotates them.
struct Logs {
    syncs_directory: bool,
}

fn log_name(number: u64) -> String {
    format!("logs/{number:06}.log")
}

impl Engine for Logs {
    fn run(&self, files: &mut CrashFiles, acknowledged: &mut u64) -> Result<(), CrashError> {
        let mut log = None;
        for transaction in 1..=RUNS {
            let current = match log {
                Some(log) if transaction % 2 == 0 => log,
                _ => {
                    let created = files.create(&log_name(transaction))?;
                    if self.syncs_directory {
                        files.sync_dir("logs")?;
                    }
                    *log.insert(created)
                }
            };
            files.append(current, &record(&[transaction]))?;
            files.fsync(current)?;
            *acknowledged = transaction;
        }
        Ok(())
    }

    fn recover(&self, files: &mut CrashFiles) -> Result<u64, String> {
        let mut last = 0;
        for name in files.list("logs") {
            let log = files.open(&name)?;
            for record in all_of(files, log)?.chunks_exact(16) {
                if is_whole(record) && number(record, 0) == last + 1 {
                    last += 1;
                }
            }
        }
        Ok(last)
    }
}

/// <https://github.com/google/leveldb/issues/196>
#[test]
fn leveldb_relied_on_a_file_whose_directory_was_not_synced() {
    let engine = |syncs_directory| Logs { syncs_directory };
    let hidden = show(
        "LevelDB #196: no directory sync after create",
        &engine(false),
        &engine(true),
    );
    assert!(
        hidden,
        "as the report says, no file system known to it does this"
    );
}

/// A log that is prepared under another name, as etcd prepares its.
struct Prepared {
    syncs_directory: bool,
}

impl Engine for Prepared {
    fn run(&self, files: &mut CrashFiles, acknowledged: &mut u64) -> Result<(), CrashError> {
        let log = files.create("wal/0.tmp")?;
        files.append(log, &record(&[0]))?;
        files.fsync(log)?;
        files.rename("wal/0.tmp", "wal/0.wal")?;
        if self.syncs_directory {
            files.sync_dir("wal")?;
        }
        for transaction in 1..=RUNS {
            files.append(log, &record(&[transaction]))?;
            files.fsync(log)?;
            *acknowledged = transaction;
        }
        Ok(())
    }

    fn recover(&self, files: &mut CrashFiles) -> Result<u64, String> {
        if files.exists("wal/0.tmp") {
            // What was being prepared has no records.
            files.unlink("wal/0.tmp")?;
        }
        if !files.exists("wal/0.wal") {
            return Ok(0);
        }
        let log = open_or_create(files, "wal/0.wal")?;
        let bytes = all_of(files, log)?;
        let whole = bytes.chunks_exact(16).take_while(|record| is_whole(record));
        Ok((whole.count() as u64).saturating_sub(1))
    }
}

/// <https://github.com/etcd-io/etcd/issues/6368>
#[test]
fn etcd_lost_the_rename_of_its_log() {
    let engine = |syncs_directory| Prepared { syncs_directory };
    let hidden = show(
        "etcd #6368: no directory sync after rename",
        &engine(false),
        &engine(true),
    );
    assert!(hidden, "the fsync of the log commits its name on ext4");
}

/// A file that is replaced by renaming a new one over it.
struct Replaced {
    syncs_file: bool,
}

impl Engine for Replaced {
    fn run(&self, files: &mut CrashFiles, acknowledged: &mut u64) -> Result<(), CrashError> {
        for transaction in 1..=RUNS {
            let new = files.create("conf.new")?;
            files.append(new, &record(&[transaction; 40]))?;
            if self.syncs_file {
                files.fsync(new)?;
            }
            files.rename("conf.new", "conf")?;
            files.sync_dir("")?;
            *acknowledged = transaction;
        }
        Ok(())
    }

    fn recover(&self, files: &mut CrashFiles) -> Result<u64, String> {
        if !files.exists("conf") {
            return Ok(0);
        }
        let conf = files.open("conf")?;
        let bytes = all_of(files, conf)?;
        if bytes.len() == 328 && is_whole(&bytes) {
            Ok(number(&bytes, 0))
        } else {
            Err(format!("conf is damaged: {} bytes", bytes.len()))
        }
    }
}

/// <https://bugs.launchpad.net/ubuntu/+source/linux/+bug/317781>: files of no length after a crash,
/// 2009. ext4 then learned `auto_da_alloc`, for renames over an existing file.
#[test]
fn a_file_replaced_by_rename_without_fsync_is_empty() {
    let engine = |syncs_file| Replaced { syncs_file };
    let hidden = show(
        "replace via rename, no fsync",
        &engine(false),
        &engine(true),
    );
    assert!(
        !hidden,
        "the first rename replaces nothing, so ext4 does not wait for its data"
    );
}
