//! Media of drives: what `[wear]` gives, and what is assumed without it.

use super::*;
use crate::catalogue;
use crate::settings::{DriveSetting, apply};

fn drive(set: &[&str]) -> Result<CatalogueDrive, LabError> {
    let set: Result<Vec<_>, _> = set.iter().map(|s| DriveSetting::parse(s)).collect();
    apply(&catalogue::drive("tlc-client-nvme-1tb").unwrap(), &set?)
}

/// Each key reaches the tables by which the drive wears.
#[test]
fn every_key_of_wear_changes_the_media() {
    let tables = |set: &[&str]| {
        let media = drive(set).unwrap().media().unwrap();
        (media.tables(1000, 0).unwrap(), media.class)
    };
    let usual = tables(&[]);
    for set in [
        "wear.cycles=1234",
        "wear.class=enterprise",
        "wear.rber_eps=1e-4",
        "wear.rber_alpha=1e-9",
        "wear.rber_k=1.9",
        "wear.rber_beta=1e-4",
        "wear.rber_m=0.2",
        "wear.rber_n=0.4",
        "wear.rber_gamma=1e-8",
        "wear.rber_p=0.4",
        "wear.rber_q=1.5",
        "wear.ecc_bits=100",
        "wear.ecc_data=2KiB",
        "wear.retries=7",
        "wear.retry_gain=1.3",
        "wear.retry_time=45us",
        "wear.block_spread=0.3",
        "wear.page_spread=0.2",
        "wear.failure_median=2",
        "wear.failure_spread=0.4",
        "wear.failure_early_pct=3",
        "wear.failure_programs_pct=20",
        "wear.reserve_pct=5",
        "wear.program_faster_pct=20",
        "wear.erase_slower_pct=80",
        "wear.refresh=false",
        "wear.refresh_above_pct=20",
        "wear.patrol_pages=9",
        "wear.patrol_hours=24",
        "wear.retire_above_pct=90",
        "wear.level_dynamic=false",
        "wear.level_gap=0",
        "wear.level_every=3",
        "wear.end_of_life=slow",
    ] {
        assert_ne!(tables(&[set]), usual, "{set}");
    }
}

#[test]
fn values_that_cannot_be_are_refused_with_key_and_range() {
    for (set, said) in [
        ("wear.cycles=0", "`wear.cycles`"),
        ("wear.class=home", "client or enterprise"),
        ("wear.rber_eps=0.7", "0 to 0.1"),
        ("wear.rber_k=-1", "0 to 10"),
        ("wear.rber_k=NaN", "a number"),
        ("wear.ecc_bits=0", "1 to 1000"),
        ("wear.ecc_bits=999", "fewer bits of 1024 B"),
        ("wear.ecc_data=1 banana", "1 banana"),
        ("wear.ecc_data=1MiB", "256 B to 16 KiB"),
        ("wear.retries=64", "0 to 63"),
        ("wear.retry_gain=0.9", "1 to 10"),
        ("wear.retry_time=2s", "at most 1 s"),
        ("wear.reserve_pct=60", "0 to 50"),
        ("wear.reserve_pct=lots", "a number"),
        ("wear.refresh=perhaps", "true or false"),
        ("wear.patrol_pages=70000", "0 to 65536"),
        ("wear.patrol_hours=87601", "0 to 87600"),
        ("wear.level_every=0", "1 to 1000000"),
        ("wear.end_of_life=explode", "read-only or failed or slow"),
    ] {
        let error = drive(&[set]).unwrap_err().to_string();
        assert!(error.contains(said), "{set}: {error}");
    }
}

/// The code word of SLC is 512 bytes unless the file says otherwise, and the limit is that of it.
#[test]
fn the_limit_of_a_code_is_that_of_the_cells_own_word() {
    let mut slc = catalogue::drive("intel-x25e-64gb").unwrap();
    let wear = slc.file.wear.as_mut().unwrap();
    wear.ecc_data = None;
    wear.ecc_bits.as_mut().unwrap().value = 300;
    assert!(slc.media().is_ok());
    slc.file
        .wear
        .as_mut()
        .unwrap()
        .ecc_bits
        .as_mut()
        .unwrap()
        .value = 400;
    let error = slc.media().unwrap_err().to_string();
    assert!(error.contains("fewer bits of 512 B"), "{error}");
}

#[test]
fn what_is_given_is_not_called_assumed_by_default() {
    let rests_on = |set: &[&str]| drive(set).unwrap().media().unwrap().rests_on;
    let has = |list: &[RestsOn], text: &str| list.iter().any(|line| line.as_ref().contains(text));
    assert!(has(&rests_on(&[]), "read retries correct 1.2"));
    let changed = rests_on(&["wear.retry_gain=1.1"]);
    assert!(!has(&changed, "read retries correct 1.2"));
    assert!(has(&changed, "wear.retry_gain = 1.1"), "{changed:?}");
    // Half of a pair that is given leaves the other half assumed, and only that.
    let half = rests_on(&["wear.erase_slower_pct=80"]);
    assert!(has(&half, "programs 10 % faster"), "{half:?}");
    assert!(!has(&half, "erases 50 % slower"), "{half:?}");
    let factory = drive(&["wear.retry_gain=1.1"]).unwrap().rests_on();
    assert!(!has(&factory, "wear."), "a new drive does not rest on it");
}
