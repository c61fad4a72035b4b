//! Inspection of a real drive by its own report: identity, cache, protection, wear, and how long it
//! will last.
//!
//! The drive is asked by `smartctl --json=c -x`, and by `nvme` for what smartctl leaves out; their
//! answers are read here, from the drive or from files saved elsewhere. Two rules hold throughout.
//! A value that is not reported is unknown, never a made-up number. And a counter whose unit is not
//! documented for the model is not converted: attribute 241 is called Total_LBAs_Written in many
//! drives that count 32 MiB or 1 GiB there.

mod ata;
mod collect;
mod drives;
pub mod forecast;
pub mod inspection;
mod json;
mod numbers;
mod nvme;
mod one_look;
mod pasted;
mod protection;
mod read;
pub mod report;
mod scsi;
mod show;
mod target;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_forms;
#[cfg(test)]
mod tests_pasted;
pub mod text;
pub mod watch;

pub use collect::collect;
pub use drives::{InspectedDrive, drives, reports};
pub use forecast::{Forecast, forecasts};
pub use inspection::{
    DriveEvents, DriveIdentity, FORMAT_VERSION, Inspection, Protection, TimedWorkload, WearStatus,
    WriteCacheStatus,
};
pub use read::inspect;
pub use report::{DriveReport, drive_reports};
pub use show::lines;
pub use target::{drive_of, enrich};

pub use ssdlab_bench::device::health::{DriveHealth, ReportedValue};
