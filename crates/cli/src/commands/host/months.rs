//! `ssdlab host months`: a file system that trims at once, in batches, or never.

use super::run::{DriveArgs, run_on_drives, trims};
use crate::args::OutputArgs;
use crate::failure::{CliFailure, CommandExit};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_hosts::months::{MonthsSpec, TrimSchedule};

/// Bytes of the drive that are aged by default.
const CAPACITY: u64 = 2 << 30;

/// `ssdlab host months`.
#[derive(Args, Debug)]
#[command(after_help = "\
Files are created and deleted for months of virtual time. Without TRIM the drive
goes on keeping what the file system has long forgotten; with it, the free space
of the file system is spare area of the drive. Every way of trimming gets the
same files. The drive is scaled down so that a run takes seconds; see
docs/hosts.md.

Examples:
  ssdlab host months intel-x25m-g2-160gb
  ssdlab host months consumer-sata-1tb --used 90 --trim never --trim at-once
  ssdlab host months intel-dc-s3700-200gb --days 365 --capacity 16GiB")]
pub struct MonthsArgs {
    /// A drive of the catalogue, or a TOML file.
    pub drive: String,
    /// never, at-once, batch (weekly) or batch:DAYS; repeatable [default: all three]
    #[arg(long, value_name = "HOW")]
    pub trim: Vec<String>,
    /// Days.
    #[arg(long, default_value_t = 182, value_name = "N")]
    pub days: u32,
    /// Written to files each day, per cent of the drive.
    #[arg(long, default_value_t = 10, value_name = "PERCENT")]
    pub daily: u32,
    /// Percentage of the file system that files take up.
    #[arg(long, default_value_t = 70, value_name = "PERCENT")]
    pub used: u32,
    /// Percentage of writes that overwrite blocks of files in place.
    #[arg(long, default_value_t = 50, value_name = "PERCENT")]
    pub updates: u32,
    /// The largest file.
    #[arg(long, default_value = "8MiB", value_name = "SIZE")]
    pub file_max: String,
    /// Commands outstanding.
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub iodepth: u32,
    /// Days from one sample to the next.
    #[arg(long, default_value_t = 7, value_name = "DAYS")]
    pub every: u32,
    /// Percentage of the probe's commands that are reads.
    #[arg(long, default_value_t = 70, value_name = "PERCENT")]
    pub read_pct: u32,
    /// Seed.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub change: DriveArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

fn spec(args: &MonthsArgs, block: u64) -> Result<MonthsSpec, LabError> {
    let mut spec = MonthsSpec {
        days: args.days,
        daily_pct: args.daily,
        used_pct: args.used,
        update_pct: args.updates,
        depth: args.iodepth,
        sample_days: args.every,
        seed: args.seed,
        ..MonthsSpec::default()
    };
    spec.file_blocks.1 = parse_size(&args.file_max)? / block;
    spec.probe.read_pct = args.read_pct;
    spec.probe.block = u32::try_from(block).unwrap_or(u32::MAX);
    Ok(spec)
}

/// Carries out `ssdlab host months`.
///
/// # Errors
/// When the request is impossible, or results cannot be written.
pub fn months(args: &MonthsArgs) -> Result<CommandExit, CliFailure> {
    let trims = trims(
        &args.trim,
        &[
            TrimSchedule::Never,
            TrimSchedule::Batch { days: 7 },
            TrimSchedule::AtOnce,
        ],
    )?;
    let drive = args.change.open(&args.drive, Some(CAPACITY))?;
    let block = u64::from(drive.config.shape.slot_bytes).max(4096);
    let spec = spec(args, block)?;
    let with = |trim| MonthsSpec {
        trim,
        ..spec.clone()
    };
    let specs: Vec<MonthsSpec> = trims.into_iter().map(with).collect();
    run_on_drives(&specs, vec![drive], &args.output)
}
