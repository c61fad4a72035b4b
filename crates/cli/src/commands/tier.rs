//! `ssdlab tier`: a write-back cache tier in front of slow disks.

use super::hosts::{DriveArgs, Outcome, finish, place, run_each};
use crate::args::OutputArgs;
use crate::failure::{Exit, Failure};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::{parse_duration, parse_size};
use ssdlab_hosts::HostDrive;
use ssdlab_hosts::tier::{Durable, TierSpec, life_cost, run_until, show};
use ssdlab_ssd::DriveConfig;

/// So much of a drive is cache unless told otherwise.
const CAPACITY: u64 = 4 << 30;

/// `ssdlab tier`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each drive is the cache device of one side (a server), in front of hard disks of
its own. A write is acknowledged when it is durable on the cache devices of all
its copies; destaging to the disks comes later. One drive is taken once for each
copy. The load is that of article s2d unless changed. Drives are scaled down so
that a run takes seconds; see docs/hosts.md.

Examples:
  ssdlab tier consumer-sata-1tb
  ssdlab tier consumer-sata-1tb-plp --copies 3
  ssdlab tier intel-dc-s3700-200gb --working-set 200 --duration 5m
  ssdlab tier consumer-sata-1tb intel-dc-s3500-480gb --durable fua")]
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
    /// Of 100 commands, so many are reads.
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

/// Carries out `ssdlab tier`.
///
/// # Errors
/// When the request is impossible, or results cannot be written.
pub fn tier(args: &TierArgs) -> Result<Exit, Failure> {
    let kinds = match args.durable.as_slice() {
        [] => Durable::ALL.to_vec(),
        given => given
            .iter()
            .map(|text| Durable::parse(text))
            .collect::<Result<_, _>>()?,
    };
    let spec = spec(args)?;
    let open = |name: &String| args.change.open(name, Some(CAPACITY));
    let drives: Vec<HostDrive> = args.drives.iter().map(open).collect::<Result<_, _>>()?;
    let mut configs: Vec<DriveConfig> = drives.iter().map(|d| d.config.clone()).collect();
    if let [only] = configs.as_slice() {
        configs = vec![only.clone(); args.copies.clamp(1, 16)];
    }
    spec.validate(&configs)?;
    let place = place(&args.output, &drives[0].name)?;
    let (runs, stopped) = run_each(kinds, |durable, stop| {
        let spec = TierSpec {
            durable,
            ..spec.clone()
        };
        run_until(&spec, &configs, stop)
    })?;
    let costs: Vec<_> = runs.iter().map(|run| life_cost(run, &drives[0])).collect();
    let outcome = Outcome {
        model: "tier",
        drives: &drives,
        runs: serde_json::json!({ "tiers": runs, "life_costs": costs }),
        series: show::csv(&runs),
        text: show::text(&runs, &drives[0]),
        checks: runs.iter().flat_map(|run| run.checks.clone()).collect(),
        stopped,
    };
    finish(&outcome, &place, &args.output)
}
