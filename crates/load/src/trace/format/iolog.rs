//! fio's I/O logs, versions 2 and 3.
//!
//! Version 3 has times in us before each action. Version 2 has none but `wait`: fio 3.33 waits
//! until that many ms after its start (iolog.c, and timed), whatever its manual says of us.
//! A log has no completions.

use super::number::{TraceLineError, excerpt, whole};
use super::sink::{EventSink, Parser};
use crate::trace::TraceEvent;
use ssdlab_ssd::Op;

/// Reads one version.
pub struct Iolog {
    version: u8,
    /// Version 2: where the last `wait` led.
    now_ns: u64,
}

impl Iolog {
    pub fn new(version: u8) -> Iolog {
        Iolog { version, now_ns: 0 }
    }
}

impl Parser for Iolog {
    fn line(&mut self, line: &str, sink: &mut EventSink) -> Result<(), TraceLineError> {
        if line.trim() == format!("fio version {} iolog", self.version) {
            sink.skipped += 1;
            return Ok(());
        }
        let mut words = line.split_ascii_whitespace();
        let issued_ns = if self.version == 3 {
            let us = whole(words.next(), "time in us")?;
            us.checked_mul(1000)
                .ok_or_else(|| "the time is too large".to_owned())?
        } else {
            self.now_ns
        };
        let file = words.next().ok_or_else(|| "no file name".to_owned())?;
        let op = match words.next() {
            Some("add" | "open" | "close") => {
                sink.skipped += 1;
                return Ok(());
            }
            Some("wait") if self.version == 2 => {
                let ms = whole(words.next(), "time in ms")?;
                let ns = ms.checked_mul(1_000_000);
                self.now_ns = ns
                    .ok_or_else(|| "the time is too large".to_owned())?
                    .max(self.now_ns);
                sink.skipped += 1;
                return Ok(());
            }
            Some("read") => Op::Read,
            Some("write") => Op::Write,
            Some("trim") => Op::Trim,
            Some("sync" | "datasync") => Op::Flush,
            Some(other) => return Err(format!("`{}` is no action of fio's", excerpt(other))),
            None => return Err("no action".to_owned()),
        };
        let (offset, len) = (
            whole(words.next(), "offset")?,
            whole(words.next(), "length")?,
        );
        if words.next().is_some() {
            return Err("more fields than an action has".to_owned());
        }
        if !sink.admits(file) {
            return Ok(());
        }
        match op {
            Op::Flush => sink.take(TraceEvent::new(issued_ns, op, 0, 0)),
            _ => sink.take(TraceEvent::new(issued_ns, op, offset, len)),
        }
    }
}
