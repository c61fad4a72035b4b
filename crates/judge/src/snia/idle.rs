//! Write saturation, and host idle recovery.

use super::load::SniaLoad;
use super::result::TrackingVariable;
use super::rig::{SniaRig, block_bytes};
use super::rounds::{IOPS, until_steady};
use super::short::SniaFindings;
use ssdlab_base::LabError;
use ssdlab_bench::analysis::steady_state;

const KIB: u32 = 1024;
/// The end of write saturation: minutes of a day.
const DAY_MINUTES: usize = 24 * 60;
/// Minutes between the samples that decide on its steady state.
const APART: usize = 30;
/// Capacities written at most.
const CAPACITIES: u64 = 4;
/// Waits of host idle recovery, s.
pub const WAITS_S: [u32; 5] = [5, 10, 15, 25, 50];
/// Repetitions of each, and s of writes.
const TIMES: usize = 360;
const WRITES_S: f64 = 5.0;
/// Minutes of a round before the waits, and of the baseline after them.
const HALF_HOUR_S: f64 = 30.0 * 60.0;
/// Loads that are handed over at a time.
const BATCH: usize = 60;

/// 4 KiB random writes from a purged drive on, minute by minute.
///
/// # Errors
/// When the drive fails.
pub fn write_saturation(rig: &mut SniaRig<'_>) -> Result<SniaFindings, LabError> {
    rig.purge()?;
    let load = SniaLoad::random(rig.class.demand(), 0, 4 * KIB);
    let capacity = rig.drive.config.user_bytes;
    let (mut written, mut steady, mut why) = (0, None, "24 hours have passed".to_owned());
    for minute in 1..=DAY_MINUTES {
        rig.round("minute", minute, &[load])?;
        if rig.stopped() {
            why = "stopped".to_owned();
            break;
        }
        written += rig.rows.last().map_or(0, |row| row.bytes);
        let samples = rig.values("minute", &load, IOPS.1);
        let samples: Vec<f64> = samples.into_iter().step_by(APART).collect();
        steady = steady_state(&samples);
        if steady.as_ref().is_some_and(|found| found.attained) {
            why = format!("five minutes, {APART} minutes apart, are in steady state");
            break;
        }
        if written >= CAPACITIES * capacity {
            why = format!("{CAPACITIES} times the capacity have been written");
            break;
        }
    }
    let tracked = TrackingVariable {
        name: format!("IOPS of every {APART}th minute"),
        part: "minute".into(),
        column: IOPS.0.into(),
        read_pct: 0,
        block_bytes: block_bytes(&load),
        outstanding: load.threads * load.depth,
        steady,
    };
    let ratio = written as f64 / capacity as f64;
    let note = format!("Ended because {why}; {ratio:.2} capacities were written.");
    Ok((vec![tracked], Vec::new(), vec![note]))
}

/// 4 KiB random writes to steady state; then 5 s of writes and a wait, 360 times for each wait, and
/// half an hour without waits after each.
///
/// # Errors
/// When the drive fails.
pub fn host_idle_recovery(rig: &mut SniaRig<'_>) -> Result<SniaFindings, LabError> {
    rig.purge()?;
    let write = SniaLoad::random(rig.class.demand(), 0, 4 * KIB);
    let half_hour = write.lasting(HALF_HOUR_S);
    let tracked = [(half_hour, IOPS)];
    let variables = until_steady(rig, "precondition", None, &[half_hour], &tracked)?;
    for wait in WAITS_S {
        let burst = write.lasting(WRITES_S).after(f64::from(wait));
        bursts(rig, &format!("wait-{wait}s"), burst)?;
        bursts(
            rig,
            &format!("baseline-after-{wait}s"),
            write.lasting(WRITES_S),
        )?;
    }
    Ok((variables, Vec::new(), Vec::new()))
}

fn bursts(rig: &mut SniaRig<'_>, part: &str, burst: SniaLoad) -> Result<(), LabError> {
    for batch in 0..TIMES / BATCH {
        if rig.stopped() {
            break;
        }
        let before = rig.rows.len();
        rig.round(part, 1, &[burst; BATCH])?;
        for (at, row) in rig.rows[before..].iter_mut().enumerate() {
            row.round = batch * BATCH + at + 1;
        }
    }
    Ok(())
}
