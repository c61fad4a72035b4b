//! The one way out to a terminal: no byte from outside (a drive's serial number, a file's name, a
//! program's output) reaches it as a control character.

use ssdlab_view::text::escape_controls;
use std::io::{self, Write};

/// Writes `text` to standard output, at once.
///
/// # Errors
/// When standard output cannot be written.
pub fn write_output(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(escape_controls(text).as_bytes())?;
    out.flush()
}

/// Writes a line to standard error. When its reader is gone (`2>&1 | head`), the work and its exit
/// code stand all the same; `eprintln!` would end the program as if it were broken.
pub fn write_error_line(text: &str) {
    let _ = writeln!(io::stderr(), "{}", escape_controls(text));
}

/// Writes a line to standard error, as `format!` writes it.
macro_rules! tell {
    ($($text:tt)*) => {
        $crate::terminal::write_error_line(&format!($($text)*))
    };
}
