//! Files and block devices as targets, on systems other than Linux: not supported.

use super::{Counters, Needs, OpenOptions, Target, TargetCompletion, TargetFacts};
use ssdlab_base::LabError;
use ssdlab_ssd::{Command, Nanos};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A target that cannot be.
#[derive(Debug)]
pub enum FileTarget {}

/// Nor can this one.
pub type NvmeTarget = FileTarget;

/// Refuses `path`.
///
/// # Errors
/// Always.
pub fn open(
    path: &Path,
    _needs: &Needs,
    _options: &OpenOptions,
    _progress: &mut dyn FnMut(u64, u64),
    _stop: &AtomicBool,
) -> Result<FileTarget, LabError> {
    Err(LabError::refused(
        format!(
            "{} cannot be a target: files and block devices are reached by io_uring, which Linux \
             has",
            path.display()
        ),
        "drive:NAME and null:SIZE are targets on every system",
    ))
}

impl Target for FileTarget {
    fn facts(&self) -> &TargetFacts {
        match *self {}
    }

    fn depth_max(&self) -> u32 {
        match *self {}
    }

    fn now(&mut self) -> Nanos {
        match *self {}
    }

    fn submit(&mut self, _tag: u32, _command: &Command) -> Result<(), LabError> {
        match *self {}
    }

    fn reap(
        &mut self,
        _until: Option<Nanos>,
        _done: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError> {
        match *self {}
    }

    fn counters(&mut self) -> Counters {
        match *self {}
    }
}
