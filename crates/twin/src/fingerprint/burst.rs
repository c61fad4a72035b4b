//! The write buffer from bursts: what a rested drive acknowledges before it must wait for media.
//!
//! Acknowledged bytes after a rest follow A(t) = B + D t from the moment that the buffer is full,
//! with B its size and D its drain rate: the upper envelope of the staircase that programs make,
//! less D t, is B.

use super::host::{ProbedTarget, SMALL};
use ssdlab_base::LabError;
use ssdlab_bench::device::Target;
use ssdlab_ssd::{Command, Nanos};

/// Bytes of a command of a burst, and how many are outstanding.
const BLOCK: u32 = 4 * SMALL;
const DEPTH: u32 = 64;
/// The first burst, and the largest one, bytes.
const FIRST: u64 = 1 << 20;
const LARGEST: u64 = 256 << 20;
/// The end of a burst must be this much slower than its beginning: then the buffer was full.
const FULL: f64 = 0.6;
/// Slopes of a straight line differ by less than this, in logarithms.
const STRAIGHT: f64 = 0.12;
/// Rests before a burst.
const RESTS_MS: [u64; 2] = [5_000, 300];
/// Bursts of one rest.
const BURSTS: usize = 3;

/// One burst: seconds and bytes acknowledged since it began.
pub type BurstAcks = Vec<(f64, f64)>;

/// What bursts show.
#[derive(Clone, Debug, Default)]
pub struct Bursts {
    /// Size of the buffer, bytes, by every burst. Empty: it was never full, or did not drain at one
    /// rate.
    pub sizes: Vec<f64>,
    /// Error of a size due to the steps of the drain, bytes.
    pub error: f64,
    /// Drain rate, B/s, of the same.
    pub drains: Vec<f64>,
    /// Rate of the beginning of a burst, B/s.
    pub fast: f64,
    /// The burst to show.
    pub shown: BurstAcks,
}

fn burst<T: Target>(
    host: &mut ProbedTarget<'_, T>,
    span: u64,
    len: u64,
) -> Result<BurstAcks, LabError> {
    let (began, mut issued, mut sum) = (host.now(), 0, 0.0);
    let mut acks = Vec::new();
    let next = |_| {
        let offset = issued;
        issued += u64::from(BLOCK);
        (offset < len).then(|| Command::write(offset % span, BLOCK))
    };
    host.keep(DEPTH, next, |acked| {
        sum += f64::from(acked.bytes);
        acks.push((acked.at.saturating_sub(began).as_secs_f64(), sum));
    })?;
    Ok(acks)
}

/// B/s over a part of a burst.
fn rate(acks: &[(f64, f64)]) -> f64 {
    match (acks.first(), acks.last()) {
        (Some(a), Some(b)) if b.0 > a.0 => (b.1 - a.1) / (b.0 - a.0),
        _ => f64::INFINITY,
    }
}

/// Slope of the straight line through points.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (sum_x, sum_y) = points
        .iter()
        .fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
    let (x, y) = (sum_x / n, sum_y / n);
    let up: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let across: f64 = points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    up / across.max(1e-18)
}

/// Buffer and drain rate of a burst that filled it, and the error of the first: half a step of the
/// staircase, and by how much the drain rate changes. `None` where it is no straight line.
fn fitted(acks: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let part = |from, to| &acks[acks.len() * from / 12..acks.len() * to / 12];
    let (early, late) = (slope(part(5, 9)), slope(part(8, 12)));
    if (early / late).ln().abs() > STRAIGHT {
        return None;
    }
    let slow = part(4, 12);
    let drain = slope(slow);
    let top = slow.iter().map(|(t, a)| a - drain * t).fold(0.0, f64::max);
    let gap = slow.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let step = drain * gap.fold(0.0, f64::max);
    Some((top, drain, step / 2.0))
}

/// Bursts over the first `span` bytes, after a long and after a short rest: a cache beyond the
/// buffer recovers only in the first. `most`: bytes that may be written.
///
/// # Errors
/// When the target fails or the run is stopped.
pub fn bursts<T: Target>(
    host: &mut ProbedTarget<'_, T>,
    span: u64,
    most: u64,
) -> Result<Bursts, LabError> {
    let mut bursts = Bursts::default();
    let until = host.written + most;
    let mut len = FIRST;
    // Find the size that fills it.
    loop {
        host.rest(Nanos::from_millis(RESTS_MS[1]))?;
        let acks = burst(host, span, len)?;
        let part = |from, to| rate(&acks[acks.len() * from / 8..acks.len() * to / 8]);
        bursts.fast = bursts.fast.max(part(0, 1));
        let is_full = part(4, 8) < FULL * bursts.fast;
        bursts.shown = acks;
        len *= 2;
        if is_full {
            break;
        }
        if len > LARGEST.min(host.bytes / 8) || host.written + len > until || host.is_stopped() {
            return Ok(bursts);
        }
    }
    for rest_ms in RESTS_MS {
        let (mut sizes, mut drains, mut error) = (Vec::new(), Vec::new(), 0.0_f64);
        for _ in 0..BURSTS {
            if host.written + len > until || host.is_stopped() {
                return Ok(Bursts::default());
            }
            host.singles(1, Command::flush)?;
            host.rest(Nanos::from_millis(rest_ms))?;
            let acks = burst(host, span, len)?;
            if let Some((size, drain, step)) = fitted(&acks) {
                sizes.push(size);
                drains.push(drain);
                error = error.max(step);
            }
            bursts.shown = acks;
        }
        if sizes.len() < BURSTS {
            bursts.sizes.clear();
            return Ok(bursts);
        }
        bursts.sizes.extend(sizes);
        bursts.drains.extend(drains);
        bursts.error = bursts.error.max(error);
    }
    Ok(bursts)
}

/// The median; NaN for no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
