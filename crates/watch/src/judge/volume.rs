//! A limit of a volume: requests are counted, not served slowly.

use super::{CELLS_READ, Certainty, Finding, JudgedWindow, LiveFinding};
use crate::account::{HeldRate, is_cloud_volume};
use crate::cause::LiveCause;
use crate::spread::{ENOUGH, TimeSpread};
use ssdlab_view::units;

/// Requests under way from which the host asks for more than it gets.
const WAITING: f64 = 2.0;
/// Times as long as on a healthy drive from which requests are held back.
const HELD: f64 = 2.0;
/// Reads that wait this near to as long as writes stand in the same queue.
const ALIKE: f64 = 0.10;
/// Share of reads among requests by which two seconds are loads of two kinds.
const OTHER_MIX: f64 = 0.2;
/// Ratio of bytes of a request by which they are.
const OTHER_SIZE: f64 = 1.5;
/// A link, or a drive's rate of commands, this near is what binds.
const NEAR_LINK: f64 = 0.5;

/// What waits at a limit of the volume is not slow in the drive.
const EXPLAINED: [LiveCause; 8] = [
    LiveCause::SlowMedia,
    LiveCause::Throttling,
    LiveCause::ReadsBehindWrites,
    LiveCause::Reclaim,
    LiveCause::SlcFull,
    LiveCause::Map,
    LiveCause::Link,
    LiveCause::OneAtATime,
];

impl JudgedWindow<'_> {
    /// A rate that stays constant whatever the load, with requests waiting for it.
    pub(super) fn volume_limit(&self) -> Finding {
        let held = HeldRate::find(self.seconds)?;
        let limits = self.limits();
        let binds_link = held.bytes >= NEAR_LINK * limits.link;
        let binds_commands = held.operations >= NEAR_LINK / (limits.command / 1e9).max(1e-9);
        let excess = self.held_ns();
        if held.depth < WAITING || excess <= 0.0 || binds_link || binds_commands {
            return None;
        }
        let is_named = self.model.is_some_and(is_cloud_volume);
        let (certainty, sign) = match self.whatever_the_load(&held) {
            Some(sign) => (Certainty::Shown, sign),
            None if is_named => (
                Certainty::Likely,
                format!("{} is a volume", self.model.unwrap_or_default()),
            ),
            None => return None,
        };
        let before = held.before.map_or(String::new(), |before| {
            format!(
                "; it was {} until second {}",
                held.shown(before.rate),
                before.until
            )
        });
        Some(LiveFinding {
            cause: LiveCause::VolumeLimit,
            layer: LiveCause::VolumeLimit.layer(),
            factor: Some(self.factor(excess)),
            certainty,
            why: format!(
                "requests come to {} a second, constant for {} s, with {:.0} under way; \
                 {sign}{before}",
                held.shown(held.rate),
                held.seconds,
                held.depth
            ),
        })
    }

    /// Time in the device beyond what a healthy drive needs, where all kinds wait; else 0.
    fn held_ns(&self) -> f64 {
        let kinds = [
            (&self.figures.reads, CELLS_READ),
            (&self.figures.writes, CELLS_READ),
        ];
        let mut excess = 0.0;
        for (kind, media_ns) in kinds {
            let count = kind.count() as f64;
            let healthy = self.way(kind.mean_bytes()) + media_ns;
            if kind.count() >= ENOUGH && kind.device.mean_ns() < HELD * healthy {
                return 0.0;
            }
            excess += (kind.device.sum_ns as f64 - count * healthy).max(0.0);
        }
        excess
    }

    /// What shows that the rate does not depend on the load.
    fn whatever_the_load(&self, held: &HeldRate) -> Option<String> {
        if held.reads_max - held.reads_min >= OTHER_MIX {
            return Some(format!(
                "with {:.0} to {:.0} % reads",
                100.0 * held.reads_min,
                100.0 * held.reads_max
            ));
        }
        if held.size_max >= OTHER_SIZE * held.size_min {
            return Some(format!(
                "with requests of {} to {}",
                units::bytes(held.size_min as u64),
                units::bytes(held.size_max as u64)
            ));
        }
        let (reads, writes) = (&self.figures.reads.device, &self.figures.writes.device);
        let is_enough = |spread: &TimeSpread| spread.count >= ENOUGH;
        let ratio = reads.mean_ns() / writes.mean_ns().max(1.0);
        let waits_alike = is_enough(reads) && is_enough(writes) && (ratio - 1.0).abs() <= ALIKE;
        waits_alike.then(|| {
            format!(
                "reads wait {} and writes {}",
                units::time_mean(reads.mean_ns()),
                units::time_mean(writes.mean_ns())
            )
        })
    }

    /// Where a limit is shown, what it explains is no cause of its own.
    pub(super) fn explained_by_volume(findings: &mut Vec<LiveFinding>) {
        let is_shown = findings.iter().any(|finding| {
            finding.cause == LiveCause::VolumeLimit && finding.certainty == Certainty::Shown
        });
        if is_shown {
            findings.retain(|finding| !EXPLAINED.contains(&finding.cause));
        }
    }
}

#[cfg(test)]
#[path = "volume_tests.rs"]
mod tests;
