//! fio's state of verification, as its files hold it.
//!
//! ```text
//! file     version u64, bytes u64, crc32c u64, then the state
//! 3        completions u64, depth u32, files u32, issued u64, job u64, generator 56, name 64,
//!          then depth times: file u64, offset u64: the newest completions
//! 5 to 7   depth u64, issued u64, job u64, generator 56, name 64,
//!          then depth numbers u64: in flight (u64::MAX: none), since 6 also the failed ones
//! ```
//! Version 4 had either layout for a time and is refused. In 7, with `verify_policy=fsynced`, the
//! number issued is the number that an fsync covers.

use crate::format::FioFormat;
use crate::job::{VerifiedJob, VerifyPolicy};
use crate::progress::WriteProgress;
use crate::random::Taus88;
use std::collections::BTreeSet;

/// An entry of the list of writes in flight that holds none.
pub(crate) const NO_WRITE: u64 = u64::MAX;

/// What a state says of its job's last commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewestWrites {
    /// Version 3: offsets of the newest completions.
    Completed(Vec<u64>),
    /// Later: numbers in flight, and of failed writes.
    InFlight(Vec<u64>),
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyState {
    /// Version of its file.
    pub version: u64,
    /// The job's `iodepth`, and since version 6 the number of failed writes.
    pub depth: u32,
    /// Writes issued, or covered by an fsync.
    pub number: u64,
    /// Index of the job, from 0.
    pub index: u64,
    /// Components of the generator of offsets; zeroes for a job in order.
    pub generator: [u64; 7],
    /// Name of the job.
    pub name: String,
    /// Its last commands.
    pub newest: NewestWrites,
}

impl VerifyState {
    /// The state of a job that came so far, of the version that its format has.
    pub fn of(job: &VerifiedJob, progress: &WriteProgress) -> VerifyState {
        let mut writes = job.writes();
        let offsets: Vec<u64> = writes
            .by_ref()
            .take(progress.issued as usize)
            .map(|write| write.offset)
            .collect();
        let number = match job.policy {
            VerifyPolicy::Completed => progress.issued,
            VerifyPolicy::Fsynced => progress.synced,
        };
        let (newest, depth) = match job.format {
            FioFormat::V3_33 => (completions(job, progress, number, &offsets), job.depth),
            FioFormat::Current => {
                let entries = in_flight(job, progress);
                let depth = entries.len() as u32;
                (NewestWrites::InFlight(entries), depth)
            }
        };
        VerifyState {
            version: match job.format {
                FioFormat::V3_33 => 3,
                FioFormat::Current => 7,
            },
            depth,
            number,
            index: u64::from(job.thread) - 1,
            generator: generator(writes.offsets()),
            name: job.name.clone(),
            newest,
        }
    }

    /// How far the job came. Its syncs follow from its options: a state names none, except that of
    /// `verify_policy=fsynced` in version 7.
    pub fn progress(&self, job: &VerifiedJob) -> WriteProgress {
        let is_covered = self.version >= 7 && job.policy == VerifyPolicy::Fsynced;
        let mut progress = WriteProgress {
            issued: if is_covered { job.count() } else { self.number },
            ..WriteProgress::default()
        };
        match &self.newest {
            NewestWrites::Completed(offsets) => {
                let there: BTreeSet<u64> = offsets.iter().copied().collect();
                let window = self.number.saturating_sub(u64::from(self.depth));
                let newest = job.writes().take(self.number as usize);
                let newest = newest.skip(window as usize);
                let missing = newest.filter(|write| !there.contains(&write.offset));
                progress.in_flight = missing.map(|write| write.number).collect();
            }
            NewestWrites::InFlight(entries) => {
                let (queue, failed) = entries.split_at(entries.len().min(job.depth as usize));
                let real = |number: &&u64| **number != NO_WRITE && **number < self.number;
                progress.in_flight = queue.iter().filter(real).copied().collect();
                progress.failed = failed.iter().filter(real).copied().collect();
            }
        }
        progress.synced = if is_covered {
            self.number
        } else {
            progress.covered(job, u64::from(job.depth))
        };
        progress.durable = progress.synced;
        progress
    }
}

/// The newest completions of version 3, the newest first.
fn completions(
    job: &VerifiedJob,
    progress: &WriteProgress,
    number: u64,
    offsets: &[u64],
) -> NewestWrites {
    let completed = (0..number).rev().filter(|n| progress.has_completed(*n));
    let newest = completed.take(job.depth as usize);
    NewestWrites::Completed(
        newest
            .filter_map(|n| offsets.get(n as usize).copied())
            .collect(),
    )
}

/// Numbers in flight, filled up to the job's depth, then the failed ones.
fn in_flight(job: &VerifiedJob, progress: &WriteProgress) -> Vec<u64> {
    let depth = job.depth as usize;
    let queue = progress.in_flight.iter().copied();
    let queue = queue.chain(std::iter::repeat(NO_WRITE)).take(depth);
    queue.chain(progress.failed.iter().copied()).collect()
}

fn generator(offsets: Option<Taus88>) -> [u64; 7] {
    let [first, second, third] = offsets.map_or([0; 3], |generator| generator.parts);
    let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    [0, pair(first, second), pair(third, 0), 0, 0, 0, 0]
}
