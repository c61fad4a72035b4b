//! Maps of extents: merging keeps the map within its budget, costs what it must, and changes no
//! content, whenever power is cut.
//!
//! `cuts`, `recovery`, `model`, `swarm` and `gears` also cover these maps, among all kinds.
//! [`Drive::check`] counts the extents and fails when they take more than the budget.

mod kinds;

use ssdlab_ssd::config::{DriveConfig, MappingKind};
use ssdlab_ssd::drive::power::{DataDrive, Power};
use ssdlab_ssd::nand::Purpose;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, CountingDrive, Drive, Nanos};

const SLOT: u64 = kinds::SLOT;
const ENTRY: u64 = 64;
/// Slots of a merge range: the largest power of two within a superblock of 24.
const RANGE: u64 = 16;

/// 300 slots, of which the DRAM maps `extents` if they are scattered; nothing else writes map.
fn config(extents: u64) -> DriveConfig {
    let mut c = kinds::bare();
    c.user_bytes = 288 * SLOT;
    c.buffer.bytes = 4 * SLOT;
    c.ftl.mapping.kind = MappingKind::Extents;
    c.ftl.mapping.entry_bytes = ENTRY as u32;
    c.ftl.mapping.dram_bytes = extents * ENTRY;
    c.validate().expect("possible");
    c
}

fn filled(extents: u64) -> CountingDrive {
    let mut drive = CountingDrive::new(config(extents)).expect("valid");
    for slot in 0..288 {
        drive.apply(&Command::write(slot * SLOT, SLOT as u32));
    }
    drive
}

#[test]
fn too_little_dram_is_refused_with_what_would_do() {
    let mut c = config(190);
    c.ftl.mapping.dram_bytes = 100 * ENTRY;
    let error = c.validate().expect_err("too little").to_string();
    assert!(error.contains("map_dram"), "{error}");
    c.ftl.mapping.dram_bytes = 190 * ENTRY;
    c.ftl.parity = true;
    c.shape.dies_per_channel = 2;
    let error = c.validate().expect_err("parity breaks runs").to_string();
    assert!(error.contains("parity"), "{error}");
}

#[test]
fn writes_in_order_never_merge_and_random_ones_do() {
    let mut drive = filled(190);
    for _ in 0..5 {
        for slot in 0..288 {
            drive.apply(&Command::write(slot * SLOT, SLOT as u32));
        }
    }
    assert_eq!(drive.counters().merges, 0);
    let mut rng = Rng::named(1, "merges");
    for _ in 0..2_000 {
        drive.apply(&Command::write(rng.below(288) * SLOT, SLOT as u32));
        drive.check().expect("within the budget");
    }
    let c = drive.counters();
    assert!(c.merges > 100, "{c:?}");
    assert_eq!(c.slots_map, 0, "{c:?}");
    // All slots of a full range are rewritten but those in the buffer, four at most.
    let least = c.merges * (RANGE - 4);
    assert!(
        c.slots_merged > least && c.slots_merged <= c.merges * RANGE,
        "{c:?}"
    );
}

/// With DRAM for an extent of each slot nothing is merged: the null model.
#[test]
fn a_map_that_fits_never_merges() {
    let mut drive = filled(400);
    let mut rng = Rng::named(1, "merges");
    for _ in 0..2_000 {
        drive.apply(&Command::write(rng.below(288) * SLOT, SLOT as u32));
    }
    drive.check().expect("consistent");
    assert_eq!(drive.counters().slots_merged, 0);
}

/// A trim of one slot may divide an extent in two.
#[test]
fn trims_merge_too() {
    let mut drive = filled(190);
    let mut rng = Rng::named(3, "merges");
    for _ in 0..1_000 {
        drive.apply(&Command::write(rng.below(288) * SLOT, SLOT as u32));
    }
    drive.apply(&Command::flush());
    let before = drive.counters().merges;
    for slot in (0..288).filter(|slot| slot % 4 == 1) {
        drive.apply(&Command::trim(slot * SLOT, SLOT as u32));
        drive.check().expect("within the budget");
    }
    assert!(drive.counters().merges > before);
}

/// Waits for the one outstanding command; returns the time.
fn finish(drive: &mut Drive) -> Nanos {
    loop {
        let at = drive.next_event().expect("a command is outstanding");
        if drive.pop_completion(at).is_some() {
            return at;
        }
    }
}

/// A rest of a minute merges while less than a 128th of the room is left: once at most here, as a
/// merge of a range makes more room than that.
#[test]
fn idle_time_is_used_to_merge_a_little() {
    let mut drive = Drive::new(config(190)).expect("valid");
    let mut rng = Rng::named(2, "merges");
    let mut at = Nanos(0);
    let mut idle = 0;
    for _ in 0..400 {
        for _ in 0..4 {
            drive.submit(0, &Command::write(rng.below(288) * SLOT, SLOT as u32), at);
            at = finish(&mut drive);
        }
        let busy = drive.counters().merges;
        at = Nanos(at.0 + 60_000_000_000);
        drive.submit(0, &Command::read(0, SLOT as u32), at);
        at = finish(&mut drive);
        let merged = drive.counters().merges - busy;
        assert!(merged <= 1, "{merged} merges in one rest");
        idle += merged;
    }
    drive.check().expect("consistent");
    assert!(idle > 0);
}

fn bytes_of(slot: u64, version: u64) -> Vec<u8> {
    let mut bytes = vec![version as u8; SLOT as usize];
    bytes[..8].copy_from_slice(&slot.to_le_bytes());
    bytes
}

/// Every durable slot reads as it was written, and so does one that never was, although a merge may
/// have given it a place.
#[test]
fn a_cut_inside_a_merge_changes_no_content() {
    let mut torn = 0;
    for seed in 0..40 {
        let mut drive = DataDrive::new(config(190), Power::default()).expect("valid");
        let mut rng = Rng::named(seed, "merges and cuts");
        let mut versions = vec![0_u64; 288];
        for version in 1..=700 {
            // Every seventh slot stays blank.
            let slot = rng.below(280) / 7 * 7 + rng.below(6);
            let bytes = bytes_of(slot, version);
            drive.write(slot * SLOT, &bytes, true).expect("written");
            versions[slot as usize] = version;
        }
        assert!(drive.drive().counters().merges > 0);
        torn += cut_in_a_merge(&mut drive, &mut rng);
        drive.power_on();
        drive.drive().check().expect("consistent");
        let mut bytes = vec![0; SLOT as usize];
        for (slot, &version) in (0..).zip(&versions) {
            drive.read(slot * SLOT, &mut bytes).expect("readable");
            let expected = match version {
                0 => vec![0; SLOT as usize],
                _ => bytes_of(slot, version),
            };
            assert!(bytes == expected, "seed {seed}, slot {slot}");
        }
    }
    assert!(torn > 10, "{torn} merged units were torn");
}

/// Rewrites slots as they are until a write merges, and cuts the power as it is acknowledged, while
/// the merge's programs run. Returns the number of them that were torn.
fn cut_in_a_merge(drive: &mut DataDrive, rng: &mut Rng) -> u64 {
    let merges = drive.drive().counters().merges;
    while drive.drive().counters().merges == merges {
        let slot = rng.below(280) / 7 * 7 + rng.below(6);
        let mut bytes = vec![0; SLOT as usize];
        drive.read(slot * SLOT, &mut bytes).expect("readable");
        drive.write(slot * SLOT, &bytes, false).expect("written");
    }
    let drive = drive.drive_mut();
    // A program takes 0.8 to 5.7 ms.
    let at = Nanos(drive.now().0 + rng.below(20_000_000));
    let cut = drive.cut(at);
    cut.damage.torn_by_purpose[Purpose::Map as usize]
}
