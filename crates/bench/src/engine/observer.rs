//! Observers of a run as it happens.

use crate::record::Second;
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_ssd::{Command, Nanos};

/// A command that completed while its job was counted.
#[derive(Clone, Copy, Debug)]
pub struct LoggedCommand {
    /// Phase number, from 0.
    pub phase: usize,
    /// Position of its job within the phase.
    pub job: u32,
    /// Copy of the job, from 0.
    pub copy: u32,
    /// The command.
    pub command: Command,
    /// When it completed, from the start of its job's counted part.
    pub at: Nanos,
    /// From hand-over to completion.
    pub latency: Nanos,
}

/// Sees a run as it happens: progress, and results written as they come.
pub trait Observer {
    /// A second has been counted. `latencies` are that second's histograms in `Op` order.
    ///
    /// # Errors
    /// When results cannot be written: the run ends, and what was measured is kept.
    fn second(&mut self, second: &Second, latencies: &[Latencies]) -> Result<(), LabError>;

    /// The commands of the next second, in order of completion: those of jobs that want a log of
    /// each ([`ssdlab_load::plan::JobSpec::log_each`]).
    ///
    /// # Errors
    /// As [`Observer::second`].
    fn commands(&mut self, _commands: &[LoggedCommand]) -> Result<(), LabError> {
        Ok(())
    }
}

/// An observer that ignores everything.
pub struct Unobserved;

impl Observer for Unobserved {
    fn second(&mut self, _: &Second, _: &[Latencies]) -> Result<(), LabError> {
        Ok(())
    }
}
