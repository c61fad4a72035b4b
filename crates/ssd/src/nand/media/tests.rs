//! Effect of a cut on operations that are booked, begun and over.

use super::{CutDamage, Media};
use crate::geometry::{Geometry, Shape};
use crate::nand::{
    Erased, Mode, Nand, NandConfig, NandTiming, Purpose, Recorder, UnitPlace, WearConfig,
};
use crate::units::Nanos;

const PROGRAM: u64 = 1_000_000;
const ERASE: u64 = 3_000_000;

/// One die of ten blocks of two word lines of three pages; moving data takes next to no time.
fn nand() -> Nand<Recorder> {
    of_dies(1, None)
}

fn of_dies(count: u32, wear: Option<&WearConfig>) -> Nand<Recorder> {
    let shape = Shape {
        channel_count: count,
        dies_per_channel: 1,
        planes_per_die: 1,
        blocks_per_plane: 10,
        pages_per_block: 6,
        page_bytes: 4096,
        slot_bytes: 4096,
        bits_per_cell: 3,
    };
    let config = NandConfig {
        timing: NandTiming {
            read: vec![Nanos(50_000); 3],
            program: vec![Nanos(PROGRAM); 3],
            slc_read: Nanos(25_000),
            slc_program: Nanos(200_000),
            erase: Nanos(ERASE),
            channel_bytes_per_second: 1_000_000_000_000,
        },
        read_first: false,
        suspend: None,
        cache_read: false,
        cache_program: false,
        programs_at_once: 0,
    };
    Nand::new(Geometry::new(shape), &config, wear)
}

/// Books the program of the next row of a superblock's block; returns when it ends.
fn program(nand: &mut Nand<Recorder>, superblock: u32) -> u64 {
    let at = UnitPlace {
        superblock,
        row: nand.next_row(superblock, 0),
        die: 0,
        mode: Mode::Native,
    };
    nand.program(0, at, Purpose::Host, false).ticket.end
}

fn cut(nand: &mut Nand<Recorder>, at: u64) -> CutDamage {
    nand.set_now(at);
    nand.cut(None)
}

fn torn(media: &Media, block: usize) -> Vec<bool> {
    let pages = media.blocks()[block].pages.iter();
    pages.map(|page| page.torn).collect()
}

#[test]
fn a_torn_program_takes_the_pages_below_it_in_its_word_line_alone() {
    let mut nand = nand();
    let ends: Vec<u64> = (0..6).map(|_| program(&mut nand, 0)).collect();
    let damage = cut(&mut nand, ends[5] - PROGRAM / 2);
    assert_eq!((damage.torn_programs, damage.lower_pages_lost), (1, 2));
    let media = nand.media().unwrap();
    assert_eq!(torn(media, 0), [false, false, false, true, true, true]);
}

#[test]
fn what_was_there_at_power_on_is_not_lost_with_a_page_above_it() {
    let mut nand = nand();
    program(&mut nand, 0);
    let end = program(&mut nand, 0);
    cut(&mut nand, end);
    nand.power_on(end);
    let above = program(&mut nand, 0);
    let damage = cut(&mut nand, above - PROGRAM / 2);
    assert_eq!((damage.lower_pages_lost, damage.lower_pages_saved), (0, 2));
    assert_eq!(torn(nand.media().unwrap(), 0), [false, false, true]);
}

/// Found by a million cuts (kind `pslc`, seed 152017): the block's last page was still being
/// programmed when the block was emptied, given free and its next life booked behind, which
/// forgot that the pages below had been saved. The copies that were to take their place had not
/// begun.
#[test]
fn a_booked_erase_does_not_forget_what_was_saved_in_the_life_before_it() {
    let mut nand = nand();
    program(&mut nand, 0);
    let end = program(&mut nand, 0);
    cut(&mut nand, end);
    nand.power_on(end);
    let above = program(&mut nand, 0);
    program(&mut nand, 1);
    nand.make_stale(0, false);
    program(&mut nand, 0);
    program(&mut nand, 0);
    let damage = cut(&mut nand, above - PROGRAM / 2);
    assert_eq!(damage.not_begun, 3);
    assert_eq!((damage.lower_pages_lost, damage.lower_pages_saved), (0, 2));
    assert_eq!(torn(nand.media().unwrap(), 0), [false, false, true]);
}

/// The life that begins with the erase has saved nothing yet.
#[test]
fn what_an_erase_saved_before_it_says_nothing_of_the_life_after_it() {
    let mut nand = nand();
    for _ in 0..3 {
        program(&mut nand, 0);
    }
    nand.make_stale(0, false);
    let first = program(&mut nand, 0);
    let second = program(&mut nand, 0);
    assert!(second > first);
    let damage = cut(&mut nand, second - PROGRAM / 2);
    assert_eq!((damage.torn_programs, damage.lower_pages_lost), (1, 1));
    assert_eq!(torn(nand.media().unwrap(), 0), [true, true]);
}

/// Wear goes back when a cut comes before a superblock is gone, so nothing may have begun since.
#[test]
fn nothing_begins_before_a_retired_superblock_is_gone() {
    let wear = WearConfig {
        failure_cycles: vec![1],
        program_failures: 0,
        reserve_blocks: 0,
        ..WearConfig::tiny()
    };
    let ends = |retires: bool| {
        let mut nand = of_dies(2, Some(&wear));
        let before = program(&mut nand, 0);
        if retires {
            assert_eq!(nand.make_stale(1, true), Erased::Retired);
        }
        let at = UnitPlace {
            superblock: 2,
            row: 0,
            die: 1,
            mode: Mode::Native,
        };
        (before, nand.program(0, at, Purpose::Host, false).ticket.end)
    };
    let (before, alone) = ends(false);
    assert_eq!(alone, before, "on two dies at once");
    assert_eq!(ends(true), (before, before + alone));
}
