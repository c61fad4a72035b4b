//! Articles s2d and myth in whole hosts: a cache tier, and a file system over months.

use crate::keys::{Key, keys};
use crate::outcome::{About, Experiment, Outcome, Points, Setup, stopped};
use ssdlab_base::LabError;
use ssdlab_base::check::Check;
use ssdlab_hosts::months::{Months, MonthsSpec, Trim};
use ssdlab_hosts::tier::{Durable, TierSpec};
use ssdlab_hosts::{HostDrive, months, tier};
use ssdlab_ssd::Nanos;

keys! {
    /// The cache devices: the consumer drive, and its twin with a protected buffer.
    pub(crate) enum Cache {
        Consumer = "consumer",
        Twin = "twin",
    }

    /// Every write durable (FUA), or buffered.
    pub(crate) enum Mode {
        Through = "through",
        Buffered = "buffered",
    }

    pub(crate) enum Rate {
        Iops = "iops",
        NandPerHostByte = "nand_per_host_byte",
    }

    pub(crate) enum Over {
        Iops = "through_over_buffered",
        Nand = "nand_through_over_buffered",
    }

    pub(crate) enum TierMeasure {
        ;
        Of((Cache, Mode, Rate)) = "{}",
        Over((Cache, Over)) = "{}",
    }
}

pub(crate) static TIER: Experiment<TierMeasure> = Experiment {
    about: About {
        name: "s2d.tier",
        what: "a cache tier of two copies on the drive and on its twin, each write durable on both \
               cache devices (FUA), and buffered; drives scaled to 4 GiB, 20 s of the article's \
               load",
        weight: 3,
    },
    run: tiers,
};

keys! {
    pub(crate) enum Trimmed {
        Never = "never",
        AtOnce = "trimmed",
    }

    pub(crate) enum Late {
        ReadMbS = "read_mb_s",
        WriteMbS = "write_mb_s",
        MappedPct = "mapped_pct",
        UsedPct = "used_pct",
        Waf = "waf",
    }

    pub(crate) enum MonthsMeasure {
        TrimReadGain = "trim_read_gain",
        TrimWriteGain = "trim_write_gain",
        ;
        Of((Trimmed, Late)) = "{}",
    }

    pub(crate) enum Direction {
        Reads = "reads",
        Writes = "writes",
    }
}

pub(crate) static MONTHS: Experiment<MonthsMeasure, (Trimmed, Direction)> = Experiment {
    about: About {
        name: "myth.months",
        what: "half a year of files, created, updated and deleted, 70 % used, on the X25-M scaled \
               to 2 GiB: never trimmed, and trimmed at once",
        weight: 13,
    },
    run: half_a_year,
};

/// Bytes that drives are scaled down to, as `ssdlab host tier` and `ssdlab host months` do.
const CACHE: u64 = 4 << 30;
const DISK: u64 = 2 << 30;
const TIER_TIME: Nanos = Nanos::from_secs(20);
/// A client drive of the article's time: the article does not name the authors' own.
const CLIENT: &str = "intel-x25m-g2-160gb";
/// Bytes of a block of the file system.
const BLOCK: u32 = 4096;
/// Days of a month, for the plot.
const MONTH: f64 = 30.4;

fn keep<M: Key, L: Key>(outcome: &mut Outcome<M, L>, what: &str, checks: Vec<Check>) {
    for check in checks {
        let result = check.failure.map_or(Ok(()), Err);
        outcome.check(format!("{what}: {}", check.name), result);
    }
}

/// The consumer drive and its protected twin as cache devices of two copies each.
fn tiers(setup: &Setup<'_>) -> Result<Outcome<TierMeasure>, LabError> {
    let mut outcome = Outcome::new();
    for (cache, mode) in <(Cache, Mode)>::all() {
        let name = match cache {
            Cache::Consumer => "consumer-sata-1tb",
            Cache::Twin => "consumer-sata-1tb-plp",
        };
        let drive = HostDrive::open(name, &[], Some(CACHE))?;
        let spec = TierSpec {
            durable: match mode {
                Mode::Through => Durable::Fua,
                Mode::Buffered => Durable::Buffered,
            },
            duration: TIER_TIME,
            seed: setup.seed,
            ..TierSpec::default()
        };
        let configs = vec![drive.config.clone(); spec.copies];
        let found = tier::run_until(&spec, &configs, setup.stop)?;
        if found.stopped {
            return Err(stopped());
        }
        let of = |rate| TierMeasure::Of((cache, mode, rate));
        outcome.value(of(Rate::Iops), found.iops);
        outcome.value(of(Rate::NandPerHostByte), found.nand_per_host_byte);
        keep(&mut outcome, &(cache, mode).name(), found.checks);
    }
    for cache in Cache::all() {
        for (over, rate) in [
            (Over::Iops, Rate::Iops),
            (Over::Nand, Rate::NandPerHostByte),
        ] {
            let of = |mode| TierMeasure::Of((cache, mode, rate));
            let ratio = outcome.ratio(of(Mode::Through), of(Mode::Buffered));
            outcome.value(TierMeasure::Over((cache, over)), ratio);
        }
    }
    Ok(outcome)
}

type Year = Outcome<MonthsMeasure, (Trimmed, Direction)>;

/// Half a year of files on a client drive, never trimmed and trimmed at once.
fn half_a_year(setup: &Setup<'_>) -> Result<Year, LabError> {
    let drive = HostDrive::open(CLIENT, &[], Some(DISK))?;
    let mut outcome = Outcome::new();
    for (trimmed, trim) in [
        (Trimmed::Never, Trim::Never),
        (Trimmed::AtOnce, Trim::AtOnce),
    ] {
        let mut spec = MonthsSpec {
            trim,
            seed: setup.seed,
            ..MonthsSpec::default()
        };
        spec.probe.block = BLOCK.max(drive.config.shape.slot_bytes);
        let found = months::run_until(&spec, &drive.config, setup.stop)?;
        if found.stopped {
            return Err(stopped());
        }
        year(&mut outcome, trimmed, &found);
        keep(&mut outcome, &trimmed.name(), found.checks);
    }
    for (gain, late) in [
        (MonthsMeasure::TrimReadGain, Late::ReadMbS),
        (MonthsMeasure::TrimWriteGain, Late::WriteMbS),
    ] {
        let of = |trimmed| MonthsMeasure::Of((trimmed, late));
        let ratio = outcome.ratio(of(Trimmed::AtOnce), of(Trimmed::Never));
        outcome.value(gain, ratio);
    }
    Ok(outcome)
}

/// Keeps curves, and the means of their last quarter.
fn year(outcome: &mut Year, trimmed: Trimmed, found: &Months) {
    let over = |of: &dyn Fn(&months::Sample) -> f64| -> Points {
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
    let last = found.samples.last();
    for (measure, value) in [
        (Late::ReadMbS, Some(late(&reads))),
        (Late::WriteMbS, Some(late(&writes))),
        (Late::MappedPct, last.map(|last| 100.0 * last.mapped_share)),
        (Late::UsedPct, last.map(|last| 100.0 * last.used_share)),
        (Late::Waf, found.waf),
    ] {
        outcome.value(MonthsMeasure::Of((trimmed, measure)), value);
    }
    outcome.curve((trimmed, Direction::Reads), reads);
    outcome.curve((trimmed, Direction::Writes), writes);
}
