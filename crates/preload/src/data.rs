//! Calls that change the bytes and the length of files.

use crate::files::inside;
use crate::kernel::{self, call};
use crate::turn::{CallDeed, CallTurn, folder};
use libc::{c_char, c_int, c_long, c_uint, c_void, iovec, off_t, size_t, ssize_t};

/// Runs a call in a turn if `fd` is a regular file where the campaign's are; `report` says what it
/// did, unless it failed.
pub fn on_file(
    fd: c_int,
    run: impl Fn() -> c_long,
    report: impl FnOnce(&mut CallTurn, &libc::stat, c_long),
) -> c_long {
    let is_regular = |status: &libc::stat| status.st_mode & libc::S_IFMT == libc::S_IFREG;
    let errno = kernel::errno();
    let status = folder().and_then(|folder| {
        kernel::status_of(fd).filter(|status| folder.has(status) && is_regular(status))
    });
    kernel::set_errno(errno);
    let (Some(status), Some(mut turn)) = (status, status.and_then(|_| CallTurn::begin())) else {
        return run();
    };
    let answer = run();
    turn.ended();
    if answer >= 0 {
        report(&mut turn, &status, answer);
    }
    answer
}

/// Reports bytes that were written, and their sync if the file is open for synchronous writes.
fn written(turn: &mut CallTurn, file: u64, fd: c_int, range: [u64; 2], synced: bool) {
    if range[1] == 0 {
        return;
    }
    turn.report(CallDeed::Write, file, range, [b"", b""]);
    let flags = kernel::status(call!(libc::SYS_fcntl, fd, libc::F_GETFL, 0));
    if synced || flags & (libc::O_DSYNC | libc::O_SYNC) != 0 {
        turn.report(CallDeed::SyncData, file, [0, 0], [b"", b""]);
    }
}

/// A write that moves the file's position: where it went is known behind it.
fn sequential(fd: c_int, run: impl Fn() -> c_long) -> ssize_t {
    on_file(fd, run, |turn, status, length| {
        let end = call!(libc::SYS_lseek, fd, 0, libc::SEEK_CUR);
        let offset = (end - length).max(0) as u64;
        written(turn, status.st_ino, fd, [offset, length as u64], false);
    }) as ssize_t
}

/// A write to a place; with `O_APPEND` the kernel writes at the end all the same.
fn positioned(fd: c_int, offset: off_t, flags: c_int, run: impl Fn() -> c_long) -> ssize_t {
    if offset == -1 {
        return sequential(fd, run);
    }
    on_file(fd, run, |turn, status, length| {
        let open = kernel::status(call!(libc::SYS_fcntl, fd, libc::F_GETFL, 0));
        let appends = open & libc::O_APPEND != 0 || flags & libc::RWF_APPEND != 0;
        let offset = if appends { status.st_size } else { offset };
        let synced = flags & (libc::RWF_DSYNC | libc::RWF_SYNC) != 0;
        let range = [offset as u64, length as u64];
        written(turn, status.st_ino, fd, range, synced);
    }) as ssize_t
}

#[unsafe(no_mangle)]
unsafe extern "C" fn write(fd: c_int, bytes: *const c_void, count: size_t) -> ssize_t {
    sequential(fd, || call!(libc::SYS_write, fd, bytes, count))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    sequential(fd, || call!(libc::SYS_writev, fd, parts, count))
}

macro_rules! pwrites {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            fd: c_int,
            bytes: *const c_void,
            count: size_t,
            offset: off_t,
        ) -> ssize_t {
            let run = || call!(libc::SYS_pwrite64, fd, bytes, count, offset);
            positioned(fd, offset.max(0), 0, run)
        }
    )*};
}
pwrites!(pwrite, pwrite64);

macro_rules! pwritevs {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            fd: c_int,
            parts: *const iovec,
            count: c_int,
            offset: off_t,
        ) -> ssize_t {
            let run = || call!(libc::SYS_pwritev, fd, parts, count, offset, 0);
            positioned(fd, offset.max(0), 0, run)
        }
    )*};
}
pwritevs!(pwritev, pwritev64);

macro_rules! pwritev2s {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            fd: c_int,
            parts: *const iovec,
            count: c_int,
            offset: off_t,
            flags: c_int,
        ) -> ssize_t {
            let run = || call!(libc::SYS_pwritev2, fd, parts, count, offset, 0, flags);
            positioned(fd, offset, flags, run)
        }
    )*};
}
pwritev2s!(pwritev2, pwritev64v2);

/// A copy by the kernel: its bytes are compared.
fn copied(to: c_int, run: impl Fn() -> c_long) -> c_long {
    on_file(to, run, |turn, status, _| {
        let whole = [0, u64::MAX];
        turn.report(CallDeed::Content, status.st_ino, whole, [b"", b""]);
    })
}

macro_rules! sendfiles {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            to: c_int,
            from: c_int,
            offset: *mut off_t,
            count: size_t,
        ) -> ssize_t {
            copied(to, || call!(libc::SYS_sendfile, to, from, offset, count)) as ssize_t
        }
    )*};
}
sendfiles!(sendfile, sendfile64);

#[unsafe(no_mangle)]
unsafe extern "C" fn copy_file_range(
    from: c_int,
    from_offset: *mut off_t,
    to: c_int,
    to_offset: *mut off_t,
    count: size_t,
    flags: c_uint,
) -> ssize_t {
    let number = libc::SYS_copy_file_range;
    let run = || call!(number, from, from_offset, to, to_offset, count, flags);
    copied(to, run) as ssize_t
}

#[unsafe(no_mangle)]
unsafe extern "C" fn splice(
    from: c_int,
    from_offset: *mut off_t,
    to: c_int,
    to_offset: *mut off_t,
    count: size_t,
    flags: c_uint,
) -> ssize_t {
    let number = libc::SYS_splice;
    let run = || call!(number, from, from_offset, to, to_offset, count, flags);
    copied(to, run) as ssize_t
}

/// Reports the length that a file has now, if it is another.
fn resized(turn: &mut CallTurn, fd: c_int, before: &libc::stat) {
    let Some(after) = kernel::status_of(fd) else {
        return;
    };
    if after.st_size != before.st_size {
        let range = [after.st_size as u64, 0];
        turn.report(CallDeed::SetLength, after.st_ino, range, [b"", b""]);
    }
}

macro_rules! ftruncates {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(fd: c_int, length: off_t) -> c_int {
            let run = || call!(libc::SYS_ftruncate, fd, length);
            kernel::status(on_file(fd, run, |turn, before, _| resized(turn, fd, before)))
        }
    )*};
}
ftruncates!(ftruncate, ftruncate64);

macro_rules! truncates {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, length: off_t) -> c_int {
            let run = || kernel::status(call!(libc::SYS_truncate, path, length));
            // SAFETY: the caller's path.
            if unsafe { inside(libc::AT_FDCWD, path) }.is_none() {
                return run();
            }
            let Some(mut turn) = CallTurn::begin() else {
                return run();
            };
            let answer = run();
            turn.ended();
            let status = kernel::status_at(libc::AT_FDCWD, path, 0);
            if let (0, Some(status)) = (answer, status) {
                let range = [status.st_size as u64, 0];
                turn.report(CallDeed::SetLength, status.st_ino, range, [b"", b""]);
            }
            answer
        }
    )*};
}
truncates!(truncate, truncate64);

fn allocate(fd: c_int, mode: c_int, offset: off_t, length: off_t) -> c_int {
    let run = || call!(libc::SYS_fallocate, fd, mode, offset, length);
    kernel::status(on_file(fd, run, |turn, before, _| {
        resized(turn, fd, before);
        if mode & !libc::FALLOC_FL_KEEP_SIZE != 0 {
            // Holes, zeroes and moved ranges are other bytes.
            let whole = [0, u64::MAX];
            turn.report(CallDeed::Content, before.st_ino, whole, [b"", b""]);
        }
    }))
}

macro_rules! fallocates {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(fd: c_int, mode: c_int, offset: off_t, length: off_t) -> c_int {
            allocate(fd, mode, offset, length)
        }
    )*};
}
fallocates!(fallocate, fallocate64);

macro_rules! posix_fallocates {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(fd: c_int, offset: off_t, length: off_t) -> c_int {
            let errno = kernel::errno();
            let answer = allocate(fd, 0, offset, length);
            let problem = kernel::errno();
            // It returns the error, and leaves `errno` alone.
            kernel::set_errno(errno);
            if answer == 0 { 0 } else { problem }
        }
    )*};
}
posix_fallocates!(posix_fallocate, posix_fallocate64);
