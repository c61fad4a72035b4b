//! A command as a trace records it.

use ssdlab_ssd::Op;

/// One command of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceEvent {
    /// When the host handed it over: ns on the trace's own clock.
    pub issued_ns: u64,
    /// When it completed, on the same clock; `None` when the trace does not say.
    pub done_ns: Option<u64>,
    /// What it asks for.
    pub op: Op,
    /// First byte addressed; 0 for a flush.
    pub offset: u64,
    /// Bytes addressed; 0 for a flush. A trim may be longer than any one command can be.
    pub len: u64,
    /// Force unit access.
    pub fua: bool,
    /// The cache is to be flushed before this command's own data is written (Linux
    /// `REQ_PREFLUSH`).
    pub preflush: bool,
}

impl TraceEvent {
    /// A command of which only the request and its time are known.
    pub const fn new(issued_ns: u64, op: Op, offset: u64, len: u64) -> TraceEvent {
        TraceEvent {
            issued_ns,
            done_ns: None,
            op,
            offset,
            len,
            fua: false,
            preflush: false,
        }
    }

    /// Whether it moves data between host and drive: what the pattern metrics count.
    pub const fn transfers(&self) -> bool {
        matches!(self.op, Op::Read | Op::Write) && self.len > 0
    }

    /// The byte after the last one addressed.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }

    /// When it completed, or was issued when the trace does not say.
    pub fn done_or_issued_ns(&self) -> u64 {
        self.done_ns.unwrap_or(self.issued_ns)
    }
}
