//! `ssdlab host`: hosts as loads on drives, each a model of its own.

mod months;
mod oltp;
mod run;
mod tier;
mod zil;

use crate::failure::{CliFailure, CommandExit};
use clap::{Args, Subcommand};

/// `ssdlab host`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab host zil --writers 5 --target drive:consumer-sata-1tb --duration 1m
  ssdlab host tier consumer-sata-1tb-plp --copies 3
  ssdlab host months intel-x25m-g2-160gb
  ssdlab host oltp intel-dc-s3700-200gb")]
pub struct Host {
    /// Which host.
    #[command(subcommand)]
    pub model: HostModel,
}

/// `ssdlab host ...`.
#[derive(Subcommand, Debug)]
pub enum HostModel {
    /// Load a target as the intent log of ZFS does, and show the access pattern.
    Zil(Box<zil::ZilArgs>),
    /// A write-back cache tier of drives in front of slow disks, as in Storage Spaces Direct.
    Tier(Box<tier::TierArgs>),
    /// Age a drive under a file system with TRIM at once, in batches, or never.
    Months(Box<months::MonthsArgs>),
    /// Transactions of a database, month after month, as a drive ages under it.
    Oltp(Box<oltp::OltpArgs>),
}

/// Runs a host on drives.
///
/// # Errors
/// When the request is impossible, the target fails, or results cannot be written.
pub fn host(args: &Host) -> Result<CommandExit, CliFailure> {
    match &args.model {
        HostModel::Zil(args) => zil::zil(args),
        HostModel::Tier(args) => tier::tier(args),
        HostModel::Months(args) => months::months(args),
        HostModel::Oltp(args) => oltp::oltp(args),
    }
}
