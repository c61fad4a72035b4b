//! `ssdlab trace`: what a trace looks like, and from one format into another.

use crate::failure::{Exit, Failure};
use crate::output::{print, print_json};
use clap::{Args, Subcommand};
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_duration;
use ssdlab_load::trace::describe::{Describer, Description};
use ssdlab_load::trace::write::Writer;
use ssdlab_load::trace::{Format, ReadOptions, Reader, Reading, show};
use std::fs::File;
use std::io::{BufWriter, Write};
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
    /// The trace's format, if not told from its content: csv, blkparse, blktrace, fio-iolog-2,
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
        read_options(
            self.trace_format.as_deref(),
            &self.bad_share,
            self.device.as_deref(),
        )
    }
}

/// How to read a trace, from what the user wrote.
///
/// # Errors
/// When a format is unknown or the share is none.
pub fn read_options(
    format: Option<&str>,
    bad_share: &str,
    device: Option<&str>,
) -> Result<ReadOptions, LabError> {
    let format = format.map(format_named).transpose()?;
    let text = bad_share.trim();
    let share = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>();
    let share = share.ok().filter(|percent| (0.0..=100.0).contains(percent));
    let bad_share = share.ok_or_else(|| {
        LabError::refused(
            format!("--bad-share cannot be `{text}`"),
            "give per cent of the lines, as in --bad-share 2%",
        )
    })?;
    Ok(ReadOptions {
        format,
        bad_share: bad_share / 100.0,
        device: device.map(str::to_owned),
    })
}

fn format_named(name: &str) -> Result<Format, LabError> {
    Format::named(name).ok_or_else(|| {
        LabError::refused(
            format!("`{name}` is no trace format"),
            format!("known are {}", Format::names()),
        )
    })
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
        } => show(files, interval, rows, *json, &read.options()?),
        Action::Convert {
            from,
            to,
            format,
            read,
        } => convert(from, to, format, &read.options()?),
    }
}

fn show(
    files: &[PathBuf],
    interval: &str,
    rows: &str,
    json: bool,
    options: &ReadOptions,
) -> Result<Exit, Failure> {
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
        let (reading, description) = describe(file, interval_ns, rows_max, options)?;
        if json {
            pages.push(page(file, &reading, &description)?);
        } else {
            let gap = if number > 0 { "\n" } else { "" };
            let text = show::text(&name(file), &reading, &description);
            print(&format!("{gap}{text}"))?;
        }
        warn(file, &reading);
    }
    match &pages[..] {
        [] => {}
        [one] => print_json(one)?,
        several => print_json(&several)?,
    }
    Ok(Exit::Good)
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy()
        .chars()
        .filter(|c| !c.is_control())
        .collect()
}

fn describe(
    file: &Path,
    interval_ns: u64,
    rows_max: usize,
    options: &ReadOptions,
) -> Result<(Reading, Description), LabError> {
    let mut reader = Reader::open(file, options)?;
    let mut describer = Describer::new(interval_ns, rows_max);
    while let Some(event) = reader.next_event()? {
        describer.event(&event);
    }
    Ok((reader.reading(), describer.finish()))
}

fn page(
    file: &Path,
    reading: &Reading,
    description: &Description,
) -> Result<serde_json::Value, LabError> {
    let description = serde_json::to_value(description)
        .map_err(|error| LabError::refused(format!("writing JSON: {error}"), ""))?;
    let bad: Vec<_> = reading
        .shown
        .iter()
        .map(|bad| serde_json::json!({"line": bad.number, "why": bad.why, "text": bad.text}))
        .collect();
    Ok(serde_json::json!({
        "file": name(file),
        "format": reading.format.name(),
        "lines": reading.lines,
        "lines_bad": reading.bad,
        "lines_bad_shown": bad,
        "lines_skipped": reading.skipped,
        "devices": reading.devices,
        "trace": description,
    }))
}

/// What the reader of the result should know about the file.
pub fn warn(file: &Path, reading: &Reading) {
    let file = file.display().to_string();
    let file: String = file.chars().filter(|c| !c.is_control()).collect();
    if reading.bad > 0 {
        let lines: String = reading
            .bad_lines()
            .chars()
            .map(|c| if c.is_control() && c != '\n' { '?' } else { c })
            .collect();
        tell!(
            "warning: {file}: {} of {} lines were left out as they cannot be read as {}:{lines}",
            reading.bad,
            reading.lines,
            reading.format.name()
        );
    }
    if reading.unended {
        tell!("warning: {file}: the last line has no line end: the file may have been cut short");
    }
}

fn convert(from: &Path, to: &Path, format: &str, options: &ReadOptions) -> Result<Exit, Failure> {
    let format = format_named(format)?;
    let mut reader = Reader::open(from, options)?;
    let file = File::create_new(to).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => LabError::refused(
            format!("{} exists", to.display()),
            "choose another name, or remove it first",
        ),
        _ => LabError::file("creating", to, error),
    })?;
    let outcome = copy(&mut reader, format, BufWriter::new(file), from);
    Ok(whole_or_none(to, outcome).map(|()| Exit::Good)?)
}

/// The outcome of writing the trace `to`. What there is of one that failed is removed: half a trace
/// would pass for a whole one.
pub fn whole_or_none(to: &Path, outcome: Result<(), LabError>) -> Result<(), LabError> {
    outcome.map_err(|error| {
        let _ = std::fs::remove_file(to);
        match error {
            LabError::File {
                action: action @ "writing",
                source,
                ..
            } => LabError::file(action, to, source),
            error => error,
        }
    })
}

fn copy(reader: &mut Reader, format: Format, out: impl Write, from: &Path) -> Result<(), LabError> {
    let mut writer = Writer::new(format, out)?;
    while let Some(event) = reader.next_event()? {
        writer.event(&event)?;
    }
    let lost = writer.finish()?;
    let reading = reader.reading();
    warn(from, &reading);
    tell!("{} commands written as {}", reading.events, format.name());
    let left_out = [
        (
            lost.commands,
            "commands of a kind or length it does not know",
        ),
        (lost.completions, "completion times"),
        (lost.flags, "FUA or flush flags of writes"),
        (lost.rounded, "parts of sectors (rounded to whole ones)"),
    ];
    for (count, what) in left_out.iter().filter(|(count, _)| *count > 0) {
        tell!("note: {} cannot hold {count} {what}", format.name());
    }
    if lost.unit_ns > 1 {
        tell!(
            "note: {} holds times in units of {} ns",
            format.name(),
            lost.unit_ns
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a full disk the message named no file, and said that what was written is kept.
    #[test]
    fn a_trace_that_cannot_be_written_is_named_and_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let to = dir.path().join("out.csv");
        std::fs::write(&to, "t_us,op").expect("written");
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let outcome = Err(LabError::file("writing", "the trace", full));
        let error = whole_or_none(&to, outcome).expect_err("it failed");
        assert!(error.to_string().contains("out.csv"), "{error}");
        assert!(!error.hint().contains("kept"), "{}", error.hint());
        assert!(!to.exists());
    }
}
