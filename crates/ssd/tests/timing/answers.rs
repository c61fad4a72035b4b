//! Writes that are answered later than their work ends: to the nanosecond.

use super::*;

const LATER_ANSWER: u64 = 34_500;

fn late(mut config: DriveConfig) -> DriveConfig {
    config.host.write_latency = Nanos(LATER_ANSWER);
    config
}

/// Whatever the write waits for, and nothing else than writes.
#[test]
fn a_write_is_answered_later_and_no_other_command() {
    let protected = || {
        let mut config = bench();
        config.buffer.protected = true;
        config.buffer.fua_time = Nanos(50_000);
        config
    };
    let flush = Command::flush();
    for config in [bench, protected] {
        for (command, more) in [
            (write(7, 1), LATER_ANSWER),
            (write(7, 3), LATER_ANSWER),
            (write_fua(7, 1), LATER_ANSWER),
            (read(7, 1), 0),
            (flush, 0),
        ] {
            let before = alone(&mut new(config()), &command, 0);
            let after = alone(&mut new(late(config())), &command, 0);
            assert_eq!(after, before + more, "{command:?}");
        }
    }
}

/// The time keeps nothing busy: commands behind the write are not held up by it.
#[test]
fn what_comes_behind_a_late_answer_does_not_wait() {
    let mut drive = new(late(bench()));
    for tag in 0..4 {
        drive.submit(tag, &write(tag.into(), 1), Nanos::ZERO);
    }
    for tag in 0..4 {
        let received = OVERHEAD + (u64::from(tag) + 1) * LINK;
        completes(&mut drive, tag, received + LATENCY + LATER_ANSWER);
    }
}
