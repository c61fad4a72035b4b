//! The life that the arguments ask for.

use super::args::AgeArgs;
use crate::output::say;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::keep::manner::LifeConditions;
use ssdlab_drives::known::draft::open_drive;
use ssdlab_drives::settings;
use ssdlab_drives::settings::DriveSetting;
use ssdlab_life::age::live::CheckpointSchedule;
use ssdlab_life::age::{AgeingPlan, LifeEnd};
use ssdlab_view::units;
use std::path::Path;

/// Where checkpoints are left, and how often.
pub fn keep(args: &AgeArgs, dir: &Path) -> Result<CheckpointSchedule, LabError> {
    let named = args.checkpoint.clone().or_else(|| args.resume.clone());
    let usual = named.as_ref().map(|_| "10TB".to_owned());
    let every = match args.every.clone().or(usual) {
        Some(size) => parse_size(&size)?.max(1),
        None => u64::MAX,
    };
    Ok(CheckpointSchedule {
        at_the_end: named.is_some(),
        path: named.unwrap_or_else(|| dir.join("life.ckpt")),
        every,
    })
}

/// The life of a new drive.
pub fn fresh(args: &AgeArgs, until: LifeEnd) -> Result<AgeingPlan, LabError> {
    let name = args.drive.as_deref().unwrap_or_default();
    let name = name.strip_prefix("drive:").unwrap_or(name);
    let settings = args.set.iter().map(|text| DriveSetting::parse(text));
    let settings = settings.collect::<Result<Vec<_>, _>>()?;
    let drive = settings::apply(&open_drive(name)?, &settings)?;
    let block = parse_size(&args.block)?;
    let block = u32::try_from(block).map_err(|_| {
        LabError::refused(
            format!("a block of {}: up to 16 MiB is allowed", args.block),
            "choose a smaller --block",
        )
    })?;
    let manner = LifeConditions {
        name: String::new(),
        title: String::new(),
        settings: settings.iter().map(DriveSetting::to_string).collect(),
        rests_on: Vec::new(),
        pattern: args.workload.clone(),
        block,
        read_pct: args.read_pct,
        trim_pct: args.trim_pct,
        seed: args.seed,
        per_day: match &args.per_day {
            Some(size) => parse_size(size)?,
            None => drive.config.user_bytes,
        },
        temperature_c: args.temperature,
        fast: args.fast,
    };
    if let LifeEnd::Bytes(bytes) = until {
        note_fill(bytes, drive.config.user_bytes, args.output.quiet);
    }
    AgeingPlan::new(&drive, manner, until).map_err(|mut error| {
        // Patterns are called loads elsewhere.
        if let LabError::BadValue { option, .. } = &mut error
            && option == "--load"
        {
            *option = "--workload".into();
        }
        error
    })
}

/// Says that more than `bytes` are written when the fill that begins a life is longer.
fn note_fill(bytes: u64, capacity: u64, quiet: bool) {
    if bytes < capacity {
        let filled = units::decimal_bytes(capacity as f64);
        let note = format!("note: a life begins with a full drive: {filled} are written first");
        say(quiet, &note);
    }
}
