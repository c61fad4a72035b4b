//! A crash disk: an in-process block device whose power is cut anywhere, for deterministic
//! simulation testing of storage engines.
//!
//! Below it is a software SSD with a real translation layer: NAND programmed page by page, a write
//! buffer, a map journal, reclaim, recovery. What an unflushed write becomes in a cut is what
//! such a drive makes of it. Beside it is a ledger of promises: for each sector of 512 bytes, the
//! set of writes of which it may hold one after a cut. The drive is held against it after every
//! recovery, so a failed check is the program's fault, or the drive's, and the report says whose.
//!
//! The same configuration, seed and calls give the same bytes. There are no threads, no clock and
//! no I/O; the only dependency is the drive, which has none.
//!
//! # A test
//!
//! A log whose records are counted in a header, cut at every event of the drive, the cut in the
//! middle of a flush included:
//!
//! ```
//! use ssdlab_crash::{Blame, CrashDisk, CrashError, crash_test, drawn_drive};
//!
//! fn append(disk: &mut CrashDisk, n: u8, flushes: bool) -> Result<(), CrashError> {
//!     disk.write(8192 + 512 * u64::from(n), &[n; 512])?; // the record
//!     if flushes {
//!         disk.flush()?;
//!     }
//!     disk.fua(0, &[n; 512]) // the header counts it
//! }
//!
//! fn test(flushes: bool) -> Result<u64, Box<ssdlab_crash::Failure<CrashDisk>>> {
//!     let new = CrashDisk::new(drawn_drive(0), 1).unwrap();
//!     let program = |disk: &mut CrashDisk, acknowledged: &mut u8| {
//!         for n in 1..=5 {
//!             append(disk, n, flushes)?;
//!             *acknowledged = n;
//!         }
//!         Ok(())
//!     };
//!     crash_test(&new, 2, program, |disk, &acknowledged| {
//!         let count = disk.read(0, 512)?[0];
//!         let mut read = |n: u8| disk.read(8192 + 512 * u64::from(n), 512);
//!         let lost = (1..=count).find(|&n| read(n) != Ok(vec![n; 512]));
//!         match lost {
//!             None if count >= acknowledged => Ok(()),
//!             _ => Err(format!("{acknowledged} acknowledged, of {count} lost: {lost:?}")),
//!         }
//!     })
//! }
//!
//! assert!(test(true).unwrap() > 20, "cuts, all of them passed");
//! let failure = test(false).unwrap_err(); // FUA is believed to flush what came before it
//! assert_eq!(failure.blame, Blame::Program);
//! assert!(failure.message.contains("lost: Some(1)"));
//! ```
//!
//! # What is here
//!
//! | | |
//! |---|---|
//! | [`CrashDisk`] | read, write, flush, FUA and trim; or submit and complete in virtual time |
//! | [`CutAt`] | where an armed cut strikes: an instant, an event, a NAND program, a recovery |
//! | [`Report`] | the broken promises of a recovery, and the writes that it lost |
//! | [`History`] | the calls, to be replayed and reduced to the smallest part that fails |
//! | [`Files`] | files with the durability of POSIX or of ext4, for engines without a kernel |
//! | [`crash_test`] | a program cut at every place, its recovery cut too |
//! | [`DiskFault`] | drives and paths that lie: ignored flushes, lost and misdirected writes |
//! | [`drawn_drive`] | small drives of many kinds |
//!
//! The guide, `docs/power-cuts.md`, has what was measured; the contract is that of
//! `docs/power-cuts.md`.
#![deny(unsafe_code)]

mod cut;
mod disk;
mod drives;
mod error;
mod explore;
mod fault;
mod files;
mod history;
mod io;
mod replay;
mod report;
mod search;

pub use cut::CutAt;
pub use disk::{CrashDisk, Done};
pub use drives::drawn_drive;
pub use error::CrashError;
pub use explore::{Blame, Failure, Machine, crash_test};
pub use fault::DiskFault;
pub use files::{FileId, Files, Rules};
pub use history::{History, Step};
pub use replay::{Minimal, Replayed};
pub use report::Report;
pub use search::{Smallest, smallest};
pub use ssdlab_ssd::drive::power::{BrokenPromise, LostPart, Promise, SectorClass};
pub use ssdlab_ssd::{Command, DriveConfig, Nanos};
