//! Arguments of `ssdlab endurance`.

use clap::Args;
use ssdlab_life::endurance;

/// `ssdlab endurance`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab endurance consumer-sata-1tb intel-dc-s3700-200gb
  ssdlab endurance tlc-client-nvme-1tb --op 7%,28% --workload uniform
  ssdlab endurance intel-710-100gb --workload log.csv.gz --money --price 649
  ssdlab endurance --mirror intel-710-100gb intel-710-200gb --seeds 20")]
pub struct EnduranceArgs {
    /// Drives of the catalogue, or drive files ending in .toml.
    #[arg(required = true)]
    pub drives: Vec<String>,
    /// Work that wears them (repeatable): enterprise (JESD219), client (a stand-in), uniform,
    /// sequential, hotcold:80/20, zipf:0.99, or the path of a trace.
    /// [default: enterprise and client]
    #[arg(long, value_name = "WORK")]
    pub workload: Vec<String>,
    /// Bytes of each command of a pattern.
    #[arg(long, default_value = "4KiB", value_name = "SIZE")]
    pub block: String,
    /// Each drive with other over-provisioning, too: 7%,12%,28% (raw stays, user shrinks).
    #[arg(long, value_name = "PERCENT,...", value_delimiter = ',')]
    pub op: Vec<String>,
    /// Play a drive of about this size with the same effective over-provisioning, or the whole one.
    #[arg(long, default_value = "8GiB", value_name = "SIZE|whole")]
    pub capacity: String,
    /// Drive writes before the one that is measured.
    #[arg(long, default_value_t = endurance::WARM_USUAL)]
    pub warm: u32,
    /// Seed of the stream. [default: 0; with --mirror 1]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Change a parameter of every drive, such as wear.cycles=5000.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Also per dollar: writes per second, durable ones, terabytes over the life.
    #[arg(long)]
    pub money: bool,
    /// US dollars of each drive; without it the catalogue's price, where it has one.
    #[arg(long, value_name = "USD", requires = "money")]
    pub price: Option<f64>,
    /// Drives at once.
    /// [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Do two mirrored drives wear out together? The gap between their deaths, over seeds.
    #[arg(long, conflicts_with_all = [
        "workload", "block", "op", "capacity", "warm", "set", "money", "price", "jobs",
    ])]
    pub mirror: bool,
    /// Pairs of --mirror, each of two drives whose blocks are drawn from a seed of their own.
    #[arg(long, default_value_t = 200, value_name = "N", requires = "mirror",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub seeds: u32,
    /// Print as JSON.
    #[arg(long)]
    pub json: bool,
    /// No notes on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

impl EnduranceArgs {
    /// Seed of the stream.
    pub fn stream_seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }
}
