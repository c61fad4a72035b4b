//! One copy of one job: its stream, its next command and its idle tags.

use super::pace::Pace;
use crate::LabError;
use crate::workload::Phase;
use crate::workload::stream::Stream;
use ssdlab_ssd::Command;

/// One copy of one job.
pub(super) struct Lane {
    /// Generated ahead of time, so that the target can fetch what it will need.
    pub next: Option<Command>,
    /// Position of its job within the phase.
    pub job: u32,
    /// Commands under way.
    pub outstanding: u32,
    /// May still issue.
    pub open: bool,
    /// Has a time in the engine's list of waiting lanes.
    pub waiting: bool,
    /// Limits, if any.
    pub pace: Option<Box<Pace>>,
    /// Tags not under way.
    pub idle: Vec<u32>,
    stream: Stream,
}

impl Lane {
    /// Prepares the command after the one that was `next`.
    #[inline]
    pub fn advance(&mut self) -> Option<&Command> {
        self.next = self.stream.next_command();
        self.next.as_ref()
    }
}

/// The lanes of `phase`, in order of job and copy, with tags from 0 in the same order.
pub(super) fn lanes(phase: &Phase, capacity: u64) -> Result<Vec<Lane>, LabError> {
    let mut lanes = Vec::new();
    let mut tag = 0;
    for (number, job) in phase.jobs.iter().enumerate() {
        for copy in 0..job.copies {
            let mut stream = Stream::new(job, copy, capacity)?;
            lanes.push(Lane {
                next: stream.next_command(),
                job: number as u32,
                outstanding: 0,
                open: true,
                waiting: false,
                pace: Pace::new(&job.pace).map(Box::new),
                // Popped from the end: lowest tag first.
                idle: (tag..tag + job.depth).rev().collect(),
                stream,
            });
            tag += job.depth;
        }
    }
    Ok(lanes)
}
