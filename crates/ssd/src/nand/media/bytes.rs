//! The bytes of slots: shared by all copies of a slot, in recycled buffers.
//!
//! The data of a command lies in one buffer for each slot, and these share one reference count. A
//! single buffer would leave holes of every size in the heap once slots are overwritten one by one,
//! and memory would grow although half of it is free; a count for each slot would cost one more
//! cache line when it is written and again when it is erased.

use crate::caches::{copy_past_caches, prefetch};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, PoisonError};

/// Size of recycled buffers, bytes: the usual mapping unit.
const USUAL: usize = 4096;
/// Maximum number of free buffers that a thread keeps.
const NEAR_MAX: usize = 512;
/// Maximum number of free buffers shared by all threads, 64 MiB; further ones return to the heap.
const FAR_MAX: usize = 16 << 10;

type Buffer = Box<[u8]>;

thread_local! {
    static NEAR: RefCell<VecDeque<Buffer>> = const { RefCell::new(VecDeque::new()) };
}
static FAR: Mutex<VecDeque<Buffer>> = Mutex::new(VecDeque::new());

/// A recycled buffer, if there is one.
fn take() -> Option<Buffer> {
    let found = NEAR.try_with(|near| {
        let mut near = near.borrow_mut();
        if near.is_empty() {
            let mut far = FAR.lock().unwrap_or_else(PoisonError::into_inner);
            let count = far.len().min(NEAR_MAX / 2);
            near.extend(far.drain(..count));
        }
        near.pop_front()
    });
    found.ok().flatten()
}

/// Keeps unused buffers.
fn keep<'a>(buffers: impl Iterator<Item = &'a mut Buffer>) {
    // A thread that is ending keeps none: they return to the heap.
    let _ = NEAR.try_with(|near| {
        let mut near = near.borrow_mut();
        near.extend(buffers.map(std::mem::take));
        if near.len() > NEAR_MAX {
            let beyond = near.len() - NEAR_MAX / 2;
            let mut far = FAR.lock().unwrap_or_else(PoisonError::into_inner);
            let room = FAR_MAX.saturating_sub(far.len());
            far.extend(near.drain(..beyond).take(room));
        }
    });
}

fn buffer_of(bytes: &[u8]) -> Buffer {
    let used = if bytes.len() == USUAL { take() } else { None };
    let Some(mut used) = used else {
        return bytes.into();
    };
    copy_past_caches(&mut used, bytes);
    used
}

/// Bytes of a slot, or a part of a command's data. Cloning shares them.
#[derive(Clone)]
pub struct SlotBytes {
    /// All data of the command, in order, in buffers of one length. `None` only while it is
    /// dropped.
    all: Option<Arc<[Buffer]>>,
    /// Range within that data, inside one buffer.
    start: u32,
    len: u32,
}

impl SlotBytes {
    fn whole(buffer: Buffer) -> SlotBytes {
        SlotBytes {
            start: 0,
            len: buffer.len() as u32,
            all: Some([buffer].into()),
        }
    }

    /// A shared part of the bytes.
    ///
    /// # Panics
    /// When the range lies outside.
    pub fn part(&self, range: Range<usize>) -> SlotBytes {
        assert!(range.end <= self.len(), "{range:?} of {}", self.len());
        SlotBytes {
            all: self.all.clone(),
            start: self.start + range.start as u32,
            len: range.len() as u32,
        }
    }

    /// Changes the bytes, in a copy of their own.
    pub fn change(&mut self, change: impl FnOnce(&mut [u8])) {
        let mut own = self.own();
        let all = own.all.as_mut().and_then(Arc::get_mut);
        if let Some([buffer]) = all {
            change(buffer);
        }
        *self = own;
    }

    /// An unshared copy of the bytes.
    pub fn own(&self) -> SlotBytes {
        SlotBytes::from(&**self)
    }

    /// Prefetches the reference count: an atomic update lets no later load overtake it, so that
    /// every slot would wait for memory in turn.
    pub(crate) fn prefetch(&self) {
        if let Some(all) = &self.all {
            prefetch(all, 0);
        }
    }

    /// Whether both are the same part of the same data.
    pub(super) fn is_copy_of(&self, other: &SlotBytes) -> bool {
        let at = |bytes: &SlotBytes| (bytes.start, bytes.len, bytes.all.as_ref().map(Arc::as_ptr));
        at(self) == at(other)
    }

    /// Whether most of the shared data is no longer in use.
    pub fn wastes(&self) -> bool {
        let Some(all) = &self.all else {
            return false;
        };
        let used = Arc::strong_count(all).saturating_mul(self.len());
        used.saturating_mul(4) < all.len() * all[0].len()
    }
}

impl Drop for SlotBytes {
    fn drop(&mut self) {
        // If two threads drop the last two at once, both see two: the buffers then return to the
        // heap.
        if let Some(mut all) = self.all.take()
            && Arc::strong_count(&all) == 1
            && all[0].len() == USUAL
            && let Some(own) = Arc::get_mut(&mut all)
        {
            keep(own.iter_mut());
        }
    }
}

impl Deref for SlotBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let Some(all) = &self.all else {
            return &[];
        };
        let (start, each) = (self.start as usize, all[0].len());
        // Empty ones have no buffer.
        let buffer = start.checked_div(each).unwrap_or(0);
        &all[buffer][start - buffer * each..][..self.len as usize]
    }
}

impl From<&[u8]> for SlotBytes {
    fn from(bytes: &[u8]) -> SlotBytes {
        SlotBytes::whole(buffer_of(bytes))
    }
}

impl From<Vec<u8>> for SlotBytes {
    fn from(own: Vec<u8>) -> SlotBytes {
        SlotBytes::whole(own.into())
    }
}

impl PartialEq for SlotBytes {
    fn eq(&self, other: &SlotBytes) -> bool {
        **self == **other
    }
}

impl Eq for SlotBytes {}

impl fmt::Debug for SlotBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Data of a write.
#[derive(Clone, Debug)]
pub struct Payload {
    /// The first buffer, or all data.
    first: SlotBytes,
    len: usize,
}

impl Payload {
    /// A copy of `bytes`, to be written at `offset` to slots of `each` bytes.
    pub fn new(offset: u64, bytes: &[u8], each: u32) -> Payload {
        let slot = each as usize;
        let whole = offset.is_multiple_of(each.into()) && bytes.len().is_multiple_of(slot);
        if !whole || bytes.len() <= slot {
            return SlotBytes::from(bytes).into();
        }
        let first = SlotBytes {
            all: Some(bytes.chunks(slot).map(buffer_of).collect()),
            start: 0,
            len: each,
        };
        let len = bytes.len();
        Payload { first, len }
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A part of the bytes; shared if it lies in one buffer.
    ///
    /// # Panics
    /// When the range lies outside.
    pub fn part(&self, range: Range<usize>) -> SlotBytes {
        assert!(range.end <= self.len, "{range:?} of {}", self.len);
        let first = &self.first;
        let each = first.len();
        if range.end <= each {
            return first.part(range);
        }
        let of = |range: Range<usize>| SlotBytes {
            all: first.all.clone(),
            start: range.start as u32,
            len: range.len() as u32,
        };
        if (range.end - 1) / each == range.start / each {
            return of(range);
        }
        let mut bytes = Vec::with_capacity(range.len());
        let mut at = range.start;
        while at < range.end {
            let until = range.end.min((at / each + 1) * each);
            bytes.extend_from_slice(&of(at..until));
            at = until;
        }
        bytes.into()
    }
}

impl From<SlotBytes> for Payload {
    fn from(one: SlotBytes) -> Payload {
        Payload {
            len: one.len(),
            first: one,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any part of a payload has the bytes that the payload was made of, whole buffers or not.
    #[test]
    fn any_part_of_a_payload_is_what_was_brought() {
        for (each, len, offset) in [
            (4096, 3 * 4096, 0),
            (512, 2048, 512),
            (512, 2048, 256),
            (8, 5, 0),
        ] {
            let bytes: Vec<u8> = (0..len).map(|n| (n / 512 * 7 + n) as u8).collect();
            let payload = Payload::new(offset, &bytes, each);
            assert_eq!(payload.len(), len);
            let step = len / 5;
            for start in (0..len).step_by(step) {
                for end in (start + 1..=len).step_by(step).chain([len]) {
                    assert_eq!(
                        *payload.part(start..end),
                        bytes[start..end],
                        "{start}..{end}"
                    );
                }
            }
        }
    }

    /// A recycled buffer holds the bytes last written to it, and shared ones are not recycled.
    #[test]
    fn buffers_are_used_again_only_when_nobody_has_them() {
        let slot = |n: u8| vec![n; USUAL];
        let payload = Payload::new(0, &[slot(1), slot(2), slot(3)].concat(), USUAL as u32);
        let kept = payload.part(USUAL..2 * USUAL);
        drop(payload);
        let others: Vec<SlotBytes> = (10..20).map(|n| SlotBytes::from(&slot(n)[..])).collect();
        assert_eq!(*kept, *slot(2));
        drop(kept);
        let before = NEAR.with_borrow(VecDeque::len);
        assert!(before >= 3, "all three were recycled: {before}");
        let again: Vec<SlotBytes> = (30..33).map(|n| SlotBytes::from(&slot(n)[..])).collect();
        assert_eq!(NEAR.with_borrow(VecDeque::len), before - 3);
        for (n, bytes) in (10..20).zip(&others).chain((30..33).zip(&again)) {
            assert_eq!(**bytes, *slot(n));
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let all: Vec<SlotBytes> = (0..NEAR_MAX + FAR_MAX + 1000)
            .map(|_| SlotBytes::from(vec![0; USUAL]))
            .collect();
        drop(all);
        let near = NEAR.with_borrow(VecDeque::len);
        let far = FAR.lock().expect("no panics").len();
        assert!(near <= NEAR_MAX && far <= FAR_MAX, "{near} and {far}");
    }

    #[test]
    fn no_bytes_are_no_bytes() {
        let none = SlotBytes::from(Vec::new());
        assert!(none.is_empty() && none.part(0..0).is_empty());
        assert!(Payload::new(0, &[], 4096).is_empty());
    }
}
