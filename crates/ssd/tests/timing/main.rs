//! Does every command complete exactly when the rules of controller, link, queue, buffer, die and
//! channel say, and not a nanosecond before?
//!
//! Every time is computed here by hand from the bench drive's round numbers and probed through
//! the public interface: nothing at t - 1, the command at t.

mod background;
mod commits;

use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, DriveConfig, Nanos};

const SLOT: u64 = 4096;
/// The controller, per command.
const OVERHEAD: u64 = 3_000;
/// Added to every completion.
const LATENCY: u64 = 7_000;
/// A slot over the link, and over a channel.
const LINK: u64 = 10_000;
const MOVE: u64 = 10_000;
/// 512 bytes over the link.
const SECTOR: u64 = 1_250;
const SENSE: u64 = 50_000;
const PROGRAM: u64 = 400_000;
const ERASE: u64 = 2_000_000;
const IDLE: u64 = 50_000_000;
/// A unit of the bench drive is one slot: program it, transfer included.
const UNIT: u64 = MOVE + PROGRAM;
/// Later than everything the preparation of a test leaves behind.
const LATER: u64 = 10_000_000_000;

/// SLC, one die, one plane, pages of one slot, volatile buffer of 8 slots, a map that costs
/// nothing.
fn bench() -> DriveConfig {
    let mut c = DriveConfig::tiny();
    c.shape.channel_count = 1;
    c.shape.dies_per_channel = 1;
    c.shape.planes_per_die = 1;
    c.shape.blocks_per_plane = 64;
    c.shape.pages_per_block = 48;
    c.shape.page_bytes = 4096;
    c.shape.bits_per_cell = 1;
    c.nand.timing.read = vec![Nanos(SENSE)];
    c.nand.timing.program = vec![Nanos(PROGRAM)];
    c.nand.timing.slc_read = Nanos(25_000);
    c.nand.timing.slc_program = Nanos(200_000);
    c.nand.timing.erase = Nanos(ERASE);
    c.nand.timing.channel_bytes_per_second = 409_600_000;
    c.user_bytes = 2_000 * SLOT;
    c.ftl.slc.superblocks = 0;
    c.ftl.journal.entry_bytes = 0;
    c.ftl.journal.commit_map_programs = 0;
    c.ftl.journal.commit_closes_word_lines = false;
    c.ftl.idle_after = Nanos(IDLE);
    c.buffer.bytes = 8 * SLOT;
    c.host.queue_depth = 256;
    c.host.link_bytes_per_second = 409_600_000;
    c.host.full_duplex = false;
    c.host.command_overhead = Nanos(OVERHEAD);
    c.host.latency = Nanos(LATENCY);
    c
}

/// The bench drive with units of 8 slots (two planes, pages of 16 KiB) and room for `units` units.
fn wide(units: u64) -> DriveConfig {
    let mut c = bench();
    c.shape.planes_per_die = 2;
    c.shape.page_bytes = 16384;
    c.user_bytes = 16_000 * SLOT;
    c.buffer.bytes = units * 8 * SLOT;
    c
}

/// A TLC bench drive: word lines of three pages.
const TLC: [u64; 3] = [500_000, 1_000_000, 2_000_000];
const WORD_LINE: u64 = 3 * MOVE + TLC[0] + TLC[1] + TLC[2];
fn tlc() -> DriveConfig {
    let mut c = bench();
    c.shape.bits_per_cell = 3;
    c.nand.timing.read = vec![Nanos(SENSE); 3];
    c.nand.timing.program = TLC.map(Nanos).to_vec();
    c
}

fn new(config: DriveConfig) -> Drive {
    Drive::new(config).expect("valid")
}

fn slots(first: u64, count: u64) -> (u64, u32) {
    (first * SLOT, (count * SLOT) as u32)
}

fn read(first: u64, count: u64) -> Command {
    let (offset, len) = slots(first, count);
    Command::read(offset, len)
}

fn write(first: u64, count: u64) -> Command {
    let (offset, len) = slots(first, count);
    Command::write(offset, len)
}

fn write_fua(first: u64, count: u64) -> Command {
    let (offset, len) = slots(first, count);
    Command::write_fua(offset, len)
}

/// The next command to complete is `tag`, at `at` and not a nanosecond before.
#[track_caller]
fn completes(drive: &mut Drive, tag: u32, at: u64) {
    if let Some(early) = drive.pop_completion(Nanos(at - 1)) {
        panic!("{early:?} is too early: command {tag} is due at {at}");
    }
    let Some(done) = drive.pop_completion(Nanos(at)) else {
        let late = drive.pop_completion(Nanos::MAX);
        panic!("{late:?} is too late: command {tag} is due at {at}");
    };
    assert_eq!((done.tag, done.done.0), (tag, at));
}

/// Does one command alone and returns how long it took.
fn alone(drive: &mut Drive, command: &Command, at: u64) -> u64 {
    while drive.pop_completion(Nanos(at)).is_some() {}
    drive.submit(0, command, Nanos(at));
    drive.pop_completion(Nanos::MAX).expect("completes").done.0 - at
}

/// A drive whose first `count` slots are on media, with nothing left to do at [`LATER`].
fn written(config: DriveConfig, count: u64) -> Drive {
    let mut drive = new(config);
    for slot in 0..count {
        drive.submit(0, &write(slot, 1), drive.now());
        drive.pop_completion(Nanos::MAX).expect("completes");
    }
    drive.submit(0, &Command::flush(), drive.now());
    drive.pop_completion(Nanos::MAX).expect("completes");
    assert_eq!(drive.pop_completion(Nanos(LATER)), None);
    drive
}

// Controller, link, queue.

#[test]
fn the_controller_takes_one_command_after_another() {
    let mut drive = new(bench());
    for tag in 0..100 {
        drive.submit(tag, &Command::read(0, 512), Nanos::ZERO);
    }
    for tag in 0..100 {
        let ready = u64::from(tag + 1) * OVERHEAD;
        completes(&mut drive, tag, ready + SECTOR + LATENCY);
    }
}

#[test]
fn a_command_waits_for_the_controller_until_the_nanosecond_it_is_free() {
    let alone = OVERHEAD + SECTOR + LATENCY;
    for (at, wait) in [(OVERHEAD - 1, 1), (OVERHEAD, 0), (OVERHEAD + 1, 0)] {
        let mut drive = new(bench());
        drive.submit(0, &Command::read(0, 512), Nanos::ZERO);
        drive.submit(1, &Command::read(0, 512), Nanos(at));
        completes(&mut drive, 0, alone);
        completes(&mut drive, 1, at + wait + alone);
    }
}

#[test]
fn the_link_carries_one_transfer_after_another() {
    let mut drive = new(bench());
    for tag in 0..10 {
        drive.submit(tag, &read(0, 16), Nanos::ZERO);
    }
    for tag in 0..10 {
        let moved = u64::from(tag + 1) * 16 * LINK;
        completes(&mut drive, tag, OVERHEAD + moved + LATENCY);
    }
}

#[test]
fn reads_and_writes_share_a_half_duplex_link_only() {
    for (full_duplex, write_done) in [
        (false, OVERHEAD + 2 * 4 * LINK + LATENCY),
        (true, 2 * OVERHEAD + 4 * LINK + LATENCY),
    ] {
        let mut config = bench();
        config.host.full_duplex = full_duplex;
        let mut drive = new(config);
        drive.submit(0, &read(0, 4), Nanos::ZERO);
        drive.submit(1, &write(0, 4), Nanos::ZERO);
        completes(&mut drive, 0, OVERHEAD + 4 * LINK + LATENCY);
        completes(&mut drive, 1, write_done);
    }
}

#[test]
fn a_command_beyond_the_queue_depth_starts_when_one_completes() {
    let one = OVERHEAD + SECTOR + LATENCY;
    for (depth, third) in [(2, 2 * one), (3, one + 2 * OVERHEAD)] {
        let mut config = bench();
        config.host.queue_depth = depth;
        let mut drive = new(config);
        for tag in 0..3 {
            drive.submit(tag, &Command::read(0, 512), Nanos::ZERO);
        }
        completes(&mut drive, 0, one);
        completes(&mut drive, 1, one + OVERHEAD);
        completes(&mut drive, 2, third);
    }
}

/// A host that takes completions late: the second command waited for the first to be taken, and
/// was started when the first had completed, before it had been submitted.
#[test]
fn no_command_starts_before_it_is_submitted() {
    let mut config = wide(2);
    config.host.queue_depth = 1;
    let mut drive = new(config);
    drive.submit(0, &write(0, 1), Nanos::ZERO);
    drive.submit(1, &Command::read(0, 512), Nanos(LATER));
    completes(&mut drive, 0, OVERHEAD + LINK + LATENCY);
    assert_eq!(drive.counters().nand_programs, 1, "idle in between");
    completes(
        &mut drive,
        1,
        LATER + OVERHEAD + SENSE + MOVE + SECTOR + LATENCY,
    );
}

// Reads.

#[test]
fn a_read_of_a_slot_takes_sensing_channel_and_link() {
    let mut drive = written(bench(), 10);
    let expected = OVERHEAD + SENSE + MOVE + LINK + LATENCY;
    drive.submit(0, &read(3, 1), Nanos(LATER));
    completes(&mut drive, 0, LATER + expected);
    assert_eq!(drive.counters().nand_reads_host, 1);
}

#[test]
fn reads_of_one_die_follow_one_another() {
    let mut drive = written(bench(), 64);
    for tag in 0..64 {
        drive.submit(tag, &read(tag.into(), 1), Nanos(LATER));
    }
    for tag in 0..64 {
        let in_controller = LATER + OVERHEAD + u64::from(tag + 1) * (SENSE + MOVE);
        completes(&mut drive, tag, in_controller + LINK + LATENCY);
    }
}

#[test]
fn slots_of_one_unit_are_sensed_once() {
    let mut drive = written(wide(2), 16);
    for (at, count) in [(1, 1), (2, 3), (3, 8)] {
        let expected = OVERHEAD + SENSE + count * MOVE + count * LINK + LATENCY;
        let at = at * LATER;
        assert_eq!(alone(&mut drive, &read(8, count), at), expected, "{count}");
    }
    // Two units of the one die: one after the other.
    let expected = OVERHEAD + 2 * SENSE + 8 * MOVE + 8 * LINK + LATENCY;
    assert_eq!(alone(&mut drive, &read(4, 8), 4 * LATER), expected);
    assert_eq!(drive.counters().nand_reads_host, 5);
}

#[test]
fn a_read_waits_for_the_program_on_its_die() {
    let mut drive = written(bench(), 4);
    drive.submit(0, &write(100, 1), Nanos(LATER));
    drive.submit(1, &read(0, 1), Nanos(LATER));
    let received = LATER + OVERHEAD + LINK;
    completes(&mut drive, 0, received + LATENCY);
    let sensed = received + UNIT + SENSE;
    completes(&mut drive, 1, sensed + MOVE + LINK + LATENCY);
}

#[test]
fn reads_of_unmapped_and_of_buffered_slots_cost_no_media() {
    let mut drive = written(wide(2), 8);
    let quick = OVERHEAD + LINK + LATENCY;
    assert_eq!(alone(&mut drive, &read(1000, 1), LATER), quick);
    assert_eq!(alone(&mut drive, &write(0, 1), 2 * LATER), quick);
    let at = drive.now().0;
    assert_eq!(alone(&mut drive, &read(0, 1), at), quick, "buffered");
    alone(&mut drive, &Command::trim(SLOT, 4096), at + LATER);
    assert_eq!(alone(&mut drive, &read(1, 1), 4 * LATER), quick, "trimmed");
    assert_eq!(drive.counters().nand_reads_host, 0);
}

// Write buffer.

#[test]
fn a_write_is_acknowledged_when_received_while_the_buffer_has_room() {
    let mut drive = new(bench());
    for tag in 0..8 {
        drive.submit(tag, &write(tag.into(), 1), Nanos::ZERO);
    }
    for tag in 0..8 {
        let received = OVERHEAD + u64::from(tag + 1) * LINK;
        completes(&mut drive, tag, received + LATENCY);
    }
}

#[test]
fn a_write_that_finds_the_buffer_full_waits_for_a_program_to_end() {
    let mut drive = new(bench());
    for tag in 0..100 {
        drive.submit(tag, &write(tag.into(), 1), Nanos::ZERO);
    }
    // The first is given to the die as soon as it is there; it keeps its room until it is done.
    let first = OVERHEAD + LINK;
    for tag in 0..100 {
        let at = match tag {
            0..8 => first + u64::from(tag) * LINK,
            _ => first + u64::from(tag - 7) * UNIT,
        };
        completes(&mut drive, tag, at + LATENCY);
    }
}

#[test]
fn a_slot_rewritten_while_buffered_is_programmed_once() {
    let mut drive = new(wide(2));
    let mut now = Nanos::ZERO;
    for _ in 0..10 {
        drive.submit(0, &write(5, 1), now);
        now = drive.pop_completion(Nanos::MAX).expect("completes").done;
    }
    assert_eq!(drive.counters().slots_coalesced, 9);
    assert_eq!(drive.counters().slots_host, 0);
    alone(&mut drive, &Command::flush(), now.0);
    let c = drive.counters();
    assert_eq!((c.slots_host, c.slots_padding, c.nand_programs), (1, 7, 1));
}

/// Read-modify-write, of each partial end once. A write within one slot read that slot twice, and
/// one ragged end had the other read as well.
#[test]
fn a_write_of_part_of_a_slot_reads_the_rest() {
    let edge = OVERHEAD + SENSE + MOVE + LATENCY;
    let mut drive = written(bench(), 100);
    // Part of one slot: one read, not one for each end.
    let part = Command::write(3 * SLOT + 512, 1024);
    assert_eq!(alone(&mut drive, &part, 2 * LATER), edge);
    assert_eq!(drive.counters().nand_reads_internal, 1);
    // Two and a half slots: only the last is read.
    let part = Command::write(10 * SLOT, 10 * 1024);
    assert_eq!(alone(&mut drive, &part, 3 * LATER), edge);
    assert_eq!(drive.counters().nand_reads_internal, 2);
    // Half a slot at each end: both, on one die.
    let part = Command::write(20 * SLOT + 2048, 8192);
    let both = edge + SENSE + MOVE;
    assert_eq!(alone(&mut drive, &part, 4 * LATER), both);
    assert_eq!(drive.counters().nand_reads_internal, 4);
    // Nothing there to read.
    let part = Command::write(1000 * SLOT + 512, 1024);
    let quick = OVERHEAD + 2 * SECTOR + LATENCY;
    assert_eq!(alone(&mut drive, &part, 5 * LATER), quick);
    assert_eq!(drive.counters().nand_reads_internal, 4);
    assert_eq!(drive.counters().nand_reads_host, 0);
}

// Throughput.

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

// FUA and FLUSH.
