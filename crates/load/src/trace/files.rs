//! Traces by file name: described, converted, with warnings about lines that were left out.

use super::describe::{Describer, Description};
use super::document::TraceDocument;
use super::read::{ReadOptions, TraceReadStats, TraceReader};
use super::write::TraceWriter;
use super::{TraceFormat, show};
use ssdlab_base::LabError;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The options of reading a trace, from texts: a format's name, the share of lines that may be
/// bad in per cent, and a device.
///
/// # Errors
/// When the format is unknown or the share is not a percentage.
pub fn read_options(
    format: Option<&str>,
    bad_share: &str,
    device: Option<&str>,
) -> Result<ReadOptions, LabError> {
    let format = format.map(TraceFormat::named).transpose()?;
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

/// A trace that was read to its end.
pub struct DescribedTrace {
    name: String,
    reading: TraceReadStats,
    description: Description,
}

impl DescribedTrace {
    /// Reads `file`; an interval of the pattern lasts `interval_ns`, and at most `rows_max` of
    /// them are kept.
    ///
    /// # Errors
    /// When the file cannot be read or is not a trace.
    pub fn read(
        file: &Path,
        interval_ns: u64,
        rows_max: usize,
        options: &ReadOptions,
    ) -> Result<DescribedTrace, LabError> {
        let mut reader = TraceReader::open(file, options)?;
        let mut describer = Describer::new(interval_ns, rows_max);
        while let Some(event) = reader.next_event()? {
            describer.event(&event);
        }
        let name = file.file_name().unwrap_or(file.as_os_str());
        Ok(DescribedTrace {
            name: printable(&name.to_string_lossy()),
            reading: reader.reading(),
            description: describer.finish(),
        })
    }

    /// Counts of lines that were read and left out.
    pub fn reading(&self) -> &TraceReadStats {
        &self.reading
    }

    /// The description for a terminal.
    pub fn text(&self) -> String {
        show::text(&self.name, &self.reading, &self.description)
    }

    /// The description as JSON.
    ///
    /// # Errors
    /// When it holds a number that JSON has no way to write.
    pub fn json(&self) -> Result<serde_json::Value, LabError> {
        serde_json::to_value(TraceDocument::new(
            &self.name,
            &self.reading,
            &self.description,
        ))
        .map_err(|error| LabError::refused(format!("writing JSON: {error}"), ""))
    }
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// Warnings about lines of `file` that were left out.
pub fn warnings(file: &Path, reading: &TraceReadStats) -> Vec<String> {
    let file = printable(&file.display().to_string());
    let mut warnings = Vec::new();
    if reading.bad > 0 {
        let visible = |c: char| if c.is_control() && c != '\n' { '?' } else { c };
        let lines: String = reading.bad_lines().chars().map(visible).collect();
        warnings.push(format!(
            "{file}: {} of {} lines were left out as they cannot be read as {}:{lines}",
            reading.bad,
            reading.lines,
            reading.format.name()
        ));
    }
    if reading.unended {
        warnings.push(format!(
            "{file}: the last line has no line end: the file may have been cut short"
        ));
    }
    warnings
}

/// A trace that was written in another format.
pub struct TraceConversion {
    /// Counts of lines that were read and left out.
    pub reading: TraceReadStats,
    /// What the new format cannot hold, a sentence each.
    pub losses: Vec<String>,
}

/// Writes the trace `from` to the new file `to` in `format`.
///
/// # Errors
/// When one cannot be read, or the other exists or cannot be written; then it is removed.
pub fn convert(
    from: &Path,
    to: &Path,
    format: TraceFormat,
    options: &ReadOptions,
) -> Result<TraceConversion, LabError> {
    let mut reader = TraceReader::open(from, options)?;
    let file = File::create_new(to).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => LabError::refused(
            format!("{} exists", to.display()),
            "choose another name, or remove it first",
        ),
        _ => LabError::file("creating", to, error),
    })?;
    whole_or_none(to, copy(&mut reader, format, BufWriter::new(file)))
}

/// The outcome of writing the trace `to`. A file whose writing failed is removed: half a trace
/// would pass for a whole one.
///
/// # Errors
/// Those of `outcome`, with the name of the file.
pub fn whole_or_none<T>(to: &Path, outcome: Result<T, LabError>) -> Result<T, LabError> {
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

fn copy(
    reader: &mut TraceReader,
    format: TraceFormat,
    out: impl Write,
) -> Result<TraceConversion, LabError> {
    let mut writer = TraceWriter::new(format, out)?;
    while let Some(event) = reader.next_event()? {
        writer.event(&event)?;
    }
    let lost = writer.finish()?;
    let left_out = [
        (
            lost.commands,
            "commands of a kind or length it does not know",
        ),
        (lost.completions, "completion times"),
        (lost.flags, "FUA or flush flags of writes"),
        (lost.rounded, "parts of sectors (rounded to whole ones)"),
    ];
    let some = left_out.iter().filter(|(count, _)| *count > 0);
    let name = format.name();
    let mut losses: Vec<String> = some
        .map(|(count, what)| format!("{name} cannot hold {count} {what}"))
        .collect();
    if lost.unit_ns > 1 {
        losses.push(format!(
            "{name} holds times in units of {} ns",
            lost.unit_ns
        ));
    }
    Ok(TraceConversion {
        reading: reader.reading(),
        losses,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a full disk the message named no file, and said that the written part is kept.
    #[test]
    fn a_trace_that_cannot_be_written_is_named_and_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let to = dir.path().join("out.csv");
        std::fs::write(&to, "t_us,op").expect("written");
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let outcome: Result<(), _> = Err(LabError::file("writing", "the trace", full));
        let error = whole_or_none(&to, outcome).expect_err("it failed");
        assert!(error.to_string().contains("out.csv"), "{error}");
        assert!(!error.hint().contains("kept"), "{}", error.hint());
        assert!(!to.exists());
    }
}
