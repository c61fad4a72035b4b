//! The firmware's limit on the bytes of writes.

use super::*;

/// Bytes per second; a slot takes 40,960 ns of it.
const LIMIT: u64 = 100_000_000;
/// Time by which writes may be ahead of the rate.
const AHEAD: u64 = 1_000_000;

/// A drive whose media and link take writes faster than the limit.
fn limited(rate: u64) -> DriveConfig {
    let mut config = wide(64);
    config.shape.channel_count = 4;
    config.shape.dies_per_channel = 4;
    config.user_bytes = 220_000 * SLOT;
    config.nand.timing.program = vec![Nanos(1_000)];
    config.nand.timing.channel_bytes_per_second = 40_960_000_000;
    config.host.write_bytes_per_second = rate;
    config
}

/// Writes `count` times `each` slots at random, `depth` at a time; returns bytes per second.
fn rate(drive: &mut Drive, each: u64, depth: u32, count: u64) -> f64 {
    let mut rng = Rng::new(3);
    let places = 220_000 / each;
    let began = drive.now();
    for tag in 0..depth {
        drive.submit(tag, &write(each * rng.below(places), each), began);
    }
    let mut end = began;
    for n in 0..count {
        let done = drive.pop_completion(Nanos::MAX).expect("under way");
        end = done.done;
        if n + u64::from(depth) < count {
            let next = write(each * rng.below(places), each);
            drive.submit(done.tag, &next, done.done);
        }
    }
    (count * each * SLOT) as f64 * 1e9 / (end - began).0 as f64
}

/// Whatever the size of a write and the number at a time; without a limit they differ.
#[test]
fn every_load_has_the_rate_of_the_limit() {
    let loads = [(1, 32), (4, 2), (4, 16), (16, 4), (64, 1)];
    let free = loads.map(|(each, depth)| rate(&mut new(limited(0)), each, depth, 20_000));
    for ((each, depth), free) in loads.into_iter().zip(free) {
        let found = rate(&mut new(limited(LIMIT)), each, depth, 20_000);
        let off = found / LIMIT as f64 - 1.0;
        assert!(off.abs() < 0.002, "{each} slots at {depth}: {found} B/s");
        assert!(
            free > 1.2 * LIMIT as f64,
            "{each} slots at {depth}: {free} B/s"
        );
    }
}

/// A burst as long as the time ahead passes at the speed of the link, and the write after it waits
/// for its turn, to the nanosecond.
#[test]
fn a_burst_passes_and_the_write_behind_it_waits() {
    let slot = SLOT * 1_000_000_000 / LIMIT;
    // The link brings the next slots meanwhile.
    let ahead = AHEAD / (slot - LINK);
    let mut drive = new(limited(LIMIT));
    let count = ahead + 3;
    for tag in 0..count {
        drive.submit(tag as u32, &write(tag, 1), Nanos::ZERO);
    }
    let mut due = OVERHEAD + LINK;
    for tag in 0..count {
        let received = OVERHEAD + (tag + 1) * LINK;
        let begins = received.max(due - due.min(AHEAD));
        completes(&mut drive, tag as u32, begins + LATENCY);
        due = due.max(received) + slot;
    }
    assert!(
        due - AHEAD > OVERHEAD + count * LINK,
        "the last ones waited"
    );
}

/// A drive that is saved and loaded behind a burst goes on as if it had not been.
#[test]
fn what_was_let_in_is_saved() {
    let mut drive = new(limited(LIMIT));
    rate(&mut drive, 16, 4, 100);
    let mut image = Vec::new();
    drive.save(&mut image).expect("saved");
    let mut loaded = Drive::load(&mut image.as_slice(), image.len() as u64).expect("loaded");
    let next = |drive: &mut Drive| {
        drive.submit(0, &write(0, 16), drive.now());
        drive.pop_completion(Nanos::MAX).expect("completes").done
    };
    assert_eq!(next(&mut drive), next(&mut loaded));
}

/// Reads are not held back.
#[test]
fn reads_pass_the_limit() {
    let mut drive = new(limited(LIMIT));
    rate(&mut drive, 16, 4, 100);
    let now = drive.now();
    drive.submit(1, &Command::read(SLOT * 200_000, 512), now);
    completes(&mut drive, 1, now.0 + OVERHEAD + SECTOR + LATENCY);
}
