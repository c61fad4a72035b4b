//! Wear of a kind of media, as tables of whole numbers.
//!
//! The laws behind the tables (power law of bit errors, Arrhenius, the code's limit) are floating
//! point and belong to the maker of the tables; see `docs/wear-and-life.md`.

use super::curve::Curve;
use crate::image::{image_of, image_of_choice};
use crate::units::Nanos;

/// Unit of factors: 4096 = 1.
pub const UNITY: u64 = 4096;
/// Unit of raw bit error rates: 10^-15.
pub const RBER_UNITY: u64 = 1_000_000_000_000_000;

/// Behaviour of the drive once its reserve is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EndOfLife {
    /// Refuses writes, serves reads.
    ReadOnly = 0,
    /// Refuses every command.
    Failed = 1,
    /// Continues with failing blocks and retries each time.
    Slow = 2,
}

impl EndOfLife {
    /// All of them.
    pub const ALL: [EndOfLife; 3] = [EndOfLife::ReadOnly, EndOfLife::Failed, EndOfLife::Slow];

    /// Name used in files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            EndOfLife::ReadOnly => "read-only",
            EndOfLife::Failed => "failed",
            EndOfLife::Slow => "slow",
        }
    }
}

image_of_choice!(EndOfLife {
    ReadOnly,
    Failed,
    Slow
});

image_of! {
    /// Wear levelling.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct LevellingConfig {
        /// Dynamic: host data goes to the least worn free superblock, relocated (cold) data to the
        /// most worn one. Otherwise both go to the one that has been free longest.
        pub dynamic: bool,
        /// Static: data of the least worn full superblock is moved once its erase count is this far
        /// below that of the most worn one; 0 = never.
        pub static_gap: u32,
        /// Superblock erases between two searches for such a superblock; at least 1.
        pub static_every: u32,
    }
}

image_of! {
    /// Wear of the media.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct WearConfig {
        /// Rated cycles of the media; for reports.
        pub cycles_rated: u32,
        /// RBER of data just programmed, by cycles of its block; never falling; see [`RBER_UNITY`].
        pub rber_cycles: Curve,
        /// RBER that the first hour without refresh adds, by cycles.
        pub rber_retention: Curve,
        /// Factor by which that grows, by hours at the reference temperature; see [`UNITY`].
        pub retention_hours: Curve,
        /// RBER that one read of each page of the block adds, by cycles.
        pub rber_disturb: Curve,
        /// Factor by which that grows, by reads of the block / pages of the block.
        pub disturb_reads: Curve,
        /// Quantiles of the factor by which blocks differ in RBER.
        pub block_spread: Vec<u32>,
        /// Quantiles of the factor by which the pages of a block differ in RBER.
        pub page_spread: Vec<u32>,
        /// Highest RBER corrected at the first try, with one retry, with two ...
        pub correctable: Vec<u64>,
        /// Time of each retry besides sensing: setting thresholds, moving data, decoding.
        pub retry: Nanos,
        /// RBER above which data found by a read is rewritten.
        pub refresh_above: u64,
        /// Pages of each full block that a patrol reads, different ones each time; 0: no patrol.
        pub patrol_pages: u32,
        /// Hours between two patrols by the clock of the timed gear; 0: only [`crate::Drive::rest`]
        /// starts patrols.
        pub patrol_hours: u32,
        /// RBER of just programmed data above which its block is retired.
        pub retire_above: u64,
        /// Quantiles of the cycles at which a program or erase of a block fails.
        pub failure_cycles: Vec<u32>,
        /// Failed programs per 4096 of these failures; the others are failed erases.
        pub program_failures: u32,
        /// Spare blocks of each die (all planes), beyond those of [`crate::geometry::Shape`].
        pub reserve_blocks: u32,
        /// Factor of program times, by cycles; see [`UNITY`].
        pub program_time: Curve,
        /// Factor of erase times, by cycles.
        pub erase_time: Curve,
        /// Wear levelling.
        pub levelling: LevellingConfig,
        /// Behaviour once the reserve is used up.
        pub end_of_life: EndOfLife,
        /// Seed of the values drawn when the drive is created.
        pub seed: u64,
    }
}

impl Default for WearConfig {
    /// Media that does not wear: no bit errors, no failing blocks, times that stay the same.
    fn default() -> WearConfig {
        WearConfig {
            cycles_rated: u32::MAX,
            rber_cycles: Curve::flat(0),
            rber_retention: Curve::flat(0),
            retention_hours: Curve::flat(UNITY),
            rber_disturb: Curve::flat(0),
            disturb_reads: Curve::flat(UNITY),
            block_spread: vec![UNITY as u32],
            page_spread: vec![UNITY as u32],
            correctable: vec![RBER_UNITY],
            retry: Nanos::ZERO,
            refresh_above: RBER_UNITY,
            patrol_pages: 0,
            patrol_hours: 0,
            retire_above: RBER_UNITY,
            failure_cycles: vec![u32::MAX],
            program_failures: 0,
            reserve_blocks: 0,
            program_time: Curve::flat(UNITY),
            erase_time: Curve::flat(UNITY),
            levelling: LevellingConfig::default(),
            end_of_life: EndOfLife::ReadOnly,
            seed: 0,
        }
    }
}

impl WearConfig {
    /// Media that lasts a few dozen cycles, for examples and tests: the numbers are made up, small
    /// enough that a tiny drive dies within a test.
    pub fn tiny() -> WearConfig {
        WearConfig {
            cycles_rated: 30,
            rber_cycles: Curve::new(1000, |c| 1_000_000_000 + c * c * 1_000_000),
            rber_retention: Curve::new(1000, |c| 10_000_000 + c * 100_000),
            retention_hours: Curve::new(100_000, |h| h * UNITY),
            rber_disturb: Curve::new(1000, |c| 1_000_000 + c * 10_000),
            disturb_reads: Curve::new(100_000, |r| r * UNITY),
            block_spread: vec![3686, 4096, 4096, 4506],
            page_spread: vec![4000, 4096, 4192],
            correctable: vec![4_000_000_000, 8_000_000_000, 16_000_000_000],
            retry: Nanos::from_micros(80),
            refresh_above: 6_000_000_000,
            patrol_pages: 2,
            patrol_hours: 0,
            retire_above: 10_000_000_000,
            failure_cycles: vec![8, 25, 30, 35, 40, 45, 50, 60],
            program_failures: 2048,
            reserve_blocks: 3,
            program_time: Curve::new(100, |c| UNITY - c.min(100) * 8),
            erase_time: Curve::new(100, |c| UNITY + c.min(100) * 40),
            levelling: LevellingConfig {
                dynamic: true,
                static_gap: 8,
                static_every: 4,
            },
            end_of_life: EndOfLife::ReadOnly,
            seed: 0,
        }
    }

    /// The first impossible parameter, the value given and the values allowed.
    pub(crate) fn fault(&self) -> Option<(&'static str, String, &'static str)> {
        let tables = [
            ("wear.block_spread", self.block_spread.len()),
            ("wear.page_spread", self.page_spread.len()),
            ("wear.failure_cycles", self.failure_cycles.len()),
            ("wear.correctable", self.correctable.len()),
        ];
        let empty = tables.into_iter().find(|(_, length)| *length == 0);
        if let Some((what, _)) = empty {
            return Some((what, "empty".into(), "at least one entry is allowed"));
        }
        if self.correctable.len() > 64 {
            let tries = format!("{} tries", self.correctable.len());
            return Some(("wear.correctable", tries, "at most 64 are allowed"));
        }
        if !self.correctable.is_sorted() {
            let allowed = "rising limits are allowed: a retry corrects more";
            return Some(("wear.correctable", "out of order".into(), allowed));
        }
        if self.failure_cycles.contains(&0) {
            let allowed = "at least one cycle is allowed";
            return Some(("wear.failure_cycles", "0".into(), allowed));
        }
        if self.reserve_blocks > 65_536 {
            let blocks = self.reserve_blocks.to_string();
            return Some(("wear.reserve_blocks", blocks, "at most 65536 are allowed"));
        }
        if self.levelling.static_gap > 0 && self.levelling.static_every == 0 {
            return Some(("wear.static_every", "0".into(), "at least 1 is allowed"));
        }
        None
    }
}
