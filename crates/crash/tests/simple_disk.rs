//! What a disk that knows only *pending* and *durable* cannot find, and a crash disk does: the same
//! store, the same planted bugs, side by side.
//!
//! `cargo test -p ssdlab-crash --test simple_disk -- --nocapture` prints the table of
//! `docs/power-cuts.md`.

use ssdlab_crash::{Blame, CrashDisk, CrashError, crash_test, drawn_drive};
use ssdlab_ssd::rng::Rng;

/// The calls of a store to its disk.
trait Disk {
    fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), CrashError>;
    fn fua(&mut self, offset: usize, bytes: &[u8]) -> Result<(), CrashError>;
    fn flush(&mut self) -> Result<(), CrashError>;
    fn trim(&mut self, offset: usize, len: usize) -> Result<(), CrashError>;
    fn read(&mut self, offset: usize, len: usize) -> Result<Vec<u8>, CrashError>;
}

impl Disk for CrashDisk {
    fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), CrashError> {
        CrashDisk::write(self, offset as u64, bytes)
    }
    fn fua(&mut self, offset: usize, bytes: &[u8]) -> Result<(), CrashError> {
        CrashDisk::fua(self, offset as u64, bytes)
    }
    fn flush(&mut self) -> Result<(), CrashError> {
        CrashDisk::flush(self)
    }
    fn trim(&mut self, offset: usize, len: usize) -> Result<(), CrashError> {
        CrashDisk::trim(self, offset as u64, len as u64)
    }
    fn read(&mut self, offset: usize, len: usize) -> Result<Vec<u8>, CrashError> {
        CrashDisk::read(self, offset as u64, len)
    }
}

// ---- The simple disk: 50 lines, and better than most of its kind, as it keeps any prefix of what
// is pending.

struct Simple {
    durable: Vec<u8>,
    pending: Vec<(usize, Vec<u8>)>,
    calls_left: u64,
    rng: Rng,
}

impl Simple {
    fn call(&mut self) -> Result<(), CrashError> {
        match self.calls_left.checked_sub(1) {
            Some(left) => self.calls_left = left,
            None => return Err(CrashError::Off),
        }
        Ok(())
    }

    fn settle(&mut self, count: usize) {
        for (offset, bytes) in self.pending.drain(..count) {
            self.durable[offset..offset + bytes.len()].copy_from_slice(&bytes);
        }
    }

    fn cut_and_power_on(&mut self) {
        let kept = self.rng.below(self.pending.len() as u64 + 1) as usize;
        self.settle(kept);
        self.pending.clear();
        self.calls_left = u64::MAX;
    }
}

impl Disk for Simple {
    fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), CrashError> {
        self.call()?;
        self.pending.push((offset, bytes.to_vec()));
        Ok(())
    }
    fn fua(&mut self, offset: usize, bytes: &[u8]) -> Result<(), CrashError> {
        Disk::write(self, offset, bytes)?;
        Disk::flush(self)
    }
    fn flush(&mut self) -> Result<(), CrashError> {
        self.call()?;
        self.settle(self.pending.len());
        Ok(())
    }
    fn trim(&mut self, offset: usize, len: usize) -> Result<(), CrashError> {
        self.call()?;
        self.settle(self.pending.len());
        self.durable[offset..offset + len].fill(0);
        Ok(())
    }
    fn read(&mut self, offset: usize, len: usize) -> Result<Vec<u8>, CrashError> {
        let mut found = self.durable[offset..offset + len].to_vec();
        for (start, bytes) in &self.pending {
            for (at, byte) in (*start..).zip(bytes) {
                if (offset..offset + len).contains(&at) {
                    found[at - offset] = *byte;
                }
            }
        }
        Ok(found)
    }
}

// ---- The store: a log of records on a disk, and a header that counts them.

/// A planted bug, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planted {
    None,
    /// No flush between a record and the header that counts it: they may be reordered.
    Reordered,
    /// The header is written with FUA, in the belief that this flushes what came before.
    FuaForAll,
    /// A record of six blocks counts as whole when its first block is there.
    TornRecord,
    /// The space of old records is trimmed and believed to be zero after a cut.
    TrimmedIsZero,
}

const HEADER: usize = 0;
const LOG: usize = 4096 * 4;
/// Bytes of a record: six mapping units.
const RECORD: usize = 6 * 4096;
const RECORDS: u8 = 8;

fn record(value: u8) -> Vec<u8> {
    vec![value; RECORD]
}

fn place(value: u8) -> usize {
    LOG + usize::from(value - 1) * RECORD
}

impl Planted {
    fn run(self, disk: &mut impl Disk, acknowledged: &mut u8) -> Result<(), CrashError> {
        if self == Planted::TrimmedIsZero {
            return self.run_trims(disk, acknowledged);
        }
        for value in 1..=RECORDS {
            disk.write(place(value), &record(value))?;
            match self {
                Planted::Reordered => {
                    disk.write(HEADER, &[value; 512])?;
                    disk.flush()?;
                }
                Planted::FuaForAll => disk.fua(HEADER, &[value; 512])?,
                // A record with a mark of its own needs no header.
                Planted::TornRecord => disk.flush()?,
                _ => {
                    disk.flush()?;
                    disk.write(HEADER, &[value; 512])?;
                    disk.flush()?;
                }
            }
            *acknowledged = value;
        }
        Ok(())
    }

    /// Records are trimmed in turn, and the first place that reads as zero is the end of the log.
    fn run_trims(self, disk: &mut impl Disk, acknowledged: &mut u8) -> Result<(), CrashError> {
        for value in 1..=RECORDS {
            disk.write(place(value), &record(value))?;
        }
        disk.flush()?;
        for value in (1..=RECORDS).rev() {
            disk.trim(place(value), RECORD)?;
            *acknowledged = value;
        }
        Ok(())
    }

    fn check(self, disk: &mut impl Disk, acknowledged: u8) -> Result<(), String> {
        match self {
            Planted::TornRecord => {
                for value in 1..=RECORDS {
                    let found = disk.read(place(value), RECORD)?;
                    let counts = found[0] == value;
                    if counts && found != record(value) {
                        return Err(format!("record {value} is torn"));
                    }
                }
                Ok(())
            }
            Planted::TrimmedIsZero => {
                let first = (acknowledged.max(1)..=RECORDS).find(|_| acknowledged > 0);
                let mut trimmed = first.map_or(1..1, |first| first..RECORDS + 1);
                let back = trimmed.find(|&value| {
                    let found = disk.read(place(value), 512);
                    found.is_ok_and(|found| found[0] != 0)
                });
                back.map_or(Ok(()), |value| {
                    Err(format!("trimmed record {value} is back"))
                })
            }
            _ => {
                let counted = disk.read(HEADER, 512)?[0];
                if counted < acknowledged {
                    return Err(format!("{acknowledged} acknowledged, {counted} counted"));
                }
                let missing = (1..=counted).find(|&value| {
                    let found = disk.read(place(value), RECORD);
                    found.map_or(true, |found| found != record(value))
                });
                missing.map_or(Ok(()), |n| {
                    Err(format!("record {n} is counted and not there"))
                })
            }
        }
    }
}

/// The first failure on the simple disk, cut before every call under many seeds; or its cuts.
fn on_the_simple_disk(planted: Planted) -> Result<u64, String> {
    let mut cuts = 0;
    for seed in 0..100 {
        for nth in 0.. {
            cuts += 1;
            let mut disk = Simple {
                durable: vec![0; 448 * 4096],
                pending: Vec::new(),
                calls_left: nth,
                rng: Rng::named(seed << 32 | nth, "simple"),
            };
            let mut acknowledged = 0;
            let ended = planted.run(&mut disk, &mut acknowledged).is_ok();
            disk.cut_and_power_on();
            planted.check(&mut disk, acknowledged)?;
            if ended {
                break;
            }
        }
    }
    Ok(cuts)
}

/// The same on crash disks of several drives, cut at every event.
fn on_the_crash_disk(planted: Planted) -> Result<u64, String> {
    let mut cuts = 0;
    for seed in 0..12 {
        let mut new = CrashDisk::new(drawn_drive(seed), seed).expect("possible");
        new.stop_history();
        let found = crash_test(
            &new,
            4,
            |disk, acknowledged| planted.run(disk, acknowledged),
            |disk, &acknowledged| planted.check(disk, acknowledged),
        );
        cuts += found.map_err(|failure| {
            assert_eq!(failure.blame, Blame::Program, "{failure}");
            let before = cuts;
            format!("drive {seed}, after {before} cuts of others: {failure}")
        })?;
    }
    Ok(cuts)
}

#[test]
fn bugs_that_a_pending_and_durable_disk_does_not_find() {
    for (planted, expected) in [
        (Planted::Reordered, "is counted and not there"),
        (Planted::FuaForAll, "is counted and not there"),
        (Planted::TornRecord, "is torn"),
        (Planted::TrimmedIsZero, "is back"),
    ] {
        let simple = on_the_simple_disk(planted);
        let found = on_the_crash_disk(planted);
        println!("{planted:?}\n  pending/durable: {simple:?}\n  crash disk: {found:?}");
        assert!(simple.is_ok(), "{planted:?}");
        assert!(found.expect_err("a bug").contains(expected), "{planted:?}");
    }
}

#[test]
fn the_store_without_a_bug_passes_on_both() {
    let simple = on_the_simple_disk(Planted::None).expect("no bug");
    let cuts = on_the_crash_disk(Planted::None).expect("no bug");
    println!("no bug\n  pending/durable: {simple} cuts\n  crash disk: {cuts} cuts");
}

/// A canary: the simple disk does find a missing flush.
#[test]
fn the_simple_disk_finds_a_simple_bug() {
    let mut disk = Simple {
        durable: vec![0; 4096],
        pending: Vec::new(),
        calls_left: u64::MAX,
        rng: Rng::named(0, "simple"),
    };
    let mut lost = false;
    for value in 1..=20 {
        Disk::write(&mut disk, 0, &[value; 512]).expect("on");
        disk.cut_and_power_on();
        lost |= disk.durable[0] != value;
    }
    assert!(lost);
}
