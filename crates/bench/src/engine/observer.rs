//! Who sees a run as it happens.

use crate::record::Second;
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;

/// Sees a run as it happens: progress, and results written as they come.
pub trait Observer {
    /// A second has been counted. `latencies` are that second's histograms in `Op` order.
    ///
    /// # Errors
    /// When results cannot be written: the run ends, and what was measured is kept.
    fn second(&mut self, second: &Second, latencies: &[Latencies]) -> Result<(), LabError>;
}

/// An observer that looks away.
pub struct Unobserved;

impl Observer for Unobserved {
    fn second(&mut self, _: &Second, _: &[Latencies]) -> Result<(), LabError> {
        Ok(())
    }
}
