//! Joins the start of a command and its completion, which block traces report apart.

use super::sink::{EventSink, checked};
use crate::trace::TraceEvent;
use ssdlab_ssd::Op;
use std::collections::{HashMap, VecDeque};

/// Starts held back for their completions. More than a queue ever holds; what is older goes out
/// without one.
const HELD_MAX: usize = 1 << 16;

/// What joins the two reports of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PairingKey {
    offset: u64,
    op: u8,
}

/// What a block trace's flags say: the kind, FUA, and whether a flush goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockTraceFlags {
    pub op: Op,
    pub fua: bool,
    pub preflush: bool,
}

impl BlockTraceFlags {
    /// Of `blkparse`'s RWBS letters: an F before the kind is a flush, one after it FUA. `None`
    /// when they name nothing that reaches a drive as a command. A flush alone is FN in blkparse,
    /// FF in the kernel's own letters, which biosnoop prints.
    pub fn of_letters(rwbs: &str, len: u64) -> Option<BlockTraceFlags> {
        let Some(main) = rwbs.find(['R', 'W', 'D', 'N']) else {
            return BlockTraceFlags::of(Op::Flush, rwbs.starts_with('F'), false, len);
        };
        let (before, after) = rwbs.split_at(main);
        let (flush, fua) = (before.contains('F'), after[1..].contains('F'));
        let op = match rwbs.as_bytes()[main] {
            b'R' => Op::Read,
            b'W' => Op::Write,
            b'D' => Op::Trim,
            _ => Op::Flush,
        };
        BlockTraceFlags::of(op, flush, fua, len)
    }

    /// A flush with nothing to write is a flush alone.
    pub fn of(op: Op, flush: bool, fua: bool, len: u64) -> Option<BlockTraceFlags> {
        let alone = flush && len == 0;
        if op == Op::Flush && !flush {
            return None;
        }
        Some(BlockTraceFlags {
            op: if alone { Op::Flush } else { op },
            fua: fua && !alone,
            preflush: flush && !alone,
        })
    }

    /// The event of this kind.
    pub fn event(self, issued_ns: u64, offset: u64, len: u64) -> TraceEvent {
        let (offset, len) = match self.op {
            Op::Flush => (0, 0),
            _ => (offset, len),
        };
        TraceEvent {
            fua: self.fua,
            preflush: self.preflush,
            ..TraceEvent::new(issued_ns, self.op, offset, len)
        }
    }
}

/// Commands on their way, in the order of their starts.
#[derive(Debug, Default)]
pub struct Pairing {
    /// Number of the first one held.
    first: u64,
    held: VecDeque<(TraceEvent, bool)>,
    open: HashMap<PairingKey, VecDeque<u64>>,
}

impl Pairing {
    /// A command starts.
    ///
    /// # Errors
    /// When it can be no command.
    pub fn started(&mut self, event: TraceEvent, sink: &mut EventSink) -> Result<(), String> {
        checked(&event)?;
        let number = self.first + self.held.len() as u64;
        self.open.entry(key(&event)).or_default().push_back(number);
        self.held.push_back((event, false));
        while self.held.len() > HELD_MAX {
            self.release(sink);
        }
        Ok(())
    }

    /// The oldest outstanding command of the same kind at the same place completes. Completions
    /// of commands that started before the trace did are passed over.
    pub fn completed(&mut self, event: &TraceEvent, at_ns: u64, sink: &mut EventSink) {
        let key = key(event);
        let number = self.open.get_mut(&key).and_then(VecDeque::pop_front);
        if self.open.get(&key).is_some_and(VecDeque::is_empty) {
            self.open.remove(&key);
        }
        let Some(index) = number.and_then(|n| n.checked_sub(self.first)) else {
            sink.skipped += 1;
            return;
        };
        if let Some((held, done)) = self.held.get_mut(index as usize) {
            held.done_ns = (at_ns >= held.issued_ns).then_some(at_ns);
            *done = true;
        }
        while self.held.front().is_some_and(|(_, done)| *done) {
            self.release(sink);
        }
    }

    /// A command goes back to the queue: it will start again.
    pub fn requeued(&mut self, event: &TraceEvent) {
        let open = self.open.get_mut(&key(event));
        let number = open.and_then(VecDeque::pop_back);
        if let Some(index) = number.and_then(|n| n.checked_sub(self.first)) {
            // Nothing more will come for it; a length no command has marks it as gone.
            if let Some((held, done)) = self.held.get_mut(index as usize) {
                (held.len, held.op, *done) = (u64::MAX, Op::Read, true);
            }
        }
    }

    /// Lets go of everything.
    pub fn end(&mut self, sink: &mut EventSink) {
        while !self.held.is_empty() {
            self.release(sink);
        }
        self.open.clear();
    }

    fn release(&mut self, sink: &mut EventSink) {
        let Some((event, done)) = self.held.pop_front() else {
            return;
        };
        if !done && let Some(open) = self.open.get_mut(&key(&event)) {
            open.retain(|n| *n != self.first);
            if open.is_empty() {
                self.open.remove(&key(&event));
            }
        }
        self.first += 1;
        if event.len != u64::MAX {
            sink.events.push(event);
        }
    }
}

fn key(event: &TraceEvent) -> PairingKey {
    PairingKey {
        offset: event.offset,
        op: event.op as u8,
    }
}
