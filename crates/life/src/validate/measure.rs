//! Measures a drive's documented rates on its model.

use super::{Documented, Figure, RANGE_MAX, Row, Validation, WAF_CHANGE_MAX, WINDOW, documented};
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_bench::engine::devices::{Devices, new_drive};
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::scaling::scaled;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Nanos};
use std::sync::atomic::{AtomicBool, Ordering};

/// Commands outstanding.
const DEPTH: u32 = 32;
/// Bytes of a random command.
const RANDOM: u32 = 4096;
/// Bytes of a sequential command.
const SEQUENTIAL: u32 = 128 << 10;
/// Random reads measured.
const READS: u64 = 200_000;
/// Most rounds of random writes, each half of the user capacity.
const ROUNDS_MAX: usize = 40;
/// Fewest: three times the user capacity.
const ROUNDS_MIN: usize = 6;

/// Measures every documented rate of a drive on its model, made smaller to about `capacity` bytes.
///
/// # Errors
/// When the drive cannot be made so small, or `stop` was set.
pub fn validate(
    drive: &CatalogueDrive,
    capacity: u64,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Validation, LabError> {
    let small = scaled(&drive.config, capacity)?;
    let ratio = small.config.user_bytes as f64 / drive.config.user_bytes as f64;
    let span = match &drive.file.documented.random_span {
        Some(span) => Some((parse_size(&span.value)? as f64 * ratio) as u64),
        None => None,
    };
    let compress = drive.file.documented.compress_pct.as_ref();
    let mut bench = Bench {
        new: Devices::one(new_drive(&small.config)?),
        user: small.config.user_bytes / u64::from(SEQUENTIAL) * u64::from(SEQUENTIAL),
        span: span.map(|span| (span / u64::from(RANDOM)).max(u64::from(DEPTH))),
        compress_pct: compress.map_or(0, |pct| pct.value as u8),
        rng: Rng::named(seed, "validate"),
        stop,
    };
    let mut full = bench.new.clone();
    bench.pass(&mut full, false);
    let sequential_write = bench.pass(&mut full, false);
    let sequential_read = bench.pass(&mut full.clone(), true);
    let random_read = bench.random_reads(&mut full.clone());
    let mut written = match bench.span {
        Some(_) => bench.new.clone(),
        None => full,
    };
    let wanted = documented(drive)?;
    let writes = wanted.iter().any(|d| d.figure == Figure::RandomWrite);
    let (random_write, steady) = match (writes, bench.span) {
        (false, _) => (0.0, None),
        (true, Some(slots)) => (bench.short_run(&mut written, slots), None),
        (true, None) => bench.steady_run(&mut written),
    };
    written.settle();
    if stop.load(Ordering::Relaxed) {
        return Err(LabError::refused("stopped", ""));
    }
    let row = |documented: Documented| {
        let (ours, steady) = match documented.figure {
            Figure::RandomRead => (random_read, None),
            Figure::RandomWrite => (random_write, steady),
            Figure::SequentialRead => (sequential_read, None),
            Figure::SequentialWrite => (sequential_write, None),
        };
        Row {
            documented,
            ours,
            steady,
        }
    };
    Ok(Validation {
        drive: drive.file.name.clone(),
        scaled: small.said,
        rows: wanted.into_iter().map(row).collect(),
        checks: written.checks(),
    })
}

struct Bench<'a> {
    /// The drive from the factory.
    new: Devices,
    /// Bytes of a pass.
    user: u64,
    /// Random addresses, 4 KiB each, where the sheet names a span.
    span: Option<u64>,
    compress_pct: u8,
    rng: Rng,
    stop: &'a AtomicBool,
}

impl Bench<'_> {
    /// Commands per second of `count` commands, `make` giving each by its number.
    fn rate(&self, host: &mut Devices, count: u64, mut make: impl FnMut(u64) -> Command) -> f64 {
        let began = host.now();
        let mut given = 0;
        let mut next = || {
            let stopped = given % 1024 == 0 && self.stop.load(Ordering::Relaxed);
            (given < count && !stopped).then(|| {
                given += 1;
                let compress_pct = self.compress_pct;
                Command {
                    compress_pct,
                    ..make(given - 1)
                }
            })
        };
        host.keep(DEPTH, Nanos::MAX, &mut next);
        given as f64 * 1e9 / (host.now() - began).0.max(1) as f64
    }

    /// Bytes per second of a pass over the drive.
    fn pass(&self, host: &mut Devices, reads: bool) -> f64 {
        let command = match reads {
            true => Command::read,
            false => Command::write,
        };
        let length = u64::from(SEQUENTIAL);
        let make = |n| command(n * length, SEQUENTIAL);
        let rate = self.rate(host, self.user / length, make);
        host.settle();
        rate * f64::from(SEQUENTIAL)
    }

    fn random_reads(&mut self, host: &mut Devices) -> f64 {
        let slots = self.span.unwrap_or(self.user / u64::from(RANDOM));
        let mut rng = self.rng.clone();
        let rate = self.rate(host, READS, |_| {
            Command::read(rng.below(slots) * u64::from(RANDOM), RANDOM)
        });
        self.rng = rng;
        rate
    }

    fn random_writes(&mut self, host: &mut Devices, slots: u64, count: u64) -> f64 {
        let mut rng = self.rng.clone();
        let rate = self.rate(host, count, |_| {
            Command::write(rng.below(slots) * u64::from(RANDOM), RANDOM)
        });
        self.rng = rng;
        rate
    }

    /// As much as the span, after it was written in order.
    fn short_run(&mut self, host: &mut Devices, slots: u64) -> f64 {
        let in_order = |n| Command::write(n * u64::from(RANDOM), RANDOM);
        self.rate(host, slots, in_order);
        host.settle();
        self.random_writes(host, slots, slots)
    }

    /// Rounds until the state is steady; mean rate of the last [`WINDOW`], and whether it was.
    fn steady_run(&mut self, host: &mut Devices) -> (f64, Option<bool>) {
        let slots = self.user / u64::from(RANDOM);
        let (mut rates, mut wafs) = (Vec::new(), Vec::new());
        while rates.len() < ROUNDS_MAX && !self.stop.load(Ordering::Relaxed) {
            let before = host.drive(0).counters().clone();
            rates.push(self.random_writes(host, slots, slots / 2));
            let drive = host.drive(0);
            let slot = drive.config().shape.slot_bytes;
            wafs.push(drive.counters().waf_since(&before, slot).unwrap_or(0.0));
            if rates.len() >= ROUNDS_MIN && is_steady(&rates, &wafs) {
                break;
            }
        }
        let last = &rates[rates.len().saturating_sub(WINDOW)..];
        let mean = last.iter().sum::<f64>() / last.len() as f64;
        (mean, Some(is_steady(&rates, &wafs)))
    }
}

/// Whether the last [`WINDOW`] rounds agree.
pub(super) fn is_steady(rates: &[f64], wafs: &[f64]) -> bool {
    let agree = |all: &[f64], share: f64| {
        let Some(last) = all.len().checked_sub(WINDOW).map(|from| &all[from..]) else {
            return false;
        };
        let mean = last.iter().sum::<f64>() / WINDOW as f64;
        let range = last.iter().fold(f64::MIN, |most, x| most.max(*x))
            - last.iter().fold(f64::MAX, |least, x| least.min(*x));
        range <= share * mean
    };
    agree(rates, RANGE_MAX) && agree(wafs, WAF_CHANGE_MAX)
}
