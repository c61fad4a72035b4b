//! `ssdlab trace`: a trace described, and converted from one format into another.

use crate::failure::{Exit, Failure};
use crate::output::{print, print_json};
use clap::{Args, Subcommand};
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_duration;
use ssdlab_load::trace::files::{Described, convert, format_named, read_options, warnings};
use ssdlab_load::trace::{ReadOptions, Reading};
use std::path::{Path, PathBuf};

/// Rows of the pattern in JSON, where nobody scrolls.
const JSON_ROWS: usize = 100_000;

/// `ssdlab trace`.
#[derive(Args, Debug)]
#[command(after_help = "\
A trace may be blkparse text, binary blktrace, a fio iolog (version 2 or 3), MSR
Cambridge CSV, SPC, DiskSim or MQSim ASCII, biosnoop output, or our own CSV; any
of them compressed with gzip. Run one with `ssdlab run --trace FILE`.")]
pub struct Trace {
    /// What to do.
    #[command(subcommand)]
    pub action: Action,
}

/// `ssdlab trace ...`.
#[derive(Subcommand, Debug)]
pub enum Action {
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
    /// The trace's format, unless it is recognised from its content: csv, blkparse, blktrace, fio-iolog-2,
    /// fio-iolog-3, msr, spc, disksim, mqsim or biosnoop.
    #[arg(long = "format", value_name = "FORMAT")]
    pub trace_format: Option<String>,
    /// Share of lines that may be bad, in per cent.
    #[arg(long, default_value = "1%", value_name = "PERCENT")]
    pub bad_share: String,
    /// Which device, where a trace holds several; `all` takes them as one.
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
}

impl ReadArgs {
    fn options(&self) -> Result<ReadOptions, LabError> {
        let format = self.trace_format.as_deref();
        read_options(format, &self.bad_share, self.device.as_deref())
    }
}

/// Carries out `ssdlab trace ...`.
///
/// # Errors
/// When a trace cannot be read or written.
pub fn trace(action: &Action) -> Result<Exit, Failure> {
    match action {
        Action::Show {
            files,
            interval,
            rows,
            json,
            read,
        } => show(files, interval, rows, *json, &read.options()?)?,
        Action::Convert {
            from,
            to,
            format,
            read,
        } => {
            let format = format_named(format)?;
            let converted = convert(from, to, format, &read.options()?)?;
            warn(from, &converted.reading);
            tell!(
                "{} commands written as {}",
                converted.reading.events,
                format.name()
            );
            for loss in converted.losses {
                tell!("note: {loss}");
            }
        }
    }
    Ok(Exit::Good)
}

fn show(
    files: &[PathBuf],
    interval: &str,
    rows: &str,
    json: bool,
    options: &ReadOptions,
) -> Result<(), Failure> {
    let interval_ns = parse_duration(interval)?.0;
    if interval_ns == 0 {
        return Err(LabError::refused("--interval 0", "give a time such as 1s").into());
    }
    let rows_max = match rows {
        "all" => usize::MAX,
        _ if json => JSON_ROWS,
        number => number.parse().map_err(|_| {
            LabError::refused(
                format!("--rows cannot be `{number}`"),
                "give a number, or all",
            )
        })?,
    };
    let mut pages = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let described = Described::read(file, interval_ns, rows_max, options)?;
        if json {
            pages.push(described.json()?);
        } else {
            let gap = if number > 0 { "\n" } else { "" };
            print(&format!("{gap}{}", described.text()))?;
        }
        warn(file, described.reading());
    }
    match &pages[..] {
        [] => Ok(()),
        [one] => print_json(one),
        several => print_json(&several),
    }
}

/// Warns of lines of a trace that were left out.
pub fn warn(file: &Path, reading: &Reading) {
    for warning in warnings(file, reading) {
        tell!("warning: {warning}");
    }
}
