#![doc = include_str!("../README.md")]
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
