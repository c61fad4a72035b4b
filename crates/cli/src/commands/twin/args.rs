//! Arguments of `ssdlab twin`.

use crate::args::OutputArgs;
use clap::{Args, Subcommand};
use ssdlab_base::LabError;
use std::path::PathBuf;

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
    Fit(Fit),
    /// Predict loads that were not measured, and say what to measure next.
    Predict(Predict),
}

/// `ssdlab twin fit`.
#[derive(Args, Debug)]
#[command(after_help = "\
The table is CSV, a row a load. Columns: load (as --load of simulate),
overwrites (user capacities written after the fill), one of write_mibs,
write_mbs and iops (of 4 KiB), and where known used_pct or used_share, waf (as
counted), cliff (docs/twin.md), settled, drift_pct. `sequential` is needed:

  load,overwrites,write_mibs
  sequential,,1400
  uniform,5,620
  hotcold:100/60:scattered,7,585

Runs instead of a table are writes after a fill: directories of `ssdlab run`, or
fio's JSON with the bandwidth logs that it names. Their last quarter counts.

Exit code 3: no row, or no model that explains the rows.

Examples:
  ssdlab twin fit table.csv --capacity 1920GB --out twin
  ssdlab twin fit sequential=runs/seq uniform=runs/uni --capacity 1920GB
  ssdlab twin fit table.csv --from drive:tlc-enterprise-nvme-1920gb")]
pub struct Fit {
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
    /// Seed of the design and of the simulated loads.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `ssdlab twin predict`.
#[derive(Args, Debug)]
#[command(after_help = "\
Without --load, loads that usually separate models are predicted. Intervals hold
90 % and contain the models' own error.

Examples:
  ssdlab twin predict twin --load zipf:0.9 --load hotcold:90/10:scattered
  ssdlab twin predict twin --load uniform --spare +20%")]
pub struct Predict {
    /// Directory that `twin fit` has written.
    pub dir: PathBuf,
    /// Load to predict, as --load of simulate (repeatable).
    #[arg(long, value_name = "LOAD")]
    pub load: Vec<String>,
    /// Percentage of the capacity that is filled and written.
    #[arg(long, value_name = "PERCENT", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub used_pct: u32,
    /// User capacities written after the fill.
    #[arg(long, value_name = "N", default_value = "6")]
    pub overwrites: String,
    /// Spare area to add, in per cent of the capacity: +20%.
    #[arg(long, value_name = "PERCENT")]
    pub spare: Option<String>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

impl Predict {
    /// Overwrites as a number.
    pub fn overwrites(&self) -> Result<f64, LabError> {
        let found = self.overwrites.parse::<f64>().ok();
        found.filter(|n| (1.0..=100.0).contains(n)).ok_or_else(|| {
            let allowed = "1 to 100 user capacities are allowed";
            let hint = "the first ones are no settled rate";
            LabError::bad_option("--overwrites", &self.overwrites, allowed, hint)
        })
    }

    /// Spare area to add, a share of the capacity.
    pub fn more_spare(&self) -> Result<f64, LabError> {
        let Some(text) = &self.spare else {
            return Ok(0.0);
        };
        let number = text.strip_prefix('+').and_then(|t| t.strip_suffix('%'));
        let found = number.and_then(|n| n.parse::<f64>().ok());
        let found = found.filter(|n| (0.0..=40.0).contains(n));
        found.map(|pct| pct / 100.0).ok_or_else(|| {
            let allowed = "+0% to +40% of the capacity is allowed";
            LabError::bad_option("--spare", text, allowed, "such as --spare +20%")
        })
    }
}
