//! `ssdlab inspect`: what a real drive tells of its health, and when it will be worn out.

use crate::clock::Utc;
use crate::failure::{Exit, Failure};
use crate::output::{print, print_json, say, wrap};
use crate::progress::stop_on_signal;
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_duration;
use ssdlab_judge::inspect::forecast::Method;
use ssdlab_judge::inspect::{
    DriveReport, Forecast, Inspection, collect, drive_reports, forecasts, inspect as read, lines,
};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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
    /// Ask the device again and again, this far apart (10m, 1h), and record it in --out.
    #[arg(long, value_name = "INTERVAL", requires = "out")]
    pub watch: Option<String>,
    /// The file to record in, one line of JSON each time; added to when it exists.
    #[arg(long, short, value_name = "FILE", requires = "watch")]
    pub out: Option<PathBuf>,
    /// Stop after so many records.
    #[arg(long, value_name = "N", requires = "watch")]
    pub count: Option<u64>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// Say nothing on standard error while watching.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Where the text begins, in columns; the labels stand before it.
const INDENT: usize = 15;
const WIDTH: usize = 80;
/// How often a stop is looked for while waiting.
const TICK: Duration = Duration::from_millis(200);
/// A forecast further off than this is given as such: nobody's drive lives so long.
const FAR_S: f64 = 100.0 * 365.25 * 86_400.0;

/// Reads drives or reports, and shows them.
///
/// # Errors
/// When one cannot be read, is no SSD, or two reports of a drive do not fit together.
pub fn inspect(args: &Inspect) -> Result<Exit, Failure> {
    if let (Some(interval), Some(out)) = (&args.watch, &args.out) {
        return watch(args, interval, out);
    }
    let mut drives: Vec<Drive> = Vec::new();
    for path in &args.what {
        for report in looks(path, args.device_type.as_deref())? {
            add(&mut drives, read(&report)?);
        }
    }
    let mut shown = Vec::new();
    for drive in &drives {
        let (first, last) = drive.ends();
        shown.push((last, forecasts(first, last)?));
    }
    if args.json {
        let values: Vec<_> = shown
            .iter()
            .map(|(last, forecasts)| {
                serde_json::json!({ "inspection": last, "forecasts": forecasts })
            })
            .collect();
        print_json(&values)?;
    } else {
        let texts: Vec<String> = shown.iter().map(|(last, f)| text(last, f)).collect();
        print(&texts.join("\n"))?;
    }
    let fails = shown.iter().any(|(last, _)| last.passed == Some(false));
    Ok(if fails { Exit::Fails } else { Exit::Good })
}

/// What a path leads to: the drive itself, or reports in a file.
fn looks(path: &Path, kind: Option<&str>) -> Result<Vec<DriveReport>, LabError> {
    let meta = std::fs::metadata(path).map_err(|error| LabError::file("reading", path, error))?;
    let is_device = meta.file_type().is_block_device() || meta.file_type().is_char_device();
    if is_device {
        return Ok(vec![collect(path, kind)?]);
    }
    drive_reports(path)
}

/// The looks at one drive.
struct Drive {
    looks: Vec<Inspection>,
}

impl Drive {
    /// The last look, and the first if there is more than one.
    fn ends(&self) -> (Option<&Inspection>, &Inspection) {
        let last = &self.looks[self.looks.len() - 1];
        let first = (self.looks.len() > 1).then(|| &self.looks[0]);
        (first, last)
    }
}

fn add(drives: &mut Vec<Drive>, look: Inspection) {
    let same = |drive: &&mut Drive| {
        let known = &drive.looks[0].identity;
        (&known.model, &known.serial) == (&look.identity.model, &look.identity.serial)
    };
    match drives.iter_mut().find(same) {
        Some(drive) => {
            drive.looks.push(look);
            drive.looks.sort_by_key(|look| look.taken_at);
        }
        None => drives.push(Drive { looks: vec![look] }),
    }
}

// ---- showing ----------------------------------------------------------------------------------

fn text(inspection: &Inspection, forecasts: &[Forecast]) -> String {
    let when = inspection
        .taken_at
        .and_then(|at| u64::try_from(at).ok())
        .map_or(String::new(), |at| {
            format!(", {}", Utc::from_unix(at).date())
        });
    let mut out = format!("{}{when}\n", inspection.source);
    for (label, text) in lines(inspection) {
        out += &paragraph(label, &text);
    }
    for (n, forecast) in forecasts.iter().enumerate() {
        let label = if n == 0 { "worn out" } else { "" };
        out += &paragraph(label, &sentence(forecast, inspection));
    }
    out
}

fn paragraph(label: &str, text: &str) -> String {
    let mut out = String::new();
    for (n, line) in wrap(text, WIDTH - INDENT).iter().enumerate() {
        let label = if n == 0 { label } else { "" };
        out += format!("  {label:<13}{line}").trim_end();
        out.push('\n');
    }
    out
}

fn sentence(forecast: &Forecast, inspection: &Inspection) -> String {
    let from = inspection.taken_at.unwrap_or(0) as f64;
    let date = |t: f64| (t - from <= FAR_S).then(|| Utc::from_unix(t as u64).date());
    let by = match forecast.method {
        Method::TimedWorkload => "by the timed workload",
        Method::WritesPerPercent => "by writes and what each per cent of life took so far",
        Method::PercentageUsed => "by the percentage used",
        Method::RatedWrites => "by the published rating",
        Method::LifetimeAverage => "by the average of its life so far",
    };
    let far = || "100 years and more".to_owned();
    let span = match (date(forecast.earliest), forecast.likely.map(date)) {
        (None, _) => "in more than 100 years".into(),
        (Some(earliest), None) => format!("not before {earliest}"),
        (Some(earliest), Some(None)) => format!("after {earliest}, perhaps long after"),
        (Some(earliest), Some(Some(likely))) => {
            let latest = forecast.latest.and_then(date).unwrap_or_else(far);
            match earliest == likely && likely == latest {
                true => likely,
                false => format!("{likely} ({earliest} to {latest})"),
            }
        }
    };
    format!("{span}, {by}: {}", forecast.why)
}

// ---- watching ---------------------------------------------------------------------------------

fn watch(args: &Inspect, interval: &str, out: &Path) -> Result<Exit, Failure> {
    let interval = parse_duration(interval)?;
    let [device] = args.what.as_slice() else {
        return Err(LabError::refused(
            "--watch takes one device",
            "start one for each device, each with its own --out",
        )
        .into());
    };
    let interval = Duration::from_nanos(interval.0);
    if interval < Duration::from_secs(1) {
        return Err(LabError::refused(
            "--watch cannot ask more often than once a second",
            "drives update their counters every minute to every hour",
        )
        .into());
    }
    let stop = stop_on_signal()?;
    // Asked once before the file is made, so that a drive that cannot be read leaves none.
    let kind = args.device_type.as_deref();
    let mut look = looks(device, kind)?.pop();
    let mut file = open(out)?;
    let mut records = 0_u64;
    let started = Instant::now();
    while let Some(report) = look.take() {
        read(&report)?;
        record(&mut file, out, &report)?;
        records += 1;
        say(
            args.quiet,
            &format!(
                "{} record {records} in {}",
                Utc::now().rfc3339(),
                out.display()
            ),
        );
        let due = interval.saturating_mul(u32::try_from(records).unwrap_or(u32::MAX));
        if args.count.is_some_and(|count| records >= count) || !wait(started, due, &stop) {
            break;
        }
        look = match looks(device, kind) {
            Ok(mut found) => found.pop(),
            // Ctrl-C reaches smartctl too.
            Err(_) if stop.load(Ordering::Relaxed) => break,
            Err(error) => return Err(error.into()),
        };
    }
    Ok(Exit::Good)
}

/// Waits until `due` after `started`; false when told to stop.
fn wait(started: Instant, due: Duration, stop: &AtomicBool) -> bool {
    while !stop.load(Ordering::Relaxed) {
        let left = due.saturating_sub(started.elapsed());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(TICK));
    }
    false
}

/// Opens the record for adding. A last line that was cut off is removed.
fn open(path: &Path) -> Result<File, LabError> {
    let failed = |error| LabError::file("writing", path, error);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(failed)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
    let whole = bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let is_record = bytes.is_empty() || bytes.starts_with(b"{");
    if !is_record || (whole == 0 && !bytes.is_empty()) {
        return Err(LabError::refused(
            format!("{} is not a record of `inspect --watch`", path.display()),
            "name a new file",
        ));
    }
    file.set_len(whole as u64).map_err(failed)?;
    file.seek(SeekFrom::End(0)).map_err(failed)?;
    Ok(file)
}

/// One line, on disk before the next is waited for.
fn record(file: &mut File, path: &Path, report: &DriveReport) -> Result<(), LabError> {
    let mut line = serde_json::to_string(report)
        .map_err(|error| LabError::refused(format!("writing JSON: {error}"), ""))?;
    line.push('\n');
    file.write_all(line.as_bytes())
        .and_then(|()| file.sync_data())
        .map_err(|error| LabError::file("writing", path, error))
}
