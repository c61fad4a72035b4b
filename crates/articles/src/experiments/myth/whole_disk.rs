//! The DC S3700 written and read at random, 4 KiB, over every block.

use super::settings::{FLASH, MythSettings};
use crate::experiments::host::{DriveSelfChecks, ExperimentHost, IntervalStats};
use crate::experiments::scale;
use crate::keys::{ExperimentKey, keys};
use crate::outcome::CurvePoints;
use ssdlab_base::LabError;
use ssdlab_load::permutation::Permutation;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Nanos};
use std::sync::atomic::AtomicBool;

keys! {
    /// Lines over the share of the disk covered, per cent, in IOPS.
    pub(crate) enum WholeDiskCurve {
        // Random writes on a new drive, every block once.
        Write = "write",
        // Writes to any block of the drive, full and written over once: what goes on for good.
        Steady = "steady",
        // Random reads of the full drive, every block once.
        Read = "read",
        // Reads of a run of reads and writes, half and half, on a new drive: the reads go anywhere,
        // and what was never written needs no flash.
        MixedRead = "mixed_read",
        // Writes of the same run.
        MixedWrite = "mixed_write",
    }
}

/// Least over greatest of a line: 1 is flat.
pub(super) fn flatness(line: &CurvePoints) -> f64 {
    let extreme = |pick: fn(f64, f64) -> f64, start| line.iter().map(|(_, y)| *y).fold(start, pick);
    extreme(f64::min, f64::MAX) / extreme(f64::max, f64::MIN)
}

const BLOCK: u32 = 4096;
const DEPTH: u32 = 32;
/// Points of each curve.
const POINTS: u64 = 40;

/// Every line, in the order of [`WholeDiskCurve`].
pub(super) fn run(
    settings: &MythSettings,
    health: &mut DriveSelfChecks,
    stop: &AtomicBool,
) -> Result<Vec<(WholeDiskCurve, CurvePoints)>, LabError> {
    let config = settings.scale.apply(&scale::with(FLASH, &[])?.config)?;
    let new = ExperimentHost::new(config)?.watching(stop);
    let mut host = new.clone();
    let seed = settings.seed;
    let write = |offset| Command::write(offset, BLOCK);
    let first = pass(&mut host, seed, write);
    pass(&mut host, seed ^ 1, write);
    let steady = steady(&mut host, seed);
    // What the writes left booked on the dies is over then.
    host.rest(Nanos::from_secs(1));
    let read = pass(&mut host, seed ^ 2, |offset| Command::read(offset, BLOCK));
    health.add(FLASH, &host);
    let mut host = new;
    let [mixed_read, mixed_write] = mixed(&mut host, seed);
    health.add(FLASH, &host);
    let lines = [first, steady, read, mixed_read, mixed_write];
    Ok(WholeDiskCurve::all().into_iter().zip(lines).collect())
}

fn blocks(host: &ExperimentHost<'_>) -> u64 {
    host.config().user_bytes / u64::from(BLOCK)
}

/// Share of the disk covered after part `n`, per cent.
fn covered(n: u64) -> f64 {
    100.0 * (n + 1) as f64 / POINTS as f64
}

/// Every block once, in random order.
fn pass(host: &mut ExperimentHost<'_>, seed: u64, command: impl Fn(u64) -> Command) -> CurvePoints {
    let blocks = blocks(host);
    let order = Permutation::new(blocks, &mut Rng::named(seed, "myth: whole disk"));
    let part = |n: u64| {
        let part = blocks * n / POINTS..blocks * (n + 1) / POINTS;
        let commands = part.map(|k| command(order.at(k) * u64::from(BLOCK)));
        (covered(n), host.run(DEPTH, commands).iops())
    };
    (0..POINTS).map(part).collect()
}

/// As many writes as there are blocks, each to any of them, twice; the second time is seen.
fn steady(host: &mut ExperimentHost<'_>, seed: u64) -> CurvePoints {
    let blocks = blocks(host);
    let mut rng = Rng::named(seed, "myth: whole disk, steady");
    let mut part = |_| -> IntervalStats {
        let write = |_| Command::write(rng.below(blocks) * u64::from(BLOCK), BLOCK);
        host.run(DEPTH, (0..blocks / POINTS).map(write))
    };
    (0..POINTS).for_each(|n| drop(part(n)));
    (0..POINTS).map(|n| (covered(n), part(n).iops())).collect()
}

/// Reads and writes in turn: each block is written once, reads are uniform. IOPS of reads, and of
/// writes.
fn mixed(host: &mut ExperimentHost<'_>, seed: u64) -> [CurvePoints; 2] {
    let blocks = blocks(host);
    let order = Permutation::new(blocks, &mut Rng::named(seed, "myth: whole disk, mixed"));
    let mut rng = Rng::named(seed, "myth: whole disk, reads");
    let mut curves = [Vec::new(), Vec::new()];
    for n in 0..POINTS {
        let part = blocks * n / POINTS..blocks * (n + 1) / POINTS;
        let commands = part.flat_map(|k| {
            let read = rng.below(blocks) * u64::from(BLOCK);
            let written = order.at(k) * u64::from(BLOCK);
            [Command::write(written, BLOCK), Command::read(read, BLOCK)]
        });
        let span = host.run(DEPTH, commands);
        let rate = |mb_s: f64| mb_s * 1e6 / f64::from(BLOCK);
        curves[0].push((covered(n), rate(span.read_mb_s())));
        curves[1].push((covered(n), rate(span.write_mb_s())));
    }
    curves
}
