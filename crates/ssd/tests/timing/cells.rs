//! pSLC caches, parity, and the stalls of reclaim.

use super::background::{FOLD, SLC_UNIT, cached};
use super::*;
use ssdlab_ssd::config::{Pace, SlcFull};
use ssdlab_ssd::ftl::SlotPlace;

/// Writes of a slot each, all at once; when command `tag` is acknowledged, counted from the
/// beginning of the first program. The buffer holds eight: it is when program `tag - 8` ends.
fn acknowledged(config: DriveConfig, count: u32) -> (Drive, Vec<u64>) {
    let mut drive = new(config);
    for tag in 0..count {
        drive.submit(tag, &write(tag.into(), 1), Nanos::ZERO);
    }
    let begin = OVERHEAD + 2 * LINK + LATENCY;
    let ends = (0..count).map(|tag| {
        let done = drive.pop_completion(Nanos::MAX).expect("completes");
        assert_eq!(done.tag, tag);
        done.done.0.saturating_sub(begin)
    });
    let ends = ends.collect();
    (drive, ends)
}

#[test]
fn a_full_cache_is_passed_by_or_folded_as_the_drive_is_made() {
    for (full, wait, page) in [
        (SlcFull::Direct, 0, MOVE + TLC[0]),
        (SlcFull::Fold, FOLD, SLC_UNIT),
    ] {
        let mut config = cached();
        config.nand.read_first = false;
        config.ftl.slc.full = full;
        let (drive, ends) = acknowledged(config, 41);
        for (ended, end) in (1..).zip(&ends[8..40]) {
            assert_eq!(*end, ended * SLC_UNIT, "{full:?}, program {ended}");
        }
        // Two superblocks of 16 units are full.
        assert_eq!(ends[40], 32 * SLC_UNIT + wait + page, "{full:?}");
        let folded = if wait > 0 { 16 } else { 0 };
        assert_eq!(drive.counters().slots_folded, folded);
    }
}

#[test]
fn a_dynamic_cache_lasts_while_superblocks_are_free_or_until_its_most() {
    // 64 are free: four may be used in SLC mode, a third of their rows each.
    for (above_free, most) in [(60, 0), (60, 9), (9, 4)] {
        let mut config = tlc();
        config.ftl.slc.dynamic_above_free = above_free;
        config.ftl.slc.dynamic_superblocks = most;
        let (drive, ends) = acknowledged(config, 75);
        for (ended, end) in (1..).zip(&ends[8..72]) {
            assert_eq!(*end, ended * SLC_UNIT, "program {ended}");
        }
        assert_eq!(ends[72], 64 * SLC_UNIT + MOVE + TLC[0]);
        assert_eq!(ends[74], 64 * SLC_UNIT + WORD_LINE);
        assert_eq!(drive.counters().slots_slc_mode, 64);
        assert_eq!(drive.free_superblocks(), 59);
    }
}

/// The cache of an empty drive is there again after a pause, until less is free than it takes.
#[test]
fn a_dynamic_cache_with_a_most_shrinks_only_when_the_drive_is_nearly_full() {
    let mut config = tlc();
    config.user_bytes = 2_720 * SLOT;
    config.ftl.slc.dynamic_above_free = 9;
    config.ftl.slc.dynamic_superblocks = 4;
    let taken = [0, 1_000, 2_000, 2_500, 2_540, 2_600].map(|count| {
        let mut drive = written(config.clone(), count);
        let free = drive.free_superblocks();
        let before = drive.counters().slots_slc_mode;
        for slot in count..count + 100 {
            drive.submit(0, &write(slot, 1), drive.now());
            drive.pop_completion(Nanos::MAX).expect("completes");
        }
        let cached = drive.counters().slots_slc_mode - before;
        let superblocks = free.saturating_sub(9).min(4);
        assert_eq!(cached, 16 * superblocks as u64, "{count}: {free} free");
        superblocks
    });
    assert_eq!(taken[..3], [4, 4, 4]);
    assert!((1..4).contains(&taken[3]), "{taken:?}");
    assert_eq!(taken[5], 0, "{taken:?}");
}

/// Times between the completions of 200 writes of a slot each, round and round over `places`.
fn overwritten(config: DriveConfig, places: u64) -> (Drive, Vec<u64>) {
    let mut drive = new(config);
    for n in 0..200 {
        drive.submit(n, &write(u64::from(n) % places, 1), Nanos::ZERO);
    }
    let mut ends = Vec::new();
    while let Some(done) = drive.pop_completion(Nanos::MAX) {
        ends.push(done.done.0);
    }
    let steps = ends.windows(2).map(|pair| pair[1] - pair[0]);
    let steps = steps.collect();
    (drive, steps)
}

/// A file that fits never fills the cache, however long it is overwritten; by `direct` it does.
#[test]
fn a_cache_is_used_again_where_it_was_overwritten() {
    let mut fixed = cached();
    fixed.nand.read_first = false;
    let mut dynamic = tlc();
    dynamic.ftl.slc.dynamic_above_free = 9;
    dynamic.ftl.slc.dynamic_superblocks = 4;
    for config in [fixed, dynamic] {
        let of = |full: SlcFull| {
            let mut config = config.clone();
            config.ftl.slc.full = full;
            let (drive, steps) = overwritten(config, 12);
            (drive.counters().slots_slc_mode, steps)
        };
        let (cached, steps) = of(SlcFull::Recycle);
        assert!(cached >= 192, "{cached} of 200 slots in SLC mode");
        // Each superblock of 16 units is erased before.
        let erasing = steps[20..190].iter().filter(|step| **step != SLC_UNIT);
        let erasing: Vec<u64> = erasing.copied().collect();
        assert!(erasing.len() <= 11, "{erasing:?}");
        assert!(
            erasing.iter().all(|step| *step == SLC_UNIT + ERASE),
            "{erasing:?}"
        );
        let (cached, steps) = of(SlcFull::Direct);
        assert!(cached <= 64, "{cached} slots in SLC mode");
        assert!(steps[190] > SLC_UNIT);
    }
}

/// Where nothing was overwritten, nothing is used again.
#[test]
fn a_cache_that_is_full_of_valid_data_is_passed_by() {
    let mut config = cached();
    config.ftl.slc.full = SlcFull::Direct;
    let direct = acknowledged(config.clone(), 100).1;
    config.ftl.slc.full = SlcFull::Recycle;
    let (drive, ends) = acknowledged(config, 100);
    assert_eq!(ends, direct);
    assert_eq!(drive.counters().slots_folded, 0);
}

/// Four dies: the parity of row r is on die r modulo 4.
#[test]
fn parity_is_one_die_of_each_row_in_turn() {
    let mut config = bench();
    config.shape.channel_count = 4;
    config.ftl.parity = true;
    let geometry = config.geometry();
    let mut drive = written(config, 36);
    assert_eq!(drive.counters().slots_host, 36);
    let mut taken = Vec::new();
    for slot in 0..36 {
        let SlotPlace::Media(ppn) = drive.find(slot) else {
            panic!("slot {slot} is not on media");
        };
        let place = geometry.place(ppn);
        assert_ne!(place.row % 4, place.die, "slot {slot} at {place:?}");
        taken.push((place.row, place.die));
    }
    let rows: Vec<(u32, u32)> = (0..12)
        .flat_map(|row| (0..4).map(move |die| (row, die)))
        .collect();
    let data = rows.into_iter().filter(|(row, die)| row % 4 != *die);
    assert_eq!(taken, data.collect::<Vec<_>>());
    // The parity of row 11, on its last die, comes with the next slot.
    assert_eq!(drive.counters().slots_parity, 11);
    alone(&mut drive, &write_fua(100, 1), LATER);
    assert_eq!(
        drive.counters().slots_parity,
        13,
        "and that of row 12 on die 0"
    );
}

/// Overwrites at random, one by one: latencies in order of length.
fn latencies(pace: Pace) -> Vec<u64> {
    let mut config = bench();
    config.user_bytes = 2_600 * SLOT;
    config.ftl.reclaim.pace = pace;
    let mut drive = written(config, 2_600);
    let mut rng = Rng::named(1, "pace");
    let mut all = Vec::new();
    for n in 0..12_000 {
        let at = drive.now().0;
        let latency = alone(&mut drive, &write(rng.below(2_600), 1), at);
        if n >= 6_000 {
            all.push(latency);
        }
    }
    all.sort_unstable();
    all
}

#[test]
fn whole_victims_stall_the_host_and_spread_work_does_not() {
    let (whole, spread) = (latencies(Pace::Whole), latencies(Pace::Spread));
    let [whole_max, spread_max] = [&whole, &spread].map(|all| all[all.len() - 1]);
    // Time to read and program all 48 slots of a superblock if all were valid. Whole victims stall
    // for several of these: each frees fewer slots than it has. Spread reclaim makes a unit pay
    // only for the valid slots met on the way.
    let superblock = 48 * (SENSE + MOVE + UNIT);
    assert!(whole_max > 2 * superblock, "{whole_max}");
    assert!(spread_max < superblock, "{spread_max}");
    let [whole_sum, spread_sum] = [&whole, &spread].map(|all| all.iter().sum::<u64>() as f64);
    let ratio = whole_sum / spread_sum;
    assert!((0.9..1.1).contains(&ratio), "the same work: {ratio}");
    let [whole_most, spread_most] = [&whole, &spread].map(|all| all[all.len() * 9 / 10]);
    assert_eq!(
        whole_most, UNIT,
        "spread reclaim waits only for the next free place in the buffer"
    );
    assert!(spread_most > 2 * UNIT, "{spread_most}");
}
