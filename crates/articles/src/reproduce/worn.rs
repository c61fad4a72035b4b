//! Article worn: a drive of 120 GB, new and after 270 TB, as measures and curves.

use super::experiment::{Outcome, Setup, stopped};
use super::spare::{curve, health};
use crate::experiments::Health;
use crate::experiments::worn::bench::{DATA, Size};
use crate::experiments::worn::loads::{Candidate, candidates};
use crate::experiments::worn::{self, Benchmark, TRACES, WRITTEN, WornResult, benchmark, life};
use ssdlab_base::LabError;
use ssdlab_life::age::{Plan, Until, left};
use ssdlab_ssd::geometry::Geometry;
use ssdlab_ssd::{Drive, DriveConfig};
use std::sync::atomic::Ordering;

/// Depth from which the article's worn drive fell behind.
const DEEP: f64 = 8.0;
/// Life left that the article tells of.
const LIFE_LEFT: f64 = 0.21;

fn plan(setup: &Setup<'_>) -> Result<(Plan, DriveConfig), LabError> {
    let plan = life::plan(setup.seed, Until::Bytes(WRITTEN))?;
    let config = life::measured(&plan)?;
    Ok((plan, config))
}

fn new_drive(config: &DriveConfig) -> Result<Drive, LabError> {
    let refused = |error: ssdlab_ssd::ConfigError| LabError::refused(error.to_string(), "");
    Drive::new(config.clone()).map_err(refused)
}

/// The new drive alone, and which loads the published life agrees with.
///
/// # Errors
/// When the drive does not fit in memory, or the run was stopped.
pub fn new(setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let (plan, config) = plan(setup)?;
    let mut outcome = Outcome {
        rests_on: plan.manner.rests_on.clone(),
        ..Outcome::default()
    };
    let mut found = Health::default();
    let make = || new_drive(&config);
    let bench = benchmark(&make, Size::default(), setup.seed, &mut found, setup.stop)?;
    keep(&mut outcome, "new", &bench);
    health(&mut outcome, &found);
    // In order, parity is all that is programmed besides the data.
    let dies = f64::from(config.geometry().die_count);
    let host = bench.values["random_sequential_write_mb_s"] * 1e6;
    let nand = host * dies / (dies - 1.0);
    let cycles = plan.media.cycles_rated;
    let all = candidates(&config, cycles, nand, setup.seed, setup.stop)?;
    loads(&mut outcome, &all);
    // What the published life says of the write amplification, and that of the days.
    let raw = Geometry::new(config.shape).raw_bytes() as f64;
    let programmed = (1.0 - LIFE_LEFT) * f64::from(cycles) * raw;
    outcome.value("implied_waf", programmed / WRITTEN as f64);
    outcome.value("implied_days", programmed / nand / 86_400.0);
    Ok(outcome)
}

fn loads(outcome: &mut Outcome, all: &[Candidate]) {
    for (n, candidate) in all.iter().enumerate() {
        let name = candidate.name.to_owned();
        outcome.texts.insert(format!("load_{n}"), name);
        outcome.value(format!("load_{n}_waf"), candidate.waf);
        outcome.value(format!("load_{n}_life_left_pct"), candidate.life_left_pct);
        outcome.value(format!("load_{n}_days"), candidate.days);
    }
}

fn keep(outcome: &mut Outcome, when: &str, bench: &Benchmark) {
    for (name, value) in &bench.values {
        outcome.value(format!("{when}_{name}"), *value);
    }
    for (name, found) in &bench.curves {
        curve(outcome, format!("{when}_{name}"), found);
    }
}

/// Lives 270 TB, every page write played (or reads the drive that did), and measures it beside a
/// new one.
///
/// # Errors
/// When the drive does not fit in memory, the saved drive is another, or the run was stopped.
pub fn aged(setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let (plan, config) = plan(setup)?;
    let (drive, aged) = match setup.aged {
        Some(path) => {
            let (drive, about) = left::open(path)?;
            let aged = life::saved(&plan, &drive, &about)?;
            (drive, aged)
        }
        None => worn::age(&plan, setup.stop)?,
    };
    if setup.stop.load(Ordering::Relaxed) {
        return Err(stopped());
    }
    let found = worn::compare(
        &config,
        (&drive, aged),
        Size::default(),
        setup.seed,
        setup.stop,
    )?;
    let mut outcome = Outcome {
        rests_on: found.aged.rests_on.clone(),
        ..Outcome::default()
    };
    keep(&mut outcome, "new", &found.new);
    keep(&mut outcome, "worn", &found.worn);
    health(&mut outcome, &found.health);
    life_of(&mut outcome, &found);
    differences(&mut outcome, &found);
    Ok(outcome)
}

fn life_of(outcome: &mut Outcome, found: &WornResult) {
    let aged = &found.aged;
    let contradiction = aged.contradiction.clone().map_or(Ok(()), Err);
    outcome.check("the drive after its life", contradiction);
    outcome.texts.insert("life".into(), aged.how.clone());
    outcome.value("host_tb", aged.host_bytes as f64 / 1e12);
    outcome.value("waf", aged.waf);
    outcome.value("cycles_average", aged.cycles.average);
    outcome.value("cycles_min", f64::from(aged.cycles.min));
    outcome.value("cycles_max", f64::from(aged.cycles.max));
    outcome.value("blocks_retired", aged.blocks_retired as f64);
    outcome.value("life_left_pct", aged.life_left_pct());
}

/// `gain_pct_NAME` and `change_NAME` of every number; the farthest points of the profiles.
fn differences(outcome: &mut Outcome, found: &WornResult) {
    for (name, new) in &found.new.values {
        let worn = found.worn.values[name];
        outcome.value(format!("change_{name}"), worn - new);
        if *new > 0.0 {
            outcome.value(format!("gain_pct_{name}"), 100.0 * (worn / new - 1.0));
        }
    }
    let slowest = TRACES.iter().filter_map(|trace| {
        outcome
            .values
            .get(&format!("gain_pct_trace_{}_ms", trace.name))
    });
    let slowest = slowest.copied().fold(f64::MIN, f64::max);
    outcome.value("traces_gain_pct_most", slowest);
    for (data, _) in DATA {
        for profiles in [["database", "workstation"], ["file_server", "web_server"]] {
            let of_each = profiles.map(|profile| gains(found, &format!("{data}_{profile}")));
            if of_each.iter().any(Vec::is_empty) {
                // Not measured; nothing is not a gain of 0.
                continue;
            }
            let gains = of_each.concat();
            let least = gains.iter().copied().fold(f64::MAX, f64::min);
            let most = gains.iter().map(|gain| gain.abs()).fold(0.0, f64::max);
            outcome.value(format!("{data}_{}_gain_pct_least", profiles[0]), least);
            outcome.value(format!("{data}_{}_gain_pct_size", profiles[0]), most);
        }
    }
}

/// Per cent gained at each depth from [`DEEP`] on.
fn gains(found: &WornResult, name: &str) -> Vec<f64> {
    let points = |bench: &Benchmark| bench.curves.get(name).map(|curve| curve.points.clone());
    let (Some(new), Some(worn)) = (points(&found.new), points(&found.worn)) else {
        return Vec::new();
    };
    let pairs = new.iter().zip(&worn).filter(|(new, _)| new.0 >= DEEP);
    pairs
        .map(|(new, worn)| 100.0 * (worn.1 / new.1 - 1.0))
        .collect()
}
