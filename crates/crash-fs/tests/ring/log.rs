//! A log that is written through a ring, and cut: with its links it is clean, and without them or
//! without its sync a record is lost.

use ssdlab_crash_fs::io_uring::squeue::{Entry, Flags};
use ssdlab_crash_fs::io_uring::types::{Fd, FsyncFlags};
use ssdlab_crash_fs::io_uring::{IoUring, opcode};
use ssdlab_crash_fs::std::fs::{self, File};
use ssdlab_crash_fs::{Blame, CrashFs, CrashTest, FileSystemRules, TestFailure};
use std::os::fd::AsRawFd;
use std::path::Path;

/// How a record is made durable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commit {
    /// Write and sync in one submission, linked.
    Linked,
    /// The sync drains what is before it.
    Drained,
    /// One submission after the other's completion.
    Waited,
    /// One write with `RWF_DSYNC`.
    WithWrite,
    /// In one submission, without a link.
    NotLinked,
    /// The link is there; the program does not wait for the sync.
    NotWaited,
    NotSynced,
    /// The buffer is used again before the write has completed.
    BufferReused,
}

struct RingLog {
    ring: IoUring,
    file: File,
    /// Bytes of the records so far, which stay where they are.
    records: Vec<Vec<u8>>,
    /// Requests without a completion.
    in_flight: usize,
}

impl RingLog {
    fn create(folder: &Path) -> std::io::Result<RingLog> {
        let file = File::create(folder.join("log"))?;
        File::open(folder)?.sync_all()?;
        Ok(RingLog {
            ring: IoUring::new(8)?,
            file,
            records: Vec::new(),
            in_flight: 0,
        })
    }

    fn append(&mut self, number: u64, commit: Commit) -> std::io::Result<()> {
        let fd = Fd(self.file.as_raw_fd());
        let offset = 8 * self.records.len() as u64;
        let mut record = number.to_le_bytes().to_vec();
        let write = opcode::Write::new(fd, record.as_mut_ptr(), 8).offset(offset);
        let sync = opcode::Fsync::new(fd).flags(FsyncFlags::DATASYNC).build();
        let (entries, waits) = match commit {
            Commit::Linked | Commit::BufferReused => {
                (vec![write.build().flags(Flags::IO_LINK), sync], 2)
            }
            Commit::Drained => (vec![write.build(), sync.flags(Flags::IO_DRAIN)], 2),
            Commit::NotLinked => (vec![write.build(), sync], 2),
            Commit::NotWaited => (vec![write.build().flags(Flags::IO_LINK), sync], 0),
            Commit::NotSynced => (vec![write.build()], 1),
            Commit::WithWrite => (vec![write.rw_flags(libc::RWF_DSYNC).build()], 1),
            Commit::Waited => {
                self.submit(&[write.build()])?;
                self.wait(1)?;
                (vec![sync], 1)
            }
        };
        self.submit(&entries)?;
        if commit == Commit::BufferReused {
            record.fill(0xff);
        }
        self.records.push(record);
        self.wait(waits)
    }

    fn submit(&mut self, entries: &[Entry]) -> std::io::Result<()> {
        // SAFETY: the record lives as long as the ring.
        unsafe { self.ring.submission().push_multiple(entries) }.expect("room");
        self.in_flight += self.ring.submit()?;
        Ok(())
    }

    fn wait(&mut self, completions: usize) -> std::io::Result<()> {
        self.ring.submit_and_wait(completions)?;
        for completion in self.ring.completion() {
            assert!(completion.result() >= 0, "{completion:?}");
            self.in_flight -= 1;
        }
        Ok(())
    }
}

fn test(commit: Commit) -> Result<u64, Box<TestFailure>> {
    let result = CrashTest::new().rules(FileSystemRules::ext4()).run(
        move |program| {
            let mut log = RingLog::create(program.root())?;
            for number in 1..=12_u64 {
                log.append(number, commit)?;
                program.acknowledge(number);
            }
            log.wait(log.in_flight)?;
            Ok(())
        },
        |recovered| {
            let bytes = fs::read(recovered.root().join("log")).unwrap_or_default();
            let (records, _) = bytes.as_chunks::<8>();
            for (number, record) in recovered.acknowledged().iter().zip(records) {
                assert_eq!(u64::from_le_bytes(*record), *number);
            }
            assert!(
                records.len() >= recovered.acknowledged().len(),
                "a record is gone"
            );
            Ok(())
        },
    );
    result.inspect_err(|failure| {
        assert!(failure.repeats || failure.blame == Blame::Call, "{failure}");
    })
}

#[test]
fn a_log_that_orders_its_sync_is_clean() {
    for commit in [
        Commit::Linked,
        Commit::Drained,
        Commit::Waited,
        Commit::WithWrite,
    ] {
        let cuts = test(commit).unwrap();
        assert!(cuts >= 90, "{cuts} cuts");
    }
}

#[test]
fn a_sync_that_may_overtake_its_write_is_found() {
    let failure = test(Commit::NotLinked).unwrap_err();
    assert_eq!(failure.blame, Blame::Program, "{failure}");
    assert!(failure.cuts < 50, "{failure}");
}

#[test]
fn what_is_acknowledged_without_a_sync_is_found() {
    for commit in [Commit::NotSynced, Commit::NotWaited] {
        let failure = test(commit).unwrap_err();
        assert_eq!(failure.blame, Blame::Program, "{failure}");
    }
}

/// The check of the uncut run finds it: the file has other bytes.
#[test]
fn a_buffer_that_is_used_again_too_early_is_found() {
    let failure = test(Commit::BufferReused).unwrap_err();
    assert_eq!(failure.blame, Blame::Call, "{failure}");
}

/// Two rings of the same seed do the same, those of another seed another thing.
#[test]
fn the_order_is_that_of_the_seed() {
    let order = |seed: u64| -> Vec<u64> {
        let machine = CrashFs::posix(seed).expect("a disk");
        let file = File::create(machine.root().join("file")).expect("opens");
        let mut ring = IoUring::new(16).expect("a ring");
        let write = |number: u64| {
            let write = opcode::Write::new(Fd(file.as_raw_fd()), b"x".as_ptr(), 1);
            write.offset(number).build().user_data(number)
        };
        let writes: Vec<_> = (0..10).map(write).collect();
        // SAFETY: the byte is a constant.
        unsafe { ring.submission().push_multiple(&writes) }.expect("room");
        ring.submit_and_wait(10).expect("submitted");
        ring.completion().map(|entry| entry.user_data()).collect()
    };
    let orders: std::collections::BTreeSet<_> = (0..8).map(order).collect();
    assert!(orders.len() > 4);
    assert_eq!(order(3), order(3));
}

#[test]
fn a_cut_is_an_error_of_the_requests_after_it() {
    let machine = CrashFs::posix(1).expect("a disk");
    let mut log = RingLog::create(machine.root()).expect("made");
    machine.cut().expect("cut");
    let fd = Fd(log.file.as_raw_fd());
    for entry in [
        opcode::Fsync::new(fd).build(),
        opcode::Write::new(fd, b"x".as_ptr(), 1).build(),
    ] {
        // SAFETY: the byte is a constant.
        unsafe { log.ring.submission().push(&entry) }.expect("room");
        log.ring.submit_and_wait(1).expect("submitted");
        let results: Vec<i32> = log.ring.completion().map(|entry| entry.result()).collect();
        assert_eq!(results, [-libc::EIO]);
    }
    let error = log
        .ring
        .submit_and_wait(1)
        .expect_err("there is nothing to wait for");
    assert!(error.to_string().contains("wait for ever"), "{error}");
}
