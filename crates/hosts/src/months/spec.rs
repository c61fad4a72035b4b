//! A file system's months: the load, with units and defaults.

use crate::probe::ProbeSpec;
use crate::scenario::within;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;

/// When the file system trims blocks that are free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrimSchedule {
    /// Nothing.
    Never,
    /// Everything, with each deletion (mount option `discard`).
    AtOnce,
    /// All free space, every `days` days (`fstrim`).
    Batch {
        /// Days from one batch to the next.
        days: u32,
    },
}

impl TrimSchedule {
    /// Name for the command line, tables and files.
    pub fn name(self) -> String {
        match self {
            TrimSchedule::Never => "never".into(),
            TrimSchedule::AtOnce => "at-once".into(),
            TrimSchedule::Batch { days } => format!("batch:{days}"),
        }
    }

    /// Reads `never`, `at-once`, `batch` (weekly) or `batch:DAYS`.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn parse(text: &str) -> Result<TrimSchedule, LabError> {
        let days = text.strip_prefix("batch:").map(str::parse::<u32>);
        match (text, days) {
            ("never", _) => Ok(TrimSchedule::Never),
            ("at-once", _) => Ok(TrimSchedule::AtOnce),
            ("batch", _) => Ok(TrimSchedule::Batch { days: 7 }),
            (_, Some(Ok(days @ 1..=3650))) => Ok(TrimSchedule::Batch { days }),
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// When free blocks are trimmed.
    pub trim: TrimSchedule,
    /// Commands outstanding.
    pub depth: u32,
    /// Bytes of the largest write command.
    pub command_max: u32,
    /// Days from one sample to the next.
    pub sample_days: u32,
    /// Measurement on a fork of the drive with each sample, over the files' blocks.
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
            trim: TrimSchedule::Never,
            depth: 8,
            command_max: 256 << 10,
            sample_days: 7,
            probe: ProbeSpec::default(),
            seed: 1,
        }
    }
}

impl MonthsSpec {
    /// Checks that it can be run on a drive of `user_bytes`.
    ///
    /// # Errors
    /// The first value that is impossible, with those allowed.
    pub fn validate(&self, user_bytes: u64) -> Result<(), LabError> {
        let within =
            |option: &str, given: u32, allowed| within("months", option, given.into(), allowed);
        within("--days", self.days, 1..=3650)?;
        within("--daily", self.daily_pct, 1..=10_000)?;
        within("--used", self.used_pct, 1..=98)?;
        within("--read-pct", self.probe.read_pct, 1..=99)?;
        if self.update_pct > 99 {
            return Err(LabError::bad_option(
                "--updates",
                self.update_pct.to_string(),
                "0 to 99 is allowed",
                "with nothing but updates no file would ever be deleted",
            ));
        }
        within("--iodepth", self.depth, 1..=1024)?;
        within("--every", self.sample_days, 1..=self.days.into())?;
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
