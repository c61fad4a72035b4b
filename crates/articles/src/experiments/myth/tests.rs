//! The article's order of effects on drives of a 256th of their size, each with what must take
//! the effect away.

use super::production::{self, ProductionHistory, Remedy};
use super::settings::MythSettings;
use super::whole_disk::WholeDiskCurve;
use super::{in_place, run, trim, whole_disk};
use crate::experiments::host::DriveSelfChecks;
use crate::experiments::scale::DriveScale;
use crate::outcome::{ExperimentSetup, level};
use std::sync::atomic::AtomicBool;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn small() -> MythSettings {
    MythSettings {
        seed: 5,
        scale: DriveScale {
            blocks: 4,
            pages: 64,
        },
        drive_writes: 2,
        used_pct: 70,
        probe_commands: 4_000,
    }
}

fn played(remedy: Remedy, health: &mut DriveSelfChecks) -> ProductionHistory {
    production::age(remedy, &small(), health, &GO_ON).unwrap()
}

#[test]
fn the_earlier_drive_decays_and_each_remedy_helps() {
    let mut health = DriveSelfChecks::default();
    let earlier = played(Remedy::Earlier, &mut health);
    let lost = earlier.old_read_mb_s() / earlier.new_read_mb_s();
    assert!(lost < 0.3, "{earlier:?}");
    for remedy in [Remedy::Trim, Remedy::Op, Remedy::Flat] {
        let helped = played(remedy, &mut health);
        assert!(
            helped.old_read_mb_s() > 1.2 * earlier.old_read_mb_s(),
            "{helped:?}"
        );
        // None of them alone is enough.
        assert!(
            helped.old_read_mb_s() < 0.8 * helped.new_read_mb_s(),
            "{helped:?}"
        );
    }
    for remedy in [Remedy::All, Remedy::Bought] {
        let cured = played(remedy, &mut health);
        assert!(
            cured.old_read_mb_s() > 0.9 * cured.new_read_mb_s(),
            "{cured:?}"
        );
    }
    assert!(health.passed(), "{health:?}");
}

/// Every drive of the article checks the flag itself: once it is set, no command is given.
#[test]
fn a_stopped_drive_is_given_nothing() {
    let stop = AtomicBool::new(true);
    let (settings, mut health) = (small(), DriveSelfChecks::default());
    let aged = production::age(Remedy::Earlier, &settings, &mut health, &stop).unwrap();
    production::by_used(&aged, [50, 97], &settings, &mut health, &stop).unwrap();
    in_place::in_place(1, &mut health, &stop).unwrap();
    in_place::logged(1, &mut health, &stop).unwrap();
    trim::cost(&settings, &mut health, &stop).unwrap();
    whole_disk::run(&settings, &mut health, &stop).unwrap();
    assert!(health.drives > 20, "{health:?}");
    assert_eq!(health.commands, 0, "{health:?}");
    let setup = ExperimentSetup {
        seed: 1,
        stop: &stop,
        aged: None,
    };
    assert!(run::run(&settings, &setup).is_err());
}

/// A share in use that the aged drive had itself is not played again, with the same result.
#[test]
fn a_life_that_was_played_is_not_played_again() {
    let mut health = DriveSelfChecks::default();
    let aged = played(Remedy::Earlier, &mut health);
    let at = |settings: &MythSettings, health: &mut DriveSelfChecks| {
        production::by_used(&aged, [70, 70], settings, health, &GO_ON).unwrap()
    };
    let before = health.drives;
    let taken = at(&small(), &mut health);
    assert_eq!(health.drives, before, "{health:?}");
    let other = MythSettings {
        used_pct: 71,
        ..small()
    };
    assert_eq!(taken, at(&other, &mut health));
    assert!(health.drives > before, "{health:?}");
}

#[test]
fn a_tree_map_needs_upkeep_that_grows_and_a_flat_one_none() {
    let mut health = DriveSelfChecks::default();
    let tree = played(Remedy::Tree, &mut health).map_upkeep();
    let flat = played(Remedy::All, &mut health).map_upkeep();
    assert!(flat.iter().all(|(_, share)| *share == 0.0), "{flat:?}");
    let first = tree.iter().find(|(_, share)| *share > 0.0).unwrap();
    assert!(level(&tree, 1).unwrap() > 1.5 * first.1, "{tree:?}");
}

#[test]
fn a_drive_that_is_not_told_of_deletes_fills_up() {
    let mut health = DriveSelfChecks::default();
    let held = |aged: ProductionHistory| aged.ages.last().unwrap().held_pct;
    assert!(held(played(Remedy::Earlier, &mut health)) > 90.0);
    assert!(held(played(Remedy::Trim, &mut health)) < 75.0);
}

#[test]
fn an_update_in_place_rewrites_its_block_and_a_log_does_not() {
    let mut health = DriveSelfChecks::default();
    let rows = in_place::in_place(1, &mut health, &GO_ON).unwrap();
    for row in &rows {
        assert!((row.waf / row.by_arithmetic - 1.0).abs() < 0.03, "{row:?}");
    }
    assert!(
        rows.iter()
            .any(|row| row.by_pages == 256.0 && row.waf > 240.0)
    );
    let logged = in_place::logged(1, &mut health, &GO_ON).unwrap();
    for pair in logged.windows(2) {
        assert!(pair[1].1 > pair[0].1, "{pair:?}");
    }
    assert!(logged.iter().all(|point| point.1 < 10.0), "{logged:?}");
    assert!(health.passed(), "{health:?}");
}

#[test]
fn a_trim_that_is_not_queued_costs_reads() {
    let mut health = DriveSelfChecks::default();
    let rows = trim::cost(&small(), &mut health, &GO_ON).unwrap();
    for pair in rows.windows(2) {
        assert!(pair[1].read_iops < pair[0].read_iops, "{rows:?}");
    }
    assert!(rows[2].read_p999_ms > rows[1].read_p999_ms, "{rows:?}");
    assert!(health.passed(), "{health:?}");
}

#[test]
fn random_writes_are_flat_over_the_disk_until_it_is_full() {
    let mut health = DriveSelfChecks::default();
    let disk = whole_disk::run(&small(), &mut health, &GO_ON).unwrap();
    let of = |pass: WholeDiskCurve| &disk.iter().find(|line| line.0 == pass).unwrap().1;
    assert!(whole_disk::flatness(of(WholeDiskCurve::Write)) > 0.9);
    assert!(whole_disk::flatness(of(WholeDiskCurve::Read)) > 0.9);
    let last = |pass| level(of(pass), 10).unwrap();
    assert!(
        last(WholeDiskCurve::Steady) < 0.9 * last(WholeDiskCurve::Write),
        "{disk:?}"
    );
    assert!(health.passed(), "{health:?}");
}
