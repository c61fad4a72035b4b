//! Writes traces. What a format cannot hold is left out and counted.

use super::order::CompletionOrder;
use super::{Event, Format};
use crate::LabError;
use crate::trace::format::{CSV_HEADER, SECTOR};
use ssdlab_ssd::Op;
use std::io::{self, Write};

/// The formats that can be written.
pub const WRITABLE: [Format; 5] = [
    Format::Csv,
    Format::Blkparse,
    Format::IologV2,
    Format::IologV3,
    Format::Msr,
];

/// What was lost on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Commands of a kind that the format does not know.
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
pub struct Writer<W: Write> {
    out: W,
    format: Format,
    lost: Lost,
    order: CompletionOrder,
    sequence: u64,
    wait_ms: u64,
    last_us: u64,
}

/// The file that fio's logs name; `replay_redirect` of fio's replaces it.
const FILE: &str = "trace";

impl<W: Write> Writer<W> {
    /// Begins a trace.
    ///
    /// # Errors
    /// When the format cannot be written, or `out` fails.
    pub fn new(format: Format, mut out: W) -> Result<Writer<W>, LabError> {
        let unit_ns = match format {
            Format::Csv | Format::Blkparse => 1,
            Format::Msr => 100,
            Format::IologV3 => 1000,
            Format::IologV2 => 1_000_000,
            _ => {
                return Err(LabError::refused(
                    format!("{} cannot be written", format.name()),
                    format!("these can: {}", WRITABLE.map(Format::name).join(", ")),
                ));
            }
        };
        let head = match format {
            Format::Csv => format!("{CSV_HEADER}\n"),
            Format::IologV2 => format!("fio version 2 iolog\n{FILE} add\n{FILE} open\n"),
            Format::IologV3 => format!("fio version 3 iolog\n0 {FILE} add\n0 {FILE} open\n"),
            _ => String::new(),
        };
        out.write_all(head.as_bytes()).map_err(failed)?;
        Ok(Writer {
            out,
            format,
            lost: Lost {
                unit_ns,
                ..Lost::default()
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
    pub fn event(&mut self, event: &Event) -> Result<(), LabError> {
        match self.format {
            Format::Csv => self.csv(event),
            Format::Blkparse => self.blkparse(event),
            Format::Msr => self.msr(event),
            _ => self.iolog(event),
        }
        .map_err(failed)
    }

    /// Ends the trace and says what was lost.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn finish(mut self) -> Result<Lost, LabError> {
        let tail = match self.format {
            Format::IologV2 => format!("{FILE} close\n"),
            Format::IologV3 => format!("{} {FILE} close\n", self.last_us),
            _ => String::new(),
        };
        let mut done = Vec::new();
        self.order.finish(|event| done.push(*event));
        self.completed(&done)
            .and_then(|()| self.out.write_all(tail.as_bytes()))
            .and_then(|()| self.out.flush())
            .map_err(failed)?;
        Ok(self.lost)
    }

    fn csv(&mut self, event: &Event) -> io::Result<()> {
        let done = event.done_ns.map_or(String::new(), decimal_us);
        writeln!(
            self.out,
            "{},{},{},{},{done},{},{}",
            decimal_us(event.issued_ns),
            event.op.name(),
            event.offset,
            event.len,
            u8::from(event.fua),
            u8::from(event.preflush)
        )
    }

    fn iolog(&mut self, event: &Event) -> io::Result<()> {
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
        if self.format == Format::IologV3 {
            self.last_us = event.issued_ns / 1000;
            write!(self.out, "{} ", self.last_us)?;
        } else if event.issued_ns / 1_000_000 > self.wait_ms {
            self.wait_ms = event.issued_ns / 1_000_000;
            writeln!(self.out, "{FILE} wait {} 0", self.wait_ms)?;
        }
        writeln!(self.out, "{FILE} {action} {} {}", event.offset, event.len)
    }

    fn msr(&mut self, event: &Event) -> io::Result<()> {
        let kind = match event.op {
            Op::Read => "Read",
            Op::Write => "Write",
            _ => {
                self.lost.commands += 1;
                return Ok(());
            }
        };
        self.lost.flags += u64::from(event.fua || event.preflush);
        // A command of which it is not known completes at once.
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

    /// Lines of blkparse stand in order of time: completions go between later issues.
    fn blkparse(&mut self, event: &Event) -> io::Result<()> {
        if event.op == Op::WriteZeroes {
            self.lost.commands += 1;
            return Ok(());
        }
        let event = self.whole_sectors(event);
        let mut done = Vec::new();
        self.order.issued(&event, |event| done.push(*event));
        self.completed(&done)?;
        self.line(event.issued_ns, 'D', &event)
    }

    fn completed(&mut self, done: &[Event]) -> io::Result<()> {
        for event in done {
            if let Some(at_ns) = event.done_ns {
                self.line(at_ns, 'C', event)?;
            }
        }
        Ok(())
    }

    fn line(&mut self, at_ns: u64, action: char, event: &Event) -> io::Result<()> {
        let before = if event.preflush { "F" } else { "" };
        let after = if event.fua { "F" } else { "" };
        let letter = match event.op {
            Op::Read => "R",
            Op::Trim => "D",
            Op::Flush => "FN",
            Op::Write | Op::WriteZeroes => "W",
        };
        let place = match event.op {
            Op::Flush => String::new(),
            _ => format!("{} + {} ", event.offset / SECTOR, event.len / SECTOR),
        };
        self.sequence += 1;
        writeln!(
            self.out,
            "  8,0    0 {:>8} {:>5}.{:09}     0  {action} {before}{letter}{after} {place}[0]",
            self.sequence,
            at_ns / 1_000_000_000,
            at_ns % 1_000_000_000
        )
    }

    fn whole_sectors(&mut self, event: &Event) -> Event {
        let offset = event.offset - event.offset % SECTOR;
        let end = event.end().div_ceil(SECTOR).saturating_mul(SECTOR);
        let len = if event.len == 0 { 0 } else { end - offset };
        self.lost.rounded += u64::from((offset, len) != (event.offset, event.len));
        Event {
            offset,
            len,
            ..*event
        }
    }
}

fn failed(error: io::Error) -> LabError {
    LabError::file("writing", "the trace", error)
}

/// Microseconds with as many decimals as it takes.
fn decimal_us(ns: u64) -> String {
    match ns % 1000 {
        0 => format!("{}", ns / 1000),
        rest => format!("{}.{rest:03}", ns / 1000),
    }
}
