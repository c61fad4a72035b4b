//! Idle work, TRIM, and laws of long runs.

use super::*;

/// A TLC drive with a pSLC cache of two superblocks, 16 rows of one slot each.
fn cached() -> DriveConfig {
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
    assert_eq!(drive.counters().nand_reads_internal, 1, "idle");
    // Sixteen slots: read each, program five word lines and one page more, erase.
    let fold = 16 * (SENSE + MOVE) + 6 * WORD_LINE + ERASE;
    assert_eq!(drive.pop_completion(Nanos(idle + fold)), None);
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

// TRIM.

#[test]
fn trim_lowers_write_amplification() {
    let amplification = |trim: bool| -> f64 {
        let mut config = bench();
        config.user_bytes = 2_600 * SLOT;
        let mut drive = written(config, 2_600);
        if trim {
            let (offset, len) = slots(1_300, 1_300);
            alone(&mut drive, &Command::trim(offset, len), LATER);
        }
        let mut rng = Rng::named(5, "trim");
        let before = drive.counters().clone();
        for _ in 0..20_000 {
            let at = drive.now().0;
            alone(&mut drive, &write(rng.below(1_300), 1), at);
        }
        drive.check().expect("consistent");
        drive.counters().waf_since(&before, 4096).expect("written")
    };
    let (kept, trimmed) = (amplification(false), amplification(true));
    assert!(trimmed < 1.2 && kept > 1.5, "{kept} falls to {trimmed}");
}

// Conservation over long random runs.

/// Random commands at random times on four dies and two channels, with reclaim.
fn long_run(seed: u64) -> (Drive, u128, u128) {
    let mut config = wide(16);
    config.shape.channel_count = 2;
    config.shape.dies_per_channel = 2;
    config.user_bytes = 84_000 * SLOT;
    config.host.queue_depth = 16;
    config.ftl.journal.commit_map_programs = 1;
    let mut drive = new(config);
    let mut rng = Rng::named(seed, "long run");
    let mut area = 0_u128;
    let mut latency = 0_u128;
    let mut seen = 0;
    let mut free: Vec<u32> = (0..64).collect();
    for _ in 0..60_000 {
        let mut at = Nanos(seen + rng.below(100_000));
        while free.is_empty() || drive.outstanding() > 0 {
            let until = if free.is_empty() { Nanos::MAX } else { at };
            let outstanding = drive.outstanding() as u128;
            let Some(done) = drive.pop_completion(until) else {
                break;
            };
            assert!(done.done.0 >= seen, "time went back");
            area += u128::from(done.done.0 - seen) * outstanding;
            seen = done.done.0;
            latency += u128::from(done.done.0 - done.submitted.0);
            free.push(done.tag);
            at = at.max(done.done);
        }
        area += u128::from(at.0 - seen) * drive.outstanding() as u128;
        seen = at.0;
        let slot = rng.below(83_990);
        let count = 1 + rng.below(8);
        let command = match rng.below(20) {
            0..8 => read(slot, count),
            8 => write_fua(slot, count),
            9 if rng.percent(20) => Command::flush(),
            10 => Command::trim(slot * SLOT, (count * SLOT) as u32),
            _ => write(slot, count),
        };
        drive.submit(free.pop().expect("a free tag"), &command, at);
    }
    while drive.outstanding() > 0 {
        let outstanding = drive.outstanding() as u128;
        let done = drive.pop_completion(Nanos::MAX).expect("completes");
        area += u128::from(done.done.0 - seen) * outstanding;
        seen = done.done.0;
        latency += u128::from(done.done.0 - done.submitted.0);
    }
    (drive, area, latency)
}

#[test]
fn littles_law_holds_and_nothing_is_busier_than_always() {
    for seed in 0..3 {
        let (mut drive, area, latency) = long_run(seed);
        assert_eq!(area, latency, "commands outstanding, integrated over time");
        let end = drive.now().0;
        let die_end = (0..4).map(|die| drive.die_free_at(die).0).max();
        let (dies, channels) = drive.busy_ns();
        for (name, busy) in [("die", &dies), ("channel", &channels)] {
            for (number, &busy) in busy.iter().enumerate() {
                let time = end.max(die_end.expect("four dies"));
                assert!(busy <= time, "{name} {number}: {busy} ns of {time} ns");
            }
        }
        let c = drive.counters();
        assert!(c.slots_relocated > 10_000, "{c:?}");
        let reads = c.nand_reads_host + c.nand_reads_internal;
        let moved = 8 * c.nand_programs * MOVE + reads * MOVE;
        assert!(channels.iter().sum::<u64>() >= moved);
        let worked = c.nand_programs * PROGRAM + c.nand_erases * ERASE + reads * SENSE;
        assert!(dies.iter().sum::<u64>() >= worked + moved);
        assert_eq!(drive.pop_completion(Nanos(end + LATER)), None);
        drive.check().expect("consistent");
    }
}
