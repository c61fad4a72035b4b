//! What a rest does for a dirty drive that reclaims in the background.

use super::protocol::{SOME, States, play, together};
use super::{DRIVES, SpareSettings, WEIGHTS};
use crate::experiments::host::Host;
use crate::experiments::{Curve, Health, scale};
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;
use std::sync::atomic::AtomicBool;

/// One playback of the heavy trace on the X25-M.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// What was done before it.
    pub after: &'static str,
    /// Per cent of new, with background reclaim.
    pub with_pct: f64,
    /// Per cent of new of the drive as the catalogue has it, without.
    pub without_pct: f64,
    /// Superblocks free before it, with and without.
    pub free_superblocks: [usize; 2],
}

/// Article `spare` on the X25-M, at once and after rests.
#[derive(Clone, Debug, PartialEq)]
pub struct IntelRuns {
    /// What is assumed of it beyond the catalogue.
    pub assumed: String,
    /// In the order played.
    pub rounds: Vec<Round>,
}

/// The two SandForce drives, written at random alone, after rests of different lengths, if they
/// reclaim in the background: not known of them, and not so in the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct Rested {
    /// What is assumed, by drive: 28 % spare, 13 %.
    pub assumed: [String; 2],
    /// Per cent of new over seconds of rest of a drive of full size: 28 % light, 28 % heavy,
    /// 13 % light, 13 % heavy.
    pub kept: [Curve; 4],
    /// 28 % less 13 %, points, over seconds of rest: light, heavy.
    pub difference: [Curve; 2],
}

/// Time between two runs of the article in which the drive, of full size, is left alone: assumed.
const PAUSE: Nanos = Nanos::from_secs(600);

/// Background reclaim as assumed: it goes on until half of the superblocks are free that are spare
/// when every LBA is written.
fn background(name: &str, settings: &SpareSettings) -> Result<String, LabError> {
    let plain = scale::with(name, &[])?.config;
    let superblocks = settings.scale.apply(&plain).shape.blocks_per_plane;
    let spare = f64::from(superblocks) * plain.nominal_op() / (1.0 + plain.nominal_op());
    Ok(format!(
        "ftl.idle_free_superblocks={}",
        (spare / 2.0) as u32
    ))
}

/// The X25-M: the heavy trace full, dirty, and written at random alone; at once, and rested.
pub(super) fn intel(
    settings: &SpareSettings,
    health: &mut Health,
    stop: &AtomicBool,
) -> Result<IntelRuns, LabError> {
    let name = "intel-x25m-g2-160gb";
    let set = background(name, settings)?;
    let mut sides = Vec::new();
    for set in [&[set.as_str()][..], &[]] {
        let states = States::some(name, set, settings, (&SOME, &[8]), stop)?;
        sides.push(rounds(&states, settings, health));
    }
    let rounds = sides[0].iter().zip(&sides[1]).map(|(with, without)| Round {
        after: with.0,
        with_pct: with.1,
        without_pct: without.1,
        free_superblocks: [with.2, without.2],
    });
    Ok(IntelRuns {
        assumed: format!("{set}; {PAUSE} of rest between runs"),
        rounds: rounds.collect(),
    })
}

/// What is done before the heavy trace is played, in order.
const ROUNDS: [&str; 6] = [
    "full",
    "full, rested",
    "dirty",
    "dirty, rested",
    "scattered",
    "scattered, rested",
];

/// Plays the heavy trace on each; what was before, per cent of new, superblocks free.
fn rounds(
    states: &States<'_>,
    settings: &SpareSettings,
    health: &mut Health,
) -> Vec<(&'static str, f64, usize)> {
    let weight = WEIGHTS[1];
    let new = together(&play(&states.new, &weight, settings, health).rates);
    let round = |after: &'static str| {
        let mut host = match after.split(',').next() {
            Some("full") => states.full.clone(),
            Some("dirty") => states.dirty().clone(),
            _ => states.scattered().clone(),
        };
        if after.ends_with("rested") {
            host.rest(scaled(PAUSE.0, &host, settings));
        }
        let rates = play(&host, &weight, settings, health).rates;
        (
            after,
            100.0 * together(&rates) / new,
            host.free_superblocks(),
        )
    };
    ROUNDS.map(round).to_vec()
}

/// What a rest of a drive of full size is for a smaller one: it is done sooner, and waits as long
/// before it begins.
fn scaled(rest_ns: u64, host: &Host<'_>, settings: &SpareSettings) -> Nanos {
    Nanos(host.config().ftl.idle_after.0 + rest_ns / settings.scale.factor())
}

/// Rests, s, of a drive of full size.
const RESTS_S: [u64; 6] = [0, 10, 20, 40, 80, 160];

/// Both SandForce drives after rests.
pub(super) fn rested(
    settings: &SpareSettings,
    health: &mut Health,
    stop: &AtomicBool,
) -> Result<Rested, LabError> {
    let names = [DRIVES[0], DRIVES[1]];
    let mut assumed = [String::new(), String::new()];
    let mut kept = Vec::new();
    for (set, name) in assumed.iter_mut().zip(names) {
        *set = background(name, settings)?;
        let states = States::some(name, &[set.as_str()], settings, (&SOME, &[8]), stop)?;
        for weight in &WEIGHTS {
            let new = together(&play(&states.new, weight, settings, health).rates);
            let mut curve = Curve::new(format!("{name}, {}", weight.name));
            for rest_s in RESTS_S {
                let mut host = states.scattered().clone();
                if rest_s > 0 {
                    host.rest(scaled(rest_s * 1_000_000_000, &host, settings));
                }
                let rates = play(&host, weight, settings, health).rates;
                curve
                    .points
                    .push((rest_s as f64, 100.0 * together(&rates) / new));
            }
            kept.push(curve);
        }
    }
    let difference = [0, 1].map(|weight| Curve {
        name: format!("{}, 28 % less 13 %", WEIGHTS[weight].name),
        points: (kept[weight].points.iter().zip(&kept[2 + weight].points))
            .map(|((x, wide), (_, narrow))| (*x, wide - narrow))
            .collect(),
    });
    let kept = <[Curve; 4]>::try_from(kept).unwrap_or_else(|_| unreachable!("two by two curves"));
    Ok(Rested {
        assumed,
        kept,
        difference,
    })
}
