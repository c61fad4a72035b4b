//! Completions, as [`io_uring::cqueue`](https://docs.rs/io-uring/0.7/io_uring/cqueue).

pub use super::entry::{CompletionMarker as EntryMarker, RingCompletion as Entry};

use super::entry::sealed::SealedCompletion;
use super::ring::SharedRing;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// The completions of a ring, as they were when it was made or [synchronised](Self::sync).
#[derive(Debug)]
pub struct CompletionQueue<'a, E: EntryMarker = Entry> {
    ring: &'a SharedRing,
    /// Completions that have been read since.
    head: usize,
    tail: usize,
    entries: PhantomData<E>,
}

impl<'a, E: EntryMarker> CompletionQueue<'a, E> {
    pub(super) fn new(ring: &'a SharedRing) -> CompletionQueue<'a, E> {
        let mut queue = CompletionQueue {
            ring,
            head: 0,
            tail: 0,
            entries: PhantomData,
        };
        queue.sync();
        queue
    }

    /// Gives back the completions that were read, lets the disks work, and looks for new ones.
    /// Something completes if nothing was there and anything is in flight.
    pub fn sync(&mut self) {
        self.ring.lock().discard(self.head);
        self.head = 0;
        self.ring.work();
        self.tail = self.ring.lock().visible();
    }

    /// Always 0: what does not fit in waits.
    pub fn overflow(&self) -> u32 {
        0
    }

    /// The most completions that it shows at once.
    pub fn capacity(&self) -> usize {
        self.ring.lock().capacity.completions as usize
    }

    /// Whether nothing is left to be read.
    pub fn is_empty(&self) -> bool {
        self.tail == self.head
    }

    /// Whether it has as many as it can show.
    pub fn is_full(&self) -> bool {
        self.tail - self.head == self.capacity()
    }

    /// Reads as many as there are and fit in.
    pub fn fill<'e>(&mut self, entries: &'e mut [MaybeUninit<E>]) -> &'e mut [E] {
        let count = entries.len().min(self.tail - self.head);
        for entry in &mut entries[..count] {
            entry.write(self.pop());
        }
        super::memory::written(&mut entries[..count])
    }

    fn pop(&mut self) -> E {
        let entry = self.ring.lock().completion(self.head);
        self.head += 1;
        SealedCompletion::completed(entry)
    }
}

impl<E: EntryMarker> Drop for CompletionQueue<'_, E> {
    fn drop(&mut self) {
        self.ring.lock().discard(self.head);
    }
}

impl<E: EntryMarker> Iterator for CompletionQueue<'_, E> {
    type Item = E;

    fn next(&mut self) -> Option<E> {
        (self.head < self.tail).then(|| self.pop())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.tail - self.head;
        (count, Some(count))
    }
}

impl<E: EntryMarker> ExactSizeIterator for CompletionQueue<'_, E> {}
