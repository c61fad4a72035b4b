//! Causes on the host's side.

use super::{
    BUSY, CELLS_READ, Certainty, FACTOR_MAX, Finding, JudgedWindow, LARGE, LiveFinding, apart_time,
};
use crate::cause::{CauseLayer, LiveCause};
use crate::figures::is_kernel_thread;
use crate::source::settings::LimitedRate;
use crate::spread::ENOUGH;
use ssdlab_judge::ablate::FAULT;
use ssdlab_view::units;

/// Share of the window's time that discards take when they hold others up.
const DISCARDING: f64 = 0.3;
/// Share of all requests from which others than the heaviest process count as company.
const COMPANY: f64 = 0.02;
/// A host's queue that holds no more than this is short.
const FEW_REQUESTS: f64 = 8.0;

impl JudgedWindow<'_> {
    pub(super) fn cgroup_limit(&self) -> Finding {
        let figures = self.figures;
        let per_second = |value: u64| value as f64 / figures.seconds.max(1e-3);
        let at_limit = self.settings.limits.iter().find(|limit| {
            let rate = match limit.rate {
                LimitedRate::ReadBytes => per_second(figures.reads.bytes),
                LimitedRate::WriteBytes => per_second(figures.writes.bytes),
                LimitedRate::Reads => per_second(figures.reads.count()),
                LimitedRate::Writes => per_second(figures.writes.count()),
            };
            (0.8..1.3).contains(&(rate / limit.limit as f64))
        })?;
        if figures.busy > BUSY {
            return None;
        }
        let factor = (1.0 / figures.busy.max(1.0 / FACTOR_MAX)).max(FAULT);
        Some(LiveFinding {
            cause: LiveCause::CgroupLimit,
            layer: CauseLayer::Host,
            factor: Some(factor),
            certainty: Certainty::Shown,
            why: format!(
                "{} may do {}, and that is what reaches the drive, which is busy {:.0} % of the \
                 time",
                at_limit.group,
                at_limit.rate.sentence(at_limit.limit),
                100.0 * figures.busy
            ),
        })
    }

    pub(super) fn host_queue(&self) -> Finding {
        let figures = self.figures;
        let requests_max = self.settings.requests_max.unwrap_or(128) as f64;
        let scheduler = self.settings.scheduler.as_deref().unwrap_or("unknown");
        // A queue of few places that is always full: those who wait for a place are not in it.
        let is_full = requests_max <= FEW_REQUESTS && figures.depth + 1.0 >= 0.75 * requests_max;
        if is_full && figures.busy >= BUSY {
            return Some(LiveFinding {
                cause: LiveCause::HostQueue,
                layer: CauseLayer::Host,
                factor: None,
                certainty: Certainty::Shown,
                why: format!(
                    "the queue holds {requests_max:.0} requests (nr_requests) and is full: when \
                     one comes, {:.1} others are in the drive",
                    figures.depth
                ),
            });
        }
        // Behind a deep queue in the drive it is the drive that is waited for.
        if figures.depth_of_queued > 4.0 {
            return None;
        }
        let mean = figures.awaited_queue_ns as f64 / figures.awaited.count.max(1) as f64;
        self.finding(
            LiveCause::HostQueue,
            Certainty::Shown,
            figures.awaited_queue_ns as f64,
            format!(
                "awaited requests wait {} in the host, with {:.1} in the drive; scheduler \
                 {scheduler}, nr_requests {requests_max:.0}",
                units::time_mean(mean),
                figures.depth_of_queued
            ),
        )
    }

    pub(super) fn doubled_flushes(&self) -> Finding {
        let empty = &self.figures.empty_flushes;
        let share = empty.count as f64 / self.figures.flushes.count().max(1) as f64;
        if empty.count < ENOUGH || share < 0.2 {
            return None;
        }
        self.finding(
            LiveCause::DoubledFlushes,
            Certainty::Shown,
            empty.sum_ns as f64,
            format!(
                "{} of {} flushes had no write before them and took {} each",
                empty.count,
                self.figures.flushes.count(),
                units::time_mean(empty.mean_ns())
            ),
        )
    }

    pub(super) fn neighbour(&self) -> Finding {
        let figures = self.figures;
        if figures.only_means {
            return self.neighbour_by_bytes();
        }
        let neighbour = figures.neighbour.as_ref()?;
        let others = &neighbour.others;
        let count = others.beside.count + others.apart.count;
        let is_company = count >= ENOUGH && count as f64 >= COMPANY * figures.count() as f64;
        if is_kernel_thread(&neighbour.name) || neighbour.share < 0.5 || !is_company {
            return None;
        }
        let healthy = self.way(4096.0) + CELLS_READ;
        let excess = Self::lost_beside(others, healthy, 1.5)?;
        let waited_ns = (others.beside.sum_ns + others.apart.sum_ns) as f64;
        let factor = (waited_ns / (waited_ns - excess).max(waited_ns / FACTOR_MAX)).min(FACTOR_MAX);
        Some(LiveFinding {
            cause: LiveCause::Neighbour,
            layer: CauseLayer::Host,
            factor: Some(factor),
            certainty: Certainty::Shown,
            why: format!(
                "{} takes {:.0} % of the drive's time; others wait {} beside it and {} without",
                neighbour.name,
                100.0 * neighbour.share,
                units::time_mean(others.beside.mean_ns()),
                apart_time(&others.apart)
            ),
        })
    }

    fn neighbour_by_bytes(&self) -> Finding {
        let groups = self.counters.groups.iter();
        let groups: Vec<_> = groups
            .map(|group| (format!("control group {}", group.group), group.bytes))
            .collect();
        let processes = self.counters.processes.iter();
        let processes: Vec<_> = processes
            .filter(|process| !is_kernel_thread(&process.name))
            .map(|process| (process.name.clone(), process.bytes()))
            .collect();
        self.heaviest_of(&groups)
            .or_else(|| self.heaviest_of(&processes))
    }

    /// Counters do not say who waits for whom: one moves most bytes, by large requests, others move
    /// some, and a mean request takes much longer than a small one needs.
    fn heaviest_of(&self, movers: &[(String, u64)]) -> Finding {
        let figures = self.figures;
        let (name, bytes) = movers.first()?;
        let total_bytes: u64 = movers.iter().map(|(_, bytes)| bytes).sum();
        let moved = figures.reads.bytes + figures.writes.bytes;
        let mean_bytes = moved as f64 / figures.count().max(1) as f64;
        let share = *bytes as f64 / total_bytes.max(1) as f64;
        let mean_ns = figures.awaited.mean_ns();
        let small = self.way(4096.0) + CELLS_READ;
        let is_company = total_bytes - bytes >= ENOUGH * 4096;
        // Processes count bytes of all devices.
        let is_of_this_drive = total_bytes as f64 <= 1.5 * moved as f64;
        if share < 0.5
            || !is_company
            || !is_of_this_drive
            || mean_bytes < LARGE
            || mean_ns < 3.0 * small
        {
            return None;
        }
        Some(LiveFinding {
            cause: LiveCause::Neighbour,
            layer: CauseLayer::Host,
            // What others would gain at best: a small read that meets nothing.
            factor: Some((mean_ns / small).min(FACTOR_MAX)),
            certainty: Certainty::Likely,
            why: format!(
                "{name} moves {:.1} % of the bytes, {} a request; a mean request takes {}, and \
                 those of others meet these",
                100.0 * share,
                units::decimal_bytes(mean_bytes),
                units::time_mean(mean_ns)
            ),
        })
    }

    pub(super) fn layer_above(&self) -> Finding {
        let slowest = self
            .layers
            .iter()
            .max_by(|a, b| a.above_ns.total_cmp(&b.above_ns))?;
        let factor = (slowest.above_ns / slowest.drive_ns.max(1.0)).min(FACTOR_MAX);
        Some(LiveFinding {
            cause: LiveCause::LayerAbove,
            layer: CauseLayer::Host,
            factor: Some(factor),
            certainty: Certainty::Shown,
            why: format!(
                "requests take {} at {} and {} at the drive",
                units::time_mean(slowest.above_ns),
                slowest.layer,
                units::time_mean(slowest.drive_ns)
            ),
        })
    }

    pub(super) fn misaligned(&self) -> Finding {
        let writes = &self.figures.writes;
        let unaligned = self.figures.pattern.unaligned;
        // XFS writes its log by sectors, which in a mean of all writes looks like it.
        let is_log = self.figures.only_means && !self.counters.xfs.is_empty();
        if unaligned < 0.3 || writes.count() < ENOUGH || is_log {
            return None;
        }
        let excess =
            writes.device.sum_ns as f64 * unaligned - writes.count() as f64 * self.way(4096.0);
        let partitions = match self.settings.misaligned.as_slice() {
            [] => String::new(),
            names => format!("; {} begins at an odd sector", names.join(", ")),
        };
        self.finding(
            LiveCause::Misaligned,
            Certainty::Likely,
            excess,
            format!(
                "{:.0} % of the writes do not begin and end at 4 KiB{partitions}",
                100.0 * unaligned
            ),
        )
    }

    pub(super) fn discards(&self) -> Finding {
        if self.figures.only_means {
            return self.discards_by_means();
        }
        let spread = &self.figures.beside_discards;
        let healthy = self.way(4096.0) + CELLS_READ;
        let excess = Self::lost_beside(spread, healthy, 2.0)?;
        let discards = &self.figures.discards;
        self.finding(
            LiveCause::Discards,
            Certainty::Shown,
            excess,
            format!(
                "reads and writes take {} beside discards and {} without; {} discards of {}",
                units::time_mean(spread.beside.mean_ns()),
                apart_time(&spread.apart),
                discards.count(),
                units::decimal_bytes(discards.mean_bytes())
            ),
        )
    }

    /// Counters do not say what was beside what: discards take much of the time, and data is slow.
    fn discards_by_means(&self) -> Finding {
        let figures = self.figures;
        let discards = &figures.discards;
        let share = discards.device.sum_ns as f64 / (figures.seconds * 1e9).max(1.0);
        let excess = self.slow_data_ns();
        if discards.count() < ENOUGH || share < DISCARDING || self.factor(excess) < FAULT {
            return None;
        }
        self.finding(
            LiveCause::Discards,
            Certainty::Likely,
            excess,
            format!(
                "{} discards of {} take {:.0} % of the time, and reads and writes are slow",
                discards.count(),
                units::decimal_bytes(discards.mean_bytes()),
                100.0 * share
            ),
        )
    }

    pub(super) fn one_at_a_time(&self) -> Finding {
        let figures = self.figures;
        if figures.awaited.count < ENOUGH || figures.depth > 0.5 || figures.busy < 0.5 {
            return None;
        }
        Some(LiveFinding {
            cause: LiveCause::OneAtATime,
            layer: CauseLayer::Host,
            factor: None,
            certainty: Certainty::Shown,
            why: format!(
                "each request takes {} ({}), as on a healthy drive, and {:.0} % of the time \
                 one is under way, seldom two",
                units::time(figures.awaited.median_ns),
                figures.middle(),
                100.0 * figures.busy
            ),
        })
    }
}
