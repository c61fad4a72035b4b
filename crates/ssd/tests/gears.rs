//! Both gears produce the same map. The timed drive and the counting one get the same commands; the
//! place of every mapping unit, the counters and the wear must then be the same, however many
//! commands were in progress at once.
//!
//! Where reads change the part of the map in DRAM, commands run one at a time: a read may overtake
//! a write that waits for room.

mod kinds;

use kinds::commands::Mix;
use kinds::{SLOT, all, reads_matter};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Bytes, Command, CountingDrive, Drive, DriveConfig, Nanos};

/// Runs commands with `depth` of them in progress. Each is prefetched, wherever its slots are: in
/// the buffer, on media, nowhere.
fn timed(config: &DriveConfig, commands: &[Command], depth: u32) -> Drive {
    let mut drive = Drive::new(config.clone()).expect("valid");
    let mut free: Vec<u32> = (0..depth).collect();
    for command in commands {
        let tag = free.pop().unwrap_or_else(|| {
            let done = drive.pop_completion(Nanos::MAX);
            done.expect("under way").tag
        });
        drive.prefetch(command);
        drive.prefetch_behind(command);
        drive.submit(tag, command, drive.now());
    }
    while drive.outstanding() > 0 {
        drive.pop_completion(Nanos::MAX).expect("under way");
    }
    drive
}

#[track_caller]
fn same(drive: &Drive, counting: &CountingDrive) {
    let name = &drive.config().name;
    for slot in 0..drive.config().user_slots() as u32 {
        assert_eq!(drive.find(slot), counting.find(slot), "{name}: slot {slot}");
    }
    let pairs = drive.counters().named();
    for ((counter, timed), (_, counted)) in pairs.into_iter().zip(counting.counters().named()) {
        // A read of data still on its way to media is served from the buffer.
        if !counter.starts_with("nand_reads") {
            assert_eq!(timed, counted, "{name}: {counter}");
        }
    }
    assert_eq!(drive.superblocks(), counting.superblocks(), "{name}");
    assert_eq!(drive.free_superblocks(), counting.free_superblocks());
    assert_eq!(drive.nand_work().programs, counting.nand_work().programs);
    assert_eq!(drive.nand_work().erases, counting.nand_work().erases);
    counting.check().expect("consistent");
}

#[test]
fn both_gears_leave_the_same_map() {
    for config in all() {
        for seed in 0..3 {
            let commands: Vec<Command> = Mix::new(&config, seed).take(1_000).collect();
            let mut counting = CountingDrive::new(config.clone()).expect("valid");
            counting.apply_all(&commands);
            let depths: &[u32] = if reads_matter(&config) {
                &[1]
            } else {
                &[1, 7, 64]
            };
            for &depth in depths {
                same(&timed(&config, &commands, depth), &counting);
            }
        }
    }
}

/// The drive after all commands at once, which must equal the drive after one by one.
#[track_caller]
fn all_at_once(config: &DriveConfig, commands: &[Command]) -> CountingDrive {
    let mut at_once = CountingDrive::new(config.clone()).expect("valid");
    let mut one_by_one = at_once.clone();
    at_once.apply_all(commands);
    commands
        .iter()
        .for_each(|command| one_by_one.apply(command));
    assert_eq!(format!("{at_once:?}"), format!("{one_by_one:?}"));
    at_once
}

#[test]
fn one_by_one_is_as_all_at_once() {
    for config in all() {
        let commands: Vec<Command> = Mix::new(&config, 9).take(1_000).collect();
        all_at_once(&config, &commands);
    }
}

/// Writes of one mapping unit each are taken many at a time where only their address matters; some
/// of them overlap buffered ones.
#[test]
fn single_writes_are_the_same_many_at_a_time() {
    for config in all() {
        let mut rng = Rng::named(3, "single writes");
        let slot = u64::from(config.shape.slot_bytes);
        let places = [u64::from(config.user_slots() as u32), 40];
        let commands: Vec<Command> = (0..10_000)
            .map(|index| rng.below(places[index / 500 % 2]) * slot)
            .map(|offset| Command::write(offset, slot as u32))
            .collect();
        let at_once = all_at_once(&config, &commands);
        if !reads_matter(&config) {
            same(&timed(&config, &commands, 7), &at_once);
        }
    }
}

/// The same for units of many sizes, both where units are placed and victims emptied on the plain
/// path (a power of two up to 64 slots) and elsewhere; with few and with many superblocks, a map
/// journal, and trims in between.
#[test]
fn single_writes_are_the_same_on_units_of_any_size() {
    for (kib, planes) in [(4, 1), (4, 3), (16, 1), (16, 4), (64, 4), (64, 8)] {
        for (blocks, pages, entry_bytes) in [(20, 12, 0), (60, 6, 0), (24, 6, 8)] {
            let mut config = kinds::bare();
            config.name = format!("{planes} x {kib} KiB, {blocks} of {pages}");
            config.shape.planes_per_die = planes;
            config.shape.page_bytes = kib << 10;
            config.shape.blocks_per_plane = blocks;
            config.shape.pages_per_block = pages;
            config.buffer.bytes = 4 * Bytes::MIB;
            config.ftl.journal.entry_bytes = entry_bytes;
            config.user_bytes = config.geometry().raw_bytes() * 11 / 20 / SLOT * SLOT;
            let slots = u64::from(config.user_slots() as u32);
            let mut rng = Rng::named(4, "sizes");
            let commands: Vec<Command> = (0..6 * slots)
                .map(|index| match (index / slots, rng.below(100)) {
                    (1 | 4, 0) => Command::trim(rng.below(slots) * SLOT, SLOT as u32),
                    (3, _) => Command::write(rng.below(40) * SLOT, SLOT as u32),
                    _ => Command::write(rng.below(slots) * SLOT, SLOT as u32),
                })
                .collect();
            let at_once = all_at_once(&config, &commands);
            assert!(at_once.counters().victims > 5, "{}", config.name);
            same(&timed(&config, &commands, 7), &at_once);
        }
    }
}

/// Idle work is done in the same order, too. Refresh is left out: it counts reads of the array,
/// which depend on time.
#[test]
fn both_gears_do_the_same_when_idle() {
    for config in all().into_iter().filter(|c| c.ftl.refresh_reads == 0) {
        let commands: Vec<Command> = Mix::new(&config, 4).take(1_000).collect();
        let mut counting = CountingDrive::new(config.clone()).expect("valid");
        counting.apply_all(&commands);
        counting.idle();
        let mut drive = timed(&config, &commands, 1);
        let later = Nanos(drive.now().0 + 1_000_000_000_000);
        assert_eq!(drive.pop_completion(later), None);
        assert_eq!(drive.buffered_slots(), 0);
        same(&drive, &counting);
    }
}

/// Canary: one additional command in one of them is noticed.
#[test]
#[should_panic(expected = "bare: slot 3")]
fn a_difference_is_noticed() {
    let config = kinds::bare();
    let counting = CountingDrive::new(config.clone()).expect("valid");
    same(
        &timed(&config, &[Command::write(3 * SLOT, 4096)], 1),
        &counting,
    );
}
