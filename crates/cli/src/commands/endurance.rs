//! `ssdlab endurance`: what drives last for under JESD219, against their ratings.

use crate::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json, say};
use clap::Args;
use ssdlab_lab::LabError;
use ssdlab_lab::catalogue;
use ssdlab_lab::life::endurance;
use ssdlab_lab::simulate::settings::{self, Setting};

/// `ssdlab endurance`.
#[derive(Args, Debug)]
pub struct Endurance {
    /// Drives of the catalogue, or drive files ending in .toml.
    #[arg(required = true)]
    drives: Vec<String>,
    /// Drive writes of the stream before the one that is measured.
    #[arg(long, default_value_t = 2)]
    warm: u32,
    /// Of the stream's random numbers.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Change a parameter of every drive, such as op=28%.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print as JSON.
    #[arg(long)]
    json: bool,
}

/// Prints a table.
///
/// # Errors
/// When a drive is unknown or cannot be modelled.
pub fn endurance(args: &Endurance) -> Result<Exit, Failure> {
    let settings = args.set.iter().map(|text| Setting::parse(text));
    let settings = settings.collect::<Result<Vec<_>, _>>()?;
    let mut drives = Vec::new();
    for name in &args.drives {
        drives.push(settings::apply(&catalogue::open(name)?, &settings)?);
    }
    let rows = drives
        .iter()
        .map(|drive| endurance::endurance(drive, args.warm, args.seed))
        .collect::<Result<Vec<_>, LabError>>()?;
    if args.json {
        print_json(&rows)?;
        return Ok(Exit::Good);
    }
    print(&endurance::table(&rows))?;
    say(
        false,
        "\nlasts = rated cycles x raw capacity / WAF under JESD219's enterprise writes",
    );
    Ok(Exit::Good)
}
