//! `ssdlab inspect`: the health that a drive reports, and when it will be worn out.

mod modelled;

use crate::failure::{Exit, Failure};
use crate::output::{print, print_json, say};
use crate::progress::stop_on_signal;
use clap::Args;
use modelled::{ModelledHealth, ReportFormat};
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_base::quantity::parse_duration;
use ssdlab_judge::inspect;
use ssdlab_judge::inspect::watch::Watch;
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
  ssdlab inspect old --format text         what `age --out old` left, as smartctl
  ssdlab inspect drive:intel-dc-s3700-200gb

Nothing is written to the drive. Exit code 1: the drive fails by its own
judgement.")]
pub struct Inspect {
    /// Devices; files with what smartctl printed as JSON; modelled drives: drive:NAME, a saved
    /// one, the results of `ssdlab age`, or a checkpoint.
    #[arg(required = true, value_name = "DEVICE|FILE|DRIVE")]
    pub sources: Vec<PathBuf>,
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
    /// Print a modelled drive's own report instead.
    #[arg(long, value_enum, conflicts_with_all = ["json", "watch"])]
    pub format: Option<ReportFormat>,
    /// Count the timed workload (E2 to E4 of Intel's attributes) of a modelled drive from this
    /// earlier state of it: a checkpoint, for example. [default: since it was new]
    #[arg(long, value_name = "DRIVE", conflicts_with = "watch")]
    pub timed_since: Option<PathBuf>,
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
/// When one cannot be read, is not an SSD, or two reports of a drive do not fit together.
pub fn inspect(args: &Inspect) -> Result<Exit, Failure> {
    if let (Some(interval), Some(out)) = (&args.watch, &args.out) {
        return watch(args, interval, out);
    }
    if args.format.is_some() || args.timed_since.is_some() {
        return inspect_modelled(args);
    }
    let reports = args.sources.iter().map(|source| {
        let modelled = ModelledHealth::find(source)?;
        match modelled {
            Some(modelled) => Ok(vec![modelled.report()]),
            None => inspect::reports(source, args.device_type.as_deref()),
        }
    });
    show(&inspect::drives(reports)?, args.json)
}

/// What only a modelled drive has: its own report, and a timed workload that begins where the user
/// says.
fn inspect_modelled(args: &Inspect) -> Result<Exit, Failure> {
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
        Some(format) => modelled.print(format).map(|()| Exit::Good),
        None => show(&inspect::drives([Ok(vec![modelled.report()])])?, args.json),
    }
}

fn show(drives: &[inspect::Inspected], json: bool) -> Result<Exit, Failure> {
    if json {
        let value = |drive: &inspect::Inspected| {
            let (inspection, forecasts) = (&drive.inspection, &drive.forecasts);
            serde_json::json!({ "inspection": inspection, "forecasts": forecasts })
        };
        print_json(&drives.iter().map(value).collect::<Vec<_>>())?;
    } else {
        let text =
            |drive: &inspect::Inspected| inspect::text::text(&drive.inspection, &drive.forecasts);
        print(&drives.iter().map(text).collect::<Vec<_>>().join("\n"))?;
    }
    let fails = |drive: &inspect::Inspected| drive.inspection.passed == Some(false);
    if drives.iter().any(fails) {
        return Ok(Exit::Fails);
    }
    Ok(Exit::Good)
}

fn watch(args: &Inspect, interval: &str, out: &Path) -> Result<Exit, Failure> {
    let interval = parse_duration(interval)?;
    let [device] = args.sources.as_slice() else {
        return Err(LabError::refused(
            "--watch takes one device",
            "start one for each device, each with its own --out",
        )
        .into());
    };
    let watched = Watch {
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
    Ok(Exit::Good)
}
