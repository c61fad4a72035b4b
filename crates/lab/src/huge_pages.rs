//! Memory: an allocator that asks for huge pages for large tables, and a heap for servers.
//!
//! A modelled drive's map is touched at random; with 4 KiB pages most touches also miss the TLB.
//! Linux gives 2 MiB pages only where asked (`madvise`), which std does not do.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, with `MADV_HUGEPAGE` on allocations of 8 MiB and more.
pub struct HugePages;

const LARGE: usize = 8 << 20;
const PAGE: usize = 4096;

fn advise(start: *mut u8, size: usize) {
    if start.is_null() || size < LARGE {
        return;
    }
    let first = (start as usize).next_multiple_of(PAGE);
    let last = (start as usize + size) / PAGE * PAGE;
    // SAFETY: whole pages inside one live allocation; the advice changes no contents.
    let _ = unsafe {
        rustix::mm::madvise(
            first as *mut core::ffi::c_void,
            last - first,
            rustix::mm::Advice::LinuxHugepage,
        )
    };
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is the same.
        let start = unsafe { System.alloc(layout) };
        advise(start, layout.size());
        start
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is the same.
        let start = unsafe { System.alloc_zeroed(layout) };
        advise(start, layout.size());
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(start, layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's contract is the same.
        unsafe { System.realloc(start, layout, size) }
    }
}

/// For a program that serves a drive: all threads share one heap, which keeps what is freed.
///
/// The bytes that a command brings are freed much later, by a command that another thread may
/// run. The usual heaps of threads grow and shrink with that by a system call and fresh pages each
/// time, which costs more than the drive does. Only where the C library is glibc.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        for (parameter, value) in [
            (libc::M_ARENA_MAX, 1),
            (libc::M_TRIM_THRESHOLD, libc::c_int::MAX),
            (libc::M_TOP_PAD, 16 << 20),
            (libc::M_MMAP_THRESHOLD, 32 << 20),
        ] {
            // SAFETY: it sets parameters of the allocator; what it does not know it refuses.
            let _ = unsafe { libc::mallopt(parameter, value) };
        }
    }
}
