//! Arguments of `ssdlab snia`.

use crate::args::OutputArgs;
use clap::{Args, ValueEnum};
use ssdlab_judge::snia::SniaClass;

/// `ssdlab snia`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab snia drive:intel-dc-s3700-400gb --to 2GiB
  ssdlab snia drive:consumer-sata-1tb --class client --test iops --to 4GiB
On a real drive the tests take days: `ssdlab list profiles` has a round of each.")]
pub struct Snia {
    /// A modelled drive: drive:NAME or drive:FILE.toml.
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Only this test, of iops, throughput, latency, write-saturation, host-idle-recovery,
    /// cross-stimulus-recovery, composite, demand-intensity; may be given several times.
    #[arg(long, value_name = "TEST")]
    pub test: Vec<String>,
    /// Client or enterprise: write cache, range and demand.
    #[arg(long, value_enum, default_value = "enterprise")]
    pub class: ClassName,
    /// Scale the drive down to about this size, and all times with it; the report says so.
    #[arg(long, value_name = "SIZE")]
    pub to: Option<String>,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `--class`.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub enum ClassName {
    /// Write cache disabled, all of the drive.
    Enterprise,
    /// Write cache enabled, 75 % of the drive.
    Client,
}

impl From<ClassName> for SniaClass {
    fn from(name: ClassName) -> SniaClass {
        match name {
            ClassName::Enterprise => SniaClass::Enterprise,
            ClassName::Client => SniaClass::Client,
        }
    }
}
