//! What `ssdlab run` was asked to run: a job file, a command line, a profile, a trace, or a
//! profile and then a trace.

use super::trace::{read_options, warn};
use crate::args::{OutputArgs, TargetArgs};
use clap::{Args, ValueEnum};
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_duration;
use ssdlab_load::plan::Plan;
use ssdlab_load::profiles::Profile;
use ssdlab_load::trace::replay::{Fit, Replay};
use ssdlab_load::{diskspd, fio};
use std::path::{Path, PathBuf};

/// `ssdlab run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab run job.fio
  ssdlab run job.fio --target drive:consumer-sata-1tb
  ssdlab run --profile jesd219-enterprise --target drive:consumer-sata-1tb
  ssdlab run --trace log.csv.gz --speed max --target drive:consumer-sata-1tb
  ssdlab run --size 100GiB --fill 205 --idle 10m -- \\
      diskspd.exe -t8 -b4k -r4k -o1 -w30 -Su -D -L -d1800 -Rxml \\
      drive:consumer-sata-1tb")]
pub struct Run {
    /// A fio job file.
    #[arg(value_name = "JOB.fio")]
    pub job: Option<PathBuf>,
    /// A workload by name (see `ssdlab profiles`).
    #[arg(long, value_name = "NAME", conflicts_with = "job")]
    pub profile: Option<String>,
    /// Commands outstanding: of a profile's last phase, or of a trace (32 unless given).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub iodepth: Option<u32>,
    /// Length of a profile's last phase (60s).
    #[arg(long, value_name = "TIME", requires = "profile")]
    pub runtime: Option<String>,
    /// A DISKSPD command line, after `--`.
    #[arg(last = true, value_name = "diskspd ARGS")]
    pub diskspd: Vec<String>,
    /// Where to run it, instead of the target that the workload names.
    #[arg(long, short, value_name = "TARGET")]
    pub target: Option<String>,
    /// Before the run, write the target front to back so many per cent over (205: a little over
    /// twice).
    #[arg(long, value_name = "PERCENT")]
    pub fill: Option<u32>,
    /// After that, leave it idle for so long (10m).
    #[arg(long, value_name = "TIME")]
    pub idle: Option<String>,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    #[command(flatten)]
    pub on: TargetArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub trace: ReplayArgs,
}

/// A trace as the workload of `ssdlab run`.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Replay of a trace")]
pub struct ReplayArgs {
    /// Replay a trace (see `ssdlab trace`); after a --profile's phases if there is one.
    #[arg(long, value_name = "FILE", conflicts_with = "job")]
    pub trace: Option<PathBuf>,
    /// `max`: as fast as possible; a number: recorded times, so many times as fast.
    #[arg(long, value_name = "max|X", default_value = "1.0", requires = "trace")]
    pub speed: String,
    /// Fold addresses beyond the target's end.
    #[arg(long, requires = "trace")]
    pub wrap: bool,
    /// Shrink all addresses so that the highest fits.
    #[arg(long, requires = "trace", conflicts_with = "wrap")]
    pub scale: bool,
    /// The trace's format, if not told from its content.
    #[arg(long, value_name = "FORMAT", requires = "trace")]
    pub trace_format: Option<String>,
    /// Share of lines that may be bad, in per cent.
    #[arg(long, value_name = "PERCENT", default_value = "1%", requires = "trace")]
    pub bad_share: String,
    /// Which device, where a trace holds several; `all` takes them as one.
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub device: Option<String>,
}

/// `--format`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A table for people.
    Table,
    /// ssdlab's result.json.
    Json,
    /// fio's JSON.
    FioJson,
    /// DISKSPD's XML.
    DiskspdXml,
}

/// Commands of a trace that may be outstanding unless the user says otherwise.
const TRACE_DEPTH: u32 = 32;

/// The plan that the user asked for.
///
/// # Errors
/// When nothing or too much was asked for, or it cannot be read.
pub fn read_plan(args: &Run) -> Result<Plan, LabError> {
    let named = args.profile.is_some() || args.trace.trace.is_some();
    match (&args.job, args.diskspd.is_empty()) {
        (None, true) if named => {}
        (Some(_) | None, false) if named => {
            return Err(LabError::refused(
                "a DISKSPD command line was given beside a profile or a trace",
                "give one of them",
            ));
        }
        (Some(_), _) | (_, false) if args.iodepth.is_some() => {
            return Err(LabError::refused(
                "--iodepth is for profiles and traces",
                "write iodepth= in the job file, or -o in the DISKSPD command line",
            ));
        }
        (Some(job), true) => return fio::read(job),
        (None, false) => return diskspd::parse(&args.diskspd),
        (Some(_), false) => {
            return Err(LabError::refused(
                "both a fio job file and a DISKSPD command line were given",
                "give one of them",
            ));
        }
        (None, true) => {
            return Err(LabError::refused(
                "nothing to run: no fio job file, DISKSPD command line, profile or trace was given",
                "ssdlab run JOB.fio, ssdlab run --profile NAME, ssdlab run --trace FILE, or \
                 ssdlab run -- diskspd -b4k -r -w30 ... TARGET",
            ));
        }
    }
    let trace = args.trace.trace.as_deref();
    let Some(name) = &args.profile else {
        return match trace {
            Some(trace) => Ok(replay(args, trace)?.plan(args.iodepth.unwrap_or(TRACE_DEPTH))),
            None => Err(LabError::refused("nothing to run", "see --help")),
        };
    };
    let profile = Profile::named(name)?;
    let run = args.runtime.as_deref().map(parse_duration).transpose()?;
    // Before a trace, a profile prepares: its depth is its own then.
    let depth = args.iodepth.filter(|_| trace.is_none());
    let mut plan = profile.plan(depth, run)?;
    if let Some(trace) = trace {
        let depth = args.iodepth.unwrap_or(TRACE_DEPTH);
        plan.phases.push(replay(args, trace)?.phase(depth));
    }
    Ok(plan)
}

fn replay(args: &Run, path: &Path) -> Result<Replay, LabError> {
    let trace = &args.trace;
    let read = read_options(
        trace.trace_format.as_deref(),
        &trace.bad_share,
        trace.device.as_deref(),
    )?;
    let speed = match trace.speed.as_str() {
        "max" => None,
        text => Some(text.parse::<f64>().map_err(|_| {
            LabError::refused(
                format!("--speed cannot be `{text}`"),
                "give a number such as 1.0 (recorded times) or 2 (twice as fast), or max",
            )
        })?),
    };
    let fit = match (trace.wrap, trace.scale) {
        (true, _) => Fit::Wrap,
        (_, true) => Fit::Scale,
        _ => Fit::Refuse,
    };
    let (replay, reading) = Replay::survey(path, &read, speed, fit)?;
    warn(path, &reading);
    Ok(replay)
}

/// What the run is called in the name of its directory and in legends.
pub fn label(args: &Run) -> String {
    let stem = |path: &Path, otherwise: &str| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy());
        stem.map_or(otherwise.to_owned(), std::borrow::Cow::into_owned)
    };
    match (&args.job, &args.profile, &args.trace.trace) {
        (Some(job), ..) => stem(job, "fio"),
        (_, Some(profile), _) => profile.clone(),
        (_, _, Some(trace)) => stem(trace, "trace"),
        _ => "diskspd".into(),
    }
}

/// What the report is called.
pub fn title(args: &Run) -> String {
    let trace = args.trace.trace.as_ref();
    let trace = trace.map(|trace| format!("trace {}", trace.display()));
    match (&args.job, &args.profile) {
        (Some(job), _) => format!("fio job {}", job.display()),
        (_, Some(profile)) => match trace {
            Some(trace) => format!("profile {profile}, then {trace}"),
            None => format!("profile {profile}"),
        },
        _ => trace.unwrap_or_else(|| format!("DISKSPD {}", args.diskspd.join(" "))),
    }
}
