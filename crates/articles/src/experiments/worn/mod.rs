//! Article `worn`: a drive of 120 GB is written until much of its life is gone, and measured again.
//!
//! ```text
//! new drive ----------------------------------------> benchmark
//! new drive -> life: 270 TB, every page write played
//!                -> secure erase, wear kept ---------> the same benchmark
//! ```
//! What is known of the article's benchmark is followed: sizes, queue depths, profiles, traces'
//! volumes. What is not is assumed and said in `docs/worn.md`. The model has no firmware that
//! changes between the two, as the article's drive had: what differs here is wear alone.

pub mod bench;
pub mod life;
pub mod loads;
mod measure;
#[cfg(test)]
mod tests;
mod traces;

pub use bench::{Benchmark, benchmark};
pub use life::{Aged, DRIVE, WRITTEN, age};
pub use traces::{TRACES, Trace};

use super::Health;
use ssdlab_base::LabError;
use ssdlab_ssd::{Drive, DriveConfig};
use std::sync::atomic::AtomicBool;

/// The two benchmarks, and the life between them.
#[derive(Clone, Debug)]
pub struct WornResult {
    /// Of the drive as it comes from the factory.
    pub new: Benchmark,
    /// Of the same drive, worn and secure erased.
    pub worn: Benchmark,
    /// The life.
    pub aged: Aged,
    /// Self-checks of all drives.
    pub health: Health,
}

/// Measures the drive new, and worn by `aged` (a drive and its life).
///
/// # Errors
/// When the drive is not possible, or `stop` is set.
pub fn compare(
    config: &DriveConfig,
    (drive, aged): (&Drive, Aged),
    size: bench::Size,
    seed: u64,
    stop: &AtomicBool,
) -> Result<WornResult, LabError> {
    let refused = |error: ssdlab_ssd::ConfigError| LabError::refused(error.to_string(), "");
    let mut health = Health::default();
    let new = || Drive::new(config.clone()).map_err(refused);
    let worn = || Drive::on_used_array(config.clone(), drive).map_err(refused);
    let new = benchmark(&new, size, seed, &mut health, stop)?;
    let worn = benchmark(&worn, size, seed, &mut health, stop)?;
    Ok(WornResult {
        new,
        worn,
        aged,
        health,
    })
}
