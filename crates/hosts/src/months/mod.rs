//! A file system over months: with TRIM at once, in batches, or never.
//!
//! ```text
//! each day: a burst of files created, old ones deleted to stay within the used share, blocks
//! of files overwritten in place -> drive at a queue depth -> the rest of the day it is idle
//! each week: throughput and WAF since, mapped share, and a probe on a fork of the drive
//! ```
//!
//! A deleted file's blocks are free to the file system at once. The drive goes on taking them for
//! valid data until they are written again or it is told (TRIM). The same seed makes the same
//! files whichever way TRIM is used, so differences are those of TRIM alone.
//!
//! Left out: directories and journal of the file system, reads of the files (but for the probe),
//! the time between a deletion and its TRIM (ext4 and XFS send it with the next journal commit).

mod life;
pub mod show;
#[cfg(test)]
mod tests;

use super::probe::{Probe, ProbeSpec};
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::check::Check;
use ssdlab_ssd::DriveConfig;
use std::sync::atomic::AtomicBool;

/// What the drive is told of blocks that are free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trim {
    /// Nothing.
    Never,
    /// Everything, with each deletion (mount option `discard`).
    AtOnce,
    /// All free space, every so many days (`fstrim`).
    Batch {
        /// Days from one batch to the next.
        days: u32,
    },
}

impl Trim {
    /// Name for the command line, tables and files.
    pub fn name(self) -> String {
        match self {
            Trim::Never => "never".into(),
            Trim::AtOnce => "at-once".into(),
            Trim::Batch { days } => format!("batch:{days}"),
        }
    }

    /// Reads `never`, `at-once`, `batch` (weekly) or `batch:DAYS`.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn parse(text: &str) -> Result<Trim, LabError> {
        let days = text.strip_prefix("batch:").map(str::parse::<u32>);
        match (text, days) {
            ("never", _) => Ok(Trim::Never),
            ("at-once", _) => Ok(Trim::AtOnce),
            ("batch", _) => Ok(Trim::Batch { days: 7 }),
            (_, Some(Ok(days @ 1..=3650))) => Ok(Trim::Batch { days }),
            _ => Err(LabError::bad_option(
                "--trim",
                text,
                "never, at-once, batch or batch:DAYS is allowed",
                "batch is once in 7 days, as systemd's fstrim.timer does",
            )),
        }
    }
}

/// A file system and its use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MonthsSpec {
    /// Days.
    pub days: u32,
    /// Bytes written to files each day, as a share of the user capacity. Unit: %.
    pub daily_pct: u32,
    /// Share of the file system that files take up. Unit: %.
    pub used_pct: u32,
    /// Share of the bytes written that overwrite single blocks of files in place. Unit: %.
    pub update_pct: u32,
    /// Blocks of the smallest and the largest file; sizes between are spread evenly over the
    /// logarithm.
    pub file_blocks: (u64, u64),
    /// What the drive is told.
    pub trim: Trim,
    /// Commands outstanding.
    pub depth: u32,
    /// Bytes of the largest write command.
    pub command_max: u32,
    /// Days from one sample to the next.
    pub sample_days: u32,
    /// What is measured on a fork of the drive with each sample, over the files' blocks.
    pub probe: ProbeSpec,
    /// Seed.
    pub seed: u64,
}

impl Default for MonthsSpec {
    /// Half a year at 10 % of the capacity a day.
    ///
    /// * 70 % used: article myth ("say, 70 % of the disk capacity").
    /// * Files of 4 KiB to 8 MiB, evenly over the logarithm: sizes of real files are about
    ///   log-normal (N. Agrawal et al., "A Five-Year Study of File-System Metadata", FAST 2007).
    /// * Half of the bytes are updates in place, QD8, commands of up to 256 KiB, 10 % a day:
    ///   assumed; a server between light and heavy use.
    /// * Batches, where asked for: weekly (util-linux `fstrim.timer`).
    fn default() -> MonthsSpec {
        MonthsSpec {
            days: 182,
            daily_pct: 10,
            used_pct: 70,
            update_pct: 50,
            file_blocks: (1, 2048),
            trim: Trim::Never,
            depth: 8,
            command_max: 256 << 10,
            sample_days: 7,
            probe: ProbeSpec::default(),
            seed: 1,
        }
    }
}

impl MonthsSpec {
    /// Whether it can be run on a drive of `user_bytes`.
    ///
    /// # Errors
    /// What is impossible.
    pub fn validate(&self, user_bytes: u64) -> Result<(), LabError> {
        let within = |option: &str, given: u32, most: u32| match (1..=most).contains(&given) {
            true => Ok(()),
            false => Err(LabError::bad_option(
                option,
                &given.to_string(),
                &format!("1 to {most} is allowed"),
                "see `ssdlab months --help`",
            )),
        };
        within("--days", self.days, 3650)?;
        within("--daily", self.daily_pct, 10_000)?;
        within("--used", self.used_pct, 98)?;
        within("--read-pct", self.probe.read_pct, 99)?;
        if self.update_pct > 99 {
            return Err(LabError::bad_option(
                "--updates",
                &self.update_pct.to_string(),
                "0 to 99 is allowed",
                "with nothing but updates no file would ever be deleted",
            ));
        }
        within("--iodepth", self.depth, 1024)?;
        within("--every", self.sample_days, self.days)?;
        let room = user_bytes / 4096 * u64::from(self.used_pct) / 100;
        let (least, most) = self.file_blocks;
        if least == 0 || least > most || most * 8 > room {
            return Err(LabError::refused(
                format!(
                    "files of {least} to {most} blocks in {room} blocks that may be used: from 1 \
                     block to an eighth of them is allowed"
                ),
                "a larger --capacity has room for them",
            ));
        }
        Ok(())
    }
}

/// How things stood at the end of a day. Rates and WAF are of the time since the sample before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The day; 0 = the files are there, nothing was deleted yet.
    pub day: u32,
    /// Bytes written by the host since the drive was new.
    pub host_bytes: u64,
    /// NAND bytes programmed / host bytes written.
    pub waf: Option<f64>,
    /// Bytes written per second while there was something to write.
    pub write_bytes_s: f64,
    /// 99 % of the write commands took no longer, ns.
    pub write_p99_ns: u64,
    /// The longest write command, ns.
    pub write_max_ns: u64,
    /// Share of its blocks that the file system uses.
    pub used_share: f64,
    /// Share of the same blocks that the drive takes for valid data.
    pub mapped_share: f64,
    /// TRIM commands.
    pub trims: u64,
    /// Superblocks free for data.
    pub free_superblocks: usize,
    /// Measured on a fork.
    pub probe: Probe,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Months {
    /// As run.
    pub spec: MonthsSpec,
    /// Bytes of the file system.
    pub fs_bytes: u64,
    /// Over time.
    pub samples: Vec<Sample>,
    /// Bytes written by the host after day 0.
    pub host_bytes: u64,
    /// NAND bytes programmed / host bytes written, after day 0.
    pub waf: Option<f64>,
    /// Virtual seconds in all.
    pub virtual_s: f64,
    /// Ended before its last day.
    pub stopped: bool,
    /// Self-checks.
    pub checks: Vec<Check>,
}

/// Lives the months on a new drive.
///
/// # Errors
/// When spec or drive is impossible, or a probe fails its self-check.
pub fn run(spec: &MonthsSpec, drive: &DriveConfig) -> Result<Months, LabError> {
    run_until(spec, drive, &AtomicBool::new(false))
}

/// The same until its end or until `stop` is set: the samples taken by then are the result.
///
/// # Errors
/// As [`run`].
pub fn run_until(
    spec: &MonthsSpec,
    drive: &DriveConfig,
    stop: &AtomicBool,
) -> Result<Months, LabError> {
    spec.validate(drive.user_bytes)?;
    life::Life::new(spec, drive)?.run(stop)
}
