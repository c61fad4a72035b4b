//! Ends of array operations, to the nanosecond.

use super::*;
use crate::geometry::Shape;
use crate::rng::Rng;
use crate::units::Nanos;

/// A slot over the channel.
const MOVE: u64 = 10_000;
/// Sensing and programming, by page kind.
const SENSE: [u64; 3] = [50_000, 60_000, 70_000];
const PROGRAM: [u64; 3] = [500_000, 1_000_000, 2_000_000];
const ERASE: u64 = 3_000_000;
/// The first program of a block: four slots are moved, then a lower page programmed.
const FIRST: u64 = 4 * MOVE + PROGRAM[0];
/// A read of one slot of a lower page.
const READ: u64 = SENSE[0] + MOVE;

fn config() -> NandConfig {
    NandConfig {
        timing: NandTiming {
            read: SENSE.map(Nanos).to_vec(),
            program: PROGRAM.map(Nanos).to_vec(),
            slc_read: Nanos(25_000),
            slc_program: Nanos(200_000),
            erase: Nanos(ERASE),
            channel_bytes_per_second: 409_600_000,
        },
        read_first: false,
        suspend: None,
        cache_read: false,
        cache_program: false,
        programs_at_once: 0,
    }
}

fn shape() -> Shape {
    Shape {
        channel_count: 1,
        dies_per_channel: 2,
        planes_per_die: 1,
        blocks_per_plane: 20,
        pages_per_block: 6,
        page_bytes: 16384,
        slot_bytes: 4096,
        bits_per_cell: 3,
    }
}

fn with(change: impl Fn(&mut NandConfig)) -> Nand<Clock> {
    let mut config = config();
    change(&mut config);
    Nand::new(Geometry::new(shape()), &config, None)
}

fn nand() -> Nand<Clock> {
    with(|_| {})
}

fn first() -> Nand<Clock> {
    with(|c| c.read_first = true)
}

const SUSPEND: u64 = 20_000;
const RESUME: u64 = 30_000;

fn suspending(most: u8) -> Nand<Clock> {
    with(|c| {
        c.read_first = true;
        c.suspend = Some(Suspend {
            suspend: Nanos(SUSPEND),
            resume: Nanos(RESUME),
            most,
        });
    })
}

fn at(superblock: u32, row: u32, die: u32) -> UnitPlace {
    UnitPlace {
        superblock,
        row,
        die,
        mode: Mode::Native,
    }
}

/// Programs a row of superblock 0 on die 0.
fn program(nand: &mut Nand<Clock>, from: u64, row: u32) -> Ticket {
    let done = nand.program(from, at(0, row, 0), Purpose::Host, false);
    done.ticket
}

fn program_firm(nand: &mut Nand<Clock>, from: u64, row: u32) -> Ticket {
    let done = nand.program(from, at(0, row, 0), Purpose::Host, true);
    done.ticket
}

/// Reads one slot of a lower page of die 0.
fn read(nand: &mut Nand<Clock>, from: u64) -> u64 {
    nand.read(from, at(9, 0, 0), 1, Purpose::Host)
}

// The plain rules.

#[test]
fn a_program_loads_over_the_channel_then_takes_its_page_kinds_time() {
    let mut nand = nand();
    assert_eq!(program(&mut nand, 0, 0).end, 540_000);
    assert_eq!(program(&mut nand, 0, 1).end, 540_000 + 1_040_000);
    assert_eq!(program(&mut nand, 0, 2).end, 1_580_000 + 2_040_000);
    let slc = UnitPlace {
        mode: Mode::Slc,
        ..at(1, 0, 0)
    };
    let done = nand.program(0, slc, Purpose::Host, false);
    assert_eq!(done.ticket.end, 3_620_000 + 240_000);
}

#[test]
fn two_dies_share_their_channel_but_not_their_program_time() {
    let mut nand = nand();
    program(&mut nand, 0, 0);
    let done = nand.program(0, at(0, 0, 1), Purpose::Host, false);
    assert_eq!(done.ticket.end, 4 * MOVE + FIRST);
}

#[test]
fn in_order_a_read_waits_for_everything_booked_on_its_die() {
    let mut nand = nand();
    let end = program(&mut nand, 0, 0).end;
    for (from, expected) in [
        (end - 1, end + READ),
        (end, end + READ),
        (end + 1, end + READ + 1),
    ] {
        assert_eq!(read(&mut nand.clone(), from), expected);
    }
    let other = nand.read(0, at(1, 1, 1), 4, Purpose::Host);
    assert_eq!(
        other,
        SENSE[1] + 4 * MOVE,
        "another die: only the channel is shared"
    );
    program(&mut nand, 0, 1);
    assert_eq!(read(&mut nand, 0), end + 1_040_000 + READ);
}

#[test]
fn a_stale_block_is_erased_before_its_first_program() {
    let mut nand = nand();
    nand.program(0, at(1, 0, 0), Purpose::Host, false);
    nand.make_stale(1, false);
    assert_eq!(nand.next_row(1, 0), 0);
    let done = nand.program(10_000_000, at(1, 0, 0), Purpose::Host, false);
    assert!(done.erased);
    assert_eq!(done.ticket.end, 10_000_000 + ERASE + FIRST);
    let done = nand.program(20_000_000, at(1, 1, 0), Purpose::Host, false);
    assert!(!done.erased);
    assert_eq!((nand.work.erases, nand.erase_count[1]), (1, 1));
}

#[test]
fn an_erase_takes_all_dies_at_once() {
    let mut nand = nand();
    let end = program(&mut nand, 0, 0).end;
    assert_eq!(
        nand.erase(0, 5).0,
        end + ERASE,
        "behind the program of die 0"
    );
    assert_eq!(nand.gear().die_free_at(1), ERASE);
    assert_eq!(nand.work.erases, 2);
    let end = nand.gear().die_free_at(0);
    assert_eq!(nand.erase_all(0), end + 20 * ERASE);
}

#[test]
#[should_panic(expected = "row order")]
fn rows_are_programmed_in_order() {
    program(&mut nand(), 0, 1);
}

#[test]
fn data_is_pending_until_the_nanosecond_its_program_ends() {
    let mut nand = nand();
    let ticket = program(&mut nand, 0, 0);
    for (now, pending) in [(0, true), (ticket.end - 1, true), (ticket.end, false)] {
        nand.set_now(now);
        assert_eq!(nand.is_pending(0, 0, 0), pending, "{now}");
        assert!(!nand.is_pending(0, 0, 1) && !nand.is_pending(0, 1, 0));
    }
    program(&mut nand, ticket.end, 1);
    assert_eq!(nand.end_of(ticket), 0, "forgotten");
}

// Reads first.

#[test]
fn a_read_overtakes_what_has_not_begun_and_waits_for_what_has() {
    let second = 4 * MOVE + PROGRAM[1];
    for (from, end, moved) in [
        (1, FIRST + READ, READ),
        (FIRST - 1, FIRST + READ, READ),
        (FIRST, FIRST + READ, READ),
        (FIRST + 1, FIRST + second + READ, 0),
    ] {
        let mut nand = first();
        let running = program(&mut nand, 0, 0);
        let booked = program(&mut nand, 0, 1);
        assert_eq!(read(&mut nand, from), end, "from {from}");
        assert_eq!(
            nand.end_of(running),
            FIRST,
            "the operation in progress continues"
        );
        assert_eq!(nand.end_of(booked), FIRST + second + moved);
    }
}

/// The program keeps its turn on the channel: a read that moves its data out just then waits for
/// the four slots to be loaded.
#[test]
fn a_read_before_a_program_booked_for_later_moves_it_only_as_far_as_it_must() {
    let begin = 1_000_000;
    for (from, end) in [
        (0, READ),
        (begin - READ, begin),
        (begin - READ + 1, begin + 5 * MOVE),
        (begin, begin + READ),
    ] {
        let mut nand = first();
        let booked = program(&mut nand, begin, 0);
        let next = program(&mut nand, begin, 1);
        assert_eq!(read(&mut nand, from), end);
        let moved = end.saturating_sub(begin);
        assert_eq!(nand.end_of(booked), begin + FIRST + moved);
        assert_eq!(nand.end_of(next), next.end + moved);
        assert_eq!(nand.gear().die_free_at(0), next.end + moved);
    }
}

#[test]
fn reads_of_a_die_stay_in_order() {
    for mut nand in [nand(), first(), suspending(9)] {
        assert_eq!(read(&mut nand, 100), 100 + READ);
        assert_eq!(read(&mut nand, 0), 100 + 2 * READ);
        assert_eq!(read(&mut nand, 100 + 2 * READ), 100 + 3 * READ);
    }
}

// Firm operations.

#[test]
fn a_read_goes_before_a_firm_program_only_where_it_fits() {
    let gap = FIRST + READ;
    for (begin, end) in [
        (0, FIRST + 4 * MOVE + PROGRAM[1] + READ),
        (gap - 1, gap - 1 + 4 * MOVE + PROGRAM[1] + READ),
        (gap, gap),
        (gap + 1, gap),
    ] {
        let mut nand = first();
        program(&mut nand, 0, 0);
        let firm = program_firm(&mut nand, begin, 1);
        assert_eq!(read(&mut nand, 0), end, "firm from {begin}");
        assert_eq!(nand.end_of(firm), firm.end);
    }
}

#[test]
fn nothing_before_a_firm_program_is_overtaken_or_interrupted() {
    for mut nand in [first(), suspending(9)] {
        program(&mut nand, 0, 0);
        program(&mut nand, 0, 1);
        let firm = program_firm(&mut nand, 0, 2);
        assert_eq!(read(&mut nand, 100), firm.end + READ);
        assert_eq!(nand.end_of(firm), firm.end);
    }
}

#[test]
fn a_program_is_overtaken_until_it_is_made_firm() {
    let mut nand = first();
    program(&mut nand, 0, 0);
    let booked = program(&mut nand, 0, 1);
    read(&mut nand, 0);
    let end = nand.make_firm(booked);
    assert_eq!(end, booked.end + READ);
    assert_eq!(read(&mut nand, 0), end + READ);
    assert_eq!(nand.end_of(booked), end);
}

// Suspend.

#[test]
fn a_read_interrupts_a_program_so_often_and_then_waits() {
    let mut nand = suspending(2);
    let ticket = program(&mut nand, 0, 0);
    let lost = SUSPEND + READ + RESUME;
    assert_eq!(read(&mut nand, 100_000), 100_000 + SUSPEND + READ);
    assert_eq!(nand.end_of(ticket), FIRST + lost);
    assert_eq!(read(&mut nand, 300_000), 300_000 + SUSPEND + READ);
    assert_eq!(nand.end_of(ticket), FIRST + 2 * lost);
    assert_eq!(
        read(&mut nand, 500_000),
        FIRST + 2 * lost + READ,
        "at most twice"
    );
    assert_eq!(nand.end_of(ticket), FIRST + 2 * lost);
    let busy = nand.gear().busy_ns().0[0];
    assert_eq!(busy, FIRST + 2 * lost + READ, "it was never idle");
}

#[test]
fn a_program_about_to_end_is_not_interrupted() {
    for (left, end) in [(SUSPEND, FIRST + READ), (SUSPEND + 1, FIRST - 1 + READ)] {
        let mut nand = suspending(1);
        program(&mut nand, 0, 0);
        assert_eq!(read(&mut nand, FIRST - left), end);
    }
}

#[test]
fn what_waits_behind_an_interrupted_erase_moves_with_it() {
    let mut nand = suspending(1);
    nand.erase(0, 3);
    let ticket = program(&mut nand, 0, 0);
    assert_eq!(ticket.end, ERASE + FIRST);
    assert_eq!(read(&mut nand, 1_000_000), 1_000_000 + SUSPEND + READ);
    assert_eq!(nand.end_of(ticket), ERASE + FIRST + SUSPEND + READ + RESUME);
}

// Any order of anything.

fn random_run(mut nand: Nand<Clock>, seed: u64) {
    let mut rng = Rng::new(seed);
    let mut firm: Vec<Ticket> = Vec::new();
    let mut plain: Vec<Ticket> = Vec::new();
    let mut last_read = [0; 2];
    let mut rows = [0_u32; 2];
    let mut now = 0;
    for _ in 0..400 {
        now += rng.below(400_000);
        nand.set_now(now);
        let from = now + rng.below(200_000);
        let die = rng.below(2) as usize;
        let row = rows[die];
        if rng.percent(60) || row == 120 {
            let slots = 1 + rng.below(4) as u32;
            let end = nand.read(from, at(19, 0, die as u32), slots, Purpose::Host);
            assert!(end >= from + SENSE[0] + u64::from(slots) * MOVE);
            assert!(end > last_read[die], "reads in order");
            last_read[die] = end;
        } else {
            let place = at(row / 6, row % 6, die as u32);
            let is_firm = rng.percent(30);
            let ticket = nand.program(from, place, Purpose::Map, is_firm).ticket;
            rows[die] += 1;
            if is_firm { &mut firm } else { &mut plain }.push(ticket);
        }
        for ticket in &firm {
            let end = nand.end_of(*ticket);
            assert!(
                end == ticket.end || (end == 0 && ticket.end <= now),
                "{ticket:?}: {end}"
            );
        }
        for ticket in &mut plain {
            let end = nand.end_of(*ticket);
            assert!(
                end >= ticket.end || end == 0 && ticket.end <= now,
                "{ticket:?}: {end}"
            );
            ticket.end = end.max(ticket.end);
        }
    }
    let (dies, _) = nand.gear().busy_ns();
    for (die, &busy) in (0..).zip(&dies) {
        assert!(
            busy <= nand.gear().die_free_at(die),
            "a die does one thing at a time"
        );
    }
    let purposes = nand.gear().busy_by_purpose();
    assert_eq!(purposes.iter().sum::<u64>(), dies.iter().sum());
}

#[test]
fn in_any_order_firm_programs_stay_and_reads_keep_theirs() {
    for seed in 0..40 {
        for nand in [nand(), first(), suspending(0), suspending(3)] {
            random_run(nand, seed);
        }
    }
}

// Cache operations, against the arithmetic of data sheets.

#[test]
fn cache_reads_hide_sensing_or_moving_whichever_is_shorter() {
    for (slots, cached, each) in [
        (4, false, SENSE[0] + 4 * MOVE),
        (4, true, SENSE[0]),
        (1, true, SENSE[0]),
    ] {
        let mut nand = with(|c| c.cache_read = cached);
        let last = (0..100)
            .map(|_| nand.read(0, at(9, 0, 0), slots, Purpose::Host))
            .last();
        let once = SENSE[0] + u64::from(slots) * MOVE;
        assert_eq!(last, Some(99 * each + once));
    }
    // A channel of half the speed: moving 80 us is longer than sensing 50 us.
    let mut nand = with(|c| {
        c.cache_read = true;
        c.timing.channel_bytes_per_second /= 2;
    });
    let last = (0..100)
        .map(|_| nand.read(0, at(9, 0, 0), 4, Purpose::Host))
        .last();
    assert_eq!(last, Some(SENSE[0] + 100 * 8 * MOVE));
}

#[test]
fn cache_programs_hide_loading_or_programming_whichever_is_shorter() {
    let last = |mut nand: Nand<Clock>| {
        let places = (0..20).flat_map(|block| (0..6).map(move |row| at(block, row, 0)));
        let ends = places.map(|at| nand.program(0, at, Purpose::Host, false).ticket.end);
        ends.last()
    };
    let word_line: u64 = PROGRAM.iter().sum();
    assert_eq!(last(nand()), Some(40 * (word_line + 12 * MOVE)));
    let cached = last(with(|c| c.cache_program = true));
    assert_eq!(cached, Some(40 * word_line + 4 * MOVE));
    // A channel so slow that each page takes 3 ms to load: longer than any program.
    let slow = last(with(|c| {
        c.cache_program = true;
        c.timing.channel_bytes_per_second = 4 * 4096 * 1000 / 3;
    }));
    let moved = 4 * 4096 * 1_000_000_000_u64;
    let load = moved.div_ceil(4 * 4096 * 1000 / 3);
    assert_eq!(slow, Some(120 * load + PROGRAM[2]));
}

#[test]
fn the_register_is_loaded_one_page_ahead_and_no_more() {
    let mut nand = with(|c| c.cache_program = true);
    program(&mut nand, 0, 0);
    program(&mut nand, 0, 1);
    program(&mut nand, 0, 2);
    // Of die 1: the channel is free but for the loads of die 0 at 0, 40 and 540 us.
    let begin = 540_000 - 3 * MOVE;
    let other = nand.program(begin, at(0, 0, 1), Purpose::Host, false);
    assert_eq!(
        other.ticket.end,
        540_000 + 8 * MOVE + PROGRAM[0],
        "waits for the third load"
    );
}

// Both gears.

#[test]
fn the_counting_gear_counts_the_same_work() {
    fn work<G: Gear>(mut nand: Nand<G>) -> (NandWork, Vec<u32>) {
        for row in 0..6 {
            nand.program(0, at(2, row, 1), Purpose::Host, row == 3);
        }
        nand.read(0, at(2, 4, 1), 3, Purpose::Host);
        nand.make_stale(2, false);
        nand.program(0, at(2, 0, 1), Purpose::Host, false);
        nand.erase(0, 7);
        nand.erase_all(0);
        (nand.work.clone(), nand.erase_count)
    }
    let counting: Nand<Counting> = Nand::new(Geometry::new(shape()), &config(), None);
    let (done, erases) = work(counting);
    assert_eq!(done.programs[..3], [3, 2, 2]);
    assert_eq!(done.reads[..3], [0, 1, 0]);
    assert_eq!((done.erases, done.slots_moved), (1 + 2 + 40, 7 * 4 + 3));
    assert_eq!(work(nand()), (done, erases));
}
