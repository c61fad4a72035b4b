//! Opening, and where a path leads.

use crate::kernel::{self, call};
use crate::turn::{CallDeed, CallTurn, folder, is_ours};
use libc::{c_char, c_int, mode_t};

/// Where a name of the campaign's folder is, from its top; `None`: it is outside. The last part
/// need not exist and is not followed.
///
/// # Safety
/// `path` ends in a zero.
pub unsafe fn inside(dirfd: c_int, path: *const c_char) -> Option<Vec<u8>> {
    let folder = folder()?;
    if path.is_null() {
        return None;
    }
    // SAFETY: as above.
    let mut text = unsafe { kernel::bytes(path) };
    while text.len() > 1 && text.ends_with(b"/") {
        text = &text[..text.len() - 1];
    }
    let (parent, name): (&[u8], &[u8]) = match text.iter().rposition(|&byte| byte == b'/') {
        Some(0) => (b"/", &text[1..]),
        Some(slash) => (&text[..slash], &text[slash + 1..]),
        None => (b".", text),
    };
    if name.is_empty() || name == b"." || name == b".." {
        return None;
    }
    let parent = [parent, b"\0"].concat();
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    let opened = call!(libc::SYS_openat, dirfd, parent.as_ptr(), flags, 0);
    if opened < 0 {
        return None;
    }
    let place = kernel::path_of(kernel::status(opened));
    kernel::close(kernel::status(opened));
    let place = place?;
    let place = folder.inside(&place)?;
    Some(if place.is_empty() {
        name.to_vec()
    } else {
        [place, b"/", name].concat()
    })
}

/// A symbolic link leads elsewhere: the place of an open file itself.
pub fn place_of(fd: c_int) -> Option<Vec<u8>> {
    let path = kernel::path_of(fd)?;
    folder()?.inside(&path).map(<[u8]>::to_vec)
}

/// Reports a file that `open` made or emptied.
pub fn report_opened(turn: &mut CallTurn, fd: c_int, before: Option<libc::stat>, empties: bool) {
    let Some(status) = kernel::status_of(fd) else {
        return;
    };
    let (file, none): (u64, [&[u8]; 2]) = (status.st_ino, [b"", b""]);
    match before {
        None => {
            if let Some(path) = place_of(fd) {
                turn.report(CallDeed::Create, file, [0, 0], [&path, b""]);
            }
        }
        Some(before) if empties && before.st_size > 0 => {
            turn.report(CallDeed::SetLength, file, [0, 0], none);
        }
        Some(_) => {}
    }
}

unsafe fn open_at(dirfd: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let run = || kernel::status(call!(libc::SYS_openat, dirfd, path, flags, mode));
    let changes = flags & (libc::O_CREAT | libc::O_TRUNC) != 0;
    // SAFETY: the caller's path.
    if !changes || unsafe { inside(dirfd, path) }.is_none() {
        return run();
    }
    let Some(mut turn) = CallTurn::begin() else {
        return run();
    };
    let before = kernel::status_at(dirfd, path, 0);
    let fd = run();
    turn.ended();
    if fd >= 0 {
        report_opened(&mut turn, fd, before, flags & libc::O_TRUNC != 0);
    }
    fd
}

macro_rules! opens {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            // SAFETY: the caller's own arguments.
            unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
        }
    )*};
}
opens!(open, open64);

macro_rules! opens_at {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            dirfd: c_int,
            path: *const c_char,
            flags: c_int,
            mode: mode_t,
        ) -> c_int {
            // SAFETY: the caller's own arguments.
            unsafe { open_at(dirfd, path, flags, mode) }
        }
    )*};
}
opens_at!(openat, openat64);

macro_rules! checked_opens {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, flags: c_int) -> c_int {
            // SAFETY: the caller's own arguments.
            unsafe { open_at(libc::AT_FDCWD, path, flags, 0) }
        }
    )*};
}
checked_opens!(__open_2, __open64_2);

macro_rules! checked_opens_at {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(dirfd: c_int, path: *const c_char, flags: c_int) -> c_int {
            // SAFETY: the caller's own arguments.
            unsafe { open_at(dirfd, path, flags, 0) }
        }
    )*};
}
checked_opens_at!(__openat_2, __openat64_2);

macro_rules! creats {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, mode: mode_t) -> c_int {
            let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
            // SAFETY: the caller's own arguments.
            unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
        }
    )*};
}
creats!(creat, creat64);

#[unsafe(no_mangle)]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    if is_ours(fd) {
        return 0;
    }
    kernel::status(call!(libc::SYS_close, fd))
}
