//! How a test reports that it, or a part of it, did not run.
//!
//! A test that returns early passes, and nobody notices that it asked nothing. One that calls
//! [`skip`] first is counted by `tests/all.sh`, which fails on any skip when `CI` is set.

use std::fmt::Display;
use std::io::Write;

/// Environment variable that names the file to which skips are appended, one a line.
pub const FILE: &str = "SSDLAB_SKIPS";

/// Prints `SKIPPED: TEST: REASON` and appends that line to the file that [`FILE`] names.
///
/// # Panics
/// When the file cannot be written: a skip would go uncounted.
pub fn skip(reason: impl Display) {
    let thread = std::thread::current();
    let line = line(thread.name().unwrap_or("a thread of a test"), &reason);
    print!("{line}");
    if let Some(path) = std::env::var_os(FILE) {
        let mut options = std::fs::OpenOptions::new();
        let file = options.create(true).append(true).open(&path);
        // In one call, so that lines of tests that run at the same time do not mix.
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|error| panic!("{FILE}={}: {error}", path.display()));
    }
}

fn line(test: &str, reason: &impl Display) -> String {
    format!("SKIPPED: {test}: {reason}\n")
        .replace("\n", " ")
        .trim_end()
        .to_owned()
        + "\n"
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_skip_is_one_line_with_the_tests_name() {
        let line = super::line("tests::name", &"fio is\nnot installed\n");
        assert_eq!(line, "SKIPPED: tests::name: fio is not installed\n");
    }
}
