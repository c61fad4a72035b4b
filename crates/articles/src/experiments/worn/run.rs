//! The article's measures, on the new drive and on the worn one.

use super::bench::{BenchmarkSize, benchmark};
use super::life::{self, WRITTEN, WornLife};
use super::loads::candidates;
use super::measure::{
    BenchmarkMetric, BenchmarkResults, ClientTraceName, DataCompressibility, DepthSweep,
    IometerMetric, TracePlaybackMetric,
};
use crate::experiments::host::DriveSelfChecks;
use crate::keys::{ExperimentKey, keys};
use crate::outcome::{Experiment, ExperimentInfo, ExperimentOutcome, ExperimentSetup, stopped};
use ssdlab_base::LabError;
use ssdlab_life::age::{AgeingPlan, LifeEnd, left};
use ssdlab_ssd::geometry::Geometry;
use ssdlab_ssd::{ConfigError, Drive, DriveConfig};
use std::sync::atomic::{AtomicBool, Ordering};

keys! {
    /// The loads that the 270 TB may have been, in the order of the candidates; each has its name
    /// as a text.
    pub(crate) enum CandidateLoad {
        Sequential = "load_0",
        Random128k = "load_1",
        Random4k = "load_2",
        HotCold = "load_3",
        Half = "load_4",
        Jesd219 = "load_5",
    }

    pub(crate) enum LoadCost {
        Waf = "waf",
        LifeLeftPct = "life_left_pct",
        Days = "days",
    }

    pub(crate) enum NewDriveMeasure {
        ImpliedWaf = "implied_waf",
        ImpliedDays = "implied_days",
        ;
        Load(CandidateLoad) = "{}",
        Cost((CandidateLoad, LoadCost)) = "{}",
        New(BenchmarkMetric) = "new_{}",
    }

    pub(crate) enum NewDriveCurve {
        ;
        New((DataCompressibility, DepthSweep)) = "new_{}",
    }
}

pub(crate) static NEW: Experiment<NewDriveMeasure, NewDriveCurve> = Experiment {
    about: ExperimentInfo {
        name: "worn.new",
        what: "the new drive's benchmark: a test file of 8 GiB, 2 MB and 4 KiB, four server \
               profiles, CrystalDiskMark, three client traces; and six loads that the 270 TB may \
               have been, on the drive scaled to 4 GiB",
        weight: 5,
    },
    run: new,
};

keys! {
    /// Server profiles that the article names together.
    pub(crate) enum ServerProfiles {
        Databases = "database",
        Servers = "file_server",
    }

    /// Gains at depths from [`DEEP`] on: the lowest, and the largest whatever its sign.
    pub(crate) enum GainMetric {
        Least = "gain_pct_least",
        Size = "gain_pct_size",
    }

    pub(crate) enum WornDriveMeasure {
        Life = "life",
        HostTb = "host_tb",
        Waf = "waf",
        CyclesAverage = "cycles_average",
        CyclesMin = "cycles_min",
        CyclesMax = "cycles_max",
        BlocksRetired = "blocks_retired",
        LifeLeftPct = "life_left_pct",
        TracesGainPctMost = "traces_gain_pct_most",
        ;
        New(BenchmarkMetric) = "new_{}",
        Worn(BenchmarkMetric) = "worn_{}",
        Change(BenchmarkMetric) = "change_{}",
        GainPct(BenchmarkMetric) = "gain_pct_{}",
        Profiles((DataCompressibility, ServerProfiles, GainMetric)) = "{}",
    }

    pub(crate) enum WornDriveCurve {
        ;
        New((DataCompressibility, DepthSweep)) = "new_{}",
        Worn((DataCompressibility, DepthSweep)) = "worn_{}",
    }
}

type WornOutcome = ExperimentOutcome<WornDriveMeasure, WornDriveCurve>;

pub(crate) static AGED: Experiment<WornDriveMeasure, WornDriveCurve> = Experiment {
    about: ExperimentInfo {
        name: "worn.aged",
        what: "270 TB written to the drive in order, 1 MiB each, incompressible, in 27 days at 40 \
               C, every page write played; secure erase; the same benchmark as on the new drive",
        weight: 1000,
    },
    run: aged,
};

/// Depth from which the article's worn drive fell behind.
const DEEP: f64 = 8.0;
/// Life left by the article.
const LIFE_LEFT: f64 = 0.21;

pub(super) fn plan(setup: &ExperimentSetup<'_>) -> Result<(AgeingPlan, DriveConfig), LabError> {
    let plan = life::plan(setup.seed, LifeEnd::Bytes(WRITTEN))?;
    let config = life::measured(&plan)?;
    Ok((plan, config))
}

pub(super) fn refused(error: ConfigError) -> LabError {
    LabError::refused(error.to_string(), "")
}

/// The new drive alone, and which loads the published life agrees with.
fn new(
    setup: &ExperimentSetup<'_>,
) -> Result<ExperimentOutcome<NewDriveMeasure, NewDriveCurve>, LabError> {
    let (plan, config) = plan(setup)?;
    let mut outcome = ExperimentOutcome::resting_on(plan.manner.rests_on.clone());
    let mut health = DriveSelfChecks::default();
    let make = || Drive::new(config.clone()).map_err(refused);
    let bench = benchmark(
        &make,
        BenchmarkSize::default(),
        setup.seed,
        &mut health,
        setup.stop,
    )?;
    health.keep(&mut outcome);
    // In order, parity is all that is programmed besides the data.
    let dies = f64::from(config.geometry().die_count);
    let in_order = BenchmarkMetric::Iometer((
        DataCompressibility::Random,
        IometerMetric::SequentialWriteMbS,
    ));
    let nand = bench.values[&in_order] * 1e6 * dies / (dies - 1.0);
    let cycles = plan.media.cycles_rated;
    let costs = candidates(&config, cycles, nand, setup.seed, setup.stop)?;
    for (load, candidate) in CandidateLoad::all().into_iter().zip(costs) {
        outcome.text(NewDriveMeasure::Load(load), candidate.name);
        for (cost, value) in [
            (LoadCost::Waf, candidate.waf),
            (LoadCost::LifeLeftPct, candidate.life_left_pct),
            (LoadCost::Days, candidate.days),
        ] {
            outcome.value(NewDriveMeasure::Cost((load, cost)), value);
        }
    }
    // The write amplification and the days that the published life implies.
    let raw = Geometry::new(config.shape).raw_bytes() as f64;
    let programmed = (1.0 - LIFE_LEFT) * f64::from(cycles) * raw;
    let days = programmed / nand / 86_400.0;
    outcome.value(NewDriveMeasure::ImpliedWaf, programmed / WRITTEN as f64);
    outcome.value(NewDriveMeasure::ImpliedDays, days);
    for (number, value) in bench.values {
        outcome.value(NewDriveMeasure::New(number), value);
    }
    for (line, points) in bench.curves {
        outcome.curve(NewDriveCurve::New(line), points);
    }
    Ok(outcome)
}

/// Writes 270 TB, every page write played (or reads the drive to which they were written), and
/// measures it beside a new one.
fn aged(setup: &ExperimentSetup<'_>) -> Result<WornOutcome, LabError> {
    let (plan, config) = plan(setup)?;
    let (drive, aged) = match setup.aged {
        Some(path) => {
            let (drive, about) = left::open(path)?;
            let aged = life::saved(&plan, &drive, &about)?;
            (drive, aged)
        }
        None => life::age(&plan, setup.stop)?,
    };
    if setup.stop.load(Ordering::Relaxed) {
        return Err(stopped());
    }
    let mut health = DriveSelfChecks::default();
    let size = BenchmarkSize::default();
    let (new, worn) = compare(&config, &drive, size, setup.seed, &mut health, setup.stop)?;
    let mut outcome = ExperimentOutcome::resting_on(aged.rests_on.clone());
    health.keep(&mut outcome);
    life_of(&mut outcome, &aged);
    differences(&mut outcome, &new, &worn);
    for (line, points) in new.curves {
        outcome.curve(WornDriveCurve::New(line), points);
    }
    for (line, points) in worn.curves {
        outcome.curve(WornDriveCurve::Worn(line), points);
    }
    Ok(outcome)
}

/// Measures the drive new, and on the array of `drive`.
pub(super) fn compare(
    config: &DriveConfig,
    drive: &Drive,
    size: BenchmarkSize,
    seed: u64,
    health: &mut DriveSelfChecks,
    stop: &AtomicBool,
) -> Result<(BenchmarkResults, BenchmarkResults), LabError> {
    let new = || Drive::new(config.clone()).map_err(refused);
    let worn = || Drive::on_used_array(config.clone(), drive).map_err(refused);
    let new = benchmark(&new, size, seed, health, stop)?;
    Ok((new, benchmark(&worn, size, seed, health, stop)?))
}

fn life_of(outcome: &mut WornOutcome, aged: &WornLife) {
    let contradiction = aged.contradiction.clone().map_or(Ok(()), Err);
    outcome.check("the drive after its life", contradiction);
    outcome.text(WornDriveMeasure::Life, aged.how.as_str());
    for (measure, value) in [
        (WornDriveMeasure::HostTb, aged.host_bytes as f64 / 1e12),
        (WornDriveMeasure::Waf, aged.waf),
        (WornDriveMeasure::CyclesAverage, aged.cycles.average),
        (WornDriveMeasure::CyclesMin, f64::from(aged.cycles.min)),
        (WornDriveMeasure::CyclesMax, f64::from(aged.cycles.max)),
        (WornDriveMeasure::BlocksRetired, aged.blocks_retired as f64),
        (WornDriveMeasure::LifeLeftPct, aged.life_left_pct()),
    ] {
        outcome.value(measure, value);
    }
}

/// Every number of both drives, its change and its gain; the farthest points of the profiles.
fn differences(outcome: &mut WornOutcome, new: &BenchmarkResults, worn: &BenchmarkResults) {
    for number in BenchmarkMetric::all() {
        let values = [new, worn].map(|bench| bench.values.get(&number).copied());
        let [new, worn] = values;
        outcome.value(WornDriveMeasure::New(number), new);
        outcome.value(WornDriveMeasure::Worn(number), worn);
        let values = new.zip(worn);
        let change = values.map(|(new, worn)| worn - new);
        outcome.value(WornDriveMeasure::Change(number), change);
        let gain = values.filter(|(new, _)| *new > 0.0);
        let gain = gain.map(|(new, worn)| 100.0 * (worn / new - 1.0));
        outcome.value(WornDriveMeasure::GainPct(number), gain);
    }
    let gain =
        |trace| WornDriveMeasure::GainPct(BenchmarkMetric::Trace((trace, TracePlaybackMetric::Ms)));
    let slowest = ClientTraceName::all().into_iter();
    let slowest = slowest.filter_map(|trace| outcome.get(gain(trace)));
    let slowest = slowest.fold(f64::MIN, f64::max);
    outcome.value(WornDriveMeasure::TracesGainPctMost, slowest);
    for (data, profiles) in <(DataCompressibility, ServerProfiles)>::all() {
        let sweeps = match profiles {
            ServerProfiles::Databases => [DepthSweep::Database, DepthSweep::Workstation],
            ServerProfiles::Servers => [DepthSweep::FileServer, DepthSweep::WebServer],
        };
        let of_each = sweeps.map(|sweep| gains(new, worn, (data, sweep)));
        let gains = of_each.concat();
        // A profile that was not measured has not gained 0.
        let measured = of_each.iter().all(|gains| !gains.is_empty());
        let least = gains.iter().copied().fold(f64::MAX, f64::min);
        let size = gains.iter().map(|gain| gain.abs()).fold(0.0, f64::max);
        for (gain, value) in [(GainMetric::Least, least), (GainMetric::Size, size)] {
            let measure = WornDriveMeasure::Profiles((data, profiles, gain));
            outcome.value(measure, measured.then_some(value));
        }
    }
}

/// Per cent gained at each depth from [`DEEP`] on; empty when not measured.
pub(super) fn gains(
    new: &BenchmarkResults,
    worn: &BenchmarkResults,
    line: (DataCompressibility, DepthSweep),
) -> Vec<f64> {
    let points = |bench: &BenchmarkResults| bench.curves.get(&line).cloned().unwrap_or_default();
    let pairs = points(new).into_iter().zip(points(worn));
    let deep = pairs.filter(|(new, _)| new.0 >= DEEP);
    deep.map(|(new, worn)| 100.0 * (worn.1 / new.1 - 1.0))
        .collect()
}
