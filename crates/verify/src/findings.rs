//! What is on a disk after a cut, by fio's rules, which ask whether a block is what a write of the
//! job made it, and by the contract, which asks of every sector whether it is as durable as was
//! promised.
//!
//! The contract lets a sector be that of any write from the durable one on, and blames nothing that
//! was never durable. Before the job, a block held anything.

use crate::fio_rule::{RuleFindings, fio_findings};
use crate::header::WriteTime;
use crate::job::{VerifiedJob, VerifyPolicy};
use crate::progress::WriteProgress;
use crate::state::VerifyState;
use crate::writes::JobWrite;
use ssdlab_base::LabError;
use std::collections::BTreeMap;
use std::fmt;

const SECTOR: usize = 512;

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
    fn words(self) -> &'static str {
        match self {
            FoundBlock::Older => "is older than promised",
            FoundBlock::Torn => "is torn",
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

impl fmt::Display for BrokenBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the block at byte {} {}: write #{} of it was durable",
            self.offset,
            self.found.words(),
            self.promised
        )
    }
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
    /// fio without a state: every write of the job.
    pub stateless: RuleFindings,
    /// fio's `verify_policy=completed`, its default.
    pub completed: RuleFindings,
    /// fio's `verify_policy=fsynced`.
    pub fsynced: RuleFindings,
    /// The contract.
    pub contract: ContractFindings,
}

impl VerifyFindings {
    /// Reads every block of `job`, and holds it against `progress`. Before, the disk held zeroes.
    ///
    /// # Errors
    /// As `read`.
    pub fn of(
        job: &VerifiedJob,
        progress: &WriteProgress,
        read: impl FnMut(u64, &mut [u8]) -> Result<(), LabError>,
    ) -> Result<VerifyFindings, LabError> {
        VerifyFindings::after(None, job, progress, read)
    }

    /// The same of a disk that held the writes of an `earlier` job before.
    ///
    /// # Errors
    /// As `read`.
    pub fn after(
        earlier: Option<&VerifiedJob>,
        job: &VerifiedJob,
        progress: &WriteProgress,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), LabError>,
    ) -> Result<VerifyFindings, LabError> {
        let [completed, fsynced] = [VerifyPolicy::Completed, VerifyPolicy::Fsynced].map(|policy| {
            let job = VerifiedJob {
                policy,
                ..job.clone()
            };
            let state = VerifyState::of(&job, progress);
            fio_findings(&job, Some(&state), &mut read)
        });
        Ok(VerifyFindings {
            stateless: fio_findings(job, None, &mut read)?,
            completed: completed?,
            fsynced: fsynced?,
            contract: contract(job, progress, earlier, &mut read)?,
        })
    }
}

/// What breaks the contract.
fn contract(
    job: &VerifiedJob,
    progress: &WriteProgress,
    earlier: Option<&VerifiedJob>,
    read: &mut impl FnMut(u64, &mut [u8]) -> Result<(), LabError>,
) -> Result<ContractFindings, LabError> {
    let mut blocks: BTreeMap<u64, Vec<JobWrite>> = BTreeMap::new();
    for write in job.writes().take(progress.issued as usize) {
        blocks.entry(write.offset).or_default().push(write);
    }
    let mut held_before = BTreeMap::new();
    if let Some(earlier) = earlier.filter(|earlier| earlier.block_bytes == job.block_bytes) {
        held_before.extend(
            earlier
                .writes()
                .map(|write| (write.offset, (earlier, write))),
        );
    }
    let mut findings = ContractFindings::default();
    let mut bytes = vec![0; job.block_bytes as usize];
    for (offset, writes) in &blocks {
        let durable = writes.iter().rposition(|write| {
            write.number < progress.durable && progress.has_completed(write.number)
        });
        let Some(durable) = durable else {
            continue;
        };
        read(*offset, &mut bytes)?;
        let block = BlockOnDisk {
            job,
            offset: *offset,
            bytes: &bytes,
            held_before: held_before.get(offset).copied(),
        };
        findings.promised += 1;
        let (older, allowed) = writes.split_at(durable);
        findings.broken.extend(block.broken(older, allowed));
    }
    Ok(findings)
}

/// A block as it was read.
struct BlockOnDisk<'a> {
    job: &'a VerifiedJob,
    offset: u64,
    bytes: &'a [u8],
    /// The newest write of an earlier job.
    held_before: Option<(&'a VerifiedJob, JobWrite)>,
}

impl BlockOnDisk<'_> {
    /// Which sectors are those of `write` of `job`. The time in a header is taken from the disk.
    fn sectors_of(&self, job: &VerifiedJob, write: &JobWrite) -> Vec<bool> {
        let headers = job.headers(self.bytes);
        let time = |index: usize| headers[index].map_or(WriteTime::default(), |header| header.time);
        let written = write.bytes_at(job, time);
        let pairs = self.bytes.chunks(SECTOR).zip(written.chunks(SECTOR));
        pairs.map(|(found, written)| found == written).collect()
    }

    fn broken(&self, older: &[JobWrite], allowed: &[JobWrite]) -> Option<BrokenBlock> {
        let count = self.bytes.len().div_ceil(SECTOR);
        let held = |writes: &[JobWrite]| {
            writes.iter().fold(vec![false; count], |mut held, write| {
                let sectors = self.sectors_of(self.job, write);
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
        let mut earlier = held(older);
        if let Some((job, write)) = &self.held_before {
            let sectors = self.sectors_of(job, write);
            earlier
                .iter_mut()
                .zip(sectors)
                .for_each(|(held, is)| *held |= is);
        }
        let is_empty = |index: usize| {
            let sector = self.bytes.chunks(SECTOR).nth(index).unwrap_or_default();
            sector.iter().all(|byte| *byte == 0)
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
