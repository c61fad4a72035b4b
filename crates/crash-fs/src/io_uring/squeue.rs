//! Requests, as [`io_uring::squeue`](https://docs.rs/io-uring/0.7/io_uring/squeue).

pub use super::entry::{Flags, RequestMarker as EntryMarker, RingRequest as Entry};

use super::entry::sealed::SealedRequest;
use super::ring::SharedRing;
use std::error::Error;
use std::fmt;

/// The queue has no room.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PushError;

impl fmt::Display for PushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("submission queue is full")
    }
}

impl Error for PushError {}

/// The requests of a ring that are not submitted. They are in the ring when this is dropped, or
/// [synchronised](Self::sync).
#[derive(Debug)]
pub struct SubmissionQueue<'a, E: EntryMarker = Entry> {
    ring: &'a SharedRing,
    /// Requests that the ring had at the last synchronisation.
    queued: usize,
    pushed: Vec<E>,
}

impl<'a, E: EntryMarker> SubmissionQueue<'a, E> {
    pub(super) fn new(ring: &'a SharedRing) -> SubmissionQueue<'a, E> {
        SubmissionQueue {
            ring,
            queued: ring.lock().queued.len(),
            pushed: Vec::new(),
        }
    }

    /// Puts what was pushed into the ring, and looks what was submitted since.
    pub fn sync(&mut self) {
        let mut ring = self.ring.lock();
        let requests = self.pushed.drain(..).map(SealedRequest::request);
        ring.queued.extend(requests);
        self.queued = ring.queued.len();
    }

    /// With [`Builder::setup_sqpoll`](super::Builder::setup_sqpoll), always: the thread of the
    /// kernel sleeps until it is woken by [`Submitter::submit`](super::Submitter::submit).
    pub fn need_wakeup(&self) -> bool {
        self.ring.lock().polls
    }

    /// Always 0.
    pub fn dropped(&self) -> u32 {
        0
    }

    /// Whether there are more completions than the ring can show at once.
    pub fn cq_overflow(&self) -> bool {
        self.ring.lock().overflows()
    }

    /// Always false.
    pub fn taskrun(&self) -> bool {
        false
    }

    /// The most requests that it holds.
    pub fn capacity(&self) -> usize {
        self.ring.lock().capacity.submissions as usize
    }

    /// Requests in it.
    pub fn len(&self) -> usize {
        self.queued + self.pushed.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it has no room.
    pub fn is_full(&self) -> bool {
        self.len() >= self.capacity()
    }

    /// Adds a request.
    ///
    /// # Errors
    /// When the queue is full.
    ///
    /// # Safety
    /// The buffers of the request must live and stay as they are until it has completed, or the
    /// ring is dropped: here as on Linux, they are read and written until then.
    #[allow(unsafe_code)]
    pub unsafe fn push(&mut self, entry: &E) -> Result<(), PushError> {
        if self.is_full() {
            return Err(PushError);
        }
        self.pushed.push(entry.clone());
        Ok(())
    }

    /// Adds all requests or none.
    ///
    /// # Errors
    /// When the queue has no room for all.
    ///
    /// # Safety
    /// As [`SubmissionQueue::push`].
    #[allow(unsafe_code)]
    pub unsafe fn push_multiple(&mut self, entries: &[E]) -> Result<(), PushError> {
        if self.capacity() - self.len().min(self.capacity()) < entries.len() {
            return Err(PushError);
        }
        self.pushed.extend_from_slice(entries);
        Ok(())
    }
}

impl<E: EntryMarker> Drop for SubmissionQueue<'_, E> {
    fn drop(&mut self) {
        self.sync();
    }
}
