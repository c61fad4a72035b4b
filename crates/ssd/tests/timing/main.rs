//! Every command completes exactly at the time given by the rules of controller, link, queue,
//! buffer, die and channel, and not a nanosecond before.
//!
//! Every time is computed here by hand from the bench drive's round numbers and probed through
//! the public interface: nothing at t - 1, the command at t.

mod ahead;
mod answers;
mod background;
mod cells;
mod commits;
mod journal_of_commits;
#[path = "../kinds/mod.rs"]
mod kinds;
mod laws;
mod limit;
mod moved;
mod reads;
mod relief;
mod throughput;
mod trim;

use ssdlab_ssd::config::Pace;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, DriveConfig, Nanos};

const SLOT: u64 = 4096;
/// Controller time of a command.
const OVERHEAD: u64 = 3_000;
/// Latency added to every completion.
const LATENCY: u64 = 7_000;
/// Transfer of a slot over the link, and over a channel.
const LINK: u64 = 10_000;
const MOVE: u64 = 10_000;
/// Transfer of 512 bytes over the link.
const SECTOR: u64 = 1_250;
const SENSE: u64 = 50_000;
const PROGRAM: u64 = 400_000;
const ERASE: u64 = 2_000_000;
const IDLE: u64 = 50_000_000;
/// A unit of the bench drive is one slot: program it, transfer included.
const UNIT: u64 = MOVE + PROGRAM;
/// Later than all operations of the preparation of a test.
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
    c.host.write_overhead = Nanos(OVERHEAD);
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
    // The first is given to the die when the second arrives; it keeps its room until its program
    // has ended.
    let first = OVERHEAD + 2 * LINK;
    for tag in 0..100 {
        let at = match tag {
            0..8 => OVERHEAD + u64::from(tag + 1) * LINK,
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
