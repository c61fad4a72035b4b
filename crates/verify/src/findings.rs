//! What is on a disk after a cut, by three rules: fio's two, which ask whether a block is what its
//! newest write made it, and the contract, which asks of every sector whether it is as durable as
//! was promised.
//!
//! A rule of fio's stops at the first write that was in flight, as fio does. The contract lets a
//! sector be that of any write from the durable one on, and blames nothing that was never durable.

use crate::header::VerifyHeader;
use crate::job::VerifiedJob;
use crate::progress::WriteProgress;
use crate::writes::JobWrite;
use ssdlab_base::LabError;
use std::collections::BTreeMap;

const SECTOR: usize = 512;

/// What a rule of fio's finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFindings {
    /// Blocks that it looks at.
    pub verified: u64,
    /// Offsets of those that are not what their newest write made them.
    pub failed: Vec<u64>,
}

/// What stands in a block that broke a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FoundBlock {
    /// All of it is older than what was promised: an earlier write, or none of this job.
    Older,
    /// Some sectors are older, others not.
    Torn,
    /// A sector that no write to this block ever held.
    Foreign,
}

impl FoundBlock {
    /// The words of a report.
    pub fn words(self) -> &'static str {
        match self {
            FoundBlock::Older => "older than promised",
            FoundBlock::Torn => "torn",
            FoundBlock::Foreign => "holds what no write put there",
        }
    }
}

/// A block that is not what was promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenBlock {
    /// Where.
    pub offset: u64,
    /// Number of the newest write of it that was durable.
    pub promised: u64,
    /// What stands there.
    pub found: FoundBlock,
}

/// What the contract finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContractFindings {
    /// Blocks with a durable write.
    pub promised: u64,
    /// Those of them that broke it.
    pub broken: Vec<BrokenBlock>,
}

/// What each rule finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyFindings {
    /// fio's `verify_policy=completed`, its default.
    pub completed: RuleFindings,
    /// fio's `verify_policy=fsynced`.
    pub fsynced: RuleFindings,
    /// The contract.
    pub contract: ContractFindings,
}

impl VerifyFindings {
    /// Reads every block that a write of `job` was issued for.
    ///
    /// # Errors
    /// As `read`.
    pub fn of(
        job: &VerifiedJob,
        progress: &WriteProgress,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), LabError>,
    ) -> Result<VerifyFindings, LabError> {
        let mut blocks: BTreeMap<u64, Vec<JobWrite>> = BTreeMap::new();
        for write in job.writes().take(progress.issued as usize) {
            blocks.entry(write.offset).or_default().push(write);
        }
        let stop = progress.in_flight.first().copied();
        let mut findings = VerifyFindings::default();
        let mut bytes = vec![0; job.block_bytes as usize];
        for (offset, writes) in &blocks {
            read(*offset, &mut bytes)?;
            let block = BlockOnDisk {
                job,
                offset: *offset,
                bytes: &bytes,
            };
            let ends = [stop.unwrap_or(progress.issued), progress.synced];
            let [completed, fsynced] = ends.map(|end| {
                let known =
                    |write: &&JobWrite| write.number < end && progress.has_completed(write.number);
                writes.iter().rfind(known)
            });
            block.by_rule(completed, &mut findings.completed);
            block.by_rule(fsynced, &mut findings.fsynced);
            let durable = writes.iter().rposition(|write| {
                write.number < progress.durable && progress.has_completed(write.number)
            });
            if let Some(durable) = durable {
                findings.contract.promised += 1;
                let (older, allowed) = writes.split_at(durable);
                findings
                    .contract
                    .broken
                    .extend(block.broken(older, allowed));
            }
        }
        Ok(findings)
    }
}

/// A block as it was read.
struct BlockOnDisk<'a> {
    job: &'a VerifiedJob,
    offset: u64,
    bytes: &'a [u8],
}

impl BlockOnDisk<'_> {
    fn data_start(&self) -> usize {
        self.header_end() + self.job.checksum.bytes()
    }

    fn header_end(&self) -> usize {
        VerifyHeader::length(self.job.format)
    }

    /// Whether the header is whole and of `write`.
    fn has_header_of(&self, write: &JobWrite) -> bool {
        let Some(header) = VerifyHeader::from_bytes(self.bytes, self.job.format) else {
            return false;
        };
        header.offset == self.offset
            && header.length == self.job.block_bytes
            && header.kind == self.job.checksum.number()
            && header.seed == write.seed
            && header.number == VerifyHeader::number_held(write.number, self.job.format)
    }

    /// fio's own check: header, offset, seed, and the checksum of what follows.
    fn by_rule(&self, newest: Option<&JobWrite>, findings: &mut RuleFindings) {
        let Some(newest) = newest else {
            return;
        };
        findings.verified += 1;
        let data = &self.bytes[self.data_start()..];
        let is_whole = self.has_header_of(newest)
            && self.bytes[self.header_end()..self.data_start()] == self.job.checksum.of(data);
        if !is_whole {
            findings.failed.push(self.offset);
        }
    }

    /// Which sectors are those of `write`.
    fn sectors_of(&self, write: &JobWrite) -> Vec<bool> {
        let ours = write.bytes(self.job, Default::default());
        let start = self.data_start();
        let checksum = self.header_end()..start;
        let has_header =
            self.has_header_of(write) && self.bytes[checksum.clone()] == ours[checksum];
        let pairs = self.bytes.chunks(SECTOR).zip(ours.chunks(SECTOR));
        pairs
            .enumerate()
            .map(|(index, (found, written))| match index {
                // The header has the time of the write, which is not known here.
                0 => has_header && found[start..] == written[start..],
                _ => found == written,
            })
            .collect()
    }

    fn broken(&self, older: &[JobWrite], allowed: &[JobWrite]) -> Option<BrokenBlock> {
        let count = self.bytes.len().div_ceil(SECTOR);
        let held = |writes: &[JobWrite]| {
            writes.iter().fold(vec![false; count], |mut held, write| {
                let sectors = self.sectors_of(write);
                held.iter_mut()
                    .zip(sectors)
                    .for_each(|(held, is)| *held |= is);
                held
            })
        };
        let kept = held(allowed);
        if kept.iter().all(|is_kept| *is_kept) {
            return None;
        }
        let earlier = held(older);
        let is_empty = |index: usize| {
            let sector = self.bytes.chunks(SECTOR).nth(index).unwrap_or_default();
            older.is_empty() && sector.iter().all(|byte| *byte == 0)
        };
        let is_foreign = |index: usize| !kept[index] && !earlier[index] && !is_empty(index);
        let found = if (0..count).any(is_foreign) {
            FoundBlock::Foreign
        } else if kept.iter().any(|is_kept| *is_kept) {
            FoundBlock::Torn
        } else {
            FoundBlock::Older
        };
        Some(BrokenBlock {
            offset: self.offset,
            promised: allowed.first().map_or(0, |write| write.number),
            found,
        })
    }
}
