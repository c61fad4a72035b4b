//! FUA, FLUSH and commits: to the nanosecond.

use super::*;
use ssdlab_ssd::nand::Suspend;

#[test]
fn fua_on_a_volatile_buffer_takes_data_then_map_programs() {
    for map_programs in 0..4 {
        let mut config = bench();
        config.ftl.journal.commit_map_programs = map_programs;
        let mut drive = new(config);
        let programs = u64::from(1 + map_programs) * UNIT;
        let expected = OVERHEAD + LINK + programs + LATENCY;
        drive.submit(0, &write_fua(7, 1), Nanos(5));
        completes(&mut drive, 0, 5 + expected);
    }
}

#[test]
fn map_programs_wait_for_the_data_even_on_another_die() {
    let mut config = bench();
    config.shape.channel_count = 4;
    config.ftl.journal.commit_map_programs = 2;
    let expected = OVERHEAD + LINK + 3 * UNIT + LATENCY;
    assert_eq!(alone(&mut new(config), &write_fua(0, 1), 0), expected);
}

#[test]
fn fua_over_two_dies_programs_both_at_once() {
    let mut config = bench();
    config.shape.channel_count = 2;
    let expected = OVERHEAD + 2 * LINK + UNIT + LATENCY;
    assert_eq!(alone(&mut new(config), &write_fua(0, 2), 0), expected);
    let mut config = bench();
    config.shape.dies_per_channel = 2;
    let expected = expected + MOVE;
    assert_eq!(alone(&mut new(config), &write_fua(0, 2), 0), expected);
}

#[test]
fn fua_closes_the_word_lines_it_begins_where_configured() {
    for (closes, map_programs, programs) in [
        (true, 0, WORD_LINE),
        (true, 1, 2 * WORD_LINE),
        (false, 0, MOVE + TLC[0]),
        (false, 1, 2 * MOVE + TLC[0] + TLC[1]),
    ] {
        let mut config = tlc();
        config.ftl.journal.commit_map_programs = map_programs;
        config.ftl.journal.commit_closes_word_lines = closes;
        let mut drive = new(config);
        let expected = OVERHEAD + LINK + programs + LATENCY;
        assert_eq!(alone(&mut drive, &write_fua(0, 1), 0), expected);
        let padding = if closes { 2 + 2 * map_programs } else { 0 };
        assert_eq!(drive.counters().slots_padding, u64::from(padding));
    }
}

#[test]
fn fua_into_the_pslc_cache_needs_no_closing() {
    let mut config = tlc();
    config.ftl.slc.superblocks = 2;
    config.ftl.journal.commit_map_programs = 1;
    config.ftl.journal.commit_closes_word_lines = true;
    let mut drive = new(config);
    let expected = OVERHEAD + LINK + 2 * (MOVE + 200_000) + LATENCY;
    assert_eq!(alone(&mut drive, &write_fua(0, 1), 0), expected);
    assert_eq!(drive.counters().slots_slc_mode, 2);
}

#[test]
fn commits_are_serial() {
    let mut config = bench();
    config.shape.channel_count = 8;
    config.ftl.journal.commit_map_programs = 1;
    let mut drive = new(config);
    for tag in 0..8 {
        drive.submit(tag, &write_fua(tag.into(), 1), Nanos::ZERO);
    }
    for tag in 0..8 {
        let commits = u64::from(tag + 1) * 2 * UNIT;
        completes(&mut drive, tag, OVERHEAD + LINK + commits + LATENCY);
    }
}

#[test]
fn a_flush_with_nothing_dirty_costs_only_overhead() {
    for map_programs in [0, 2] {
        let mut config = bench();
        config.ftl.journal.commit_map_programs = map_programs;
        let mut drive = new(config.clone());
        let quick = OVERHEAD + LATENCY;
        assert_eq!(alone(&mut drive, &Command::flush(), 0), quick, "factory");
        let mut drive = written(config, 5);
        let flush = alone(&mut drive, &Command::flush(), LATER);
        assert_eq!(flush, quick, "after a flush");
        // A trim is a change to the map, with no data.
        alone(&mut drive, &Command::trim(0, 4096), 2 * LATER);
        let flush = alone(&mut drive, &Command::flush(), 3 * LATER);
        assert_eq!(
            flush,
            quick + u64::from(map_programs) * UNIT,
            "after a trim"
        );
    }
}

#[test]
fn a_flush_takes_a_program_for_every_unit_begun() {
    let unit = 8 * MOVE + PROGRAM;
    for dirty in 1..=64 {
        let mut config = wide(8);
        config.ftl.journal.commit_map_programs = 1;
        let mut drive = new(config);
        drive.submit(0, &write(0, dirty), Nanos::ZERO);
        let received = OVERHEAD + dirty * LINK;
        completes(&mut drive, 0, received + LATENCY);
        drive.submit(1, &Command::flush(), drive.now());
        // Whole units went to the die as soon as more data arrived; the last waited for the flush.
        let begin = match dirty {
            1..=8 => received + LATENCY + OVERHEAD,
            _ => received,
        };
        let programs = dirty.div_ceil(8) + 1;
        completes(&mut drive, 1, begin + programs * unit + LATENCY);
        assert_eq!(drive.buffered_slots(), 0);
    }
}

#[test]
fn a_flush_waits_for_data_already_given_to_a_die() {
    for map_programs in 0..3 {
        let mut config = bench();
        config.shape.channel_count = 4;
        config.ftl.journal.commit_map_programs = map_programs;
        let mut drive = new(config);
        let idle = alone(&mut drive, &write(0, 1), 0) + IDLE;
        // Placed when idle; the flush comes while it is programmed.
        assert_eq!(drive.pop_completion(Nanos(idle + 1_000)), None);
        drive.submit(1, &Command::flush(), Nanos(idle + 1_000));
        let programs = u64::from(1 + map_programs) * UNIT;
        completes(&mut drive, 1, idle + programs + LATENCY);
    }
}

#[test]
fn a_flush_closes_the_word_lines_that_data_has_begun() {
    for (closes, count) in [(true, 1), (true, 2), (true, 3), (false, 1), (false, 2)] {
        let mut config = tlc();
        config.ftl.journal.commit_closes_word_lines = closes;
        let mut drive = new(config);
        drive.submit(0, &write(0, count), Nanos::ZERO);
        let received = OVERHEAD + count * LINK;
        completes(&mut drive, 0, received + LATENCY);
        drive.submit(1, &Command::flush(), drive.now());
        let pages = if closes { 3 } else { count as usize };
        let programs: u64 = TLC[..pages].iter().map(|time| MOVE + time).sum();
        // Only the last slot waits for the flush.
        let wait = if count == 1 { LATENCY + OVERHEAD } else { 0 };
        completes(&mut drive, 1, received + wait + programs + LATENCY);
    }
}

/// The same random commands, FUA set on none or on all writes.
fn random_mix(config: &DriveConfig, fua: bool) -> Vec<(u32, Nanos)> {
    let mut drive = new(config.clone());
    let mut rng = Rng::named(3, "protected");
    let mut ends = Vec::new();
    for n in 0..20_000 {
        let at = Nanos(drive.now().0 + rng.below(400_000));
        while let Some(done) = drive.pop_completion(at) {
            ends.push((done.tag, done.done));
        }
        let slot = rng.below(1_900);
        let command = match rng.below(10) {
            0..3 => read(slot, 1 + rng.below(4)),
            3 => Command::flush(),
            _ => Command {
                fua,
                ..write(slot, 1 + rng.below(4))
            },
        };
        drive.submit(n, &command, at);
    }
    while let Some(done) = drive.pop_completion(Nanos::MAX) {
        ends.push((done.tag, done.done));
    }
    ends
}

#[test]
fn on_a_protected_buffer_fua_is_a_plain_write_to_the_nanosecond() {
    let mut config = bench();
    config.buffer.protected = true;
    config.ftl.journal.commit_map_programs = 3;
    assert_eq!(random_mix(&config, true), random_mix(&config, false));
    config.buffer.protected = false;
    assert_ne!(random_mix(&config, true), random_mix(&config, false));
}

#[test]
fn on_a_protected_buffer_a_flush_costs_only_overhead() {
    let mut config = bench();
    config.buffer.protected = true;
    config.ftl.journal.commit_map_programs = 3;
    let mut drive = new(config);
    for tag in 0..50 {
        drive.submit(tag, &write(tag.into(), 1), Nanos::ZERO);
    }
    while drive.pop_completion(Nanos::MAX).is_some() {}
    let now = drive.now().0;
    let flush = alone(&mut drive, &Command::flush(), now);
    assert_eq!(flush, OVERHEAD + LATENCY);
}

/// A commit is firm: a read that arrives during it overtakes none of its programs.
#[test]
fn a_read_does_not_delay_a_commit() {
    for map_programs in 0..3 {
        let mut config = bench();
        config.ftl.journal.commit_map_programs = map_programs;
        config.nand.suspend = Some(Suspend::new(Nanos(1_000), Nanos(1_000), 9));
        let mut drive = written(config, 8);
        drive.submit(0, &write_fua(100, 1), Nanos(LATER));
        drive.submit(1, &read(0, 1), Nanos(LATER));
        let end = LATER + OVERHEAD + LINK + u64::from(1 + map_programs) * UNIT;
        completes(&mut drive, 0, end + LATENCY);
        completes(&mut drive, 1, end + SENSE + MOVE + LINK + LATENCY);
    }
}

/// A plain write then takes as long as one with FUA, and a flush finds nothing to do.
#[test]
fn with_the_write_cache_off_a_write_completes_on_media() {
    for (protected, cache) in [(false, true), (false, false), (true, false)] {
        let ends: Vec<u64> = [Command::write(0, 4096), Command::write_fua(0, 4096)]
            .iter()
            .map(|command| {
                let mut config = wide(8);
                config.buffer.protected = protected;
                config.buffer.write_cache = cache;
                let mut drive = new(config);
                drive.submit(0, command, Nanos::ZERO);
                let end = drive.pop_completion(Nanos::MAX).expect("under way").done;
                if !cache {
                    drive.submit(1, &Command::flush(), end);
                    let flushed = drive.pop_completion(Nanos::MAX).expect("under way").done;
                    assert_eq!(flushed.0 - end.0, OVERHEAD + LATENCY);
                }
                end.0
            })
            .collect();
        let waits = ends[0] > UNIT;
        assert_eq!(waits, !protected && !cache, "{ends:?}");
        assert_eq!(ends[0] == ends[1], protected || !cache, "{ends:?}");
    }
}

/// `writers` that write a slot and flush, again and again; flushes per second of virtual time.
fn durable_writes(joined: bool, writers: u64) -> f64 {
    let mut config = wide(8);
    config.shape.channel_count = 4;
    config.ftl.journal.commit_map_programs = 1;
    config.buffer.joined_flushes = joined;
    let mut drive = new(config);
    let mut writes = vec![0; writers as usize];
    for tag in 0..writers {
        drive.submit(tag as u32, &write(tag * 100, 1), Nanos::ZERO);
    }
    let mut flushes = 0;
    while flushes < 2_000 {
        let done = drive.pop_completion(Nanos::MAX).expect("under way");
        let n = &mut writes[done.tag as usize];
        *n += 1;
        let command = match *n % 2 {
            1 => Command::flush(),
            _ => write(u64::from(done.tag) * 100 + *n % 100, 1),
        };
        flushes += u64::from((*n).is_multiple_of(2));
        drive.submit(done.tag, &command, done.done);
    }
    drive.check().expect("consistent");
    2e12 / drive.now().0 as f64
}

/// One commit runs at a time, and covers what was in the buffer when it began: of many writers,
/// about half take part in each. Without, all of those that are in step share one commit.
#[test]
fn joined_flushes_gain_less_than_the_number_of_writers() {
    let one = durable_writes(true, 1);
    assert!((one / durable_writes(false, 1) - 1.0).abs() < 1e-9);
    let gain = |writers| durable_writes(true, writers) / one;
    for writers in [4, 8, 16] {
        let gain = gain(writers) / writers as f64;
        assert!((0.45..0.6).contains(&gain), "{gain} of {writers}");
    }
    assert!(durable_writes(false, 8) > 7.0 * one);
}

#[test]
fn flushes_that_wait_share_the_next_commit() {
    let mut config = bench();
    config.shape.channel_count = 8;
    config.buffer.joined_flushes = true;
    let mut drive = new(config);
    drive.submit(0, &write(0, 1), Nanos::ZERO);
    completes(&mut drive, 0, OVERHEAD + LINK + LATENCY);
    let first = drive.now().0;
    drive.submit(0, &Command::flush(), Nanos(first));
    // Two writers come while it runs, each flushes when its write is acknowledged.
    drive.submit(1, &write(1, 1), Nanos(first));
    drive.submit(2, &write(2, 1), Nanos(first));
    let received = first + 2 * OVERHEAD + LINK;
    completes(&mut drive, 1, received + LATENCY);
    drive.submit(1, &Command::flush(), drive.now());
    completes(&mut drive, 2, received + LINK + LATENCY);
    drive.submit(2, &Command::flush(), drive.now());
    let end = first + OVERHEAD + UNIT;
    completes(&mut drive, 0, end + LATENCY);
    // Both slots are programmed at once, on two dies; the second was placed when the third came.
    completes(&mut drive, 1, end + UNIT + LATENCY);
    completes(&mut drive, 2, end + UNIT + LATENCY);
    assert_eq!(drive.counters().host_flushes, 3);
}

/// A flush does not wait for writes whose data the drive has not yet received.
#[test]
fn a_joined_flush_overtakes_what_is_still_on_the_link() {
    for joined in [false, true] {
        let mut config = wide(8);
        config.buffer.joined_flushes = joined;
        let mut drive = new(config);
        drive.submit(0, &write(0, 1), Nanos::ZERO);
        completes(&mut drive, 0, OVERHEAD + LINK + LATENCY);
        drive.submit(1, &write(8, 8), drive.now());
        drive.submit(2, &Command::flush(), drive.now());
        for _ in 0..2 {
            drive.pop_completion(Nanos::MAX).expect("under way");
        }
        let buffered = if joined { 8 } else { 0 };
        assert_eq!(drive.buffered_slots(), buffered, "{joined}");
    }
}

/// Programs of a commit are shared by all who wait for it; what a flush takes of the controller is
/// not, so that more writers gain less and less.
#[test]
fn flushes_and_fua_take_their_times_of_the_controller_one_after_another() {
    const FLUSH: u64 = 300_000;
    const FUA: u64 = 700_000;
    let mut config = bench();
    config.buffer.flush_time = Nanos(FLUSH);
    config.buffer.fua_time = Nanos(FUA);
    let mut drive = new(config.clone());
    let through = alone(&mut drive, &write_fua(7, 1), 0);
    assert_eq!(through, OVERHEAD + LINK + UNIT + FUA + LATENCY);
    let empty = alone(&mut drive, &Command::flush(), LATER);
    assert_eq!(empty, OVERHEAD + FLUSH + LATENCY, "nothing to commit");
    let mut drive = new(config.clone());
    let start = alone(&mut drive, &write(0, 1), 0);
    for tag in 1..4 {
        drive.submit(tag, &Command::flush(), Nanos(start));
    }
    let first = start + OVERHEAD + UNIT;
    for tag in 1..4 {
        completes(&mut drive, tag, first + u64::from(tag) * FLUSH + LATENCY);
    }
    config.buffer.protected = true;
    let mut drive = new(config);
    for tag in 0..2 {
        drive.submit(tag, &Command::flush(), Nanos::ZERO);
    }
    completes(&mut drive, 0, OVERHEAD + FLUSH + LATENCY);
    completes(&mut drive, 1, OVERHEAD + 2 * FLUSH + LATENCY);
}
