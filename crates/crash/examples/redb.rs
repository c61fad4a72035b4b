//! redb on a crash disk: its `StorageBackend` in some sixty lines, and commits cut at every event
//! of the drive. With a backend that forgets to sync, the lost commit is found.
//!
//! `cargo run --release -p ssdlab-crash --example redb`

use redb::{Database, StorageBackend, TableDefinition};
use ssdlab_crash::{CrashDisk, CrashError, DriveConfig, crash_test};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

const TABLE: TableDefinition<u64, u64> = TableDefinition::new("numbers");
/// Commits of a run.
const COMMITS: u64 = 5;
/// The file's length is in the first block, its bytes follow.
const FIRST: u64 = 4096;

/// redb's file: a length, and bytes that are read and written in whole sectors.
#[derive(Clone, Debug)]
struct Backend {
    disk: Arc<Mutex<CrashDisk>>,
    syncs: bool,
}

impl Backend {
    fn disk(&self) -> MutexGuard<'_, CrashDisk> {
        self.disk.lock().unwrap_or_else(|error| error.into_inner())
    }

    /// The sectors around a range: where they begin, their bytes, and the range in them.
    fn around(
        &self,
        offset: u64,
        len: usize,
    ) -> Result<(u64, Vec<u8>, std::ops::Range<usize>), CrashError> {
        let begin = (FIRST + offset) / 512 * 512;
        let end = (FIRST + offset + len as u64).next_multiple_of(512);
        let bytes = self.disk().read(begin, (end - begin) as usize)?;
        let within = (FIRST + offset - begin) as usize;
        Ok((begin, bytes, within..within + len))
    }
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        let head = self.disk().read(0, 512).map_err(io::Error::other)?;
        let mut length = [0; 8];
        length.copy_from_slice(&head[..8]);
        Ok(u64::from_le_bytes(length))
    }

    fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let (_, bytes, range) = self.around(offset, len).map_err(io::Error::other)?;
        Ok(bytes[range].to_vec())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut head = vec![0; 512];
        head[..8].copy_from_slice(&len.to_le_bytes());
        self.disk().fua(0, &head).map_err(io::Error::other)
    }

    fn sync_data(&self, _eventual: bool) -> io::Result<()> {
        if self.syncs {
            self.disk().flush().map_err(io::Error::other)
        } else {
            Ok(())
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let around = self.around(offset, data.len());
        let (begin, mut bytes, range) = around.map_err(io::Error::other)?;
        bytes[range].copy_from_slice(data);
        self.disk().write(begin, &bytes).map_err(io::Error::other)
    }
}

/// Runs `work` on the database of a disk, which is given back as it is then.
fn with_database<T>(
    disk: &mut CrashDisk,
    syncs: bool,
    work: impl FnOnce(&Database) -> Result<T, redb::Error>,
) -> Result<T, redb::Error> {
    let shared = Arc::new(Mutex::new(disk.clone()));
    let backend = Backend {
        disk: Arc::clone(&shared),
        syncs,
    };
    let opened = Database::builder()
        .set_cache_size(1 << 20)
        .create_with_backend(backend);
    let result = opened
        .map_err(redb::Error::from)
        .and_then(|database| work(&database));
    let shared = shared.lock().unwrap_or_else(|error| error.into_inner());
    *disk = shared.clone();
    result
}

fn commits(disk: &mut CrashDisk, syncs: bool, acknowledged: &mut u64) -> Result<(), CrashError> {
    let result = with_database(disk, syncs, |database| {
        for number in 1..=COMMITS {
            let transaction = database.begin_write()?;
            transaction.open_table(TABLE)?.insert(number, number * 7)?;
            transaction.commit()?;
            *acknowledged = number;
        }
        Ok(())
    });
    match (result, disk.is_on()) {
        (_, false) => Err(CrashError::Off),
        (Ok(()), true) => Ok(()),
        (Err(error), true) => Err(CrashError::File {
            what: error.to_string(),
            hint: "redb failed without a cut".into(),
        }),
    }
}

fn check(disk: &mut CrashDisk, acknowledged: u64) -> Result<(), String> {
    let found = with_database(disk, true, |database| {
        let transaction = database.begin_read()?;
        let table = match transaction.open_table(TABLE) {
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(0),
            table => table?,
        };
        let mut found = 0;
        while table
            .get(found + 1)?
            .is_some_and(|value| value.value() == (found + 1) * 7)
        {
            found += 1;
        }
        Ok(found)
    });
    let found = found.map_err(|error| error.to_string())?;
    if found < acknowledged {
        return Err(format!(
            "commit {acknowledged} was acknowledged, {found} are there"
        ));
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut config = DriveConfig::tiny();
    config.shape.blocks_per_plane = 96;
    config.user_bytes = 8 << 20;
    let mut new = CrashDisk::new(config, 1)?;
    new.stop_history();
    // redb does not promise that a cut while a database is made leaves one.
    with_database(&mut new, true, |_| Ok(()))?;
    new.flush()?;
    let run = |syncs: bool| {
        crash_test(
            &new,
            2,
            move |disk, acknowledged| commits(disk, syncs, acknowledged),
            |disk, &acknowledged| check(disk, acknowledged),
        )
    };
    match run(true) {
        Ok(cuts) => println!("redb: clean in {cuts} cuts"),
        Err(failure) => return Err(failure.to_string().into()),
    }
    match run(false) {
        Ok(cuts) => Err(format!("without a sync: not found in {cuts} cuts").into()),
        Err(failure) => {
            println!("redb on a backend that does not sync: {failure}");
            Ok(())
        }
    }
}
