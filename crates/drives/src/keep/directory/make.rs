//! Directories made: with a new drive, with what was recovered of another, from an older format.

use super::about;
use super::end::{self, LogEnd, LogEndFile};
use super::file::{FrameFileId, FrameFileKind, sync_folder};
use super::places::DataPlaces;
use super::stored::{DirectoryState, Snapshot, write_checkpoint};
use super::survey::RecoveryBase;
use ssdlab_base::LabError;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::PowerDrive;
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How often the lock is asked for, every 10 ms.
const LOCK_TRIES: u32 = 20;

/// Memory of a program that serves a drive, beside the drive: its own, and threads.
const PROGRAM_BYTES: u64 = 64 << 20;
/// Bytes of a drive for one byte that says which of its sectors are in the buffer only.
const BYTES_PER_MARK: u64 = 4096;

/// Refuses a drive that holds data and whose tables do not fit into memory. The data comes on top
/// as it is written.
///
/// # Errors
/// With what it needs and what there is.
pub fn refuse_if_too_big(config: &DriveConfig) -> Result<(), LabError> {
    let needed = config.memory_bytes() + config.user_bytes / BYTES_PER_MARK + PROGRAM_BYTES;
    ssdlab_base::memory::refuse_if_too_big(&config.name, needed, 1)
}

/// Puts a drive that is on, and does nothing, into a new directory.
pub(super) fn create_with(path: &Path, mut drive: PowerDrive, title: &str) -> Result<(), LabError> {
    make_folder(path)?;
    let _lock = lock(path)?;
    drive.shut_down();
    let snapshot = Snapshot::of(&mut drive, title, &BTreeMap::new(), true);
    put(path, 1, snapshot, title)
}

/// Puts what was recovered of a drive into a new directory.
pub(super) fn create_again(
    path: &Path,
    stored: DirectoryState,
    title: &str,
) -> Result<(), LabError> {
    make_folder(path)?;
    let _lock = lock(path)?;
    put(
        path,
        1,
        Snapshot::of_stored(stored, title.to_owned()),
        title,
    )
}

/// Writes what a directory of an older format holds in the present one, beside the old files:
/// these are removed when it is opened.
pub(super) fn upgrade(path: &Path, base: RecoveryBase) -> Result<(), LabError> {
    let snapshot = Snapshot::of_stored(base.stored, base.title.clone());
    put(path, base.last + 1, snapshot, &base.title)
}

fn make_folder(path: &Path) -> Result<(), LabError> {
    let busy = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    if busy || path.is_file() {
        return Err(LabError::refused(
            format!("{} exists", path.display()),
            "choose a new or empty directory",
        ));
    }
    std::fs::create_dir_all(path).map_err(|e| LabError::file("creating", path, e))
}

/// Writes all files of a directory, the checkpoint last: only that makes it a directory.
fn put(path: &Path, number: u64, snapshot: Snapshot, title: &str) -> Result<(), LabError> {
    about::write(path, snapshot.config(), title)?;
    // Of no other directory: keys that the system draws for hash tables.
    let draw = || RandomState::new().hash_one(number);
    let (directory, chain) = (draw(), draw());
    let end = LogEnd {
        directory,
        boot: end::boot(),
        log: number,
        chain,
        ..LogEnd::default()
    };
    LogEndFile::create(path, end)?;
    let log = FrameFileId {
        directory,
        kind: FrameFileKind::Log,
        number,
    };
    let go_on = AtomicBool::new(false);
    // Of no places yet: all bytes are in it.
    let places = Arc::new(DataPlaces::of(path, false));
    write_checkpoint(path, log, chain, &places, snapshot, true, &go_on)?;
    sync_folder(path)
}

/// Takes the directory for this process, until the file is closed.
pub(super) fn lock(path: &Path) -> Result<File, LabError> {
    let file = path.join("lock");
    let opened = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&file);
    take(
        path,
        opened.map_err(|e| LabError::file("opening", &file, e))?,
    )
}

/// The same for somebody who only reads, and makes no file.
pub(super) fn lock_to_read(path: &Path) -> Result<Option<File>, LabError> {
    match File::open(path.join("lock")) {
        Ok(file) => take(path, file).map(Some),
        // Nobody has it open: that would have made one.
        Err(_) => Ok(None),
    }
}

/// Locks a file unless another process has it.
#[cfg(unix)]
fn locks(file: &File) -> bool {
    rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Without a lock, two processes could write to a directory: nothing is opened.
#[cfg(not(unix))]
fn locks(_: &File) -> bool {
    false
}

fn take(path: &Path, lock: File) -> Result<File, LabError> {
    if cfg!(not(unix)) {
        return Err(LabError::refused(
            format!(
                "{} cannot be opened: drive directories need Linux",
                path.display()
            ),
            "drive:NAME is a drive in memory, on every system",
        ));
    }
    // A child that another thread of ours starts has it for a moment, until its program begins.
    for _ in 0..LOCK_TRIES {
        if locks(&lock) {
            return Ok(lock);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(LabError::refused(
        format!("{} is open elsewhere", path.display()),
        "one process at a time has a drive directory open",
    ))
}
