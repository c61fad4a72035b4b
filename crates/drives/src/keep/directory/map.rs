//! Memory that is a file; `unsafe`, as `places` that it serves.
//!
//! Bytes that a killed process has stored in it are in the file, as if they had been written.
#![allow(unsafe_code)]

use ssdlab_ssd::caches::copy_past_caches;
use std::fs::File;
use std::io;
use std::ptr::NonNull;

/// A shared mapping of the beginning of a file, which may grow into it.
///
/// The caller sees to it that only bytes inside the file are touched, that no range is read while
/// it is put, and that no other process changes the file: it is locked with its directory.
#[derive(Debug)]
pub(super) struct DataFileMapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: an address range of the process, which belongs to no thread.
unsafe impl Send for DataFileMapping {}
// SAFETY: as above; which ranges may be accessed when is up to the callers of its `unsafe` methods.
unsafe impl Sync for DataFileMapping {}

impl DataFileMapping {
    /// Maps the first `len` bytes of a file, whether there are that many or not.
    #[cfg(unix)]
    pub fn new(file: &File, len: usize, writable: bool) -> io::Result<DataFileMapping> {
        use rustix::mm::{MapFlags, ProtFlags};
        let writes = if writable {
            ProtFlags::WRITE
        } else {
            ProtFlags::empty()
        };
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing; it is
        // unmapped once, in `drop`.
        let start = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ | writes,
                MapFlags::SHARED,
                file,
                0,
            )
        }?;
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped at 0"))?;
        Ok(DataFileMapping { start, len })
    }

    /// Directories are not opened on such systems, which have no locks either.
    #[cfg(not(unix))]
    pub fn new(_: &File, _: usize, _: bool) -> io::Result<DataFileMapping> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn address(&self, offset: usize, len: usize) -> *mut u8 {
        let inside = offset <= self.len && len <= self.len - offset;
        assert!(inside, "{offset}+{len} of {}", self.len);
        // SAFETY: inside the mapping, as just asserted.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// The bytes of a range.
    ///
    /// # Safety
    /// The file reaches to its end, and nothing is put there while the bytes are borrowed.
    pub unsafe fn bytes(&self, offset: usize, len: usize) -> &[u8] {
        // SAFETY: inside the mapping and, as the caller promises, in the file and not written to.
        unsafe { std::slice::from_raw_parts(self.address(offset, len), len) }
    }

    /// Puts bytes there.
    ///
    /// # Safety
    /// The mapping is writable, the file reaches to the end of the range, and no other access to
    /// it happens meanwhile.
    pub unsafe fn put(&self, offset: usize, from: &[u8]) {
        let to = self.address(offset, from.len());
        // SAFETY: inside the mapping and, as the caller promises, the file; no other access.
        copy_past_caches(
            unsafe { std::slice::from_raw_parts_mut(to, from.len()) },
            from,
        );
    }
}

impl Drop for DataFileMapping {
    fn drop(&mut self) {
        #[cfg(unix)]
        // SAFETY: the mapping made in `new`, unmapped once; borrows of it have ended.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}
