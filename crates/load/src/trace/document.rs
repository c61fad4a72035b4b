//! What is printed of a trace as JSON.

use super::describe::Description;
use super::read::{BadLine, TraceReadStats};
use schemars::JsonSchema;
use serde::Serialize;

/// A trace, described.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TraceDocument<'a> {
    /// Its file, without the folder.
    pub file: &'a str,
    /// Its format.
    pub format: &'static str,
    /// Lines, or records of a binary trace.
    pub lines: u64,
    /// Lines that could not be understood.
    pub lines_bad: u64,
    /// The first of them.
    pub lines_bad_shown: Vec<BadLineDocument<'a>>,
    /// Well-formed lines that are no command of the device.
    pub lines_skipped: u64,
    /// Devices of which commands were seen.
    pub devices: &'a [String],
    /// Its commands.
    pub trace: &'a Description,
}

/// A line that could not be understood.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BadLineDocument<'a> {
    /// Number of the line, from 1.
    pub line: u64,
    /// Why.
    pub why: &'a str,
    /// How it begins.
    pub text: &'a str,
}

impl<'a> TraceDocument<'a> {
    /// The document of the trace in `file`.
    pub fn new(
        file: &'a str,
        reading: &'a TraceReadStats,
        trace: &'a Description,
    ) -> TraceDocument<'a> {
        TraceDocument {
            file,
            format: reading.format.name(),
            lines: reading.lines,
            lines_bad: reading.bad,
            lines_bad_shown: reading.shown.iter().map(BadLineDocument::from).collect(),
            lines_skipped: reading.skipped,
            devices: &reading.devices,
            trace,
        }
    }
}

impl<'a> From<&'a BadLine> for BadLineDocument<'a> {
    fn from(bad: &'a BadLine) -> BadLineDocument<'a> {
        BadLineDocument {
            line: bad.number,
            why: &bad.why,
            text: &bad.text,
        }
    }
}
