//! Rows of `series.csv` and of the histograms.
//!
//! Every run has the same columns in the same order and of the same types, whatever it did: a mean
//! always has a decimal point, so that a reader that guesses types from one file guesses right for
//! all of them.

use crate::device::OP_NAMES;
use crate::record::{OpSecond, Second};
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_base::latencies::Latencies;
use ssdlab_ssd::Op;
use std::fmt::Write;
use std::str::FromStr;

/// Columns of `series.csv` per kind of command, behind its name.
pub(super) const OP_COLUMNS: [&str; 7] = [
    "count", "bytes", "mean_ns", "p50_ns", "p99_ns", "p999_ns", "max_ns",
];
/// The one of them that version 1 of the format did not have.
const SINCE_2: &str = "p999_ns";

/// First line of the histograms.
pub(super) const HISTOGRAMS_HEADER: &str = "phase,t_s,op,latency_ns_low,latency_ns_high,count";

/// Columns per kind of command in `version` of the format.
fn op_columns(version: u32) -> impl Iterator<Item = &'static str> + Clone {
    let known = move |column: &&str| version >= 2 || *column != SINCE_2;
    OP_COLUMNS.into_iter().filter(known)
}

/// First line of `series.csv` in `version` of the format.
pub(super) fn series_header(version: u32) -> String {
    let ops = OP_NAMES
        .iter()
        .flat_map(|op| op_columns(version).map(move |column| format!(",{op}_{column}")));
    let ops: String = ops.collect();
    format!("phase,t_s,length_s{ops},nand_bytes_written,device_flushes")
}

/// One second as a line; an unknown is an empty field.
pub(super) fn series_row(second: &Second) -> String {
    let mut row = format!("{},{},{:?}", second.phase, second.t_s, second.length_s);
    for o in &second.ops {
        let OpSecond {
            count,
            bytes,
            mean_ns,
            p50_ns,
            p99_ns,
            p999_ns,
            max_ns,
        } = o;
        // Writing to a String cannot fail.
        let _ = write!(row, ",{count},{bytes},{mean_ns:?},{p50_ns},{p99_ns}");
        let _ = write!(row, ",{p999_ns},{max_ns}");
    }
    for unknown in [second.nand_bytes_written, second.device_flushes] {
        row.push(',');
        if let Some(value) = unknown {
            let _ = write!(row, "{value}");
        }
    }
    row.push('\n');
    row
}

/// Reads what [`series_row`] of `version` wrote.
pub(super) fn parse_series_row(
    line: &str,
    version: u32,
    place: &InputLocation,
) -> Result<Second, LabError> {
    let columns = 3 + Op::COUNT * op_columns(version).count() + 2;
    let mut fields = Fields::new(line, columns, place)?;
    let phase = fields.number("phase")?;
    let t_s = fields.number("t_s")?;
    let length_s = fields.finite("length_s")?;
    let mut ops = [OpSecond::default(); Op::COUNT];
    for op in &mut ops {
        op.count = fields.number("count")?;
        op.bytes = fields.number("bytes")?;
        op.mean_ns = fields.finite("mean_ns")?;
        op.p50_ns = fields.number("p50_ns")?;
        op.p99_ns = fields.number("p99_ns")?;
        if op_columns(version).any(|column| column == SINCE_2) {
            op.p999_ns = fields.number(SINCE_2)?;
        }
        op.max_ns = fields.number("max_ns")?;
    }
    Ok(Second {
        phase,
        t_s,
        length_s,
        ops,
        nand_bytes_written: fields.optional("nand_bytes_written")?,
        device_flushes: fields.optional("device_flushes")?,
    })
}

/// One used bucket of one second's histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistogramRow {
    /// Phase number, from 0.
    pub phase: usize,
    /// The second, as in `series.csv`.
    pub t_s: i64,
    /// Kind of command.
    pub op: Op,
    /// Shortest latency that falls into the bucket, ns.
    pub latency_ns_low: u64,
    /// Longest latency that falls into the bucket, ns.
    pub latency_ns_high: u64,
    /// Commands in it.
    pub count: u64,
}

/// Every used bucket of one kind of command in one second, as lines.
pub(super) fn histogram_rows(second: &Second, op: Op, latencies: &Latencies, rows: &mut String) {
    for bucket in latencies.iter_recorded() {
        let value = bucket.value_iterated_to();
        let _ = writeln!(
            rows,
            "{},{},{},{},{},{}",
            second.phase,
            second.t_s,
            op.name(),
            latencies.lowest_equivalent(value),
            latencies.highest_equivalent(value),
            bucket.count_since_last_iteration(),
        );
    }
}

/// Reads what [`histogram_rows`] wrote.
pub(super) fn parse_histogram_row(
    line: &str,
    place: &InputLocation,
) -> Result<HistogramRow, LabError> {
    let mut fields = Fields::new(line, 6, place)?;
    let phase = fields.number("phase")?;
    let t_s = fields.number("t_s")?;
    let name = fields.next();
    let op = Op::ALL.into_iter().find(|op| op.name() == name);
    Ok(HistogramRow {
        phase,
        t_s,
        op: op.ok_or_else(|| {
            bad_value(
                "op",
                name,
                &format!("one of {}", OP_NAMES.join(", ")),
                place,
            )
        })?,
        latency_ns_low: fields.number("latency_ns_low")?,
        latency_ns_high: fields.number("latency_ns_high")?,
        count: fields.number("count")?,
    })
}

/// A line's fields, taken one after another.
struct Fields<'a> {
    fields: std::str::Split<'a, char>,
    place: &'a InputLocation,
}

impl<'a> Fields<'a> {
    fn new(
        line: &'a str,
        columns: usize,
        place: &'a InputLocation,
    ) -> Result<Fields<'a>, LabError> {
        let count = line.split(',').count();
        if count != columns {
            return Err(bad_value(
                "line",
                line,
                &format!("it needs {columns} columns"),
                place,
            ));
        }
        Ok(Fields {
            fields: line.split(','),
            place,
        })
    }

    fn next(&mut self) -> &'a str {
        self.fields.next().unwrap_or_default()
    }

    fn number<T: FromStr>(&mut self, column: &str) -> Result<T, LabError> {
        let field = self.next();
        field
            .parse()
            .map_err(|_| bad_value(column, field, "a whole number", self.place))
    }

    fn finite(&mut self, column: &str) -> Result<f64, LabError> {
        let field = self.next();
        let number = field.parse().ok().filter(|v: &f64| v.is_finite());
        number.ok_or_else(|| bad_value(column, field, "a finite number", self.place))
    }

    fn optional(&mut self, column: &str) -> Result<Option<u64>, LabError> {
        let field = self.next();
        if field.is_empty() {
            return Ok(None);
        }
        let number = field.parse();
        number
            .map(Some)
            .map_err(|_| bad_value(column, field, "a whole number or empty", self.place))
    }
}

/// A value that is not what this file can hold; long values are cut for the message.
pub(super) fn bad_value(
    column: &str,
    value: &str,
    allowed: &str,
    place: &InputLocation,
) -> LabError {
    const SHOWN: usize = 40;
    let mut shown: String = value
        .chars()
        .take(SHOWN)
        .flat_map(char::escape_debug)
        .collect();
    if value.chars().nth(SHOWN).is_some() {
        shown.push_str("...");
    }
    LabError::BadValue {
        option: column.to_string(),
        given: shown,
        allowed: allowed.to_string(),
        place: place.clone(),
        hint: "is this a file written by ssdlab, and unchanged since?".to_string(),
    }
}
