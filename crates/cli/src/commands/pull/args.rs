//! `ssdlab pull`: its parts.

use super::fio_args::PullFioArgs;
use super::run_args::PullRunArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `ssdlab pull`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples, the ledger on another machine:
  ssdlab pull ledger --listen 192.0.2.7:7040 --file drive.ledger
  ssdlab pull run /dev/disk/by-id/nvme-X --serial S4NENX0T123456 \\
    --ledger tcp:192.0.2.7:7040 --off ./off.sh --on ./on.sh
  ssdlab pull status --ledger tcp:192.0.2.7:7040
By hand, the ledger on another disk:
  ssdlab pull run /dev/sdb --serial S3Z8NB0K --ledger drive.ledger
Then, as evidence of a verdict:
  ssdlab qualify /dev/sdb --serial S3Z8NB0K --pull-record drive.ledger

It destroys what is on the target. Guide: docs/qualify.md.")]
pub struct PullArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: PullAction,
}

/// `ssdlab pull ...`.
#[derive(Subcommand, Debug)]
pub enum PullAction {
    /// Write to a drive, cut its power, check it, and again; continues what the ledger holds.
    Run(Box<PullRunArgs>),
    /// The same with the writes and the state files of a fio job with verify=, which fio can check;
    /// or a look at what fio has written.
    Fio(Box<PullFioArgs>),
    /// Read every sector that the ledger knows, and name what was lost. Changes nothing.
    Check(PullCheckArgs),
    /// Print the pulls of a ledger and what they prove.
    Status(PullStatusArgs),
    /// Keep a ledger for `pull run` on another machine, until Ctrl-C. Anybody who reaches the
    /// address can write to it.
    Ledger(PullLedgerArgs),
}

/// `ssdlab pull check`.
#[derive(Args, Debug)]
#[command(after_help = "Exit codes: 0 nothing lost, 1 a promise was broken, 2 an error.")]
pub struct PullCheckArgs {
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
pub struct PullStatusArgs {
    /// The ledger.
    #[arg(long, value_name = "FILE|tcp:HOST:PORT")]
    pub ledger: String,
    /// Print the record as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `ssdlab pull ledger`.
#[derive(Args, Debug)]
pub struct PullLedgerArgs {
    /// Address and port of this machine; port 0 is any that is free.
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: String,
    /// The file to keep it in; continued if it exists.
    #[arg(long, value_name = "FILE")]
    pub file: PathBuf,
}
