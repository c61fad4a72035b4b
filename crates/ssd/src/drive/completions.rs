//! Commands on their way, earliest completion first.

/// A small binary heap of (time, sequence, tag); ties go to the command submitted first.
#[derive(Clone, Debug, Default)]
pub(super) struct Completions {
    heap: Vec<(u64, u64)>,
    sequence: u64,
}

impl Completions {
    /// When the next command completes; `u64::MAX` when none is under way.
    #[inline(always)]
    pub fn next_time(&self) -> u64 {
        self.heap.first().map_or(u64::MAX, |first| first.0)
    }

    /// Adds a command. Tags are below 2^24 and sequence numbers wrap after 2^40.
    #[inline]
    pub fn push(&mut self, time: u64, tag: u32) {
        self.sequence = (self.sequence + 1) & ((1 << 40) - 1);
        let item = (time, self.sequence << 24 | u64::from(tag));
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

    /// Takes the earliest command.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, u32)> {
        let last = self.heap.pop()?;
        let Some(&first) = self.heap.first() else {
            return Some((last.0, last.1 as u32 & 0x00FF_FFFF));
        };
        let len = self.heap.len();
        let mut hole = 0;
        loop {
            let mut child = 2 * hole + 1;
            if child >= len {
                break;
            }
            if child + 1 < len && self.heap[child + 1] < self.heap[child] {
                child += 1;
            }
            if self.heap[child] >= last {
                break;
            }
            self.heap[hole] = self.heap[child];
            hole = child;
        }
        self.heap[hole] = last;
        Some((first.0, first.1 as u32 & 0x00FF_FFFF))
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
