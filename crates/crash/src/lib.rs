//! A crash disk.
#![deny(unsafe_code)]

mod cut;
mod disk;
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
