//! Arguments of `ssdlab pull run`.

use super::power_args::{PullPowerArgs, PullTimesArgs, WriteLeaveArgs};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_bench::device::OpenOptions;
use ssdlab_judge::pull::{LedgerLocation, PULLS_NEEDED, PullPlan};
use std::path::PathBuf;

/// `ssdlab pull run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 PASS, 1 FAIL, 3 UNKNOWN, 2 an error. Whatever ended it (Ctrl-C, a
kill, the host's power), the same command continues.")]
pub struct PullRunArgs {
    /// A block device, or a file (made if it does not exist). What is on it is lost.
    pub target: PathBuf,
    /// The ledger: a file on another disk, or tcp:HOST:PORT of `ssdlab pull ledger`.
    #[arg(long, value_name = "FILE|tcp:HOST:PORT")]
    pub ledger: String,
    #[command(flatten)]
    pub power: PullPowerArgs,
    /// Pulls that count, those of earlier runs included; fewer than 25 prove nothing.
    #[arg(long, value_name = "N", default_value_t = PULLS_NEEDED)]
    pub pulls: u32,
    /// Go on after a broken promise.
    #[arg(long)]
    pub keep_going: bool,
    /// The session before ended because this machine lost its power: that was a pull.
    #[arg(long)]
    pub host_lost_power: bool,
    #[command(flatten)]
    pub times: PullTimesArgs,
    /// Bytes used, from the target's start. [default: 256 MiB]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    #[command(flatten)]
    pub leave: WriteLeaveArgs,
    /// Seed of the writes of a new ledger.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print the record as JSON.
    #[arg(long)]
    pub json: bool,
    /// Say nothing between the pulls.
    #[arg(long, short)]
    pub quiet: bool,
}

impl PullRunArgs {
    /// The test that the arguments ask for.
    ///
    /// # Errors
    /// When a size, a time or the ledger's name cannot be read.
    pub fn plan(&self) -> Result<PullPlan, LabError> {
        let size = self.size.as_deref().map(parse_size).transpose()?;
        let switch = self.power.switch();
        Ok(PullPlan {
            target: self.target.clone(),
            ledger: LedgerLocation::parse(&self.ledger)?,
            open: OpenOptions {
                write: self.leave.options(),
                size,
                ..OpenOptions::default()
            },
            gone: self.times.gone(&switch)?,
            switch,
            pulls: self.pulls,
            keep_going: self.keep_going,
            host_lost_power: self.host_lost_power,
            write_for: self.times.write_for()?,
            settle: self.times.settle()?,
            back: self.times.back()?,
            seed: self.seed,
        })
    }
}
