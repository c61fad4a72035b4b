//! What makes awaited I/O slow, out of figures and settings: each cause as a hypothesis.
//!
//! A cause is named when awaited I/O would be [`FAULT`] times as fast without it. Where the window
//! itself has like requests with and without the cause, these are compared; otherwise times are
//! held against what a healthy drive of the interface needs at worst
//! ([`InterfaceLimits`], as in `diagnose`).

mod counters;
mod drive;
mod host;
#[cfg(test)]
mod tests;
mod volume;

use crate::cause::{CauseLayer, LiveCause};
use crate::figures::WatchFigures;
use crate::source::host_counters::HostCounters;
use crate::source::settings::HostSettings;
use crate::spread::{BesideSpread, ENOUGH, TimeSpread};
use crate::steps::{RateStep, WatchedSecond};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_judge::ablate::FAULT;
use ssdlab_judge::experiment::InterfaceLimits;
use ssdlab_view::units;

/// ns of reading a page of healthy cells, as in `diagnose`.
const CELLS_READ: f64 = 120e3;
/// ns that a loop device or a server on this machine adds to each request.
const SERVED_HERE: f64 = 80e3;
/// Bytes a second at which it copies, beside the drive's own link.
const COPIED_HERE: f64 = 500e6;
/// The largest factor that is shown.
const FACTOR_MAX: f64 = 100.0;
/// Times as fast as without it from which doubled flushes are named.
const WASTE: f64 = 1.25;
/// Mean bytes of a request from which it is the bytes that take the time.
const LARGE: f64 = 49_152.0;
/// Share of the window in which a busy drive has requests.
const BUSY: f64 = 0.7;
/// What meets nothing is this much faster than what waits behind something.
const LESS_APART: f64 = 1.5;

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Times fit, and other causes fit as well.
    Likely,
    /// A setting, a counter, or like requests with and without it show it.
    Shown,
}

/// A cause, with what shows it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LiveFinding {
    /// The cause.
    pub cause: LiveCause,
    /// Whose matter it is.
    pub layer: CauseLayer,
    /// How many times as fast awaited I/O would be without it; `None` where that depends on what
    /// the host would do instead.
    pub factor: Option<f64>,
    /// How sure it is.
    pub certainty: Certainty,
    /// The numbers that show it.
    pub why: String,
}

/// What is the matter.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum LiveAnswer {
    /// Too few requests to say anything.
    TooLittle {
        /// How many.
        requests: u64,
    },
    /// Nothing is slower than on a healthy drive.
    AsExpected {
        /// The numbers that show it.
        why: String,
    },
    /// These make it slow, the strongest first.
    Causes {
        /// At least one.
        findings: Vec<LiveFinding>,
    },
}

/// Times of a layer above, held against the drive's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LayerTimes {
    /// Its name and kind: "dm-0 (dm-crypt)".
    pub layer: String,
    /// Mean time of its requests, ns.
    pub above_ns: f64,
    /// Mean time of the drive's, ns.
    pub drive_ns: f64,
}

/// What a judgement is made of.
pub struct JudgedWindow<'a> {
    /// Its figures.
    pub figures: &'a WatchFigures,
    /// The host's settings.
    pub settings: &'a HostSettings,
    /// The layers above.
    pub layers: &'a [LayerTimes],
    /// A change of rate within the watch, if there was one.
    pub step: Option<&'a RateStep>,
    /// Its seconds.
    pub seconds: &'a [WatchedSecond],
    /// The model that the device says it is.
    pub model: Option<&'a str>,
    /// Counters of the host's layers and of the drive.
    pub counters: &'a HostCounters,
}

type Finding = Option<LiveFinding>;

impl JudgedWindow<'_> {
    /// The answer.
    pub fn judge(&self) -> LiveAnswer {
        let count = self.figures.count();
        if count < ENOUGH {
            return LiveAnswer::TooLittle { requests: count };
        }
        let hypotheses: [fn(&Self) -> Finding; 18] = [
            Self::settled,
            Self::cgroup_limit,
            Self::host_queue,
            Self::doubled_flushes,
            Self::neighbour,
            Self::layer_above,
            Self::misaligned,
            Self::discards,
            Self::volatile_buffer,
            Self::write_cache_off,
            Self::throttling,
            Self::reads_behind_writes,
            Self::sustained_writes,
            Self::map,
            Self::link,
            Self::volume_limit,
            Self::slow_media,
            Self::one_at_a_time,
        ];
        let mut findings: Vec<LiveFinding> = hypotheses
            .iter()
            .filter_map(|hypothesis| hypothesis(self))
            .filter(|finding| {
                let least = Self::named_from(finding.cause);
                finding.factor.is_none_or(|factor| factor >= least)
            })
            .collect();
        // A cause that is shown goes before one that only fits.
        let factor = |finding: &LiveFinding| finding.factor.unwrap_or(FAULT);
        findings.sort_by(|a, b| {
            b.certainty
                .cmp(&a.certainty)
                .then(factor(b).total_cmp(&factor(a)))
        });
        Self::one_of_each(&mut findings);
        Self::explained_by_volume(&mut findings);
        // That one thing is asked for at a time explains only what nothing else does.
        if findings.len() > 1 {
            findings.retain(|finding| finding.cause != LiveCause::OneAtATime);
        }
        if findings.is_empty() {
            return LiveAnswer::AsExpected {
                why: self.as_expected(),
            };
        }
        LiveAnswer::Causes { findings }
    }

    /// The factor from which a cause is named: waste that a program need only leave out counts from
    /// less on.
    fn named_from(cause: LiveCause) -> f64 {
        match cause {
            LiveCause::DoubledFlushes => WASTE,
            _ => FAULT,
        }
    }

    pub(super) fn limits(&self) -> InterfaceLimits {
        InterfaceLimits::of(Some(&self.settings.interface))
    }

    /// ns that a healthy drive needs for a request that meets no other, on its way included.
    pub(super) fn way(&self, bytes: f64) -> f64 {
        let limits = self.limits();
        let served_ns = if self.settings.is_served_here() {
            SERVED_HERE + bytes / COPIED_HERE * 1e9
        } else {
            0.0
        };
        limits.latency + limits.command + bytes / limits.link * 1e9 + served_ns
    }

    /// Time of all awaited requests, ns; of all requests when nobody waits.
    pub(super) fn awaited_ns(&self) -> f64 {
        let figures = self.figures;
        if figures.awaited.count >= ENOUGH {
            return figures.awaited.sum_ns as f64;
        }
        let kinds = [&figures.reads, &figures.writes, &figures.flushes];
        let sums = kinds.map(|kind| (kind.device.sum_ns + kind.queue.sum_ns) as f64);
        sums.iter().sum()
    }

    /// How many times as fast awaited I/O would be without `excess_ns` of its time.
    pub(super) fn factor(&self, excess_ns: f64) -> f64 {
        let all = self.awaited_ns();
        (all / (all - excess_ns).max(all / FACTOR_MAX)).min(FACTOR_MAX)
    }

    pub(super) fn finding(
        &self,
        cause: LiveCause,
        certainty: Certainty,
        excess_ns: f64,
        why: String,
    ) -> Finding {
        Some(LiveFinding {
            cause,
            layer: cause.layer(),
            factor: Some(self.factor(excess_ns)),
            certainty,
            why,
        })
    }

    /// What like requests lose beside something, ns; `None` where there are too few to compare or
    /// they lose little.
    pub(super) fn lost_beside(spread: &BesideSpread, healthy_ns: f64, times: f64) -> Option<f64> {
        let (beside, apart) = (&spread.beside, &spread.apart);
        if beside.count < ENOUGH {
            return None;
        }
        // What those without it are not spared, it does not do.
        if apart.count >= ENOUGH && beside.mean_ns() < LESS_APART * apart.mean_ns() {
            return None;
        }
        // Few that met nothing may have met what the drive still had to do.
        let is_comparable = apart.count >= ENOUGH && apart.count >= beside.count / 10;
        let without = if is_comparable {
            apart.mean_ns()
        } else {
            healthy_ns
        };
        let excess = beside.sum_ns as f64 - beside.count as f64 * without;
        (beside.mean_ns() > times * without && excess > 0.0).then_some(excess)
    }

    pub(super) fn as_expected(&self) -> String {
        let figures = self.figures;
        if figures.awaited.count == 0 {
            return format!(
                "no program waited for a request, and the drive is busy {:.0} % of the time",
                100.0 * figures.busy
            );
        }
        if figures.only_means {
            return format!(
                "awaited requests take {} (mean), and the drive is busy {:.0} % of the time",
                units::time_mean(figures.awaited.mean_ns()),
                100.0 * figures.busy
            );
        }
        format!(
            "awaited requests take {} (median) and {} (99 %), and the drive is busy {:.0} % of the \
             time",
            units::time(figures.awaited.median_ns),
            units::time(figures.awaited.p99_ns),
            100.0 * figures.busy
        )
    }
}

/// A mean, or that no time was measured.
pub(super) fn apart_time(apart: &TimeSpread) -> String {
    if apart.count == 0 {
        return "(none to compare)".to_owned();
    }
    units::time_mean(apart.mean_ns())
}
