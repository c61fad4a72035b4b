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
    let recycled = NEAR.try_with(|near| {
        let mut near = near.borrow_mut();
        if near.is_empty() {
            let mut far = FAR.lock().unwrap_or_else(PoisonError::into_inner);
            let count = far.len().min(NEAR_MAX / 2);
            near.extend(far.drain(..count));
        }
        near.pop_front()
    });
    recycled.ok().flatten()
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

/// Where the bytes of slots lie outside of the heap, in places of one slot each: a file, for one.
///
/// A place counts its holders; what a place without any is used for next is the shelf's business.
pub trait Shelf: fmt::Debug + Send + Sync {
    /// Puts the bytes of one or more slots into a place each, with one holder, and appends these;
    /// `None`: there is no room, and nothing was put.
    fn put(&self, bytes: &[u8], into: &mut Vec<u32>) -> Option<()>;
    /// The bytes in a place.
    fn bytes(&self, place: u32) -> &[u8];
    /// A sum of the bytes that were put there.
    fn sum(&self, place: u32) -> u64;
    /// Prefetches what the calls below touch.
    fn prefetch(&self, place: u32);
    /// One holder more.
    fn hold(&self, place: u32);
    /// One holder less.
    fn release(&self, place: u32);
}

/// Bytes of a slot, or a part of a command's data. Cloning shares them.
pub struct SlotBytes {
    at: BytesPlace,
    /// Range within that data, inside one buffer or place.
    start: u32,
    len: u32,
}

enum BytesPlace {
    /// All data of the command, in order, in buffers of one length. `None` only while it is
    /// dropped.
    Heap(Option<Arc<[Buffer]>>),
    /// A place that it holds.
    Shelf(Arc<dyn Shelf>, u32),
}

impl SlotBytes {
    fn whole(buffer: Buffer) -> SlotBytes {
        SlotBytes {
            start: 0,
            len: buffer.len() as u32,
            at: BytesPlace::Heap(Some([buffer].into())),
        }
    }

    /// The bytes of a slot of `len` bytes in a place of a shelf, which counts one holder more.
    pub fn in_place(shelf: &Arc<dyn Shelf>, place: u32, len: u32) -> SlotBytes {
        shelf.hold(place);
        SlotBytes::held(shelf, place, len)
    }

    /// The same of a place that counts this holder already.
    pub fn held(shelf: &Arc<dyn Shelf>, place: u32, len: u32) -> SlotBytes {
        SlotBytes {
            at: BytesPlace::Shelf(shelf.clone(), place),
            start: 0,
            len,
        }
    }

    /// Puts the bytes of a slot on a shelf; `None`: there is no room.
    pub fn put_on(shelf: &Arc<dyn Shelf>, bytes: &[u8]) -> Option<SlotBytes> {
        let mut places = Vec::with_capacity(1);
        shelf.put(bytes, &mut places)?;
        let place = places.pop()?;
        Some(SlotBytes::held(shelf, place, bytes.len() as u32))
    }

    /// The shelf and the place, where the bytes are all that lies in one.
    pub fn place(&self) -> Option<(&Arc<dyn Shelf>, u32)> {
        match &self.at {
            BytesPlace::Shelf(shelf, place) if self.start == 0 => Some((shelf, *place)),
            _ => None,
        }
    }

    /// A shared part of the bytes.
    ///
    /// # Panics
    /// When the range lies outside.
    pub fn part(&self, range: Range<usize>) -> SlotBytes {
        assert!(range.end <= self.len(), "{range:?} of {}", self.len());
        let mut part = self.clone();
        part.start += range.start as u32;
        part.len = range.len() as u32;
        part
    }

    /// Changes the bytes, in a copy of their own.
    pub fn change(&mut self, change: impl FnOnce(&mut [u8])) {
        let mut own = self.own();
        if let BytesPlace::Heap(Some(all)) = &mut own.at
            && let Some([buffer]) = Arc::get_mut(all)
        {
            change(buffer);
        }
        *self = own;
    }

    /// An unshared copy of the bytes, in the heap.
    pub fn own(&self) -> SlotBytes {
        SlotBytes::from(&**self)
    }

    /// Prefetches the reference count: an atomic update lets no later load overtake it, so that
    /// every slot would wait for memory in turn.
    pub(crate) fn prefetch(&self) {
        match &self.at {
            BytesPlace::Heap(None) => {}
            BytesPlace::Heap(Some(all)) => prefetch(all, 0),
            BytesPlace::Shelf(shelf, place) => shelf.prefetch(*place),
        }
    }

    /// Whether both are the same part of the same data.
    pub(super) fn is_copy_of(&self, other: &SlotBytes) -> bool {
        let same = match (&self.at, &other.at) {
            (BytesPlace::Heap(one), BytesPlace::Heap(other)) => {
                one.as_ref().map(Arc::as_ptr) == other.as_ref().map(Arc::as_ptr)
            }
            (BytesPlace::Shelf(one, place), BytesPlace::Shelf(other, there)) => {
                place == there && Arc::as_ptr(one).addr() == Arc::as_ptr(other).addr()
            }
            _ => false,
        };
        same && (self.start, self.len) == (other.start, other.len)
    }

    /// Whether most of the shared data is no longer in use.
    pub fn wastes(&self) -> bool {
        let BytesPlace::Heap(Some(all)) = &self.at else {
            return false;
        };
        let used = Arc::strong_count(all).saturating_mul(self.len());
        used.saturating_mul(4) < all.len() * all[0].len()
    }
}

impl Clone for SlotBytes {
    fn clone(&self) -> SlotBytes {
        let place = match &self.at {
            BytesPlace::Heap(all) => BytesPlace::Heap(all.clone()),
            BytesPlace::Shelf(shelf, place) => {
                shelf.hold(*place);
                BytesPlace::Shelf(shelf.clone(), *place)
            }
        };
        SlotBytes { at: place, ..*self }
    }
}

impl Drop for SlotBytes {
    fn drop(&mut self) {
        let buffers = match &mut self.at {
            BytesPlace::Heap(all) => all.take(),
            BytesPlace::Shelf(shelf, place) => return shelf.release(*place),
        };
        // If two threads drop the last two at once, both see two: the buffers then return to the
        // heap.
        if let Some(mut all) = buffers
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
        let (start, len) = (self.start as usize, self.len as usize);
        match &self.at {
            BytesPlace::Heap(None) => &[],
            BytesPlace::Heap(Some(all)) => {
                let buffer_bytes = all[0].len();
                // Empty ones have no buffer.
                let buffer = start.checked_div(buffer_bytes).unwrap_or(0);
                &all[buffer][start - buffer * buffer_bytes..][..len]
            }
            BytesPlace::Shelf(shelf, place) => &shelf.bytes(*place)[start..start + len],
        }
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
        self.is_copy_of(other) || **self == **other
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
    /// On a shelf: what follows, a place each.
    rest: Vec<SlotBytes>,
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
            at: BytesPlace::Heap(Some(bytes.chunks(slot).map(buffer_of).collect())),
            start: 0,
            len: each,
        };
        Payload {
            first,
            rest: Vec::new(),
            len: bytes.len(),
        }
    }

    /// The same on a shelf of such slots, if it has room and all slots are whole.
    pub fn put_on(shelf: &Arc<dyn Shelf>, offset: u64, bytes: &[u8], each: u32) -> Option<Payload> {
        let slot = each as usize;
        if !offset.is_multiple_of(each.into()) || !bytes.len().is_multiple_of(slot) {
            return None;
        }
        let mut places = Vec::with_capacity(bytes.len() / slot);
        shelf.put(bytes, &mut places)?;
        Payload::in_places(shelf, &places, each)
    }

    /// The bytes in these places of a shelf of slots of `each` bytes, of which it is the one holder
    /// that they count; `None`: they have none.
    pub fn in_places(shelf: &Arc<dyn Shelf>, places: &[u32], each: u32) -> Option<Payload> {
        let (&first, rest) = places.split_first()?;
        let held = |&place: &u32| SlotBytes::held(shelf, place, each);
        Some(Payload {
            first: held(&first),
            rest: rest.iter().map(held).collect(),
            len: places.len() * each as usize,
        })
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
        let buffer_bytes = self.first.len();
        if range.end <= buffer_bytes {
            return self.first.part(range);
        }
        if (range.end - 1) / buffer_bytes == range.start / buffer_bytes {
            return self.within(range, buffer_bytes);
        }
        let mut bytes = Vec::with_capacity(range.len());
        let mut start = range.start;
        while start < range.end {
            let until = range.end.min((start / buffer_bytes + 1) * buffer_bytes);
            bytes.extend_from_slice(&self.within(start..until, buffer_bytes));
            start = until;
        }
        bytes.into()
    }

    /// A part within one buffer or place of `each` bytes.
    fn within(&self, range: Range<usize>, each: usize) -> SlotBytes {
        let buffer = range.start / each;
        let of_place = buffer.checked_sub(1).and_then(|n| self.rest.get(n));
        if let Some(place) = of_place {
            return place.part(range.start - buffer * each..range.end - buffer * each);
        }
        let mut part = self.first.clone();
        (part.start, part.len) = (range.start as u32, range.len() as u32);
        part
    }
}

impl From<SlotBytes> for Payload {
    fn from(one: SlotBytes) -> Payload {
        Payload {
            len: one.len(),
            rest: Vec::new(),
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
    fn buffers_are_used_again_only_when_no_owner_is_left() {
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
