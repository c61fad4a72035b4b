//! The host: runs a plan on a target and records what happens.
//!
//! One loop, one thread, for every target: it keeps each stream's commands outstanding, honours
//! rates and pauses, and counts.

use crate::LabError;
use crate::record::{RunRecord, Second};
use crate::target::Target;
use crate::workload::Plan;
use std::sync::atomic::AtomicBool;

/// Sees a run as it happens: progress, and results written as they come.
pub trait Observer {
    /// A second has been counted. `latencies` are that second's histograms in `Op` order.
    ///
    /// # Errors
    /// When results cannot be written: the run ends, and what was measured is kept.
    fn second(
        &mut self,
        second: &Second,
        latencies: &[crate::record::Latencies],
    ) -> Result<(), LabError>;
}

/// Runs `plan` on `target` until it is done, `stop` is set, or the target fails. A failing target
/// is not an `Err`: the record says how the run ended and keeps what was measured.
///
/// # Errors
/// When the plan does not fit the target; nothing has been written then.
pub fn run<T: Target>(
    _plan: &Plan,
    _target: &mut T,
    _observer: &mut dyn Observer,
    _stop: &AtomicBool,
) -> Result<RunRecord, LabError> {
    Err(LabError::refused("not written yet", ""))
}
