//! sled: as on Linux, where flush() is sync_file_range, and as elsewhere, where it is fsync.

use engines::{Engine, cut, expect, value};
use ssdlab_crash_fs::{FileSystemRules, TestResult};
use std::error::Error;
use std::path::Path;

macro_rules! engine {
    ($name:ident, $sled:ident) => {
        struct $name($sled::Db);

        impl Engine for $name {
            fn open(root: &Path) -> Result<$name, Box<dyn Error>> {
                // The flusher of the background would make the result depend on the clock.
                let config = $sled::Config::new().path(root.join("db")).segment_size(4096);
                let database = config.cache_capacity(1 << 20).flush_every_ms(None).open()?;
                database.flush()?;
                ssdlab_crash_fs::std::fs::File::open(root)?.sync_all()?;
                ssdlab_crash_fs::std::fs::File::open(root.join("db"))?.sync_all()?;
                Ok($name(database))
            }

            fn commit(&mut self, number: u64) -> TestResult {
                self.0.insert(number.to_be_bytes(), value(number))?;
                self.0.flush()?;
                Ok(())
            }

            fn has(&self, number: u64) -> Result<bool, Box<dyn Error>> {
                let stored = self.0.get(number.to_be_bytes())?;
                Ok(stored.is_some_and(|stored| *stored == *value(number)))
            }
        }
    };
}

engine!(Linux, sled);
engine!(Elsewhere, sled_fsync);

fn main() {
    let rules = FileSystemRules::ext4();
    expect("sled 0.34.7 with fsync, ext4", true, cut::<Elsewhere>(rules, 12, 100));
    expect("sled 0.34.7 with sync_file_range, ext4", false, cut::<Linux>(rules, 12, 100));
}
