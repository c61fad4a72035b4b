//! Laws of long runs, on every kind of drive: what is outstanding, integrated over time, is the sum
//! of all latencies (Little); nothing is busier than always; the work done takes its time, and
//! what was moved took the channels just so long.

use super::*;
use kinds::commands::Mix;

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
