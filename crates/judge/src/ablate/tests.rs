use super::planted::{FAULTS, healthy, planted};
use super::*;
use ssdlab_bench::engine::devices::new_drive;
use ssdlab_load::trace::TraceEvent;
use ssdlab_ssd::{Nanos, Op};

/// A controller that needs 100 us for each command gives 10,000 a second; reduced to 15 us, the
/// other 85 us go. Flash that answers at once leaves nothing else.
#[test]
fn time_that_is_known_is_found_to_the_nanosecond() {
    let mut config = healthy(1);
    config.host.full_duplex = false;
    config.host.command_overhead = Nanos::from_micros(100);
    config.host.link_bytes_per_second = 1_000_000_000_000;
    let drive = new_drive(&config).unwrap();
    let levels = ReliefLevels::healthy(&config);
    let found = decompose(&drive, AblationLoad::RandomRead, &levels, 1);
    assert!((found.ns - 100_000.0).abs() < 1.0, "{found:?}");
    assert_eq!(found.shares[0].causes, [Cause::Controller]);
    assert!((found.shares[0].ns - 85_000.0).abs() < 1.0, "{found:?}");
}

#[test]
fn shares_and_the_rest_add_up_to_the_time_of_a_command() {
    let drive = steady(&healthy(2), 2).unwrap();
    for load in AblationLoad::ALL {
        let found = decompose(&drive, load, &ReliefLevels::free(), 1);
        let sum: f64 = found.shares.iter().map(|share| share.ns).sum();
        assert!((sum + found.rest_ns - found.ns).abs() < 1e-3 * found.ns);
        assert!(found.rest_ns >= 0.0 && found.shares.iter().all(|share| share.ns > 0.0));
    }
}

/// A host that writes four blocks, then commits, as a journal does. The times of its recording are
/// of a drive that needs `takes_ns` for each command.
fn journal(preflush: bool, pause_ns: u64, takes_ns: u64) -> HostStream {
    let (mut now, mut events) = (0, Vec::new());
    for number in 0..2_000u64 {
        let commit = number % 5 == 4;
        let mut event = TraceEvent::new(now, Op::Write, number * 4096 % (64 << 20), 4096);
        event.fua = commit;
        event.preflush = commit && preflush;
        now += takes_ns;
        event.done_ns = Some(now);
        events.push(event);
        now += if commit { pause_ns } else { 0 };
    }
    HostStream::new(&events).unwrap()
}

fn volatile() -> Drive {
    let mut config = healthy(3);
    config.buffer.protected = false;
    new_drive(&config).unwrap()
}

/// The recording's own speed does not matter, only what the host waited for and how long.
#[test]
fn a_host_is_as_fast_as_its_drive_and_its_pauses() {
    let sound = new_drive(&healthy(3)).unwrap();
    let as_recorded = HostRelief::default();
    let ns = |stream: &HostStream| stream.measure(sound.clone(), as_recorded).ns;
    let plain = ns(&journal(false, 0, 10_000));
    assert_eq!(plain, ns(&journal(false, 0, 5_000_000)));
    let paused = ns(&journal(false, 1_000_000, 10_000));
    // The last pause is not waited for.
    let more = 1e6 * 399.0 / 2_000.0;
    assert!(
        (paused - plain - more).abs() < 0.01 * more,
        "{plain} {paused}"
    );
    let without = HostRelief {
        without_pauses: true,
        ..as_recorded
    };
    let again = journal(false, 1_000_000, 10_000).measure(sound.clone(), without);
    assert!((again.ns - plain).abs() < 0.01 * plain, "{plain} {again:?}");
}

#[test]
fn a_host_that_pauses_is_named_and_not_its_drive() {
    let drive = new_drive(&healthy(3)).unwrap();
    let found = diagnose_stream(&drive, &journal(false, 1_000_000, 10_000));
    let causes: Vec<Cause> = found.faults.iter().map(|fault| fault.cause).collect();
    assert_eq!(causes, [Cause::HostPauses], "{found:?}");
    let found = diagnose_stream(&drive, &journal(true, 0, 10_000));
    assert!(found.faults.is_empty(), "{found:?}");
}

/// On a volatile buffer a commit with a flush before it waits for the media twice. Without this
/// flush the host is as fast as one that never sent it.
#[test]
fn doubled_flushes_are_a_share_of_their_own() {
    let levels = ReliefLevels::healthy(volatile().config());
    let (once, twice) = (journal(false, 0, 10_000), journal(true, 0, 10_000));
    assert_eq!(once.doubled_flushes(), (0, 0));
    assert_eq!(twice.doubled_flushes(), (400, 400));
    let ns = |stream: &HostStream, host| stream.measure(volatile(), host).ns;
    let single = ns(&once, HostRelief::default());
    let without = HostRelief {
        without_doubled_flushes: true,
        ..HostRelief::default()
    };
    assert!(ns(&twice, HostRelief::default()) > 1.3 * single);
    assert_eq!(ns(&twice, without), single);
    let found = decompose_stream(&volatile(), &twice, &levels);
    let sum: f64 = found.shares.iter().map(|share| share.ns).sum();
    assert!((sum + found.rest_ns - found.ns).abs() < 1e-3 * found.ns);
    assert_eq!(found.shares[0].causes, [Cause::VolatileBuffer], "{found:?}");
    // A protected buffer hides them; the host is named all the same when they cost it a third.
    let named = |stream: &HostStream| -> Vec<Cause> {
        let found = diagnose_stream(&volatile(), stream);
        found.faults.iter().map(|fault| fault.cause).collect()
    };
    assert_eq!(named(&commits(false)), [Cause::VolatileBuffer]);
    let both = [Cause::VolatileBuffer, Cause::DoubledFlushes];
    assert_eq!(named(&commits(true)), both);
}

/// A host that commits after each write.
fn commits(preflush: bool) -> HostStream {
    let event = |number: u64| {
        let at = number * 10_000;
        let mut event = TraceEvent::new(at, Op::Write, number * 4096 % (64 << 20), 4096);
        event.fua = number % 2 == 1;
        event.preflush = event.fua && preflush;
        event.done_ns = Some(at + 10_000);
        event
    };
    HostStream::new(&(0..1_000).map(event).collect::<Vec<_>>()).unwrap()
}

/// A flush after a flush, with nothing written between, has nothing to do, but not while the first
/// is under way.
#[test]
fn a_flush_is_doubled_when_an_earlier_one_covers_everything() {
    let events = |ends: [u64; 3]| {
        let mut events = [
            TraceEvent::new(0, Op::Write, 0, 4096),
            TraceEvent::new(20, Op::Flush, 0, 0),
            TraceEvent::new(40, Op::Flush, 0, 0),
        ];
        events
            .iter_mut()
            .zip(ends)
            .for_each(|(event, end)| event.done_ns = Some(end));
        HostStream::new(&events).unwrap()
    };
    assert_eq!(events([10, 30, 50]).doubled_flushes(), (1, 2));
    assert_eq!(events([10, 45, 50]).doubled_flushes(), (0, 2));
    assert_eq!(events([35, 30, 50]).doubled_flushes(), (1, 2));
}

/// Five faults of one seed; docs/qualify.md has the table of all over many.
#[test]
fn a_planted_fault_is_named_first_and_a_healthy_drive_is_not_accused() {
    for index in [0, 4, 6, 12, 13] {
        let (name, cause) = FAULTS[index];
        let drive = planted(7, &[index]).unwrap().expect(name);
        let found = diagnose_faults(&drive, &AblationLoad::ALL, 1).unwrap();
        assert_eq!(found[0].cause, cause, "{name}: {found:?}");
    }
    let sound = planted(7, &[]).unwrap().expect("a healthy drive");
    let found = diagnose_faults(&sound, &AblationLoad::ALL, 1).unwrap();
    assert!(found.is_empty(), "{found:?}");
}
