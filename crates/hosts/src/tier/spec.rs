//! A tier and its load, with units and defaults.

use super::hdd::HddSpec;
use crate::HostDrive;
use crate::scenario::within;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_ssd::{Bytes, DriveConfig, Nanos};

/// How a write is made durable before it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DurabilityMode {
    /// Each write has FUA (Windows: write-through).
    Fua,
    /// A flush follows; one flush covers all writes completed before it.
    Flush,
    /// Not at all: acknowledged when the device has it in its buffer.
    Buffered,
}

impl DurabilityMode {
    /// All, in the order of tables.
    pub const ALL: [DurabilityMode; 3] = [
        DurabilityMode::Fua,
        DurabilityMode::Flush,
        DurabilityMode::Buffered,
    ];

    /// Name for the command line, tables and files.
    pub fn name(self) -> &'static str {
        match self {
            DurabilityMode::Fua => "fua",
            DurabilityMode::Flush => "flush",
            DurabilityMode::Buffered => "buffered",
        }
    }

    /// Reads its name.
    ///
    /// # Errors
    /// When there is no such mode.
    pub fn parse(text: &str) -> Result<DurabilityMode, LabError> {
        let mode = DurabilityMode::ALL.into_iter().find(|d| d.name() == text);
        mode.ok_or_else(|| {
            LabError::bad_option(
                "--durable",
                text,
                "fua, flush or buffered is allowed",
                "buffered keeps no promise on a drive without power-loss protection",
            )
        })
    }
}

/// A tier and its load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TierSpec {
    /// Sides that each write goes to.
    pub copies: usize,
    /// How writes are made durable.
    pub durable: DurabilityMode,
    /// Bytes of each cache device that are cache; `None` = all of it, as Storage Spaces Direct
    /// takes it.
    pub cache_bytes: Option<u64>,
    /// Bytes that the load reads and writes, as a share of all caches / copies. Unit: %.
    pub working_set_pct: u32,
    /// Bytes of each command, and of the cache's blocks.
    pub block: u32,
    /// Percentage of commands that are reads.
    pub read_pct: u32,
    /// Workers, each with one command outstanding.
    pub workers: u32,
    /// Virtual time of the load.
    #[serde(rename = "duration_ns", serialize_with = "crate::scenario::as_ns")]
    #[schemars(with = "u64")]
    pub duration: Nanos,
    /// Time between samples.
    #[serde(rename = "interval_ns", serialize_with = "crate::scenario::as_ns")]
    #[schemars(with = "u64")]
    pub interval: Nanos,
    /// Times the cache device is written front to back before the load.
    pub fill_passes: u32,
    /// Disks of each side.
    pub disks: usize,
    /// Model of the disks.
    pub hdd: HddSpec,
    /// Destaging works while more than this share of the cache is dirty. Unit: %.
    pub destage_above_pct: u32,
    /// Maximum number of neighbouring blocks in one access of a disk.
    pub destage_run: usize,
    /// Seed.
    pub seed: u64,
}

impl Default for TierSpec {
    /// Two copies, FUA, and the load of article s2d: 8 threads of one 4 KiB command each, 70 %
    /// reads, random, after the cache was written through twice. A minute of it; four disks for
    /// each cache device; destaging at once; up to 1 MiB in one access: assumed.
    fn default() -> TierSpec {
        TierSpec {
            copies: 2,
            durable: DurabilityMode::Fua,
            cache_bytes: None,
            working_set_pct: 80,
            block: 4096,
            read_pct: 70,
            workers: 8,
            duration: Nanos::from_secs(60),
            interval: Nanos::from_secs(1),
            fill_passes: 2,
            disks: 4,
            hdd: HddSpec::default(),
            destage_above_pct: 0,
            destage_run: 256,
            seed: 1,
        }
    }
}

impl TierSpec {
    /// Blocks that all copies of the working set take up on one side at most, and of the working
    /// set itself.
    pub(super) fn blocks(&self, drives: &[DriveConfig]) -> (u64, u64) {
        let smallest = drives.iter().map(|drive| drive.user_bytes).min();
        let cache = self
            .cache_bytes
            .unwrap_or(u64::MAX)
            .min(smallest.unwrap_or(0));
        let slots = cache / u64::from(self.block.max(1));
        let total_slots = slots * drives.len() as u64 / self.copies.max(1) as u64;
        (slots, total_slots * u64::from(self.working_set_pct) / 100)
    }

    /// The cache device of each side: as given, or a single drive once for each copy.
    pub fn sides(&self, drives: &[HostDrive]) -> Vec<DriveConfig> {
        match drives {
            [only] => vec![only.config.clone(); self.copies.clamp(1, 16)],
            several => several.iter().map(|drive| drive.config.clone()).collect(),
        }
    }

    /// Checks that it can be run on these drives.
    ///
    /// # Errors
    /// The first value that is impossible, with those allowed.
    pub fn validate(&self, drives: &[DriveConfig]) -> Result<(), LabError> {
        let within = |option: &str, given: u64, allowed| within("tier", option, given, allowed);
        within(
            "--copies",
            self.copies as u64,
            1..=drives.len().min(16) as u64,
        )?;
        within("--workers", self.workers.into(), 1..=4096)?;
        within("--read-pct", self.read_pct.into(), 0..=99)?;
        within("--working-set", self.working_set_pct.into(), 1..=10_000)?;
        within("--disks", self.disks as u64, 1..=64)?;
        within("--destage-above", self.destage_above_pct.into(), 0..=100)?;
        within("--fill", self.fill_passes.into(), 0..=20)?;
        let block = u64::from(self.block);
        let allowed = [4096, 8192, 16_384, 32_768, 65_536];
        if !allowed.contains(&block) {
            return Err(LabError::bad_option(
                "--block",
                Bytes(block).to_string(),
                "4, 8, 16, 32 or 64 KiB is allowed",
                "the cache keeps whole blocks of this size",
            ));
        }
        let (slots, blocks) = self.blocks(drives);
        within("blocks of the cache", slots, 64..=1 << 28)?;
        within("blocks of the working set", blocks, 64..=1 << 28)?;
        let most = Nanos::from_secs(86_400 * 30);
        if self.duration == Nanos::ZERO || self.interval == Nanos::ZERO || self.duration > most {
            return Err(LabError::refused(
                format!(
                    "{} in intervals of {}: some time, up to 30 days, is allowed",
                    self.duration, self.interval
                ),
                "try --duration 60s",
            ));
        }
        Ok(())
    }
}
