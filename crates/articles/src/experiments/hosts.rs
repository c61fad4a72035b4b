//! Articles s2d and myth in whole hosts: a cache tier, and a file system over months.

use crate::keys::{ExperimentKey, keys};
use crate::outcome::{
    CurvePoints, Experiment, ExperimentInfo, ExperimentOutcome, ExperimentSetup, stopped,
};
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_hosts::months::{Months, MonthsSpec, TrimSchedule};
use ssdlab_hosts::tier::{DurabilityMode, TierSpec};
use ssdlab_hosts::{HostDrive, months, tier};
use ssdlab_ssd::Nanos;

keys! {
    /// The cache devices: the consumer drive, and its twin with a protected buffer.
    pub(crate) enum CacheDevice {
        Consumer = "consumer",
        Twin = "twin",
    }

    /// Every write durable (FUA), or buffered.
    pub(crate) enum TierWriteMode {
        Through = "through",
        Buffered = "buffered",
    }

    pub(crate) enum TierRate {
        Iops = "iops",
        NandPerHostByte = "nand_per_host_byte",
    }

    pub(crate) enum TierRatio {
        Iops = "through_over_buffered",
        Nand = "nand_through_over_buffered",
    }

    pub(crate) enum TierMeasure {
        ;
        Of((CacheDevice, TierWriteMode, TierRate)) = "{}",
        Over((CacheDevice, TierRatio)) = "{}",
    }
}

pub(crate) static TIER: Experiment<TierMeasure> = Experiment {
    about: ExperimentInfo {
        name: "s2d.tier",
        what: "a cache tier of two copies on the drive and on its twin, each write durable on both \
               cache devices (FUA), and buffered; drives scaled to 4 GiB, 20 s of the article's \
               load",
        weight: 3,
    },
    run: tiers,
};

keys! {
    pub(crate) enum MonthsTrim {
        Never = "never",
        AtOnce = "trimmed",
    }

    pub(crate) enum MonthsMetric {
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
        Of((MonthsTrim, MonthsMetric)) = "{}",
    }

    pub(crate) enum MonthsDirection {
        Reads = "reads",
        Writes = "writes",
    }
}

pub(crate) static MONTHS: Experiment<MonthsMeasure, (MonthsTrim, MonthsDirection)> = Experiment {
    about: ExperimentInfo {
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

fn keep<M: ExperimentKey, L: ExperimentKey>(
    outcome: &mut ExperimentOutcome<M, L>,
    run_name: &str,
    checks: Vec<SelfCheck>,
) {
    for check in checks {
        let result = check.failure.map_or(Ok(()), Err);
        outcome.check(format!("{run_name}: {}", check.name), result);
    }
}

/// The consumer drive and its protected twin as cache devices of two copies each.
fn tiers(setup: &ExperimentSetup<'_>) -> Result<ExperimentOutcome<TierMeasure>, LabError> {
    let mut outcome = ExperimentOutcome::new();
    for (cache, mode) in <(CacheDevice, TierWriteMode)>::all() {
        let name = match cache {
            CacheDevice::Consumer => "consumer-sata-1tb",
            CacheDevice::Twin => "consumer-sata-1tb-plp",
        };
        let drive = HostDrive::open(name, &[], Some(CACHE))?;
        let spec = TierSpec {
            durable: match mode {
                TierWriteMode::Through => DurabilityMode::Fua,
                TierWriteMode::Buffered => DurabilityMode::Buffered,
            },
            duration: TIER_TIME,
            seed: setup.seed,
            ..TierSpec::default()
        };
        let configs = vec![drive.config.clone(); spec.copies];
        let result = tier::run_until(&spec, &configs, setup.stop)?;
        if result.stopped {
            return Err(stopped());
        }
        let measure = |rate| TierMeasure::Of((cache, mode, rate));
        outcome.value(measure(TierRate::Iops), result.iops);
        outcome.value(
            measure(TierRate::NandPerHostByte),
            result.nand_per_host_byte,
        );
        keep(&mut outcome, &(cache, mode).name(), result.checks);
    }
    for cache in CacheDevice::all() {
        for (over, rate) in [
            (TierRatio::Iops, TierRate::Iops),
            (TierRatio::Nand, TierRate::NandPerHostByte),
        ] {
            let measure = |mode| TierMeasure::Of((cache, mode, rate));
            let ratio = outcome.ratio(
                measure(TierWriteMode::Through),
                measure(TierWriteMode::Buffered),
            );
            outcome.value(TierMeasure::Over((cache, over)), ratio);
        }
    }
    Ok(outcome)
}

type MonthsOutcome = ExperimentOutcome<MonthsMeasure, (MonthsTrim, MonthsDirection)>;

/// Half a year of files on a client drive, never trimmed and trimmed at once.
fn half_a_year(setup: &ExperimentSetup<'_>) -> Result<MonthsOutcome, LabError> {
    let drive = HostDrive::open(CLIENT, &[], Some(DISK))?;
    let mut outcome = ExperimentOutcome::new();
    for (trimmed, trim) in [
        (MonthsTrim::Never, TrimSchedule::Never),
        (MonthsTrim::AtOnce, TrimSchedule::AtOnce),
    ] {
        let mut spec = MonthsSpec {
            trim,
            seed: setup.seed,
            ..MonthsSpec::default()
        };
        spec.probe.block = BLOCK.max(drive.config.shape.slot_bytes);
        let result = months::run_until(&spec, &drive.config, setup.stop)?;
        if result.stopped {
            return Err(stopped());
        }
        year(&mut outcome, trimmed, &result);
        keep(&mut outcome, &trimmed.name(), result.checks);
    }
    for (gain, late) in [
        (MonthsMeasure::TrimReadGain, MonthsMetric::ReadMbS),
        (MonthsMeasure::TrimWriteGain, MonthsMetric::WriteMbS),
    ] {
        let measure = |trimmed| MonthsMeasure::Of((trimmed, late));
        let ratio = outcome.ratio(measure(MonthsTrim::AtOnce), measure(MonthsTrim::Never));
        outcome.value(gain, ratio);
    }
    Ok(outcome)
}

/// Keeps curves, and the means of their last quarter.
fn year(outcome: &mut MonthsOutcome, trimmed: MonthsTrim, months: &Months) {
    let over = |metric: &dyn Fn(&months::DaySample) -> f64| -> CurvePoints {
        let point = |s: &months::DaySample| (f64::from(s.day) / MONTH, metric(s));
        months.samples.iter().map(point).collect()
    };
    let reads = over(&|s| s.probe.read_bytes_s / 1e6);
    // Day 0 is the installation.
    let mut writes = over(&|s| s.write_bytes_s / 1e6);
    writes.remove(0);
    let late = |points: &[(f64, f64)]| {
        let last = &points[points.len() - points.len() / 4..];
        last.iter().map(|(_, y)| y).sum::<f64>() / last.len().max(1) as f64
    };
    let last = months.samples.last();
    for (measure, value) in [
        (MonthsMetric::ReadMbS, Some(late(&reads))),
        (MonthsMetric::WriteMbS, Some(late(&writes))),
        (
            MonthsMetric::MappedPct,
            last.map(|last| 100.0 * last.mapped_share),
        ),
        (
            MonthsMetric::UsedPct,
            last.map(|last| 100.0 * last.used_share),
        ),
        (MonthsMetric::Waf, months.waf),
    ] {
        outcome.value(MonthsMeasure::Of((trimmed, measure)), value);
    }
    outcome.curve((trimmed, MonthsDirection::Reads), reads);
    outcome.curve((trimmed, MonthsDirection::Writes), writes);
}
