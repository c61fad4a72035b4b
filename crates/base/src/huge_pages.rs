//! Memory: an allocator that asks for huge pages for large tables, and a heap for servers.
//!
//! A modelled drive's map is touched at random; with 4 KiB pages most touches also miss the TLB.
//! Linux gives 2 MiB pages only where asked (`madvise`), which std does not do.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, with `MADV_HUGEPAGE` on allocations of 2 MiB and more.
pub struct HugePages;

const LARGE: usize = 2 << 20;
const PAGE: usize = 4096;

fn advise(start: *mut u8, size: usize) {
    if start.is_null() || size < LARGE {
        return;
    }
    let first = (start as usize).next_multiple_of(PAGE);
    let last = (start as usize + size) / PAGE * PAGE;
    #[cfg(not(target_os = "linux"))]
    let _ = (first, last);
    #[cfg(target_os = "linux")]
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

/// Allocations from here on get memory of their own, outside of the heap; glibc allows no more.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_APART: usize = 32 << 20;

/// After [`keep_freed_memory`]: the heap will hold `bytes` in small pieces, which are touched
/// at random. With [`HugePages`] as the program's allocator they get huge pages, as a large table
/// does. Nothing is taken until it is used; where there is less room, less is asked for.
pub fn expect_small_pieces(bytes: u64) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let part = MAPPED_APART - (1 << 20);
        let bytes = bytes.min(crate::memory::available().unwrap_or(0));
        // Below a limit on address space, tables and threads need some of it too.
        let bytes = crate::memory::below_limit().map_or(bytes, |below| bytes.min(below / 2));
        let mut parts: Vec<Vec<u8>> = Vec::new();
        for _ in 0..bytes / part as u64 {
            let mut room = Vec::new();
            if room.try_reserve_exact(part).is_err() {
                break;
            }
            parts.push(room);
        }
        // Asked for as a whole before any is given back to the heap.
        drop(std::hint::black_box(parts));
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = bytes;
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
            // Never.
            (libc::M_TRIM_THRESHOLD, -1),
            (libc::M_TOP_PAD, 16 << 20),
            (libc::M_MMAP_THRESHOLD, MAPPED_APART as libc::c_int),
        ] {
            // SAFETY: it sets parameters of the allocator; what it does not know it refuses.
            let _ = unsafe { libc::mallopt(parameter, value) };
        }
    }
}
