//! Causes in the drive and on the way to it.

use super::{
    BUSY, CELLS_READ, Certainty, FACTOR_MAX, Finding, JudgedWindow, LARGE, LiveFinding, apart_time,
};
use crate::cause::{CauseLayer, LiveCause};
use crate::spread::{ENOUGH, TimeSpread};
use crate::steps::StepKind;
use ssdlab_view::units;

/// ns of a flush that waits for no media.
const FLUSH: f64 = 150e3;
/// Bytes per second that a healthy drive writes at random for ever: 4 KiB at 20,000 a second.
const RANDOM_WRITES: f64 = 80e6;
/// And in order: large writes at half the rate of a slow link.
const ORDERED_WRITES: f64 = 250e6;
/// Bytes of writes under way from which it is the media's rate that counts.
const LARGE_UNDER_WAY: f64 = 12_288.0;
/// Share of space in use from which a file system is nearly full.
const NEARLY_FULL: f64 = 0.9;
/// Other requests in the drive beside those of a few programs that commit.
const FEW_WRITERS: f64 = 4.0;
/// Share of writes among requests from which reads meet them.
const AMONG: f64 = 0.2;
/// Flushes for each write from which, by counters, the time of writes is that of flushes.
const FLUSHED: f64 = 0.25;
/// C at which drives of data sheets begin to throttle.
const WARM_C: f64 = 70.0;

impl JudgedWindow<'_> {
    pub(super) fn volatile_buffer(&self) -> Finding {
        let flushes = &self.figures.flushes;
        let healthy = self.way(0.0) + FLUSH;
        if flushes.count() < ENOUGH || (flushes.device.median_ns as f64) < 1.5 * healthy {
            return None;
        }
        let excess = flushes.device.sum_ns as f64 - flushes.count() as f64 * healthy;
        let without_fua = match self.settings.fua {
            Some(false) => "; without FUA a commit takes two",
            _ => "",
        };
        self.finding(
            LiveCause::VolatileBuffer,
            Certainty::Shown,
            excess,
            format!(
                "a flush takes {} ({}), a drive with a protected buffer needs less than {}; \
                 {:.0} flushes a second{without_fua}",
                units::time(flushes.device.median_ns),
                self.figures.middle(),
                units::time_mean(healthy),
                flushes.count() as f64 / self.figures.seconds.max(1e-3)
            ),
        )
    }

    pub(super) fn write_cache_off(&self) -> Finding {
        let writes = &self.figures.writes;
        let is_through = self.settings.write_cache.as_deref() == Some("write through");
        let healthy = self.way(writes.mean_bytes()) + FLUSH;
        if !is_through
            || writes.count() < ENOUGH
            || self.figures.depth > FEW_WRITERS
            || (writes.device.median_ns as f64) < 1.5 * healthy
        {
            return None;
        }
        self.finding(
            LiveCause::WriteCacheOff,
            Certainty::Likely,
            writes.device.sum_ns as f64 - writes.count() as f64 * healthy,
            format!(
                "a write takes {} ({}), and the kernel sends no flushes: its cache is set to \
                 write through",
                units::time(writes.device.median_ns),
                self.figures.middle()
            ),
        )
    }

    pub(super) fn throttling(&self) -> Finding {
        let warm = self
            .settings
            .temperature_c
            .filter(|&celsius| celsius >= WARM_C);
        let step = self.step.filter(|step| step.kind != StepKind::Writes);
        let celsius = warm.map(|celsius| format!("; it is at {celsius:.0} C"));
        let (why, factor, certainty) = match (step, warm) {
            (Some(step), Some(_)) => (
                format!("{}{}", step.sentence(), celsius.unwrap_or_default()),
                step.factor(),
                Certainty::Shown,
            ),
            // Reads and writes of one program fall together whichever of them became slow.
            (Some(step), None) if step.kind == StepKind::Reads => (
                format!("{}; its temperature is not known", step.sentence()),
                step.factor(),
                Certainty::Likely,
            ),
            (None, Some(celsius)) => {
                let excess = self.slow_data_ns();
                (
                    format!("it is at {celsius:.0} C, and reads and writes are slow"),
                    self.factor(excess),
                    Certainty::Likely,
                )
            }
            (Some(_) | None, None) => return None,
        };
        Some(LiveFinding {
            cause: LiveCause::Throttling,
            layer: CauseLayer::Drive,
            factor: Some(factor),
            certainty,
            why,
        })
    }

    /// Counters do not say where writes go: large ones are taken to be in order.
    fn is_in_order_by_size(&self) -> bool {
        self.figures.only_means && self.figures.writes.mean_bytes() >= LARGE
    }

    /// ns of a write of a healthy drive among as many as there are.
    pub(super) fn healthy_write_ns(&self) -> f64 {
        let writes = &self.figures.writes;
        let in_order = (self.figures.pattern.sequential >= 0.5 && writes.mean_bytes() >= LARGE)
            || self.is_in_order_by_size();
        let rate = if in_order {
            ORDERED_WRITES
        } else {
            RANDOM_WRITES
        };
        let per_write = writes.mean_bytes() / rate * 1e9;
        self.way(writes.mean_bytes())
            .max(self.figures.under_way() * per_write)
    }

    /// Time of reads and writes beyond that of a healthy drive at this depth, ns.
    pub(super) fn slow_data_ns(&self) -> f64 {
        let reads = &self.figures.reads;
        let beyond = |spread: &TimeSpread, healthy: f64| {
            (spread.sum_ns as f64 - spread.count as f64 * healthy).max(0.0)
        };
        beyond(&reads.device, self.way(reads.mean_bytes()) + CELLS_READ)
            + beyond(&self.figures.writes.device, self.healthy_write_ns())
    }

    pub(super) fn reads_behind_writes(&self) -> Finding {
        if self.figures.only_means {
            return self.reads_among_writes();
        }
        let spread = &self.figures.reads_beside_writes;
        let healthy = self.way(self.figures.reads.mean_bytes()) + CELLS_READ;
        // Most reads wait, or some for a whole program.
        let beside = &spread.beside;
        let times = if beside.median_ns as f64 >= 2.0 * healthy {
            3.0
        } else if beside.p99_ns as f64 >= 8.0 * healthy {
            2.0
        } else {
            return None;
        };
        let excess = Self::lost_beside(spread, healthy, times)?;
        self.finding(
            LiveCause::ReadsBehindWrites,
            Certainty::Shown,
            excess,
            format!(
                "reads take {} beside writes and {} without",
                units::time_mean(spread.beside.mean_ns()),
                apart_time(&spread.apart)
            ),
        )
    }

    /// Counters do not say what was beside what: reads take long, writes among them do not.
    fn reads_among_writes(&self) -> Finding {
        let (reads, writes) = (&self.figures.reads, &self.figures.writes);
        let share = writes.count() as f64 / self.figures.count().max(1) as f64;
        let healthy = self.way(reads.mean_bytes()) + CELLS_READ;
        let read_ns = reads.device.mean_ns();
        let write_ns = writes.device.mean_ns();
        if reads.count() < ENOUGH
            || writes.count() < ENOUGH
            || share < AMONG
            || read_ns < 2.0 * healthy
            || read_ns < 2.0 * write_ns
        {
            return None;
        }
        self.finding(
            LiveCause::ReadsBehindWrites,
            Certainty::Likely,
            reads.device.sum_ns as f64 - reads.count() as f64 * healthy,
            format!(
                "a read takes {} (mean) where {:.0} % of the requests are writes, which take {}; \
                 a read that meets none needs at most {}",
                units::time_mean(read_ns),
                100.0 * share,
                units::time_mean(write_ns),
                units::time_mean(healthy)
            ),
        )
    }

    /// Writes that a healthy drive would take faster for ever: reclaim, a full pSLC cache, a file
    /// system that never discards.
    pub(super) fn sustained_writes(&self) -> Finding {
        let figures = self.figures;
        let (writes, pattern) = (&figures.writes, &figures.pattern);
        let rate = writes.bytes as f64 / figures.seconds.max(1e-3);
        let healthy = self.healthy_write_ns();
        // Small writes one at a time wait for something else than the media's rate.
        let under_way = figures.under_way() * writes.mean_bytes();
        let is_in_order = pattern.sequential >= 0.5 || self.is_in_order_by_size();
        let needed = if is_in_order { LARGE } else { LARGE_UNDER_WAY };
        // The counted time of a write has that of the flushes it asks for in it.
        let is_flushed =
            figures.only_means && figures.flushes.count() as f64 >= FLUSHED * writes.count() as f64;
        let waits_for_media = self.write_cache_off().is_some() || is_flushed;
        if writes.count() < ENOUGH
            || waits_for_media
            || figures.busy < BUSY
            || under_way < needed
            || writes.device.mean_ns() < 1.5 * healthy
        {
            return None;
        }
        let excess = writes.device.sum_ns as f64 - writes.count() as f64 * healthy;
        let full = self.settings.file_systems.iter().find(|mounted| {
            mounted.used.is_some_and(|used| used >= NEARLY_FULL) && !mounted.discards()
        });
        let never_discarded = self.settings.discards_since_boot == Some(0);
        let fell = self.step.filter(|step| step.kind == StepKind::Writes);
        let rate = units::throughput(rate);
        let (cause, why) = match (full, fell) {
            (Some(mounted), _) if never_discarded => (
                LiveCause::FullWithoutTrim,
                format!(
                    "writes come to {rate}; {} is {:.0} % full, and nothing was discarded since \
                     the machine started",
                    mounted.point,
                    100.0 * mounted.used.unwrap_or_default()
                ),
            ),
            (_, Some(step)) if is_in_order => (LiveCause::SlcFull, step.sentence()),
            _ if is_in_order => (
                LiveCause::SlcFull,
                format!(
                    "writes in order come to {rate} with the drive busy {:.0} % of the time",
                    100.0 * figures.busy
                ),
            ),
            _ => (
                LiveCause::Reclaim,
                format!(
                    "writes at random come to {rate} with the drive busy {:.0} % of the time",
                    100.0 * figures.busy
                ),
            ),
        };
        let certainty = if cause == LiveCause::FullWithoutTrim || fell.is_some() {
            Certainty::Shown
        } else {
            Certainty::Likely
        };
        self.finding(cause, certainty, excess, why)
    }

    pub(super) fn map(&self) -> Finding {
        let locality = &self.figures.locality;
        let (near, far) = (&locality.near.beside, &locality.near.apart);
        if near.count < ENOUGH || (far.median_ns as f64) < 1.4 * near.median_ns as f64 {
            return None;
        }
        // By medians: the longest times are those of something else. All reads are as far as those
        // that could be placed.
        let share = far.count as f64 / (near.count + far.count) as f64;
        let longer = 1.0 - near.median_ns as f64 / far.median_ns as f64;
        let excess = longer * share * self.figures.reads.device.sum_ns as f64;
        self.finding(
            LiveCause::Map,
            Certainty::Shown,
            excess,
            format!(
                "a read takes {} (median) within the {} read last and {} elsewhere",
                units::time(near.median_ns),
                units::bytes(locality.near_bytes),
                units::time(far.median_ns)
            ),
        )
    }

    pub(super) fn link(&self) -> Finding {
        let figures = self.figures;
        let bytes = (figures.reads.bytes + figures.writes.bytes) as f64;
        let large = bytes / (figures.count() as f64) >= LARGE;
        if figures.busy < BUSY || !large {
            return None;
        }
        let rate = bytes / figures.seconds.max(1e-3);
        let trained_down = self
            .settings
            .link
            .as_ref()
            .filter(|link| link.is_trained_down());
        if let Some(link) = trained_down {
            let lanes = f64::from(link.width_max) / f64::from(link.width.max(1));
            return Some(LiveFinding {
                cause: LiveCause::Link,
                layer: CauseLayer::Link,
                factor: Some(lanes.clamp(2.0, FACTOR_MAX)),
                certainty: Certainty::Shown,
                why: format!(
                    "the link runs at {} x{}, the drive can do {} x{}; it carries {}",
                    link.speed,
                    link.width,
                    link.speed_max,
                    link.width_max,
                    units::throughput(rate)
                ),
            });
        }
        // A link gives each byte the same time: large reads take about the same time each.
        let reads = &figures.reads.device;
        let is_even = reads.count >= ENOUGH && reads.p99_ns < 2 * reads.median_ns;
        let limits = self.limits();
        if !is_even || (figures.reads.bytes as f64) < 0.9 * bytes {
            return None;
        }
        Some(LiveFinding {
            cause: LiveCause::Link,
            layer: CauseLayer::Link,
            factor: Some((limits.link / rate).min(FACTOR_MAX)),
            certainty: Certainty::Likely,
            why: format!(
                "large reads come to {} and take much the same time each; the slowest link of a \
                 healthy drive carries {}",
                units::throughput(rate),
                units::throughput(limits.link)
            ),
        })
    }

    /// Reads or lone writes that take long without any of the other reasons.
    pub(super) fn slow_media(&self) -> Finding {
        let figures = self.figures;
        let is_read_only = figures.only_means && figures.writes.count() == 0;
        let reads = if is_read_only {
            &figures.reads.device
        } else {
            &figures.reads_beside_writes.apart
        };
        let per_command = self
            .limits()
            .command
            .max(figures.reads.mean_bytes() / self.limits().link * 1e9);
        // It waits for its turn at the controller, and then for the cells.
        let healthy =
            self.way(figures.reads.mean_bytes()) + CELLS_READ + figures.depth * per_command;
        if reads.count < ENOUGH || (reads.median_ns as f64) < 1.5 * healthy {
            return None;
        }
        self.finding(
            LiveCause::SlowMedia,
            Certainty::Likely,
            reads.sum_ns as f64 - reads.count as f64 * healthy,
            format!(
                "a read without writes beside it takes {} ({}), a healthy drive needs at most {}",
                units::time(reads.median_ns),
                figures.middle(),
                units::time_mean(healthy)
            ),
        )
    }
}
