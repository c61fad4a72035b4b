//! Text output of `blkparse` in its default format:
//! `maj,min cpu sequence seconds pid action RWBS sector + sectors [process]`.
//!
//! A command is issued at its D (given to the driver) and completes at its C. A trace without D
//! starts at Q (queued). Summaries at the end and other actions are passed over.

use super::number::{SECTOR, TraceLineError, bytes_of, excerpt, time, whole};
use super::pairing::{BlockTraceFlags, Pairing};
use super::sink::{EventSink, Parser};
use crate::trace::event::TraceEvent;
use ssdlab_ssd::Op;

/// Actions of blkparse that are no start or end of a command (its manual page).
const OTHER: &str = "ABFGIMPQSTUXm";

/// Commands under way.
#[derive(Default)]
pub struct Blkparse {
    pairing: Pairing,
    /// A D has been seen: Q is not a start.
    issues: bool,
    /// The summary has begun.
    over: bool,
}

impl Parser for Blkparse {
    fn line(&mut self, line: &str, sink: &mut EventSink) -> Result<(), TraceLineError> {
        let mut words = line.split_ascii_whitespace();
        let device = words.next().unwrap_or_default();
        if device.is_empty() || device.starts_with("CPU") || device == "Total" {
            self.over |= !device.is_empty();
            sink.skipped += 1;
            return Ok(());
        }
        let is_device = device.split_once(',').is_some_and(|(major, minor)| {
            major.parse::<u32>().is_ok() && minor.parse::<u32>().is_ok()
        });
        if !is_device {
            if self.over {
                sink.skipped += 1;
                return Ok(());
            }
            return Err("it does not start with a device such as 8,0".to_owned());
        }
        whole(words.next(), "CPU")?;
        whole(words.next(), "sequence number")?;
        let at_ns = time(words.next(), 1_000_000_000, "time in s")?;
        whole(words.next(), "process")?;
        let action = words.next().ok_or_else(|| "no action".to_owned())?;
        match action {
            "D" | "C" | "Q" | "R" => {}
            _ if OTHER.contains(action) || matches!(action, "UT") => {
                sink.skipped += 1;
                return Ok(());
            }
            _ => return Err(format!("`{}` is no action", excerpt(action))),
        }
        let rwbs = words.next().ok_or_else(|| "no RWBS".to_owned())?;
        let extent_words: Vec<&str> = words.collect();
        let (sector, sectors) = extent(&extent_words)?;
        if !sink.admits(device) {
            return Ok(());
        }
        let len = sectors
            .checked_mul(SECTOR)
            .ok_or_else(|| "the length is too large".to_owned())?;
        let Some(kind) = BlockTraceFlags::of_letters(rwbs, len) else {
            sink.skipped += 1;
            return Ok(());
        };
        // A flush's sector means nothing, and may be all ones.
        let offset = match kind.op {
            Op::Flush => 0,
            _ => bytes_of(sector)?,
        };
        self.act(action, kind.event(at_ns, offset, len), sink)
    }

    fn end(&mut self, sink: &mut EventSink) {
        self.pairing.end(sink);
    }
}

impl Blkparse {
    fn act(
        &mut self,
        action: &str,
        event: TraceEvent,
        sink: &mut EventSink,
    ) -> Result<(), TraceLineError> {
        if event.op != Op::Flush && event.len == 0 {
            sink.skipped += 1;
            return Ok(());
        }
        match action {
            "D" => {
                if !self.issues {
                    // What was queued before the first D is not to count twice.
                    self.pairing = Pairing::default();
                    self.issues = true;
                }
                self.pairing.started(event, sink)?;
            }
            "Q" if !self.issues => self.pairing.started(event, sink)?,
            "C" => self.pairing.completed(&event, event.issued_ns, sink),
            "R" => self.pairing.requeued(&event),
            _ => sink.skipped += 1,
        }
        Ok(())
    }
}

/// `sector + sectors`, `sector` alone, or nothing but `[process]`.
fn extent(rest: &[&str]) -> Result<(u64, u64), TraceLineError> {
    match rest {
        [sector, "+", sectors, ..] => Ok((
            whole(Some(sector), "sector")?,
            whole(Some(sectors), "number of sectors")?,
        )),
        [sector, ..] if !sector.starts_with(['[', '(']) => Ok((whole(Some(sector), "sector")?, 0)),
        [_, ..] => Ok((0, 0)),
        [] => Err("the line ends before the sector".to_owned()),
    }
}
