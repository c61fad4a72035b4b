//! Arguments of `ssdlab pull`.

use clap::{Args, Subcommand};
use ssdlab_base::LabError;
use ssdlab_base::quantity::{parse_duration, parse_size};
use ssdlab_bench::device::open::OpenOptions;
use ssdlab_bench::device::safety::WriteOptions;
use ssdlab_judge::pull::{Place, PullPlan, Switch};
use std::path::PathBuf;
use std::time::Duration;

/// `ssdlab pull`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples, the ledger on another machine:
  ssdlab pull ledger --listen 192.0.2.7:7040 --file drive.ledger
  ssdlab pull run /dev/disk/by-id/nvme-X --serial S4NENX0T123456 \\
    --ledger tcp:192.0.2.7:7040 --off './outlet off' --on './outlet on'
  ssdlab pull status --ledger tcp:192.0.2.7:7040
By hand, the ledger on another disk:
  ssdlab pull run /dev/sdb --serial S3Z8NB0K --ledger drive.ledger
Then, as evidence of a verdict:
  ssdlab qualify /dev/sdb --serial S3Z8NB0K --pull-record drive.ledger

It destroys what is on the target. Guide: docs/pull.md.")]
pub struct PullArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// `ssdlab pull ...`.
#[derive(Subcommand, Debug)]
pub enum Action {
    /// Write to a drive, cut its power, check it, and again; continues what the ledger holds.
    Run(Box<Run>),
    /// Read every sector that the ledger knows, and name what was lost. Changes nothing.
    Check(Check),
    /// Print the pulls of a ledger and what they prove.
    Status(Status),
    /// Keep a ledger for `pull run` on another machine, until Ctrl-C. Anybody who reaches the
    /// address can write to it.
    Ledger(Ledger),
}

/// `ssdlab pull run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 PASS, 1 FAIL, 3 UNKNOWN, 2 an error. Whatever ended it (Ctrl-C, a
kill, the host's power), the same command continues.")]
pub struct Run {
    /// A block device, or a file (made if it does not exist). What is on it is lost.
    pub target: PathBuf,
    /// The ledger: a file on another disk, or tcp:HOST:PORT of `ssdlab pull ledger`.
    #[arg(long, value_name = "FILE|tcp:HOST:PORT")]
    pub ledger: String,
    /// Command that takes the power of the target away. [default: a person is asked]
    #[arg(long, value_name = "CMD", requires = "on")]
    pub off: Option<String>,
    /// Command that brings it back.
    #[arg(long, value_name = "CMD", requires = "off")]
    pub on: Option<String>,
    /// Pulls that count, those of earlier runs included; fewer than 25 prove nothing.
    #[arg(long, value_name = "N", default_value_t = ssdlab_judge::pull::PULLS_NEEDED)]
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

/// `ssdlab pull check`.
#[derive(Args, Debug)]
#[command(after_help = "Exit codes: 0 nothing lost, 1 a promise was broken, 2 an error.")]
pub struct Check {
    /// The target of the ledger.
    pub target: PathBuf,
    /// The ledger.
    #[arg(long, value_name = "FILE|tcp:HOST:PORT")]
    pub ledger: String,
    /// Print the losses as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `ssdlab pull status`.
#[derive(Args, Debug)]
#[command(after_help = "Exit codes: 0 PASS, 1 FAIL, 3 UNKNOWN, 2 an error.")]
pub struct Status {
    /// The ledger.
    #[arg(long, value_name = "FILE|tcp:HOST:PORT")]
    pub ledger: String,
    /// Print the record as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `ssdlab pull ledger`.
#[derive(Args, Debug)]
pub struct Ledger {
    /// Address and port of this machine; port 0 is any that is free.
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: String,
    /// The file to keep it in; continued if it exists.
    #[arg(long, value_name = "FILE")]
    pub file: PathBuf,
}

fn time(text: &str) -> Result<Duration, LabError> {
    parse_duration(text).map(|time| Duration::from_nanos(time.0))
}

impl Run {
    /// The test that the arguments ask for.
    ///
    /// # Errors
    /// When a size, a time or the ledger's name cannot be read.
    pub fn plan(&self) -> Result<PullPlan, LabError> {
        let size = self.size.as_deref().map(parse_size).transpose()?;
        let switch = match (&self.off, &self.on) {
            (Some(off), Some(on)) => Switch::Commands {
                off: off.clone(),
                on: on.clone(),
            },
            _ => Switch::Hand,
        };
        let gone = match switch {
            Switch::Hand => "10m",
            Switch::Commands { .. } => "60s",
        };
        Ok(PullPlan {
            target: self.target.clone(),
            ledger: Place::parse(&self.ledger)?,
            open: OpenOptions {
                write: WriteOptions {
                    allow_overwrite: self.overwrite,
                    confirmed_serial: self.serial.clone(),
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
