//! The lab: workload -> target -> record -> analysis -> verdict -> report.
//!
//! The same stream of commands runs on a modelled drive in virtual time and on a real file or
//! block device; everything after the target is the same code for both.

pub mod analysis;
pub mod catalogue;
pub mod crashtest;
pub mod drive_dir;
pub mod endurance;
pub mod error;
pub mod experiments;
pub mod export;
pub mod host;
pub mod hosts;
pub mod huge_pages;
pub mod inspect;
pub mod life;
pub mod memory;
pub mod qualify;
pub mod record;
pub mod report;
pub mod reproduce;
pub mod saved;
pub mod served;
pub mod simulate;
pub mod smart;
pub mod target;
pub mod theory;
pub mod trace;
pub mod workload;
pub mod zil;

pub use error::LabError;
pub use ssdlab_ssd::{Bytes, Nanos};
