//! What a drive says of itself, before the first experiment and after the last: SMART.
//!
//! It is declared, not measured. It decides between two causes that times do not separate, and
//! never stands against a time.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_bench::device::health::{DriveHealth, ThermalSummary};

/// Per cent of the rated life from which reads are taken to be slow because the media is worn.
const MUCH_USED: f64 = 80.0;
/// Per cent of the rated life up to which they are not.
const LITTLE_USED: f64 = 20.0;

/// One look at a drive's own counters. `None`: it does not say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SmartSnapshot {
    /// Per cent of the rated life used.
    pub used_percent: Option<f64>,
    /// Reads that error correction could not save.
    pub uncorrectable: Option<u64>,
    /// Blocks or sectors retired.
    pub retired: Option<u64>,
    /// Celsius now; of a model, the highest so far.
    pub temperature_c: Option<f64>,
    /// Seconds so far in which it was too warm by its own judgement, or throttled.
    pub too_warm_s: Option<f64>,
}

impl SmartSnapshot {
    /// From SMART, or from a model whose temperature is modelled.
    pub fn of(health: Option<&DriveHealth>, heat: Option<ThermalSummary>) -> SmartSnapshot {
        let get = |of: fn(&DriveHealth) -> Option<f64>| health.and_then(of);
        let modelled = |of: fn(ThermalSummary) -> f64| heat.map(of);
        SmartSnapshot {
            used_percent: get(|h| h.used_percent.as_ref().map(|used| used.value)),
            uncorrectable: health.and_then(|h| h.uncorrectable),
            retired: health.and_then(|h| h.retired),
            temperature_c: modelled(|h| h.highest_c).or(get(|h| h.temperature_c)),
            too_warm_s: modelled(|h| h.throttled_s)
                .or(get(|h| h.too_warm_minutes.map(|m| m * 60.0))),
        }
    }
}

/// Both looks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct DriveSelfReport {
    /// Before the first experiment.
    pub before: SmartSnapshot,
    /// After the last so far.
    pub after: SmartSnapshot,
}

impl DriveSelfReport {
    /// Whether the media is worn; `None` where the drive does not say, or neither much nor little
    /// of its life is used.
    pub fn is_worn(&self) -> Option<bool> {
        match self.after.used_percent? {
            used if used >= MUCH_USED => Some(true),
            used if used <= LITTLE_USED => Some(false),
            _ => None,
        }
    }

    /// Seconds for which it was too warm between the two looks; `None` where it does not count.
    pub fn too_warm_s(&self) -> Option<f64> {
        Some((self.after.too_warm_s? - self.before.too_warm_s?).max(0.0))
    }

    /// As sentences; empty where the drive says nothing.
    pub fn sentences(&self) -> Vec<String> {
        let (before, after) = (&self.before, &self.after);
        let mut sentences = Vec::new();
        if let Some(used) = after.used_percent {
            sentences.push(format!("{used:.0} % of its rated life is used"));
        }
        if let (Some(was), Some(is)) = (before.temperature_c, after.temperature_c) {
            sentences.push(format!(
                "{was:.0} C before these experiments and {is:.0} C after"
            ));
        }
        if let Some(seconds) = self.too_warm_s().filter(|seconds| *seconds > 0.0) {
            sentences.push(format!("too warm for {seconds:.0} s of them"));
        }
        let mut grew = |label: &str, was: Option<u64>, is: Option<u64>| {
            if let (Some(was), Some(is)) = (was, is)
                && is > was
            {
                sentences.push(format!("{} more {label} during them", is - was));
            }
        };
        grew(
            "uncorrectable reads",
            before.uncorrectable,
            after.uncorrectable,
        );
        grew("retired blocks", before.retired, after.retired);
        sentences
    }
}
