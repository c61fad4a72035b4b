//! Arguments of `ssdlab pull run`.

use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::{parse_duration, parse_size};
use ssdlab_bench::device::OpenOptions;
use ssdlab_bench::device::WriteOptions;
use ssdlab_judge::pull::{LedgerLocation, PULLS_NEEDED, PullPlan, PullSwitch};
use std::path::PathBuf;
use std::time::Duration;

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
    /// Command that takes the target's power away and leaves it away. [default: a person is asked]
    #[arg(long, value_name = "CMD", requires = "on")]
    pub off: Option<String>,
    /// Command that brings it back.
    #[arg(long, value_name = "CMD", requires = "off")]
    pub on: Option<String>,
    /// Pulls that count, those of earlier runs included; fewer than 25 prove nothing.
    #[arg(long, value_name = "N", default_value_t = PULLS_NEEDED)]
    pub pulls: u32,
    /// Go on after a broken promise.
    #[arg(long)]
    pub keep_going: bool,
    /// The session before ended because this machine lost its power: that was a pull.
    #[arg(long)]
    pub host_lost_power: bool,
    /// Mean time of writing before each pull.
    #[arg(long, value_name = "TIME", default_value = "3s")]
    pub write_for: String,
    /// Time without power, so that nothing is left in capacitors of a dock.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub settle: String,
    /// Longest time until the target has stopped to answer. [default: 60s, by hand 10m]
    #[arg(long, value_name = "TIME")]
    pub gone: Option<String>,
    /// Longest time until the target is back.
    #[arg(long, value_name = "TIME", default_value = "120s")]
    pub back: String,
    /// Bytes used, from the target's start. [default: 256 MiB]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Allow writing over an existing file that is not empty.
    #[arg(long)]
    pub overwrite: bool,
    /// The serial number of the block device, to confirm that it may be overwritten.
    #[arg(long, value_name = "SERIAL")]
    pub serial: Option<String>,
    /// To destroy what a block device without a serial number holds: a UUID on it, its backing
    /// file, its name in the device mapper, or its exact size.
    #[arg(long, value_name = "WORD")]
    pub destroy: Option<String>,
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

fn time(text: &str) -> Result<Duration, LabError> {
    parse_duration(text).map(|time| Duration::from_nanos(time.0))
}

impl PullRunArgs {
    /// The test that the arguments ask for.
    ///
    /// # Errors
    /// When a size, a time or the ledger's name cannot be read.
    pub fn plan(&self) -> Result<PullPlan, LabError> {
        let size = self.size.as_deref().map(parse_size).transpose()?;
        let switch = match (&self.off, &self.on) {
            (Some(off), Some(on)) => PullSwitch::Commands {
                off: off.clone(),
                on: on.clone(),
            },
            _ => PullSwitch::Hand,
        };
        let gone = match switch {
            PullSwitch::Hand => "10m",
            PullSwitch::Commands { .. } => "60s",
        };
        Ok(PullPlan {
            target: self.target.clone(),
            ledger: LedgerLocation::parse(&self.ledger)?,
            open: OpenOptions {
                write: WriteOptions {
                    allow_overwrite: self.overwrite,
                    confirmed_serial: self.serial.clone(),
                    destroy: self.destroy.clone(),
                },
                size,
                ..OpenOptions::default()
            },
            switch,
            pulls: self.pulls,
            keep_going: self.keep_going,
            host_lost_power: self.host_lost_power,
            write_for: time(&self.write_for)?,
            settle: time(&self.settle)?,
            gone: time(self.gone.as_deref().unwrap_or(gone))?,
            back: time(&self.back)?,
            seed: self.seed,
        })
    }
}
