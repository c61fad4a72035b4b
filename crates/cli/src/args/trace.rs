//! Arguments of `ssdlab trace`.

use clap::{Args, Subcommand};
use ssdlab_base::LabError;
use ssdlab_load::trace::ReadOptions;
use ssdlab_load::trace::files::read_options;
use std::path::PathBuf;

/// `ssdlab trace`.
#[derive(Args, Debug)]
#[command(after_help = "\
A trace may be blkparse text, binary blktrace, a fio iolog (version 2 or 3), MSR
Cambridge CSV, SPC, DiskSim or MQSim ASCII, biosnoop output, or our own CSV; any
of them compressed with gzip. Run one with `ssdlab run --trace FILE`.")]
pub struct TraceArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: TraceAction,
}

/// `ssdlab trace ...`.
#[derive(Subcommand, Debug)]
pub enum TraceAction {
    /// Pattern by interval, seek distances, sizes, times, footprint, reuse.
    #[command(after_help = "\
Examples:
  ssdlab trace show log.csv.gz
  ssdlab trace show --interval 10s --rows all sda.blkparse
  ssdlab trace show --device 8,16 --json two-disks.blkparse")]
    Show {
        /// Traces, each shown by itself.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Length of an interval of the pattern.
        #[arg(long, default_value = "1s", value_name = "TIME")]
        interval: String,
        /// Rows of the pattern to print: a number, or `all`.
        #[arg(long, default_value = "20", value_name = "N|all")]
        rows: String,
        /// As JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        read: ReadArgs,
    },
    /// Write a trace in another format.
    #[command(after_help = "\
Examples:
  ssdlab trace convert sda.blktrace.0 sda.csv
  ssdlab trace convert log.csv.gz log.iolog --to fio-iolog-3")]
    Convert {
        /// The trace to read.
        #[arg(value_name = "IN")]
        from: PathBuf,
        /// The trace to write; must not exist.
        #[arg(value_name = "OUT")]
        to: PathBuf,
        /// Its format, one of those that are read.
        #[arg(long = "to", default_value = "csv", value_name = "FORMAT")]
        format: String,
        #[command(flatten)]
        read: ReadArgs,
    },
}

/// How to read a trace.
#[derive(Args, Debug, Clone)]
pub struct ReadArgs {
    /// The trace's format, unless it is recognised from its content: csv, blkparse, blktrace,
    /// fio-iolog-2, fio-iolog-3, msr, spc, disksim, mqsim, biosnoop, alibaba, tencent, systor,
    /// cloudphysics, or columns such as csv:time=us,op,offset,length.
    #[arg(long = "format", visible_alias = "trace-format", value_name = "FORMAT")]
    pub trace_format: Option<String>,
    /// Percentage of lines that may be bad.
    #[arg(long, default_value = "1%", value_name = "PERCENT")]
    pub bad_share: String,
    /// Which device, where a trace holds several; `all` takes them as one.
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
}

impl ReadArgs {
    /// The options of reading that the arguments give.
    ///
    /// # Errors
    /// When the format is unknown or the share is not a percentage.
    pub fn options(&self) -> Result<ReadOptions, LabError> {
        let format = self.trace_format.as_deref();
        read_options(format, &self.bad_share, self.device.as_deref())
    }
}
