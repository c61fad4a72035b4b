//! The bytes of a block: a header before each interval, or behind its first bytes, and data.
//!
//! ```text
//! verify_interval=1024, verify_offset=512: in each interval, the first bytes of what would follow
//! a header stand where the header was, and the header stands at byte 512
//! ```

use crate::checksum::BlockChecksum;
use crate::format::FioFormat;
use crate::header::{VerifyHeader, WriteTime};
use crate::job::VerifiedJob;
use crate::random::fill;
use crate::writes::JobWrite;

impl VerifiedJob {
    /// Bytes of a header and its checksum.
    pub(crate) fn head_bytes(&self) -> usize {
        match self.checksum {
            BlockChecksum::Pattern => 0,
            checksum => VerifyHeader::length(self.format) + checksum.bytes(),
        }
    }

    /// Bytes between the beginnings of two headers.
    pub(crate) fn interval(&self) -> usize {
        self.interval_bytes as usize
    }

    /// Changes the places of header and data of one interval; twice, it changes nothing.
    fn shift(&self, interval: &mut [u8]) {
        let (head, shift) = (self.head_bytes(), self.header_offset as usize);
        if shift > 0 {
            let (front, back) = interval.split_at_mut(shift);
            front[..head].swap_with_slice(&mut back[..head]);
        }
    }

    /// The headers that stand in a block, whole ones only.
    pub(crate) fn headers(&self, block: &[u8]) -> Vec<Option<VerifyHeader>> {
        let start = self.header_offset as usize;
        let header = |interval: &[u8]| VerifyHeader::from_bytes(&interval[start..], self.format);
        block.chunks(self.interval()).map(header).collect()
    }
}

impl JobWrite {
    /// The bytes of the write at `time`.
    pub fn bytes(&self, job: &VerifiedJob, time: WriteTime) -> Vec<u8> {
        self.bytes_at(job, |_| time)
    }

    /// Its bytes, with a time for each header.
    pub(crate) fn bytes_at(&self, job: &VerifiedJob, time: impl Fn(usize) -> WriteTime) -> Vec<u8> {
        let mut bytes = self.contents(job);
        let head = job.head_bytes();
        if head == 0 {
            return bytes;
        }
        let header_end = VerifyHeader::length(job.format);
        for (index, interval) in bytes.chunks_mut(job.interval()).enumerate() {
            let header = VerifyHeader {
                kind: job.checksum.number(),
                length: job.interval_bytes,
                seed: self.header_seed(job),
                offset: self.offset + index as u64 * u64::from(job.interval_bytes),
                time: time(index),
                number: self.number,
                thread: job.thread,
            };
            let checksum = job.checksum.of(&interval[head..], job.format);
            header.write(job.format, interval);
            interval[header_end..head].copy_from_slice(&checksum);
            job.shift(interval);
        }
        bytes
    }

    /// The data, without headers.
    fn contents(&self, job: &VerifiedJob) -> Vec<u8> {
        let mut bytes = vec![0; job.block_bytes as usize];
        match &job.pattern {
            Some(pattern) => pattern.fill(&mut bytes, self.offset),
            None => fill(&mut bytes, self.seed),
        }
        bytes
    }

    /// A pattern needs no seed.
    fn header_seed(&self, job: &VerifiedJob) -> u64 {
        job.pattern.as_ref().map_or(self.seed, |_| 0)
    }

    /// Whether fio takes `block` for this write by `verify_only`. 3.33 compares neither seed nor
    /// number, so that an older write of the same block passes; of the current one, the job file of
    /// [`VerifiedJob::to_verify_only`] asks for both.
    pub(crate) fn passes(&self, job: &VerifiedJob, block: &[u8]) -> bool {
        let head = job.head_bytes();
        let data = job.pattern.as_ref().map(|_| self.contents(job));
        let mut intervals = block.to_vec();
        intervals
            .chunks_mut(job.interval())
            .enumerate()
            .all(|(index, interval)| {
                job.shift(interval);
                let start = index * job.interval() + head;
                let has_pattern = data
                    .as_ref()
                    .is_none_or(|data| data[start..][..interval.len() - head] == interval[head..]);
                let is_checked =
                    matches!(job.checksum, BlockChecksum::Meta | BlockChecksum::Pattern);
                (head == 0 || self.has_head(job, index, interval)) && (!is_checked || has_pattern)
            })
    }

    /// Whether the interval begins with a header that fio takes for this write's, and the checksum
    /// is that of the data.
    fn has_head(&self, job: &VerifiedJob, index: usize, interval: &[u8]) -> bool {
        let Some(header) = VerifyHeader::from_bytes(interval, job.format) else {
            return false;
        };
        let head = job.head_bytes();
        let is_this = match job.format {
            FioFormat::V3_33 => true,
            FioFormat::Current => {
                let has_seed = job.is_sorted() || header.seed == self.header_seed(job);
                has_seed && header.number == self.number
            }
        };
        is_this
            && header.length == job.interval_bytes
            && header.offset == self.offset + index as u64 * u64::from(job.interval_bytes)
            && interval[VerifyHeader::length(job.format)..head]
                == job.checksum.of(&interval[head..], job.format)
    }
}
