//! sled: as on Linux, where flush() is sync_file_range, and as elsewhere, where it is fsync. No
//! version of it is clean: `conf` and the files of `blobs` are not synced, and a cut inside its own
//! recovery leaves a database that does not open.

use engines::{Engine, cut, expect, value};
use ssdlab_crash_fs::std::fs::File;
use ssdlab_crash_fs::{FileSystemRules, TestResult};
use std::error::Error;
use std::path::Path;

macro_rules! engine {
    ($name:ident, $sled:ident, $syncs_config:literal, $checks_are_cut:literal) => {
        struct $name($sled::Db);

        impl Engine for $name {
            const CHECKS_ARE_CUT: bool = $checks_are_cut;

            fn open(root: &Path) -> Result<$name, Box<dyn Error>> {
                // The flusher of the background would make the result depend on the clock.
                let config = $sled::Config::new().path(root.join("db")).segment_size(4096);
                let database = config.cache_capacity(1 << 20).flush_every_ms(None).open()?;
                database.flush()?;
                // sled syncs neither the directories nor its file `conf`.
                File::open(root)?.sync_all()?;
                File::open(root.join("db"))?.sync_all()?;
                if $syncs_config {
                    File::open(root.join("db/conf"))?.sync_all()?;
                }
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

engine!(Linux, sled, true, false);
engine!(Elsewhere, sled_fsync, true, false);
engine!(AsItIs, sled_fsync, false, false);
engine!(CutTwice, sled_fsync, true, true);

fn main() {
    let rules = FileSystemRules::ext4();
    let blobs = "sled 0.34.7 with fsync and a synced conf, ext4, its recovery not cut";
    let twice = "sled 0.34.7 with fsync and a synced conf, ext4, its recovery cut too";
    let all = [
        expect(blobs, false, cut::<Elsewhere>(rules, 12, 200)),
        expect("sled 0.34.7 with sync_file_range, ext4", false, cut::<Linux>(rules, 12, 200)),
        expect("sled 0.34.7 whose conf is not synced, ext4", false, cut::<AsItIs>(rules, 12, 200)),
        expect(twice, false, cut::<CutTwice>(rules, 12, 200)),
    ];
    std::process::exit(i32::from(all.contains(&false)));
}
