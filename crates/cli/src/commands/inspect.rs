//! `ssdlab inspect`: the health that a real drive reports, and when it will be worn out.

use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json, say};
use crate::progress::stop_on_signal;
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_base::quantity::parse_duration;
use ssdlab_judge::inspect;
use ssdlab_judge::inspect::watch::WatchPlan;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `ssdlab inspect`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab inspect /dev/nvme0
  ssdlab inspect saved.json                what `smartctl --json=c -x` printed
  ssdlab inspect january.json june.json    one drive twice: when is it worn out?
  ssdlab inspect --watch 1h --out d.jsonl /dev/sda; ssdlab inspect d.jsonl

Nothing is written to the drive. Exit code 1: the drive fails by its own
judgement.")]
pub struct Inspect {
    /// Devices, or files with what smartctl printed as JSON.
    #[arg(required = true, value_name = "DEVICE|FILE")]
    pub what: Vec<PathBuf>,
    /// smartctl's -d, for drives behind a controller (megaraid,0).
    #[arg(long, short, value_name = "TYPE")]
    pub device_type: Option<String>,
    /// Ask the device at this interval (10m, 1h), and record each answer in --out.
    #[arg(long, value_name = "INTERVAL", requires = "out")]
    pub watch: Option<String>,
    /// The file to record in, one line of JSON each time; added to when it exists.
    #[arg(long, short, value_name = "FILE", requires = "watch")]
    pub out: Option<PathBuf>,
    /// Stop after N records.
    #[arg(long, value_name = "N", requires = "watch")]
    pub count: Option<u64>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error while watching.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Reads drives or reports, and shows them.
///
/// # Errors
/// When one cannot be read, is no SSD, or two reports of a drive do not fit together.
pub fn inspect(args: &Inspect) -> Result<CommandExit, CliFailure> {
    if let (Some(interval), Some(out)) = (&args.watch, &args.out) {
        return watch(args, interval, out);
    }
    let found = inspect::drives(&args.what, args.device_type.as_deref())?;
    if args.json {
        print_json(&found)?;
    } else {
        let text = |drive: &inspect::InspectedDrive| {
            inspect::text::text(&drive.inspection, &drive.forecasts)
        };
        print(&found.iter().map(text).collect::<Vec<_>>().join("\n"))?;
    }
    let fails = |drive: &inspect::InspectedDrive| drive.inspection.passed == Some(false);
    Ok(match found.iter().any(fails) {
        true => CommandExit::Fails,
        false => CommandExit::Good,
    })
}

fn watch(args: &Inspect, interval: &str, out: &Path) -> Result<CommandExit, CliFailure> {
    let interval = parse_duration(interval)?;
    let [device] = args.what.as_slice() else {
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
        let now = Utc::now().rfc3339();
        say(
            args.quiet,
            &format!("{now} record {count} in {}", out.display()),
        );
    };
    inspect::watch::watch(&watched, &mut recorded, &stop)?;
    Ok(CommandExit::Good)
}
