//! The article's order of effects, on drives of a 256th of their size.

use super::protocol::{self, DRIVES, SpareSettings};
use super::rest::{self, X25mState};
use super::run::run;
use crate::experiments::host::DriveSelfChecks;
use crate::experiments::scale::DriveScale;
use crate::outcome::{ExperimentSetup, level};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

static GO: AtomicBool = AtomicBool::new(false);

fn small() -> SpareSettings {
    SpareSettings {
        seed: 3,
        scale: DriveScale {
            blocks: 8,
            pages: 32,
        },
        traces: 3,
    }
}

#[test]
fn spare_area_matters_when_scattered_and_not_when_full() {
    let mut health = DriveSelfChecks::default();
    let [wide, narrow] = [DRIVES[0], DRIVES[1]]
        .map(|name| protocol::drive_runs(name, &small(), &mut health, &GO).unwrap());
    for (wide, narrow) in wide.kept.iter().zip(&narrow.kept) {
        assert!(
            (wide.full_pct - narrow.full_pct).abs() < 1.0,
            "{wide:?} {narrow:?}"
        );
        assert!(
            wide.scattered_pct > narrow.scattered_pct + 1.0,
            "{wide:?} {narrow:?}"
        );
        assert!(wide.scattered_pct < wide.full_pct, "{wide:?}");
        // A pass in order with some random writes is milder than random writes alone.
        assert!(narrow.dirty_pct > narrow.scattered_pct, "{narrow:?}");
    }
    let [pass, scattered] = narrow.dirty_waf;
    assert!(1.0 < pass && pass < scattered, "{narrow:?}");
    assert!(health.passed(), "{health:?}");
}

/// The Barefoot keeps a place for every address from the first day and reads it; the others know
/// what holds nothing, and lose that when they are full.
#[test]
fn filling_changes_only_a_drive_that_knows_what_is_free() {
    let mut health = DriveSelfChecks::default();
    let [intel, barefoot] = [DRIVES[2], DRIVES[3]]
        .map(|name| protocol::drive_runs(name, &small(), &mut health, &GO).unwrap());
    for kept in &barefoot.kept {
        assert!((kept.full_pct - 100.0).abs() < 2.0, "{kept:?}");
    }
    for kept in &intel.kept {
        assert!(kept.full_pct < 98.0, "{kept:?}");
        // And that is reads alone: beside a drive with a system on it nothing is lost.
        assert!(kept.full_of_installed_pct > 98.0, "{kept:?}");
    }
    assert!(health.passed(), "{health:?}");
}

#[test]
fn the_second_pass_covers_every_address_and_has_its_share_of_random_writes() {
    let states = protocol::SpareDriveStates::some(DRIVES[1], &[], &small(), &[], &[], &GO).unwrap();
    let user = states.full.config().user_bytes;
    for share in [0, 85, 500] {
        let mut rng = ssdlab_ssd::rng::Rng::named(1, "test");
        let writes = protocol::second_pass(&states.full, share, &mut rng);
        let slot = states.full.config().shape.slot_bytes;
        let (random, ordered): (Vec<&ssdlab_ssd::Command>, Vec<&ssdlab_ssd::Command>) =
            writes.iter().partition(|w| w.len == slot);
        let bytes = |of: &[&ssdlab_ssd::Command]| of.iter().map(|w| u64::from(w.len)).sum::<u64>();
        let last = ordered
            .windows(2)
            .all(|w| w[0].offset + u64::from(w[0].len) == w[1].offset);
        assert!(last && bytes(&ordered).abs_diff(user) <= u64::from(slot));
        let found = 1000.0 * bytes(&random) as f64 / (bytes(&random) + bytes(&ordered)) as f64;
        assert!((found - share as f64).abs() < 1.0, "{found} for {share}");
    }
}

#[test]
fn the_intel_drive_recovers_in_a_rest_only_with_background_reclaim() {
    let mut health = DriveSelfChecks::default();
    let intel = rest::intel(&small(), &mut health, &GO).unwrap();
    let of = |rested: bool| {
        let round = |round: &&rest::RestRound| {
            round.state == X25mState::Scattered && round.rested == rested
        };
        *intel.iter().find(round).unwrap()
    };
    let (at_once, rested) = (of(false), of(true));
    assert!(rested.with_pct > at_once.with_pct + 5.0, "{intel:?}");
    let drained = rest::intel_drained(&small(), &mut health, &GO).unwrap();
    assert!(rested.without_pct < drained + 3.0, "{drained} {intel:?}");
    assert!(health.passed(), "{health:?}");
}

#[test]
fn only_random_data_fills_the_flash() {
    let mut health = DriveSelfChecks::default();
    let fills = protocol::compress(&small(), &mut health, &GO).unwrap();
    assert!(fills[0].flash_used > 0.85, "{fills:?}");
    assert!(fills[0].waf > 1.0, "{fills:?}");
    for pair in fills.windows(2) {
        assert!(pair[1].flash_used < 0.6 * pair[0].flash_used, "{fills:?}");
        assert!(pair[1].waf < 0.6 * pair[0].waf, "{fills:?}");
    }
    assert!(health.passed(), "{health:?}");
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let once = || {
        let mut health = DriveSelfChecks::default();
        let runs = protocol::drive_runs(DRIVES[1], &small(), &mut health, &GO).unwrap();
        format!("{runs:?} {health:?}")
    };
    assert_eq!(once(), once());
}

#[test]
fn with_background_reclaim_a_rest_helps_the_light_trace_first() {
    let mut health = DriveSelfChecks::default();
    let rested = rest::rested(&small(), &mut health, &GO).unwrap();
    let [light, heavy] = &rested;
    let apart = |(light, heavy): (&(f64, f64), &(f64, f64))| light.1 < 1.0 && heavy.1 > 2.0;
    assert!(light.iter().zip(heavy).any(apart), "{rested:?}");
    assert!(level(heavy, 1).unwrap().abs() < 2.0, "{rested:?}");
    assert!(health.passed(), "{health:?}");
}

/// A run looked between drives only whether to stop, so Ctrl-C took seconds.
#[test]
fn a_run_that_is_stopped_ends_within_a_chunk_of_commands() {
    let stop = AtomicBool::new(false);
    let settings = SpareSettings {
        traces: 40,
        ..small()
    };
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let setup = ExperimentSetup {
                seed: 3,
                stop: &stop,
                aged: None,
            };
            run(&settings, &setup).map(|_| ())
        });
        std::thread::sleep(Duration::from_millis(300));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let asked = Instant::now();
        let error = run.join().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "stopped");
        assert!(
            asked.elapsed() < Duration::from_secs(20),
            "{:?}",
            asked.elapsed()
        );
    });
}
