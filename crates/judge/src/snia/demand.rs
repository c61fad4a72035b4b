//! Demand intensity, and the enterprise composite workload: IOPS and response time by demand.

use super::load::{SniaDemand, SniaLoad, SniaSizes};
use super::result::{ResponseHistogram, SniaPoint};
use super::rig::SniaRig;
use super::rounds::{IOPS, until_steady};
use super::short::SniaFindings;
use ssdlab_base::LabError;
use std::cmp::Reverse;

/// Threads and depths, each with each.
pub const DEMANDS: [u32; 7] = [32, 16, 8, 6, 4, 2, 1];
/// Response time that the largest useful demand may have, ns.
const MEAN_MAX_NS: f64 = 5e6;
const MINUTE_S: f64 = 60.0;
const MOST: SniaDemand = SniaDemand::new(32, 32);

/// Demand intensity: 8 KiB, 65 % reads (the specification leaves both to the user).
///
/// # Errors
/// When the drive fails.
pub fn demand_intensity(rig: &mut SniaRig<'_>) -> Result<SniaFindings, LabError> {
    by_demand(rig, 65, SniaSizes::One(8 << 10))
}

/// Enterprise composite workload: JESD219's sizes and skew, 40 % reads.
///
/// # Errors
/// When the drive fails.
pub fn composite(rig: &mut SniaRig<'_>) -> Result<SniaFindings, LabError> {
    by_demand(rig, 40, SniaSizes::Composite)
}

/// Random writes to steady state; then rounds of 49 demands, from the most commands outstanding to
/// the fewest, after five minutes of writes; then the response times at three of them.
fn by_demand(
    rig: &mut SniaRig<'_>,
    read_pct: u8,
    sizes: SniaSizes,
) -> Result<SniaFindings, LabError> {
    rig.purge()?;
    let load = |demand: SniaDemand, read_pct: u8| SniaLoad {
        sizes,
        ..SniaLoad::random(demand, read_pct, 4096)
    };
    let write = load(MOST, 0);
    let before = write.lasting(30.0 * MINUTE_S);
    let mut variables = until_steady(rig, "precondition", None, &[before], &[(before, IOPS)])?;
    if rig.stopped() {
        return Ok((variables, Vec::new(), Vec::new()));
    }
    let loads: Vec<SniaLoad> = demands().map(|demand| load(demand, read_pct)).collect();
    let most = load(MOST, read_pct);
    let five = write.lasting(5.0 * MINUTE_S);
    variables.extend(until_steady(
        rig,
        "round",
        Some(&five),
        &loads,
        &[(most, IOPS)],
    )?);
    let mut histograms = Vec::new();
    for (name, demand) in chosen(&last_round(&rig.rows)) {
        if rig.stopped() {
            break;
        }
        rig.round("histogram-before", 1, &[write.lasting(60.0 * MINUTE_S)])?;
        let part = format!("histogram-{name}");
        let long = load(demand, read_pct).lasting(10.0 * MINUTE_S);
        let histogram = rig.histogram(&part, &long)?;
        histograms.extend(histogram.map(|h| ResponseHistogram {
            title: format!("{name}: {}", h.title),
            ..h
        }));
    }
    let note = format!(
        "Max is the demand of most IOPS with a mean response time below {} ms; mid is the one \
         whose IOPS are nearest to the middle between it and min, one thread of depth 1.",
        MEAN_MAX_NS / 1e6
    );
    Ok((variables, histograms, vec![note]))
}

/// Every pair, from the most commands outstanding to the fewest.
fn demands() -> impl Iterator<Item = SniaDemand> {
    let mut demands: Vec<SniaDemand> = DEMANDS
        .into_iter()
        .flat_map(|threads| DEMANDS.map(|depth| SniaDemand::new(threads, depth)))
        .collect();
    demands.sort_by_key(|demand| Reverse((demand.threads * demand.depth, demand.threads)));
    demands.into_iter()
}

/// The rows of the last round.
pub fn last_round(rows: &[SniaPoint]) -> Vec<SniaPoint> {
    let of_round = rows.iter().filter(|row| row.part == "round");
    let last = of_round.clone().map(|row| row.round).max();
    of_round
        .filter(|row| Some(row.round) == last)
        .cloned()
        .collect()
}

/// The three demands whose response times are shown.
fn chosen(rows: &[SniaPoint]) -> Vec<(&'static str, SniaDemand)> {
    let quick = || rows.iter().filter(|row| row.mean_ns < MEAN_MAX_NS);
    let max = quick().max_by(|a, b| a.iops.total_cmp(&b.iops));
    let min = rows.iter().find(|row| row.outstanding() == 1);
    let (Some(max), Some(min)) = (max, min) else {
        return Vec::new();
    };
    let middle = f64::midpoint(max.iops, min.iops);
    let distance = |row: &&SniaPoint| (row.iops - middle).abs();
    let mid = quick().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let mid = mid.unwrap_or(min);
    [("max", max), ("mid", mid), ("min", min)]
        .map(|(name, row)| (name, SniaDemand::new(row.threads, row.depth)))
        .to_vec()
}
