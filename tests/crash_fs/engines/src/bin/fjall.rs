//! fjall: as it is, and without the sync of its journal. Under the rules of POSIX it loses commits:
//! the directory `keyspaces` is synced before `keyspaces/0` is made in it (3.1.13, `create_new`).

use engines::{Engine, cut, expect, value};
use ssdlab_crash_fs::{FileSystemRules, TestResult};
use std::error::Error;
use std::path::Path;

macro_rules! engine {
    ($name:ident, $fjall:ident) => {
        struct $name {
            database: $fjall::Database,
            items: $fjall::Keyspace,
        }

        impl Engine for $name {
            fn open(root: &Path) -> Result<$name, Box<dyn Error>> {
                let database = $fjall::Database::builder(root).worker_threads(1).open()?;
                let items = database.keyspace("items", $fjall::KeyspaceCreateOptions::default)?;
                database.persist($fjall::PersistMode::SyncAll)?;
                Ok($name { database, items })
            }

            fn commit(&mut self, number: u64) -> TestResult {
                self.items.insert(number.to_be_bytes(), value(number))?;
                self.database.persist($fjall::PersistMode::SyncAll)?;
                if number % 5 == 0 {
                    self.items.rotate_memtable_and_wait()?;
                }
                Ok(())
            }

            fn has(&self, number: u64) -> Result<bool, Box<dyn Error>> {
                let stored = self.items.get(number.to_be_bytes())?;
                Ok(stored.is_some_and(|stored| *stored == *value(number)))
            }
        }
    };
}

engine!(Fjall, fjall);
engine!(Planted, fjall_planted);

fn main() {
    let (posix, ext4) = (FileSystemRules::posix(), FileSystemRules::ext4());
    let planted = "fjall 3.1.13 whose persist() does not sync, ext4";
    let all = [
        expect("fjall 3.1.13, POSIX", false, cut::<Fjall>(posix, 20, 100)),
        expect("fjall 3.1.13, ext4", true, cut::<Fjall>(ext4, 20, 100)),
        expect(planted, false, cut::<Planted>(ext4, 20, 100)),
    ];
    std::process::exit(i32::from(all.contains(&false)));
}
