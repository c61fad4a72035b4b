//! What a drive counts is what it does, on every kind of drive: reads of the media, work by
//! purpose, commits and their map pages.

mod kinds;

use kinds::SLOT;
use ssdlab_ssd::config::MappingKind;
use ssdlab_ssd::ftl::SlotPlace;
use ssdlab_ssd::nand::Purpose;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Completion, Drive, DriveConfig, Nanos};
use std::collections::BTreeSet;

/// Every kind, and block-mapped drives with a free map and with one that costs programs.
fn every_kind() -> Vec<DriveConfig> {
    let mut list = kinds::all();
    for programs in [0, 1, 3] {
        let mut config = kinds::bare();
        config.name = format!("block, {programs} map programs a commit");
        config.ftl.mapping.kind = MappingKind::Block;
        config.ftl.journal.entry_bytes = 64 * programs;
        config.ftl.journal.commit_map_programs = programs;
        config.validate().expect("possible");
        list.push(config);
    }
    list
}

/// A drive with every slot written in order, at rest.
fn filled(config: &DriveConfig) -> Drive {
    let mut drive = Drive::new(config.clone()).expect("valid");
    for slot in 0..config.user_slots() {
        alone(&mut drive, &Command::write(slot * SLOT, SLOT as u32));
    }
    alone(&mut drive, &Command::flush());
    assert_eq!(drive.pop_completion(drive.now() + Nanos(1 << 36)), None);
    drive
}

fn alone(drive: &mut Drive, command: &Command) -> Completion {
    drive.submit(0, command, drive.now());
    drive.pop_completion(Nanos::MAX).expect("completes")
}

fn overwritten(config: &DriveConfig) -> Drive {
    let mut drive = filled(config);
    let mut rng = Rng::named(3, "accounts");
    for _ in 0..1_500 {
        let slot = rng.below(config.user_slots());
        alone(&mut drive, &Command::write(slot * SLOT, SLOT as u32));
        if rng.below(20) == 0 {
            alone(&mut drive, &Command::flush());
        }
    }
    drive
}

/// One read of the media for each unit that a command touches, and none beside.
#[test]
fn a_read_is_counted_once_for_each_unit_that_it_touches() {
    for config in every_kind() {
        if config.wear.is_some() || kinds::reads_matter(&config) || config.host.read_ahead > 0 {
            continue;
        }
        let mut drive = filled(&config);
        let unit = config.geometry().slots_per_unit;
        for (first, count) in [(0, 1), (0, 2), (1, 3), (4, 8), (3, 40)] {
            let places: Vec<SlotPlace> =
                (first..first + count).map(|lpn| drive.find(lpn)).collect();
            let units: BTreeSet<u32> = places
                .iter()
                .filter_map(|place| match place {
                    SlotPlace::Media(ppn) => Some(ppn / unit),
                    _ => None,
                })
                .collect();
            let before = drive.counters().clone();
            let read = Command::read(u64::from(first) * SLOT, count * SLOT as u32);
            alone(&mut drive, &read);
            let counters = drive.counters();
            let (host, own) = (
                counters.nand_reads_host - before.nand_reads_host,
                counters.nand_reads_internal - before.nand_reads_internal,
            );
            let name = &config.name;
            assert_eq!(
                (host, own),
                (units.len() as u64, 0),
                "{name}: {count} from {first}"
            );
        }
    }
}

/// Time of the dies by purpose: reclaim takes some when slots were moved by it, and only then.
#[test]
fn time_by_purpose_is_that_of_the_work_counted() {
    for config in every_kind() {
        let drive = overwritten(&config);
        let busy = drive.busy_by_purpose();
        let counters = drive.counters();
        let has = |purpose: Purpose| busy[purpose as usize] > 0;
        let name = &config.name;
        assert!(has(Purpose::Host), "{name}");
        if counters.slots_relocated > 0 {
            assert!(has(Purpose::Relocation), "{name}");
        }
        // Each unit of slots that reclaim moved is programmed for it.
        let unit = u64::from(config.geometry().slots_per_unit);
        let quickest = config.nand.timing.program.iter().min().expect("a page");
        let least = counters.slots_relocated / unit * quickest.0;
        assert!(
            busy[Purpose::Relocation as usize] >= least,
            "{name}: {busy:?}"
        );
        assert_eq!(has(Purpose::Map), counters.slots_map > 0, "{name}");
        assert_eq!(has(Purpose::Parity), counters.slots_parity > 0, "{name}");
    }
}

/// A FLUSH with nothing to make durable does nothing, and a commit programs what it costs.
#[test]
fn a_flush_commits_what_changed_and_nothing_else() {
    for config in every_kind() {
        let mut drive = overwritten(&config);
        alone(&mut drive, &Command::flush());
        let first = drive.counters().clone();
        alone(&mut drive, &Command::flush());
        let counters = drive.counters();
        let (name, journal) = (&config.name, &config.ftl.journal);
        assert_eq!(counters.commits, first.commits, "{name}");
        assert_eq!(counters.nand_programs, first.nand_programs, "{name}");
        if journal.commit_map_programs > 0 && !config.recovers_by_journal() {
            let least = first.commits * u64::from(journal.commit_map_programs);
            assert!(
                first.slots_map >= least,
                "{name}: {} of {least}",
                first.slots_map
            );
        }
    }
}

/// Reclaim spread over writes moves for one of them at most what one superblock holds as a cache: a
/// cache that is emptied earns the slots that it has again as an ordinary superblock, so that the
/// next write need not empty another.
#[test]
fn spread_reclaim_empties_at_most_one_cache_for_a_write() {
    for (seed, above_free) in (0..20).flat_map(|seed| [(seed, 9), (seed, 10), (seed, 12)]) {
        let mut config = kinds::bare();
        config.ftl.slc.dynamic_above_free = above_free;
        let cache_slots = config.geometry().slots_per_superblock / config.shape.bits_per_cell;
        let mut drive = Drive::new(config.clone()).expect("valid");
        let mut rng = Rng::named(seed, "spread");
        for round in 0..8 {
            for n in 0..config.user_slots() * 3 / 2 {
                let before = drive.counters().slots_relocated;
                let random = rng.below(config.user_slots());
                let slot = if n < config.user_slots() { n } else { random };
                alone(&mut drive, &Command::write(slot * SLOT, SLOT as u32));
                let moved = drive.counters().slots_relocated - before;
                let most = u64::from(cache_slots);
                assert!(moved <= most, "seed {seed}, above {above_free}: {moved}");
            }
            for slot in (round % 2..config.user_slots()).step_by(2) {
                alone(&mut drive, &Command::trim(slot * SLOT, SLOT as u32));
            }
        }
        assert!(drive.counters().slots_slc_mode > 0, "it has a cache");
    }
}
