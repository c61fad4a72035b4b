//! Rules of wear in isolation: replacement, retirement, tries, classes.

use super::*;
use crate::config::DriveConfig;

fn media(change: fn(&mut WearConfig)) -> Reliability {
    let mut config = WearConfig::tiny();
    change(&mut config);
    Reliability::new(&DriveConfig::tiny().geometry(), &config)
}

fn cycle(media: &mut Reliability, superblock: u32) -> Erased {
    let outcome = media.renew(superblock, true);
    if outcome != Erased::Retired {
        for die in 0..media.dies {
            media.erased(superblock, die);
        }
    }
    media.check().expect("consistent");
    outcome
}

#[test]
fn a_block_is_used_for_exactly_as_many_cycles_as_it_lasts() {
    let mut media = media(|c| {
        c.failure_cycles = vec![5];
        c.program_failures = 0;
        c.reserve_blocks = 1;
    });
    for n in 1..5 {
        assert_eq!(cycle(&mut media, 0), Erased::Usable, "cycle {n}");
    }
    assert_eq!(media.counters.erase_failures, 0);
    // The fifth erase fails on both dies; the reserve replaces them for as many cycles.
    for _ in 0..4 {
        assert_eq!(cycle(&mut media, 0), Erased::Usable);
        assert_eq!(media.counters.blocks_retired, 2);
    }
    assert_eq!(cycle(&mut media, 0), Erased::Retired);
    assert_eq!(media.counters.superblocks_retired, 1);
    assert_eq!(media.counters.erase_failures, 4);
}

#[test]
fn good_blocks_of_a_superblock_given_up_become_reserve() {
    let mut media = media(|c| c.reserve_blocks = 0);
    media.failed[1] = true;
    assert_eq!(media.renew(0, true), Erased::Retired);
    assert_eq!(media.reserve, vec![vec![0], vec![]]);
    media.failed[2] = true;
    assert_eq!(
        media.renew(1, true),
        Erased::Usable,
        "with the block of superblock 0"
    );
    media.check().expect("consistent");
}

/// The wear before a superblock is freed is kept only where `may_lose` returns true: it must be
/// true before every loss, and not for a superblock far from its end.
#[test]
fn a_loss_is_announced_and_is_rare() {
    let mut media = media(|c| c.reserve_blocks = 1);
    let (mut announced, mut lost, mut all) = (0, 0, 0);
    for _ in 0..60 {
        for superblock in 0..8 {
            if media.is_retired(superblock) {
                continue;
            }
            let may = media.may_lose(superblock, 0);
            let before = media.backing.clone();
            let outcome = cycle(&mut media, superblock);
            let changed = outcome == Erased::Retired || before != media.backing;
            assert!(may || !changed, "superblock {superblock}");
            (all, announced) = (all + 1, announced + u32::from(may));
            lost += u32::from(changed);
        }
    }
    assert!(lost > 0 && announced < all / 4, "{announced} of {all}");
}

#[test]
fn what_may_not_be_given_up_stays_in_use() {
    let mut media = media(|c| c.reserve_blocks = 0);
    media.failed[0] = true;
    assert_eq!(media.renew(0, false), Erased::Overdue);
    assert_eq!(media.counters.blocks_retired, 0);
    media.check().expect("consistent");
}

#[test]
fn a_program_fails_once_in_the_last_cycle_and_its_block_goes() {
    let mut media = media(|c| {
        c.failure_cycles = vec![2];
        c.program_failures = 4096;
    });
    cycle(&mut media, 0);
    assert!(!media.will_fail(0));
    cycle(&mut media, 0);
    assert!(media.will_fail(0) && !media.has_failed(0));
    let rows = media.pages_per_block;
    for row in 0..rows {
        media.programmed(0, 0, row);
        media.programmed(0, 1, row);
    }
    assert_eq!(media.counters.program_failures, 2);
    assert!(media.has_failed(0) && !media.will_fail(0));
    cycle(&mut media, 0);
    assert_eq!(media.counters.blocks_retired, 2);
}

/// At the limit a try suffices; just above it one more is needed.
#[test]
fn reads_try_again_until_corrected() {
    let at = UnitPlace {
        superblock: 0,
        die: 0,
        row: 0,
        mode: Mode::Native,
    };
    for (rber, retries, lost) in [(100, 0, 0), (101, 1, 0), (200, 1, 0), (201, 1, 1)] {
        let mut media = media(|c| {
            c.block_spread = vec![4096];
            c.page_spread = vec![4096];
            c.correctable = vec![100, 200];
        });
        media.config.rber_cycles = Curve::flat(rber);
        assert_eq!(media.read(at).retries, retries, "{rber}");
        assert_eq!(media.counters.reads_uncorrectable, lost, "{rber}");
        let slc = UnitPlace {
            mode: Mode::Slc,
            ..at
        };
        assert_eq!(media.read(slc).retries, 0);
    }
}

#[test]
fn hours_and_reads_make_data_fade() {
    let mut media = media(|_| {});
    let at = UnitPlace {
        superblock: 0,
        die: 1,
        row: 0,
        mode: Mode::Native,
    };
    assert!(!media.read(at).faded);
    media.rest(1000);
    assert!(media.read(at).faded, "{}", media.rber(0, 1000, 0));
    media.programmed(0, 1, 0);
    assert!(!media.read(at).faded, "rewritten");
    assert!(media.rber(5, 0, 10) > media.rber(5, 0, 0));
    // Beyond the last point of a table its last value holds.
    assert!(media.rber(5, u32::MAX, 0) >= media.rber(5, 100_000, 0));
}

#[test]
fn classes_cover_every_rate_and_their_tops_belong_to_them() {
    for class in 0..RBER_CLASSES - 1 {
        let top = rber_class_top(class);
        assert_eq!(rber_class(top), class);
        assert_eq!(rber_class(top + 1), class + 1);
    }
    assert_eq!(rber_class(0), 0);
    assert!(rber_class(RBER_UNITY / 2) < RBER_CLASSES);
}

#[test]
fn the_same_seed_draws_the_same_blocks_and_another_does_not() {
    let (a, b) = (media(|_| {}), media(|_| {}));
    assert_eq!(a.lasts, b.lasts);
    let other = media(|c| c.seed = 1);
    assert_ne!(a.lasts, other.lasts);
}

/// Canaries: the check must report each of these planted faults.
#[test]
fn the_check_notices_each_contradiction() {
    let said = |spoil: fn(&mut Reliability)| {
        let mut media = media(|c| c.reserve_blocks = 2);
        media.check().expect("consistent");
        spoil(&mut media);
        media.check().expect_err("a contradiction")
    };
    assert!(said(|m| m.backing[1] = m.backing[0]).contains("is in two places"));
    assert!(said(|m| m.reserve[0].push(m.backing[0])).contains("is in two places"));
    assert!(said(|m| m.lasts[m.backing[0] as usize] = 0).contains("retired and in use"));
    assert!(said(|m| m.backing[0] = NOWHERE).contains("1 blocks are gone, 0 counted"));
    assert!(said(|m| m.failing_count += 1).contains("blocks will fail"));
}

/// A block in its last cycle that holds cold data is not freed, so it does not fail. Such a block
/// used to stop all leaps.
#[test]
fn cold_blocks_in_their_last_cycle_do_not_stop_leaps() {
    let mut media = media(|c| {
        c.failure_cycles = vec![20];
        c.retire_above = u64::MAX;
    });
    let blocks = media.backing.len();
    media.add_cycles(10 * blocks as u64);
    assert_eq!(media.cycles_until_failures(1), 9);
    let cold = media.backing[0] as usize;
    (media.cycles[cold], media.leapt[cold]) = (19, 19);
    assert_eq!(media.cycles_until_failures(1), 9, "of the others");
    let before = media.cycles_total();
    media.add_cycles(5 * blocks as u64);
    assert_eq!(media.cycles_total(), before + 5 * blocks as u64);
    assert_eq!(media.cycles[cold], 19, "its last cycle is played");
    let most = media.cycles_in_use().max();
    assert!(most <= Some(19), "{most:?}");
}

/// Leaps used to spread cycles evenly, which overestimated the life of drives written in order by 9
/// %. Each superblock takes its share of the simulated cycles, and the most worn ones reach their
/// last cycle first.
#[test]
fn a_leap_spreads_cycles_as_they_were_played() {
    let mut media = media(|c| {
        c.failure_cycles = vec![1_000];
        c.retire_above = u64::MAX;
    });
    let (dies, blocks) = (media.dies, media.backing.len() as u64);
    let superblocks = (blocks / u64::from(dies)) as u32;
    // Superblock 0 wears three times as fast as the others.
    for superblock in 0..superblocks {
        let times = if superblock == 0 { 30 } else { 10 };
        for _ in 0..times {
            (0..dies).for_each(|die| media.erased(superblock, die));
        }
    }
    let played = media.cycles_total();
    // The first has 969 cycles left and takes 30 times the mean share `played / blocks`.
    let first = media.cycles_until_failures(1);
    assert_eq!(u64::from(first), played * 969 / (30 * blocks));
    media.add_cycles(9 * played);
    assert_eq!(media.cycles_total(), 10 * played);
    let at = |superblock: u32| media.cycles[media.place(superblock, 0)];
    assert!(at(0).abs_diff(300) <= 1 && at(1).abs_diff(100) <= 1);
    // Leapt cycles do not count as simulated: the shares stay.
    assert_eq!(media.played()[..2], [30, 10]);
    let last = media.lasts[0] - 1;
    media.add_cycles(60 * played);
    assert!(media.cycles_in_use().all(|cycles| cycles <= last));
    assert_eq!(media.cycles[0], last, "and the rest went to the others");
    assert_eq!(media.cycles_total(), 70 * played);
}
