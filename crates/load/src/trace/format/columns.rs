//! Formats that a table of columns describes: the public traces of Alibaba, Tencent and SYSTOR '17,
//! and whatever the user describes on the command line.

use super::number::{TraceLineError, excerpt, time, whole};
use super::sink::{EventSink, Parser};
use crate::trace::TraceEvent;
use ssdlab_base::LabError;
use ssdlab_ssd::Op;

/// One command a line, in columns.
#[derive(Debug, PartialEq, Eq)]
pub struct ColumnTable {
    /// The name on the command line.
    pub(super) name: &'static str,
    separator: ColumnSeparator,
    columns: &'static [TraceColumn],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnSeparator {
    Character(char),
    /// Any number of blanks and tabs.
    Blanks,
}

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TraceColumn {
    /// When the command was issued, with the unit in ns.
    Time(u64),
    /// When it was complete, with the unit in ns; may be empty.
    Done(u64),
    /// How long it took, with the unit in ns; may be empty.
    Response(u64),
    /// Its kind: the words of reads and writes; without them those of most tools.
    Op(Option<OpWords>),
    /// Its address, with the unit in bytes.
    Offset(u64),
    /// Its length, with the unit in bytes.
    Length(u64),
    /// Its device, or a part of the device's name.
    Device,
    /// A line with anything else here is no command.
    Only(&'static str),
    /// Anything.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpWords {
    read: &'static str,
    write: &'static str,
}

const NS: u64 = 1;
const US: u64 = 1000;
const S: u64 = 1_000_000_000;
const SECTOR: u64 = 512;

/// `device_id,opcode,offset,length,timestamp` in bytes and us (Li et al., "An In-Depth Analysis of
/// Cloud Block Storage Workloads in Large-Scale Production", IISWC 2020; alibaba/block-traces).
pub static ALIBABA: ColumnTable = ColumnTable {
    name: "alibaba",
    separator: ColumnSeparator::Character(','),
    columns: &[
        TraceColumn::Device,
        TraceColumn::Op(None),
        TraceColumn::Offset(1),
        TraceColumn::Length(1),
        TraceColumn::Time(US),
    ],
};

/// `Timestamp,Offset,Size,IOType,VolumeID` in s and sectors, 0 a read and 1 a write (Zhang et al.,
/// "OSCA", ATC 2020; SNIA IOTTA trace set 27917).
pub static TENCENT: ColumnTable = ColumnTable {
    name: "tencent",
    separator: ColumnSeparator::Character(','),
    columns: &[
        TraceColumn::Time(S),
        TraceColumn::Offset(SECTOR),
        TraceColumn::Length(SECTOR),
        TraceColumn::Op(Some(OpWords {
            read: "0",
            write: "1",
        })),
        TraceColumn::Device,
    ],
};

/// `Timestamp,Response,IOType,LUN,Offset,Size` in s and bytes, the response empty where it was not
/// seen (Lee et al., "Understanding Storage Traffic Characteristics on Enterprise Virtual Desktop
/// Infrastructure", SYSTOR 2017; SNIA IOTTA trace set 4964).
pub static SYSTOR: ColumnTable = ColumnTable {
    name: "systor",
    separator: ColumnSeparator::Character(','),
    columns: &[
        TraceColumn::Time(S),
        TraceColumn::Response(S),
        TraceColumn::Op(None),
        TraceColumn::Device,
        TraceColumn::Offset(1),
        TraceColumn::Length(1),
    ],
};

/// How columns are described, for messages.
pub const SYNTAX: &str = "csv:time=us,op,offset,length names the columns in their order: time, \
    done, response (=s, ms, us, 100ns or ns), op (=R/W), offset, length (=bytes, sectors or a \
    number of bytes), device, only=WORD, and - for any other; csv, tab, semicolon or blanks";

impl ColumnTable {
    /// The table that `text` describes, such as `csv:time=us,op,offset,length`; `None` if it is a
    /// plain name. It lives as long as the program.
    ///
    /// # Errors
    /// When the description is not one, or leaves out what a command needs.
    pub(super) fn described(text: &str) -> Option<Result<&'static ColumnTable, LabError>> {
        let (separator, columns) = text.split_once(':')?;
        Some(read_description(text, separator, columns))
    }
}

fn read_description(
    text: &str,
    separator: &str,
    columns: &str,
) -> Result<&'static ColumnTable, LabError> {
    let refused = |what: String| LabError::refused(what, SYNTAX);
    let separator = match separator {
        "csv" => ColumnSeparator::Character(','),
        "tab" => ColumnSeparator::Character('\t'),
        "semicolon" => ColumnSeparator::Character(';'),
        "blanks" => ColumnSeparator::Blanks,
        other => return Err(refused(format!("`{other}` separates no columns"))),
    };
    let columns: Vec<TraceColumn> = columns
        .split(',')
        .map(|column| {
            described_column(column.trim())
                .ok_or_else(|| refused(format!("`{column}` is no column of a trace")))
        })
        .collect::<Result<_, _>>()?;
    let count = |matches: fn(&TraceColumn) -> bool| columns.iter().filter(|c| matches(c)).count();
    for (name, count) in [
        ("time", count(|c| matches!(c, TraceColumn::Time(_)))),
        ("op", count(|c| matches!(c, TraceColumn::Op(_)))),
        ("offset", count(|c| matches!(c, TraceColumn::Offset(_)))),
        ("length", count(|c| matches!(c, TraceColumn::Length(_)))),
    ] {
        if count != 1 {
            let what = format!("`{text}` has {count} columns `{name}`, and a command needs one");
            return Err(refused(what));
        }
    }
    // A few bytes for each format that is named on the command line.
    Ok(Box::leak(Box::new(ColumnTable {
        name: text.to_owned().leak(),
        separator,
        columns: columns.leak(),
    })))
}

fn described_column(text: &str) -> Option<TraceColumn> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let time_unit = || match value {
        None | Some("us") => Some(US),
        Some("s") => Some(S),
        Some("ms") => Some(1_000_000),
        Some("100ns") => Some(100),
        Some("ns") => Some(NS),
        Some(_) => None,
    };
    let byte_unit = || match value {
        None | Some("bytes") => Some(1),
        Some("sectors") => Some(SECTOR),
        Some(number) => number.parse().ok().filter(|bytes| *bytes > 0),
    };
    match (name, value) {
        ("time", _) => time_unit().map(TraceColumn::Time),
        ("done", _) => time_unit().map(TraceColumn::Done),
        ("response", _) => time_unit().map(TraceColumn::Response),
        ("offset", _) => byte_unit().map(TraceColumn::Offset),
        ("length", _) => byte_unit().map(TraceColumn::Length),
        ("op", None) => Some(TraceColumn::Op(None)),
        ("op", Some(words)) => {
            let (read, write) = words.split_once('/')?;
            Some(TraceColumn::Op(Some(OpWords {
                read: read.to_owned().leak(),
                write: write.to_owned().leak(),
            })))
        }
        ("only", Some(word)) => Some(TraceColumn::Only(word.to_owned().leak())),
        ("device", None) => Some(TraceColumn::Device),
        ("-", None) => Some(TraceColumn::Other),
        _ => None,
    }
}

/// Reads the lines of a table.
pub struct ColumnParser {
    table: &'static ColumnTable,
    /// A line was read: what comes now is no header.
    begun: bool,
}

impl ColumnParser {
    /// Of `table`.
    pub fn new(table: &'static ColumnTable) -> ColumnParser {
        ColumnParser {
            table,
            begun: false,
        }
    }

    /// Whether `fields` are names of columns: no time or address among them is a number.
    fn is_header(&self, fields: &[&str]) -> bool {
        let pairs = self.table.columns.iter().zip(fields);
        let mut numbers = pairs
            .filter(|(column, _)| matches!(column, TraceColumn::Time(_) | TraceColumn::Offset(_)));
        numbers.all(|(_, field)| field.starts_with(|c: char| c.is_alphabetic() || c == '"'))
    }
}

impl Parser for ColumnParser {
    fn line(&mut self, line: &str, sink: &mut EventSink) -> Result<(), TraceLineError> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            sink.skipped += 1;
            return Ok(());
        }
        let fields: Vec<&str> = match self.table.separator {
            ColumnSeparator::Character(separator) => line.split(separator).map(str::trim).collect(),
            ColumnSeparator::Blanks => line.split_ascii_whitespace().collect(),
        };
        let first = !std::mem::replace(&mut self.begun, true);
        let count = self.table.columns.len();
        if fields.len() != count {
            return Err(format!("{} fields, {count} are expected", fields.len()));
        }
        if first && self.is_header(&fields) {
            sink.skipped += 1;
            return Ok(());
        }
        command(self.table.columns, &fields, sink)
    }
}

fn command(
    columns: &[TraceColumn],
    fields: &[&str],
    sink: &mut EventSink,
) -> Result<(), TraceLineError> {
    let mut event = TraceEvent::new(0, Op::Read, 0, 0);
    let (mut done_ns, mut response_ns, mut device) = (None, None, String::new());
    let bytes = |field: &str, unit: u64, name: &str| {
        let number = whole(Some(field), name)?;
        let bytes = number.checked_mul(unit);
        bytes.ok_or_else(|| format!("{name} {number} lies beyond 8 EiB, where no drive reaches"))
    };
    let optional_time = |field: &str, unit: u64, name: &str| match field {
        "" => Ok(None),
        field => time(Some(field), unit, name).map(Some),
    };
    for (column, field) in columns.iter().zip(fields.iter().copied()) {
        match *column {
            TraceColumn::Time(unit) => event.issued_ns = time(Some(field), unit, "time")?,
            TraceColumn::Done(unit) => done_ns = optional_time(field, unit, "completion time")?,
            TraceColumn::Response(unit) => {
                response_ns = optional_time(field, unit, "response time")?;
            }
            TraceColumn::Op(words) => event.op = op(field, words)?,
            TraceColumn::Offset(unit) => event.offset = bytes(field, unit, "offset")?,
            TraceColumn::Length(unit) => event.len = bytes(field, unit, "length")?,
            TraceColumn::Device if device.is_empty() => field.clone_into(&mut device),
            TraceColumn::Device => device = format!("{device}.{field}"),
            TraceColumn::Only(word) if word != field => {
                sink.skipped += 1;
                return Ok(());
            }
            TraceColumn::Only(_) | TraceColumn::Other => {}
        }
    }
    event.done_ns = done_ns.or(response_ns.map(|ns| event.issued_ns.saturating_add(ns)));
    let has_device = columns.contains(&TraceColumn::Device);
    if !has_device || sink.admits(&device) {
        sink.take(event)?;
    }
    Ok(())
}

/// The kind that a field names, by the table's words or by those of most tools.
fn op(field: &str, words: Option<OpWords>) -> Result<Op, TraceLineError> {
    if let Some(OpWords { read, write }) = words {
        return match field {
            _ if field == read => Ok(Op::Read),
            _ if field == write => Ok(Op::Write),
            _ => Err(format!(
                "`{}` is neither {read} nor {write}",
                excerpt(field)
            )),
        };
    }
    match field.to_ascii_lowercase().as_str() {
        "r" | "rs" | "rd" | "read" => Ok(Op::Read),
        "w" | "ws" | "wr" | "write" => Ok(Op::Write),
        "d" | "ds" | "trim" | "discard" | "unmap" => Ok(Op::Trim),
        "f" | "flush" => Ok(Op::Flush),
        _ => Err(format!("`{}` is no kind of command", excerpt(field))),
    }
}
