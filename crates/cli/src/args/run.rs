//! Arguments of `ssdlab run`.

use super::{OutputArgs, TargetArgs};
use clap::{Args, ValueEnum};
use ssdlab_base::LabError;
use ssdlab_load::trace::ReadOptions;
use ssdlab_load::trace::files::read_options;
use ssdlab_load::trace::replay::AddressFit;
use std::path::PathBuf;

/// `ssdlab run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab run job.fio
  ssdlab run job.fio --target drive:consumer-sata-1tb
  ssdlab run --target drive:consumer-sata-1tb -- \\
      fio --name=log --rw=write --bs=4k --size=1g --fdatasync=1
  ssdlab run --profile jesd219-enterprise --target drive:consumer-sata-1tb
  ssdlab run --trace log.csv.gz --speed max --target drive:consumer-sata-1tb
  ssdlab run --size 100GiB --fill 205 --idle 10m -- \\
      diskspd.exe -t8 -b4k -r4k -o1 -w30 -Su -D -L -d1800 -Rxml \\
      drive:consumer-sata-1tb")]
pub struct RunArgs {
    /// A fio job file.
    #[arg(value_name = "JOB.fio")]
    pub job: Option<PathBuf>,
    /// A workload by name (see `ssdlab list profiles`).
    #[arg(long, value_name = "NAME", conflicts_with = "job")]
    pub profile: Option<String>,
    /// Commands outstanding: of a profile's last phase, or of a trace (32 unless given).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub iodepth: Option<u32>,
    /// Length of a profile's last phase (60s).
    #[arg(long, value_name = "TIME", requires = "profile")]
    pub runtime: Option<String>,
    /// A command line of fio or DISKSPD, after `--`; its first word says which.
    #[arg(last = true, value_name = "fio|diskspd ARGS")]
    pub command_line: Vec<String>,
    /// Where to run it, instead of the target that the workload names.
    #[arg(long, short, value_name = "TARGET")]
    pub target: Option<String>,
    /// Before the run, write this percentage of the target's capacity, front to back (205: a
    /// little over twice).
    #[arg(long, value_name = "PERCENT")]
    pub fill: Option<u32>,
    /// Do not write the files of jobs that read before they are read; fio and DISKSPD's -c do, and
    /// so does a run on a fresh modelled drive, unless --fill is given.
    #[arg(long)]
    pub no_layout: bool,
    /// After that, leave it idle for this time (10m).
    #[arg(long, value_name = "TIME")]
    pub idle: Option<String>,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value = "table")]
    pub format: RunFormat,
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
    /// `max`: as fast as possible; a number: recorded times, faster by this factor.
    #[arg(long, value_name = "max|X", default_value = "1.0", requires = "trace")]
    pub speed: String,
    /// Fold addresses beyond the target's end.
    #[arg(long, requires = "trace")]
    pub wrap: bool,
    /// Shrink all addresses so that the highest fits.
    #[arg(long, requires = "trace", conflicts_with = "wrap")]
    pub scale: bool,
    /// The trace's format, unless it is recognised from its content.
    #[arg(long, value_name = "FORMAT", requires = "trace")]
    pub trace_format: Option<String>,
    /// Percentage of lines that may be bad.
    #[arg(long, value_name = "PERCENT", default_value = "1%", requires = "trace")]
    pub bad_share: String,
    /// Which device, where a trace holds several; `all` takes them as one.
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub device: Option<String>,
}

impl ReplayArgs {
    /// The options of reading the trace.
    ///
    /// # Errors
    /// When the format is unknown or the share is not a percentage.
    pub fn options(&self) -> Result<ReadOptions, LabError> {
        let format = self.trace_format.as_deref();
        read_options(format, &self.bad_share, self.device.as_deref())
    }

    /// What to do with addresses beyond the target's end.
    pub fn fit(&self) -> AddressFit {
        if self.wrap {
            AddressFit::Wrap
        } else if self.scale {
            AddressFit::Scale
        } else {
            AddressFit::Refuse
        }
    }
}

/// `--format`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFormat {
    /// A table for people.
    Table,
    /// ssdlab's result.json.
    Json,
    /// fio's JSON.
    FioJson,
    /// DISKSPD's XML.
    DiskspdXml,
}
