//! Memory: a modelled drive that does not fit is refused before it starts.

use crate::LabError;
use ssdlab_ssd::Bytes;

/// Refuses `count` modelled drives at once, of `needed` bytes each, when they do not fit.
///
/// # Errors
/// With what they need and what there is.
pub fn refuse_if_too_big(name: &str, needed: u64, count: u64) -> Result<(), LabError> {
    available().map_or(Ok(()), |available| fits(name, needed, count, available))
}

fn fits(name: &str, needed: u64, count: u64, available: u64) -> Result<(), LabError> {
    let total = needed.saturating_mul(count);
    if total <= available {
        return Ok(());
    }
    let (what, hint) = if count > 1 {
        (
            format!("{count} drives at once, like {name}, need"),
            "fewer --jobs need less; so does a larger mapping unit or a smaller drive",
        )
    } else {
        (
            format!("drive {name} needs"),
            "a larger mapping unit needs less (--set ftl.mapping_unit=16KiB, or in the drive \
             file); so does a smaller drive",
        )
    };
    Err(LabError::refused(
        format!(
            "{what} {} of memory for its tables, {} are available",
            Bytes(total),
            Bytes(available)
        ),
        hint,
    ))
}

/// Memory that Linux reports as available: without swapping, and below what this process has left
/// of the limit on address space (`ulimit -v`).
pub fn available() -> Option<u64> {
    match (unused(), below_limit()) {
        (Some(unused), Some(below)) => Some(unused.min(below)),
        (unused, below) => unused.or(below),
    }
}

/// Address space that is left below the limit (`ulimit -v`), if there is one.
#[cfg(target_os = "linux")]
pub(crate) fn below_limit() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    let limit = getrlimit(Resource::As).current?;
    Some(limit.saturating_sub(bytes_in_line("/proc/self/status", "VmSize:")?))
}

/// Only Linux is asked.
#[cfg(not(target_os = "linux"))]
pub(crate) fn below_limit() -> Option<u64> {
    None
}

fn unused() -> Option<u64> {
    bytes_in_line("/proc/meminfo", "MemAvailable:")
}

/// Bytes in the line of this name, which are in KiB there.
fn bytes_in_line(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_just_fits_is_allowed_and_a_byte_more_is_not() {
        fits("d", 100, 1, 100).unwrap();
        fits("d", 50, 2, 100).unwrap();
        let error = fits("d", 51, 2, 100).unwrap_err();
        assert!(error.to_string().contains("need 102 B"), "{error}");
        assert!(error.hint().contains("--jobs"));
        let error = fits("d", u64::MAX, 3, 100).unwrap_err();
        assert!(error.to_string().contains("100 B are available"), "{error}");
    }
}
