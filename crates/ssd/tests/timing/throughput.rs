//! Throughput equals the arithmetic of a data sheet, to a thousandth.

use super::*;
use ssdlab_ssd::config::MappingKind;

/// Writes in order, 4 units a command, from command `first` to `last`; returns the mean time of a
/// unit in ns, after a quarter of them.
fn sequential_unit_ns(drive: &mut Drive, first: u64, last: u64) -> f64 {
    let unit = u64::from(drive.config().geometry().slots_per_unit);
    let step = 4 * unit;
    let commands: Vec<Command> = (first..last).map(|n| write(n * step, step)).collect();
    let mut next = commands.iter();
    for tag in 0..4 {
        drive.submit(tag, next.next().expect("long enough"), drive.now());
    }
    let mut ends = Vec::new();
    while let Some(done) = drive.pop_completion(Nanos::MAX) {
        ends.push(done.done.0);
        if let Some(command) = next.next() {
            drive.submit(done.tag, command, done.done);
        }
    }
    let (from, to) = (ends.len() / 4, ends.len() - 1);
    (ends[to] - ends[from]) as f64 / (4 * (to - from)) as f64
}

#[track_caller]
fn about(measured: f64, expected: f64) {
    let off = measured / expected - 1.0;
    assert!(off.abs() < 0.001, "{measured} ns, expected {expected} ns");
}

#[test]
fn one_die_writes_at_unit_over_transfer_and_program() {
    let unit = 8 * MOVE + PROGRAM;
    about(sequential_unit_ns(&mut new(wide(8)), 0, 400), unit as f64);
    let mut config = wide(8);
    config.shape.bits_per_cell = 3;
    config.nand.timing.read = vec![Nanos(SENSE); 3];
    config.nand.timing.program = TLC.map(Nanos).to_vec();
    let word_line = 24 * MOVE + TLC.iter().sum::<u64>();
    let measured = sequential_unit_ns(&mut new(config), 0, 400);
    about(measured, word_line as f64 / 3.0);
}

#[test]
fn overwriting_in_order_adds_one_erase_per_block() {
    let mut drive = new(wide(8));
    sequential_unit_ns(&mut drive, 0, 500);
    assert_eq!(drive.counters().nand_erases, 0);
    // Until every block has been used.
    sequential_unit_ns(&mut drive, 0, 500);
    let block = 48 * (8 * MOVE + PROGRAM) + ERASE;
    // 480 commands are 40 blocks; the quarter left out at the start is 10 of them.
    let measured = sequential_unit_ns(&mut drive, 0, 481);
    about(measured, block as f64 / 48.0);
    assert_eq!(drive.counters().slots_relocated, 0);
}

#[test]
fn dies_add_up_until_their_channel_is_full() {
    for channels in [1, 2] {
        for dies in [1, 2, 4, 8, 16] {
            let mut config = wide(8 * 32);
            config.shape.channel_count = channels;
            config.shape.dies_per_channel = dies;
            // Transfer and program: eight transfers' time.
            config.nand.timing.program = vec![Nanos(7 * 8 * MOVE)];
            config.host.link_bytes_per_second = 40_960_000_000;
            config.user_bytes *= u64::from(channels * dies);
            let per_channel = 8 * 8 * MOVE / u64::from(dies.min(8));
            let expected = per_channel as f64 / f64::from(channels);
            let commands = 480 * u64::from(channels * dies);
            let measured = sequential_unit_ns(&mut new(config), 0, commands);
            let off = measured / expected - 1.0;
            assert!(
                off.abs() < 0.001,
                "{channels} x {dies} dies: {measured} ns, expected {expected} ns"
            );
        }
    }
}

#[test]
fn cache_programs_hide_the_loading() {
    let mut config = wide(8);
    config.nand.cache_program = true;
    let measured = sequential_unit_ns(&mut new(config.clone()), 0, 400);
    about(measured, PROGRAM as f64);
    // A channel on which loading takes twice as long as programming.
    config.nand.timing.program = vec![Nanos(4 * MOVE)];
    about(
        sequential_unit_ns(&mut new(config), 0, 400),
        8.0 * MOVE as f64,
    );
}

/// Reads whole units in order, 16 in progress; returns the mean time of a unit in ns.
fn read_unit_ns(cache_read: bool, link_bytes_per_second: u64) -> f64 {
    let mut config = wide(2);
    config.nand.cache_read = cache_read;
    config.host.link_bytes_per_second = link_bytes_per_second;
    let mut drive = written(config, 8 * 100);
    for tag in 0..16 {
        drive.submit(tag, &read(0, 8), Nanos(LATER));
    }
    let mut ends = Vec::new();
    for n in 0..2_000 {
        let done = drive.pop_completion(Nanos::MAX).expect("under way");
        ends.push(done.done.0);
        drive.submit(done.tag, &read(8 * (n % 100), 8), done.done);
    }
    (ends[1_999] - ends[999]) as f64 / 1_000.0
}

#[test]
fn one_die_reads_at_sensing_and_moving_or_the_longer_of_both() {
    let fast = 4_096_000_000;
    about(read_unit_ns(false, fast), (SENSE + 8 * MOVE) as f64);
    about(read_unit_ns(true, fast), 8.0 * MOVE as f64);
    about(read_unit_ns(true, 204_800_000), 160_000.0);
}

/// One die in four of each row holds parity.
#[test]
fn parity_takes_its_share_of_the_dies() {
    let mut config = wide(8 * 8);
    config.shape.channel_count = 4;
    config.host.link_bytes_per_second = 40_960_000_000;
    config.user_bytes *= 2;
    let unit = (8 * MOVE + PROGRAM) as f64;
    let plain = sequential_unit_ns(&mut new(config.clone()), 0, 960);
    about(plain, unit / 4.0);
    config.ftl.parity = true;
    let mut drive = new(config);
    about(sequential_unit_ns(&mut drive, 0, 960), unit / 3.0);
    let c = drive.counters();
    let off = c.slots_host as i64 - 3 * c.slots_parity as i64;
    assert!(off.abs() <= 4 * 8, "{c:?}");
}

/// Whole victims, emptied in the foreground with reads behind programs: eight dies must do it in
/// about an eighth of the time of their work. Unit by unit, each read stood behind the program just
/// begun on its die, the next program waited for it, and the dies worked one after another: the
/// drive of article myth with a flat map then reached 91 MB/s of a possible 202.
#[test]
fn reclaim_of_whole_victims_keeps_the_dies_busy_side_by_side() {
    let mut config = wide(16);
    config.shape.channel_count = 8;
    config.user_bytes = 160_000 * SLOT;
    config.ftl.reclaim.pace = Pace::Whole;
    let user = config.user_slots();
    let mut drive = new(config);
    sequential_unit_ns(&mut drive, 0, user / 32);
    let mut rng = Rng::named(1, "whole victims");
    let mut overwrite = |count: u64| {
        for _ in 0..count {
            drive.submit(0, &write(rng.below(user), 1), drive.now());
            drive.pop_completion(Nanos::MAX).expect("completes");
        }
        let busy: u64 = drive.busy_by_purpose().iter().sum();
        (drive.now().0, busy)
    };
    let (from, before) = overwrite(50_000);
    let (to, after) = overwrite(20_000);
    let at_work = (after - before) as f64 / (8 * (to - from)) as f64;
    assert!(at_work > 0.6, "dies at work {at_work} of the time");
}

/// However many dies there are: the turns to program are the limit.
#[test]
fn dies_beyond_the_turns_to_program_add_nothing() {
    for (at_once, dies, programming) in [(0, 4, 4), (1, 4, 1), (3, 4, 3), (4, 4, 4), (9, 4, 4)] {
        let mut config = wide(8 * 32);
        config.shape.channel_count = 4;
        config.shape.dies_per_channel = dies / 4;
        config.user_bytes *= u64::from(dies);
        config.host.link_bytes_per_second = 40_960_000_000;
        config.nand.programs_at_once = at_once;
        let limited = programming < dies;
        // A die that waits for its turn is loaded while another programs.
        let unit = if limited { PROGRAM } else { 8 * MOVE + PROGRAM };
        let measured = sequential_unit_ns(&mut new(config), 0, 1_200);
        about(measured, unit as f64 / f64::from(programming));
    }
}

/// Random writes of a sector each to 8 dies whose reads wait in order; commands per second.
fn partial_writes(kind: MappingKind) -> f64 {
    let mut config = bench();
    config.shape.channel_count = 8;
    config.nand.read_first = false;
    config.ftl.mapping.kind = kind;
    config.ftl.mapping.dram_bytes = 64 << 20;
    config.buffer.bytes = 64 * SLOT;
    let mut drive = new(config);
    for n in 0..1_000 {
        drive.submit(0, &write(n, 1), drive.now());
        drive.pop_completion(Nanos::MAX).expect("under way");
    }
    let (began, count) = (drive.now(), 4_000);
    let mut rng = Rng::new(3);
    let mut command = || Command::write(rng.below(1_000) * SLOT, 512);
    for tag in 0..32 {
        drive.submit(tag, &command(), began);
    }
    for _ in 0..count {
        let done = drive.pop_completion(Nanos::MAX).expect("under way");
        drive.submit(done.tag, &command(), done.done);
    }
    drive.check().expect("consistent");
    f64::from(count) * 1e9 / (drive.now().0 - began.0) as f64
}

/// Each reads the rest of its slot on one die and is programmed on another. If the program held its
/// die while the read waits, the reads queued there would wait, too, and so on from die to die.
#[test]
fn a_program_holds_no_die_while_the_rest_of_its_slot_is_read() {
    let all_busy = 8e9 / (UNIT + MOVE + SENSE) as f64;
    let (tree, flat) = (
        partial_writes(MappingKind::Tree),
        partial_writes(MappingKind::Flat),
    );
    assert!(tree > 0.85 * all_busy, "{tree} of {all_busy}");
    assert!(tree > 1.5 * flat, "{tree}, without waiting {flat}");
}
