//! Articles s2d and myth in whole hosts: a cache tier, and a file system over months.

use super::experiment::{Outcome, Setup, stopped};
use ssdlab_base::LabError;
use ssdlab_base::check::Check;
use ssdlab_hosts::months::{Months, MonthsSpec, Trim};
use ssdlab_hosts::tier::{Durable, TierSpec};
use ssdlab_hosts::{HostDrive, months, tier};
use ssdlab_ssd::Nanos;

/// Bytes that drives are scaled down to, as `ssdlab tier` and `ssdlab months` do.
const CACHE: u64 = 4 << 30;
const DISK: u64 = 2 << 30;
const TIER_TIME: Nanos = Nanos::from_secs(20);
/// A client drive of the article's time: what the authors had is not told.
const CLIENT: &str = "intel-x25m-g2-160gb";
/// Days of a month, for the plot.
const MONTH: f64 = 30.4;

fn keep(outcome: &mut Outcome, what: &str, checks: Vec<Check>) {
    for check in checks {
        let name = format!("{what}: {}", check.name);
        outcome.checks.push((name, check.failure));
    }
}

/// The consumer drive and its protected twin as cache devices of two copies each.
///
/// # Errors
/// When a drive is not possible at that size, or the run is stopped.
pub fn tiers(setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let mut outcome = Outcome::default();
    for (short, name, durable) in [
        ("consumer_through", "consumer-sata-1tb", Durable::Fua),
        ("consumer_buffered", "consumer-sata-1tb", Durable::Buffered),
        ("twin_through", "consumer-sata-1tb-plp", Durable::Fua),
        ("twin_buffered", "consumer-sata-1tb-plp", Durable::Buffered),
    ] {
        let drive = HostDrive::open(name, &[], Some(CACHE))?;
        let spec = TierSpec {
            durable,
            duration: TIER_TIME,
            seed: setup.seed,
            ..TierSpec::default()
        };
        let configs = vec![drive.config.clone(); spec.copies];
        let found = tier::run_until(&spec, &configs, setup.stop)?;
        if found.stopped {
            return Err(stopped());
        }
        outcome.value(format!("{short}_iops"), found.iops);
        if let Some(nand) = found.nand_per_host_byte {
            outcome.value(format!("{short}_nand_per_host_byte"), nand);
        }
        keep(&mut outcome, short, found.checks);
    }
    for short in ["consumer", "twin"] {
        let of = |how: &str| {
            let name = format!("{short}_{how}");
            outcome.values.get(&name).copied().unwrap_or(f64::NAN)
        };
        let iops = of("through_iops") / of("buffered_iops");
        let nand = of("through_nand_per_host_byte") / of("buffered_nand_per_host_byte");
        outcome.value(format!("{short}_through_over_buffered"), iops);
        outcome.value(format!("{short}_nand_through_over_buffered"), nand);
    }
    Ok(outcome)
}

/// Half a year of files on a client drive, never trimmed and trimmed at once.
///
/// # Errors
/// When the drive is not possible at that size, or the run is stopped.
pub fn half_a_year(setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let drive = HostDrive::open(CLIENT, &[], Some(DISK))?;
    let mut outcome = Outcome::default();
    let mut last = Vec::new();
    for (short, trim) in [("never", Trim::Never), ("trimmed", Trim::AtOnce)] {
        let mut spec = MonthsSpec {
            trim,
            seed: setup.seed,
            ..MonthsSpec::default()
        };
        spec.probe.block =
            u32::try_from(BLOCK.max(u64::from(drive.config.shape.slot_bytes))).unwrap_or(u32::MAX);
        let found = months::run_until(&spec, &drive.config, setup.stop)?;
        if found.stopped {
            return Err(stopped());
        }
        last.push(year(&mut outcome, short, &found));
        keep(&mut outcome, short, found.checks);
    }
    if let [(never_read, never_write), (read, write)] = last[..] {
        outcome.value("trim_read_gain", read / never_read);
        outcome.value("trim_write_gain", write / never_write);
    }
    Ok(outcome)
}

/// Bytes of a block of the file system.
const BLOCK: u64 = 4096;

/// Keeps curves and the means of the last quarter; rates of reads and writes, MB/s.
fn year(outcome: &mut Outcome, short: &str, found: &Months) -> (f64, f64) {
    let over = |of: &dyn Fn(&months::Sample) -> f64| -> Vec<(f64, f64)> {
        let point = |s: &months::Sample| (f64::from(s.day) / MONTH, of(s));
        found.samples.iter().map(point).collect()
    };
    let reads = over(&|s| s.probe.read_bytes_s / 1e6);
    // Day 0 is the installation.
    let mut writes = over(&|s| s.write_bytes_s / 1e6);
    writes.remove(0);
    let late = |points: &[(f64, f64)]| {
        let last = &points[points.len() - points.len() / 4..];
        last.iter().map(|(_, y)| y).sum::<f64>() / last.len().max(1) as f64
    };
    let means = (late(&reads), late(&writes));
    outcome.value(format!("{short}_read_mb_s"), means.0);
    outcome.value(format!("{short}_write_mb_s"), means.1);
    if let Some(last) = found.samples.last() {
        let name = format!("{short}_mapped_pct");
        outcome.value(name, 100.0 * last.mapped_share);
        let used = format!("{short}_used_pct");
        outcome.value(used, 100.0 * last.used_share);
    }
    if let Some(waf) = found.waf {
        outcome.value(format!("{short}_waf"), waf);
    }
    outcome.curves.insert(format!("{short}_reads"), reads);
    outcome.curves.insert(format!("{short}_writes"), writes);
    means
}
