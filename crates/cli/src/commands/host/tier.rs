//! `ssdlab host tier`: a write-back cache tier in front of slow disks.

use super::run::{DriveArgs, run_on_drives};
use crate::args::OutputArgs;
use crate::failure::{CliFailure, CommandExit};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::{parse_duration, parse_size};
use ssdlab_hosts::HostDrive;
use ssdlab_hosts::tier::{DurabilityMode, TierSpec};

/// Default capacity that a drive is scaled down to.
const CAPACITY: u64 = 4 << 30;

/// `ssdlab host tier`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each drive is the cache device of one side (a server), in front of hard disks of
its own. A write is acknowledged when it is durable on the cache devices of all
its copies; destaging to the disks comes later. One drive is taken once for each
copy. The load is that of article s2d unless changed. Drives are scaled down so
that a run takes seconds; see docs/hosts.md.

Examples:
  ssdlab host tier consumer-sata-1tb
  ssdlab host tier consumer-sata-1tb-plp --copies 3
  ssdlab host tier intel-dc-s3700-200gb --working-set 200 --duration 5m
  ssdlab host tier consumer-sata-1tb intel-dc-s3500-480gb --durable fua")]
pub struct TierArgs {
    /// Drives of the catalogue, or TOML files: one for each side, or one for all.
    #[arg(required = true)]
    pub drives: Vec<String>,
    /// Sides that each write goes to.
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub copies: usize,
    /// fua, flush or buffered; repeatable [default: all three]
    #[arg(long, value_name = "HOW")]
    pub durable: Vec<String>,
    /// Bytes of each drive that are cache [default: all of it, scaled]
    #[arg(long, value_name = "SIZE")]
    pub cache: Option<String>,
    /// Bytes that the load touches, per cent of what the caches hold.
    #[arg(long, default_value_t = 80, value_name = "PERCENT")]
    pub working_set: u32,
    /// Bytes of each command.
    #[arg(long, default_value = "4KiB", value_name = "SIZE")]
    pub block: String,
    /// Percentage of commands that are reads.
    #[arg(long, default_value_t = 70, value_name = "PERCENT")]
    pub read_pct: u32,
    /// Workers, each with one command outstanding.
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub workers: u32,
    /// Virtual time of the load.
    #[arg(long, default_value = "60s", value_name = "TIME")]
    pub duration: String,
    /// Length of a row of series.csv.
    #[arg(long, default_value = "1s", value_name = "TIME")]
    pub interval: String,
    /// Times each cache is written front to back before the load.
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub fill: u32,
    /// Hard disks of each side.
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub disks: usize,
    /// Destage while more of the cache is dirty than this.
    #[arg(long, default_value_t = 0, value_name = "PERCENT")]
    pub destage_above: u32,
    /// Seed.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub change: DriveArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

fn spec(args: &TierArgs) -> Result<TierSpec, LabError> {
    let block = parse_size(&args.block)?;
    Ok(TierSpec {
        copies: args.copies,
        cache_bytes: args.cache.as_deref().map(parse_size).transpose()?,
        working_set_pct: args.working_set,
        block: u32::try_from(block).unwrap_or(u32::MAX),
        read_pct: args.read_pct,
        workers: args.workers,
        duration: parse_duration(&args.duration)?,
        interval: parse_duration(&args.interval)?,
        fill_passes: args.fill,
        disks: args.disks,
        destage_above_pct: args.destage_above,
        seed: args.seed,
        ..TierSpec::default()
    })
}

/// Carries out `ssdlab host tier`.
///
/// # Errors
/// When the request is impossible, or results cannot be written.
pub fn tier(args: &TierArgs) -> Result<CommandExit, CliFailure> {
    let kinds = match args.durable.as_slice() {
        [] => DurabilityMode::ALL.to_vec(),
        given => given
            .iter()
            .map(|text| DurabilityMode::parse(text))
            .collect::<Result<_, _>>()?,
    };
    let spec = spec(args)?;
    let open = |name: &String| args.change.open(name, Some(CAPACITY));
    let drives: Vec<HostDrive> = args.drives.iter().map(open).collect::<Result<_, _>>()?;
    let with = |durable| TierSpec {
        durable,
        ..spec.clone()
    };
    let specs: Vec<TierSpec> = kinds.into_iter().map(with).collect();
    run_on_drives(&specs, drives, &args.output)
}
