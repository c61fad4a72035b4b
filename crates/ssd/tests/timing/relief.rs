//! A cost taken away from a fork is gone to the nanosecond, and nothing else is.

use super::*;
use ssdlab_ssd::DriveCounters;
use ssdlab_ssd::config::UNITY;
use ssdlab_ssd::drive::Relief;
use ssdlab_ssd::nand::{NandRelief, Purpose};

#[test]
fn a_command_is_shorter_by_the_cost_that_is_gone() {
    let drive = written(bench(), 100);
    let whole = OVERHEAD + SENSE + MOVE + LINK + LATENCY;
    let half = NandRelief::Work(Purpose::Host, UNITY as u32 / 2);
    let cells = NandRelief::Cells {
        read: Nanos(SENSE / 5),
        program: Nanos(PROGRAM),
        kinds: 1,
    };
    for (relief, time) in [
        (Relief::Overhead(Nanos(1_000)), whole - OVERHEAD + 1_000),
        (Relief::Overhead(Nanos(9_000)), whole),
        (Relief::Latency(Nanos::ZERO), whole - LATENCY),
        (Relief::Link(819_200_000), whole - LINK / 2),
        (Relief::Link(1), whole),
        (
            Relief::Nand(NandRelief::Work(Purpose::Host, 0)),
            whole - SENSE - MOVE,
        ),
        (Relief::Nand(half), whole - (SENSE + MOVE) / 2),
        (Relief::Nand(cells), whole - SENSE * 4 / 5),
        (Relief::Nand(NandRelief::Work(Purpose::Map, 0)), whole),
        (Relief::ProtectedBuffer, whole),
        (Relief::MapInDram, whole),
        (Relief::EndlessSlc, whole),
    ] {
        let mut fork = drive.clone();
        fork.relieve(relief);
        let done = alone(&mut fork, &Command::read(7 * SLOT, 4096), LATER);
        assert_eq!(done, time, "{relief:?}");
    }
}

#[test]
fn a_protected_buffer_waits_for_no_program() {
    let mut drive = written(bench(), 100);
    drive.relieve(Relief::ProtectedBuffer);
    let done = alone(&mut drive, &Command::write_fua(0, 4096), LATER);
    assert_eq!(done, OVERHEAD + LINK + LATENCY);
}

/// Placement never depends on a time: with the costs of time gone, the map is the same, and the
/// drive is still consistent.
#[test]
fn the_map_is_the_same_without_costs_of_time() {
    let nand = |relief| Relief::Nand(relief);
    let reliefs = [
        Relief::Overhead(Nanos::ZERO),
        Relief::Latency(Nanos::ZERO),
        Relief::MovedSlot(Nanos::ZERO),
        Relief::Link(u64::MAX),
        nand(NandRelief::Work(Purpose::Relocation, 0)),
        nand(NandRelief::Work(Purpose::Fold, 0)),
        nand(NandRelief::Work(Purpose::Map, 0)),
        nand(NandRelief::ReadsFirst),
        nand(NandRelief::Unworn),
        nand(NandRelief::ProgramsAtOnce(u32::MAX)),
    ];
    let mut config = DriveConfig::tiny();
    config.ftl.idle_after = Nanos::from_secs(3600);
    let slots = config.user_slots();
    let mut plain = new(config);
    let mut relieved = plain.clone();
    reliefs.iter().for_each(|relief| relieved.relieve(*relief));
    let mut rng = Rng::new(5);
    let (mut at, mut faster) = ([0; 2], 0);
    for _ in 0..6_000 {
        let slot = rng.below(slots) * SLOT;
        let command = match rng.below(4) {
            0 => Command::read(slot, 4096),
            1 => Command::write_fua(slot, 4096),
            _ => Command::write(slot, 4096),
        };
        for (drive, at) in [&mut plain, &mut relieved].into_iter().zip(&mut at) {
            *at += alone(drive, &command, *at);
        }
        faster += u32::from(at[1] < at[0]);
    }
    assert!(faster > 5_900, "{faster}");
    for lpn in 0..slots as u32 {
        assert_eq!(plain.find(lpn), relieved.find(lpn), "{lpn}");
    }
    assert!(plain.counters().slots_relocated + plain.counters().slots_folded > 100);
    // Data on its way to the media is read from the controller.
    let expected = DriveCounters {
        nand_reads_host: relieved.counters().nand_reads_host,
        ..plain.counters().clone()
    };
    assert_eq!(relieved.counters(), &expected);
    relieved.check().expect("consistent");
}

/// Whichever kind of pSLC a drive has: what it writes into it comes first, and no later write waits
/// for folding.
#[test]
fn an_endless_cache_is_as_fast_as_its_cells_for_every_kind_of_cache() {
    for (superblocks, above_free) in [(2, 0), (0, 20), (2, 20), (0, 0)] {
        let mut config = tlc();
        config.ftl.slc.superblocks = superblocks;
        config.ftl.slc.dynamic_above_free = above_free;
        config.validate().expect("possible");
        let time = |relief: Option<Relief>| {
            let mut drive = new(config.clone());
            relief.into_iter().for_each(|relief| drive.relieve(relief));
            for slot in 0..1_000 {
                drive.submit(0, &write(slot, 1), drive.now());
                drive.pop_completion(Nanos::MAX).expect("completes");
            }
            drive.now()
        };
        let has_cache = superblocks + above_free > 0;
        let (usual, endless) = (time(None), time(Some(Relief::EndlessSlc)));
        assert_eq!(endless < usual, has_cache, "{superblocks}, {above_free}");
    }
}
