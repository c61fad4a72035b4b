//! A write-back cache tier in front of slow disks, as in Storage Spaces Direct.
//!
//! ```text
//! workers -> write -> a copy to the cache device of each of its sides -> durable on all
//!                     -> acknowledged
//!         -> read  -> hit: one side's cache device;  miss: its disk, then a copy into the cache
//! each side: cache device (a modelled drive) in front of disks of its own
//!            dirty blocks -> destage: read from the cache device, written to the disk in its order
//! ```
//! Durable is what the spec says: each write with FUA, or write and flush, or neither (buffered:
//! for comparison; that breaks the promise on a volatile buffer, and the result counts how often).
//! `promise` watches that from outside the tier.
//!
//! Source: article s2d; Microsoft, "Understanding the storage pool cache" (the cache binds to disks
//! of the same server; in front of hard disks it takes reads and writes; writes are destaged in an
//! order that suits disks). Left out: network between sides, the cache's own metadata, failures,
//! rebinding, reads ahead.

mod cache;
mod engine;
pub mod hdd;
mod layout;
mod promise;
mod report;
pub mod show;
#[cfg(test)]
mod tests;

use hdd::HddSpec;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::check::Check;
use ssdlab_ssd::{Bytes, DriveConfig, Nanos};
use std::sync::atomic::AtomicBool;

/// How a write is made durable before it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Durable {
    /// Each write has FUA (Windows: write-through).
    Fua,
    /// A flush follows; one flush covers all writes completed before it.
    Flush,
    /// Not at all: acknowledged when the device has it in its buffer.
    Buffered,
}

impl Durable {
    /// All, in the order of tables.
    pub const ALL: [Durable; 3] = [Durable::Fua, Durable::Flush, Durable::Buffered];

    /// Name for the command line, tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Durable::Fua => "fua",
            Durable::Flush => "flush",
            Durable::Buffered => "buffered",
        }
    }

    /// Reads its name.
    ///
    /// # Errors
    /// When there is none such.
    pub fn parse(text: &str) -> Result<Durable, LabError> {
        let found = Durable::ALL.into_iter().find(|d| d.name() == text);
        found.ok_or_else(|| {
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TierSpec {
    /// Sides that each write goes to.
    pub copies: usize,
    /// How writes are made durable.
    pub durable: Durable,
    /// Bytes of each cache device that are cache; `None` = all of it, as Storage Spaces Direct
    /// takes it.
    pub cache_bytes: Option<u64>,
    /// Bytes that the load reads and writes, as a share of all caches / copies. Unit: %.
    pub working_set_pct: u32,
    /// Bytes of each command, and of the cache's blocks.
    pub block: u32,
    /// Of 100 commands, so many are reads.
    pub read_pct: u32,
    /// Workers, each with one command outstanding.
    pub workers: u32,
    /// Virtual time of the load.
    #[serde(rename = "duration_ns", serialize_with = "crate::scenario::as_ns")]
    pub duration: Nanos,
    /// A sample each so often.
    #[serde(rename = "interval_ns", serialize_with = "crate::scenario::as_ns")]
    pub interval: Nanos,
    /// Times the cache device is written front to back before the load.
    pub fill_passes: u32,
    /// Disks of each side.
    pub disks: usize,
    /// What they are like.
    pub hdd: HddSpec,
    /// Destaging works while more than this share of the cache is dirty. Unit: %.
    pub destage_above_pct: u32,
    /// Most neighbouring blocks in one access of a disk.
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
            durable: Durable::Fua,
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
    fn blocks(&self, drives: &[DriveConfig]) -> (u64, u64) {
        let smallest = drives.iter().map(|drive| drive.user_bytes).min();
        let cache = self
            .cache_bytes
            .unwrap_or(u64::MAX)
            .min(smallest.unwrap_or(0));
        let slots = cache / u64::from(self.block.max(1));
        let all = slots * drives.len() as u64 / self.copies.max(1) as u64;
        (slots, all * u64::from(self.working_set_pct) / 100)
    }

    /// Whether it can be run on these drives.
    ///
    /// # Errors
    /// What is impossible.
    pub fn validate(&self, drives: &[DriveConfig]) -> Result<(), LabError> {
        let within = |option: &str, given: u64, least: u64, most: u64| {
            if (least..=most).contains(&given) {
                return Ok(());
            }
            Err(LabError::bad_option(
                option,
                &given.to_string(),
                &format!("{least} to {most} is allowed"),
                "see `ssdlab tier --help`",
            ))
        };
        within(
            "--copies",
            self.copies as u64,
            1,
            drives.len().min(16) as u64,
        )?;
        within("--workers", self.workers.into(), 1, 4096)?;
        within("--read-pct", self.read_pct.into(), 0, 99)?;
        within("--working-set", self.working_set_pct.into(), 1, 10_000)?;
        within("--disks", self.disks as u64, 1, 64)?;
        within("--destage-above", self.destage_above_pct.into(), 0, 100)?;
        within("--fill", self.fill_passes.into(), 0, 20)?;
        let block = u64::from(self.block);
        let allowed = [4096, 8192, 16_384, 32_768, 65_536];
        if !allowed.contains(&block) {
            return Err(LabError::bad_option(
                "--block",
                &Bytes(block).to_string(),
                "4, 8, 16, 32 or 64 KiB is allowed",
                "the cache keeps whole blocks of this size",
            ));
        }
        let (slots, blocks) = self.blocks(drives);
        within("blocks of the cache", slots, 64, 1 << 28)?;
        within("blocks of the working set", blocks, 64, 1 << 28)?;
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

/// Latency of a kind of access in front of the tier, ns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Served {
    /// How many.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Half took no longer.
    pub p50_ns: u64,
    /// 99 %.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// What happened in an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// End of the interval, seconds since the load began.
    pub t_s: f64,
    /// Reads found in the cache.
    pub hits: u64,
    /// Reads from a disk.
    pub misses: u64,
    /// Writes acknowledged.
    pub writes: u64,
    /// Mean latency of the writes, ns.
    pub write_mean_ns: f64,
    /// Bytes destaged, all sides.
    pub destaged_bytes: u64,
    /// Bytes that wait to be destaged, all sides, at the end.
    pub backlog_bytes: u64,
    /// Share of the slots that are dirty, mean over the sides, at the end.
    pub dirty_share: f64,
    /// Bytes programmed in all cache devices.
    pub nand_bytes: u64,
    /// Bytes written to all cache devices.
    pub device_bytes: u64,
}

/// What a cache device had to do under the load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceWork {
    /// Bytes written to it: host writes and copies of what was read from a disk.
    pub written_bytes: u64,
    /// Bytes programmed.
    pub nand_bytes: u64,
    /// Flushes and FUA writes that had to reach media.
    pub commits: u64,
    /// Slots programmed with nothing, because a commit could not wait.
    pub padding_bytes: u64,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tier {
    /// As run; when stopped, the duration is what it came to.
    pub spec: TierSpec,
    /// Ended before its time.
    pub stopped: bool,
    /// Sides.
    pub sides: usize,
    /// Bytes of cache on each side.
    pub cache_bytes: u64,
    /// Bytes that the load touches.
    pub working_set_bytes: u64,
    /// Reads and writes served per second in front of the tier.
    pub iops: f64,
    /// Writes acknowledged per second.
    pub writes_s: f64,
    /// Reads found in the cache.
    pub hits: Served,
    /// Reads from a disk.
    pub misses: Served,
    /// Writes.
    pub writes: Served,
    /// Writes that had to wait because every slot of a side was dirty.
    pub stalls: u64,
    /// Acknowledged writes that were not durable on all their copies at that moment.
    pub not_durable: u64,
    /// Bytes destaged, all sides.
    pub destaged_bytes: u64,
    /// Bytes left to be destaged at the end, all sides.
    pub backlog_bytes: u64,
    /// Each cache device's work under the load.
    pub devices: Vec<DeviceWork>,
    /// NAND bytes programmed on one device / bytes that the host wrote to it, mean over devices.
    pub nand_per_host_byte: Option<f64>,
    /// Over time.
    pub samples: Vec<Sample>,
    /// Self-checks.
    pub checks: Vec<Check>,
}

/// Runs the load on new cache devices, a side for each drive.
///
/// # Errors
/// When spec or drives are impossible.
pub fn run(spec: &TierSpec, drives: &[DriveConfig]) -> Result<Tier, LabError> {
    run_until(spec, drives, &AtomicBool::new(false))
}

/// The same until its end or until `stop` is set: a shorter load.
///
/// # Errors
/// As [`run`].
pub fn run_until(
    spec: &TierSpec,
    drives: &[DriveConfig],
    stop: &AtomicBool,
) -> Result<Tier, LabError> {
    spec.validate(drives)?;
    engine::Engine::new(spec, drives)?.run(stop)
}

/// What a load costs of a drive's rated life.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LifeCost {
    /// Bytes programmed that the rating allows.
    pub rated_nand_bytes: f64,
    /// Where that comes from.
    pub why: String,
    /// Bytes that the host can write to the device until then.
    pub host_bytes: f64,
    /// Days until then at the load's speed, without a pause.
    pub days: f64,
    /// Years until then when the host writes this much of the rating's daily allowance.
    pub years_at_rated_pace: Option<f64>,
}

/// What the load costs of the first device's life. A rating in bytes of the host is taken to
/// allow as many bytes programmed: a maker must allow for more, so the figure is on the dark side;
/// rated cycles, where the drive's papers give them, are not.
pub fn life_cost(tier: &Tier, drive: &crate::HostDrive) -> Option<LifeCost> {
    let (rated, why) = drive.rated_nand()?;
    let ratio = tier.nand_per_host_byte?;
    let device = tier.devices.first()?;
    let per_day = device.nand_bytes as f64 / tier.spec.duration.as_secs_f64() * 86_400.0;
    let host_bytes = rated / ratio;
    let pace = drive.rated_bytes.zip(drive.warranty_years);
    Some(LifeCost {
        rated_nand_bytes: rated,
        why,
        host_bytes,
        days: rated / per_day,
        years_at_rated_pace: pace.map(|(bytes, years)| host_bytes / (bytes as f64 / years)),
    })
}
