//! The crash disk and its files as a library for C: `include/ssdlab_crash.h`.
#![allow(clippy::missing_safety_doc, non_camel_case_types)]

mod disk;
mod files;

use crash::CrashError;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

/// How a call ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SsdlabStatus {
    /// Done.
    SSDLAB_OK = 0,
    /// The power went in the call, or is off: what a test that arms cuts waits for.
    SSDLAB_POWER = 1,
    /// The drive broke a promise; ssdlab_error() names the first.
    SSDLAB_BROKEN = 2,
    /// The call is impossible: a mistake of the caller.
    SSDLAB_REFUSED = 3,
}

thread_local! {
    static ERROR: RefCell<CString> = RefCell::new(CString::default());
}

/// Keeps a text for ssdlab_error().
fn keep(text: &str) {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    ERROR.with(|error| *error.borrow_mut() = text);
}

/// What the last call of this thread that did not end with SSDLAB_OK said, in two lines: what is
/// wrong, and what to do. Good until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn ssdlab_error() -> *const c_char {
    ERROR.with(|error| error.borrow().as_ptr())
}

/// The status of an error, whose text is kept.
fn status_of(error: &CrashError) -> SsdlabStatus {
    keep(&error.to_string());
    if error.is_power() {
        SsdlabStatus::SSDLAB_POWER
    } else {
        SsdlabStatus::SSDLAB_REFUSED
    }
}

fn status<T>(result: Result<T, CrashError>) -> SsdlabStatus {
    match result {
        Ok(_) => SsdlabStatus::SSDLAB_OK,
        Err(error) => status_of(&error),
    }
}

fn refused(what: &str, hint: &str) -> SsdlabStatus {
    keep(&format!("{what}\nhint: {hint}"));
    SsdlabStatus::SSDLAB_REFUSED
}

/// A caller's text; a null pointer is empty.
///
/// # Safety
/// It ends in a zero.
unsafe fn text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "";
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or_default()
}

/// A caller's bytes.
///
/// # Safety
/// There are `len` of them.
unsafe fn bytes<'a>(from: *const u8, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts(from, len) }
}

/// Puts a value where the caller wants it.
///
/// # Safety
/// It points to a value, or is null.
unsafe fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: as above.
        unsafe { to.write(value) }
    }
}
