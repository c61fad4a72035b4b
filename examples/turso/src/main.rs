//! Turso, the rewrite of SQLite in Rust, on files of a crash disk: its `IO` and `File` traits over
//! [`Files`], transactions cut at every call, and what each setting keeps.
//!
//! `cargo run` in this directory; it is in no test of ssdlab.
//!
//! Calls complete at once, and numbers that Turso draws come from a counter, so that every run is
//! the same. Reads past the end of a file are short, as the traits ask for.

use ssdlab_crash::{Blame, CrashDisk, CrashError, DriveConfig, Failure, FileId, Files, Rules};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use turso_core::io::clock::{DefaultClock, MonotonicInstant, WallClockInstant};
use turso_core::io::{FileId as Identity, FileSyncType};
use turso_core::{Buffer, Clock, Completion, CompletionError, Connection, Database, File};
use turso_core::{IO, LimboError, OpenFlags, SqliteDialect, StepResult, Value};

/// Transactions of a run; every one is an insert and an update.
const TRANSACTIONS: u64 = 4;
const SEEDS: u64 = 8;

type Shared = Arc<Mutex<Files>>;

fn open(files: &Shared) -> MutexGuard<'_, Files> {
    files.lock().unwrap_or_else(|error| error.into_inner())
}

fn failed(what: &'static str) -> CompletionError {
    CompletionError::IOError(ErrorKind::Other, what)
}

/// Turso's idea of an operating system.
struct Disk {
    files: Shared,
    /// Turso keeps a list of open databases by this; two runs must not meet in it.
    run: u64,
    drawn: AtomicI64,
    syncs: bool,
}

static RUNS: AtomicU64 = AtomicU64::new(0);

impl Clock for Disk {
    fn current_time_monotonic(&self) -> MonotonicInstant {
        DefaultClock.current_time_monotonic()
    }

    fn current_time_wall_clock(&self) -> WallClockInstant {
        DefaultClock.current_time_wall_clock()
    }
}

impl IO for Disk {
    fn open_file(
        &self,
        path: &str,
        flags: OpenFlags,
        _direct: bool,
    ) -> turso_core::Result<Arc<dyn File>> {
        let mut files = open(&self.files);
        let file = match files.exists(path) {
            true => files.open(path),
            false if flags.contains(OpenFlags::Create) => files.create(path),
            false => return Err(CompletionError::IOError(ErrorKind::NotFound, "open").into()),
        };
        Ok(Arc::new(Opened {
            files: self.files.clone(),
            file: file.map_err(|_| failed("open"))?,
            syncs: self.syncs,
        }))
    }

    fn remove_file(&self, path: &str) -> turso_core::Result<()> {
        let removed = open(&self.files).unlink(path);
        removed.map_err(|_| failed("unlink").into())
    }

    /// Turso calls this while it waits, and would wait for ever for what a cut has stopped.
    fn step(&self) -> turso_core::Result<()> {
        match open(&self.files).disk().is_on() {
            true => Ok(()),
            false => Err(failed("no power").into()),
        }
    }

    fn generate_random_number(&self) -> i64 {
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        drawn.wrapping_mul(0x5851_F42D_4C95_7F2D)
    }

    fn fill_bytes(&self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = (self.generate_random_number() >> 32) as u8;
        }
    }

    fn file_id(&self, path: &str) -> turso_core::Result<Identity> {
        let dev = self.run;
        Ok(Identity {
            dev,
            ..Identity::from_path_hash(path)
        })
    }
}

struct Opened {
    files: Shared,
    file: FileId,
    syncs: bool,
}

/// Tells Turso how a call ended.
fn ended(
    completion: Completion,
    result: Result<usize, CrashError>,
    what: &'static str,
) -> turso_core::Result<Completion> {
    match result {
        Ok(bytes) => completion.complete(bytes as i32),
        Err(_) => completion.error(failed(what)),
    }
    Ok(completion)
}

impl File for Opened {
    fn lock_file(&self, _exclusive: bool) -> turso_core::Result<()> {
        Ok(())
    }

    fn unlock_file(&self) -> turso_core::Result<()> {
        Ok(())
    }

    fn pread(&self, at: u64, completion: Completion) -> turso_core::Result<Completion> {
        let read = {
            let into = completion.as_read().buf().as_mut_slice();
            let mut files = open(&self.files);
            let size = files.size(self.file);
            let bytes = size.map(|size| (into.len() as u64).min(size.saturating_sub(at)));
            bytes.and_then(|bytes| {
                let bytes = bytes as usize;
                into[..bytes].copy_from_slice(&files.read_at(self.file, at, bytes)?);
                Ok(bytes)
            })
        };
        ended(completion, read, "read")
    }

    fn pwrite(
        &self,
        at: u64,
        buffer: Arc<Buffer>,
        completion: Completion,
    ) -> turso_core::Result<Completion> {
        let bytes = buffer.as_slice();
        let written = open(&self.files).write_at(self.file, at, bytes);
        ended(completion, written.map(|()| bytes.len()), "write")
    }

    fn sync(&self, completion: Completion, _: FileSyncType) -> turso_core::Result<Completion> {
        let synced = match self.syncs {
            true => open(&self.files).fsync(self.file),
            false => Ok(()),
        };
        ended(completion, synced.map(|()| 0), "sync")
    }

    fn truncate(&self, bytes: u64, completion: Completion) -> turso_core::Result<Completion> {
        let shortened = open(&self.files).set_len(self.file, bytes);
        ended(completion, shortened.map(|()| 0), "truncate")
    }

    fn size(&self) -> turso_core::Result<u64> {
        let size = open(&self.files).size(self.file);
        size.map_err(|_| failed("size").into())
    }
}

/// A connection and what it runs on.
struct Session {
    disk: Arc<Disk>,
    connection: Arc<Connection>,
}

impl Session {
    /// Runs a statement; the first column of its last row.
    fn run(&self, sql: &str) -> Result<Option<Value>, LimboError> {
        let mut statement = self.connection.prepare(sql)?;
        let mut last = None;
        loop {
            match statement.step()? {
                StepResult::Done => return Ok(last),
                StepResult::Row => last = statement.row().map(|row| row.get_value(0).clone()),
                StepResult::Interrupt | StepResult::Busy => return Err(LimboError::Busy),
                _ => {}
            }
            self.disk.step()?;
        }
    }

    fn number(&self, sql: &str) -> Result<u64, LimboError> {
        match self.run(sql)? {
            Some(value) => Ok(value.to_string().parse().unwrap_or(u64::MAX)),
            None => Ok(u64::MAX),
        }
    }
}

/// Runs `work` on a connection to the database on these files.
fn with_database<T>(
    files: &mut Files,
    setting: Setting,
    work: impl FnOnce(&Session) -> Result<T, LimboError>,
) -> Result<T, LimboError> {
    let shared = Arc::new(Mutex::new(files.clone()));
    let disk = Arc::new(Disk {
        files: shared.clone(),
        run: RUNS.fetch_add(1, Ordering::Relaxed),
        drawn: AtomicI64::new(1),
        syncs: setting.syncs,
    });
    // Turso panics on purpose when a sync fails: its process is then dead, as with the cut.
    let done = catch_unwind(AssertUnwindSafe(|| {
        let database = Database::open_file(disk.clone(), "db", Arc::new(SqliteDialect))?;
        let connection = database.connect()?;
        let session = Session { disk, connection };
        session.run(setting.pragma)?;
        let done = work(&session)?;
        // Closing may put the log into the database, and so hide what is missing.
        *files = open(&shared).clone();
        Ok(done)
    }))
    .unwrap_or_else(|_| Err(LimboError::InternalError("Turso panicked".into())));
    if done.is_err() {
        *files = open(&shared).clone();
    }
    done
}

/// How a campaign runs, and what must be seen: nothing, or what the failure says.
#[derive(Clone, Copy)]
struct Setting {
    name: &'static str,
    pragma: &'static str,
    /// The adapter passes syncs on.
    syncs: bool,
    expected: Option<&'static str>,
}

const SETTINGS: [Setting; 3] = [
    Setting {
        name: "synchronous=FULL",
        pragma: "PRAGMA synchronous=FULL",
        syncs: true,
        expected: None,
    },
    Setting {
        name: "synchronous=OFF",
        pragma: "PRAGMA synchronous=OFF",
        syncs: true,
        expected: Some("was acknowledged"),
    },
    Setting {
        name: "an adapter that forgets to sync",
        pragma: "PRAGMA synchronous=FULL",
        syncs: false,
        expected: Some("was acknowledged"),
    },
];

fn transactions(
    files: &mut Files,
    setting: Setting,
    acknowledged: &mut u64,
) -> Result<(), CrashError> {
    let result = with_database(files, setting, |database| {
        for number in 1..=TRANSACTIONS {
            database.run("BEGIN")?;
            database.run(&format!("INSERT INTO rows VALUES ({number}, {number} * 7)"))?;
            database.run(&format!("UPDATE total SET sum = sum + {number}"))?;
            database.run("COMMIT")?;
            *acknowledged = number;
        }
        Ok(())
    });
    match (result, files.disk().is_on()) {
        (_, false) => Err(CrashError::Off),
        (Ok(()), true) => Ok(()),
        (Err(error), true) => Err(CrashError::File {
            what: error.to_string(),
            hint: "Turso failed without a cut".into(),
        }),
    }
}

fn check(files: &mut Files, setting: Setting, acknowledged: u64) -> Result<(), String> {
    let found = with_database(files, setting, |database| {
        let whole = database.run("PRAGMA integrity_check")?;
        let rows = database.number("SELECT count(*) FROM rows WHERE value = id * 7")?;
        let whole = whole.map(|value| value.to_string()).unwrap_or_default();
        Ok((whole, rows, database.number("SELECT sum FROM total")?))
    });
    let (whole, rows, sum) = found.map_err(|error| format!("the database is damaged: {error}"))?;
    if whole != "ok" {
        return Err(format!("the database is damaged: {whole}"));
    }
    if sum != rows * (rows + 1) / 2 {
        return Err(format!("half a transaction: {rows} rows, a sum of {sum}"));
    }
    match rows < acknowledged {
        true => Err(format!(
            "transaction {acknowledged} was acknowledged, {rows} are there"
        )),
        false => Ok(()),
    }
}

/// Cuts transactions at every call; the cuts that passed, or the first failure.
fn campaign(setting: Setting) -> Result<u64, Box<Failure<Files>>> {
    let mut disk = CrashDisk::new(DriveConfig::tiny(), 1).expect("possible");
    disk.stop_history();
    let mut new = Files::format(disk, Rules::posix()).expect("formatted");
    with_database(&mut new, setting, |database| {
        database.run("CREATE TABLE rows (id INTEGER PRIMARY KEY, value INTEGER)")?;
        database.run("CREATE TABLE total (sum INTEGER)")?;
        database.run("INSERT INTO total VALUES (0)")
    })
    .expect("made");
    // The names of a new database are synced by nobody: that is its user's part.
    for name in new.list("") {
        let file = new.open(&name).expect("listed");
        new.fsync(file).expect("on");
    }
    new.sync_dir("").expect("on");
    ssdlab_crash::crash_test(
        &new,
        SEEDS,
        |files: &mut Files, acknowledged: &mut u64| transactions(files, setting, acknowledged),
        |files, &acknowledged| check(files, setting, acknowledged),
    )
}

fn main() -> Result<(), String> {
    std::panic::set_hook(Box::new(|_| ()));
    for setting in SETTINGS {
        let seen = campaign(setting);
        let name = setting.name;
        match (&seen, setting.expected) {
            (Ok(cuts), None) => println!("{name}: clean in {cuts} cuts"),
            (Err(failure), Some(said)) if failure.to_string().contains(said) => {
                assert_eq!(failure.blame, Blame::Program);
                println!("{name}: {failure}");
            }
            (Ok(cuts), _) => return Err(format!("{name}: nothing found in {cuts} cuts")),
            (Err(failure), _) => return Err(format!("{name}: {failure}")),
        }
    }
    Ok(())
}
