//! The request of a run.

use crate::device::OpenOptions;
use crate::device::named::{KeptDriveLoader, TargetName};
use crate::run_dir::Existing;
use ssdlab_load::plan::{JobSpec, WorkloadPlan};
use ssdlab_ssd::Nanos;
use std::path::PathBuf;

/// What to run, on which device, and where the results go.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// The workload.
    pub plan: WorkloadPlan,
    /// The device; `None`: the one that the workload names.
    pub target: Option<TargetName>,
    /// Before the run, write this percentage of the target's capacity, front to back.
    pub fill: Option<u32>,
    /// Write the files of jobs that read beforehand, as the workload's own tool does, on a fresh
    /// modelled drive that `fill` does not write.
    pub layout: bool,
    /// Leave the target idle for this time before the run.
    pub idle: Option<Nanos>,
    /// Size of the target and permission to write.
    pub open: OpenOptions,
    /// Loads `drive:PATH` of a kept drive.
    pub kept: KeptDriveLoader,
    /// Short name of the run in legends.
    pub label: String,
    /// The run in a line.
    pub title: String,
    /// The command line, program name left out.
    pub arguments: Vec<String>,
    /// When the run started, as RFC 3339 text.
    pub started_at: String,
    /// The run directory.
    pub directory: PathBuf,
    /// What to do with an earlier run in it.
    pub existing: Existing,
}

/// Every job of a plan.
pub(crate) fn jobs(plan: &WorkloadPlan) -> impl Iterator<Item = &JobSpec> {
    plan.phases.iter().flat_map(|phase| &phase.jobs)
}
