//! Devices, the engine that runs a plan on them, records, analysis and exports.

pub mod analysis;
pub mod device;
pub mod engine;
pub mod export;
pub mod finished;
pub mod record;
pub mod report;
pub mod run;
pub mod run_dir;
