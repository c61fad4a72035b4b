//! Output of `biosnoop` (bcc, libbpf-tools): one line when a command completes.
//!
//! Columns are found by the header, counted from the right because process names hold blanks.
//! A command was issued LAT(ms) before its TIME(s). Without `-Q` that is its time in the driver.

use super::number::{TraceLineError, bytes_of, time, whole};
use super::pairing::BlockTraceFlags;
use super::sink::{EventSink, Parser};
use crate::trace::TraceEvent;
use ssdlab_ssd::Op;

/// Whether `line` is the header.
pub fn is_header(line: &str) -> bool {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    words.starts_with(&["TIME(s)", "COMM"]) && words.contains(&"SECTOR")
}

/// Columns known from the header.
#[derive(Default)]
pub struct Biosnoop {
    /// Columns from the right to DISK, T, SECTOR, BYTES and LAT(ms).
    columns: Option<[usize; 5]>,
}

impl Parser for Biosnoop {
    fn line(&mut self, line: &str, sink: &mut EventSink) -> Result<(), TraceLineError> {
        if line.trim().is_empty() || is_header(line) {
            if is_header(line) {
                self.columns = Some(columns(line)?);
            }
            sink.skipped += 1;
            return Ok(());
        }
        let columns = self.columns;
        let columns = columns.ok_or_else(|| "it stands before the header".to_owned())?;
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [disk, kind, sector, bytes, latency] = columns.map(|from_right| {
            let column = words.len().checked_sub(from_right);
            column.filter(|at| *at > 1).map(|at| words[at])
        });
        let done_ns = time(words.first().copied(), 1_000_000_000, "time in s")?;
        let latency = time(latency, 1_000_000, "latency in ms")?;
        let len = whole(bytes, "number of bytes")?;
        let kind = kind.and_then(|letters| BlockTraceFlags::of_letters(letters, len));
        let kind = kind.ok_or_else(|| "no kind of command".to_owned())?;
        let offset = match kind.op {
            Op::Flush => 0,
            _ => bytes_of(whole(sector, "sector")?)?,
        };
        let disk = disk.ok_or_else(|| "no disk".to_owned())?;
        if !sink.admits(disk) {
            return Ok(());
        }
        // The first command may have been issued before the tool's zero.
        let event = kind.event(done_ns.saturating_sub(latency), offset, len);
        sink.take(TraceEvent {
            done_ns: Some(done_ns),
            ..event
        })
    }
}

/// Where the columns are, from the right.
fn columns(header: &str) -> Result<[usize; 5], TraceLineError> {
    let words: Vec<&str> = header.split_ascii_whitespace().collect();
    let mut positions = [0; 5];
    let names = ["DISK", "T", "SECTOR", "BYTES", "LAT(ms)"];
    for (column, name) in positions.iter_mut().zip(names) {
        let position = words.iter().position(|word| word == &name);
        *column =
            words.len() - position.ok_or_else(|| format!("the header has no column {name}"))?;
    }
    Ok(positions)
}
