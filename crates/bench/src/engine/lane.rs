//! One copy of one job: its stream, its next command and its idle tags.

use super::pace::{LATE_FROM, LanePace, QueueRefill};
use super::search::DepthSearch;
use ssdlab_base::LabError;
use ssdlab_load::follow::FollowUpStream;
use ssdlab_load::plan::{JobSpec, PlanPhase};
use ssdlab_load::stream::JobStream;
use ssdlab_load::trace::replay::ReplayCommands;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Nanos};

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
    pub pace: Option<Box<LanePace>>,
    /// Tags not under way.
    pub idle: Vec<u32>,
    source: LaneSource,
}

/// Where a lane's commands come from.
#[expect(
    clippy::large_enum_variant,
    reason = "a stream is used for every command and stays in the lane"
)]
enum LaneSource {
    Made(JobStream),
    Recorded(Box<ReplayCommands>),
    Followed(Box<FollowUpStream>),
}

impl Lane {
    /// Prepares the command after the one that was `next`.
    #[inline]
    pub fn advance(&mut self) -> Option<&Command> {
        // Two stores rather than one after a choice: the common one stays in registers.
        if let LaneSource::Made(stream) = &mut self.source {
            self.next = stream.next_command();
        } else {
            self.advance_other();
        }
        self.next.as_ref()
    }

    #[inline(never)]
    fn advance_other(&mut self) {
        match &mut self.source {
            LaneSource::Made(_) => {}
            LaneSource::Recorded(commands) => {
                let next = commands.next_command();
                if let (Some(pace), Some((_, due))) = (&mut self.pace, next) {
                    pace.next_due(due);
                }
                self.next = next.map(|(command, _)| command);
            }
            LaneSource::Followed(followed) => {
                self.next = followed.next_command();
                if let Some(pace) = &mut self.pace {
                    pace.next_waits(followed.waits());
                }
            }
        }
    }

    /// A command of `latency` completed at `now`: a search of the depth goes on, and may be over.
    #[inline(never)]
    pub fn search(&mut self, latency: Nanos, now: Nanos) {
        let search = self.pace.as_mut().and_then(|pace| pace.search.as_mut());
        let Some(search) = search else { return };
        search.completed(latency, now);
        if search.outcome().is_some() {
            self.next = None;
        }
    }

    /// What the reader of the result should know of how it ran.
    pub fn note(&self) -> Option<String> {
        let pace = self.pace.as_ref()?;
        if let Some(search) = &pace.search {
            return Some(search.note());
        }
        let late = pace.late();
        (late.count > 0).then(|| {
            format!(
                "{} commands of the trace left more than {LATE_FROM} after their time, the latest \
                 by {}: target or host did not keep up; their latencies leave that wait out. If \
                 all places were taken, raise --iodepth",
                late.count, late.most
            )
        })
    }

    /// The flush that ends the job's writes when a time limit has ended the job, as its next
    /// command. Returns whether there is one.
    pub fn flush_at_end(&mut self) -> bool {
        self.next = match &self.source {
            LaneSource::Followed(followed) => followed.closing_flush(),
            LaneSource::Made(_) | LaneSource::Recorded(_) => None,
        };
        self.next.is_some()
    }

    /// Why there is no next command, if the source broke.
    pub fn failure(&mut self) -> Option<LabError> {
        match &mut self.source {
            LaneSource::Made(_) | LaneSource::Followed(_) => None,
            LaneSource::Recorded(commands) => commands.failure(),
        }
    }
}

fn source(job: &JobSpec, copy: u32, capacity: u64) -> Result<LaneSource, LabError> {
    Ok(if FollowUpStream::has_any(job) {
        LaneSource::Followed(Box::new(FollowUpStream::new(job, copy, capacity)?))
    } else {
        LaneSource::Made(JobStream::new(job, copy, capacity)?)
    })
}

/// What holds back the commands of a copy, if anything can.
fn pace(job: &JobSpec, copy: u32) -> Option<LanePace> {
    let rng = Rng::named(job.seed, &format!("arrivals of copy {copy}"));
    let limits = LanePace::new(&job.pace, job.time.delay, rng);
    let (ties, follows) = (&job.ties, FollowUpStream::has_any(job));
    let tied = ties.flow.is_some() || ties.latency.is_some() || ties.shares_depth;
    let held = follows || tied || job.refill_at.is_some();
    let mut pace = limits.or_else(|| held.then(LanePace::scheduled))?;
    pace.refill = job.refill_at.map(|low| QueueRefill::new(job.depth, low));
    let search = |target| Box::new(DepthSearch::new(target, job.depth));
    pace.search = ties.latency.map(search);
    Some(pace)
}

/// The lanes of `phase`, in order of job and copy, with tags from 0 in the same order.
pub(super) fn lanes(phase: &PlanPhase, capacity: u64) -> Result<Vec<Lane>, LabError> {
    let mut lanes = Vec::new();
    let mut tag = 0;
    let first_shared = phase.jobs.iter().position(|job| job.ties.shares_depth);
    for (number, job) in phase.jobs.iter().enumerate() {
        // Jobs that share their depth have one set of tags.
        let depth = if job.ties.shares_depth && first_shared != Some(number) {
            0
        } else {
            job.depth
        };
        for copy in 0..job.copies {
            let (source, pace) = match &job.replay {
                None => (source(job, copy, capacity)?, pace(job, copy)),
                Some(replay) => (
                    LaneSource::Recorded(Box::new(ReplayCommands::new(replay, capacity)?)),
                    replay.speed.map(|_| LanePace::scheduled()),
                ),
            };
            let mut lane = Lane {
                next: None,
                job: number as u32,
                outstanding: 0,
                open: true,
                waiting: false,
                pace: pace.map(Box::new),
                // Popped from the end: lowest tag first.
                idle: (tag..tag + depth).rev().collect(),
                source,
            };
            lane.advance();
            lanes.push(lane);
            tag += depth;
        }
    }
    Ok(lanes)
}
