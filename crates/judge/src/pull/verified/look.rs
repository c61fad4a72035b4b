//! A look at what a fio job left, by the state that fio or we have kept of it. Writes nothing.

use super::{TargetReader, check_range};
use ssdlab_base::LabError;
use ssdlab_bench::device::direct::DirectFile;
use ssdlab_verify::{
    VerifiedJob, VerifyFindings, VerifyVerdicts, WriteProgress, read_state, state_path,
};
use std::path::PathBuf;

/// What to look at.
#[derive(Clone, Debug)]
pub struct FioLookPlan {
    /// A file or a block device.
    pub target: PathBuf,
    /// The job.
    pub job: VerifiedJob,
    /// Where the state is, if there is one; otherwise the whole job is wanted.
    pub states: Option<PathBuf>,
}

/// Reads the job's blocks.
///
/// # Errors
/// When the target or the state cannot be read.
pub fn look(plan: &FioLookPlan) -> Result<VerifyVerdicts, LabError> {
    let job = &plan.job;
    let progress = match &plan.states {
        Some(folder) => read_state(&state_path(folder, job), job)?.progress(job),
        None => WriteProgress::of_one_at_a_time(job, job.count(), job.count()),
    };
    let path = plan
        .target
        .canonicalize()
        .map_err(|error| LabError::file("looking at", &plan.target, error))?;
    let file = DirectFile::open_to_read(&path)?;
    check_range(&file, job)?;
    let mut reader = TargetReader::new(&file, job)?;
    let findings = VerifyFindings::of(job, &progress, |offset, bytes| reader.read(offset, bytes))?;
    Ok(VerifyVerdicts::of(&findings))
}
