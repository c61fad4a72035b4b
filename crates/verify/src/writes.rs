//! The writes of a job in order: number, offset and seed of each.

use crate::format::FioFormat;
use crate::job::VerifiedJob;
use crate::random::{CONTENT_STREAM, OFFSET_SEED, OFFSET_STREAM, Taus88, stream_seed};
use std::collections::BTreeSet;

/// One write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobWrite {
    /// Which of its job, from 0.
    pub number: u64,
    /// Where.
    pub offset: u64,
    /// Seed of its contents.
    pub seed: u64,
}

impl VerifiedJob {
    /// Its writes in order.
    pub fn writes(&self) -> JobWrites<'_> {
        JobWrites::new(self)
    }
}

/// The writes of a job.
#[derive(Clone, Debug)]
pub struct JobWrites<'a> {
    job: &'a VerifiedJob,
    number: u64,
    contents: Taus88,
    offsets: Taus88,
    free: BTreeSet<u64>,
}

impl<'a> JobWrites<'a> {
    fn new(job: &'a VerifiedJob) -> JobWrites<'a> {
        let thread = u64::from(job.thread);
        // 3.33 gives offsets a seed of their own with `randrepeat`.
        let offset_seed = match (job.format, job.repeats) {
            (FioFormat::V3_33, true) => OFFSET_SEED.wrapping_mul(thread),
            _ => stream_seed(job.seed, thread, OFFSET_STREAM),
        };
        let has_map = job.is_random && job.has_random_map;
        JobWrites {
            job,
            number: 0,
            contents: Taus88::new(stream_seed(job.seed, thread, CONTENT_STREAM)),
            offsets: Taus88::new(offset_seed),
            free: (0..if has_map { job.count() } else { 0 }).collect(),
        }
    }

    /// State of the generator of offsets, which a state file holds; 3.33 has none for a job in
    /// order.
    pub(crate) fn offsets(&self) -> Option<Taus88> {
        let has_generator = self.job.is_random || self.job.format == FioFormat::Current;
        has_generator.then_some(self.offsets)
    }

    /// The next block: fio maps a number of 32 bits to the blocks, and takes the next free one.
    fn block(&mut self) -> Option<u64> {
        if !self.job.is_random {
            return Some(self.number);
        }
        let share = f64::from(self.offsets.draw()) / 4_294_967_296.0;
        let drawn = (self.job.count() as f64 * share) as u64;
        if !self.job.has_random_map || self.free.remove(&drawn) {
            return Some(drawn);
        }
        let next = self
            .free
            .range(drawn..)
            .next()
            .or(self.free.first())
            .copied()?;
        self.free.remove(&next);
        Some(next)
    }
}

impl Iterator for JobWrites<'_> {
    type Item = JobWrite;

    fn next(&mut self) -> Option<JobWrite> {
        if self.number == self.job.count() {
            return None;
        }
        let block = self.block()?;
        let write = JobWrite {
            number: self.number,
            offset: self.job.offset + block * u64::from(self.job.block_bytes),
            seed: self.contents.draw_seed(),
        };
        self.number += 1;
        Some(write)
    }
}
