//! Article `spare`: how much of its new performance a drive keeps when it is full, and when it is
//! full and dirty.
//!
//! ```text
//! new   -> trace                                                     = 100 %
//! new   -> every LBA written with random data -> trace               spare.full
//!          -> the same again with some random writes -> trace        spare.dirty
//!          or random writes alone, one user capacity -> trace        (worse than the article)
//! ```
//! Each trace runs on a fork of the drive's state, so the light one does not spoil the heavy one.

pub mod bench;
mod protocol;
mod rest;
#[cfg(test)]
mod tests;

pub use protocol::{Compressed, DriveRuns, Kept};
pub use rest::{IntelRuns, Rested, Round};

use super::{Health, Scale};
use bench::{HEAVY, LIGHT, Weight};
use ssdlab_base::LabError;
use ssdlab_base::stop::go_on;
use std::sync::atomic::AtomicBool;

/// What a run of the article may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpareSettings {
    /// Of traces and random writes.
    pub seed: u64,
    /// Size of the drives.
    pub scale: Scale,
    /// Traces of each weight, of different seeds, whose times are added.
    pub traces: u32,
}

impl Default for SpareSettings {
    fn default() -> SpareSettings {
        SpareSettings {
            seed: 1,
            scale: Scale {
                blocks: 4,
                pages: 8,
            },
            traces: 4,
        }
    }
}

/// Everything that the article's ids need.
#[derive(Clone, Debug)]
pub struct SpareResult {
    /// As given.
    pub settings: SpareSettings,
    /// The drives with 28 % and with 13 % spare, X25-M, Barefoot, in this order
    /// (`spare.full`, `spare.full.13v28`, `spare.dirty`).
    pub drives: Vec<DriveRuns>,
    /// The X25-M with background reclaim, in rounds (`spare.intel`).
    pub intel: IntelRuns,
    /// The SandForce drives after a rest, if they reclaim in the background (`spare.dirty`).
    pub rested: Rested,
    /// Sequential fills with data that compresses more or less (`spare.compress`).
    pub compress: Vec<Compressed>,
    /// Of every drive of the article.
    pub health: Health,
}

/// The catalogue's names, in the order of [`SpareResult::drives`].
pub const DRIVES: [&str; 4] = [
    "sandforce-sf1200-100gb",
    "sandforce-sf1200-120gb",
    "intel-x25m-g2-160gb",
    "indilinx-barefoot-120gb",
];

/// Both weights, in the order of results.
pub const WEIGHTS: [Weight; 2] = [LIGHT, HEAVY];

impl SpareResult {
    /// Full, drive of 13 % less drive of 28 %, percentage points by weight (`spare.full.13v28`).
    pub fn full_13_less_28(&self) -> [f64; 2] {
        self.difference(|kept| kept.full_pct)
    }

    /// Dirty, drive of 28 % less drive of 13 %, percentage points by weight (`spare.dirty`).
    pub fn dirty_28_less_13(&self) -> [f64; 2] {
        self.difference(|kept| kept.dirty_pct).map(|points| -points)
    }

    /// Written at random alone, drive of 28 % less drive of 13 %, percentage points by weight.
    pub fn scattered_28_less_13(&self) -> [f64; 2] {
        self.difference(|kept| kept.scattered_pct)
            .map(|points| -points)
    }

    fn difference(&self, of: impl Fn(&Kept) -> f64) -> [f64; 2] {
        let [wide, narrow] = [&self.drives[0].kept, &self.drives[1].kept];
        [0, 1].map(|weight| of(&narrow[weight]) - of(&wide[weight]))
    }
}

/// Runs every experiment of the article.
///
/// # Errors
/// When a drive is not possible at the scale asked for, or `stop` was set.
pub fn run_spare(settings: SpareSettings, stop: &AtomicBool) -> Result<SpareResult, LabError> {
    let mut health = Health::default();
    let mut drives = Vec::new();
    for name in DRIVES {
        go_on(stop)?;
        drives.push(protocol::drive_runs(name, &settings, &mut health, stop)?);
    }
    go_on(stop)?;
    let intel = rest::intel(&settings, &mut health, stop)?;
    go_on(stop)?;
    let rested = rest::rested(&settings, &mut health, stop)?;
    let compress = protocol::compress(&settings, &mut health, stop)?;
    // Stopped in between, a drive was not given all of its commands.
    go_on(stop)?;
    Ok(SpareResult {
        settings,
        drives,
        intel,
        rested,
        compress,
        health,
    })
}
