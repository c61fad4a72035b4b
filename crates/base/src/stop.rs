//! Stopping a long run between two of its steps.

use crate::LabError;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns an error when `stop` is set. Long runs call this between two drives or batches.
///
/// # Errors
/// When the run is to stop.
pub fn go_on(stop: &AtomicBool) -> Result<(), LabError> {
    if stop.load(Ordering::Relaxed) {
        return Err(LabError::refused("stopped", ""));
    }
    Ok(())
}
