//! The state of a drive after a cut at rest, and what a recovery leaves to the time after it.

use super::kinds;
use super::rig::Rig;
use ssdlab_ssd::config::MappingKind;
use ssdlab_ssd::drive::power::{DataDrive, Fault, FaultKind, Power, PowerDrive, RecoveredState};
use ssdlab_ssd::nand::media::{Event, Media};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, DriveConfig, Nanos};

const PAGE: u64 = kinds::SLOT;

/// The state of a full superblock in [`RecoveredState::superblocks`].
const FULL: u32 = 2;

/// Superblocks with data: number, valid slots, mode, and rows of each block.
type Filled = Vec<(usize, u32, u32, Vec<u32>)>;

fn filled(state: &RecoveredState) -> Filled {
    let dies = state.rows.len() / state.valid.len();
    let superblocks = (0..state.valid.len()).filter(|&s| state.valid[s] > 0);
    let of = |s: usize| {
        let rows = state.rows[s * dies..(s + 1) * dies].to_vec();
        (s, state.valid[s], state.superblocks[s][1], rows)
    };
    superblocks.map(of).collect()
}

/// The open superblock of each frontier, plus one; zero: none. Empty: block-mapped.
fn open(state: &RecoveredState) -> &[u32] {
    state.lists.get(3).map_or(&[], |list| list)
}

/// The home of each segment; empty: page-mapped.
fn homes(state: &RecoveredState) -> &[u32] {
    if state.lists.len() == 2 {
        &state.lists[1]
    } else {
        &[]
    }
}

/// The members of the first list that are in the second one too.
fn common(list: &[u32], other: &[u32]) -> Vec<u32> {
    let members = list.iter().copied();
    members.filter(|member| other.contains(member)).collect()
}

/// Superblocks that are full before and after a cut have the same stream, and lie in the same order
/// in the same queue: of the pSLC cache, of a tree's pages, of the victim policy.
fn same_queues(before: &RecoveredState, after: &RecoveredState) -> Result<(), String> {
    let superblocks = before.superblocks.iter().zip(&after.superblocks);
    for (s, (before, after)) in superblocks.enumerate() {
        let is_full = before[0] == FULL && after[0] == FULL;
        if is_full && before[2] != after[2] {
            return Err(format!(
                "superblock {s} of stream {} and {}",
                before[2], after[2]
            ));
        }
    }
    for (queue, name) in [(2, "the pSLC cache"), (4, "the tree"), (5, "the policy")] {
        let (Some(before), Some(after)) = (before.lists.get(queue), after.lists.get(queue)) else {
            continue;
        };
        let (was, is) = (common(before, after), common(after, before));
        if was != is {
            return Err(format!("superblocks of {name}: {was:?} and {is:?}"));
        }
    }
    Ok(())
}

/// The policy chooses among no superblock whose pages say that they are a tree's own.
fn tree_is_apart(
    state: &RecoveredState,
    media: &Media,
    config: &DriveConfig,
) -> Result<(), String> {
    let mapping = &config.ftl.mapping;
    if mapping.kind != MappingKind::Tree || !mapping.apart {
        return Ok(());
    }
    let frontier_of_tree = 1 + 2 * config.ftl.reclaim.streams;
    let dies = state.rows.len() / state.valid.len();
    let is_of_tree = |&s: &u32| {
        let blocks = &media.blocks()[s as usize * dies..(s as usize + 1) * dies];
        let pages = || blocks.iter().flat_map(|block| &block.pages);
        let generation = pages().map(|page| page.generation).max();
        let mut current = pages().filter(|page| Some(page.generation) == generation);
        current.all(|page| page.torn || page.tag == frontier_of_tree)
    };
    let candidates = state.lists[5].iter().copied();
    match &candidates.filter(is_of_tree).collect::<Vec<_>>()[..] {
        [] => Ok(()),
        strays => Err(format!("pages of the tree are among the data: {strays:?}")),
    }
}

/// The superblocks among which a victim policy chooses are as old as the media say.
fn ages_are_proved(state: &RecoveredState, media: &Media) -> Result<(), String> {
    let Some(candidates) = state.lists.get(5) else {
        return Ok(());
    };
    let dies = state.rows.len() / state.valid.len();
    let last_program = |s: u32| {
        let blocks = &media.blocks()[s as usize * dies..(s as usize + 1) * dies];
        let pages = blocks.iter().flat_map(|block| &block.pages);
        let generation = pages.clone().map(|page| page.generation).max();
        let current = pages.filter(|page| Some(page.generation) == generation);
        current.map(|page| page.seq).max().unwrap_or(0)
    };
    let closed = || candidates.iter().zip(&state.closed_at);
    for ((&older, &older_at), (&newer, &newer_at)) in closed().zip(closed().skip(1)) {
        let (first, last) = (last_program(older), last_program(newer));
        // An age that would reach back before the first write is cut short.
        if first >= last || older_at > newer_at || (newer_at > 0 && older_at == newer_at) {
            return Err(format!(
                "superblock {older}, last programmed as {first}, is closed at {older_at}; \
                 {newer}, as {last}, at {newer_at}"
            ));
        }
    }
    Ok(())
}

/// Cuts at any moment come first, so that superblocks were left half full.
fn same_after_a_cut(config: &DriveConfig, seed: u64) {
    let mut rig = Rig::new(config, seed, &[]);
    for round in 0..8 {
        rig.round();
        let (before, after) = rig.cut_at_rest();
        let context = format!("{} {seed} {round}", config.name);
        let maps = [&before.map, &after.map];
        assert!(maps[0] == maps[1], "{context}: {maps:?}");
        assert_eq!(filled(&before), filled(&after), "{context}");
        assert_eq!(homes(&before), homes(&after), "{context}");
        if let Err(text) = same_queues(&before, &after) {
            panic!("{context}: {text}");
        }
        if let Err(text) = tree_is_apart(&after, rig.drive.media(), config) {
            panic!("{context}: {text}");
        }
        if let Err(text) = ages_are_proved(&after, rig.drive.media()) {
            panic!("{context}: {text}");
        }
        // A frontier without a superblock may continue one that an earlier cut left.
        for (&was, &is) in open(&before).iter().zip(open(&after)) {
            assert!(was == 0 || was == is, "{context}: {was} open, then {is}");
        }
    }
}

#[test]
fn a_drive_at_rest_is_the_same_after_a_cut() {
    for mut config in super::all() {
        if config.buffer.protected {
            continue;
        }
        (0..4).for_each(|seed| same_after_a_cut(&config, seed));
        // Nothing is folded then.
        config.ftl.idle_after = Nanos::from_secs(1_000_000);
        (4..8).for_each(|seed| same_after_a_cut(&config, seed));
    }
}

/// Superblocks that serve as cache for a while read faster and are folded first.
#[test]
fn a_superblock_used_as_cache_is_one_after_a_cut() {
    let mut all = kinds::all().into_iter();
    let config = all.find(|config| config.name == "dynamic pslc");
    let mut drive = DataDrive::new(config.expect("a kind"), Power::default()).expect("possible");
    for page in 0..9 {
        drive
            .write(page * PAGE, &[1; PAGE as usize], true)
            .expect("written");
    }
    let before = filled(&drive.drive().state());
    drive.cut();
    drive.power_on();
    assert_eq!(filled(&drive.drive().state()), before);
    assert!(
        before.iter().any(|&(_, _, mode, _)| mode == 1),
        "{before:?}"
    );
}

/// The same drive, read from its files and switched on.
fn restarted(drive: &mut DataDrive) -> DataDrive {
    let drive = drive.drive_mut();
    let (config, smart, saved) = (
        drive.config().clone(),
        drive.smart(),
        drive.saved().to_vec(),
    );
    let events = drive.all_events();
    let made = PowerDrive::stored(config, Power::default(), &smart, events, saved);
    let mut made = DataDrive::of(made.expect("possible"));
    made.power_on();
    made
}

/// Trims are numbered like pages, and the last ones may be newer than every page.
#[test]
fn what_is_written_after_a_restart_is_newer_than_the_trims_before() {
    let mut drive = DataDrive::new(kinds::bare(), Power::default()).expect("possible");
    for page in 0..40 {
        drive
            .write(page * PAGE, &[1; PAGE as usize], false)
            .expect("written");
    }
    drive.flush().expect("flushed");
    drive.trim(0, 40 * PAGE).expect("trimmed");
    drive.flush().expect("flushed");
    drive.rest(Nanos::from_secs(1));
    drive.cut();
    let mut drive = restarted(&mut drive);
    drive
        .write(39 * PAGE, &[2; PAGE as usize], true)
        .expect("written");
    drive.cut();
    drive.power_on();
    let mut page = [0; PAGE as usize];
    drive.read(39 * PAGE, &mut page).expect("read");
    assert_eq!(page, [2; PAGE as usize]);
}

/// Each cut leaves rows that are not filled, and so takes from the reserve of free superblocks.
#[test]
fn the_reserve_is_paid_back_after_cuts() {
    const RESERVE: u32 = 8;
    const PAGES: u64 = 130;
    let mut config = kinds::bare();
    config.ftl.reclaim.free_superblocks_low = RESERVE;
    config.user_bytes = PAGES * PAGE;
    let mut drive = DataDrive::new(config, Power::default()).expect("possible");
    let mut rng = Rng::named(1, "writes");
    let mut write = |drive: &mut DataDrive| {
        let at = rng.below(PAGES);
        drive.write(at * PAGE, &[1; PAGE as usize], true).is_ok()
    };
    for _ in 0..600 {
        write(&mut drive);
    }
    for cut in 0..60 {
        drive.aim_at(Some(cut % 5 + 1));
        while write(&mut drive) {}
        drive.take_struck().expect("power was cut");
        drive.power_on();
        write(&mut drive);
        let free = drive
            .drive()
            .superblocks()
            .iter()
            .filter(|at| at.free)
            .count();
        assert!(
            free >= RESERVE as usize - 2,
            "cut {cut}: {free} free superblocks"
        );
    }
}

/// A rewrite that a cut ends before new data is in it is dropped: recovery returns to the old home
/// and programs nothing.
#[test]
fn a_rewrite_of_copies_alone_costs_a_recovery_nothing() {
    let mut config = kinds::bare();
    config.ftl.mapping.kind = MappingKind::Block;
    let mut whole = DataDrive::new(config, Power::default()).expect("possible");
    for page in 0..12 {
        whole
            .write(page * PAGE, &[1; PAGE as usize], false)
            .expect("written");
    }
    whole.flush().expect("flushed");
    let mut cuts = 0;
    loop {
        let mut drive = whole.clone();
        drive.aim_at(Some(cuts + 1));
        if drive.write(11 * PAGE, &[2; PAGE as usize], true).is_ok() {
            break;
        }
        cuts += 1;
        let recovery = drive.power_on();
        let mut page = [0; PAGE as usize];
        drive.read(11 * PAGE, &mut page).expect("read");
        assert_eq!(page, [1; PAGE as usize], "cut {cuts}");
        let last = recovery
            .steps
            .last()
            .map(|step| (step.name, step.operations));
        assert_eq!(last, Some(("finish rewrites", 0)), "cut {cuts}");
    }
    assert_eq!(cuts, 6, "one in the program of each unit");
}

/// The content kept for a judge is that of the moment before the cut, with what the cut then loses,
/// up to the last mapping unit; it is taken once.
#[test]
fn the_content_just_before_a_cut_is_kept_on_request() {
    let config = DriveConfig::tiny();
    let slots = [3, config.user_slots() as u32 - 1];
    let mut drive = DataDrive::new(config, Power::default()).expect("possible");
    for lpn in slots {
        let at = u64::from(lpn) * PAGE;
        drive
            .write(at, &[7; PAGE as usize], false)
            .expect("written");
    }
    let content = |drive: &DataDrive| slots.map(|lpn| (lpn, drive.drive().content(lpn).cloned()));
    let before = content(&drive);
    drive.drive_mut().keep_before_cuts();
    drive.cut();
    assert_ne!(content(&drive), before, "the cut lost both");
    assert_eq!(drive.drive_mut().take_before(), Some(before.to_vec()));
    assert_eq!(drive.drive_mut().take_before(), None);
}

/// What is stored in files is each program since the last time.
#[test]
fn every_program_is_an_event_once() {
    let mut drive = PowerDrive::new(DriveConfig::tiny(), Power::default()).expect("possible");
    drive.keep_events();
    let mut stored = 0;
    for round in 1..=3 {
        for slot in 0..4 {
            let command = Command::write_fua(slot * PAGE, PAGE as u32);
            drive.submit(0, &command, None, drive.now());
            drive.pop_completion(Nanos::MAX).expect("written");
        }
        let events = drive.take_events();
        let programs = |event: &&Event| matches!(event, Event::Programmed { .. });
        stored += events.iter().filter(programs).count() as u64;
        assert_eq!(stored, drive.counters().nand_programs, "round {round}");
    }
    assert!(stored > 0 && drive.take_events().is_empty());
}

/// The blocks announced as retired are those that a cut leaves retired.
#[test]
fn a_cut_retires_no_more_blocks_than_announced() {
    let mut kinds = kinds::all().into_iter();
    let config = kinds.find(|config| config.name == "wear").expect("a kind");
    let slots = config.user_slots();
    let mut drive = DataDrive::new(config, Power::default()).expect("possible");
    assert_eq!(drive.drive().worn_out(), (0, 0, false), "new");
    let mut rng = Rng::named(1, "worn out");
    while drive.drive().worn_out().0 == 0 {
        let at = rng.below(slots) * PAGE;
        drive
            .write(at, &[1; PAGE as usize], false)
            .expect("written");
    }
    let (blocks, superblocks, _) = drive.drive().worn_out();
    drive.cut();
    drive.power_on();
    let wear = drive.drive().reliability().expect("wears").counters();
    assert_eq!(
        (wear.blocks_retired, wear.superblocks_retired),
        (blocks, superblocks)
    );
}

/// A drive that one fault strikes in every cut.
fn faulty(kind: FaultKind) -> DataDrive {
    let fault = Fault {
        kind,
        per_mille: 1000,
        seed: 1,
    };
    let power = Power::with_faults(vec![fault]);
    DataDrive::new(DriveConfig::tiny(), power).expect("possible")
}

/// The fault that leaves the last map page of a commit unwritten loses that commit alone.
#[test]
fn a_lost_map_page_loses_the_last_commit() {
    let mut drive = faulty(FaultKind::FlushNotMap);
    for slot in 0..5 {
        drive
            .write(slot * PAGE, &[9; PAGE as usize], true)
            .expect("written");
    }
    drive.cut();
    drive.power_on();
    let mut bytes = [0; PAGE as usize];
    let kept: Vec<u8> = (0..5)
        .map(|slot| {
            drive.read(slot * PAGE, &mut bytes).expect("readable");
            bytes[0]
        })
        .collect();
    assert_eq!(kept, [9, 9, 9, 9, 0]);
}

/// A shorn write keeps the first half of its bytes.
#[test]
fn a_shorn_write_keeps_its_first_half() {
    let mut drive = faulty(FaultKind::ShornWrites);
    drive.write(0, &[9; PAGE as usize], true).expect("written");
    drive.cut();
    drive.power_on();
    let mut bytes = [1; PAGE as usize];
    drive.read(0, &mut bytes).expect("readable");
    let half = PAGE as usize / 2;
    assert_eq!(bytes[..half], [9; PAGE as usize / 2]);
    assert_eq!(bytes[half..], [0; PAGE as usize / 2]);
}

/// A cut that is aimed at an operation to come changes no time before it.
#[test]
fn aiming_takes_no_time() {
    let times = |aim: Option<u64>| -> Vec<Nanos> {
        let mut drive = DataDrive::new(DriveConfig::tiny(), Power::default()).expect("possible");
        drive.aim_at(aim);
        let mut times: Vec<Nanos> = (0..80)
            .map(|slot| drive.write(slot * PAGE, &[1; PAGE as usize], false))
            .map(|took| took.expect("written"))
            .collect();
        times.push(drive.flush().expect("flushed"));
        times
    };
    let plain = times(None);
    assert!(plain.iter().all(|took| *took > Nanos::ZERO));
    assert_eq!(times(Some(1_000_000)), plain);
}

/// The map's pages are on media and not in DRAM when power returns, so the first read of each leaf
/// reads one.
#[test]
fn after_a_restart_each_leaf_of_a_map_is_read_from_media() {
    const LEAF: u64 = 64;
    let names = ["tree map apart, a ring", "cached map"];
    let configs = super::all().into_iter();
    for mut config in configs.filter(|config| names.contains(&config.name.as_str())) {
        config.ftl.mapping.dram_bytes = 1;
        let pages = config.user_slots();
        let mut drive = DataDrive::new(config.clone(), Power::default()).expect("possible");
        // Scattered, so that every leaf is changed, evicted and written.
        for page in (0..6 * pages).map(|number| number * 37 % pages) {
            drive
                .write(page * PAGE, &[1; PAGE as usize], false)
                .expect("written");
        }
        drive.flush().expect("flushed");
        drive.cut();
        drive.power_on();
        let misses = |drive: &DataDrive| drive.drive().counters().map_misses;
        let before = misses(&drive);
        for page in (0..pages).step_by(LEAF as usize) {
            drive.read(page * PAGE, &mut [0; 512]).expect("read");
        }
        let leaves = pages.div_ceil(LEAF);
        assert_eq!(misses(&drive) - before, leaves, "{}", config.name);
    }
}
