//! Reads among the operations of their die; reads of a map that is not all in DRAM.

use super::*;
use ssdlab_ssd::config::MappingKind;
use ssdlab_ssd::nand::Suspend;

const SUSPEND: u64 = 20_000;
const RESUME: u64 = 30_000;

/// Three writes at once, of which the first is programmed and the second waits for it (the third
/// stays in the buffer), then a read that begins `after` the first program does. Returns when the
/// read has its data, and when both programs have ended, counted from that beginning.
fn read_after(config: DriveConfig, after: u64) -> (u64, u64) {
    let mut drive = written(config, 4);
    drive.submit(0, &write(100, 3), Nanos(LATER));
    let begin = LATER + OVERHEAD + 3 * LINK;
    completes(&mut drive, 0, begin + LATENCY);
    drive.submit(1, &read(0, 1), Nanos(begin + after - OVERHEAD));
    let done = drive.pop_completion(Nanos::MAX).expect("under way");
    let end = done.done.0 - LINK - LATENCY - begin;
    (end, drive.die_free_at(0).0 - begin)
}

#[test]
fn a_read_waits_its_turn_or_goes_first_or_interrupts() {
    let (two, cost) = (2 * UNIT, SENSE + MOVE);
    for after in [20_000, UNIT - 1, UNIT, UNIT + 1, two - 1, two] {
        let mut config = bench();
        config.nand.read_first = false;
        let expected = (two + cost, two + cost);
        assert_eq!(
            read_after(config.clone(), after),
            expected,
            "in order, {after}"
        );
        config.nand.read_first = true;
        let ends = if after <= UNIT { UNIT } else { two } + cost;
        let expected = (ends, two + cost);
        assert_eq!(
            read_after(config.clone(), after),
            expected,
            "first, {after}"
        );
        config.nand.suspend = Some(Suspend::new(Nanos(SUSPEND), Nanos(RESUME), 1));
        let left = if after < UNIT { UNIT } else { two } - after;
        let expected = if after == UNIT || left <= SUSPEND {
            expected
        } else {
            let lost = SUSPEND + cost + RESUME;
            (after + SUSPEND + cost, two + lost)
        };
        assert_eq!(read_after(config, after), expected, "suspending, {after}");
    }
}

#[test]
fn data_on_its_way_to_media_is_read_from_the_buffer() {
    let mut drive = new(bench());
    drive.submit(0, &write(0, 2), Nanos::ZERO);
    let placed = OVERHEAD + 2 * LINK;
    let end = placed + UNIT;
    completes(&mut drive, 0, placed + LATENCY);
    let quick = OVERHEAD + LINK + LATENCY;
    assert_eq!(alone(&mut drive, &read(0, 1), end - 1), quick);
    assert_eq!(drive.counters().nand_reads_host, 0);
    let from_media = quick + SENSE + MOVE;
    assert_eq!(alone(&mut drive, &read(0, 1), end + quick), from_media);
}

/// A map of leaves of 64 slots, one of which fits in DRAM.
fn cached_map() -> DriveConfig {
    let mut config = bench();
    config.ftl.mapping.kind = MappingKind::Cached;
    config.ftl.mapping.dram_bytes = 4096;
    config.ftl.mapping.entry_bytes = 64;
    config
}

#[test]
fn a_lookup_that_misses_dram_reads_the_map_before_the_data() {
    for channels in [1, 8] {
        let mut config = cached_map();
        config.shape.channel_count = channels;
        let mut drive = written(config, 250);
        let hit = OVERHEAD + SENSE + MOVE + LINK + LATENCY;
        let miss = hit + SENSE + MOVE;
        let before = drive.counters().map_misses;
        for (n, (slot, expected)) in
            (1..).zip([(3, miss), (60, hit), (64, miss), (70, hit), (0, miss)])
        {
            assert_eq!(
                alone(&mut drive, &read(slot, 1), n * LATER),
                expected,
                "slot {slot}"
            );
        }
        assert_eq!(drive.counters().map_misses - before, 3);
        assert_eq!(drive.counters().nand_reads_host, 5);
    }
}

#[test]
fn a_leaf_apart_is_found_through_its_nodes() {
    for pages in [1, 3] {
        let mut config = cached_map();
        config.ftl.mapping.apart = true;
        config.ftl.mapping.leaf_programs = pages;
        config.ftl.reclaim.free_superblocks_low = 4;
        let mut drive = written(config, 250);
        let hit = OVERHEAD + SENSE + MOVE + LINK + LATENCY;
        let miss = hit + u64::from(pages) * (SENSE + MOVE);
        assert_eq!(alone(&mut drive, &read(3, 1), LATER), miss);
        assert_eq!(alone(&mut drive, &read(60, 1), 2 * LATER), hit);
    }
}

#[test]
fn a_lookup_of_nothing_costs_the_map_only_where_there_is_one() {
    let mut drive = written(cached_map(), 250);
    alone(&mut drive, &Command::trim(0, 8 * 4096), LATER);
    let quick = OVERHEAD + LINK + LATENCY;
    let miss = quick + SENSE + MOVE;
    assert_eq!(alone(&mut drive, &read(1, 1), 2 * LATER), miss, "trimmed");
    assert_eq!(
        alone(&mut drive, &read(2, 1), 3 * LATER),
        quick,
        "its map is there now"
    );
    assert_eq!(
        alone(&mut drive, &read(1_000, 1), 4 * LATER),
        quick,
        "never written"
    );
}

#[test]
fn a_tree_of_one_extent_a_leaf_fits_where_a_table_does_not() {
    let misses = |kind: MappingKind| {
        let mut config = cached_map();
        config.ftl.mapping.kind = kind;
        let mut drive = written(config, 1_900);
        let before = drive.counters().map_misses;
        for slot in 0..1_900 {
            let at = drive.now().0;
            alone(&mut drive, &read(slot * 67 % 1_900, 1), at);
        }
        drive.counters().map_misses - before
    };
    // 30 extents of 64 bytes are less than a page.
    assert_eq!(misses(MappingKind::Tree), 0);
    assert!(misses(MappingKind::Cached) > 1_800);
}
