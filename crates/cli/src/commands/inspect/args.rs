//! Arguments of `ssdlab inspect`.

use super::modelled::ReportFormat;
use clap::Args;
use std::path::PathBuf;

/// `ssdlab inspect`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab inspect /dev/nvme0
  ssdlab inspect saved.json                what `smartctl --json=c -x` printed
  smartctl -x /dev/sda | ssdlab inspect -
  ssdlab inspect january.json june.json    one drive twice: when is it worn out?
  ssdlab inspect --watch 1h --out d.jsonl /dev/sda; ssdlab inspect d.jsonl
  ssdlab inspect old --format text         what `age --out old` left
  ssdlab inspect drive:intel-dc-s3700-200gb

Nothing is written to the drive. Exit code 1: the drive fails by its own
judgement.")]
pub struct Inspect {
    /// Devices; files with what smartctl or nvme printed (`-`: standard input); modelled drives:
    /// drive:NAME, a saved one, the results of `ssdlab age`, or a checkpoint.
    #[arg(required = true, value_name = "DEVICE|FILE|DRIVE")]
    pub sources: Vec<PathBuf>,
    /// smartctl's -d, for drives behind a controller (megaraid,0).
    #[arg(long, short, value_name = "TYPE")]
    pub device_type: Option<String>,
    /// Ask the device at this interval (10m, 1h), and record each answer in --out.
    #[arg(long, value_name = "INTERVAL", requires = "out")]
    pub watch: Option<String>,
    /// The file to record in, one line of JSON each time; added to when it exists.
    #[arg(long, short, value_name = "FILE", requires = "watch")]
    pub out: Option<PathBuf>,
    /// Stop after N records.
    #[arg(long, value_name = "N", requires = "watch")]
    pub count: Option<u64>,
    /// Print a modelled drive's own report instead.
    #[arg(long, value_enum, conflicts_with_all = ["json", "watch"])]
    pub format: Option<ReportFormat>,
    /// Count the timed workload (E2 to E4 of Intel's attributes) of a modelled drive from this
    /// earlier state of it: a checkpoint, for example. [default: since it was new]
    #[arg(long, value_name = "DRIVE", conflicts_with = "watch")]
    pub timed_since: Option<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error while watching.
    #[arg(long, short)]
    pub quiet: bool,
}
