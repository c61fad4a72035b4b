//! Runs a job's writes one at a time, until they are done or one fails.

use crate::header::WriteTime;
use crate::job::VerifiedJob;
use crate::progress::WriteProgress;
use ssdlab_base::LabError;

/// What a job writes to.
pub trait VerifyTarget {
    /// Writes; durable on return if asked for.
    ///
    /// # Errors
    /// When the target does not answer, as without power.
    fn write(&mut self, offset: u64, bytes: &[u8], is_durable: bool) -> Result<(), LabError>;

    /// Makes all writes durable.
    ///
    /// # Errors
    /// As [`VerifyTarget::write`].
    fn sync(&mut self) -> Result<(), LabError>;
}

/// How a run ended.
#[derive(Debug)]
pub struct RunEnd {
    /// How far it came.
    pub progress: WriteProgress,
    /// What the target answered in the end, unless all writes were made.
    pub error: Option<LabError>,
}

/// Runs `job`; `before` is asked before each write for its time, and ends the run by `None`.
pub fn run(
    job: &VerifiedJob,
    target: &mut impl VerifyTarget,
    before: &mut impl FnMut(&WriteProgress) -> Option<WriteTime>,
) -> RunEnd {
    let mut progress = WriteProgress::default();
    for write in job.writes() {
        let Some(time) = before(&progress) else {
            break;
        };
        progress.issued += 1;
        let bytes = write.bytes(job, time);
        if let Err(error) = target.write(write.offset, &bytes, job.has_durable_writes) {
            progress.in_flight.insert(write.number);
            return RunEnd {
                progress,
                error: Some(error),
            };
        }
        let is_due = |every: u64| progress.issued.is_multiple_of(every);
        let is_last = progress.issued == job.count();
        if job.sync_every.is_some_and(is_due) || (job.syncs_at_end && is_last) {
            if let Err(error) = target.sync() {
                return RunEnd {
                    progress,
                    error: Some(error),
                };
            }
            progress.synced = progress.issued;
        }
        if job.has_durable_writes {
            progress.synced = progress.issued;
        }
        progress.durable = progress.synced;
    }
    RunEnd {
        progress,
        error: None,
    }
}
