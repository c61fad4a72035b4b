//! The kernel's calls, without libc's functions of the same names: those are ours.

use libc::{c_char, c_int, c_long, c_void};
use std::ffi::CStr;

/// A system call; -1 and `errno` as libc has it.
macro_rules! call {
    ($number:expr $(, $argument:expr)*) => {
        // SAFETY: the arguments are those of the caller's own call.
        unsafe { libc::syscall($number $(, $argument)*) }
    };
}
pub(crate) use call;

/// `errno` of this thread.
pub fn errno() -> c_int {
    // SAFETY: libc's own variable of this thread.
    unsafe { *libc::__errno_location() }
}

pub fn set_errno(value: c_int) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = value }
}

/// The status of an open file.
pub fn status_of(fd: c_int) -> Option<libc::stat> {
    status_at(fd, c"".as_ptr(), libc::AT_EMPTY_PATH)
}

/// The status of a path.
pub fn status_at(dirfd: c_int, path: *const c_char, flags: c_int) -> Option<libc::stat> {
    let mut status = std::mem::MaybeUninit::<libc::stat>::zeroed();
    let answer = call!(
        libc::SYS_newfstatat,
        dirfd,
        path,
        status.as_mut_ptr(),
        flags
    );
    // SAFETY: zeroed, and filled by the kernel.
    (answer == 0).then(|| unsafe { status.assume_init() })
}

/// Where an open file is, as the kernel has it.
pub fn path_of(fd: c_int) -> Option<Vec<u8>> {
    let link = format!("/proc/self/fd/{fd}\0");
    let mut path = vec![0_u8; libc::PATH_MAX as usize];
    let length = call!(
        libc::SYS_readlinkat,
        libc::AT_FDCWD,
        link.as_ptr().cast::<c_char>(),
        path.as_mut_ptr().cast::<c_void>(),
        path.len()
    );
    path.truncate(usize::try_from(length).ok()?);
    Some(path)
}

pub fn close(fd: c_int) {
    call!(libc::SYS_close, fd);
}

/// The bytes of a path that a caller gave.
///
/// # Safety
/// It ends in a zero.
pub unsafe fn bytes<'a>(path: *const c_char) -> &'a [u8] {
    // SAFETY: as above.
    unsafe { CStr::from_ptr(path) }.to_bytes()
}

/// libc's function of this name, behind ours; `None`: it has none.
pub fn next(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a name that ends in a zero.
    let function = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    (!function.is_null()).then_some(function)
}

/// An answer of the kernel as a file descriptor or status.
pub fn status(answer: c_long) -> c_int {
    answer as c_int
}
