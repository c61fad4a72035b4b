//! Recovery by the journal restores the same drive as recovery by a scan, from the same media.
//!
//! Random commands on drives that recover by their journal, cut as in `tests/cuts`. After every
//! cut, both kinds of recovery run on forks of the drive, and everything that they restore must be
//! equal: map, valid counts, states and rows of blocks, frontiers, lists of free superblocks, place
//! of the next journal page. Then the drive recovers by its journal and goes on, so that an error
//! in a journal page, a leaf or the directory also shows in the data. `SSDLAB_RECOVERIES=N` sets
//! the number of cuts; the full run is 10,000 or more.

#![allow(dead_code, reason = "the rig is that of tests/cuts")]

#[path = "../kinds/mod.rs"]
mod kinds;
mod parts;
#[path = "../cuts/rig.rs"]
mod rig;
mod times;

use rig::{Found, Rig};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::config::{MappingKind, RecoverBy};
use ssdlab_ssd::drive::power::{FAULTS, Fault, Power, PowerDrive};
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Cuts unless `SSDLAB_RECOVERIES` says otherwise.
const CUTS: u64 = 6_000;

fn cuts_wanted() -> u64 {
    let given = std::env::var("SSDLAB_RECOVERIES").ok();
    given.map_or(CUTS, |given| {
        given.parse().expect("SSDLAB_RECOVERIES is a number")
    })
}

/// Every page-mapped kind with a journal, volatile and protected, and drives drawn at random.
fn journalled() -> Vec<DriveConfig> {
    let mut list = kinds::all();
    list.extend((0..40).map(|seed| {
        let mut config = kinds::random::drive(seed);
        config.name = format!("drawn from {seed}");
        config
    }));
    for config in &mut list {
        config.ftl.recovery = RecoverBy::Journal;
    }
    list.retain(|config| config.validate().is_ok());
    let mut protected: Vec<DriveConfig> = list.iter().step_by(3).cloned().collect();
    for config in &mut protected {
        config.buffer.protected = true;
        config.name.push_str(", protected");
    }
    list.extend(protected);
    list.extend(kinds::small());
    list.retain(DriveConfig::recovers_by_journal);
    list
}

/// Does `cuts` cuts on fresh drives of one kind.
fn cut_kind(config: &DriveConfig, first_seed: u64, cuts: u64) -> Found {
    let mut total = Found::default();
    let mut seed = first_seed;
    while total.cuts < cuts && total.first.is_none() {
        let most = if seed % 3 == 1 { 160 } else { 40 };
        total.add(&Rig::new(config, seed, &[]).run(most.min(cuts - total.cuts)));
        seed += 1000;
    }
    total
}

#[test]
fn journal_and_scan_restore_the_same_drive() {
    let configs = journalled();
    for map in [MappingKind::Flat, MappingKind::Cached, MappingKind::Tree] {
        assert!(configs.iter().any(|config| config.ftl.mapping.kind == map));
    }
    let each = cuts_wanted().div_ceil(configs.len() as u64);
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    let is_small = |config: &DriveConfig| config.name.starts_with("small");
    let work = || {
        while let Some((seed, config)) = (0..).zip(&configs).nth(next.fetch_add(1, Relaxed)) {
            let each = if is_small(config) { 4 * each } else { each };
            let found = cut_kind(config, seed, each);
            if found.first.is_some() {
                // The other kinds need not run.
                next.store(configs.len(), Relaxed);
            }
            all.lock().expect("no panic yet").push((config, found));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let all = all.into_inner().expect("no panic");
    let mut total = Found::default();
    all.iter().for_each(|(_, found)| total.add(found));
    println!(
        "{} cuts compared on {} kinds",
        total.compared,
        configs.len()
    );
    for (name, count) in &total.met {
        println!("{count:>10}  {name}");
    }
    let wrong: Vec<String> = all
        .iter()
        .filter_map(|(_, found)| found.first.clone())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(total.compared, total.cuts);
    for (config, found) in all.iter().filter(|(config, _)| is_small(config)) {
        let (name, erases, blocks) = (&config.name, found.erases, found.blocks);
        assert!(
            erases > 3 * blocks,
            "{name}: {erases} erases of {blocks} blocks"
        );
    }
    for occasion in ["erase", "program of a journal page", "lower pages lost"] {
        assert!(total.met(occasion) > 0, "no cut met: {occasion}");
    }
}

type Change = fn(&mut DriveConfig);

/// Drives and faults that recovery by the journal refuses, with the reason given.
#[test]
fn what_has_no_journal_to_recover_by_is_refused() {
    let refused: [(&str, Change); 4] = [
        ("block-mapped", |c| {
            *c = kinds::small().swap_remove(10);
            assert_eq!(c.ftl.mapping.kind, MappingKind::Block);
        }),
        ("commit_map_programs", |c| c.ftl.journal.entry_bytes = 0),
        ("commit_map_programs", |c| {
            c.ftl.journal.commit_map_programs = 0
        }),
        ("half of a journal page", |c| {
            c.shape.page_bytes = 512;
            c.shape.slot_bytes = 512;
            c.ftl.mapping.entry_bytes = 64;
            c.shape.blocks_per_plane = 40_000;
            c.user_bytes = 70_000 * 512;
        }),
    ];
    for (reason, change) in refused {
        let mut config = DriveConfig::tiny();
        change(&mut config);
        config.validate().expect("possible by a scan");
        config.ftl.recovery = RecoverBy::Journal;
        let error = config.validate().expect_err(reason).to_string();
        assert!(
            error.contains("`recovery` cannot be \"journal\""),
            "{error}"
        );
        assert!(error.contains(reason), "{reason}: {error}");
    }
    let mut config = DriveConfig::tiny();
    config.ftl.recovery = RecoverBy::Journal;
    for info in &FAULTS {
        let fault = Fault {
            kind: info.kind,
            per_mille: 1,
            seed: 1,
        };
        let power = Power::with_faults(vec![fault]);
        let in_spare_areas = [
            "flush-not-map",
            "loses-map-updates",
            "recovery-picks-older",
            "paired-page-loss",
        ];
        let made = PowerDrive::new(config.clone(), power);
        assert_eq!(
            made.is_err(),
            in_spare_areas.contains(&info.name),
            "{}",
            info.name
        );
    }
}
