//! Laws of the tier: promises, destaging, mirrors.

use super::*;
use ssdlab_base::check::failures;
use ssdlab_ssd::{DriveConfig, Nanos};

fn run(spec: &TierSpec, drives: &[DriveConfig]) -> Result<Tier, LabError> {
    run_until(spec, drives, &AtomicBool::new(false))
}

/// A cache device of about 30 MiB; volatile unless `protected`.
fn device(protected: bool) -> DriveConfig {
    let mut config = DriveConfig::tiny();
    config.shape.blocks_per_plane = 128;
    config.shape.pages_per_block = 24;
    config.ftl.slc.superblocks = 4;
    let raw = config.geometry().raw_bytes();
    config.user_bytes = (raw as f64 / 1.3) as u64 / 4096 * 4096;
    config.buffer.protected = protected;
    config
}

fn spec(durable: DurabilityMode) -> TierSpec {
    TierSpec {
        durable,
        duration: Nanos::from_secs(5),
        ..TierSpec::default()
    }
}

fn tier(spec: &TierSpec, drives: &[DriveConfig]) -> Tier {
    let tier = run(spec, drives).unwrap();
    assert_eq!(failures(&tier.checks), Vec::<String>::new());
    tier
}

/// The promise, for every way to keep it, on two and three copies, and on more sides than copies.
#[test]
fn nothing_is_acknowledged_before_it_is_durable_on_all_copies() {
    for durable in [DurabilityMode::Fua, DurabilityMode::Flush] {
        for (copies, sides) in [(1, 1), (2, 2), (3, 3), (2, 4)] {
            let spec = TierSpec {
                copies,
                ..spec(durable)
            };
            let found = tier(&spec, &vec![device(false); sides]);
            assert_eq!(found.not_durable, 0, "{durable:?} {copies} {sides}");
            assert!(found.writes.count > 50, "{}", found.writes.count);
        }
    }
}

/// The watch can fail: a volatile buffer without flushes breaks every promise, and a protected
/// one keeps them all.
#[test]
fn buffered_writes_are_durable_only_behind_a_protected_buffer() {
    let spec = spec(DurabilityMode::Buffered);
    let volatile = tier(&spec, &[device(false), device(false)]);
    // Those still under way at the end are acknowledged too, and not counted as served in time.
    assert!(volatile.not_durable >= volatile.writes.count && volatile.writes.count > 100);
    let mixed = tier(&spec, &[device(true), device(false)]);
    assert!(mixed.not_durable > 100);
    let protected = tier(&spec, &[device(true), device(true)]);
    assert_eq!(protected.not_durable, 0);
}

/// Every block that became dirty was destaged or is dirty still: what the checks of the sides
/// look at, block by block. Here, that there is something to be seen.
#[test]
fn destaging_keeps_up_or_leaves_a_backlog_and_loses_nothing() {
    let drives = [device(true), device(true)];
    let fast = tier(&spec(DurabilityMode::Fua), &drives);
    assert!(fast.destaged_bytes > 0 && fast.backlog_bytes > 0);
    let shares: Vec<f64> = fast.samples.iter().map(|s| s.dirty_share).collect();
    assert!(shares[0] < shares[shares.len() - 1], "{shares:?}");
    let slow = tier(
        &TierSpec {
            workers: 1,
            read_pct: 99,
            ..spec(DurabilityMode::Fua)
        },
        &drives,
    );
    assert!(slow.backlog_bytes < fast.backlog_bytes / 4);
}

/// A cache full of dirty blocks makes writers wait for the disks, and they do not wait for ever.
#[test]
fn a_cache_full_of_dirty_blocks_goes_at_the_pace_of_the_disks() {
    let full = TierSpec {
        cache_bytes: Some(2 << 20),
        working_set_pct: 1000,
        read_pct: 0,
        duration: Nanos::from_secs(20),
        ..spec(DurabilityMode::Fua)
    };
    let drives = [device(true), device(true)];
    let found = tier(&full, &drives);
    assert!(found.stalls > 100, "{}", found.stalls);
    let last = found.samples.last().unwrap();
    assert!(last.dirty_share > 0.9, "{}", last.dirty_share);
    // About what four disks can do on each side, some blocks being neighbours; every write goes
    // to both sides.
    assert!((200..2500).contains(&last.writes), "{}", last.writes);
}

#[test]
fn what_does_not_fit_is_read_from_disk_and_then_found() {
    let found = tier(
        &TierSpec {
            working_set_pct: 200,
            ..spec(DurabilityMode::Fua)
        },
        &[device(true), device(true)],
    );
    assert!(found.hits.count > 0 && found.misses.count > 0);
    assert!(found.misses.p50_ns > 5_000_000, "{}", found.misses.p50_ns);
    assert!(found.hits.p50_ns < 1_000_000);
    let fits = tier(&spec(DurabilityMode::Fua), &[device(true), device(true)]);
    assert_eq!(fits.misses.count, 0);
}

/// Article s2d's point: the same flash, and write-through costs a multiple of the life unless the
/// buffer is protected.
#[test]
fn write_through_costs_life_unless_the_buffer_is_protected() {
    let cost = |durable, protected| {
        let found = tier(&spec(durable), &[device(protected), device(protected)]);
        (found.nand_per_host_byte.unwrap(), found.writes_s)
    };
    let (buffered, fast) = cost(DurabilityMode::Buffered, false);
    let (fua, slow) = cost(DurabilityMode::Fua, false);
    let (protected, also_fast) = cost(DurabilityMode::Fua, true);
    assert!(fua > 3.0 * buffered, "{fua} {buffered}");
    assert!(slow * 5.0 < fast, "{slow} {fast}");
    assert!(
        (protected / buffered - 1.0).abs() < 0.05,
        "{protected} {buffered}"
    );
    assert!((also_fast / fast - 1.0).abs() < 0.05, "{also_fast} {fast}");
}

/// A write waits for its slower copy.
#[test]
fn a_mirror_goes_at_the_pace_of_its_slower_side() {
    let (fast, slow) = (device(true), device(false));
    let of = |drives: &[DriveConfig]| tier(&spec(DurabilityMode::Fua), drives).writes_s;
    let (both_fast, mixed) = (of(&[fast.clone(), fast.clone()]), of(&[fast, slow.clone()]));
    let both_slow = of(&[slow.clone(), slow]);
    assert!(mixed < both_fast / 3.0, "{mixed} {both_fast}");
    assert!(mixed < both_slow * 2.5, "{mixed} {both_slow}");
}

#[test]
fn the_same_seed_gives_the_same_tier_and_another_does_not() {
    let with = |seed| {
        let spec = TierSpec {
            seed,
            ..spec(DurabilityMode::Flush)
        };
        run(&spec, &[device(false), device(false)]).unwrap()
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1).samples, with(2).samples);
}

#[test]
fn impossible_tiers_are_refused() {
    let change: [fn(&mut TierSpec); 8] = [
        |s| s.copies = 3,
        |s| s.copies = 0,
        |s| s.block = 5000,
        |s| s.workers = 0,
        |s| s.read_pct = 100,
        |s| s.duration = Nanos::ZERO,
        |s| s.cache_bytes = Some(4096),
        |s| s.disks = 0,
    ];
    for change in change {
        let mut spec = spec(DurabilityMode::Fua);
        change(&mut spec);
        let error = run(&spec, &[device(true), device(true)]).unwrap_err();
        assert!(!error.advice().is_empty(), "{error}");
    }
    assert!(DurabilityMode::parse("sometimes").is_err());
}
