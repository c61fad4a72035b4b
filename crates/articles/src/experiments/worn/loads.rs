//! The loads that the 270 TB may have been. The article wrote them in "the better part of a month"
//! and had 21 % of the life left, and does not say how it wrote. Both numbers follow from the write
//! amplification:
//!
//! ```text
//! life left = 1 - 270 TB x WAF / (rated cycles x raw capacity)
//! days      = 270 TB x WAF / rate at which the array takes data
//! ```
//! Candidates are played on the drive made smaller, with the effective over-provisioning of the
//! whole, until their write amplification is steady.
//! Nothing is fitted: this says which loads the two published facts agree with.

use super::life::WRITTEN;
use ssdlab_base::LabError;
use ssdlab_drives::scaling::scaled;
use ssdlab_life::endurance::work::WearWorkload;
use ssdlab_life::endurance::{SteadySchedule, steady_waf};
use ssdlab_load::synthetic::{SyntheticLoad, SyntheticPattern};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::geometry::Geometry;
use std::sync::atomic::AtomicBool;

/// Drive writes before the one over which write amplification is taken.
const WARM: u32 = 3;
/// Bytes of the drive that is played in place of the whole.
const PLAYED: u64 = 4 << 30;

/// A load that the 270 TB may have been.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LoadEstimate {
    /// In words.
    pub name: &'static str,
    /// Write amplification factor in steady state.
    pub waf: f64,
    /// Life left after 270 TB, per cent of rated cycles; negative: beyond the rating.
    pub life_left_pct: f64,
    /// Days that 270 TB take at least, at the array's rate.
    pub days: f64,
}

/// Its name, bytes of a write, and the part of the drive that is written, as a divisor; `None` for
/// JESD219.
type CandidateWrites = Option<(&'static str, u32, u64)>;

/// The loads.
const LOADS: [(&str, CandidateWrites); 6] = [
    ("in order, 1 MiB", Some(("sequential", 1 << 20, 1))),
    ("random, 128 KiB", Some(("uniform", 128 << 10, 1))),
    ("random, 4 KiB", Some(("uniform", 4096, 1))),
    (
        "random, 4 KiB, 80 % to 20 %",
        Some(("hotcold:80/20", 4096, 1)),
    ),
    (
        "random, 4 KiB, half of the drive",
        Some(("uniform", 4096, 2)),
    ),
    ("JESD219 enterprise", None),
];

/// Plays all candidates on drives like `config`, whose array takes `nand_bytes_s` and whose media
/// is rated for `cycles`.
///
/// # Errors
/// When the drive is not possible, or `stop` is set.
pub(super) fn candidates(
    config: &DriveConfig,
    cycles: u32,
    nand_bytes_s: f64,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Vec<LoadEstimate>, LabError> {
    let mut small = scaled(config, PLAYED)?.config;
    small.wear = None;
    small.ftl.compression_pack = 1;
    let raw = Geometry::new(config.shape).raw_bytes() as f64;
    let candidates = LOADS.iter().map(|(name, load)| {
        let (work, part) = match load {
            Some((pattern, block, part)) => {
                let load = SyntheticLoad {
                    pattern: SyntheticPattern::parse(pattern)?,
                    block: *block,
                    read_pct: 0,
                    trim_pct: 0,
                    seed,
                };
                (WearWorkload::Pattern(load), *part)
            }
            None => (WearWorkload::Enterprise, 1),
        };
        let rounds = SteadySchedule {
            bytes: small.user_bytes / part,
            warm: WARM,
            seed,
        };
        let waf = steady_waf(&small, &work, &rounds, stop)?.waf;
        let nand = WRITTEN as f64 * waf;
        Ok(LoadEstimate {
            name,
            waf,
            life_left_pct: 100.0 * (1.0 - nand / (f64::from(cycles) * raw)),
            days: nand / nand_bytes_s / 86_400.0,
        })
    });
    candidates.collect()
}
