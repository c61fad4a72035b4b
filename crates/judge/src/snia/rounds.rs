//! Rounds until every tracked variable is in steady state.

use super::load::SniaLoad;
use super::result::{SniaPoint, TrackingVariable};
use super::rig::{SniaRig, block_bytes};
use ssdlab_base::LabError;
use ssdlab_bench::analysis::steady::ROUNDS_MAX;
use ssdlab_bench::analysis::{SteadyState, steady_state_all};

/// A number of a row that a test follows: its column in `rounds.csv`, and how it is read.
pub type TrackedColumn = (&'static str, fn(&SniaPoint) -> f64);

/// Commands per second.
pub const IOPS: TrackedColumn = ("iops", |row| row.iops);
/// Bytes per second.
pub const THROUGHPUT: TrackedColumn = ("bytes_per_second", |row| row.bytes_per_second);
/// Mean response time.
pub const MEAN: TrackedColumn = ("mean_ns", |row| row.mean_ns);

/// Repeats `loads`, after `before` each time, until the variables taken from the loads `tracked`
/// are all steady over the same five rounds; 25 rounds at most. A round that was cut off counts for
/// nothing.
///
/// # Errors
/// When the drive fails.
pub fn until_steady(
    rig: &mut SniaRig<'_>,
    part: &str,
    before: Option<&SniaLoad>,
    loads: &[SniaLoad],
    tracked: &[(SniaLoad, TrackedColumn)],
) -> Result<Vec<TrackingVariable>, LabError> {
    let mut steady: Option<Vec<SteadyState>> = None;
    for round in 1..=ROUNDS_MAX {
        if let Some(load) = before {
            rig.round(&format!("{part}-before"), round, &[*load])?;
        }
        rig.round(part, round, loads)?;
        if rig.stopped() {
            break;
        }
        let values: Vec<Vec<f64>> = tracked
            .iter()
            .map(|(load, (_, value))| rig.values(part, load, *value))
            .collect();
        let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        steady = steady_state_all(&values);
        let attained = |all: &Vec<SteadyState>| all.iter().all(|one| one.attained);
        if steady.as_ref().is_some_and(attained) {
            break;
        }
    }
    let mut steady = steady.map(|states| states.into_iter().map(Some).collect::<Vec<_>>());
    let variable =
        |(index, (load, (column, _))): (usize, &(SniaLoad, TrackedColumn))| TrackingVariable {
            name: format!("{} of {}", words(column), load.what()),
            part: part.to_owned(),
            column: (*column).to_owned(),
            read_pct: load.read_pct,
            block_bytes: block_bytes(load),
            outstanding: load.threads * load.depth,
            steady: steady.as_mut().and_then(|states| states[index].take()),
        };
    Ok(tracked.iter().enumerate().map(variable).collect())
}

fn words(column: &str) -> &'static str {
    match column {
        "iops" => "IOPS",
        "bytes_per_second" => "throughput",
        _ => "mean response time",
    }
}
