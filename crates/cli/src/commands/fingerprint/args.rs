//! Arguments of `ssdlab fingerprint`.

use crate::args::{OutputArgs, TargetArgs};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::{parse_duration, parse_size};
use ssdlab_twin::fingerprint::ProbeBudget;

/// `ssdlab fingerprint`.
#[derive(Args, Debug)]
#[command(after_help = "\
Contents are lost. A whole drive is emptied by TRIM and written about two and a
half times; a file cannot be emptied, so spare area, caches and superblocks
stay UNKNOWN there. Probes and what each costs are announced first.

The directory holds fingerprint.toml (a drive file: measured values, the rest
assumed), fingerprint.json and report.html (the plot behind each value).

Examples:
  ssdlab fingerprint drive:consumer-sata-1tb
  ssdlab fingerprint ./new-file --size 4GiB --budget 5m
  ssdlab fingerprint /dev/nvme0n1 --serial S4NENX0T123456 --budget 2TB

Exit codes: 0 some value is known, 3 none is, 2 an error.")]
pub struct FingerprintArgs {
    /// drive:NAME, drive:FILE.toml, drive:PATH of a drive that was aged or saved, a file or a
    /// block device.
    pub target: String,
    /// What may be spent: a time (30m), bytes written (200GB), or both.
    #[arg(long, value_name = "TIME|SIZE")]
    pub budget: Vec<String>,
    /// Size of the model of a new drive.
    #[arg(long, default_value = "1GiB", value_parser = parse_size)]
    pub capacity: u64,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub on: TargetArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl FingerprintArgs {
    /// The budget: every text is a size or a time.
    pub fn budget(&self) -> Result<ProbeBudget, LabError> {
        let mut budget = ProbeBudget::default();
        for text in &self.budget {
            let unit = |c: char| c.is_ascii_alphabetic();
            let is_size = text.ends_with(['B', 'b']);
            let allowed = "a time such as 30m, or bytes such as 200GB, is allowed";
            let bad =
                || LabError::bad_option("--budget", text, allowed, "give both by --budget twice");
            if !text.contains(unit) {
                return Err(bad());
            }
            if is_size {
                budget.bytes = Some(parse_size(text).map_err(|_| bad())?);
            } else {
                let time = parse_duration(text).map_err(|_| bad())?;
                budget.seconds = Some(time.as_secs_f64());
            }
        }
        Ok(budget)
    }
}
