//! Booked programs and erases of one die, in order.
//!
//! No operation begins before the one ahead of it has ended, so ends are in order too. A die may
//! have many booked, and each read queries them; the counts kept here make these queries cheap.

use crate::image::{Image, ImageError, Reader, Writer, image_of};
use std::collections::VecDeque;
use std::ops::Index;

image_of! {
    /// A booked program or erase.
    #[derive(Clone, Debug)]
    pub(super) struct Booked {
        pub start: u64,
        pub end: u64,
        pub superblock: u32,
        /// Row programmed; `u16::MAX`: an erase alone.
        pub row: u16,
        /// Others depend on its end: nothing overtakes it.
        pub firm: bool,
        /// It begins with an erase of its block.
        pub erases: bool,
        pub suspends: u8,
        pub id: u32,
    }
}

/// Classes of pages in a short queue.
const CLASSES: usize = 32;

/// The operations on pages of one class.
#[derive(Clone, Copy, Debug, Default)]
struct Class {
    /// How many: zero means that none of its pages has a booked one.
    count: u32,
    /// Number of the last one.
    last: u32,
}

/// The operations of a die that had not ended at the last query.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    operations: VecDeque<Booked>,
    /// The operations by class of page, a power of two of classes.
    classes: Vec<Class>,
    /// The last firm operation.
    last_firm: Option<u32>,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue {
            operations: VecDeque::new(),
            classes: vec![Class::default(); CLASSES],
            last_firm: None,
        }
    }
}

impl Queue {
    /// Class of a page: rows that follow each other and superblocks lie in different ones.
    #[inline(always)]
    fn class(&self, superblock: u32, row: u16) -> usize {
        let page = superblock.wrapping_mul(37).wrapping_add(u32::from(row));
        page as usize & (self.classes.len() - 1)
    }

    #[inline]
    pub fn push(&mut self, operation: Booked) {
        if self.operations.len() >= self.classes.len() {
            self.more_classes();
        }
        self.count(&operation);
        if operation.firm {
            self.last_firm = Some(operation.id);
        }
        self.operations.push_back(operation);
    }

    /// A long queue has more classes, or every class would hold some page.
    #[cold]
    fn more_classes(&mut self) {
        self.classes = vec![Class::default(); 8 * self.classes.len()];
        let operations = std::mem::take(&mut self.operations);
        for operation in &operations {
            self.count(operation);
        }
        self.operations = operations;
    }

    #[inline(always)]
    fn count(&mut self, operation: &Booked) {
        let class = self.class(operation.superblock, operation.row);
        let class = &mut self.classes[class];
        class.count += 1;
        class.last = operation.id;
    }

    /// Drops the operations that have ended by `now`.
    #[inline(always)]
    pub fn forget(&mut self, now: u64) {
        while let Some(first) = self.operations.front() {
            if first.end > now {
                return;
            }
            let class = self.class(first.superblock, first.row);
            self.classes[class].count -= 1;
            if self.last_firm == Some(first.id) {
                self.last_firm = None;
            }
            self.operations.pop_front();
        }
    }

    pub fn clear(&mut self) {
        *self = Queue::default();
    }

    #[inline(always)]
    pub fn front(&self) -> Option<&Booked> {
        self.operations.front()
    }

    #[inline(always)]
    pub fn back(&self) -> Option<&Booked> {
        self.operations.back()
    }

    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&Booked> {
        self.operations.get(index)
    }

    /// Index of the operation with this number, if it has not been dropped.
    #[inline]
    pub fn find(&self, id: u32) -> Option<usize> {
        let first = self.operations.front()?.id;
        let index = id.wrapping_sub(first) as usize;
        (index < self.operations.len()).then_some(index)
    }

    /// Index of the first from `from` on that ends after `time`; all before it have ended by then.
    #[inline]
    pub fn first_after(&self, from: usize, time: u64) -> usize {
        match self.operations.get(from) {
            Some(operation) if operation.end <= time => {
                self.operations.partition_point(|other| other.end <= time)
            }
            _ => from,
        }
    }

    /// Whether any from `index` on is firm.
    #[inline]
    pub fn any_firm(&self, index: usize) -> bool {
        let last = self.last_firm.and_then(|id| self.find(id));
        last.is_some_and(|last| last >= index)
    }

    /// Makes the operation at `index` firm: nothing overtakes it from now on.
    pub fn make_firm(&mut self, index: usize) {
        self.operations[index].firm = true;
        if !self.any_firm(index) {
            self.last_firm = Some(self.operations[index].id);
        }
    }

    /// Interrupts the operation at `index`, which ends `by` ns later; returns its end.
    pub fn interrupt(&mut self, index: usize, by: u64) -> u64 {
        let operation = &mut self.operations[index];
        operation.suspends += 1;
        operation.end += by;
        operation.end
    }

    /// Delays the operations from `index` on so that none begins before `at`; returns the end of
    /// the last one if it is delayed.
    pub fn move_back(&mut self, index: usize, mut at: u64) -> Option<u64> {
        for operation in self.operations.range_mut(index..) {
            if operation.start >= at {
                return None;
            }
            let length = operation.end - operation.start;
            operation.start = at;
            operation.end = at + length;
            at = operation.end;
        }
        Some(at)
    }

    /// Whether a program of this page has not ended at `now`.
    #[inline(always)]
    pub fn is_pending(&self, superblock: u32, row: u32, now: u64) -> bool {
        let class = &self.classes[self.class(superblock, row as u16)];
        class.count > 0 && self.search(*class, superblock, row, now)
    }

    #[inline(never)]
    fn search(&self, class: Class, superblock: u32, row: u32, now: u64) -> bool {
        let pends = |operation: &Booked| {
            let is_page = operation.superblock == superblock && u32::from(operation.row) == row;
            is_page && operation.end > now
        };
        let last = self.find(class.last).map(|index| &self.operations[index]);
        last.is_some_and(pends) || class.count > 1 && self.operations.iter().any(pends)
    }
}

impl Index<usize> for Queue {
    type Output = Booked;

    fn index(&self, index: usize) -> &Booked {
        &self.operations[index]
    }
}

/// Only the operations are saved: the counts are derived from them.
impl Image for Queue {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        self.operations.save(out)
    }

    fn load(from: &mut Reader<'_>) -> Result<Queue, ImageError> {
        let mut queue = Queue::default();
        for operation in VecDeque::load(from)? {
            queue.push(operation);
        }
        Ok(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Compares the queue with a plain list.
    struct Pair {
        queue: Queue,
        list: Vec<Booked>,
    }

    impl Pair {
        fn push(&mut self, id: u32, superblock: u32, firm: bool, length: u64) {
            let start = self.list.last().map_or(0, |last| last.end);
            let operation = Booked {
                start,
                end: start + length,
                superblock,
                row: (id % 7) as u16,
                firm,
                erases: false,
                suspends: 0,
                id,
            };
            self.list.push(operation.clone());
            self.queue.push(operation);
        }

        fn same(&self, now: u64, rng: &mut Rng) {
            let list = &self.list;
            for index in 0..=list.len() {
                let firm = list[index..].iter().any(|op| op.firm);
                assert_eq!(self.queue.any_firm(index), firm);
            }
            let (from, later) = (rng.below(3) as usize, now + rng.below(300));
            let after = (from..list.len()).find(|&i| list[i].end > later);
            let expected = after.unwrap_or(list.len().max(from));
            assert_eq!(self.queue.first_after(from, later), expected);
            for superblock in 0..70 {
                let row = rng.below(7) as u32;
                let pending = list.iter().any(|op| {
                    op.superblock == superblock && u32::from(op.row) == row && op.end > now
                });
                assert_eq!(self.queue.is_pending(superblock, row, now), pending);
            }
        }
    }

    /// Covers the wrap of the number, and saving and loading.
    #[test]
    fn what_is_counted_is_what_a_search_would_find() {
        let mut rng = Rng::new(11);
        let mut pair = Pair {
            queue: Queue::default(),
            list: Vec::new(),
        };
        let (mut now, mut id) = (0, u32::MAX - 500);
        for step in 0..2_000 {
            id = id.wrapping_add(1);
            pair.push(
                id,
                rng.below(70) as u32,
                rng.below(9) == 0,
                1 + rng.below(20),
            );
            // At first nothing ends: a long queue has more classes.
            now += if step < 400 { 0 } else { rng.below(30) };
            pair.queue.forget(now);
            pair.list.retain(|op| op.end > now);
            if let Some(index) = rng.below(8).checked_sub(4).map(|i| i as usize)
                && index < pair.list.len()
            {
                pair.queue.make_firm(index);
                pair.list[index].firm = true;
            }
            if step % 97 == 0 {
                let mut bytes = Vec::new();
                let mut writer = Writer::new(&mut bytes);
                pair.queue.save(&mut writer).unwrap();
                writer.flush().unwrap();
                let length = bytes.len() as u64;
                pair.queue = Image::load(&mut Reader::new(&mut bytes.as_slice(), length)).unwrap();
            }
            pair.same(now, &mut rng);
        }
    }
}
