//! `ssdlab host oltp`: transactions of a database, month after month.

use super::run::{DriveArgs, run_on_drives, trims};
use crate::args::OutputArgs;
use crate::failure::{CliFailure, CommandExit};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_duration;
use ssdlab_hosts::months::TrimSchedule;
use ssdlab_hosts::oltp::OltpSpec;

/// Bytes of the drive that are aged by default.
const CAPACITY: u64 = 2 << 30;

/// `ssdlab host oltp`.
#[derive(Args, Debug)]
#[command(after_help = "\
A server as MySQL with InnoDB: page reads, group commit with a log flush, a page
cleaner with doublewrite, other files that come and go. A window is measured on
the new drive and once a month; the month's writing between windows is made up
for at full speed. The drive is scaled down; see docs/hosts.md.

Examples:
  ssdlab host oltp intel-dc-s3700-200gb
  ssdlab host oltp intel-x25m-g2-160gb --tps 5000 --trim never
  ssdlab host oltp consumer-sata-1tb --months 12 --used 90")]
pub struct OltpArgs {
    /// A drive of the catalogue, or a TOML file.
    pub drive: String,
    /// Transactions offered per second.
    #[arg(long, default_value_t = 15_000, value_name = "N")]
    pub tps: u32,
    /// Maximum number of transactions under way.
    #[arg(long, default_value_t = 64, value_name = "N")]
    pub connections: u32,
    /// Page reads of 100 transactions.
    #[arg(long, default_value_t = 50, value_name = "N")]
    pub reads_per_100: u32,
    /// Pages made dirty by 100 transactions.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub dirtied_per_100: u32,
    /// No flush reaches the drive, as behind a RAID card with a battery.
    #[arg(long)]
    pub no_flush: bool,
    /// Pages are written in place without the doublewrite area.
    #[arg(long)]
    pub no_doublewrite: bool,
    /// never, at-once, batch or batch:DAYS; repeatable [default: never and at-once]
    #[arg(long, value_name = "HOW")]
    pub trim: Vec<String>,
    /// Months.
    #[arg(long, default_value_t = 6, value_name = "N")]
    pub months: u32,
    /// Written each month, per cent of the drive.
    #[arg(long, default_value_t = 200, value_name = "PERCENT")]
    pub monthly: u32,
    /// Percentage of it that goes to files other than tables.
    #[arg(long, default_value_t = 30, value_name = "PERCENT")]
    pub other: u32,
    /// Tables, per cent of the drive.
    #[arg(long, default_value_t = 50, value_name = "PERCENT")]
    pub tables: u32,
    /// Tables and all other files, per cent of the drive.
    #[arg(long, default_value_t = 70, value_name = "PERCENT")]
    pub used: u32,
    /// Length of a window.
    #[arg(long, default_value = "5s", value_name = "TIME")]
    pub window: String,
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

fn spec(args: &OltpArgs, user_bytes: u64) -> Result<OltpSpec, LabError> {
    let mut spec = OltpSpec {
        offered_s: args.tps,
        connections: args.connections,
        reads_per_100: args.reads_per_100,
        dirtied_per_100: args.dirtied_per_100,
        flushes: !args.no_flush,
        doublewrite: !args.no_doublewrite,
        months: args.months,
        monthly_pct: args.monthly,
        other_pct: args.other,
        tables_pct: args.tables,
        used_pct: args.used,
        window: parse_duration(&args.window)?,
        seed: args.seed,
        ..OltpSpec::default()
    };
    spec.probe.read_pct = args.read_pct;
    Ok(spec.fitted(user_bytes))
}

/// Carries out `ssdlab host oltp`.
///
/// # Errors
/// When the request is impossible, or results cannot be written.
pub fn oltp(args: &OltpArgs) -> Result<CommandExit, CliFailure> {
    let trims = trims(&args.trim, &[TrimSchedule::Never, TrimSchedule::AtOnce])?;
    let drive = args.change.open(&args.drive, Some(CAPACITY))?;
    let spec = spec(args, drive.user_bytes)?;
    let with = |trim| OltpSpec {
        trim,
        ..spec.clone()
    };
    let specs: Vec<OltpSpec> = trims.into_iter().map(with).collect();
    run_on_drives(&specs, vec![drive], &args.output)
}
