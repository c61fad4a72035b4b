//! Reads in order that the drive has read ahead, and the same reads on a drive that does not.

use super::*;

/// Four dies on four channels of units of 8 slots, all of it written in order.
fn four_dies(read_ahead: u32) -> Drive {
    let mut config = wide(8);
    config.shape.channel_count = 4;
    config.host.read_ahead = read_ahead;
    written(config, 1_600)
}

/// Reads slots one at a time, `pause` after each other; the times that they take.
fn times(drive: &mut Drive, slots: impl Iterator<Item = u64>, pause: u64) -> Vec<u64> {
    let mut at = drive.now().0.max(LATER);
    let mut taken = Vec::new();
    for slot in slots {
        taken.push(alone(drive, &read(slot, 1), at));
        at = drive.now().0 + pause;
    }
    taken
}

const QUICK: u64 = OVERHEAD + LINK + LATENCY;
const FROM_MEDIA: u64 = QUICK + SENSE + MOVE;

#[test]
fn reads_in_order_are_as_fast_as_the_link_once_the_drive_is_ahead() {
    let slow = times(&mut four_dies(0), 0..200, 0);
    assert_eq!(slow, [FROM_MEDIA; 200]);
    // Two continuations show that it is a stream; then the drive is ahead for good.
    let mut drive = four_dies(32);
    let mut host = 0;
    let fast = times(&mut drive, 0..200, SENSE);
    assert_eq!(fast[..3], [FROM_MEDIA; 3]);
    assert!(fast[3] < FROM_MEDIA && fast[3] > QUICK, "{}", fast[3]);
    for time in &fast[10..] {
        host += 1;
        assert_eq!(*time, QUICK, "read {host}");
    }
    // Each unit is sensed once, and one to two of what lies behind the last read.
    let sensed = drive.counters().nand_reads_host;
    assert!(
        (200 / 8 + 2..=200 / 8 + 3 + 32 / 8).contains(&sensed),
        "{sensed}"
    );
    drive.check().expect("consistent");
}

/// With a depth of half a unit, the drive is never far ahead: the time is that of sensing, shared
/// by the slots of a batch.
#[test]
fn a_shallow_depth_waits_for_the_media() {
    let mean = |depth| {
        let fast = times(&mut four_dies(depth), 0..400, 0);
        fast[100..].iter().sum::<u64>() / 300
    };
    let (one, two, four, eight) = (mean(1), mean(2), mean(4), mean(32));
    assert!(FROM_MEDIA > one && one > two && two > four && four > eight);
    assert_eq!(eight, QUICK);
}

#[test]
fn reads_at_random_take_the_time_that_they_took() {
    let any = |depth| {
        let mut rng = Rng::new(5);
        // Two slots apart at least: never a continuation.
        let slots = (0..2_000).map(move |n| 2 * rng.below(400) + 800 * (n % 2));
        let mut drive = four_dies(depth);
        let times = times(&mut drive, slots, 0);
        (times, drive.counters().nand_reads_host, drive.now())
    };
    assert_eq!(any(0), any(64));
}

#[test]
fn what_the_host_changes_is_read_again() {
    for change in [write(13, 1), Command::trim(13 * SLOT, 4096)] {
        let mut drive = four_dies(32);
        times(&mut drive, 0..10, SENSE);
        let before = drive.counters().nand_reads_host;
        alone(&mut drive, &change, 2 * LATER);
        assert_eq!(alone(&mut drive, &read(10, 1), 3 * LATER), FROM_MEDIA);
        assert!(drive.counters().nand_reads_host > before);
        // The new copy, which costs no media.
        alone(&mut drive, &read(11, 1), 4 * LATER);
        alone(&mut drive, &read(12, 1), 5 * LATER);
        assert_eq!(alone(&mut drive, &read(13, 1), 6 * LATER), QUICK);
    }
}

/// Several streams side by side, up to the number that the drive knows.
#[test]
fn streams_are_told_apart() {
    for (streams, ahead) in [(1, true), (8, true), (9, false)] {
        let mut drive = four_dies(16);
        let slots = (0..100 * streams).map(|n| (n % streams) * 150 + n / streams);
        let times = times(&mut drive, slots, SENSE);
        let late = &times[50 * streams as usize..];
        let expected = if ahead { QUICK } else { FROM_MEDIA };
        let fast = late.iter().filter(|time| **time == expected).count();
        assert!(
            fast * 10 >= late.len() * 9,
            "{streams}: {fast} of {}",
            late.len()
        );
    }
}

#[test]
fn reads_of_sectors_continue_a_stream() {
    let mut drive = four_dies(16);
    let mut at = LATER;
    let mut total = 0;
    for sector in 0..400 {
        total += alone(&mut drive, &Command::read(sector * 512, 512), at);
        at = drive.now().0;
    }
    let quick = OVERHEAD + SECTOR + LATENCY;
    assert!(total < 400 * quick + 5 * (SENSE + 2 * MOVE), "{total}");
}

/// Never beyond the end of the drive, and nothing is left of it after a secure erase.
#[test]
fn the_end_of_the_drive_and_a_secure_erase_end_a_stream() {
    let mut drive = four_dies(32);
    let last = drive.config().user_bytes / SLOT;
    times(&mut drive, last - 5..last, 0);
    times(&mut drive, 0..10, 0);
    let at = drive.secure_erase(Nanos(2 * LATER));
    assert_eq!(alone(&mut drive, &read(10, 1), at.0), QUICK);
    drive.check().expect("consistent");
}

/// Deep queues: the same rate, whether or not the drive reads ahead.
#[test]
fn reads_in_order_at_depth_lose_nothing() {
    let time = |ahead| {
        let mut drive = four_dies(ahead);
        let mut next = 0;
        let mut taken = 0;
        while taken < 200 {
            while drive.outstanding() < 16 && next < 200 {
                let at = drive.now().0.max(LATER);
                drive.submit((next % 16) as u32, &read(next * 8, 8), Nanos(at));
                next += 1;
            }
            drive.pop_completion(Nanos::MAX).expect("under way");
            taken += 1;
        }
        drive.now().0 - LATER
    };
    assert!(time(32) <= time(0) * 101 / 100, "{} {}", time(32), time(0));
}
