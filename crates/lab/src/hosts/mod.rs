//! Whole hosts as loads: what a drive has to endure under a cache tier, a file system, a database.
//!
//! * [`tier`]: a write-back cache in front of slow disks, every write durable before it is
//!   acknowledged.
//! * [`months`]: files created and deleted for months, with TRIM at once, in batches or never.
//! * [`oltp`]: transactions of a database, month after month.
//!
//! Each has a spec with units and defaults, `run(&spec, drive)` and a result; [`devices`] keeps
//! several drives in one virtual time, [`scale`] makes a drive small enough to age in seconds.
//! All are functions of their spec and seed.

pub mod devices;
pub mod drive;
pub mod file_system;
pub mod months;
pub mod oltp;
pub mod probe;
pub mod scale;
pub mod tier;

pub use devices::{Devices, Done};
pub use drive::HostDrive;

use crate::LabError;
use crate::error::Place;
use crate::simulate::result::Check;

/// Names and reasons of the self-checks that failed.
pub fn failures(checks: &[Check]) -> Vec<String> {
    let failed = |check: &Check| {
        let why = check.failure.as_ref()?;
        Some(format!("{}: {why}", check.name))
    };
    checks.iter().filter_map(failed).collect()
}

/// A self-check.
pub(crate) fn check(name: impl Into<String>, outcome: Result<(), String>) -> Check {
    Check {
        name: name.into(),
        failure: outcome.err(),
    }
}

/// A value that an option cannot have.
pub(crate) fn bad_value(option: &str, given: &str, allowed: &str, hint: &str) -> LabError {
    LabError::BadValue {
        option: option.into(),
        given: given.into(),
        allowed: allowed.into(),
        place: Place {
            source: "command line".into(),
            line: None,
        },
        hint: hint.into(),
    }
}

/// Breaks a text into lines of at most `width` characters, between words.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// What the self-checks say, in lines for the terminal.
pub(crate) fn check_lines(checks: &[Check]) -> Vec<String> {
    let failed = failures(checks);
    if !failed.is_empty() {
        let line = |failure: &String| format!("self-check FAILED: {failure}");
        return failed.iter().map(line).collect();
    }
    let mut names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    names.dedup();
    vec![format!("self-checks passed: {}", names.len())]
}

/// Writes a time as a number of ns.
pub(crate) fn as_ns<S: serde::Serializer>(
    time: &ssdlab_ssd::Nanos,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.serialize_u64(time.0)
}
