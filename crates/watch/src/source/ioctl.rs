//! Two calls that perf's library lacks.

use perf_event::Counter;
use std::ffi::CString;
use std::io;
use std::os::fd::AsRawFd;

// Linux include/uapi/linux/perf_event.h: _IO('$', 5) and _IOW('$', 6, char *).
const SET_OUTPUT: libc::Ioctl = 0x2405;
const SET_FILTER: libc::Ioctl = 0x4000_2406 | ((size_of::<usize>() as libc::Ioctl) << 16);

/// Lets the kernel drop events that do not match.
///
/// # Errors
/// The kernel's, when it does not take the filter.
pub fn set_filter(counter: &Counter, filter: &str) -> io::Result<()> {
    let filter = CString::new(filter)?;
    // SAFETY: the descriptor is open as long as the counter, and the kernel copies the string,
    // which lives until the call has returned.
    let code = unsafe { libc::ioctl(counter.as_raw_fd(), SET_FILTER, filter.as_ptr()) };
    check(code)
}

/// Lets the events of `counter` go to the ring of `ring`.
///
/// # Errors
/// The kernel's, when both are not of one processor and one clock.
pub fn set_output(counter: &Counter, ring: &Counter) -> io::Result<()> {
    // SAFETY: both descriptors are open as long as their counters; the kernel keeps no pointer.
    let code = unsafe { libc::ioctl(counter.as_raw_fd(), SET_OUTPUT, ring.as_raw_fd()) };
    check(code)
}

fn check(code: libc::c_int) -> io::Result<()> {
    if code == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
