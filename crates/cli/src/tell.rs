//! Talk on standard error.

/// Writes a line to standard error. When its reader is gone (`2>&1 | head`), the work and
/// its exit code stand all the same; `eprintln!` would end the program as if it were broken.
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}
