//! Wear of media: cycles are erases, each block is in one place, failed blocks are never used
//! again, levelling narrows the spread of cycles at a cost of its own, and the drive ends its life
//! by its policy.

mod kinds;

use kinds::SLOT;
use ssdlab_ssd::config::DriveConfig;
use ssdlab_ssd::drive::power::{DataDrive, DataError, Power};
use ssdlab_ssd::ftl::SlotPlace;
use ssdlab_ssd::nand::reliability::LevellingConfig;
use ssdlab_ssd::nand::{EndOfLife, Purpose, WearConfig};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, CountingDrive, Drive, Nanos};

fn config(change: fn(&mut WearConfig)) -> DriveConfig {
    let mut config = kinds::bare();
    config.shape.pages_per_block = 12;
    config.user_bytes = 340 * SLOT;
    config.ftl.reclaim.free_superblocks_low = 4;
    let mut wear = WearConfig::tiny();
    change(&mut wear);
    config.wear = Some(wear);
    config
}

/// Nothing ever fails.
fn lasting(wear: &mut WearConfig) {
    wear.failure_cycles = vec![u32::MAX];
    wear.retire_above = u64::MAX;
    wear.levelling = LevellingConfig::default();
}

/// Writes the first `slots` slots at random, `count` times.
fn write(drive: &mut CountingDrive, rng: &mut Rng, slots: u64, count: u32) {
    for _ in 0..count {
        drive.apply(&Command::write(rng.below(slots) * SLOT, SLOT as u32));
    }
}

fn filled(config: &DriveConfig) -> CountingDrive {
    let mut drive = CountingDrive::new(config.clone()).expect("valid");
    for slot in 0..config.user_slots() {
        drive.apply(&Command::write(slot * SLOT, SLOT as u32));
    }
    drive
}

fn spread(drive: &CountingDrive) -> u32 {
    let wear = drive.reliability().expect("wears");
    let most = wear.cycles_in_use().max().expect("blocks");
    most - wear.cycles_in_use().min().expect("blocks")
}

#[test]
fn every_erase_is_a_cycle_and_wear_off_changes_no_decision() {
    let worn = config(lasting);
    let mut fresh = worn.clone();
    fresh.wear = None;
    let (mut a, mut b) = (filled(&worn), filled(&fresh));
    let (mut rng, mut twin) = (Rng::named(1, "wear"), Rng::named(1, "wear"));
    write(&mut a, &mut rng, 340, 20_000);
    write(&mut b, &mut twin, 340, 20_000);
    a.check().expect("consistent");
    let cycles: u64 = a.reliability().expect("wears").cycles_total();
    assert_eq!(cycles, a.counters().nand_erases);
    assert!(cycles > 500, "{cycles}");
    assert_eq!(a.counters(), b.counters());
    for slot in 0..340 {
        assert_eq!(a.find(slot), b.find(slot));
    }
}

#[test]
fn a_drive_dies_read_only_with_all_its_data() {
    let config = config(|_| {});
    let mut drive = filled(&config);
    let mut rng = Rng::named(1, "wear");
    let mut before = 0;
    while drive.ended().is_none() {
        write(&mut drive, &mut rng, 340, 100);
        drive.check().expect("consistent");
        let counters = drive.reliability().expect("wears").counters();
        assert!(counters.blocks_retired >= before, "never fewer");
        before = counters.blocks_retired;
        assert!(drive.counters().host_writes < 1_000_000, "it must end");
    }
    assert_eq!(drive.ended(), Some(EndOfLife::ReadOnly));
    let timed = drive.clone().into_timed().expect("at rest");
    assert_eq!(timed.ended(), drive.ended(), "the same with time");
    let counters = drive.reliability().expect("wears").counters();
    assert!(counters.program_failures > 0 && counters.erase_failures > 0);
    assert!(counters.superblocks_retired > 0);
    let written = drive.counters().host_writes;
    write(&mut drive, &mut rng, 340, 10);
    assert_eq!(drive.counters().host_writes, written, "no writes any more");
    let refused = drive.reliability().expect("wears").counters();
    assert!(refused.commands_refused >= 10);
    assert!((0..340).all(|slot| drive.find(slot) != SlotPlace::Unmapped));
    drive.apply(&Command::read(0, 4096));
    assert_eq!(drive.counters().host_reads, 1, "reads are served");
}

#[test]
fn a_failed_drive_refuses_everything_and_a_slow_one_continues() {
    let mut dead = filled(&config(|w| w.end_of_life = EndOfLife::Failed));
    let mut slow = filled(&config(|w| w.end_of_life = EndOfLife::Slow));
    let mut rng = Rng::named(1, "wear");
    while dead.ended().is_none() {
        write(&mut dead, &mut rng, 340, 100);
    }
    dead.apply(&Command::read(0, 4096));
    assert_eq!(dead.counters().host_reads, 0);
    while slow.ended().is_none() {
        write(&mut slow, &mut rng, 340, 100);
    }
    let before = slow.counters().host_writes;
    write(&mut slow, &mut rng, 340, 1_000);
    assert_eq!(slow.counters().host_writes, before + 1_000);
    slow.check().expect("consistent");
}

/// Nine tenths of the data are never written again. Without levelling their blocks do not age.
#[test]
fn static_levelling_narrows_the_spread_and_has_its_own_cost() {
    let mut spreads = Vec::new();
    for gap in [0, 5] {
        let mut config = config(lasting);
        let levelling = &mut config.wear.as_mut().expect("on").levelling;
        levelling.static_gap = gap;
        levelling.static_every = 1;
        let mut drive = filled(&config);
        write(&mut drive, &mut Rng::named(1, "wear"), 34, 60_000);
        drive.check().expect("consistent");
        let c = drive.counters();
        assert_eq!(c.slots_levelled > 0, gap > 0);
        assert_eq!(c.superblocks_levelled > 0, gap > 0);
        assert!(c.slots_levelled < c.slots_host, "{c:?}");
        spreads.push(spread(&drive));
    }
    assert!(spreads[0] > 100, "{spreads:?}");
    assert!(spreads[1] <= 12, "{spreads:?}");
}

#[test]
fn data_that_fades_is_rewritten_when_idle() {
    let mut drive = filled(&config(lasting));
    let refreshed = |drive: &CountingDrive| drive.counters().superblocks_refreshed;
    drive.rest(1);
    drive.idle();
    assert_eq!(refreshed(&drive), 0, "an hour has no effect");
    drive.rest(2_000);
    drive.idle();
    let found = refreshed(&drive);
    assert!(found > 0);
    drive.rest(0);
    drive.idle();
    assert_eq!(refreshed(&drive), found, "all is fresh");
    drive.check().expect("consistent");
}

/// A patrol used to cost no NAND work. It reads two pages of each full block: all are counted, and
/// they take time of the dies and energy.
#[test]
fn a_patrol_reads_nand() {
    let mut config = config(lasting);
    config.energy.read_nj = [1_000; 8];
    let sum = |reads: &[u64; 8]| reads.iter().sum::<u64>();
    let mut counting = filled(&config);
    counting.idle();
    let before = sum(&counting.nand_work().reads);
    let used = counting.superblocks().iter().filter(|s| !s.free).count() as u64;
    counting.rest(1);
    counting.idle();
    let reads = counting.counters().nand_reads_patrol;
    assert_eq!(sum(&counting.nand_work().reads), before + reads);
    let each = 2 * u64::from(config.geometry().die_count);
    assert_eq!(reads % each, 0);
    let full = reads / each;
    assert!(
        full <= used && full + 3 >= used,
        "{full} of {used}: open ones are not read"
    );

    let mut drive = counting.into_timed().expect("timed");
    let (busy, energy) = (drive.busy_by_purpose(), drive.energy().read_nj);
    drive.rest(1);
    assert!(drive.pop_completion(Nanos::from_secs(1)).is_none());
    assert_eq!(drive.counters().nand_reads_patrol, 2 * reads);
    let at = Purpose::Refresh as usize;
    let taken = drive.busy_by_purpose()[at] - busy[at];
    assert!(taken >= reads * 50_000, "{taken} ns");
    assert_eq!(drive.energy().read_nj - energy, u128::from(reads) * 1_000);

    config.wear.as_mut().expect("on").patrol_pages = 0;
    let mut never = filled(&config);
    never.rest(2_000);
    never.idle();
    assert_eq!(never.counters().nand_reads_patrol, 0);
    assert_eq!(never.counters().superblocks_refreshed, 0, "nobody looks");
}

/// Two patrols find the same in both gears, whose maps then agree.
#[test]
fn a_patrol_finds_the_same_in_both_gears() {
    let mut counting = filled(&config(lasting));
    counting.idle();
    let mut drive = counting.clone().into_timed().expect("timed");
    for hours in [2_000, 1_500] {
        counting.rest(hours);
        counting.idle();
        drive.rest(hours);
        while drive
            .pop_completion(Nanos(drive.now().0 + 1_000_000_000))
            .is_some()
        {}
    }
    assert!(counting.counters().superblocks_refreshed > 0);
    assert_eq!(counting.counters(), drive.counters());
    assert!(counting.reliability() == drive.reliability());
    assert!((0..340).all(|slot| counting.find(slot) == drive.find(slot)));
}

/// Programs get faster, erases slower, and reads with retries take longer: one of each on an idle
/// drive, new and worn.
#[test]
fn times_follow_wear() {
    let slow_reads = config(|w| {
        lasting(w);
        w.correctable = vec![1, 1_000_000_000_000];
    });
    let quick = config(lasting);
    let read_ns = |config: &DriveConfig| {
        let mut drive = Drive::new(config.clone()).expect("valid");
        let mut at = Nanos(0);
        for slot in 0..config.user_slots() {
            drive.submit(0, &Command::write(slot * SLOT, SLOT as u32), at);
            at = drive.pop_completion(Nanos::MAX).expect("done").done;
        }
        let at = Nanos(at.0 + 10_000_000_000);
        while drive.pop_completion(at).is_some() {}
        drive.submit(0, &Command::read(0, SLOT as u32), at);
        let done = drive.pop_completion(Nanos::MAX).expect("done");
        done.done.0 - done.submitted.0
    };
    // One retry: sensing again (lower page: 60 us) and 80 us besides.
    assert_eq!(read_ns(&slow_reads), read_ns(&quick) + 140_000);
}

#[test]
fn impossible_wear_is_refused() {
    let cases: [fn(&mut DriveConfig); 6] = [
        |c| c.wear.as_mut().expect("on").correctable.clear(),
        |c| c.wear.as_mut().expect("on").correctable = vec![2, 1],
        |c| c.wear.as_mut().expect("on").failure_cycles = vec![0],
        |c| c.wear.as_mut().expect("on").levelling.static_every = 0,
        |c| c.ftl.reclaim.free_superblocks_low = 3,
        |c| c.ftl.mapping.kind = ssdlab_ssd::config::MappingKind::Block,
    ];
    for change in cases {
        let mut config = config(|_| {});
        change(&mut config);
        config.validate().expect_err("impossible");
    }
}

/// Saved in the middle of its life and loaded, a counting drive continues like the original; and in
/// virtual time it has the same map and wear.
#[test]
fn a_counting_drive_is_saved_resumed_and_put_into_time() {
    for config in kinds::all() {
        let mut drive = CountingDrive::new(config.clone()).expect("valid");
        let mut commands = kinds::commands::Mix::new(&config, 3);
        for command in commands.by_ref().take(1_500) {
            drive.apply(&command);
        }
        let mut bytes = Vec::new();
        drive.save(&mut bytes).expect("written");
        let length = bytes.len() as u64;
        let mut again = CountingDrive::load(&mut bytes.as_slice(), length).expect("loaded");
        for command in commands.by_ref().take(500) {
            drive.apply(&command);
            again.apply(&command);
        }
        again.check().expect("consistent");
        assert_eq!(drive.counters(), again.counters(), "{}", config.name);
        CountingDrive::load(&mut &bytes[..bytes.len() / 2], length).expect_err("cut short");
        let wear = drive.reliability().map(|wear| wear.counters().clone());
        let timed = again.into_timed().expect("page-mapped");
        timed.check().expect("consistent");
        assert_eq!(timed.buffered_slots(), 0);
        if let (Some(before), Some(now)) = (wear, timed.reliability()) {
            assert!(now.counters().blocks_retired >= before.blocks_retired);
        }
    }
}

/// Long sequential runs, sometimes interrupted by other commands: whole rows at a time must give
/// the same state as slot by slot.
#[test]
fn runs_leave_what_slot_by_slot_leaves() {
    for parity in [false, true] {
        for wear in [false, true] {
            let mut config = config(|_| {});
            config.shape.dies_per_channel = 2;
            config.ftl.parity = parity;
            config.user_bytes = 600 * SLOT;
            if !wear {
                config.wear = None;
            }
            let (mut run, mut slots) = (filled(&config), filled(&config));
            let mut rng = Rng::named(9, "runs");
            for _ in 0..if wear { 150 } else { 600 } {
                let first = if rng.percent(30) { 0 } else { rng.below(600) };
                let count = 1 + rng.below(600 - first);
                run.write_run(first * SLOT, count * SLOT, SLOT as u32);
                for slot in first..first + count {
                    slots.apply(&Command::write(slot * SLOT, SLOT as u32));
                }
                assert_eq!(run.ended(), slots.ended());
                if run.ended().is_some() {
                    break;
                }
                assert_eq!(run.counters(), slots.counters());
                assert_eq!(run.nand_work(), slots.nand_work());
            }
            // At the end of life a run is taken as a whole, while commands are refused one by one.
            let alive = run.ended().is_none();
            for slot in (0..600).filter(|_| alive) {
                assert_eq!(run.find(slot), slots.find(slot), "slot {slot}");
            }
            run.check().expect("consistent");
            let cycles = |d: &CountingDrive| d.reliability().map(|w| w.cycles_total());
            assert!(!alive || cycles(&run) == cycles(&slots));
            assert!(alive || wear, "without wear it never ends");
        }
    }
}

#[test]
fn a_leap_keeps_every_law() {
    let mut drive = filled(&config(lasting));
    let mut rng = Rng::named(1, "wear");
    write(&mut drive, &mut rng, 340, 5_000);
    let (counters, work) = (drive.counters().clone(), drive.nand_work().clone());
    write(&mut drive, &mut rng, 340, 1_000);
    let before = drive.counters().clone();
    drive.leap(&counters, &work, 10);
    drive.check().expect("consistent");
    let grown = drive.counters().slots_host - before.slots_host;
    assert_eq!(grown, 10 * (before.slots_host - counters.slots_host));
    write(&mut drive, &mut rng, 340, 1_000);
    drive.check().expect("consistent");
}

/// A drive that was written to its end.
fn worn_out() -> Drive {
    let mut drive = filled(&config(|_| {}));
    let mut rng = Rng::named(1, "wear");
    while drive.ended().is_none() {
        write(&mut drive, &mut rng, 340, 100);
    }
    drive.into_timed().expect("page-mapped")
}

/// Other firmware on a worn array: the cycles stay, the data is gone, and retired superblocks stay
/// retired.
#[test]
fn a_used_array_goes_on_under_another_layer() {
    let worn = worn_out();
    let cycles = |drive: &Drive| -> u64 { drive.reliability().unwrap().cycles_total() };
    let mut config = worn.config().clone();
    config.ftl.compression_pack = 2;
    let taken = Drive::on_used_array(config, &worn).unwrap();
    taken.check().unwrap();
    let retired = |drive: &Drive| drive.reliability().unwrap().counters().superblocks_retired;
    assert!(retired(&worn) > 0, "the example wears out");
    assert_eq!(retired(&taken), retired(&worn));
    let usable = worn.reliability().unwrap().cycles_in_use().count() as u64;
    assert_eq!(cycles(&taken), cycles(&worn) + usable, "one erase of each");
    assert_eq!(taken.counters().host_bytes_written, 0);
    let mut other = worn.config().clone();
    other.shape.blocks_per_plane += 1;
    assert!(Drive::on_used_array(other, &worn).is_err());
}

/// Firmware with a larger pSLC cache may need more native superblocks than a worn array has left:
/// it is refused. Without the check, the new drive's reclaim had no room.
#[test]
fn firmware_that_needs_more_than_is_left_is_refused() {
    let worn = worn_out();
    let wear = worn.reliability().unwrap();
    let count = worn.config().geometry().superblock_count;
    let (mut taken, mut refused) = (0, 0);
    for slc in 0..count {
        let mut config = worn.config().clone();
        config.ftl.slc.superblocks = slc;
        if config.validate().is_err() {
            continue;
        }
        let left = (slc..count).filter(|s| !wear.is_retired(*s)).count() as u64;
        let enough = left >= config.native_superblocks_min();
        match Drive::on_used_array(config, &worn) {
            Ok(drive) => {
                assert!(enough, "{slc}: {left} left");
                drive.check().unwrap();
                taken += 1;
            }
            Err(error) => {
                assert!(!enough, "{slc}: {left} left: {error}");
                assert!(error.to_string().contains("native superblocks"), "{error}");
                refused += 1;
            }
        }
    }
    assert!(taken > 0 && refused > 0, "{taken} {refused}");
}

/// The clock of the timed gear begins patrols by itself: as often as the period says, the same
/// twice, and never without a period. Patrols used to begin only by a call of `rest`.
#[test]
fn the_drives_own_clock_begins_patrols() {
    const HOUR: u64 = 3_600_000_000_000;
    let patrolled = |hours: u32| {
        let mut config = config(lasting);
        config.wear.as_mut().expect("on").patrol_hours = hours;
        let mut drive = filled(&config).into_timed().expect("page-mapped");
        assert!(drive.pop_completion(Nanos(99 * HOUR)).is_none());
        assert_eq!(drive.now(), Nanos(99 * HOUR));
        drive.check().expect("consistent");
        drive.counters().nand_reads_patrol
    };
    assert_eq!(patrolled(0), 0);
    assert_eq!(patrolled(100), 0);
    let once = patrolled(60);
    assert!(once > 0);
    // Begun after 20, 40, 60 and 80 hours. The open superblocks differ where data was rewritten.
    let often = patrolled(20);
    assert!(often > 3 * once && often < 5 * once, "{often} {once}");
    assert_eq!(often, patrolled(20));
}

/// Waiting for the next completion of an idle drive without a limit returns, although patrols go on
/// for ever.
#[test]
fn waiting_without_end_does_not_wait_for_patrols() {
    let mut config = config(lasting);
    config.wear.as_mut().expect("on").patrol_hours = 1;
    let mut drive = filled(&config).into_timed().expect("page-mapped");
    assert!(drive.pop_completion(Nanos::MAX).is_none());
}

/// A drive that always has a command outstanding is never idle. Its patrol still runs, spread over
/// half of the period.
#[test]
fn a_drive_that_is_never_idle_is_patrolled() {
    const HOUR: u64 = 3_600_000_000_000;
    let mut config = config(lasting);
    config.wear.as_mut().expect("on").patrol_hours = 100;
    config.ftl.idle_after = Nanos(1_000 * HOUR);
    let mut drive = filled(&config).into_timed().expect("page-mapped");
    let count = |drive: &Drive| drive.counters().nand_reads_patrol;
    let mut at = drive.now().0;
    let begin = at;
    let mut run_to = |drive: &mut Drive, hours: u64| {
        while at < begin + hours * HOUR {
            at += HOUR / 10;
            while drive.pop_completion(Nanos(at)).is_some() {}
            drive.submit(0, &Command::read(0, 4096), Nanos(at));
        }
        while drive.pop_completion(Nanos(at)).is_some() {}
    };
    run_to(&mut drive, 99);
    assert_eq!(count(&drive), 0);
    run_to(&mut drive, 106);
    let early = count(&drive);
    run_to(&mut drive, 150);
    let all = count(&drive);
    assert!(0 < early && early < all, "{early} {all}");
    run_to(&mut drive, 190);
    assert_eq!(
        count(&drive),
        all,
        "one patrol is over after half of its period"
    );
    drive.check().expect("consistent");
}

/// Saved between two patrols, a drive has the next one when it would have had it.
#[test]
fn a_saved_drive_keeps_its_patrols_time() {
    const HOUR: u64 = 3_600_000_000_000;
    let mut config = config(lasting);
    config.wear.as_mut().expect("on").patrol_hours = 10;
    let mut drive = filled(&config).into_timed().expect("page-mapped");
    drive.pop_completion(Nanos(15 * HOUR));
    let mut bytes = Vec::new();
    drive.save(&mut bytes).expect("saved");
    let length = bytes.len() as u64;
    let mut other = Drive::load(&mut bytes.as_slice(), length).expect("loaded");
    for drive in [&mut drive, &mut other] {
        drive.pop_completion(Nanos(21 * HOUR));
    }
    assert_eq!(drive.counters(), other.counters());
    assert!(drive.counters().nand_reads_patrol > 0);
}

/// Dynamic levelling gives host data to the free superblock with the fewest erases: under uniform
/// writes without static levelling, the erase counts of the superblocks stay close together.
#[test]
fn dynamic_levelling_keeps_erase_counts_together() {
    let mut config = DriveConfig::tiny();
    config.ftl.slc.superblocks = 0;
    let mut wear = WearConfig::tiny();
    wear.failure_cycles
        .iter_mut()
        .for_each(|cycles| *cycles = 1_000_000);
    wear.levelling.dynamic = true;
    wear.levelling.static_gap = 0;
    config.wear = Some(wear);
    config.shape.pages_per_block = 12;
    config.ftl.reclaim.free_superblocks_low = 8;
    let slots = config.user_slots();
    let mut drive = CountingDrive::new(config).expect("possible");
    let mut rng = Rng::new(1);
    for _ in 0..40_000 {
        drive.apply(&Command::write(rng.below(slots) * 4096, 4096));
    }
    let erases: Vec<u32> = drive.superblocks().iter().map(|s| s.erases).collect();
    let (least, most) = (erases.iter().min(), erases.iter().max());
    assert!(most <= least.map(|least| least + 6).as_ref(), "{erases:?}");
}

/// One command alone; whether it met data beyond correction.
fn lost(drive: &mut Drive, tag: u32, command: &Command) -> bool {
    drive.submit(tag, command, drive.now());
    drive.pop_completion(Nanos::MAX).expect("completes");
    let lost = drive.take_unreadable(tag);
    assert!(!drive.take_unreadable(tag), "taken once");
    lost
}

/// Data faded beyond the last try is an error to the host, with and without read-ahead.
#[test]
fn a_read_beyond_correction_is_an_error_to_the_host() {
    for read_ahead in [0, 8] {
        let mut config = config(lasting);
        config.host.read_ahead = read_ahead;
        let mut drive = Drive::new(config).expect("valid");
        let (one, four) = (SLOT as u32, 4 * SLOT as u32);
        for slot in 0..40 {
            assert!(!lost(&mut drive, 1, &Command::write(slot * SLOT, one)));
        }
        lost(&mut drive, 1, &Command::flush());
        assert!(!lost(&mut drive, 1, &Command::read(0, four)));
        drive.rest(50_000);
        // In blocks opened now.
        for slot in (20..24).cycle().take(100) {
            assert!(!lost(&mut drive, 1, &Command::write(slot * SLOT, one)));
            lost(&mut drive, 1, &Command::flush());
        }
        for slot in 0..40 {
            let faded = !(20..24).contains(&slot);
            let found = lost(&mut drive, 2, &Command::read(slot * SLOT, one));
            assert_eq!(found, faded, "slot {slot}, {read_ahead} ahead");
        }
        assert!(lost(&mut drive, 1, &Command::read(16 * SLOT, 8 * one)));
        lost(&mut drive, 1, &Command::trim(0, 4096));
        assert!(!lost(&mut drive, 1, &Command::read(0, one)), "trimmed");
    }
}

/// A drive with bytes hands out none that it cannot correct, and takes none that it will not keep.
#[test]
fn a_worn_drive_with_bytes_says_so() {
    let config = config(|wear| {
        wear.failure_cycles = vec![3];
        wear.reserve_blocks = 1;
    });
    let mut drive = DataDrive::new(config, Power::default()).expect("valid");
    let mut rng = Rng::named(1, "bytes");
    let mut acknowledged = vec![0_u8; 340];
    let refused = loop {
        let (slot, byte) = (rng.below(340), rng.below(255) as u8 + 1);
        match drive.write(slot * SLOT, &[byte; SLOT as usize], false) {
            Ok(_) => acknowledged[slot as usize] = byte,
            Err(error) => break error,
        }
    };
    assert_eq!(refused, DataError::Ended);
    let mut bytes = [0; SLOT as usize];
    for (slot, &byte) in (0..).zip(&acknowledged) {
        match drive.read(slot * SLOT, &mut bytes) {
            Ok(_) => assert_eq!(bytes, [byte; SLOT as usize], "slot {slot}"),
            Err(DataError::Unreadable { offset, .. }) if offset == slot * SLOT => (),
            Err(other) => panic!("{other}"),
        }
    }
}
