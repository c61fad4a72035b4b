//! The DC S3700 written and read at random, 4 KiB, over every block.

use super::MythSettings;
use crate::experiments::host::Host;
use crate::experiments::{Curve, Health, Span, scale};
use ssdlab_base::LabError;
use ssdlab_load::permutation::Permutation;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Nanos};
use std::sync::atomic::AtomicBool;

/// Curves over the share of the disk covered, per cent, in IOPS.
#[derive(Clone, Debug)]
pub struct WholeDisk {
    /// Random writes on a new drive, every block once.
    pub write_first: Curve,
    /// A second pass over the drive, now full, every block once again.
    pub write_again: Curve,
    /// As many writes again, each to any block: what goes on for good.
    pub write_steady: Curve,
    /// Random reads of the full drive, every block once.
    pub read_full: Curve,
    /// Reads of a run of reads and writes, half and half, on a new drive: the reads go anywhere,
    /// and what was never written needs no flash.
    pub mixed_read: Curve,
    /// Latency that half of those reads do not exceed, us.
    pub mixed_read_p50_us: Curve,
    /// Writes of the same run.
    pub mixed_write: Curve,
}

impl WholeDisk {
    /// Least over greatest of a curve: 1 is flat.
    pub fn flatness(curve: &Curve) -> f64 {
        let of = |pick: fn(f64, f64) -> f64, start| {
            curve.points.iter().map(|(_, y)| *y).fold(start, pick)
        };
        of(f64::min, f64::MAX) / of(f64::max, f64::MIN)
    }
}

const BLOCK: u32 = 4096;
const DEPTH: u32 = 32;
/// Points of each curve.
const POINTS: u64 = 40;

pub(super) fn run(
    settings: &MythSettings,
    health: &mut Health,
    stop: &AtomicBool,
) -> Result<WholeDisk, LabError> {
    let name = "intel-dc-s3700-200gb";
    let config = settings.scale.apply(&scale::with(name, &[])?.config);
    let new = Host::new(config)?.watching(stop);
    let mut result = WholeDisk {
        write_first: Curve::new("random write, new drive"),
        write_again: Curve::new("random write, second pass"),
        write_steady: Curve::new("random write, steady state"),
        read_full: Curve::new("random read, full drive"),
        mixed_read: Curve::new("random read beside writes"),
        mixed_read_p50_us: Curve::new("random read beside writes, median latency"),
        mixed_write: Curve::new("random write beside reads"),
    };
    let mut host = new.clone();
    let seed = settings.seed;
    let write = |at| Command::write(at, BLOCK);
    pass(&mut host, seed, write, |x, span| {
        result.write_first.points.push((x, span.iops()));
    });
    pass(&mut host, seed ^ 1, write, |x, span| {
        result.write_again.points.push((x, span.iops()));
    });
    steady(&mut host, seed, |x, span| {
        result.write_steady.points.push((x, span.iops()));
    });
    // What the writes left booked on the dies is over then.
    host.rest(Nanos::from_secs(1));
    pass(
        &mut host,
        seed ^ 2,
        |at| Command::read(at, BLOCK),
        |x, span| {
            result.read_full.points.push((x, span.iops()));
        },
    );
    health.add(name, &host);
    let mut host = new;
    mixed(&mut host, seed, &mut result);
    health.add(name, &host);
    Ok(result)
}

fn blocks(host: &Host<'_>) -> u64 {
    host.config().user_bytes / u64::from(BLOCK)
}

/// Every block once, in random order; `see` gets the share covered and what happened.
fn pass(
    host: &mut Host<'_>,
    seed: u64,
    command: impl Fn(u64) -> Command,
    mut see: impl FnMut(f64, &Span),
) {
    let blocks = blocks(host);
    let order = Permutation::new(blocks, &mut Rng::named(seed, "myth: whole disk"));
    for n in 0..POINTS {
        let part = blocks * n / POINTS..blocks * (n + 1) / POINTS;
        let commands = part.map(|k| command(order.at(k) * u64::from(BLOCK)));
        let span = host.run(DEPTH, commands);
        see(100.0 * (n + 1) as f64 / POINTS as f64, &span);
    }
}

/// As many writes as there are blocks, each to any of them, twice; the second time is seen.
fn steady(host: &mut Host<'_>, seed: u64, mut see: impl FnMut(f64, &Span)) {
    let blocks = blocks(host);
    let mut rng = Rng::named(seed, "myth: whole disk, steady");
    for n in 0..2 * POINTS {
        let commands: Vec<Command> = (0..blocks / POINTS)
            .map(|_| Command::write(rng.below(blocks) * u64::from(BLOCK), BLOCK))
            .collect();
        let span = host.run(DEPTH, commands);
        if n >= POINTS {
            see(100.0 * (n + 1 - POINTS) as f64 / POINTS as f64, &span);
        }
    }
}

/// Reads and writes in turn: each block is written once, reads are uniform.
fn mixed(host: &mut Host<'_>, seed: u64, result: &mut WholeDisk) {
    let blocks = blocks(host);
    let order = Permutation::new(blocks, &mut Rng::named(seed, "myth: whole disk, mixed"));
    let mut rng = Rng::named(seed, "myth: whole disk, reads");
    for n in 0..POINTS {
        let part = blocks * n / POINTS..blocks * (n + 1) / POINTS;
        let commands: Vec<Command> = part
            .flat_map(|k| {
                let read = rng.below(blocks) * u64::from(BLOCK);
                let written = order.at(k) * u64::from(BLOCK);
                [Command::write(written, BLOCK), Command::read(read, BLOCK)]
            })
            .collect();
        let span = host.run(DEPTH, commands);
        let x = 100.0 * (n + 1) as f64 / POINTS as f64;
        let rate = |mb_s: f64| mb_s * 1e6 / f64::from(BLOCK);
        result.mixed_read.points.push((x, rate(span.read_mb_s())));
        result.mixed_write.points.push((x, rate(span.write_mb_s())));
        let median = 1e3 * span.read_ms(50.0);
        result.mixed_read_p50_us.points.push((x, median));
    }
}
