//! The program's memory that requests name.
//!
//! The contract of [`SubmissionQueue::push`](super::SubmissionQueue::push) is what makes this safe:
//! it stays as it is until a request has completed.

#![allow(unsafe_code)]

use std::ffi::{CStr, OsStr};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;

/// A buffer of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UserBuffer {
    pub address: u64,
    pub length: usize,
}

impl UserBuffer {
    /// Whether it can be no memory.
    pub fn is_bad(&self) -> bool {
        self.address == 0 && self.length > 0
    }

    pub fn contains(&self, other: &UserBuffer) -> bool {
        let end = |buffer: &UserBuffer| buffer.address.checked_add(buffer.length as u64);
        other.address >= self.address && end(other).is_some_and(|last| Some(last) <= end(self))
    }

    /// Appends its bytes.
    pub fn append_to(&self, bytes: &mut Vec<u8>) {
        if self.length == 0 {
            return;
        }
        let pointer = ptr::with_exposed_provenance::<u8>(self.address as usize);
        // SAFETY: the caller of `push` promised this many bytes, which nobody changes.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(pointer, self.length) });
    }

    /// Fills its beginning.
    pub fn fill(&self, bytes: &[u8]) {
        assert!(bytes.len() <= self.length, "more bytes than the buffer has");
        let pointer = ptr::with_exposed_provenance_mut::<u8>(self.address as usize);
        // SAFETY: the caller of `push` promised this much room, which nobody else uses.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), pointer, bytes.len()) };
    }
}

/// The buffers that an array of iovecs names.
pub(super) fn buffers(address: u64, count: u32) -> Vec<UserBuffer> {
    let first = ptr::with_exposed_provenance::<libc::iovec>(address as usize);
    let vectors = (0..count as usize).map(|index| {
        // SAFETY: the caller of `push` promised this many iovecs.
        unsafe { first.add(index).read_unaligned() }
    });
    vectors.map(|vector| UserBuffer::of(&vector)).collect()
}

impl UserBuffer {
    pub fn of(vector: &libc::iovec) -> UserBuffer {
        UserBuffer {
            address: vector.iov_base.expose_provenance() as u64,
            length: vector.iov_len,
        }
    }
}

/// A path; `None` if the address is null.
pub(super) fn path(address: u64) -> Option<PathBuf> {
    let pointer = ptr::with_exposed_provenance(address as usize);
    if address == 0 {
        return None;
    }
    // SAFETY: the caller of `push` promised a string that ends with a zero.
    let text = unsafe { CStr::from_ptr(pointer) };
    Some(PathBuf::from(OsStr::from_bytes(text.to_bytes())))
}

/// Entries that all were written.
pub(super) fn written<E>(entries: &mut [MaybeUninit<E>]) -> &mut [E] {
    // SAFETY: the caller wrote each, and the types have the same layout.
    unsafe { &mut *(ptr::from_mut(entries) as *mut [E]) }
}
