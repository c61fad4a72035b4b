//! `ssdlab volumes`: volumes of a cloud, whose speed is an account. One file a subcommand.

mod account;
mod fit;
mod list;

use crate::failure::{CliFailure, CommandExit};
use account::AccountArgs;
use clap::{Args, Subcommand};
use fit::VolumeFitArgs;
use list::{ListVolumesArgs, ShowVolumeArgs};

/// `ssdlab volumes`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab volumes list
  ssdlab volumes show gp2,size=100
  ssdlab qualify volume:gp2,size=100 --role etcd
  ssdlab volumes account volume:gp2,size=100 --at 800
  ssdlab volumes fit log.csv.gz --role etcd
  ssdlab serve volume:gp3,size=8 --nbd unix:nbd.sock

Guide: crates/volume/GUIDE.md, \"My volume was fast yesterday\".")]
pub struct VolumesArgs {
    /// What to do.
    #[command(subcommand)]
    action: VolumesAction,
}

/// `ssdlab volumes ...`.
#[derive(Subcommand, Debug)]
enum VolumesAction {
    /// The types of volumes, and the instances whose limits are known.
    List(ListVolumesArgs),
    /// What a volume gives, for how long, and where each figure comes from.
    Show(ShowVolumeArgs),
    /// Write to a target until its rate drops, pause, and say whether it is an account.
    Account(AccountArgs),
    /// The cheapest setting of each type that serves a recorded load within a latency limit.
    Fit(VolumeFitArgs),
}

/// Carries it out.
///
/// # Errors
/// What the subcommand says.
pub fn volumes(args: &VolumesArgs) -> Result<CommandExit, CliFailure> {
    match &args.action {
        VolumesAction::List(args) => list::list(args),
        VolumesAction::Show(args) => list::show(args),
        VolumesAction::Account(args) => account::account(args),
        VolumesAction::Fit(args) => fit::fit(args),
    }
}
