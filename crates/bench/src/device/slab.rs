//! Page-aligned memory for direct I/O. The only place that maps memory.

use rustix::mm::{Advice, MapFlags, ProtFlags};
use std::io;
use std::ptr::NonNull;

/// Anonymous memory, zeroed, aligned to pages and in huge pages where the kernel likes to.
pub(super) struct Slab {
    start: NonNull<u8>,
    len: usize,
}

impl Slab {
    /// `len` bytes; nothing is mapped for 0.
    pub fn new(len: usize) -> io::Result<Slab> {
        let mut slab = Slab {
            start: NonNull::dangling(),
            len: 0,
        };
        if len == 0 {
            return Ok(slab);
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new anonymous private mapping at an address of the kernel's choice overlaps
        // nothing; it is unmapped once, in `drop`.
        let start = unsafe {
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), len, protection, MapFlags::PRIVATE)
        }?;
        slab.start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped at 0"))?;
        slab.len = len;
        // SAFETY: the range is exactly the mapping made above. This is a wish: whether it is
        // granted does not matter.
        let _ = unsafe { rustix::mm::madvise(start, len, Advice::LinuxHugepage) };
        Ok(slab)
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The address of byte `offset`, to pass to the kernel.
    ///
    /// # Panics
    /// When `offset..offset + len` is not inside.
    #[inline]
    pub fn address(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(
            offset <= self.len && len <= self.len - offset,
            "{offset}+{len} of {}",
            self.len
        );
        // SAFETY: inside the mapping, as just asserted.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Its bytes. Only for memory that the kernel does not write to.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is readable, writable, initialised (zeroed by the kernel) and, by
        // `&mut self`, not referenced elsewhere in this process.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: the mapping made in `new`, unmapped once. The caller that hands
            // addresses to the kernel keeps the slab until the kernel is done.
            let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_aligned_and_writable() {
        let mut slab = Slab::new(3 << 20).unwrap();
        assert_eq!(slab.address(4096, 1) as usize % 4096, 0);
        assert!(slab.bytes().iter().all(|&byte| byte == 0));
        slab.bytes()[(3 << 20) - 1] = 7;
        assert_eq!(Slab::new(0).unwrap().bytes().len(), 0);
    }

    #[test]
    #[should_panic(expected = "of 4096")]
    fn addresses_beyond_the_end_are_refused() {
        Slab::new(4096).unwrap().address(1, 4096);
    }
}
