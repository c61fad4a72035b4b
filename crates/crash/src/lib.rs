#![doc = include_str!("../README.md")]
//!
//! # What is here
//!
//! | | |
//! |---|---|
//! | [`CrashDisk`] | read, write, flush, FUA and trim; or submit and complete in virtual time |
//! | [`CutAt`] | where an armed cut strikes: an instant, an event, a NAND program, a recovery |
//! | [`RecoveryReport`] | the broken promises of a recovery, and the writes that it lost |
//! | [`History`] | the calls, to be replayed and reduced to the smallest part that fails |
//! | [`CrashFiles`] | files with the durability of POSIX or of ext4, for engines without a kernel |
//! | [`crash_test`] | a program cut at every place, its recovery cut too |
//! | [`DiskFault`] | drives and paths that lie: ignored flushes, lost and misdirected writes |
//! | [`drawn_drive`] | small drives of many kinds |
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
pub use disk::{CrashCompletion, CrashDisk};
pub use drives::drawn_drive;
pub use error::CrashError;
pub use explore::{Blame, CrashMachine, CutFailure, crash_test};
pub use fault::DiskFault;
pub use files::{CrashFiles, FileId, FileSystemRules};
pub use history::{History, HistoryStep};
pub use replay::{MinimalHistory, ReplayedDisk};
pub use report::RecoveryReport;
pub use search::{FailingSet, smallest};
pub use ssdlab_ssd::drive::power::{BrokenPromise, LostPart, Promise, SectorClass};
pub use ssdlab_ssd::{Command, DriveConfig, Nanos};
