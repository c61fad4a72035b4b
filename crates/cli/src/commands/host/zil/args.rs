//! Arguments of `ssdlab host zil`.

use crate::args::TargetArgs;
use clap::Args;
use std::path::PathBuf;

/// `ssdlab host zil`.
#[derive(Args, Debug)]
#[command(after_help = "\
Without --target the log device takes 50 us for every write and flush: enough to
see the access pattern, which is what the published tables show. With --target
the host waits for that device: a modelled drive in virtual time, or a file or a
block device in real time (what it holds is overwritten).

Examples:
  ssdlab host zil              one writer on one dataset, code of 2010
  ssdlab host zil --writers 5  five writers, each on a dataset of its own
  ssdlab host zil --preset 2.1 --writers 5 --trace log.csv
  ssdlab host zil --fit log.csv  a host as the one that wrote a trace
  ssdlab host zil --writers 5 --target drive:consumer-sata-1tb --duration 1m
  ssdlab host zil --parameters  every value of the preset, with its reason")]
pub struct ZilArgs {
    /// Age of the code, with the writers it was measured with: 2010 or 2.1.
    #[arg(long, default_value = "2010", value_name = "AGE")]
    pub preset: String,
    /// Synchronous writers, spread over the datasets.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub writers: usize,
    /// Datasets (file systems), each with a log of its own [default: one per writer]
    #[arg(long, value_name = "N")]
    pub datasets: Option<usize>,
    /// Fit the host to a trace of a log device: its code, logs, and writers.
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["preset", "writers", "datasets"])]
    pub fit: Option<PathBuf>,
    /// For how long; virtual time unless the target is real [default: 20s, or as many log blocks
    /// as the trace of --fit has]
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Trim freed log blocks, as a pool with autotrim does.
    #[arg(long)]
    pub autotrim: bool,
    /// Length of an interval of the pattern.
    #[arg(long, default_value = "1s", value_name = "TIME")]
    pub interval: String,
    /// Size of the log device [default: 4GiB, or all of the target]
    #[arg(long, value_name = "SIZE")]
    pub device: Option<String>,
    /// The log device: drive:NAME, null:SIZE, a file or a block device.
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write every command to this file, as CSV; must not exist.
    #[arg(long, value_name = "OUT.csv")]
    pub trace: Option<PathBuf>,
    /// Print the preset's values and their reasons, and run nothing.
    #[arg(long)]
    pub parameters: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// No talk on standard error.
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub target_args: TargetArgs,
}
