//! How far a job came: what was issued, what completed, what a sync covers.

use crate::job::VerifiedJob;
use std::collections::BTreeSet;

/// How far a job came before the power went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteProgress {
    /// Writes issued; of any later number, nothing can be on the disk.
    pub issued: u64,
    /// Numbers of those that had not completed.
    pub in_flight: BTreeSet<u64>,
    /// Numbers of those that failed while the job went on.
    pub failed: BTreeSet<u64>,
    /// Writes of lower numbers are covered by a sync that completed.
    pub synced: u64,
    /// Writes of lower numbers are durable: by a sync, or since the drive's buffer is protected.
    pub durable: u64,
}

impl WriteProgress {
    /// Of a job that issued `issued` writes one at a time, of which the first `completed` did.
    pub fn of_one_at_a_time(job: &VerifiedJob, issued: u64, completed: u64) -> WriteProgress {
        let mut progress = WriteProgress {
            issued,
            in_flight: (completed..issued).collect(),
            ..WriteProgress::default()
        };
        progress.synced = progress.covered(job, 1);
        progress.durable = progress.synced;
        progress
    }

    /// Writes that must be durable if the job's syncs are all that made them so: the sync before
    /// the newest write that was issued is over. With several commands at once a sync is over when
    /// `depth` writes were issued after it, and covers those that had completed when it began.
    pub(crate) fn covered(&self, job: &VerifiedJob, depth: u64) -> u64 {
        let first_missing = |set: &BTreeSet<u64>| set.first().copied().unwrap_or(self.issued);
        let complete = first_missing(&self.in_flight).min(first_missing(&self.failed));
        if job.has_durable_writes {
            return complete;
        }
        let Some(every) = job.sync_every else {
            return 0;
        };
        let after = self.issued.saturating_sub(depth) / every * every;
        let covered = if depth > 1 {
            after.saturating_sub(depth)
        } else {
            after
        };
        covered.min(complete)
    }

    /// Of a drive whose buffer survives a power cut: what completed is durable.
    pub fn with_protected_buffer(mut self) -> WriteProgress {
        let missing = self
            .in_flight
            .first()
            .into_iter()
            .chain(self.failed.first());
        self.durable = missing.copied().min().unwrap_or(self.issued);
        self
    }

    /// Whether a write had completed.
    pub fn has_completed(&self, number: u64) -> bool {
        let is_missing = self.in_flight.contains(&number) || self.failed.contains(&number);
        number < self.issued && !is_missing
    }
}
