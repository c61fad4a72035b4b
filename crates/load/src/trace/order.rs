//! From order of issue to order of completion.

use super::TraceEvent;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Commands outstanding at once that are kept; the earliest is let go when there are more.
const OUTSTANDING_MAX: usize = 1 << 20;

/// Holds commands until they complete. Of completions at the same time, what was issued first
/// goes first. A command whose completion is unknown completes when it is issued.
#[derive(Debug, Default)]
pub struct CompletionOrder {
    outstanding: BinaryHeap<Reverse<(u64, u64, usize)>>,
    /// Events of the heap's entries, by place; free places are listed.
    slab: Vec<TraceEvent>,
    free: Vec<usize>,
    turn: u64,
    most: usize,
}

impl CompletionOrder {
    /// Takes the next command in order of issue, and gives those that completed before it was
    /// issued to `each`, in order of completion.
    pub fn issued(&mut self, event: &TraceEvent, mut each: impl FnMut(&TraceEvent)) {
        while let Some(&Reverse((done, ..))) = self.outstanding.peek() {
            if done > event.issued_ns && self.outstanding.len() < OUTSTANDING_MAX {
                break;
            }
            self.pop(&mut each);
        }
        let place = self.free.pop().unwrap_or(self.slab.len());
        if place == self.slab.len() {
            self.slab.push(*event);
        } else {
            self.slab[place] = *event;
        }
        let done_ns = event.done_or_issued_ns();
        self.outstanding.push(Reverse((done_ns, self.turn, place)));
        self.turn += 1;
        self.most = self.most.max(self.outstanding.len());
    }

    /// Gives the rest to `each`.
    pub fn finish(&mut self, mut each: impl FnMut(&TraceEvent)) {
        while !self.outstanding.is_empty() {
            self.pop(&mut each);
        }
    }

    /// Most commands outstanding at once so far.
    pub fn most(&self) -> usize {
        self.most
    }

    fn pop(&mut self, each: &mut impl FnMut(&TraceEvent)) {
        if let Some(Reverse((_, _, place))) = self.outstanding.pop() {
            self.free.push(place);
            each(&self.slab[place]);
        }
    }
}
