//! Arguments of `ssdlab twin`.

mod predict;

pub use predict::Predict;

use crate::args::OutputArgs;
use clap::{Args, Subcommand};

/// `ssdlab twin`.
#[derive(Args, Debug)]
pub struct TwinArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: TwinAction,
}

/// What to do with a twin.
#[derive(Subcommand, Debug)]
pub enum TwinAction {
    /// Fit an ensemble of models to a table of settled write rates.
    Fit(TwinFitArgs),
    /// Predict loads that were not measured, and say what to measure next.
    Predict(Predict),
}

/// `ssdlab twin fit`.
#[derive(Args, Debug)]
#[command(after_help = "\
The table is CSV, a row a load. Columns: load (as --load of simulate),
overwrites (user capacities written after the fill), one of write_mibs,
write_mbs and iops (of 4 KiB), and where known used_pct or used_share, waf (as
counted), cliff and before_mibs (the rate before it; docs/twin.md), settled,
drift_pct. `sequential` is needed:

  load,overwrites,write_mibs
  sequential,,1400
  uniform,5,620
  hotcold:100/60:scattered,7,585

Runs instead of a table are writes after a fill: directories of `ssdlab run`, or
fio's JSON with the bandwidth logs that it names. Their last quarter counts.

Latency is that of reads and writes beside writes at less than the drive
sustains (rate_iops, rate_process=poisson). Columns of its table: load,
used_pct, one of write_iops, write_mibs and write_mbs, and read_p50_us,
write_p99.9_us and so on.

Exit code 3: no row, or no model that explains the rows.

Examples:
  ssdlab twin fit table.csv --capacity 1920GB --out twin
  ssdlab twin fit sequential=runs/seq uniform=runs/uni --capacity 1920GB
  ssdlab twin fit table.csv --from drive:tlc-enterprise-nvme-1920gb
  ssdlab twin fit table.csv --capacity 960GB --latency latency.csv")]
pub struct TwinFitArgs {
    /// A table, or runs: LOAD=RUN_DIR, LOAD=FIO.json, uniform@50%=RUN (half in use).
    #[arg(value_name = "TABLE.csv|LOAD=RUN", required = true)]
    pub measured: Vec<String>,
    /// Take the parts from this drive: drive:NAME or FILE.toml.
    /// [default: tlc-enterprise-nvme-1920gb]
    #[arg(long, value_name = "DRIVE")]
    pub from: Option<String>,
    /// User capacity of the drive that was measured.
    /// [default: that of --from]
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<String>,
    /// Latency beside writes of some rate: a table, or LOAD=RUN_DIR, LOAD=FIO.json
    /// (repeatable).
    #[arg(long, value_name = "TABLE.csv|LOAD=RUN")]
    pub latency: Vec<String>,
    /// Seed of the design and of the simulated loads.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub output: OutputArgs,
}
