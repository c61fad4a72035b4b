//! The article's order of effects, on drives of a 256th of their size.

use super::*;

fn small() -> SpareSettings {
    SpareSettings {
        seed: 3,
        scale: Scale {
            blocks: 8,
            pages: 32,
        },
        traces: 3,
    }
}

#[test]
fn spare_area_matters_when_dirty_and_not_when_full() {
    let mut health = Health::default();
    let [wide, narrow] = [DRIVES[0], DRIVES[1]]
        .map(|name| protocol::drive_runs(name, &small(), &mut health).unwrap());
    for (wide, narrow) in wide.kept.iter().zip(&narrow.kept) {
        assert!(
            (wide.full_pct - narrow.full_pct).abs() < 1.0,
            "{wide:?} {narrow:?}"
        );
        assert!(
            wide.dirty_pct > narrow.dirty_pct + 1.0,
            "{wide:?} {narrow:?}"
        );
        assert!(wide.dirty_pct < wide.full_pct, "{wide:?}");
        // Pauses hide some of what the drive has to do, or the metric of time at work means
        // nothing.
        assert!(narrow.with_pauses_pct.1 > narrow.dirty_pct, "{narrow:?}");
    }
    assert!(health.passed(), "{health:?}");
}

#[test]
fn filling_a_drive_that_uses_no_free_space_changes_nothing() {
    let mut health = Health::default();
    let barefoot = protocol::drive_runs(DRIVES[3], &small(), &mut health).unwrap();
    for kept in &barefoot.kept {
        assert!((kept.full_pct - 100.0).abs() < 2.0, "{kept:?}");
    }
    assert!(health.passed(), "{health:?}");
}

#[test]
fn the_intel_drive_recovers_in_a_rest_only_with_background_reclaim() {
    let mut health = Health::default();
    let intel = rest::intel(&small(), &mut health).unwrap();
    let [_, dirty, rested, _] = &intel.rounds[..] else {
        panic!("{intel:?}")
    };
    assert!(rested.with_pct > dirty.with_pct + 5.0, "{intel:?}");
    assert!(rested.without_pct < dirty.without_pct + 3.0, "{intel:?}");
    assert!(health.passed(), "{health:?}");
}

#[test]
fn only_random_data_fills_the_flash() {
    let mut health = Health::default();
    let fills = protocol::compress(&small(), &mut health).unwrap();
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
        let mut health = Health::default();
        let runs = protocol::drive_runs(DRIVES[1], &small(), &mut health).unwrap();
        format!("{runs:?} {health:?}")
    };
    assert_eq!(once(), once());
}
