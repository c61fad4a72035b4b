//! `ssdlab trace`: a trace described, and converted from one format into another.

use crate::args::trace::TraceAction;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json};
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_duration;
use ssdlab_load::trace::files::{DescribedTrace, convert, warnings};
use ssdlab_load::trace::{ReadOptions, TraceFormat, TraceReadStats};
use std::path::{Path, PathBuf};

/// Maximum number of rows of the pattern in JSON.
const JSON_ROWS: usize = 100_000;

/// Carries out `ssdlab trace ...`.
///
/// # Errors
/// When a trace cannot be read or written.
pub fn trace(action: &TraceAction) -> Result<CommandExit, CliFailure> {
    match action {
        TraceAction::Show {
            files,
            interval,
            rows,
            json,
            read,
        } => show(files, interval, rows, *json, &read.options()?)?,
        TraceAction::Convert {
            from,
            to,
            format,
            read,
        } => {
            let format = TraceFormat::to_write(format)?;
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
    Ok(CommandExit::Good)
}

fn show(
    files: &[PathBuf],
    interval: &str,
    rows: &str,
    json: bool,
    options: &ReadOptions,
) -> Result<(), CliFailure> {
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
        let described = DescribedTrace::read(file, interval_ns, rows_max, options)?;
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
pub fn warn(file: &Path, reading: &TraceReadStats) {
    for warning in warnings(file, reading) {
        tell!("warning: {warning}");
    }
}
