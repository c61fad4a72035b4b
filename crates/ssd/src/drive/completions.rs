//! Commands in progress, earliest completion first.

use crate::units::Nanos;
use std::collections::VecDeque;

/// A finished command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Tag given to [`crate::Drive::submit`].
    pub tag: u32,
    /// Time of submission.
    pub submitted: Nanos,
    /// Time of completion.
    pub done: Nanos,
}

/// Commands by (time, sequence); ties go to the command submitted first.
///
/// Most commands complete in the order in which they were submitted: those wait in a queue, and
/// only those that overtake go into a heap.
#[derive(Clone, Debug, Default)]
pub(super) struct Completions {
    line: VecDeque<Item>,
    heap: Vec<Item>,
    sequence: u64,
}

/// Time in the upper half, below it the sequence number and the tag: one number to compare.
type Item = u128;

#[inline(always)]
fn time_of(item: Item) -> u64 {
    (item >> 64) as u64
}

#[inline(always)]
fn tag_of(item: Item) -> u32 {
    item as u32 & 0x00FF_FFFF
}

impl Completions {
    #[inline(always)]
    fn first(&self) -> Item {
        let line = self.line.front().copied().unwrap_or(Item::MAX);
        line.min(self.heap.first().copied().unwrap_or(Item::MAX))
    }

    /// Time of the next completion; `u64::MAX` when no command is in progress.
    #[inline(always)]
    pub fn next_time(&self) -> u64 {
        time_of(self.first())
    }

    /// Adds a command. Tags are below 2^24 and sequence numbers wrap after 2^40.
    #[inline]
    pub fn push(&mut self, time: u64, tag: u32) {
        self.sequence = (self.sequence + 1) & ((1 << 40) - 1);
        let item = Item::from(time) << 64 | Item::from(self.sequence << 24 | u64::from(tag));
        if self.line.back().is_none_or(|last| *last <= item) {
            self.line.push_back(item);
        } else {
            self.rise(item);
        }
    }

    /// Takes the earliest command.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, u32)> {
        let first = self.first();
        if self.heap.first() == Some(&first) {
            self.sink();
        } else {
            self.line.pop_front()?;
        }
        Some((time_of(first), tag_of(first)))
    }

    /// Adds to the heap.
    fn rise(&mut self, item: Item) {
        let mut hole = self.heap.len();
        self.heap.push(item);
        while hole > 0 {
            let parent = (hole - 1) / 2;
            if self.heap[parent] <= item {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = item;
    }

    /// Removes the first of the heap.
    fn sink(&mut self) {
        let Some(last) = self.heap.pop() else {
            return;
        };
        let len = self.heap.len();
        if len == 0 {
            return;
        }
        let mut hole = 0;
        loop {
            let left_child = 2 * hole + 1;
            if left_child >= len {
                break;
            }
            let right = (left_child + 1).min(len - 1);
            let child = left_child + usize::from(self.heap[right] < self.heap[left_child]);
            if self.heap[child] >= last {
                break;
            }
            self.heap[hole] = self.heap[child];
            hole = child;
        }
        self.heap[hole] = last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn comes_out_in_order_of_time_then_of_submission() {
        let mut rng = Rng::new(3);
        let mut heap = Completions::default();
        let mut reference = Vec::new();
        for tag in 0..1000 {
            let time = rng.below(50);
            heap.push(time, tag);
            reference.push((time, tag));
        }
        reference.sort();
        let out: Vec<_> = std::iter::from_fn(|| heap.pop()).collect();
        assert_eq!(out, reference);
    }
}
