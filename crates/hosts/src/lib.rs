//! Hosts as loads on drives: a file system's intent log, a cache tier, a file
//! system and a database.
//!
//! * [`zil`]: the intent log of ZFS.
//! * [`tier`]: a write-back cache in front of slow disks, every write durable before it is
//!   acknowledged.
//! * [`months`]: files created and deleted for months, with TRIM at once, in batches or never.
//! * [`oltp`]: transactions of a database, month after month.
//!
//! Each implements [`Scenario`]: a spec with units and defaults, a run, a result with self-checks,
//! its table, series and JSON. Several drives share one virtual time
//! ([`ssdlab_bench::engine::Devices`]). All are functions of their spec and seed.

pub mod drive;
pub mod file_system;
pub mod months;
pub mod oltp;
pub mod probe;
pub mod scenario;
mod show;
pub mod tier;
pub mod zil;

pub use drive::HostDrive;
pub use scenario::{Scenario, ScenarioReport, run_all};
