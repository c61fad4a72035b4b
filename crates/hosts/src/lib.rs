#![doc = include_str!("../README.md")]
//! # Structure
//!
//! Each host implements [`Scenario`]: a spec with units and defaults, a run, a result with
//! self-checks, its table, series and JSON. Several drives share one virtual time
//! ([`ssdlab_bench::engine::Devices`]). All are functions of their spec and seed.

pub mod drive;
pub mod file_system;
pub mod months;
pub mod oltp;
pub mod probe;
pub mod scenario;
pub mod schemas;
mod show;
pub mod tier;
pub mod zil;

pub use drive::HostDrive;
pub use scenario::{Scenario, ScenarioReport, run_all};
