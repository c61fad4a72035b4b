//! Idle work.

use super::*;

/// A unit written in SLC mode.
pub const SLC_UNIT: u64 = MOVE + 200_000;
/// Sixteen slots: read each from SLC mode, program five word lines and a page, erase.
pub const FOLD: u64 = 16 * (25_000 + MOVE) + 5 * WORD_LINE + MOVE + TLC[0] + ERASE;

/// A TLC drive with a pSLC cache of two superblocks, 16 rows of one slot each.
pub fn cached() -> DriveConfig {
    let mut config = tlc();
    config.ftl.slc.superblocks = 2;
    config
}

#[test]
fn an_idle_drive_empties_its_buffer_then_folds_its_cache() {
    let mut drive = new(cached());
    for slot in 0..16 {
        alone(&mut drive, &write(slot, 1), slot * 1_000_000);
    }
    assert_eq!(drive.free_slc_superblocks(), 1);
    let idle = drive.now().0 + IDLE;
    assert_eq!(drive.pop_completion(Nanos(idle - 1)), None);
    assert_eq!(drive.counters().slots_folded, 0, "not yet idle");
    assert_eq!(drive.counters().nand_reads_internal, 0);
    assert_eq!(drive.pop_completion(Nanos(idle)), None);
    assert_eq!(drive.buffered_slots(), 0, "the last slot is placed");
    let placed = idle + SLC_UNIT;
    assert_eq!(drive.pop_completion(Nanos(placed - 1)), None);
    assert_eq!(drive.counters().nand_reads_internal, 0);
    assert_eq!(drive.pop_completion(Nanos(placed)), None);
    assert_eq!(
        drive.counters().nand_reads_internal,
        1,
        "then the cache is folded"
    );
    assert_eq!(drive.pop_completion(Nanos(placed + FOLD)), None);
    assert_eq!(drive.die_free_at(0).0, placed + FOLD);
    assert_eq!(drive.counters().slots_folded, 16);
    assert_eq!(drive.free_slc_superblocks(), 2, "available again");
    drive.check().expect("consistent");
}

#[test]
fn a_buffer_left_alone_is_emptied_when_idle() {
    let mut drive = new(wide(2));
    alone(&mut drive, &write(0, 1), 0);
    let idle = drive.now().0 + IDLE;
    assert_eq!(drive.pop_completion(Nanos(idle - 1)), None);
    assert_eq!(drive.counters().nand_programs, 0);
    assert_eq!(drive.pop_completion(Nanos(idle)), None);
    assert_eq!(drive.counters().nand_programs, 1);
    let free = drive.die_free_at(0).0;
    assert_eq!(free, idle + 8 * MOVE + PROGRAM);
}

#[test]
fn a_folded_cache_is_as_fast_as_a_new_one() {
    // 32 slots fill the cache exactly.
    let burst = |drive: &mut Drive, at: u64, first: u64| -> Vec<u64> {
        for tag in 0..32 {
            drive.submit(tag, &write(first + u64::from(tag), 1), Nanos(at));
        }
        (0..32)
            .map(|_| drive.pop_completion(Nanos::MAX).expect("completes"))
            .map(|done| done.done.0 - at)
            .collect()
    };
    let mut drive = new(cached());
    let fresh = burst(&mut drive, 0, 0);
    let at = drive.now().0;
    let at_once = burst(&mut drive, at, 100);
    assert!(at_once[31] > 4 * fresh[31], "the cache was used up");
    assert_eq!(drive.pop_completion(Nanos(LATER)), None);
    assert_eq!(drive.free_slc_superblocks(), 2);
    assert_eq!(burst(&mut drive, LATER, 200), fresh);
}

#[test]
fn a_superblock_that_fades_is_rewritten_when_idle() {
    let mut drive = written(bench(), 1_900);
    assert_eq!(drive.pop_completion(Nanos(LATER)), None);
    let holds = |drive: &Drive, s: usize| drive.superblocks()[s].valid > 0;
    assert!(holds(&drive, 0) && drive.request_refresh(0));
    let idle = LATER + IDLE;
    assert_eq!(drive.pop_completion(Nanos(idle - 1)), None);
    assert_eq!(drive.counters().nand_reads_internal, 0, "not yet idle");
    assert_eq!(drive.pop_completion(Nanos(2 * LATER)), None);
    assert_eq!(drive.counters().superblocks_refreshed, 1);
    assert!(!holds(&drive, 0), "its data has moved");
    assert!(!drive.request_refresh(0), "it is free now");
    drive.check().expect("consistent");
}

/// A drive asks for a time only while it has idle work: a host that waits for the next event does
/// not wait for nothing.
#[test]
fn an_idle_drive_without_work_has_no_next_event() {
    let mut drive = new(bench());
    drive.rest(24);
    assert_eq!(drive.next_event(), None, "nothing was written");
    let mut drive = new(cached());
    for slot in 0..16 {
        alone(&mut drive, &write(slot, 1), slot * 1_000_000);
    }
    let idle = drive.now().0 + IDLE;
    assert_eq!(drive.next_event(), Some(Nanos(idle)));
    let folded = idle + SLC_UNIT + FOLD;
    assert_eq!(drive.pop_completion(Nanos(folded - 1)), None);
    assert_eq!(drive.counters().slots_folded, 16);
    assert_eq!(drive.next_event(), None, "all is folded");
}
