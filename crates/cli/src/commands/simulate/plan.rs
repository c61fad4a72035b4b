//! The plan of a life from its arguments.

use super::args::Simulate;
use super::files::timing;
use crate::output::say;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::catalogue::{self, CatalogueDrive};
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_drives::known::draft::open_drive;
use ssdlab_drives::settings::{self, DriveSetting};
use ssdlab_life::age::left;
use ssdlab_life::simulate::{LoadEnd, Prefill, SimulationGear, SimulationPlan};
use ssdlab_load::synthetic::{SyntheticLoad, SyntheticPattern};
use ssdlab_ssd::{Bytes, Drive};
use std::time::Instant;

/// The life that the arguments describe, without a drive: [`SimulationPlan::on`] adds it.
pub fn bare(args: &Simulate, drive: &CatalogueDrive) -> Result<SimulationPlan, LabError> {
    let bytes = parse_size(&args.block)?;
    let block = u32::try_from(bytes).map_err(|_| {
        LabError::refused(
            format!("a block of {}: up to 16 MiB is allowed", Bytes(bytes)),
            "choose a smaller --block",
        )
    })?;
    let until = LoadEnd::parse(&args.until)?;
    let gear = match &args.gear {
        Some(gear) => SimulationGear::parse(gear)?,
        None if matches!(until, LoadEnd::Time(_)) || args.save.is_some() || args.from.is_some() => {
            SimulationGear::Timed
        }
        None => SimulationGear::Counting,
    };
    let usual = if args.from.is_some() {
        "none"
    } else {
        "sequential"
    };
    Ok(SimulationPlan {
        gear,
        load: SyntheticLoad {
            pattern: SyntheticPattern::parse(&args.load)?,
            block,
            read_pct: args.read_pct,
            trim_pct: args.trim_pct,
            seed: args.seed,
        },
        depth: args.iodepth,
        write_through: args.write_through,
        fill: Prefill::parse(args.fill.as_deref().unwrap_or(usual))?,
        used_pct: args.used_pct,
        until,
        ..SimulationPlan::usual(drive)
    })
}

pub type Begun = Option<(Drive, SavedDriveInfo)>;

pub fn plan(
    args: &Simulate,
    settings: &[DriveSetting],
) -> Result<(SimulationPlan, Begun), LabError> {
    let Some(path) = &args.from else {
        let drive = settings::apply(&open_drive(drive_name(args)?)?, settings)?;
        let plan = SimulationPlan {
            settings: settings.iter().map(DriveSetting::to_string).collect(),
            ..bare(args, &drive)?
        };
        return Ok((plan, None));
    };
    if !settings.is_empty() || drive(args).is_some() {
        return Err(LabError::refused(
            "a saved drive is what it was saved as: neither --drive nor --set goes with --from",
            "make another with other parameters, and --save that",
        ));
    }
    let began = Instant::now();
    let (drive, about) = left::open(path)?;
    let bytes = path.metadata().map_or(0, |m| m.len());
    say(args.quiet, &timing("loaded", bytes, began));
    // Any drive of the catalogue: everything of it is replaced.
    let stand_in = catalogue::drive(&catalogue::names()?[0])?;
    let plan = SimulationPlan {
        name: about.name.clone(),
        title: about.title.clone(),
        config: drive.config().clone(),
        settings: about.settings.clone(),
        rests_on: about.rests_on.clone(),
        attributes: about.attributes,
        history: about.history.clone(),
        ..bare(args, &stand_in)?
    };
    Ok((plan, Some((drive, about))))
}

pub fn counting_is_not_saved(args: &Simulate, plan: &SimulationPlan) -> Result<(), LabError> {
    if plan.gear == SimulationGear::Counting && (args.save.is_some() || args.from.is_some()) {
        return Err(LabError::refused(
            "only drives in the timed gear are saved and loaded",
            "leave --gear out, or --gear timed",
        ));
    }
    Ok(())
}

/// The drive by either way of naming it.
fn drive(args: &Simulate) -> Option<&str> {
    args.drive_first.as_deref().or(args.drive.as_deref())
}

pub fn drive_name(args: &Simulate) -> Result<&str, LabError> {
    let name = drive(args).ok_or_else(|| {
        LabError::refused(
            "no drive was given",
            "a name of `ssdlab list drives`, FILE.toml or --from FILE",
        )
    })?;
    Ok(name.strip_prefix("drive:").unwrap_or(name))
}
