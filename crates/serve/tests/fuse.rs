//! The FUSE file as programs use it. Needs the right to mount; says so and passes where it is
//! missing.
#![cfg(feature = "fuse")]

use ssdlab_serve::fuse::FuseFile;
use ssdlab_serve::{Lint, MemoryStore, SharedDrive, Store, StoreError, StoreExtent, ZeroFlags};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

const SECTOR: u64 = 4096;

/// Each write is answered when two are under way.
struct InPairs {
    memory: MemoryStore,
    under_way: Mutex<u32>,
    came: Condvar,
}

impl Store for InPairs {
    fn size(&self) -> u64 {
        self.memory.size()
    }

    fn sector_size(&self) -> u32 {
        self.memory.sector_size()
    }

    fn is_powered(&self) -> bool {
        true
    }

    fn takes_time(&self) -> bool {
        true
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), StoreError> {
        self.memory.read(offset, into)
    }

    fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<(), StoreError> {
        let mut under_way = self.under_way.lock().unwrap();
        *under_way += 1;
        self.came.notify_all();
        let alone = |count: &mut u32| *count < 2;
        let long = Duration::from_secs(60);
        let waited = self.came.wait_timeout_while(under_way, long, alone);
        if waited.unwrap().1.timed_out() {
            return Err(StoreError::Io("no other write came".to_owned()));
        }
        self.memory.write(offset, from, fua)
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.memory.flush()
    }

    fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<(), StoreError> {
        self.memory.trim(offset, length, fua)
    }

    fn write_zeroes(&self, offset: u64, length: u64, flags: ZeroFlags) -> Result<(), StoreError> {
        self.memory.write_zeroes(offset, length, flags)
    }

    fn extents(
        &self,
        offset: u64,
        length: u64,
        max: usize,
    ) -> Result<Vec<StoreExtent>, StoreError> {
        self.memory.extents(offset, length, max)
    }
}

/// Mounts `drive` and lets `work` use the file.
fn with_file(drive: Arc<dyn Store>, work: impl FnOnce(&File)) {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(SharedDrive::new(drive));
    let lint = Arc::new(Lint::default());
    let mounted = match FuseFile::mount(shared, lint, folder.path(), "drive") {
        Ok(mounted) => mounted,
        Err(error) => return ssdlab_skips::skip(format_args!("no FUSE: {error}")),
    };
    let open = OpenOptions::new()
        .read(true)
        .write(true)
        .open(mounted.path());
    work(&open.unwrap());
}

#[test]
fn writes_to_a_drive_that_takes_its_time_are_under_way_together() {
    let drive = InPairs {
        memory: MemoryStore::new(1 << 20, SECTOR as u32),
        under_way: Mutex::new(0),
        came: Condvar::new(),
    };
    with_file(Arc::new(drive), |file| {
        let write = |at: u64| file.write_all_at(&[at as u8 + 1; SECTOR as usize], at * SECTOR);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| write(0));
            write(1).unwrap();
            other.join().unwrap().unwrap();
        });
        let mut both = [0; 2 * SECTOR as usize];
        file.read_exact_at(&mut both, 0).unwrap();
        assert!(
            both.iter()
                .zip(0..)
                .all(|(&byte, at)| byte == 1 + (at / SECTOR) as u8)
        );
    });
}

/// Neither its owner nor root can write to the file of a drive that is served read-only.
#[test]
fn a_read_only_file_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let drive = Arc::new(MemoryStore::new(1 << 20, SECTOR as u32));
    drive.write(0, &[5; SECTOR as usize], true).unwrap();
    let shared = Arc::new(SharedDrive::new(drive).read_only());
    let mounted = match FuseFile::mount(shared, Arc::default(), folder.path(), "drive") {
        Ok(mounted) => mounted,
        Err(error) => return ssdlab_skips::skip(format_args!("no FUSE: {error}")),
    };
    let error = OpenOptions::new().write(true).open(mounted.path());
    assert_eq!(
        error.unwrap_err().kind(),
        std::io::ErrorKind::ReadOnlyFilesystem
    );
    let file = File::open(mounted.path()).unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o400);
    let mut sector = [0; SECTOR as usize];
    file.read_exact_at(&mut sector, 0).unwrap();
    assert_eq!(sector, [5; SECTOR as usize]);
}

/// Requests in quick succession, then pauses, then again: looked for or slept for, all arrive.
#[test]
fn nothing_is_lost_between_looking_and_sleeping() {
    let drive = Arc::new(MemoryStore::new(1 << 20, SECTOR as u32));
    with_file(drive.clone(), |file| {
        let mut sector = [0; SECTOR as usize];
        for round in 1..=5_u8 {
            for at in 0..256 {
                file.write_all_at(&[round; SECTOR as usize], at * SECTOR)
                    .unwrap();
                if at % 32 == 0 {
                    file.sync_data().unwrap();
                }
                file.read_exact_at(&mut sector, at * SECTOR).unwrap();
                assert!(sector.iter().all(|&byte| byte == round));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        file.sync_data().unwrap();
        drive.cut();
        assert!(file.read_exact_at(&mut sector, 0).is_err(), "no power");
        drive.restore();
        file.read_exact_at(&mut sector, 255 * SECTOR).unwrap();
        assert!(sector.iter().all(|&byte| byte == 5));
    });
}

/// A server that ended under a program left a mount that nobody could enter.
#[test]
fn a_file_that_is_in_use_leaves_no_mount_behind() {
    let folder = tempfile::tempdir().unwrap();
    let drive = Arc::new(MemoryStore::new(1 << 20, SECTOR as u32));
    let shared = Arc::new(SharedDrive::new(drive));
    let mounted = match FuseFile::mount(shared, Arc::default(), folder.path(), "drive") {
        Ok(mounted) => mounted,
        Err(error) => return ssdlab_skips::skip(format_args!("no FUSE: {error}")),
    };
    let user = File::open(mounted.path()).unwrap();
    drop(mounted);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    drop(user);
}
