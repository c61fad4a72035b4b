//! Shared mappings: bytes written to one are the file's at the next sync.

use crate::kernel::{self, call};
use crate::turn::{CallDeed, CallTurn, folder};
use libc::{c_int, c_void, off_t, size_t};
use std::cell::UnsafeCell;

/// A writable shared mapping of a file.
#[derive(Clone, Copy)]
struct SharedMapping {
    start: usize,
    end: usize,
    file: u64,
    offset: u64,
}

/// The mappings of this process, touched only in a turn.
struct Mappings(UnsafeCell<Vec<SharedMapping>>);

// SAFETY: a process has one turn at a time.
unsafe impl Sync for Mappings {}

static MAPPINGS: Mappings = Mappings(UnsafeCell::new(Vec::new()));

#[expect(
    clippy::mut_from_ref,
    reason = "a turn is needed to come here, and there is one"
)]
fn mappings(_: &CallTurn) -> &mut Vec<SharedMapping> {
    // SAFETY: a process has one turn at a time.
    unsafe { &mut *MAPPINGS.0.get() }
}

unsafe fn map(
    address: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    let number = libc::SYS_mmap;
    let run = || call!(number, address, length, protection, flags, fd, offset) as *mut c_void;
    let kind = flags & libc::MAP_TYPE;
    let is_shared = kind == libc::MAP_SHARED || kind == libc::MAP_SHARED_VALIDATE;
    if fd < 0 || !is_shared || protection & libc::PROT_WRITE == 0 {
        return run();
    }
    let status = folder().and_then(|folder| kernel::status_of(fd).filter(|s| folder.has(s)));
    let (Some(status), Some(mut turn)) = (status, status.and_then(|_| CallTurn::begin())) else {
        return run();
    };
    let mapped = run();
    turn.ended();
    if mapped != libc::MAP_FAILED {
        let start = mapped as usize;
        mappings(&turn).push(SharedMapping {
            start,
            end: start + length,
            file: status.st_ino,
            offset: offset as u64,
        });
        turn.report(CallDeed::Mapped, status.st_ino, [0, 0], [b"", b""]);
    }
    mapped
}

macro_rules! mmaps {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            address: *mut c_void,
            length: size_t,
            protection: c_int,
            flags: c_int,
            fd: c_int,
            offset: off_t,
        ) -> *mut c_void {
            // SAFETY: the caller's own arguments.
            unsafe { map(address, length, protection, flags, fd, offset) }
        }
    )*};
}
mmaps!(mmap, mmap64);

#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: *mut c_void, length: size_t) -> c_int {
    let (start, end) = (address as usize, address as usize + length);
    // Only a look: what is there changes in a turn.
    // SAFETY: the vector's length is read.
    let is_empty = unsafe { (*MAPPINGS.0.get()).is_empty() };
    if !is_empty && let Some(mut turn) = CallTurn::begin() {
        let shared = mappings(&turn);
        let meets = |mapping: &SharedMapping| mapping.start < end && start < mapping.end;
        let gone: Vec<SharedMapping> = shared.iter().copied().filter(meets).collect();
        shared.retain(|mapping| !meets(mapping));
        for mapping in gone {
            let range = [mapping.offset, (mapping.end - mapping.start) as u64];
            turn.report(CallDeed::Content, mapping.file, range, [b"", b""]);
        }
    }
    kernel::status(call!(libc::SYS_munmap, address, length))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn msync(address: *mut c_void, length: size_t, flags: c_int) -> c_int {
    let run = || kernel::status(call!(libc::SYS_msync, address, length, flags));
    let Some(mut turn) = CallTurn::begin() else {
        return run();
    };
    let answer = run();
    turn.ended();
    if answer != 0 {
        return answer;
    }
    let (start, end) = (address as usize, address as usize + length);
    let meets = |mapping: &&SharedMapping| mapping.start < end && start < mapping.end;
    let synced: Vec<SharedMapping> = mappings(&turn).iter().filter(meets).copied().collect();
    for mapping in synced {
        let (from, to) = (start.max(mapping.start), end.min(mapping.end));
        let offset = mapping.offset + (from - mapping.start) as u64;
        let range = [offset, (to - from) as u64];
        turn.report(CallDeed::Content, mapping.file, range, [b"", b""]);
        if flags & libc::MS_SYNC != 0 {
            // Other pages of the mapping were not named, and are not on the tape yet.
            turn.report(CallDeed::SyncData, mapping.file, [1, 0], [b"", b""]);
        }
    }
    answer
}
