//! SQLite itself on files of a crash disk: a VFS over [`CrashFiles`], transactions cut at every
//! call, and what each setting keeps.
//!
//! `cargo run --release -p ssdlab-crash --example sqlite`
//!
//! The VFS does what SQLite's own for Unix does (`os_unix.c`): the first sync of a journal or log
//! that it has made is followed by one of the directory. Memory shared between processes is left
//! out, so that WAL needs `locking_mode=EXCLUSIVE`; locks are left out too, for one connection.

use rusqlite::{Connection, OpenFlags, ffi};
use ssdlab_crash::{
    Blame, CrashDisk, CrashError, CrashFiles, CutFailure, DriveConfig, FileId, FileSystemRules,
};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, Once};

/// Transactions of a run; every one is an insert and an update.
const TRANSACTIONS: u64 = 4;
const SEEDS: u64 = 8;

/// The files of the connection that is open.
static FILES: Mutex<Option<CrashFiles>> = Mutex::new(None);

fn slot() -> MutexGuard<'static, Option<CrashFiles>> {
    FILES.lock().unwrap_or_else(|error| error.into_inner())
}

/// Calls the files; `failed` is the code of SQLite for an error.
fn with<T>(
    failed: c_int,
    call: impl FnOnce(&mut CrashFiles) -> Result<T, CrashError>,
) -> Result<T, c_int> {
    match slot().as_mut() {
        Some(files) => call(files).map_err(|_| failed),
        None => Err(failed),
    }
}

fn code(result: Result<(), c_int>) -> c_int {
    result.err().unwrap_or(ffi::SQLITE_OK)
}

/// What SQLite allocates for a file: its own part comes first.
#[repr(C)]
struct Open {
    base: ffi::sqlite3_file,
    file: FileId,
    /// The name is new: the directory is synced with the first sync of the file.
    is_new: bool,
}

/// A path as the files know it.
///
/// # Safety
/// `name` is null or a string that ends with a zero byte, as SQLite hands names over.
unsafe fn path<'a>(name: *const c_char) -> Result<&'a str, c_int> {
    if name.is_null() {
        return Err(ffi::SQLITE_CANTOPEN); // a temporary file; temp_store=MEMORY makes none
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_str().map_err(|_| ffi::SQLITE_CANTOPEN)
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite gives `szOsFile` bytes, which are as many as an `Open` has.
    unsafe { (*file).pMethods = ptr::null() };
    // SAFETY: a name of SQLite.
    let opened = unsafe { path(name) }.and_then(|name| {
        with(ffi::SQLITE_CANTOPEN, |files| {
            let is_new = !files.exists(name);
            if is_new {
                files.create(name).map(|file| (file, true))
            } else {
                files.open(name).map(|file| (file, false))
            }
        })
    });
    let logs =
        ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_WAL | ffi::SQLITE_OPEN_SUPER_JOURNAL;
    match opened {
        Ok((id, is_new)) => {
            let open = Open {
                base: ffi::sqlite3_file { pMethods: &METHODS },
                file: id,
                is_new: is_new && flags & logs != 0,
            };
            // SAFETY: as above; `out_flags` is null or writable.
            unsafe {
                file.cast::<Open>().write(open);
                if !out_flags.is_null() {
                    *out_flags = flags;
                }
            }
            ffi::SQLITE_OK
        }
        Err(code) => code,
    }
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: a name of SQLite.
    code(unsafe { path(name) }.and_then(|name| {
        with(ffi::SQLITE_IOERR_DELETE, |files| {
            if files.exists(name) {
                files.unlink(name)?;
            }
            match sync {
                0 => Ok(()),
                _ => files.sync_dir(""),
            }
        })
    }))
}

unsafe extern "C" fn access(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    _: c_int,
    found: *mut c_int,
) -> c_int {
    // SAFETY: a name of SQLite; `found` is writable.
    unsafe {
        let exists = path(name).and_then(|name| {
            with(ffi::SQLITE_IOERR_ACCESS, |files| {
                // An empty file counts as none, as in os_unix.c.
                let id = if files.exists(name) {
                    files.open(name)?
                } else {
                    return Ok(false);
                };
                Ok(files.size(id)? > 0)
            })
        });
        *found = c_int::from(exists == Ok(true));
        code(exists.map(drop))
    }
}

unsafe extern "C" fn full_path(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: a name of SQLite; `out` has `room` bytes.
    unsafe {
        let bytes = CStr::from_ptr(name).to_bytes_with_nul();
        if bytes.len() > room as usize {
            return ffi::SQLITE_CANTOPEN;
        }
        ptr::copy_nonoverlapping(bytes.as_ptr().cast(), out, bytes.len());
    }
    ffi::SQLITE_OK
}

/// The same bytes at every call: a run depends on nothing outside it.
unsafe extern "C" fn randomness(_: *mut ffi::sqlite3_vfs, count: c_int, out: *mut c_char) -> c_int {
    // SAFETY: `out` has `count` bytes.
    unsafe { ptr::write_bytes(out, 7, count as usize) };
    count
}

unsafe extern "C" fn sleep(_: *mut ffi::sqlite3_vfs, microseconds: c_int) -> c_int {
    microseconds
}

unsafe extern "C" fn now(_: *mut ffi::sqlite3_vfs, julian_day: *mut f64) -> c_int {
    // SAFETY: writable.
    unsafe { *julian_day = 2_460_000.5 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn last_error(_: *mut ffi::sqlite3_vfs, _: c_int, _: *mut c_char) -> c_int {
    0
}

/// The file behind a handle.
///
/// # Safety
/// `open` has opened it, and it is not closed.
unsafe fn open_file<'a>(file: *mut ffi::sqlite3_file) -> &'a mut Open {
    // SAFETY: the caller's promise.
    unsafe { &mut *file.cast::<Open>() }
}

unsafe extern "C" fn close(_: *mut ffi::sqlite3_file) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    out: *mut c_void,
    count: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: an open file; `out` has `count` bytes.
    let (id, out) = unsafe {
        let out = std::slice::from_raw_parts_mut(out.cast::<u8>(), count as usize);
        (open_file(file).file, out)
    };
    let found = with(ffi::SQLITE_IOERR_READ, |files| {
        files.read_at(id, offset as u64, out.len())
    });
    code(found.and_then(|bytes| {
        out.fill(0);
        out[..bytes.len()].copy_from_slice(&bytes);
        if bytes.len() == out.len() {
            Ok(())
        } else {
            Err(ffi::SQLITE_IOERR_SHORT_READ)
        }
    }))
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    from: *const c_void,
    count: c_int,
    offset: i64,
) -> c_int {
    // SAFETY: an open file; `from` has `count` bytes.
    let (id, bytes) = unsafe {
        let bytes = std::slice::from_raw_parts(from.cast::<u8>(), count as usize);
        (open_file(file).file, bytes)
    };
    code(with(ffi::SQLITE_IOERR_WRITE, |files| {
        files.write_at(id, offset as u64, bytes)
    }))
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: an open file.
    let id = unsafe { open_file(file) }.file;
    code(with(ffi::SQLITE_IOERR_TRUNCATE, |files| {
        files.set_len(id, size as u64)
    }))
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: an open file.
    let open = unsafe { open_file(file) };
    let synced = with(ffi::SQLITE_IOERR_FSYNC, |files| {
        files.fsync(open.file)?;
        if open.is_new {
            files.sync_dir("")
        } else {
            Ok(())
        }
    });
    open.is_new &= synced.is_err();
    code(synced)
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: an open file; `size` is writable.
    unsafe {
        let id = open_file(file).file;
        let found = with(ffi::SQLITE_IOERR_FSTAT, |files| files.size(id));
        code(found.map(|bytes| *size = bytes as i64))
    }
}

unsafe extern "C" fn lock(_: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn is_reserved(_: *mut ffi::sqlite3_file, found: *mut c_int) -> c_int {
    // SAFETY: writable.
    unsafe { *found = 0 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn control(_: *mut ffi::sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_: *mut ffi::sqlite3_file) -> c_int {
    512
}

/// No promise: not even that a write leaves its neighbours alone (`SQLITE_IOCAP_*`).
unsafe extern "C" fn characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    0
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(lock),
    xCheckReservedLock: Some(is_reserved),
    xFileControl: Some(control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

/// Makes the VFS known to SQLite, under the name `crash`.
fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let vfs = ffi::sqlite3_vfs {
            iVersion: 1,
            szOsFile: size_of::<Open>() as c_int,
            mxPathname: 100,
            pNext: ptr::null_mut(),
            zName: c"crash".as_ptr(),
            pAppData: ptr::null_mut(),
            xOpen: Some(open),
            xDelete: Some(delete),
            xAccess: Some(access),
            xFullPathname: Some(full_path),
            xDlOpen: None,
            xDlError: None,
            xDlSym: None,
            xDlClose: None,
            xRandomness: Some(randomness),
            xSleep: Some(sleep),
            xCurrentTime: Some(now),
            xGetLastError: Some(last_error),
            xCurrentTimeInt64: None,
            xSetSystemCall: None,
            xGetSystemCall: None,
            xNextSystemCall: None,
        };
        // SAFETY: the structure is never freed, and all that it points to is static.
        let registered = unsafe { ffi::sqlite3_vfs_register(Box::leak(Box::new(vfs)), 0) };
        assert_eq!(registered, ffi::SQLITE_OK, "sqlite3_vfs_register");
    });
}

/// Runs `work` on a connection to the database on these files.
fn with_database<T>(
    files: &mut CrashFiles,
    settings: &str,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    register();
    *slot() = Some(files.clone());
    let opened = Connection::open_with_flags_and_vfs("db", OpenFlags::default(), "crash");
    let result = opened.and_then(|database| {
        database.execute_batch("PRAGMA temp_store=MEMORY;")?;
        database.execute_batch(settings)?;
        let done = work(&database)?;
        // Closing would put the log into the database, and so hide what is missing.
        if let Some(open) = slot().as_ref() {
            *files = open.clone();
        }
        Ok(done)
    });
    if let Some(open) = slot().take()
        && result.is_err()
    {
        *files = open;
    }
    result
}

fn transactions(
    files: &mut CrashFiles,
    settings: &str,
    acknowledged: &mut u64,
) -> Result<(), CrashError> {
    let result = with_database(files, settings, |database| {
        for number in 1..=TRANSACTIONS {
            database.execute_batch(&format!(
                "BEGIN; INSERT INTO rows VALUES ({number}, {number} * 7);
                 UPDATE total SET sum = sum + {number}; COMMIT;"
            ))?;
            *acknowledged = number;
        }
        Ok(())
    });
    match (result, files.disk().is_on()) {
        (_, false) => Err(CrashError::Off),
        (Ok(()), true) => Ok(()),
        (Err(error), true) => Err(CrashError::File {
            what: error.to_string(),
            hint: "SQLite failed without a cut".into(),
        }),
    }
}

fn check(files: &mut CrashFiles, settings: &str, acknowledged: u64) -> Result<(), String> {
    let found = with_database(files, settings, |database| {
        let number = |query: &str| database.query_row(query, [], |row| row.get::<_, u64>(0));
        let whole = database.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
        let rows = number("SELECT count(*) FROM rows WHERE value = id * 7")?;
        Ok((whole?, rows, number("SELECT sum FROM total")?))
    });
    let (whole, rows, sum) = found.map_err(|error| format!("the database is damaged: {error}"))?;
    if whole != "ok" {
        return Err(format!("the database is damaged: {whole}"));
    }
    if sum != rows * (rows + 1) / 2 {
        return Err(format!("half a transaction: {rows} rows, a sum of {sum}"));
    }
    if rows < acknowledged {
        Err(format!(
            "transaction {acknowledged} was acknowledged, {rows} are there"
        ))
    } else {
        Ok(())
    }
}

/// Cuts transactions under a setting at every call; the cuts that passed, or the first failure.
pub fn campaign(settings: &str) -> Result<u64, Box<CutFailure<CrashFiles>>> {
    let mut disk = CrashDisk::new(DriveConfig::tiny(), 1).expect("possible");
    disk.stop_history();
    let mut new = CrashFiles::format(disk, FileSystemRules::posix()).expect("formatted");
    let made = "CREATE TABLE rows (id INTEGER PRIMARY KEY, value INTEGER);
        CREATE TABLE total (sum INTEGER); INSERT INTO total VALUES (0);";
    // The name of a new database is synced by nobody: that is its user's part.
    with_database(&mut new, settings, |database| database.execute_batch(made)).expect("made");
    for name in new.list("") {
        let file = new.open(&name).expect("listed");
        new.fsync(file).expect("on");
    }
    new.sync_dir("").expect("on");
    ssdlab_crash::crash_test(
        &new,
        SEEDS,
        |files: &mut CrashFiles, acknowledged: &mut u64| {
            transactions(files, settings, acknowledged)
        },
        |files, &acknowledged| check(files, settings, acknowledged),
    )
}

/// Settings, and what must be seen: nothing, or what the failure says.
pub const SETTINGS: [(&str, Option<&str>); 6] = [
    (
        "PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA;",
        None,
    ),
    // https://www.sqlite.org/pragma.html#pragma_synchronous says so
    (
        "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL;",
        Some("was acknowledged"),
    ),
    (
        "PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=FULL;",
        None,
    ),
    (
        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        None,
    ),
    (
        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        Some("was acknowledged"),
    ),
    (
        "PRAGMA journal_mode=DELETE; PRAGMA synchronous=OFF;",
        Some("the program fails"),
    ),
];

fn main() -> Result<(), String> {
    for (settings, expected) in SETTINGS {
        let seen = campaign(settings);
        match (&seen, expected) {
            (Ok(cuts), None) => println!("{settings} clean in {cuts} cuts"),
            (Err(failure), Some(said)) if failure.to_string().contains(said) => {
                assert_eq!(failure.blame, Blame::Program);
                println!("{settings} {failure}");
            }
            (Ok(cuts), _) => return Err(format!("{settings} nothing found in {cuts} cuts")),
            (Err(failure), _) => return Err(format!("{settings} {failure}")),
        }
    }
    Ok(())
}
