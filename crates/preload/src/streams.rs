//! Streams and temporary files of libc, whose own calls do not come to us: the campaign looks at
//! their files itself.

use crate::files::{inside, report_opened};
use crate::kernel::{self, next};
use crate::turn::{CallDeed, CallTurn, folder};
use libc::{FILE, c_char, c_int};

type OpenStream = unsafe extern "C" fn(*const c_char, *const c_char) -> *mut FILE;
type ReopenStream = unsafe extern "C" fn(*const c_char, *const c_char, *mut FILE) -> *mut FILE;
type StreamOfFile = unsafe extern "C" fn(c_int, *const c_char) -> *mut FILE;

/// Runs what opens a stream in a turn if it is to write to a file of the campaign.
unsafe fn open_stream(
    path: *const c_char,
    mode: *const c_char,
    run: impl Fn() -> *mut FILE,
) -> *mut FILE {
    // SAFETY: the caller's strings.
    let (mode, place) = unsafe { (kernel::bytes(mode), inside(libc::AT_FDCWD, path)) };
    let writes = mode.iter().any(|byte| b"wa+".contains(byte));
    if !writes || place.is_none() {
        return run();
    }
    let Some(mut turn) = CallTurn::begin() else {
        return run();
    };
    let before = kernel::status_at(libc::AT_FDCWD, path, 0);
    let stream = run();
    turn.ended();
    if !stream.is_null() {
        // SAFETY: a stream that was just opened.
        let fd = unsafe { libc::fileno(stream) };
        report_opened(&mut turn, fd, before, mode.starts_with(b"w"));
        report_streamed(&mut turn, fd);
    }
    stream
}

fn report_streamed(turn: &mut CallTurn, fd: c_int) {
    if let Some(status) = kernel::status_of(fd) {
        turn.report(CallDeed::Streamed, status.st_ino, [0, 0], [b"", b""]);
    }
}

macro_rules! fopens {
    ($($name:ident $text:literal),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, mode: *const c_char) -> *mut FILE {
            let Some(function) = next($text) else {
                return std::ptr::null_mut();
            };
            // SAFETY: libc's function of that name and type, with the caller's own arguments.
            unsafe {
                let function = std::mem::transmute::<*mut libc::c_void, OpenStream>(function);
                open_stream(path, mode, || function(path, mode))
            }
        }
    )*};
}
fopens!(fopen c"fopen", fopen64 c"fopen64");

macro_rules! freopens {
    ($($name:ident $text:literal),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            path: *const c_char,
            mode: *const c_char,
            old: *mut FILE,
        ) -> *mut FILE {
            let Some(function) = next($text) else {
                return std::ptr::null_mut();
            };
            // SAFETY: libc's function of that name and type, with the caller's own arguments.
            unsafe {
                let function = std::mem::transmute::<*mut libc::c_void, ReopenStream>(function);
                open_stream(path, mode, || function(path, mode, old))
            }
        }
    )*};
}
freopens!(freopen c"freopen", freopen64 c"freopen64");

#[unsafe(no_mangle)]
unsafe extern "C" fn fdopen(fd: c_int, mode: *const c_char) -> *mut FILE {
    let Some(function) = next(c"fdopen") else {
        return std::ptr::null_mut();
    };
    let is_regular = |s: &libc::stat| s.st_mode & libc::S_IFMT == libc::S_IFREG;
    let has = folder().is_some_and(|folder| {
        kernel::status_of(fd).is_some_and(|s| folder.has(&s) && is_regular(&s))
    });
    if let Some(mut turn) = has.then(CallTurn::begin).flatten() {
        report_streamed(&mut turn, fd);
    }
    // SAFETY: libc's function of that name and type, with the caller's own arguments.
    unsafe {
        let function = std::mem::transmute::<*mut libc::c_void, StreamOfFile>(function);
        function(fd, mode)
    }
}

type MakeTemporary = unsafe extern "C" fn(*mut c_char) -> c_int;
type MakeTemporaryBy = unsafe extern "C" fn(*mut c_char, c_int) -> c_int;
type MakeTemporaryFolder = unsafe extern "C" fn(*mut c_char) -> *mut c_char;

/// Runs what makes a file of a new name.
unsafe fn temporary(template: *mut c_char, run: impl Fn() -> c_int) -> c_int {
    // SAFETY: the caller's string.
    if unsafe { inside(libc::AT_FDCWD, template) }.is_none() {
        return run();
    }
    let Some(mut turn) = CallTurn::begin() else {
        return run();
    };
    let fd = run();
    turn.ended();
    if fd >= 0 {
        report_opened(&mut turn, fd, None, false);
    }
    fd
}

macro_rules! temporaries {
    ($($name:ident $text:literal),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(template: *mut c_char) -> c_int {
            let Some(function) = next($text) else {
                return -1;
            };
            // SAFETY: libc's function of that name and type, with the caller's own arguments.
            unsafe {
                let function = std::mem::transmute::<*mut libc::c_void, MakeTemporary>(function);
                temporary(template, || function(template))
            }
        }
    )*};
}
temporaries!(mkstemp c"mkstemp", mkstemp64 c"mkstemp64");

macro_rules! temporaries_by {
    ($($name:ident $text:literal),*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(template: *mut c_char, flags: c_int) -> c_int {
            let Some(function) = next($text) else {
                return -1;
            };
            // SAFETY: libc's function of that name and type, with the caller's own arguments.
            unsafe {
                let function = std::mem::transmute::<*mut libc::c_void, MakeTemporaryBy>(function);
                temporary(template, || function(template, flags))
            }
        }
    )*};
}
temporaries_by!(
    mkostemp c"mkostemp", mkostemp64 c"mkostemp64", mkstemps c"mkstemps", mkstemps64 c"mkstemps64"
);

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdtemp(template: *mut c_char) -> *mut c_char {
    let Some(function) = next(c"mkdtemp") else {
        return std::ptr::null_mut();
    };
    // SAFETY: libc's function of that name and type.
    let function =
        unsafe { std::mem::transmute::<*mut libc::c_void, MakeTemporaryFolder>(function) };
    // SAFETY: the caller's string.
    let is_inside = unsafe { inside(libc::AT_FDCWD, template) }.is_some();
    let turn = if is_inside { CallTurn::begin() } else { None };
    // SAFETY: the caller's own argument.
    let folder = unsafe { function(template) };
    if let Some(mut turn) = turn {
        turn.ended();
        // SAFETY: the name that it made.
        let place = unsafe { inside(libc::AT_FDCWD, template) };
        if let (false, Some(place)) = (folder.is_null(), place) {
            turn.report(CallDeed::MakeDirectory, 0, [0, 0], [&place, b""]);
        }
    }
    folder
}
