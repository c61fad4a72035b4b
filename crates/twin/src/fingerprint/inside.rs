//! From readings to values of the inside: drain rate, caches, spare area, superblock, frontiers.

use super::outside::{buffer_bytes, within_buffer};
use super::probes::{Probe, ProbeReadings, half};
use super::series::{AckSeries, RateDrop, period};
use super::value::{FingerprintValue, NOT_DONE, ValueDescriptor, spread};

/// Rates below this part of another one differ from it.
const OTHER: f64 = 0.72;

/// A rate is that of the cache from this part of the rate that the fill had in it.
const AS_CACHE: f64 = 0.6;

/// Rates that differ by less than this, in logarithms, are one.
const FLAT: f64 = 0.15;

/// A pSLC cache takes at most this part of the capacity: two bits a cell at least, and spare area.
const CACHE_MOST: f64 = 0.7;

/// Superblocks that short writes before leave partly stale, so that they are no spare area yet:
/// half of what three separate ones leave.
const REMNANTS: f64 = 1.5;

/// Windows of a series in which rates are compared: part of its bytes.
const WINDOW: f64 = 1.0 / 96.0;

pub(super) fn drain(r: &ProbeReadings) -> FingerprintValue {
    let sought = ValueDescriptor {
        key: "nand.program",
        title: "drain rate of the buffer",
        unit: "B/s",
        probe: Probe::Buffer,
    };
    match native(r) {
        Some(rate) => {
            let why = "rate of the fill beyond any cache";
            FingerprintValue::between(sought, rate, [rate * 0.96, rate * 1.04], why)
        }
        None => match &r.bursts {
            Some(bursts) if !bursts.drains.is_empty() => {
                let (rate, interval) = spread(&bursts.drains, 0.03);
                FingerprintValue::between(sought, rate, interval, "ends of bursts")
            }
            Some(_) => FingerprintValue::unknown(sought, "bursts were never limited by media"),
            None => FingerprintValue::unknown(sought, NOT_DONE),
        },
    }
}

fn window(r: &ProbeReadings) -> f64 {
    r.bytes as f64 * WINDOW
}

/// Drops of the fill that the buffer does not explain.
fn fill_drops(r: &ProbeReadings) -> Option<Vec<RateDrop>> {
    let fill = r.fill.as_ref()?;
    Some(fill.drops(within_buffer(r, fill.grid), window(r), OTHER))
}

/// Whether nothing but the buffer was faster than `rate` at the beginning of a series; `None`
/// where a small cache may hide behind the buffer.
fn only_buffer(r: &ProbeReadings, series: &AckSeries, rate: f64) -> Option<()> {
    let (size, unsure) = buffer_bytes(r)?;
    let position = within_buffer(r, series.grid) + 2.0 * window(r);
    let ahead = series.ahead(position, rate)?;
    let allowed = 0.2 * size + unsure + 0.03 * position;
    ((ahead - size).abs() < allowed && allowed < 0.8 * size).then_some(())
}

/// Rate of the fill beyond any cache, B/s.
fn native(r: &ProbeReadings) -> Option<f64> {
    let fill = r.fill.as_ref()?;
    let from = fill_drops(r)?
        .last()
        .map_or(0.2 * fill.bytes(), |drop| drop.at);
    fill.rate_between(from + window(r), fill.bytes())
}

pub(super) fn slc(r: &ProbeReadings) -> FingerprintValue {
    let sought = ValueDescriptor {
        key: "pSLC",
        title: "pSLC cache of the emptied drive",
        unit: "B",
        probe: Probe::Fill,
    };
    let Some(drops) = fill_drops(r) else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    let Some(first) = drops.first() else {
        let only = r
            .fill
            .as_ref()
            .zip(native(r))
            .and_then(|(fill, rate)| only_buffer(r, fill, rate));
        let why = "no cliff while the emptied drive was filled";
        return match only {
            Some(()) => FingerprintValue::between(sought, 0.0, [0.0; 2], why),
            None => {
                FingerprintValue::unknown(sought, format!("{why}, but a small one may be hidden"))
            }
        };
    };
    let (buffered, unsure) = buffer_bytes(r).unwrap_or_default();
    let size = first.at - buffered;
    let grid = r.fill.as_ref().map_or(0, |fill| fill.grid) as f64;
    let error = 0.02 * size + 2.0 * grid + unsure;
    let why = format!(
        "cliff after {:.1} MB: {:.0}, then {:.0} MB/s",
        first.at / 1e6,
        first.before / 1e6,
        first.after / 1e6
    );
    if unsure == 0.0 {
        return FingerprintValue::unknown(sought, why + "; the write buffer is not known");
    }
    if first.at > CACHE_MOST * r.bytes as f64 {
        return FingerprintValue::unknown(sought, why + ": too late for a cache");
    }
    // TRIM need not empty the cache at once: what a rested drive took later is at least its size.
    let later = rewritten(r).map_or(0.0, |drops| drops.cached);
    if later > size + error {
        let why = format!(
            "{why}; on the full drive, {:.1} MB after a rest",
            later / 1e6
        );
        let error = error.max(0.02 * later + window(r) / 6.0);
        return FingerprintValue::between(sought, later, [later - error, later + error], why);
    }
    FingerprintValue::between(sought, size, [size - error, size + error], why)
}

/// Where the rewriting drops: the end of a cache, and the onset of reclaim.
struct RewriteDrops {
    /// Bytes that a pSLC cache took on the full drive.
    cached: f64,
    /// Bytes written when reclaim began to move data.
    onset: Option<RateDrop>,
    /// Some drop is neither.
    unclear: bool,
}

fn rewritten(r: &ProbeReadings) -> Option<RewriteDrops> {
    let (rewrite, native) = (r.rewrite.as_ref()?, native(r)?);
    let cache = fill_drops(r)?.first().map(|drop| drop.before);
    let mut rewrite_drops = RewriteDrops {
        cached: 0.0,
        onset: None,
        unclear: false,
    };
    for drop in rewrite.drops(within_buffer(r, rewrite.grid), window(r), OTHER) {
        // Blocks that were never programmed need no erase, which the fill may have gained.
        let near = |rate: f64| (0.7..1.2).contains(&(rate / native));
        if near(drop.before) {
            rewrite_drops.onset = Some(drop);
            break;
        }
        // Writing through a cache takes as long as it did when the drive was filled. A fill that
        // must also empty a dynamic cache is slower than later writes: those are no cache.
        let as_cache = cache.is_some_and(|rate| drop.before > AS_CACHE * rate);
        if near(drop.after) && drop.before > native && as_cache {
            rewrite_drops.cached = drop.at - buffer_bytes(r).map_or(0.0, |(size, _)| size);
        } else {
            rewrite_drops.unclear = true;
            break;
        }
    }
    Some(rewrite_drops)
}

pub(super) fn slc_static(r: &ProbeReadings) -> FingerprintValue {
    let sought = ValueDescriptor {
        key: "static pSLC",
        title: "pSLC cache of the full drive",
        unit: "B",
        probe: Probe::Rewrite,
    };
    let Some(rewrite_drops) = rewritten(r) else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    let Some(size) = slc(r).value else {
        return FingerprintValue::unknown(sought, "that of the emptied drive is UNKNOWN");
    };
    if size == 0.0 {
        return FingerprintValue::between(sought, 0.0, [0.0; 2], "there is no pSLC cache");
    }
    if rewrite_drops.unclear || rewrite_drops.cached > 1.1 * size {
        return FingerprintValue::unknown(
            sought,
            "the rate changes more than once before reclaim begins",
        );
    }
    let why = format!(
        "on the full drive, {:.1} MB after a rest; on the emptied one {:.1}",
        rewrite_drops.cached / 1e6,
        size / 1e6
    );
    if rewrite_drops.cached == 0.0 {
        let plateau = rewrite_drops.onset.map(|onset| onset.before);
        let only = r
            .rewrite
            .as_ref()
            .zip(plateau)
            .and_then(|(s, rate)| only_buffer(r, s, rate));
        return match only {
            Some(()) => FingerprintValue::between(sought, 0.0, [0.0; 2], why + ": dynamic"),
            None => FingerprintValue::unknown(sought, why + ", but a small one may be hidden"),
        };
    }
    let part = rewrite_drops.cached / size;
    if part < 0.8 {
        return FingerprintValue::unknown(sought, why + ": some of it, or data moved out of it");
    }
    let error = 0.03 * rewrite_drops.cached + window(r) / 8.0;
    let interval = [rewrite_drops.cached - error, rewrite_drops.cached + error];
    FingerprintValue::between(sought, rewrite_drops.cached, interval, why)
}

/// Spare area as a share of the capacity, where the onset of reclaim was seen.
pub(super) fn spare_found(r: &ProbeReadings) -> Option<f64> {
    let rewrite_drops = rewritten(r)?;
    let onset = rewrite_drops.onset.filter(|_| !rewrite_drops.unclear)?;
    let (buffered, _) = buffer_bytes(r)?;
    let remnants = REMNANTS * superblock_or_usual(r);
    Some((onset.at - buffered - rewrite_drops.cached + remnants) / r.bytes as f64)
}

/// The superblock, or one of a five hundredth of the drive, bytes.
fn superblock_or_usual(r: &ProbeReadings) -> f64 {
    superblock(r).value.unwrap_or(r.bytes as f64 / 500.0)
}

pub(super) fn spare(r: &ProbeReadings) -> FingerprintValue {
    let sought = ValueDescriptor {
        key: "spare",
        title: "spare area (effective over-provisioning)",
        unit: "share",
        probe: Probe::Rewrite,
    };
    let Some(rewrite_drops) = rewritten(r) else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    let (Some(spare), Some(onset)) = (spare_found(r), rewrite_drops.onset) else {
        let mut value = FingerprintValue::unknown(sought, "no onset of reclaim was seen");
        if rewrite_drops.unclear || rewrite_drops.onset.is_some() {
            value.why =
                "the rate changes more than once before reclaim begins, or the write buffer is \
                         not known"
                    .into();
        } else {
            value.interval = Some([0.4, f64::INFINITY]);
        }
        return value;
    };
    let why = format!(
        "reclaim begins to move data {:.3} capacities after the fill: {:.0}, then {:.0} MB/s",
        onset.at / r.bytes as f64,
        onset.before / 1e6,
        onset.after / 1e6
    );
    let half = half(r.bytes) as f64;
    if onset.at > 0.95 * half {
        return FingerprintValue::unknown(sought, why + ", which is when the second pass begins");
    }
    // From the onset on, every victim holds as much valid data as the next one.
    let later = r.rewrite.as_ref().and_then(|s| {
        let from = (half - 2.0 * window(r)).max(onset.at + window(r) / 2.0);
        s.rate_between(from, half)
    });
    let fall = onset.after / onset.before;
    if fall > OTHER || later.is_none_or(|later| (later / onset.after).ln().abs() > FLAT) {
        return FingerprintValue::unknown(
            sought,
            why + ", but not at one rate, clearly lower, from then on",
        );
    }
    let hidden = rewrite_drops.cached == 0.0
        && r.rewrite
            .as_ref()
            .is_none_or(|s| only_buffer(r, s, onset.before).is_none());
    if hidden && slc(r).value != Some(0.0) {
        return FingerprintValue::unknown(
            sought,
            why + "; a small cache may be hidden behind the buffer",
        );
    }
    let superblock = superblock_or_usual(r) / r.bytes as f64;
    let unsure = buffer_bytes(r).map_or(0.0, |(_, unsure)| unsure) / r.bytes as f64;
    let error = 0.02 * spare + REMNANTS * superblock + unsure;
    FingerprintValue::between(sought, spare, [spare - error, spare + error], why)
}

/// Distance of stalls in a part of a series, bytes, and how far it stands out.
fn stalls(series: &AckSeries, from: f64, to: f64) -> Option<(f64, f64)> {
    let place = |bytes: f64| ((bytes / series.grid as f64) as usize).min(series.at.len());
    let part = series.at.get(place(from)..place(to))?;
    let step = part.len().div_ceil(8192).max(1);
    let ends: Vec<f64> = part.iter().step_by(step).copied().collect();
    let times: Vec<f64> = ends.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (points, above) = period(&times, 2.5)?;
    Some((points * (step as u64 * series.grid) as f64, above))
}

pub(super) fn superblock(r: &ProbeReadings) -> FingerprintValue {
    let sought = ValueDescriptor {
        key: "superblock",
        title: "superblock",
        unit: "B",
        probe: Probe::Fill,
    };
    let (Some(fill), Some(drops)) = (&r.fill, fill_drops(r)) else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    let from = drops
        .last()
        .map_or(within_buffer(r, fill.grid), |drop| drop.at);
    let Some((size, above)) = stalls(fill, from + window(r), fill.bytes()) else {
        return FingerprintValue::unknown(sought, "no stall comes back at equal distances");
    };
    let again = r.rewrite.as_ref().and_then(|rewrite| {
        let from = rewrite.bytes() - 0.75 * half(r.bytes) as f64;
        stalls(rewrite, from, rewrite.bytes())
    });
    let why = format!(
        "stalls {:.2} MB apart in the fill, {above:.0} times the noise",
        size / 1e6
    );
    if rewritten(r).is_some_and(|drops| drops.cached > 0.0) {
        let why = why + "; a cache on the full drive stalls at distances of its own";
        return FingerprintValue::unknown(sought, why);
    }
    match again {
        Some((again, _)) if (again / size).ln().abs() < 0.04 => {
            let why = format!("{why}, and {:.2} while rewriting", again / 1e6);
            FingerprintValue::between(sought, size, [size * 0.97, size * 1.03], why)
        }
        Some((again, _)) if !drops.is_empty() => FingerprintValue::unknown(
            sought,
            format!("{why}, but {:.2} while rewriting", again / 1e6),
        ),
        None if !drops.is_empty() => {
            FingerprintValue::unknown(sought, why + ", and none while rewriting")
        }
        _ => FingerprintValue::between(sought, size, [size * 0.97, size * 1.03], why),
    }
}

pub(super) fn shared(r: &ProbeReadings) -> FingerprintValue {
    let title = "relocated data shares the host's frontier";
    let sought = ValueDescriptor {
        key: "ftl.shared_frontier",
        title,
        unit: "yes",
        probe: Probe::Rewrite,
    };
    let spare_value = spare(r).value;
    let (Some(rewrite), Some(spare)) = (&r.rewrite, spare_found(r)) else {
        return FingerprintValue::unknown(sought, "needs the onset of reclaim, which was not seen");
    };
    let (from, to) = second_pass(r, spare);
    if from > 0.9 * to {
        return FingerprintValue::unknown(
            sought,
            "too much spare area: little data was moved in a pass",
        );
    }
    let before = rewritten(r)
        .and_then(|drops| drops.onset)
        .map(|onset| onset.before);
    let (Some(before), Some(rate)) = (before, rewrite.rate_between(from, to)) else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    let part = rate / before;
    let why = format!(
        "data written beside moved data is rewritten at {part:.2} of the rate without reclaim"
    );
    if spare_value.is_none() {
        FingerprintValue::unknown(sought, why + "; the onset of reclaim is not clear")
    } else if part > 0.9 {
        FingerprintValue::yes(sought, false, why)
    } else if part < OTHER {
        FingerprintValue::yes(sought, true, why)
    } else {
        FingerprintValue::unknown(sought, why)
    }
}

/// The part of the second pass that rewrites data written while reclaim moved data.
fn second_pass(r: &ProbeReadings, spare: f64) -> (f64, f64) {
    let half = half(r.bytes) as f64;
    let (bytes, end) = (r.bytes as f64, 2.0 * half);
    (half + spare * bytes + 2.0 * window(r), end - window(r))
}

pub(super) fn trimmed(r: &ProbeReadings) -> FingerprintValue {
    let title = "rate of writes at random, half of it trimmed";
    let sought = ValueDescriptor {
        key: "trimmed",
        title,
        unit: "share",
        probe: Probe::Trimmed,
    };
    let onset = rewritten(r).and_then(|drops| drops.onset);
    let (Some(trimmed), Some(onset)) = (&r.trimmed, onset) else {
        return FingerprintValue::unknown(
            sought,
            "needs the onset of reclaim, or was not carried out",
        );
    };
    let Some(rate) = trimmed.rate_between(0.5 * trimmed.bytes(), trimmed.bytes()) else {
        return FingerprintValue::unknown(sought, NOT_DONE);
    };
    let part = rate / onset.before;
    let why = "of the rate before reclaim; what TRIM of half the capacity is worth at random";
    FingerprintValue::between(sought, part, [part * 0.95, part * 1.05], why)
}
