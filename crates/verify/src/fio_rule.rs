//! Which blocks fio looks at, and in which order, by a state and without one.
//!
//! 3.33 goes over the writes of the whole job and stops at the first that is not among the newest
//! completions, once only these can be missing. Without a random map it goes by offset, so that it
//! stops at the wrong one: a state is of use to it only if the job was over. The current one stops
//! at the first number that was in flight, or was not issued, and leaves out those that failed.
//!
//! Source: fio's verify.c, backend.c and iolog.c at 3.33 and at f5344384.

use crate::format::FioFormat;
use crate::job::VerifiedJob;
use crate::state::{NewestWrites, VerifyState};
use crate::writes::JobWrite;
use ssdlab_base::LabError;
use std::collections::{BTreeMap, BTreeSet};

/// What a rule of fio's finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFindings {
    /// Blocks that it looks at.
    pub verified: u64,
    /// Offsets of those that are not what their newest write made them.
    pub failed: Vec<u64>,
}

/// The writes whose blocks fio reads, in its order.
fn writes_read(job: &VerifiedJob, state: Option<&VerifyState>) -> Vec<JobWrite> {
    match (job.format, state) {
        (FioFormat::V3_33, Some(state)) => {
            let writes = in_order_of_reads(job, job.writes());
            let numbered = (0u64..).zip(writes);
            let until_stop = numbered.take_while(|(index, write)| !stops(state, *index, write));
            until_stop.map(|(_, write)| write).collect()
        }
        (FioFormat::Current, Some(state)) => {
            let progress = state.progress(job);
            let end = progress.in_flight.first().copied().unwrap_or(state.number);
            let written = job.writes().take(end as usize);
            in_order_of_reads(
                job,
                written.filter(|write| !progress.failed.contains(&write.number)),
            )
        }
        (_, None) => in_order_of_reads(job, job.writes()),
    }
}

/// The newest write of each block, by offset, where a block may be written twice.
fn in_order_of_reads(job: &VerifiedJob, writes: impl Iterator<Item = JobWrite>) -> Vec<JobWrite> {
    if !job.is_sorted() {
        return writes.collect();
    }
    let newest: BTreeMap<u64, JobWrite> = writes.map(|write| (write.offset, write)).collect();
    newest.into_values().collect()
}

/// Whether 3.33 ends its check before the read that is number `index`.
fn stops(state: &VerifyState, index: u64, write: &JobWrite) -> bool {
    let NewestWrites::Completed(offsets) = &state.newest else {
        return index >= state.number;
    };
    let (depth, number) = (u64::from(state.depth), state.number);
    let is_before = index < depth || number.wrapping_sub(index) > depth;
    let is_sure = is_before && number > depth;
    !is_sure && !offsets.contains(&write.offset)
}

/// What fio finds on a disk, by a state or without one.
///
/// # Errors
/// As `read`.
pub fn fio_findings(
    job: &VerifiedJob,
    state: Option<&VerifyState>,
    read: &mut impl FnMut(u64, &mut [u8]) -> Result<(), LabError>,
) -> Result<RuleFindings, LabError> {
    let mut findings = RuleFindings::default();
    let mut bytes = vec![0; job.block_bytes as usize];
    let mut failed = BTreeSet::new();
    for write in writes_read(job, state) {
        findings.verified += 1;
        read(write.offset, &mut bytes)?;
        if !write.passes(job, &bytes) {
            failed.insert(write.offset);
        }
    }
    findings.failed = failed.into_iter().collect();
    Ok(findings)
}
