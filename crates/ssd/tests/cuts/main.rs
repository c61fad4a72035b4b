//! Every drive keeps its promises when its power is cut at any instant; every named fault is found,
//! and none is found on an honest drive.
//!
//! Random commands on tiny drives of every kind, cut at random times: inside programs, erases,
//! reclaim, folding, journal writes, checkpoints, and during recovery itself. After every recovery
//! the drive checks itself and the oracle checks every sector. `SSDLAB_CUTS=N` sets the number of
//! cuts on honest drives, `SSDLAB_SEEDS=N` takes other seeds; the full run is a million:
//! `SSDLAB_CUTS=1000000 cargo test --release -p ssdlab-ssd --test cuts -- --nocapture`.

mod after;
mod energy;
#[path = "../kinds/mod.rs"]
mod kinds;
mod rig;

use rig::{Found, OCCASIONS, Rig, in_step};
use ssdlab_ssd::config::{MappingKind, SlcFull};
use ssdlab_ssd::drive::power::{DataDrive, DataError, FAULTS, Fault, FaultKind, Lie};
use ssdlab_ssd::drive::power::{Oracle, Power};
use ssdlab_ssd::{Command, DriveConfig, Nanos};
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Steps of recovery, of all kinds of drives.
const RECOVERY_STEPS: [&str; 6] = [
    "find superblocks",
    "read the map",
    "replay the journal",
    "scan open superblocks",
    "finish rewrites",
    "restore the buffer",
];

/// Cuts on honest drives unless `SSDLAB_CUTS` says otherwise.
const CUTS: u64 = 30_000;

fn number_from_environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("the variable is a number"))
}

/// Block-mapped drives, with a free map and with a map that costs programs.
fn block_mapped() -> Vec<DriveConfig> {
    let mut list = Vec::new();
    for journal in [false, true] {
        let mut config = kinds::bare();
        config.name = format!("Block, journal {journal}");
        config.ftl.mapping.kind = MappingKind::Block;
        if journal {
            config.ftl.journal.entry_bytes = 64;
            config.ftl.journal.commit_map_programs = 1;
        }
        config.validate().expect("possible");
        list.push(config);
    }
    list
}

/// Drives missing from the lists of kinds: dies of four planes, QLC, pSLC with every other feature,
/// DRAM drives.
fn shapes() -> Vec<DriveConfig> {
    let tiny = |name: &str, change: fn(&mut DriveConfig)| {
        let mut config = DriveConfig::tiny();
        config.name = name.into();
        change(&mut config);
        config.validate().expect("possible");
        config
    };
    vec![
        tiny("two planes, TLC, pslc", |_| {}),
        tiny("four planes, QLC", |c| {
            c.shape.planes_per_die = 4;
            c.shape.bits_per_cell = 4;
            c.shape.pages_per_block = 8;
            c.nand.timing.read.push(Nanos::from_micros(120));
            c.nand.timing.program.push(Nanos::from_micros(7000));
        }),
        tiny("MLC, both pslc, parity, compressed, checkpoints", |c| {
            c.shape.bits_per_cell = 2;
            c.shape.dies_per_channel = 2;
            c.nand.timing.read.truncate(2);
            c.nand.timing.program.truncate(2);
            c.ftl.slc.dynamic_above_free = 9;
            c.ftl.slc.dynamic_superblocks = 2;
            c.ftl.slc.full = SlcFull::Fold;
            c.ftl.parity = true;
            c.ftl.compression_pack = 2;
            c.ftl.journal.checkpoint_pages = 4;
        }),
        // Long blocks: parity must be in its place in every row.
        tiny("long blocks, parity", |c| {
            c.shape.planes_per_die = 1;
            c.shape.blocks_per_plane = 8;
            c.shape.pages_per_block = 132;
            c.user_bytes = 220 * kinds::SLOT;
            c.ftl.slc.superblocks = 0;
            c.ftl.parity = true;
        }),
        // Enough blocks for a ring of a tree's pages.
        tiny("tree map apart, a ring", |c| {
            c.shape.blocks_per_plane = 40;
            c.user_bytes = 300 * kinds::SLOT;
            c.ftl.slc.superblocks = 0;
            c.ftl.reclaim.free_superblocks_low = 5;
            c.ftl.mapping.kind = MappingKind::Tree;
            c.ftl.mapping.dram_bytes = 512;
            c.ftl.mapping.entry_bytes = 64;
            c.ftl.mapping.apart = true;
            c.ftl.mapping.leaf_programs = 12;
        }),
        tiny("DRAM drive", |c| {
            c.buffer.protected = true;
            c.buffer.hold_bytes = c.user_bytes;
            c.buffer.bytes = c.user_bytes + 16 * kinds::SLOT;
            c.ftl.idle_after = Nanos::from_secs(1_000_000);
        }),
        tiny("DRAM drive that also fills its media", |c| {
            c.buffer.protected = true;
            c.buffer.hold_bytes = c.user_bytes / 2;
            c.buffer.bytes = c.user_bytes / 2 + 16 * kinds::SLOT;
        }),
    ]
}

/// Every kind, block maps, a protected drive of each kind of map, and drives drawn at random.
fn all() -> Vec<DriveConfig> {
    let mut list = kinds::all();
    list.extend(block_mapped());
    list.extend(kinds::small());
    let map = |c: &&DriveConfig| c.ftl.mapping.kind != MappingKind::Flat;
    let mut protected: Vec<DriveConfig> = list.iter().step_by(5).cloned().collect();
    protected.extend(list.iter().filter(map).cloned());
    for config in &mut protected {
        config.buffer.protected = true;
        config.name.push_str(", protected");
    }
    list.extend(protected);
    list.extend(shapes());
    list.extend((0..24).map(|seed| {
        let mut config = kinds::random::drive(seed);
        config.name = format!("drawn from {seed}");
        config
    }));
    list
}

/// Does `cuts` cuts on fresh drives of one kind, some cut more often than others; stops at the
/// third faulty drive.
fn cut_kind(config: &DriveConfig, first_seed: u64, cuts: u64) -> (Found, Vec<String>) {
    let (mut total, mut wrong) = (Found::default(), Vec::new());
    let mut seed = first_seed;
    while total.cuts < cuts && wrong.len() < 3 {
        let most = if seed % 7 == 3 { 160 } else { 40 };
        let run = || Rig::new(config, seed, &[]).run(most.min(cuts - total.cuts));
        let found = std::panic::catch_unwind(run).unwrap_or_else(|_| {
            let what = format!("{} seed {seed}: panicked", config.name);
            eprintln!("{what}");
            Found {
                cuts: 1,
                first: Some(what),
                ..Found::default()
            }
        });
        wrong.extend(found.first.clone());
        total.add(&found);
        seed += 1000;
    }
    (total, wrong)
}

#[test]
fn an_honest_drive_never_breaks_a_promise() {
    let begun = std::time::Instant::now();
    let configs = all();
    let cuts_wanted = number_from_environment("SSDLAB_CUTS").unwrap_or(CUTS);
    let seeds = number_from_environment("SSDLAB_SEEDS").unwrap_or(0);
    let first_seed = seeds.wrapping_mul(1_000_000_000);
    let each = cuts_wanted.div_ceil(configs.len() as u64);
    let next = AtomicUsize::new(0);
    let all = Mutex::new((Found::default(), Vec::new()));
    let work = || {
        while let Some((kind, config)) = (0..).zip(&configs).nth(next.fetch_add(1, Relaxed)) {
            let (found, wrong) = cut_kind(config, first_seed + kind, each);
            let mut all = all.lock().expect("no panic yet");
            all.0.add(&found);
            all.1.extend(wrong);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let (total, wrong) = all.into_inner().expect("no panic");
    let (cuts, kinds) = (total.cuts, configs.len());
    println!(
        "{cuts} cuts on {kinds} kinds of drives, seeds from {first_seed}: {:?}",
        begun.elapsed()
    );
    println!("{} sectors older than last written", total.older);
    for (name, count) in &total.met {
        println!("{count:>10}  {name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let steps = RECOVERY_STEPS.map(in_step);
    let occasions = OCCASIONS
        .into_iter()
        .chain(steps.iter().map(String::as_str));
    for occasion in occasions {
        assert!(total.met(occasion) > 0, "no cut met: {occasion}");
    }
    assert!(total.older > 0, "no cut lost anything");
}

/// Failures found by earlier campaigns, by kind, seed and cuts:
///
/// - lower pages that had been saved were lost when the next life of their block was booked;
/// - data was left in a superblock that the drive considered retired, or had retired;
/// - many cuts in a row used up the free superblocks before reclaim had emptied one;
/// - a block map took its data from a block that was due for its erase: a home that recovery had
///   given up, half of it in use for something else.
const ONCE_FOUND: [(&str, u64, u64); 8] = [
    ("pslc", 152_017, 40),
    ("drawn from 0", 66, 40),
    ("drawn from 0", 1_066, 40),
    ("victims by random, protected", 26_050, 160),
    ("drawn from 19", 187_085, 160),
    ("Block, journal false", 7_052, 40),
    ("Block, journal true", 20_052, 40),
    ("Block, journal true", 1_342_052, 40),
];

#[test]
fn what_was_once_found_is_found_no_more() {
    let configs = all();
    for (name, seed, cuts) in ONCE_FOUND {
        let config = configs.iter().find(|config| config.name == name);
        let found = Rig::new(config.expect("a kind of that name"), seed, &[]).run(cuts);
        assert_eq!(found.broken, 0, "{:?}", found.first);
    }
}

/// A retired superblock takes older copies with it: what was moved out of it survives a cut that
/// tears the next page on the same word line.
#[test]
fn what_was_moved_out_of_a_retired_superblock_survives_a_cut() {
    let mut retirements = 0;
    for config in kinds::all().iter().filter(|config| config.wear.is_some()) {
        for seed in 0..6 {
            let rig = Rig::new(config, seed, &[]);
            let (retired, failure) = rig.cut_after_retirements(4_000);
            assert_eq!(failure, None);
            retirements += retired;
        }
    }
    assert!(retirements > 50, "{retirements} retirements");
}

/// A drive on which a fault can show.
fn victim_of(kind: FaultKind) -> DriveConfig {
    let configs = kinds::all();
    let named = |name: &str| {
        let found = configs.iter().find(|config| config.name == name);
        found.expect("a kind of that name").clone()
    };
    match kind {
        FaultKind::CapacitorFailed => named("protected"),
        FaultKind::PairedPageLoss => named("bare"),
        _ => named("journal"),
    }
}

/// Cuts power until the campaign finds a failure, over several seeds; `None`: none in `most` cuts.
fn campaign(config: &DriveConfig, faults: &[Fault], most: u64) -> Option<Found> {
    let mut cuts = 0;
    for seed in 0.. {
        if cuts >= most {
            return None;
        }
        let found = Rig::new(config, seed, faults).run(50);
        cuts += found.cuts;
        if found.broken > 0 {
            return Some(found);
        }
    }
    None
}

#[test]
fn every_named_fault_is_found_and_nothing_when_it_is_off() {
    for info in &FAULTS {
        let kind = match info.kind {
            FaultKind::DiesAfterCuts(_) => FaultKind::DiesAfterCuts(7),
            kind => kind,
        };
        let config = victim_of(kind);
        for (per_mille, is_found) in [(300, true), (0, false)] {
            let fault = Fault {
                kind,
                per_mille,
                seed: 5,
            };
            let faults = [fault];
            let on = matches!(kind, FaultKind::DiesAfterCuts(_)) && !is_found;
            let faults = if on { &[][..] } else { &faults[..] };
            let found = campaign(&config, faults, 400);
            assert_eq!(found.is_some(), is_found, "{}: {found:?}", info.name);
            if let Some(found) = found {
                println!(
                    "{}: after {} cuts: {:?}",
                    info.name, found.cuts, found.first
                );
            }
        }
    }
}

#[test]
fn faults_have_names_and_sources() {
    for info in &FAULTS {
        assert_eq!(FaultKind::named(info.name), Some(info.kind));
        assert_eq!(info.kind.info().name, info.name);
        let texts = [info.text, info.occasion, info.source];
        assert!(texts.iter().all(|text| !text.is_empty()), "{}", info.name);
    }
}

/// Canary: an oracle that promises more than the drive is caught on an honest drive.
#[test]
fn an_oracle_that_promises_too_much_is_caught() {
    let config = victim_of(FaultKind::IgnoresFlush);
    let found = Rig::new(&config, 1, &[]).lie(Lie::PromisesTooMuch).run(100);
    assert!(found.broken > 0, "{found:?}");
}

/// Canary: an oracle that reports nothing finds nothing on a drive that breaks its promises.
#[test]
fn an_oracle_that_sees_nothing_is_caught() {
    let fault = Fault {
        kind: FaultKind::LosesMapUpdates,
        per_mille: 900,
        seed: 1,
    };
    let config = victim_of(fault.kind);
    let blind = Rig::new(&config, 1, &[fault]).lie(Lie::SeesNothing).run(30);
    let seeing = Rig::new(&config, 1, &[fault]).run(30);
    assert_eq!((blind.broken, seeing.broken > 0), (0, true));
}

/// A capacitor that lasts for half of the buffer loses the other half.
#[test]
fn a_capacitor_too_small_is_found() {
    let config = victim_of(FaultKind::CapacitorFailed);
    let mut lost = 0;
    for seed in 0..40 {
        let hold = config.nand.timing.slc_program;
        let found = Rig::with_hold(&config, seed, hold).run(10);
        lost += found.broken;
    }
    assert!(lost > 0);
}

/// A capacitor that lasts for one program on each die saves what came first, in that order.
#[test]
fn a_capacitor_saves_the_oldest_data_first() {
    let mut config = DriveConfig::tiny();
    config.buffer.protected = true;
    config.buffer.hold_bytes = config.user_bytes;
    config.buffer.bytes = config.user_bytes + 16 * 4096;
    let mut power = Power::default();
    power.hold = Some(config.nand.timing.slc_program);
    let mut drive = DataDrive::new(config, power).expect("possible");
    for page in (0..20_u64).rev() {
        drive
            .write(page * 4096, &[1; 4096], false)
            .expect("written");
    }
    drive.cut();
    let saved = drive.drive().saved().iter();
    let saved: Vec<u32> = saved.map(|(address, _)| *address).collect();
    assert_eq!(saved, [19, 18, 17, 16, 15, 14, 13, 12]);
}

/// What was found once is what the next cut is held against: a loss is reported once.
#[test]
fn a_broken_promise_is_reported_once() {
    let mut oracle = Oracle::new(4096, false);
    oracle.submitted(0, 1, &Command::write_fua(0, 4096));
    oracle.completed(0);
    assert_eq!(oracle.after_recovery(|_| 0).broken.len(), 8);
    assert_eq!(oracle.after_recovery(|_| 0).broken, []);
}

/// Buffered data stays in its place when the buffer fills up with what was trimmed meanwhile.
#[test]
fn what_is_buffered_survives_a_buffer_full_of_trimmed_writes() {
    let mut drive = DataDrive::new(DriveConfig::tiny(), Power::default()).expect("possible");
    let kept = |page: u64| [page as u8 + 1; 4096];
    for page in 0..3 {
        drive
            .write(page * 4096, &kept(page), false)
            .expect("written");
    }
    for _ in 0..200 {
        drive.write(9 * 4096, &[9; 4096], false).expect("written");
        drive.trim(9 * 4096, 4096).expect("trimmed");
    }
    for flushed in [false, true] {
        if flushed {
            drive.flush().expect("flushed");
        }
        for page in 0..3 {
            let mut found = [0; 4096];
            drive.read(page * 4096, &mut found).expect("read");
            assert!(found == kept(page), "page {page}, flushed: {flushed}");
        }
    }
}

/// One command at a time: the clock stands where the last one ended.
#[test]
fn a_call_takes_as_long_as_the_clock_moves() {
    let mut drive = DataDrive::new(DriveConfig::tiny(), Power::default()).expect("possible");
    for n in 0..50_u64 {
        let before = drive.drive().now();
        let took = drive.write(n * 4096, &[1; 4096], true).expect("written");
        assert!(took > Nanos::ZERO);
        assert_eq!(before + took, drive.drive().now(), "{n}");
    }
}

/// Report of a drive about a cut and its recovery.
#[test]
fn recovery_is_reported_step_by_step() {
    let mut config = DriveConfig::tiny();
    config.ftl.journal.checkpoint_pages = 4;
    let mut drive = DataDrive::new(config, Power::default()).expect("possible");
    for n in 0..400_u64 {
        let at = n * 37 % 448 * 4096;
        let page = [n as u8; 4096];
        drive.write(at, &page, false).expect("written");
        if n.is_multiple_of(20) {
            drive.flush().expect("flushed");
        }
    }
    let before = drive.drive().now();
    let cut = drive.cut();
    assert_eq!(cut.at, before);
    assert!(
        before > Nanos::ZERO && cut.buffered > 0 && cut.saved == 0,
        "{cut:?}"
    );
    assert_eq!(drive.read(0, &mut [0; 512]), Err(DataError::Off));
    let recovery = drive.power_on();
    let names: Vec<&str> = recovery.steps.iter().map(|step| step.name).collect();
    let expected = [
        "find superblocks",
        "read the map",
        "replay the journal",
        "scan open superblocks",
    ];
    assert_eq!(names, expected);
    let mut last = recovery.at.0;
    for step in &recovery.steps {
        assert!(step.operations > 0 && step.end > last, "{recovery:?}");
        last = step.end;
    }
    assert_eq!(recovery.ready.0, last);
    let counters = drive.drive().power_counters();
    assert_eq!((counters.power_cycles, counters.unsafe_shutdowns), (2, 1));
}

/// A shutdown with notice is a power cycle and no power loss.
#[test]
fn a_safe_shutdown_is_not_counted_as_a_power_loss() {
    let mut drive = DataDrive::new(DriveConfig::tiny(), Power::default()).expect("possible");
    drive.write(0, &[1; 4096], false).expect("written");
    drive.flush().expect("flushed");
    drive.drive_mut().shut_down();
    drive.power_on();
    let counters = drive.drive().power_counters();
    assert_eq!((counters.power_cycles, counters.unsafe_shutdowns), (2, 0));
}

/// A DRAM drive saves and restores everything.
#[test]
fn a_drive_that_never_programs_is_saved_and_restored_whole() {
    let mut config = DriveConfig::tiny();
    config.buffer.protected = true;
    config.buffer.hold_bytes = config.user_bytes;
    config.buffer.bytes = config.user_bytes + 16 * 4096;
    config.ftl.idle_after = Nanos::from_secs(1_000_000);
    let mut drive = DataDrive::new(config, Power::default()).expect("possible");
    for page in 0..448_u64 {
        drive
            .write(page * 4096, &[page as u8; 4096], false)
            .expect("written");
    }
    assert_eq!(drive.drive().counters().slots_host, 0);
    let cut = drive.cut();
    assert_eq!((cut.buffered, cut.saved), (448, 448));
    assert!(cut.held_up > Nanos::ZERO);
    let recovery = drive.power_on();
    assert!(recovery.ready > recovery.at);
    let mut bytes = [0; 4096];
    for page in 0..448_u64 {
        drive.read(page * 4096, &mut bytes).expect("read");
        assert_eq!(bytes, [page as u8; 4096]);
    }
    assert_eq!(drive.drive().counters().slots_host, 0);
}
