//! Limits of a role held against what a system in use shows.
//!
//! Only what requests of this very system show is judged: times of durable writes, of flushes, of
//! reads beside writes. A rate is what one writer would reach that waits for each. What cannot be
//! seen by watching (whether flushed data survive a power cut, health, the rate once the drive is
//! overwritten) is listed with the command that settles it, and is no part of the verdict.

mod capacity;
mod commits;
mod show;
#[cfg(test)]
mod tests;

pub use capacity::CephCapacity;
pub use show::text;

use crate::request::BlockRequest;
use crate::source::event::RequestKind;
use crate::steps::WatchedSecond;
use commits::Commits;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::latencies::{Latencies, latencies};
use ssdlab_judge::qualify::roles::{QualifyMeasure, Requirement, Role};

/// What is held against the limits.
pub const SEEN: &str = "Held against the limits: the durable writes of this system, whatever their \
    size, each from the first write handed over to the end of its flush.";
/// Samples beyond a limit, at least, that make it missed.
const BEYOND_MIN: f64 = 3.0;
/// Samples, at least, whatever is judged.
const SAMPLES_MIN: u64 = 30;
/// A read of at most this is a random one as the roles mean it.
const SMALL_READ: u64 = 16 << 10;

/// Whether a limit is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitState {
    /// It is.
    Met,
    /// It is not.
    Missed,
    /// Too few requests of the kind to say.
    TooFew,
}

/// A requirement of the role, held against what was seen.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WatchedLimit {
    /// The requirement's name within the role.
    pub id: String,
    /// What is required.
    pub title: String,
    /// Whether the role cannot do without it.
    pub must: bool,
    /// The value that was seen, in `unit`; `None` without a request of the kind.
    pub value: Option<f64>,
    /// Requests that it rests on.
    pub samples: u64,
    /// Smallest value that meets it.
    pub at_least: Option<f64>,
    /// Largest value that meets it.
    pub at_most: Option<f64>,
    /// Unit of value and limit.
    pub unit: String,
    /// Whether it is kept.
    pub state: LimitState,
    /// What begins beyond the limit.
    pub harm: String,
}

/// A requirement that watching does not settle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnseenLimit {
    /// What is required.
    pub title: String,
    /// Whether the role cannot do without it.
    pub must: bool,
    /// The command that settles it.
    pub settled_by: String,
}

/// The verdict over the limits that were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoleOutcome {
    /// Each must that watching can see is met.
    Pass,
    /// A must is missed.
    Fail,
    /// Too few requests to say so of each.
    Unknown,
}

/// A role's limits, held against a system in use.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RoleCheck {
    /// The role's name.
    pub role: String,
    /// With its article: "an etcd member's disk".
    pub as_a: String,
    /// The verdict.
    pub outcome: RoleOutcome,
    /// Limits that watching can see.
    pub limits: Vec<WatchedLimit>,
    /// Those that it cannot.
    pub not_seen: Vec<UnseenLimit>,
    /// What Ceph's scheduler may be given, for roles of Ceph.
    pub ceph: Option<CephCapacity>,
}

/// A quantile of some times, and what it means to be sure of it.
struct SeenValue<'a> {
    times: &'a Latencies,
    quantile: f64,
}

/// Counts what a role's limits are held against.
pub struct Preflight {
    role: &'static Role,
    commits: Commits,
    flushes: Latencies,
    reads_under_writes: Latencies,
    reads_alone: Latencies,
}

impl Preflight {
    /// For a role.
    pub fn new(role: &'static Role) -> Preflight {
        Preflight {
            role,
            commits: Commits::default(),
            flushes: latencies(),
            reads_under_writes: latencies(),
            reads_alone: latencies(),
        }
    }

    /// The times that a measure is a quantile of; `None` when watching does not show it.
    fn seen(&self, measure: QualifyMeasure) -> Option<SeenValue<'_>> {
        let commits = self.commits.times();
        let (times, quantile) = match measure {
            QualifyMeasure::DurableWriteP50 => (commits, 0.5),
            QualifyMeasure::DurableWriteP99 | QualifyMeasure::EtcdAppendP99 => (commits, 0.99),
            QualifyMeasure::DurableWriteP999 => (commits, 0.999),
            QualifyMeasure::DurableWriteP9999 => (commits, 0.9999),
            QualifyMeasure::LongestStall => (commits, 1.0),
            QualifyMeasure::FlushP99 => (&self.flushes, 0.99),
            QualifyMeasure::ReadP99UnderWrites => (&self.reads_under_writes, 0.99),
            QualifyMeasure::RandomReadP99 => (&self.reads_alone, 0.99),
            _ => return None,
        };
        Some(SeenValue { times, quantile })
    }

    /// Whether a measure is the rate of one writer that waits for each durable write.
    fn is_rate_of_commits(measure: QualifyMeasure) -> bool {
        matches!(
            measure,
            QualifyMeasure::DurableWritesPerSecond
                | QualifyMeasure::EtcdAppendsPerSecond
                | QualifyMeasure::LogRecordsPerSecond
                | QualifyMeasure::OneDatasetPerSecond
        )
    }

    fn limit(&self, requirement: &Requirement) -> Option<WatchedLimit> {
        let mut limit = WatchedLimit {
            id: requirement.id.clone(),
            title: requirement.title.clone(),
            must: requirement.hard,
            value: None,
            samples: 0,
            at_least: requirement.at_least,
            at_most: requirement.at_most,
            unit: requirement.unit.symbol().to_owned(),
            state: LimitState::TooFew,
            harm: requirement.harm.clone(),
        };
        if Preflight::is_rate_of_commits(requirement.measure) {
            let times = self.commits.times();
            limit.samples = times.len();
            limit.value = (!times.is_empty()).then(|| 1e9 / times.mean());
            if let (Some(value), Some(least)) = (limit.value, requirement.at_least)
                && limit.samples >= SAMPLES_MIN
            {
                limit.state = if value >= least {
                    LimitState::Met
                } else {
                    LimitState::Missed
                };
            }
            return Some(limit);
        }
        let seen = self.seen(requirement.measure)?;
        limit.samples = seen.times.len();
        limit.value =
            (limit.samples > 0).then(|| seen.times.value_at_quantile(seen.quantile) as f64 / 1e6);
        if let Some(most) = requirement.at_most {
            limit.state = seen.state(most);
        }
        Some(limit)
    }

    /// The verdict, at the end of the watch; of its whole seconds, and whether the disk turns.
    pub fn check(&self, seconds: &[WatchedSecond], is_rotational: bool) -> RoleCheck {
        let (mut limits, mut not_seen) = (Vec::new(), Vec::new());
        for requirement in &self.role.requirements {
            match self.limit(requirement) {
                Some(limit) => limits.push(limit),
                None => not_seen.push(UnseenLimit {
                    title: requirement.title.clone(),
                    must: requirement.hard,
                    settled_by: settled_by(requirement.measure).to_owned(),
                }),
            }
        }
        RoleCheck {
            role: self.role.name.clone(),
            as_a: self.role.as_a.clone(),
            outcome: outcome(&limits),
            limits,
            not_seen,
            ceph: self
                .role
                .name
                .starts_with("ceph")
                .then(|| CephCapacity::new(seconds, is_rotational)),
        }
    }
}

impl SeenValue<'_> {
    /// A quantile is sure when a few samples lie beyond it; a limit is missed when more lie beyond
    /// it than may, and a few at least. The longest is missed by one, and met by many.
    fn state(&self, most_ms: f64) -> LimitState {
        let samples = self.times.len();
        let most_ns = (most_ms * 1e6) as u64;
        let within = self.times.count_between(0, most_ns);
        let beyond = samples.saturating_sub(within) as f64;
        let allowed = (1.0 - self.quantile) * samples as f64;
        let is_longest = self.quantile >= 1.0;
        if is_longest && beyond > 0.0 || beyond > allowed && beyond >= BEYOND_MIN {
            return LimitState::Missed;
        }
        let needed = if is_longest {
            SAMPLES_MIN * 10
        } else {
            ((BEYOND_MIN / (1.0 - self.quantile)).ceil() as u64).max(SAMPLES_MIN)
        };
        if samples >= needed && beyond <= allowed {
            LimitState::Met
        } else {
            LimitState::TooFew
        }
    }
}

fn outcome(limits: &[WatchedLimit]) -> RoleOutcome {
    let musts = || limits.iter().filter(|limit| limit.must);
    if musts().any(|limit| limit.state == LimitState::Missed) {
        RoleOutcome::Fail
    } else if musts().count() == 0 || musts().any(|limit| limit.state == LimitState::TooFew) {
        RoleOutcome::Unknown
    } else {
        RoleOutcome::Pass
    }
}

/// The command that settles what watching does not show.
fn settled_by(measure: QualifyMeasure) -> &'static str {
    match measure {
        QualifyMeasure::Durability | QualifyMeasure::PowerLossProtection => {
            "ssdlab pull (overwrites the drive)"
        }
        QualifyMeasure::Health => "ssdlab inspect",
        QualifyMeasure::EnduranceDwpd | QualifyMeasure::EnduranceTbPerDay => "the data sheet",
        _ => "ssdlab qualify, before the drive is in use",
    }
}

impl Preflight {
    /// Counts a request.
    pub fn request(&mut self, request: &BlockRequest) {
        self.commits.request(request);
        let total_ns = request.total_ns();
        match request.kind {
            RequestKind::Flush => self.flushes.saturating_record(total_ns),
            RequestKind::Read if request.was_beside(RequestKind::Write) => {
                self.reads_under_writes.saturating_record(total_ns);
            }
            RequestKind::Read
                if request.was_alone() && request.bytes <= SMALL_READ && !request.flags.ahead =>
            {
                self.reads_alone.saturating_record(total_ns);
            }
            _ => {}
        }
    }
}
