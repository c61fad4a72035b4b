//! The controller's time for writes and for slots that the drive moves.

use super::*;

const MOVED: u64 = 20_000;

#[test]
fn writes_and_other_commands_take_the_controller_for_times_of_their_own() {
    let mut config = wide(2);
    config.host.write_overhead = Nanos(5 * OVERHEAD);
    let mut drive = new(config);
    drive.submit(0, &write(0, 1), Nanos::ZERO);
    drive.submit(1, &Command::read(SLOT * 1000, 512), Nanos::ZERO);
    completes(&mut drive, 0, 5 * OVERHEAD + LINK + LATENCY);
    let link = 5 * OVERHEAD + LINK;
    completes(&mut drive, 1, link.max(6 * OVERHEAD) + SECTOR + LATENCY);
}

/// Writes one slot at a time, with pauses in which the dies end their work. A read that comes right
/// behind, of nothing, waits for the controller, which takes its time for each slot moved.
#[test]
fn a_command_waits_while_the_controller_moves_slots() {
    for each in [0, MOVED] {
        let mut config = bench();
        config.host.moved_slot = Nanos(each);
        let slots = config.user_bytes / SLOT;
        let mut drive = written(config, slots);
        alone(&mut drive, &Command::trim(0, 4096), 2 * LATER);
        let (mut rng, mut at) = (Rng::new(1), 3 * LATER);
        for _ in 0..3_000 {
            assert_eq!(drive.pop_completion(Nanos(at)), None, "idle work is done");
            let before = drive.counters().slots_moved();
            drive.submit(0, &write(1 + rng.below(slots - 1), 1), Nanos(at));
            let moved = drive.counters().slots_moved() - before;
            drive.submit(1, &Command::read(0, 512), Nanos(at));
            let ready = at + 2 * OVERHEAD + moved * each;
            let link = at + OVERHEAD + LINK;
            completes(&mut drive, 0, link + LATENCY);
            completes(&mut drive, 1, ready.max(link) + SECTOR + LATENCY);
            at += LATER;
        }
        assert!(drive.counters().slots_moved() > 100);
        drive.check().expect("consistent");
    }
}

/// In a steady state: each write costs its own time and that of the slots moved for it.
#[test]
fn the_rate_of_random_writes_is_that_of_the_controller() {
    let mut config = wide(64);
    config.shape.channel_count = 4;
    config.shape.dies_per_channel = 4;
    config.user_bytes = 220_000 * SLOT;
    config.nand.timing.program = vec![Nanos(1_000)];
    config.nand.timing.erase = Nanos(1_000);
    config.nand.timing.read = vec![Nanos(1_000)];
    config.nand.timing.channel_bytes_per_second = 40_960_000_000;
    config.host.link_bytes_per_second = 40_960_000_000;
    config.host.write_overhead = Nanos(30_000);
    config.host.moved_slot = Nanos(MOVED);
    let mut drive = new(config);
    let mut rng = Rng::new(2);
    let mut run = |drive: &mut Drive, count: u64| {
        let (began, before) = (drive.now(), drive.counters().slots_moved());
        for tag in 0..8 {
            drive.submit(tag, &write(rng.below(220_000), 1), drive.now());
        }
        for _ in 8..count {
            let done = drive.pop_completion(Nanos::MAX).expect("completes");
            drive.submit(done.tag, &write(rng.below(220_000), 1), done.done);
        }
        let mut end = drive.now();
        while drive.outstanding() > 0 {
            end = drive.pop_completion(Nanos::MAX).expect("under way").done;
        }
        let moved = drive.counters().slots_moved() - before;
        ((end - began).0, moved)
    };
    run(&mut drive, 600_000);
    let (time, moved) = run(&mut drive, 100_000);
    assert!(moved > 20_000, "{moved}");
    let expected = 100_000 * 30_000 + moved * MOVED;
    let off = time as f64 / expected as f64 - 1.0;
    assert!(off.abs() < 0.001, "{time} ns, expected {expected} ns");
}
