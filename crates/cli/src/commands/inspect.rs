//! `ssdlab inspect`: the health that a drive reports, and when it will be worn out.

mod args;
mod modelled;

pub use args::Inspect;

use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json, say};
use crate::progress::stop_on_signal;
use modelled::{drive_report, print_report};
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_base::quantity::parse_duration;
use ssdlab_judge::inspect;
use ssdlab_judge::inspect::watch::WatchPlan;
use ssdlab_life::age::modelled::ModelledHealth;
use std::path::Path;
use std::time::Duration;

/// Reads drives or reports, and shows them.
///
/// # Errors
/// When one cannot be read, is not an SSD, or two reports of a drive do not fit together.
pub fn inspect(args: &Inspect) -> Result<CommandExit, CliFailure> {
    if let (Some(interval), Some(out)) = (&args.watch, &args.out) {
        return watch(args, interval, out);
    }
    if args.format.is_some() || args.timed_since.is_some() {
        return inspect_modelled(args);
    }
    let reports = args.sources.iter().map(|source| {
        let modelled = ModelledHealth::find(source)?;
        match modelled {
            Some(modelled) => Ok(vec![drive_report(&modelled)]),
            None => inspect::reports(source, args.device_type.as_deref()),
        }
    });
    show(&inspect::drives(reports)?, args.json)
}

/// What only a modelled drive has: its own report, and a timed workload that begins where the user
/// says.
fn inspect_modelled(args: &Inspect) -> Result<CommandExit, CliFailure> {
    let [source] = args.sources.as_slice() else {
        return Err(LabError::refused(
            "--format and --timed-since take one modelled drive",
            "name them one at a time",
        )
        .into());
    };
    let mut modelled = match ModelledHealth::find(source)? {
        Some(modelled) => modelled,
        None => ModelledHealth::saved(source, source)?,
    };
    if let Some(earlier) = &args.timed_since {
        modelled.time_since(earlier)?;
    }
    match args.format {
        Some(format) => print_report(&modelled, format).map(|()| CommandExit::Good),
        None => show(
            &inspect::drives([Ok(vec![drive_report(&modelled)])])?,
            args.json,
        ),
    }
}

fn show(drives: &[inspect::InspectedDrive], json: bool) -> Result<CommandExit, CliFailure> {
    if json {
        print_json(&drives)?;
    } else {
        print(
            &drives
                .iter()
                .map(inspect::text::text)
                .collect::<Vec<_>>()
                .join("\n"),
        )?;
    }
    let fails = |drive: &inspect::InspectedDrive| drive.inspection.passed == Some(false);
    if drives.iter().any(fails) {
        return Ok(CommandExit::Fails);
    }
    Ok(CommandExit::Good)
}

fn watch(args: &Inspect, interval: &str, out: &Path) -> Result<CommandExit, CliFailure> {
    let interval = parse_duration(interval)?;
    let [device] = args.sources.as_slice() else {
        return Err(LabError::refused(
            "--watch takes one device",
            "start one for each device, each with its own --out",
        )
        .into());
    };
    let watched = WatchPlan {
        device: device.clone(),
        kind: args.device_type.clone(),
        interval: Duration::from_nanos(interval.0),
        count: args.count,
        out: out.to_owned(),
    };
    let stop = stop_on_signal()?;
    let mut recorded = |count| {
        let time = Utc::now().rfc3339();
        let record = format!("{time} record {count} in {}", out.display());
        say(args.quiet, &record);
    };
    inspect::watch::watch(&watched, &mut recorded, &stop)?;
    Ok(CommandExit::Good)
}
