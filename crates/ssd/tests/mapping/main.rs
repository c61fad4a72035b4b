//! Rules of the block-mapped drives.
//!
//! `model` compares random commands with a plain set. This file compares the cost of writes with
//! arithmetic by hand; and reclaim beside a tree that lies apart with reclaim beside a table.

mod model;

use ssdlab_ssd::config::{MappingConfig, MappingKind, Pace};
use ssdlab_ssd::counters::DriveCounters;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, CountingDrive, Drive, DriveConfig, Nanos};

/// A page, a unit and a slot are the same: the smallest update that a drive can be given.
const PAGE: u64 = 16_384;

/// One die and plane, blocks of `pages` pages, a drive of `segments` of them.
fn plain(kind: MappingKind, pages: u32, segments: u32) -> DriveConfig {
    let mut c = DriveConfig::tiny();
    c.shape.channel_count = 1;
    c.shape.planes_per_die = 1;
    c.shape.bits_per_cell = 1;
    c.shape.blocks_per_plane = segments + 3;
    c.shape.pages_per_block = pages;
    c.shape.page_bytes = PAGE as u32;
    c.shape.slot_bytes = PAGE as u32;
    c.nand.timing.read.truncate(1);
    c.nand.timing.program.truncate(1);
    c.user_bytes = u64::from(segments * pages) * PAGE;
    c.ftl.mapping.kind = kind;
    c.ftl.slc.superblocks = 0;
    c.ftl.journal = Default::default();
    c.buffer.bytes = 2 * PAGE;
    c
}

fn write(drive: &mut CountingDrive, page: u64) {
    drive.apply(&Command::write(page * PAGE, PAGE as u32));
}

/// Writes pages in order and flushes them to media.
fn fill(drive: &mut CountingDrive, pages: std::ops::Range<u64>) {
    for page in pages {
        write(drive, page);
    }
    drive.apply(&Command::flush());
}

/// Write amplification of `load`.
fn cost(drive: &mut CountingDrive, load: impl FnOnce(&mut CountingDrive)) -> f64 {
    let before = drive.counters().clone();
    load(drive);
    drive.check().expect("consistent");
    let slot_bytes = drive.config().shape.slot_bytes;
    let waf = drive.counters().waf_since(&before, slot_bytes);
    waf.expect("the host wrote")
}

fn programmed(drive: &CountingDrive, before: &DriveCounters) -> u64 {
    drive.counters().slots_programmed() - before.slots_programmed()
}

/// Article "myth" of the references: in place, an update of a page rewrites its block; with
/// 256 pages of 16 KiB that is 4 MiB for 16 KiB.
#[test]
fn in_place_an_update_of_a_page_costs_its_block_256_times() {
    let mut drive = CountingDrive::new(plain(MappingKind::Block, 256, 16)).expect("valid");
    assert_eq!(
        cost(&mut drive, |d| fill(d, 0..16 * 256)),
        1.0,
        "first fill"
    );
    let mut rng = Rng::new(5);
    let waf = cost(&mut drive, |d| {
        let mut last = 16;
        for _ in 0..2000 {
            // A second write to the segment just rewritten might continue there at no cost.
            let segment = (last + 1 + rng.below(15)) % 16;
            write(d, segment * 256 + rng.below(256));
            last = segment;
        }
        // The last page of a segment leaves nothing to copy.
        write(d, (last + 1) % 16 * 256 + 255);
        d.apply(&Command::flush());
    });
    assert_eq!(waf, 256.0);
}

#[test]
fn in_place_overwriting_in_order_costs_nothing_more() {
    let mut drive = CountingDrive::new(plain(MappingKind::Block, 64, 10)).expect("valid");
    for pass in 0..3 {
        let waf = cost(&mut drive, |d| fill(d, 0..640));
        assert_eq!(waf, 1.0, "pass {pass}");
    }
    assert_eq!(drive.counters().slots_relocated, 0);
}

/// Beyond the written rows, rows are padded; before them, the segment is rewritten.
#[test]
fn in_place_a_gap_is_padded_and_filling_it_rewrites() {
    let mut drive = CountingDrive::new(plain(MappingKind::Block, 64, 10)).expect("valid");
    let one = |drive: &mut CountingDrive, page| {
        let before = drive.counters().clone();
        write(drive, page);
        drive.apply(&Command::flush());
        drive.check().expect("consistent");
        programmed(drive, &before)
    };
    assert_eq!(one(&mut drive, 9), 10, "nine of padding");
    assert_eq!(one(&mut drive, 10), 1);
    assert_eq!(
        one(&mut drive, 4),
        5,
        "fresh: four of padding; 9 and 10 wait"
    );
    assert_eq!(
        one(&mut drive, 12),
        8,
        "from there on: 5 to 8 padded, 9 and 10 copied, 11 padded"
    );
}

#[test]
fn in_place_trim_of_a_segment_frees_it_and_of_a_part_saves_copies() {
    let mut drive = CountingDrive::new(plain(MappingKind::Block, 64, 10)).expect("valid");
    fill(&mut drive, 0..640);
    assert_eq!(drive.free_superblocks(), 3);
    drive.apply(&Command::trim(64 * PAGE, (64 * PAGE) as u32));
    assert_eq!(drive.free_superblocks(), 4);
    drive.apply(&Command::trim(32 * PAGE, (32 * PAGE) as u32));
    assert_eq!(drive.free_superblocks(), 4);
    let before = drive.counters().clone();
    write(&mut drive, 0);
    write(&mut drive, 640 - 64);
    drive.apply(&Command::flush());
    drive.check().expect("consistent");
    // The half segment is copied completely when the next one begins.
    assert_eq!(programmed(&drive, &before), 32 + 1);
    assert_eq!(drive.counters().slots_padding, 0);
}

/// A rewrite takes its time: copies are read and programmed on the same die.
#[test]
fn in_place_a_random_overwrite_takes_as_long_as_its_segment() {
    let config = plain(MappingKind::Block, 64, 10);
    let timing = config.nand.timing.clone();
    let mut drive = Drive::new(config).expect("valid");
    let now = |drive: &Drive| drive.now();
    for page in (0..640).chain([60, 639]) {
        drive.submit(0, &Command::write(page * PAGE, PAGE as u32), now(&drive));
        drive.pop_completion(Nanos::MAX).expect("a completion");
    }
    drive.submit(0, &Command::flush(), now(&drive));
    drive.pop_completion(Nanos::MAX).expect("a completion");
    drive.check().expect("consistent");
    let begin = now(&drive);
    drive.submit(0, &Command::write_fua(63 * PAGE, PAGE as u32), begin);
    let done = drive.pop_completion(Nanos::MAX).expect("a completion");
    let moved = PAGE * 1_000_000_000 / timing.channel_bytes_per_second;
    let each = timing.read[0].0 + timing.program[0].0 + 2 * moved;
    let took = (done.done - begin).0;
    assert!(
        (63 * each..65 * each).contains(&took),
        "{took} ns for 63 copies of {each} ns and one page"
    );
}

type Change = fn(&mut DriveConfig);

#[test]
fn what_a_block_map_does_not_know_is_refused() {
    let refused: [(&str, Change); 8] = [
        ("slc_superblocks", |c| c.ftl.slc.superblocks = 2),
        ("compression_pack", |c| c.ftl.compression_pack = 4),
        ("parity", |c| c.ftl.parity = true),
        ("streams", |c| c.ftl.reclaim.streams = 2),
        ("shared_frontier", |c| c.ftl.reclaim.shared_frontier = true),
        ("map_dram", |c| c.ftl.mapping.dram_bytes = 1 << 20),
        ("pace", |c| c.ftl.reclaim.pace = Pace::Whole),
        ("user capacity", |c| c.user_bytes += PAGE),
    ];
    for (what, set) in refused {
        let mut config = plain(MappingKind::Block, 64, 10);
        config.shape.channel_count = 2;
        config.shape.pages_per_block = 32;
        config.buffer.bytes = 64 * PAGE;
        config.validate().expect("possible");
        config.ftl.reclaim.free_superblocks_low = 5;
        config.shape.blocks_per_plane += 2;
        set(&mut config);
        let error = config.validate().expect_err(what);
        assert_eq!(error.what, what, "{error}");
    }
}

#[test]
fn a_block_map_has_no_spare_area() {
    let mut block = plain(MappingKind::Block, 64, 10);
    block.shape.blocks_per_plane += 20;
    assert_eq!(block.effective_op(), 0.0);
}

/// Slots that reclaim moves for each that the host writes, under writes at random to a drive of
/// which a fifth is spare.
fn moved(mapping: MappingConfig) -> f64 {
    let mut config = plain(MappingKind::Flat, 32, 1);
    config.shape.dies_per_channel = 4;
    config.shape.blocks_per_plane = 256;
    config.user_bytes = 26_000 * PAGE;
    config.ftl.reclaim.free_superblocks_low = 4;
    config.ftl.mapping = mapping;
    let mut drive = CountingDrive::new(config).expect("possible");
    let mut rng = Rng::named(1, "moved");
    fill(&mut drive, 0..26_000);
    let mut random = |drive: &mut CountingDrive| {
        for _ in 0..78_000 {
            write(drive, rng.below(26_000));
        }
    };
    random(&mut drive);
    let before = drive.counters().clone();
    random(&mut drive);
    drive.check().expect("consistent");
    let now = drive.counters();
    let host = now.slots_host - before.slots_host;
    (now.slots_relocated - before.slots_relocated) as f64 / host as f64
}

/// Were the map's pages among the data, superblocks would be half stale as soon as they are full,
/// reclaim would move data that is not, and each move would change the map again.
#[test]
fn the_upkeep_of_a_tree_apart_moves_no_data() {
    let tree = |apart| {
        let mut tree = MappingConfig::default();
        tree.kind = MappingKind::Tree;
        tree.dram_bytes = 80 << 10;
        tree.entry_bytes = 32;
        tree.leaf_programs = 4;
        tree.apart = apart;
        tree
    };
    let flat = moved(MappingConfig::default());
    let (apart, among) = (moved(tree(true)), moved(tree(false)));
    assert!((apart / flat - 1.0).abs() < 0.1, "{apart}, flat {flat}");
    assert!(among > 2.0 * flat, "{among}, flat {flat}");
}
