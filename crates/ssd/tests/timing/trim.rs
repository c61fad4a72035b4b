//! TRIM: its cost and its savings.

use super::*;
use ssdlab_ssd::Op;

const TRIM: u64 = 90_000;

fn trimming(queued: bool) -> DriveConfig {
    let mut config = bench();
    config.ftl.trim_queued = queued;
    config.ftl.trim_time = Nanos(TRIM);
    config
}

#[test]
fn a_queued_trim_keeps_only_the_controller_busy() {
    let mut drive = new(trimming(true));
    drive.submit(0, &Command::read(0, 512), Nanos::ZERO);
    drive.submit(1, &Command::trim(0, 4096), Nanos::ZERO);
    drive.submit(2, &Command::read(0, 512), Nanos::ZERO);
    completes(&mut drive, 0, OVERHEAD + SECTOR + LATENCY);
    completes(&mut drive, 1, 2 * OVERHEAD + TRIM + LATENCY);
    completes(&mut drive, 2, 3 * OVERHEAD + TRIM + SECTOR + LATENCY);
}

#[test]
fn a_trim_that_is_not_queued_waits_for_all_before_it_and_holds_up_all_after_it() {
    let mut drive = new(trimming(false));
    let one = OVERHEAD + SECTOR + LATENCY;
    for tag in [0, 1, 3, 4] {
        if tag == 3 {
            drive.submit(2, &Command::trim(0, 4096), Nanos::ZERO);
        }
        drive.submit(tag, &Command::read(0, 512), Nanos::ZERO);
    }
    completes(&mut drive, 0, one);
    completes(&mut drive, 1, one + OVERHEAD);
    let trimmed = one + OVERHEAD + OVERHEAD + TRIM + LATENCY;
    completes(&mut drive, 2, trimmed);
    completes(&mut drive, 3, trimmed + one);
    completes(&mut drive, 4, trimmed + one + OVERHEAD);
}

#[test]
fn a_trim_alone_waits_for_nothing() {
    for queued in [false, true] {
        let trim = alone(&mut new(trimming(queued)), &Command::trim(0, 4096), 5);
        assert_eq!(trim, OVERHEAD + TRIM + LATENCY);
    }
}

#[test]
fn writing_zeroes_is_queued_with_other_commands_always() {
    let mut drive = new(trimming(false));
    let zeroes = Command {
        op: Op::WriteZeroes,
        ..Command::trim(0, 4096)
    };
    drive.submit(0, &Command::read(0, 512), Nanos::ZERO);
    drive.submit(1, &zeroes, Nanos::ZERO);
    completes(&mut drive, 0, OVERHEAD + SECTOR + LATENCY);
    completes(&mut drive, 1, 2 * OVERHEAD + LATENCY);
}

/// Changes of the map keep their order: a trim behind a write that waits for room also waits.
#[test]
fn a_trim_waits_behind_a_write_that_waits_for_room() {
    let mut drive = new(trimming(true));
    for tag in 0..9 {
        drive.submit(tag, &write(tag.into(), 1), Nanos::ZERO);
    }
    drive.submit(9, &Command::trim(0, 4096), Nanos::ZERO);
    for tag in 0..8 {
        completes(
            &mut drive,
            tag,
            OVERHEAD + u64::from(tag + 1) * LINK + LATENCY,
        );
    }
    let room = OVERHEAD + 2 * LINK + UNIT;
    completes(&mut drive, 8, room + LATENCY);
    completes(&mut drive, 9, room + LATENCY);
}

#[test]
fn trim_lowers_write_amplification() {
    let amplification = |trim: bool| -> f64 {
        let mut config = bench();
        config.user_bytes = 2_600 * SLOT;
        let mut drive = written(config, 2_600);
        if trim {
            let (offset, len) = slots(1_300, 1_300);
            alone(&mut drive, &Command::trim(offset, len), LATER);
        }
        let mut rng = Rng::named(5, "trim");
        let before = drive.counters().clone();
        for _ in 0..20_000 {
            let at = drive.now().0;
            alone(&mut drive, &write(rng.below(1_300), 1), at);
        }
        drive.check().expect("consistent");
        drive.counters().waf_since(&before, 4096).expect("written")
    };
    let (kept, trimmed) = (amplification(false), amplification(true));
    assert!(trimmed < 1.2 && kept > 1.5, "{kept} falls to {trimmed}");
}
