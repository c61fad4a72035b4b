//! A hypothesis: the firmware slows writes down when the life goes by too fast.
//!
//! SandForce's controllers are said to hold writes against a life curve: cycles are credited as
//! time passes, so that the rated ones last for the warranty, and while more have been used than
//! credited, writes are slow. The article does not speak of it; no source read says how much
//! slower, or what credit a new drive has. Here the drive begins without credit and programs fewer
//! dies at once while it is in debt. That number is calibrated to `worn.cdm`, worn; wear itself is
//! left out, so that the difference to the new drive is the throttling alone. No drive of the
//! catalogue is throttled like this.

use super::bench::{BenchmarkSize, benchmark};
use super::life::WRITTEN;
use super::measure::{
    BenchmarkMetric, BenchmarkResults, CrystalDiskMarkMetric, DataCompressibility, DepthSweep,
    IometerMetric,
};
use super::run::{gains, plan, refused};
use crate::experiments::host::DriveSelfChecks;
use crate::keys::keys;
use crate::outcome::{Experiment, ExperimentInfo, ExperimentOutcome, ExperimentSetup};
use ssdlab_base::LabError;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_ssd::geometry::Geometry;
use ssdlab_ssd::{Drive, DriveConfig};

keys! {
    pub(crate) enum ThrottledMeasure {
        CdmWrite = "cdm_sequential_write_mb_s",
        SequentialChange = "change_random_sequential_write_mb_s",
        LatencyMean = "random_latency_mean_ms",
        Databases = "random_database_gain_pct_least",
        Servers = "random_file_server_gain_pct_size",
        DatabasesRepeating = "repeating_database_gain_pct_size",
        DaysFree = "days_unthrottled",
        Days = "days",
        DebtPct = "debt_pct",
    }
}

pub(crate) static THROTTLED: Experiment<ThrottledMeasure> = Experiment {
    about: ExperimentInfo {
        name: "worn.throttled",
        what: "the new drive's benchmark once more with 20 of its 32 dies programming at once, as \
               a firmware that holds writes against a life curve may do: a hypothesis",
        weight: 9,
    },
    run,
};

/// Dies that program at once in debt: the number that comes nearest to 183 MB/s.
const DIES_IN_DEBT: u32 = 20;
const DAY_S: f64 = 86_400.0;

/// Cycles credited by time: the rated ones over the warranty, none in advance.
#[derive(Clone, Copy, Debug)]
struct LifeCurve {
    cycles_rated: f64,
    warranty_days: f64,
}

impl LifeCurve {
    /// Cycles used beyond those credited after `days`; negative: credit.
    fn debt(&self, cycles_used: f64, days: f64) -> f64 {
        cycles_used - self.cycles_rated * days / self.warranty_days
    }

    /// Days to write `bytes`, each programmed once on `raw` bytes: at `free` B/s while there is
    /// credit, else at `slow`.
    fn days_to_write(&self, bytes: f64, raw: f64, free: f64, slow: f64) -> f64 {
        let per_day = |rate: f64| rate * DAY_S / raw;
        let credited = self.cycles_rated / self.warranty_days;
        // Without an advance, a rate is either always within the credit or never.
        let rate = if per_day(free) <= credited {
            free
        } else {
            slow
        };
        bytes / rate / DAY_S
    }
}

fn measured(
    config: &DriveConfig,
    setup: &ExperimentSetup<'_>,
    health: &mut DriveSelfChecks,
) -> Result<BenchmarkResults, LabError> {
    let make = || Drive::new(config.clone()).map_err(refused);
    benchmark(
        &make,
        BenchmarkSize::default(),
        setup.seed,
        health,
        setup.stop,
    )
}

fn run(setup: &ExperimentSetup<'_>) -> Result<ExperimentOutcome<ThrottledMeasure>, LabError> {
    let (plan, config) = plan(setup)?;
    let mut outcome = ExperimentOutcome::resting_on(plan.manner.rests_on.clone());
    let mut health = DriveSelfChecks::default();
    let new = measured(&config, setup, &mut health)?;
    let mut slow = config.clone();
    slow.nand.programs_at_once = DIES_IN_DEBT;
    let in_debt = measured(&slow, setup, &mut health)?;
    health.keep(&mut outcome);
    let number = |iometer| BenchmarkMetric::Iometer((DataCompressibility::Random, iometer));
    let value = |bench: &BenchmarkResults, number| bench.values.get(&number).copied();
    let cdm = BenchmarkMetric::Cdm(CrystalDiskMarkMetric::SequentialWrite);
    let sequential = number(IometerMetric::SequentialWriteMbS);
    outcome.value(ThrottledMeasure::CdmWrite, value(&in_debt, cdm));
    let sequential_rates = value(&in_debt, sequential).zip(value(&new, sequential));
    outcome.value(
        ThrottledMeasure::SequentialChange,
        sequential_rates.map(|(slow, new)| slow - new),
    );
    let latency = value(&in_debt, number(IometerMetric::LatencyMeanMs));
    outcome.value(ThrottledMeasure::LatencyMean, latency);
    profiles(&mut outcome, &new, &in_debt);
    let raw = Geometry::new(config.shape).raw_bytes() as f64;
    let drive = ssdlab_drives::catalogue::drive(super::life::DRIVE)?;
    let curve = curve(&drive, plan.media.cycles_rated);
    if let Some((slow, free)) = sequential_rates {
        let [slow, free] = [slow, free].map(|rate| rate * 1e6);
        let bytes = WRITTEN as f64;
        let days = curve.days_to_write(bytes, raw, free, slow);
        outcome.value(ThrottledMeasure::DaysFree, bytes / free / DAY_S);
        outcome.value(ThrottledMeasure::Days, days);
        let debt = curve.debt(bytes / raw, days) / curve.cycles_rated;
        outcome.value(ThrottledMeasure::DebtPct, 100.0 * debt);
    }
    Ok(outcome)
}

fn curve(drive: &CatalogueDrive, cycles_rated: u32) -> LifeCurve {
    let years = drive.file.documented.warranty_years.as_ref();
    LifeCurve {
        cycles_rated: f64::from(cycles_rated),
        warranty_days: years.map_or(3.0, |years| f64::from(years.value)) * 365.0,
    }
}

/// Gains of the throttled drive from depth 8 on, by profiles that the article names together.
fn profiles(
    outcome: &mut ExperimentOutcome<ThrottledMeasure>,
    new: &BenchmarkResults,
    slow: &BenchmarkResults,
) {
    let databases = [DepthSweep::Database, DepthSweep::Workstation];
    let servers = [DepthSweep::FileServer, DepthSweep::WebServer];
    let gains_of = |data: DataCompressibility, sweeps: [DepthSweep; 2]| -> Vec<f64> {
        let by_sweep = sweeps.map(|sweep| gains(new, slow, (data, sweep)));
        by_sweep.concat()
    };
    let least = gains_of(DataCompressibility::Random, databases)
        .into_iter()
        .reduce(f64::min);
    let size = |gains: Vec<f64>| gains.into_iter().map(f64::abs).reduce(f64::max);
    outcome.value(ThrottledMeasure::Databases, least);
    outcome.value(
        ThrottledMeasure::Servers,
        size(gains_of(DataCompressibility::Random, servers)),
    );
    let repeating = size(gains_of(DataCompressibility::Repeating, databases));
    outcome.value(ThrottledMeasure::DatabasesRepeating, repeating);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_grow_with_time_and_a_rate_beyond_them_is_slowed_down() {
        let curve = LifeCurve {
            cycles_rated: 1000.0,
            warranty_days: 100.0,
        };
        // Ten cycles a day are credited.
        assert_eq!(curve.debt(50.0, 5.0), 0.0);
        assert_eq!(curve.debt(50.0, 4.0), 10.0);
        let day = |cycles: f64| cycles * 1e9 / DAY_S;
        let within = curve.days_to_write(90e9, 1e9, day(9.0), day(3.0));
        assert!((within - 10.0).abs() < 1e-9, "{within}");
        let beyond = curve.days_to_write(90e9, 1e9, day(11.0), day(3.0));
        assert!((beyond - 30.0).abs() < 1e-9, "{beyond}");
    }
}
