//! The part of the target that a job uses, and the checks of its sizes against it.

use crate::plan::{BlockSize, JobSpec, Mix};
use ssdlab_base::LabError;
use ssdlab_ssd::Bytes;

/// Commands address multiples of this many bytes.
pub(super) const LOGICAL_BLOCK: u64 = 512;

/// The part of the target a job uses, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobRegion {
    pub base: u64,
    pub len: u64,
}

/// The kinds of command a mix has, as indices into `block_sizes`.
pub(super) fn kinds(mix: Mix) -> &'static [usize] {
    match mix {
        Mix::Read | Mix::ReadWrite { read_pct: 100 } => &[0],
        Mix::Write | Mix::ReadWrite { read_pct: 0 } => &[1],
        Mix::Trim => &[2],
        Mix::ReadWrite { .. } => &[0, 1],
    }
}

/// `percent` of `whole`, rounded down to whole logical blocks.
fn share(whole: u64, percent: u64) -> u64 {
    let bytes = u128::from(whole) * u128::from(percent) / 100;
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    bytes - bytes % LOGICAL_BLOCK
}

/// Resolves offset and size against the target.
pub(super) fn region(job: &JobSpec, copy: u32, capacity: u64) -> Result<JobRegion, LabError> {
    let name = &job.name;
    let first = match job.shares.offset {
        Some(percent) => share(capacity, percent.min(100).into()),
        None => job.offset,
    };
    let base = first.saturating_add(job.steps.copy.saturating_mul(copy.into()));
    if !base.is_multiple_of(LOGICAL_BLOCK) {
        return Err(LabError::refused(
            format!("job `{name}`: its offset of {base} bytes is not a multiple of 512"),
            "drives are addressed in blocks of 512 bytes: round the offset",
        ));
    }
    let Some(room) = capacity.checked_sub(base).filter(|rest| *rest > 0) else {
        return Err(LabError::refused(
            format!(
                "job `{name}`: it starts at byte {base}, but the target ends at byte {capacity} \
                 ({})",
                Bytes(capacity)
            ),
            "choose a smaller offset or a larger target",
        ));
    };
    let len = match (job.shares.region, job.region) {
        (Some(percent), _) => share(capacity, percent.into()).min(room),
        (None, Some(bytes)) => bytes,
        (None, None) => room,
    };
    if len > room {
        return Err(LabError::refused(
            format!(
                "job `{name}`: {} from byte {base} on do not fit a target of {}",
                Bytes(len),
                Bytes(capacity)
            ),
            "use a smaller size, or 100% for all of the target",
        ));
    }
    Ok(JobRegion { base, len })
}

/// The file at the region's start.
pub(super) fn file(job: &JobSpec, region: JobRegion) -> Result<JobRegion, LabError> {
    let files = u64::from(job.steps.files.max(1));
    let len = region.len / files;
    if files > 1 && !len.is_multiple_of(LOGICAL_BLOCK) {
        return Err(LabError::refused(
            format!(
                "job `{}`: files of {len} bytes are no multiple of 512",
                job.name
            ),
            "give a filesize that is",
        ));
    }
    Ok(JobRegion { len, ..region })
}

/// Refuses block sizes that are empty, crooked or larger than the region.
pub(super) fn check_blocks(job: &JobSpec, region: JobRegion) -> Result<(), LabError> {
    let name = &job.name;
    if let Mix::ReadWrite { read_pct: 101.. } = job.mix {
        return Err(LabError::refused(
            format!("job `{name}`: a share of reads above 100 %"),
            "give 0 to 100",
        ));
    }
    for &BlockSize { bytes, .. } in &job.block_sizes.concat() {
        let crooked = !u64::from(bytes).is_multiple_of(LOGICAL_BLOCK) && !job.steps.pages;
        if bytes == 0 || crooked {
            return Err(LabError::refused(
                format!("job `{name}`: a block of {bytes} bytes is not a multiple of 512"),
                "drives are addressed in blocks of 512 bytes: use 512, 4096, ...",
            ));
        }
    }
    for kind in kinds(job.mix) {
        let list = &job.block_sizes[*kind];
        let percent: u32 = list.iter().map(|b| u32::from(b.percent)).sum();
        if percent != 100 {
            return Err(LabError::refused(
                format!("job `{name}`: the shares of its block sizes add up to {percent} %"),
                "they must add up to 100",
            ));
        }
        let largest = list.iter().map(|b| u64::from(b.bytes)).max().unwrap_or(0);
        if largest > region.len {
            return Err(LabError::refused(
                format!(
                    "job `{name}`: a block of {} does not fit its region of {}",
                    Bytes(largest),
                    Bytes(region.len)
                ),
                "use a smaller block size or a larger size",
            ));
        }
    }
    Ok(())
}

/// The bytes one copy transfers.
pub(super) fn limit(job: &JobSpec, region: JobRegion) -> Result<u64, LabError> {
    if job.time.time_based {
        // 16 EiB: decades at any speed a drive has.
        return Ok(u64::MAX);
    }
    let percent = job
        .shares
        .io_limit
        .map(|percent| share(region.len, percent));
    let least = [percent, job.io_limit].into_iter().flatten().min();
    let bytes = least.unwrap_or(region.len);
    let sizes = kinds(job.mix)
        .iter()
        .flat_map(|kind| &job.block_sizes[*kind]);
    let smallest = sizes.map(|b| u64::from(b.bytes)).min().unwrap_or(0);
    if bytes < smallest {
        return Err(LabError::refused(
            format!(
                "job `{}`: its limit of {} is less than one block of {}",
                job.name,
                Bytes(bytes),
                Bytes(smallest)
            ),
            "raise the amount to transfer or lower the block size",
        ));
    }
    Ok(bytes)
}
