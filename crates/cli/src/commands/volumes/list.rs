//! `ssdlab volumes list` and `show`.

use crate::failure::{CliFailure, CommandExit};
use crate::output::print_result;
use clap::Args;
use ssdlab_judge::volumes::show::{VolumeList, VolumeShown};

/// `ssdlab volumes list`.
#[derive(Args, Debug)]
pub struct ListVolumesArgs {
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// `ssdlab volumes show`.
#[derive(Args, Debug)]
pub struct ShowVolumeArgs {
    /// The type and its setting: gp3,size=100,iops=6000,instance=m5.large; as in volume:TYPE.
    #[arg(value_name = "TYPE[,KEY=VALUE...]")]
    volume: String,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the types.
///
/// # Errors
/// When standard output cannot be written.
pub fn list(args: &ListVolumesArgs) -> Result<CommandExit, CliFailure> {
    let list = VolumeList::read()?;
    print_result(args.json, &list, || list.text())?;
    Ok(CommandExit::Good)
}

/// Prints one volume.
///
/// # Errors
/// When it is not sold, or standard output cannot be written.
pub fn show(args: &ShowVolumeArgs) -> Result<CommandExit, CliFailure> {
    let text = args.volume.trim_start_matches("volume:");
    let shown = VolumeShown::read(text)?;
    print_result(args.json, &shown, || shown.text())?;
    Ok(CommandExit::Good)
}
