//! Calls that make, move and remove names.

use crate::files::inside;
use crate::kernel::{self, call};
use crate::turn::{CallDeed, CallTurn};
use libc::{c_char, c_int, c_long, c_uint, mode_t};

const HERE: c_int = libc::AT_FDCWD;

/// Runs a call on a name in a turn if the name is in the campaign's folder.
///
/// # Safety
/// `path` ends in a zero.
unsafe fn on_name(
    dirfd: c_int,
    path: *const c_char,
    run: impl Fn() -> c_long,
    report: impl FnOnce(&mut CallTurn, &[u8]),
) -> c_int {
    let errno = kernel::errno();
    // SAFETY: as above.
    let place = unsafe { inside(dirfd, path) };
    kernel::set_errno(errno);
    let Some(place) = place else {
        return kernel::status(run());
    };
    let Some(mut turn) = CallTurn::begin() else {
        return kernel::status(run());
    };
    let answer = kernel::status(run());
    turn.ended();
    if answer == 0 {
        report(&mut turn, &place);
    }
    answer
}

unsafe fn make_directory(dirfd: c_int, path: *const c_char, mode: mode_t) -> c_int {
    let run = || call!(libc::SYS_mkdirat, dirfd, path, mode);
    // SAFETY: the caller's path.
    unsafe {
        on_name(dirfd, path, run, |turn, place| {
            turn.report(CallDeed::MakeDirectory, 0, [0, 0], [place, b""]);
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { make_directory(HERE, path, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdirat(dirfd: c_int, path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { make_directory(dirfd, path, mode) }
}

unsafe fn remove_name(dirfd: c_int, path: *const c_char, flags: c_int) -> c_int {
    let run = || call!(libc::SYS_unlinkat, dirfd, path, flags);
    let deed = if flags & libc::AT_REMOVEDIR != 0 {
        CallDeed::RemoveDirectory
    } else {
        CallDeed::Unlink
    };
    // SAFETY: the caller's path.
    unsafe {
        on_name(dirfd, path, run, |turn, place| {
            turn.report(deed, 0, [0, 0], [place, b""]);
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { remove_name(HERE, path, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlinkat(dirfd: c_int, path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { remove_name(dirfd, path, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rmdir(path: *const c_char) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { remove_name(HERE, path, libc::AT_REMOVEDIR) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn remove(path: *const c_char) -> c_int {
    let status = kernel::status_at(HERE, path, libc::AT_SYMLINK_NOFOLLOW);
    let is_directory = status.is_some_and(|s| s.st_mode & libc::S_IFMT == libc::S_IFDIR);
    let flags = if is_directory { libc::AT_REMOVEDIR } else { 0 };
    // SAFETY: the caller's own arguments.
    unsafe { remove_name(HERE, path, flags) }
}

unsafe fn move_name(
    from: (c_int, *const c_char),
    to: (c_int, *const c_char),
    flags: c_uint,
) -> c_int {
    let run = || {
        let number = libc::SYS_renameat2;
        kernel::status(call!(number, from.0, from.1, to.0, to.1, flags))
    };
    // SAFETY: the caller's paths.
    let (old, new) = unsafe { (inside(from.0, from.1), inside(to.0, to.1)) };
    if old.is_none() && new.is_none() {
        return run();
    }
    let Some(mut turn) = CallTurn::begin() else {
        return run();
    };
    let answer = run();
    turn.ended();
    if answer != 0 {
        return answer;
    }
    let moved = kernel::status_at(to.0, to.1, libc::AT_SYMLINK_NOFOLLOW);
    let file = moved.map_or(0, |status| status.st_ino);
    match (old, new) {
        _ if flags & libc::RENAME_EXCHANGE != 0 => {
            let text = b"two names exchanged by renameat2()";
            turn.report(CallDeed::Unsupported, 0, [0, 0], [text, b""]);
        }
        (Some(old), Some(new)) => turn.report(CallDeed::Rename, file, [0, 0], [&old, &new]),
        (None, Some(new)) => {
            // It comes from elsewhere, whole.
            turn.report(CallDeed::Create, file, [0, 0], [&new, b""]);
            turn.report(CallDeed::Content, file, [0, u64::MAX], [b"", b""]);
        }
        (Some(old), None) => turn.report(CallDeed::Unlink, 0, [0, 0], [&old, b""]),
        (None, None) => {}
    }
    answer
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { move_name((HERE, from), (HERE, to), 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn renameat(
    from_dir: c_int,
    from: *const c_char,
    to_dir: c_int,
    to: *const c_char,
) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { move_name((from_dir, from), (to_dir, to), 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn renameat2(
    from_dir: c_int,
    from: *const c_char,
    to_dir: c_int,
    to: *const c_char,
    flags: c_uint,
) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { move_name((from_dir, from), (to_dir, to), flags) }
}

unsafe fn link_name(
    from: (c_int, *const c_char),
    to: (c_int, *const c_char),
    flags: c_int,
) -> c_int {
    let run = || call!(libc::SYS_linkat, from.0, from.1, to.0, to.1, flags);
    // SAFETY: the caller's path.
    unsafe {
        on_name(to.0, to.1, run, |turn, place| {
            let status = kernel::status_at(to.0, to.1, libc::AT_SYMLINK_NOFOLLOW);
            let file = status.map_or(0, |status| status.st_ino);
            turn.report(CallDeed::Link, file, [0, 0], [place, b""]);
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn link(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { link_name((HERE, from), (HERE, to), 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn linkat(
    from_dir: c_int,
    from: *const c_char,
    to_dir: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { link_name((from_dir, from), (to_dir, to), flags) }
}

unsafe fn link_by_path(text: *const c_char, dirfd: c_int, path: *const c_char) -> c_int {
    let run = || call!(libc::SYS_symlinkat, text, dirfd, path);
    // SAFETY: the caller's path.
    unsafe {
        on_name(dirfd, path, run, |turn, place| {
            let text = [b"the symbolic link ", place].concat();
            turn.report(CallDeed::Unsupported, 0, [0, 0], [&text, b""]);
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn symlink(text: *const c_char, path: *const c_char) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { link_by_path(text, HERE, path) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn symlinkat(text: *const c_char, dirfd: c_int, path: *const c_char) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { link_by_path(text, dirfd, path) }
}
