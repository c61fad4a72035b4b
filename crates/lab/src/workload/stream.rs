//! One copy of one job as a stream of commands.

use super::JobSpec;
use crate::LabError;
use ssdlab_ssd::Command;

/// The commands of one copy of a job, in order.
pub struct Stream {}

impl Stream {
    /// The stream of copy number `copy` (from 0) of `job` on a target of `capacity` bytes.
    ///
    /// # Errors
    /// When the region does not fit the target, or no block fits the region.
    pub fn new(_job: &JobSpec, _copy: u32, _capacity: u64) -> Result<Stream, LabError> {
        Err(LabError::refused("not written yet", ""))
    }

    /// The next command; `None` when the job's `io_limit` is used up.
    #[inline]
    pub fn next_command(&mut self) -> Option<Command> {
        None
    }
}
