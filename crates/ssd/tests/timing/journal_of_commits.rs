//! Commits that go to superblocks in SLC mode of their own.

use super::*;

/// A unit written in SLC mode.
const SLC_UNIT: u64 = MOVE + 200_000;

/// A TLC drive whose commits have two superblocks, 16 rows of one slot each.
fn committing() -> DriveConfig {
    let mut config = tlc();
    config.ftl.slc.commit_superblocks = 2;
    config
}

/// Submits a command as soon as the one before has completed.
fn at_once(drive: &mut Drive, command: &Command) {
    let now = drive.now().0;
    alone(drive, command, now);
}

/// A FLUSH or a write by FUA takes a program in SLC mode where one in native mode would be due;
/// what the host does not wait for goes past these superblocks.
#[test]
fn a_commit_takes_a_program_in_slc_mode() {
    let mut drive = new(committing());
    let by_fua = OVERHEAD + LINK + SLC_UNIT + LATENCY;
    assert_eq!(alone(&mut drive, &write_fua(0, 1), 0), by_fua);
    alone(&mut drive, &write(1, 1), LATER);
    let by_flush = OVERHEAD + SLC_UNIT + LATENCY;
    let now = drive.now().0;
    assert_eq!(alone(&mut drive, &Command::flush(), now), by_flush);
    assert_eq!(drive.counters().slots_slc_mode, 2);
    for slot in 2..12 {
        at_once(&mut drive, &write(slot, 1));
    }
    let counters = drive.counters();
    assert!(counters.slots_host > 10, "{counters:?}");
    assert_eq!(counters.slots_slc_mode, 2, "no commit waits for these");
    drive.check().expect("consistent");
}

/// However full the drive is: here past its dynamic cache, and at its capacity.
#[test]
fn the_fill_of_a_drive_does_not_decide_where_a_commit_goes() {
    for above_free in [0, 40] {
        let mut config = committing();
        config.ftl.slc.dynamic_above_free = above_free;
        let slots = config.user_slots();
        let mut drive = new(config);
        for slot in 0..slots {
            at_once(&mut drive, &write(slot, 1));
        }
        let rest = drive.now().0 + 100_000_000_000;
        assert_eq!(drive.pop_completion(Nanos(rest)), None);
        let before = drive.counters().slots_slc_mode;
        let expected = OVERHEAD + LINK + SLC_UNIT + LATENCY;
        assert_eq!(alone(&mut drive, &write_fua(7, 1), rest), expected);
        assert_eq!(drive.counters().slots_slc_mode, before + 1);
        drive.check().expect("consistent");
    }
}

/// Without idle time too: the oldest superblock of commits is folded while the next one fills, so
/// that every commit is programmed in SLC mode; nothing is lost or counted twice on the way.
#[test]
fn commits_without_end_stay_in_slc_mode() {
    for superblocks in [1, 2, 5] {
        let mut config = committing();
        config.ftl.slc.commit_superblocks = superblocks;
        let mut drive = new(config);
        for count in 0..1_000_u64 {
            let command = write_fua(count * 7 % 300, 1);
            at_once(&mut drive, &command);
            assert_eq!(drive.counters().slots_slc_mode, count + 1);
        }
        let counters = drive.counters();
        assert!(counters.superblocks_folded > 50, "{counters:?}");
        assert!(drive.free_slc_superblocks() < superblocks as usize);
        drive.check().expect("consistent");
    }
}

/// A static cache of the host's own data is not used up for commits, nor the other way round.
#[test]
fn the_cache_leaves_the_superblocks_of_commits_alone() {
    let mut config = committing();
    config.ftl.slc.superblocks = 1;
    let mut drive = new(config);
    for slot in 0..40 {
        at_once(&mut drive, &write(slot, 1));
    }
    assert_eq!(drive.counters().slots_slc_mode, 16, "one superblock");
    assert_eq!(drive.free_slc_superblocks(), 2);
}

#[test]
fn more_superblocks_than_are_possible_are_refused() {
    let mut config = committing();
    config.ftl.slc.commit_superblocks = 65;
    let error = config.validate().expect_err("too many").to_string();
    assert!(error.contains("slc_commit_superblocks"), "{error}");
    config.ftl.slc.commit_superblocks = 64;
    let error = config.validate().expect_err("no room").to_string();
    assert!(error.contains("64 superblocks of pSLC"), "{error}");
}

/// Data of writes by FUA is programmed side by side; the time of the controller is taken by as many
/// at a time as may.
#[test]
fn data_of_commits_is_programmed_side_by_side() {
    const TIME: u64 = 1_000_000;
    for (at_once, rounds) in [(0, 6), (1, 6), (2, 3), (3, 2), (100, 1)] {
        let mut config = committing();
        config.shape.channel_count = 8;
        config.buffer.fua_time = Nanos(TIME);
        config.buffer.fua_at_once = at_once;
        let mut drive = new(config);
        for tag in 0..6 {
            drive.submit(tag, &write_fua(tag.into(), 1), Nanos::ZERO);
        }
        let mut last = 0;
        while let Some(done) = drive.pop_completion(Nanos::MAX) {
            last = done.done.0;
        }
        let data = OVERHEAD + LINK + SLC_UNIT + LATENCY;
        let late = last - data - rounds * TIME;
        assert!(
            late <= 5 * LINK.max(OVERHEAD),
            "{at_once}: {late} of {last}"
        );
    }
}

/// A flush places the data of its own writer at once: of many writers, only the time of the
/// controller is one after another.
#[test]
fn the_limit_of_many_flushes_is_the_time_of_the_controller() {
    const TIME: u64 = 300_000;
    let mut config = committing();
    config.shape.channel_count = 8;
    config.buffer.flush_time = Nanos(TIME);
    let mut drive = new(config);
    let mut completed = 0_u64;
    for tag in 0..8 {
        drive.submit(tag, &write(tag.into(), 1), Nanos::ZERO);
    }
    let mut flushes = [true; 8];
    let end = Nanos(200_000_000);
    while let Some(done) = drive.pop_completion(end) {
        let tag = done.tag;
        let is_flush = flushes[tag as usize];
        flushes[tag as usize] = !is_flush;
        let command = if is_flush {
            Command::flush()
        } else {
            completed += 1;
            write(u64::from(tag) + completed * 8 % 400, 1)
        };
        drive.submit(tag, &command, drive.now());
    }
    let limit = end.0 / TIME;
    assert!(
        completed > limit * 95 / 100 && completed <= limit,
        "{completed} of {limit}"
    );
    drive.check().expect("consistent");
}

/// A protected buffer takes the time of a write by FUA as a latency, and that of none else.
#[test]
fn fua_to_a_protected_buffer_takes_its_time_beside_all_others() {
    let mut config = bench();
    config.buffer.protected = true;
    config.buffer.fua_time = Nanos(50_000);
    let mut drive = new(config);
    let plain = OVERHEAD + LINK + LATENCY;
    assert_eq!(alone(&mut drive, &write(0, 1), 0), plain);
    for tag in 0..3 {
        drive.submit(tag, &write_fua(u64::from(tag) + 1, 1), Nanos(LATER));
    }
    for tag in 0..3 {
        let received = OVERHEAD + u64::from(tag + 1) * LINK;
        completes(&mut drive, tag, LATER + received + LATENCY + 50_000);
    }
}
