//! Our own format: a header, then one command a line.
//!
//! `t_us,op,offset,length,done_us` in this order, then optionally `fua,preflush` (0 or 1). Times
//! in us, with up to three decimals; `done_us` may be empty. Sizes in bytes. `op` is `read`,
//! `write`, `trim`, `flush` or `write_zeroes`. A recording of `ssdlab watch` has five columns more.

use super::number::{TraceLineError, excerpt, time, whole};
use super::sink::{EventSink, Parser};
use crate::trace::TraceEvent;
use ssdlab_ssd::Op;

/// The header that is written.
pub const HEADER: &str = "t_us,op,offset,length,done_us,fua,preflush";
/// The header of what `ssdlab watch` records: further columns are its own, and lines that begin
/// with `#` are its notes.
pub const WATCH_HEADER: &str =
    "t_us,op,offset,length,done_us,fua,preflush,queued_us,flags,beside,pid,process";
const SHORT: &str = "t_us,op,offset,length,done_us";
const WATCH_COLUMNS: usize = 12;
const US: u64 = 1000;

/// Whether a file that starts with `line` is one of these.
pub fn is_header(line: &str) -> bool {
    line == HEADER || line == SHORT || line == WATCH_HEADER
}

/// Columns known from the header.
#[derive(Default)]
pub struct Csv {
    columns: Option<usize>,
}

impl Parser for Csv {
    fn line(&mut self, line: &str, sink: &mut EventSink) -> Result<(), TraceLineError> {
        if is_header(line.trim()) {
            self.columns = Some(line.split(',').count());
            sink.skipped += 1;
            return Ok(());
        }
        if self.columns == Some(WATCH_COLUMNS) && line.starts_with('#') {
            sink.skipped += 1;
            return Ok(());
        }
        let field_count = line.split(',').count();
        let columns = *self.columns.get_or_insert(field_count);
        if field_count != columns || !matches!(columns, 5 | 7 | WATCH_COLUMNS) {
            let expected = if matches!(columns, 7 | WATCH_COLUMNS) {
                columns
            } else {
                5
            };
            return Err(format!("{field_count} fields, {expected} are expected"));
        }
        let mut fields = line.split(',').map(str::trim);
        let issued_ns = time(fields.next(), US, "time in us")?;
        let name = fields.next().unwrap_or_default();
        let op = Op::ALL.into_iter().find(|op| op.name() == name);
        let op = op.ok_or_else(|| format!("`{}` is no kind of command", excerpt(name)))?;
        let offset = whole(fields.next(), "offset")?;
        let len = whole(fields.next(), "length")?;
        let done_ns = match fields.next() {
            None | Some("") => None,
            done => Some(time(done, US, "completion time in us")?),
        };
        let mut flag = || match fields.next() {
            None | Some("0") => Ok(false),
            Some("1") => Ok(true),
            Some(other) => Err(format!("`{}` is neither 0 nor 1", excerpt(other))),
        };
        sink.take(TraceEvent {
            done_ns,
            fua: flag()?,
            preflush: flag()?,
            ..TraceEvent::new(issued_ns, op, offset, len)
        })
    }
}
