//! What a rest does for a dirty drive that reclaims in the background.

use super::protocol::{DRIVES, SOME_ALONE, SpareDriveStates, SpareSettings, WEIGHTS, play};
use crate::experiments::host::{DriveSelfChecks, ExperimentHost};
use crate::experiments::scale;
use crate::outcome::CurvePoints;
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;
use std::sync::atomic::AtomicBool;

/// State of the X25-M before the heavy trace is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum X25mState {
    Full,
    Dirty,
    Scattered,
}

/// One playback of the heavy trace on the X25-M.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RestRound {
    pub state: X25mState,
    /// After a rest, or at once.
    pub rested: bool,
    /// Per cent of new, with background reclaim: assumed, not in the catalogue.
    pub with_pct: f64,
    /// Per cent of new of the drive as the catalogue has it, without.
    pub without_pct: f64,
}

/// Time between two runs of the article in which the drive, of full size, is left alone: assumed.
const PAUSE: Nanos = Nanos::from_secs(600);

/// Background reclaim as assumed: it goes on until half of the superblocks are free that are spare
/// when every LBA is written; scaling keeps that share.
fn background(name: &str) -> Result<String, LabError> {
    let plain = scale::with(name, &[])?.config;
    let spare =
        f64::from(plain.shape.blocks_per_plane) * plain.nominal_op() / (1.0 + plain.nominal_op());
    let free = (spare / 2.0) as u32;
    Ok(format!("ftl.idle_free_superblocks={free}"))
}

/// The X25-M: the heavy trace full, dirty, and written at random alone; at once, and rested.
pub(super) fn intel(
    settings: &SpareSettings,
    health: &mut DriveSelfChecks,
    stop: &AtomicBool,
) -> Result<Vec<RestRound>, LabError> {
    let name = DRIVES[2];
    let set = background(name)?;
    let mut runs = Vec::new();
    for set in [&[set.as_str()][..], &[]] {
        let states = SpareDriveStates::some(name, set, settings, &SOME_ALONE, &[8], stop)?;
        runs.push(rounds(&states, settings, health));
    }
    let pairs = runs[0].iter().zip(&runs[1]);
    let round = |(with, without): (&(X25mState, bool, f64), &(X25mState, bool, f64))| RestRound {
        state: with.0,
        rested: with.1,
        with_pct: with.2,
        without_pct: without.2,
    };
    Ok(pairs.map(round).collect())
}

/// Plays the heavy trace in each state; per cent of new.
fn rounds(
    states: &SpareDriveStates<'_>,
    settings: &SpareSettings,
    health: &mut DriveSelfChecks,
) -> Vec<(X25mState, bool, f64)> {
    let weight = WEIGHTS[1];
    let new = play(&states.new, &weight, settings, health);
    let mut results = Vec::new();
    for (state, before) in [
        (X25mState::Full, &states.full),
        (X25mState::Dirty, states.dirty()),
        (X25mState::Scattered, states.scattered()),
    ] {
        for rested in [false, true] {
            let mut host = before.clone();
            if rested {
                host.rest(scaled(PAUSE.0, &host, settings));
            }
            let rate = play(&host, &weight, settings, health);
            results.push((state, rested, 100.0 * rate / new));
        }
    }
    results
}

/// Per cent of new of the X25-M without background reclaim, written at random alone, once the
/// programs booked have ended: a pause too short for idle work.
#[cfg(test)]
pub(super) fn intel_drained(
    settings: &SpareSettings,
    health: &mut DriveSelfChecks,
    stop: &AtomicBool,
) -> Result<f64, LabError> {
    let states = SpareDriveStates::some(DRIVES[2], &[], settings, &SOME_ALONE, &[8], stop)?;
    let new = play(&states.new, &WEIGHTS[1], settings, health);
    let mut host = states.scattered().clone();
    host.rest(Nanos(host.config().ftl.idle_after.0 / 2));
    Ok(100.0 * play(&host, &WEIGHTS[1], settings, health) / new)
}

/// The rest of a smaller drive that stands for `rest_ns` of a drive of full size: reclaim waits as
/// long before it begins, and is done sooner.
fn scaled(rest_ns: u64, host: &ExperimentHost<'_>, settings: &SpareSettings) -> Nanos {
    Nanos(host.config().ftl.idle_after.0 + rest_ns / settings.scale.factor())
}

/// Rests, s, of a drive of full size.
const RESTS_S: [u64; 6] = [0, 10, 20, 40, 80, 160];

/// The SandForce drives, written at random alone, after rests, if they reclaim in the background:
/// not known of them, and not so in the catalogue. 28 % less 13 %, points of new performance, over
/// seconds of rest of a drive of full size: light, heavy.
pub(super) fn rested(
    settings: &SpareSettings,
    health: &mut DriveSelfChecks,
    stop: &AtomicBool,
) -> Result<[CurvePoints; 2], LabError> {
    let mut kept: Vec<CurvePoints> = Vec::new();
    for name in &DRIVES[..2] {
        let set = background(name)?;
        let states =
            SpareDriveStates::some(name, &[set.as_str()], settings, &SOME_ALONE, &[8], stop)?;
        for weight in &WEIGHTS {
            let new = play(&states.new, weight, settings, health);
            let mut points = Vec::new();
            for rest_s in RESTS_S {
                let mut host = states.scattered().clone();
                if rest_s > 0 {
                    host.rest(scaled(rest_s * 1_000_000_000, &host, settings));
                }
                let rate = play(&host, weight, settings, health);
                points.push((rest_s as f64, 100.0 * rate / new));
            }
            kept.push(points);
        }
    }
    Ok([0, 1].map(|weight| {
        let both = kept[weight].iter().zip(&kept[2 + weight]);
        both.map(|((x, wide), (_, narrow))| (*x, wide - narrow))
            .collect()
    }))
}
