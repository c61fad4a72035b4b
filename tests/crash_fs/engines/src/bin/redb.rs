//! redb by its own trait: as it is, without a sync, and an older version whose changelog names a
//! loss at crashes.

use engines::{Engine, cut, expect, value};
use ssdlab_crash_fs::std::fs::File;
use ssdlab_crash_fs::std::os::unix::fs::FileExt;
use ssdlab_crash_fs::{FileSystemRules, TestResult};
use std::error::Error;
use std::io::Result as IoResult;
use std::path::Path;

/// The adapter, which has the calls of redb's trait.
#[derive(Debug)]
struct Backend<const SYNCS: bool>(File);

macro_rules! backend {
    ($redb:ident) => {
        impl<const SYNCS: bool> $redb::StorageBackend for Backend<SYNCS> {
            fn len(&self) -> IoResult<u64> {
                self.0.metadata().map(|metadata| metadata.len())
            }
            fn read(&self, offset: u64, out: &mut [u8]) -> IoResult<()> {
                self.0.read_exact_at(out, offset)
            }
            fn set_len(&self, len: u64) -> IoResult<()> {
                self.0.set_len(len)
            }
            fn sync_data(&self) -> IoResult<()> {
                if SYNCS { self.0.sync_data() } else { Ok(()) }
            }
            fn write(&self, offset: u64, data: &[u8]) -> IoResult<()> {
                self.0.write_all_at(data, offset)
            }
        }
    };
}
// The end of the adapter.

backend!(redb);
backend!(redb3);

macro_rules! engine {
    ($name:ident, $redb:ident, $syncs:literal) => {
        struct $name($redb::Database);

        impl Engine for $name {
            fn open(root: &Path) -> Result<$name, Box<dyn Error>> {
                let mut options = File::options();
                options.read(true).write(true).create(true);
                let file = options.open(root.join("db"))?;
                File::open(root)?.sync_all()?;
                let mut builder = $redb::Builder::new();
                builder.set_cache_size(1 << 20);
                Ok($name(builder.create_with_backend(Backend::<$syncs>(file))?))
            }

            fn commit(&mut self, number: u64) -> TestResult {
                let table: $redb::TableDefinition<u64, &[u8]> = $redb::TableDefinition::new("t");
                let transaction = self.0.begin_write()?;
                // Large values: the file grows.
                let large = value(number).repeat(100);
                transaction.open_table(table)?.insert(number, large.as_slice())?;
                transaction.commit()?;
                Ok(())
            }

            fn has(&self, number: u64) -> Result<bool, Box<dyn Error>> {
                use $redb::ReadableDatabase;
                let table: $redb::TableDefinition<u64, &[u8]> = $redb::TableDefinition::new("t");
                let transaction = self.0.begin_read()?;
                let stored = match transaction.open_table(table) {
                    Ok(table) => table.get(number)?,
                    Err($redb::TableError::TableDoesNotExist(_)) => None,
                    Err(error) => return Err(error.into()),
                };
                Ok(stored.is_some_and(|stored| stored.value() == value(number).repeat(100)))
            }
        }
    };
}

engine!(Redb, redb, true);
engine!(Planted, redb, false);
engine!(Older, redb3, true);

fn main() {
    let (posix, ext4) = (FileSystemRules::posix(), FileSystemRules::ext4());
    let planted = "redb 4.6.0 on a backend that does not sync, POSIX";
    let older = "redb 3.1.3, ext4";
    let all = [
        expect("redb 4.6.0, POSIX", true, cut::<Redb>(posix, 12, 200)),
        expect("redb 4.6.0, ext4", true, cut::<Redb>(ext4, 12, 200)),
        expect(planted, false, cut::<Planted>(posix, 12, 200)),
        expect(older, false, cut::<Older>(ext4, 12, 200)),
    ];
    std::process::exit(i32::from(all.contains(&false)));
}
