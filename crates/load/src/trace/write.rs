//! Writes traces. What a format cannot hold is left out and counted.

use super::format::blktrace::{self, BlktraceAction};
use super::format::csv::HEADER as CSV_HEADER;
use super::format::number::SECTOR;
use super::order::CompletionOrder;
use super::{TraceEvent, TraceFormat};
use ssdlab_base::LabError;
use ssdlab_ssd::Op;
use std::io::{self, Write};

/// What was lost on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatLosses {
    /// Commands of a kind that the format does not know, or longer than its lengths go.
    pub commands: u64,
    /// Commands whose completion time it does not hold.
    pub completions: u64,
    /// Writes whose FUA flag or flush before it does not hold.
    pub flags: u64,
    /// Commands that were rounded to whole sectors.
    pub rounded: u64,
    /// The format's unit of time, in ns.
    pub unit_ns: u64,
}

/// Writes one trace; events are given in order of issue.
pub struct TraceWriter<W: Write> {
    out: W,
    format: TraceFormat,
    lost: FormatLosses,
    order: CompletionOrder,
    sequence: u64,
    wait_ms: u64,
    last_us: u64,
}

/// The header of biosnoop, by which its columns are found.
const BIOSNOOP: [&str; 8] = [
    "TIME(s)", "COMM", "PID", "DISK", "T", "SECTOR", "BYTES", "LAT(ms)",
];

/// The file that fio's logs name; `replay_redirect` of fio's replaces it.
const FILE: &str = "trace";

impl<W: Write> TraceWriter<W> {
    /// Begins a trace.
    ///
    /// # Errors
    /// When the format is only read, or `out` fails.
    pub fn new(format: TraceFormat, mut out: W) -> Result<TraceWriter<W>, LabError> {
        format.require_written()?;
        let unit_ns = match format {
            TraceFormat::Msr => 100,
            TraceFormat::IologV3 => 1000,
            TraceFormat::IologV2 => 1_000_000,
            _ => 1,
        };
        let head = match format {
            TraceFormat::Csv => format!("{CSV_HEADER}\n"),
            TraceFormat::IologV2 => format!("fio version 2 iolog\n{FILE} add\n{FILE} open\n"),
            TraceFormat::IologV3 => format!("fio version 3 iolog\n0 {FILE} add\n0 {FILE} open\n"),
            TraceFormat::Biosnoop => format!("{}\n", BIOSNOOP.join(" ")),
            _ => String::new(),
        };
        out.write_all(head.as_bytes()).map_err(failed)?;
        Ok(TraceWriter {
            out,
            format,
            lost: FormatLosses {
                unit_ns,
                ..FormatLosses::default()
            },
            order: CompletionOrder::default(),
            sequence: 0,
            wait_ms: 0,
            last_us: 0,
        })
    }

    /// Writes the next event in order of issue.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn event(&mut self, event: &TraceEvent) -> Result<(), LabError> {
        match self.format {
            TraceFormat::Csv => self.csv(event),
            TraceFormat::Msr => self.msr(event),
            TraceFormat::IologV2 | TraceFormat::IologV3 => self.iolog(event),
            TraceFormat::Spc | TraceFormat::Disksim | TraceFormat::Mqsim => self.row(event),
            TraceFormat::Blkparse | TraceFormat::Blktrace | TraceFormat::Biosnoop => {
                self.in_order(event)
            }
            // Refused in `new`.
            TraceFormat::CloudPhysics | TraceFormat::Columns(_) => Ok(()),
        }
        .map_err(failed)
    }

    /// Ends the trace and says what was lost.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn finish(mut self) -> Result<FormatLosses, LabError> {
        let tail = match self.format {
            TraceFormat::IologV2 => format!("{FILE} close\n"),
            TraceFormat::IologV3 => format!("{} {FILE} close\n", self.last_us),
            _ => String::new(),
        };
        let mut completed = Vec::new();
        self.order.finish(|event| completed.push(*event));
        self.completed(&completed)
            .and_then(|()| self.out.write_all(tail.as_bytes()))
            .and_then(|()| self.out.flush())
            .map_err(failed)?;
        Ok(self.lost)
    }

    fn csv(&mut self, event: &TraceEvent) -> io::Result<()> {
        let done_us = event.done_ns.map_or(String::new(), decimal_us);
        writeln!(
            self.out,
            "{},{},{},{},{done_us},{},{}",
            decimal_us(event.issued_ns),
            event.op.name(),
            event.offset,
            event.len,
            u8::from(event.fua),
            u8::from(event.preflush)
        )
    }

    fn iolog(&mut self, event: &TraceEvent) -> io::Result<()> {
        let action = match event.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "sync",
            Op::WriteZeroes => {
                self.lost.commands += 1;
                return Ok(());
            }
        };
        self.lost.completions += u64::from(event.done_ns.is_some());
        self.lost.flags += u64::from(event.fua || event.preflush);
        if self.format == TraceFormat::IologV3 {
            self.last_us = event.issued_ns / 1000;
            write!(self.out, "{} ", self.last_us)?;
        } else if event.issued_ns / 1_000_000 > self.wait_ms {
            self.wait_ms = event.issued_ns / 1_000_000;
            writeln!(self.out, "{FILE} wait {} 0", self.wait_ms)?;
        }
        writeln!(self.out, "{FILE} {action} {} {}", event.offset, event.len)
    }

    fn msr(&mut self, event: &TraceEvent) -> io::Result<()> {
        let kind = match event.op {
            Op::Read => "Read",
            Op::Write => "Write",
            _ => {
                self.lost.commands += 1;
                return Ok(());
            }
        };
        self.lost.flags += u64::from(event.fua || event.preflush);
        // A command without a completion time completes at once.
        let response = event.done_or_issued_ns() - event.issued_ns;
        self.lost.completions += u64::from(event.done_ns.is_none());
        writeln!(
            self.out,
            "{},{FILE},0,{kind},{},{},{}",
            event.issued_ns / 100,
            event.offset,
            event.len,
            response / 100
        )
    }

    /// The formats of one row a command that know reads and writes, and no completions.
    fn row(&mut self, event: &TraceEvent) -> io::Result<()> {
        let read = match event.op {
            Op::Read => true,
            Op::Write => false,
            _ => {
                self.lost.commands += 1;
                return Ok(());
            }
        };
        self.lost.flags += u64::from(event.fua || event.preflush);
        self.lost.completions += u64::from(event.done_ns.is_some());
        let event = self.whole_sectors(event);
        let (at_ns, sector, len) = (event.issued_ns, event.offset / SECTOR, event.len);
        if self.format == TraceFormat::Spc {
            let letter = if read { 'R' } else { 'W' };
            let time = fixed(at_ns, 1_000_000_000);
            return writeln!(self.out, "0,{sector},{len},{letter},{time}");
        }
        // DiskSim's times have a point, MQSim's have none.
        let time = match self.format {
            TraceFormat::Disksim => fixed(at_ns, 1_000_000),
            _ => at_ns.to_string(),
        };
        let sectors = len / SECTOR;
        writeln!(self.out, "{time} 0 {sector} {sectors} {}", u8::from(read))
    }

    /// The formats whose lines stand in order of time: completions go between later issues.
    fn in_order(&mut self, event: &TraceEvent) -> io::Result<()> {
        // blktrace's lengths have 32 bits; only a trim can be longer.
        let too_long = self.format == TraceFormat::Blktrace && event.len > u64::from(u32::MAX);
        if event.op == Op::WriteZeroes || too_long {
            self.lost.commands += 1;
            return Ok(());
        }
        let event = match self.format {
            TraceFormat::Blktrace | TraceFormat::Blkparse => self.whole_sectors(event),
            _ => self.whole_first_sector(event),
        };
        let mut completed = Vec::new();
        self.order.issued(&event, |event| completed.push(*event));
        self.completed(&completed)?;
        match self.format {
            TraceFormat::Blkparse => self.line(event.issued_ns, 'D', &event),
            TraceFormat::Blktrace => self.record(event.issued_ns, BlktraceAction::Issue, &event),
            _ => Ok(()),
        }
    }

    fn completed(&mut self, completed: &[TraceEvent]) -> io::Result<()> {
        for event in completed {
            match (self.format, event.done_ns) {
                (TraceFormat::Biosnoop, _) => self.biosnoop(event)?,
                (TraceFormat::Blktrace, Some(at_ns)) => {
                    self.record(at_ns, BlktraceAction::Complete, event)?
                }
                (_, Some(at_ns)) => self.line(at_ns, 'C', event)?,
                (_, None) => {}
            }
        }
        Ok(())
    }

    /// A line when a command completes; one without a completion time completes at once.
    fn biosnoop(&mut self, event: &TraceEvent) -> io::Result<()> {
        self.lost.completions += u64::from(event.done_ns.is_none());
        let done_ns = event.done_or_issued_ns();
        let sector = event.offset / SECTOR;
        writeln!(
            self.out,
            "{} trace 0 sda {} {sector} {} {}",
            fixed(done_ns, 1_000_000_000),
            letters(event, "F"),
            event.len,
            fixed(done_ns - event.issued_ns, 1_000_000)
        )
    }

    fn record(&mut self, at_ns: u64, step: BlktraceAction, event: &TraceEvent) -> io::Result<()> {
        self.sequence += 1;
        // Its numbers have 32 bits and start again after the last.
        let number = (self.sequence & u64::from(u32::MAX)) as u32;
        self.out
            .write_all(&blktrace::encoded(number, at_ns, step, event))
    }

    fn line(&mut self, at_ns: u64, action: char, event: &TraceEvent) -> io::Result<()> {
        let kind = letters(event, "N");
        let place = match event.op {
            // As blkparse prints what is of no length: where it completes, its sector.
            Op::Flush if action == 'C' => "0 ".to_owned(),
            Op::Flush => String::new(),
            _ => format!("{} + {} ", event.offset / SECTOR, event.len / SECTOR),
        };
        self.sequence += 1;
        writeln!(
            self.out,
            "  8,0    0 {:>8} {:>5}.{:09}     0  {action} {kind} {place}[0]",
            self.sequence,
            at_ns / 1_000_000_000,
            at_ns % 1_000_000_000
        )
    }

    /// Where a format's lengths are bytes, only the start must be a sector's.
    fn whole_first_sector(&mut self, event: &TraceEvent) -> TraceEvent {
        match event.offset % SECTOR {
            0 => *event,
            _ => self.whole_sectors(event),
        }
    }

    fn whole_sectors(&mut self, event: &TraceEvent) -> TraceEvent {
        let offset = event.offset - event.offset % SECTOR;
        let end = event.end().div_ceil(SECTOR).saturating_mul(SECTOR);
        let len = if event.len == 0 { 0 } else { end - offset };
        self.lost.rounded += u64::from((offset, len) != (event.offset, event.len));
        TraceEvent {
            offset,
            len,
            ..*event
        }
    }
}

fn failed(error: io::Error) -> LabError {
    LabError::file("writing", "the trace", error)
}

/// The kind as block traces write it: an F before it is a flush, one after it FUA. A flush alone
/// ends in `alone`.
fn letters(event: &TraceEvent, alone: &str) -> String {
    let kind = match event.op {
        Op::Read => "R",
        Op::Trim => "D",
        Op::Flush => return format!("F{alone}"),
        Op::Write | Op::WriteZeroes => "W",
    };
    let flag = |set: bool| if set { "F" } else { "" };
    format!("{}{kind}{}", flag(event.preflush), flag(event.fua))
}

/// `ns` in units of `unit` ns, a power of ten, with every decimal.
fn fixed(ns: u64, unit: u64) -> String {
    let decimals = unit.ilog10() as usize;
    format!("{}.{:0decimals$}", ns / unit, ns % unit)
}

/// Microseconds with as many decimals as it takes.
fn decimal_us(ns: u64) -> String {
    match ns % 1000 {
        0 => format!("{}", ns / 1000),
        rest => format!("{}.{rest:03}", ns / 1000),
    }
}
