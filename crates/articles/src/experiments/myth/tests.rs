//! The article's order of effects on drives of a 256th of their size, each with what must take
//! the effect away.

use super::*;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn small() -> MythSettings {
    MythSettings {
        seed: 5,
        scale: Scale {
            blocks: 4,
            pages: 64,
        },
        drive_writes: 2,
        used_pct: 70,
        probe_commands: 4_000,
        complete: true,
    }
}

fn lived(name: &str, health: &mut Health) -> Aged {
    let remedy = REMEDIES.iter().find(|remedy| remedy.name == name).unwrap();
    production::age(remedy, &small(), health, &GO_ON).unwrap()
}

#[test]
fn the_earlier_drive_decays_and_each_remedy_helps() {
    let mut health = Health::default();
    let earlier = lived("earlier drive", &mut health);
    let lost = earlier.old_read_mb_s() / earlier.new_read_mb_s();
    assert!(lost < 0.3, "{earlier:?}");
    for name in [
        "TRIM alone",
        "32 % spare alone",
        "flat map alone",
        "reads first alone",
    ] {
        let helped = lived(name, &mut health);
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
    for name in ["all", "DC S3700 without TRIM"] {
        let cured = lived(name, &mut health);
        assert!(
            cured.old_read_mb_s() > 0.9 * cured.new_read_mb_s(),
            "{cured:?}"
        );
    }
    assert!(health.passed(), "{health:?}");
}

/// Every drive of the article looks at the flag itself: told to stop, none is given a command.
#[test]
fn a_stopped_drive_is_given_nothing() {
    let stop = AtomicBool::new(true);
    let (settings, mut health) = (small(), Health::default());
    let aged = production::age(&REMEDIES[0], &settings, &mut health, &stop).unwrap();
    production::by_used(&aged, &[50], &settings, &mut health, &stop).unwrap();
    production::by_op(&settings, &mut health, &stop).unwrap();
    in_place::in_place(1, &mut health, &stop).unwrap();
    in_place::logged(1, &mut health, &stop).unwrap();
    trim::cost(&settings, &mut health, &stop).unwrap();
    whole_disk::run(&settings, &mut health, &stop).unwrap();
    assert!(health.drives > 20, "{health:?}");
    assert_eq!(health.commands, 0, "{health:?}");
    assert!(run_myth(&settings, &stop).is_err());
}

/// A share in use that the aged drive had itself is not lived again, and is the same as if it were.
#[test]
fn a_drive_that_was_lived_is_not_lived_again() {
    let mut health = Health::default();
    let aged = lived("earlier drive", &mut health);
    let at = |settings: &MythSettings, health: &mut Health| {
        production::by_used(&aged, &[70], settings, health, &GO_ON).unwrap()
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
fn a_remedy_switched_off_has_no_effect() {
    let mut health = Health::default();
    let earlier = lived("earlier drive", &mut health);
    for remedy in &REMEDIES[1..4] {
        let off = Remedy {
            set: &[],
            trim: false,
            ..*remedy
        };
        let aged = production::age(&off, &small(), &mut health, &GO_ON).unwrap();
        assert_eq!(aged.ages, earlier.ages, "{}", remedy.name);
    }
}

#[test]
fn a_tree_map_needs_upkeep_that_grows_and_a_flat_one_none() {
    let mut health = Health::default();
    let tree = lived("all but the flat map", &mut health).map_upkeep();
    let flat = lived("all", &mut health).map_upkeep();
    assert!(
        flat.points.iter().all(|(_, share)| *share == 0.0),
        "{flat:?}"
    );
    let first = tree.points.iter().find(|(_, share)| *share > 0.0).unwrap();
    assert!(tree.level(1).unwrap() > 1.5 * first.1, "{tree:?}");
}

#[test]
fn a_drive_that_is_not_told_of_deletes_fills_up() {
    let mut health = Health::default();
    let held = |aged: Aged| aged.ages.last().unwrap().held_pct;
    assert!(held(lived("earlier drive", &mut health)) > 90.0);
    assert!(held(lived("TRIM alone", &mut health)) < 75.0);
}

#[test]
fn an_update_in_place_rewrites_its_block_and_a_log_does_not() {
    let mut health = Health::default();
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
        assert!(pair[1].waf > pair[0].waf, "{pair:?}");
    }
    assert!(logged.iter().all(|row| row.waf < 10.0), "{logged:?}");
    assert!(health.passed(), "{health:?}");
}

#[test]
fn a_trim_that_is_not_queued_costs_reads() {
    let mut health = Health::default();
    let rows = trim::cost(&small(), &mut health, &GO_ON).unwrap();
    for pair in rows.windows(2) {
        assert!(pair[1].read_iops < pair[0].read_iops, "{rows:?}");
    }
    assert!(rows[2].read_p999_ms > rows[1].read_p999_ms, "{rows:?}");
    assert!(health.passed(), "{health:?}");
}

#[test]
fn random_writes_are_flat_over_the_disk_until_it_is_full() {
    let mut health = Health::default();
    let disk = whole_disk::run(&small(), &mut health, &GO_ON).unwrap();
    assert!(WholeDisk::flatness(&disk.write_first) > 0.9);
    assert!(WholeDisk::flatness(&disk.read_full) > 0.9);
    let steady = disk.write_steady.level(10).unwrap();
    assert!(
        steady < 0.9 * disk.write_first.level(10).unwrap(),
        "{steady}"
    );
    assert!(health.passed(), "{health:?}");
}
