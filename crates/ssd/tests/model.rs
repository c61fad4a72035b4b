//! Random commands on tiny drives against a plain set: does the drive agree on what is written,
//! is every command served exactly once, and is it consistent after every step?
//!
//! Not covered here: contents (this slice's drive holds none) and power cuts.

use proptest::prelude::*;
use ssdlab_ssd::{Command, Drive, DriveConfig, Nanos, Op};
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Step {
    Command(Command),
    Wait(u64),
    SecureErase,
}

fn step(sectors: u64) -> impl Strategy<Value = Step> {
    let span = (0..sectors, 1..48_u64).prop_map(move |(at, len)| {
        let len = len.min(sectors - at);
        (at * 512, (len * 512) as u32)
    });
    let hot = (0..64_u64, 1..9_u64).prop_map(|(at, len)| (at * 512, (len * 512) as u32));
    let span = prop_oneof![span, hot];
    prop_oneof![
        8 => (span.clone(), any::<bool>()).prop_map(|((offset, len), fua)| {
            Step::Command(Command { fua, ..Command::write(offset, len) })
        }),
        8 => span.clone().prop_map(|(offset, len)| Step::Command(Command::write(offset, len))),
        3 => span.clone().prop_map(|(offset, len)| Step::Command(Command::read(offset, len))),
        2 => span.prop_map(|(offset, len)| Step::Command(Command::trim(offset, len))),
        1 => Just(Step::Command(Command::flush())),
        1 => (0..200_000_000_u64).prop_map(Step::Wait),
        1 => prop::num::u8::ANY.prop_map(|n| if n < 8 { Step::SecureErase } else { Step::Wait(0) }),
    ]
}

fn configs() -> Vec<DriveConfig> {
    let plain = DriveConfig::tiny();
    let mut protected = plain.clone();
    protected.buffer.protected = true;
    let mut no_cache = plain.clone();
    no_cache.ftl.slc.superblocks = 0;
    no_cache.user_bytes = 700 * 4096;
    let mut bare = no_cache.clone();
    bare.ftl.journal.entry_bytes = 0;
    bare.ftl.journal.commit_map_programs = 0;
    bare.ftl.journal.commit_closes_word_lines = false;
    let mut one_die = plain.clone();
    one_die.shape.channel_count = 1;
    one_die.shape.planes_per_die = 1;
    one_die.shape.bits_per_cell = 1;
    one_die.nand.timing.read.truncate(1);
    one_die.nand.timing.program.truncate(1);
    one_die.user_bytes = 120 * 4096;
    one_die.host.queue_depth = 2;
    vec![plain, protected, no_cache, bare, one_die]
}

/// Whole mapping units that a command covers, or touches when it writes.
fn touched(command: &Command) -> std::ops::Range<u64> {
    let end = command.offset + u64::from(command.len);
    match command.op {
        Op::Trim => command.offset.div_ceil(4096)..end / 4096,
        _ => command.offset / 4096..end.div_ceil(4096),
    }
}

fn run(config: DriveConfig, steps: &[Step]) -> Drive {
    let mut drive = Drive::new(config).expect("valid");
    let mut written: BTreeSet<u64> = BTreeSet::new();
    let mut now = Nanos::ZERO;
    for (tag, step) in steps.iter().enumerate() {
        match step {
            Step::Command(command) => {
                drive.submit(tag as u32, command, now);
                // Every third command overlaps with the next one.
                if tag % 3 != 0 || command.op == Op::Trim || command.fua {
                    while let Some(done) = drive.pop_completion(Nanos::MAX) {
                        assert!(done.done >= done.submitted);
                        now = now.max(done.done);
                    }
                }
                match command.op {
                    Op::Write => written.extend(touched(command)),
                    Op::Trim => touched(command).for_each(|slot| {
                        written.remove(&slot);
                    }),
                    _ => {}
                }
            }
            Step::Wait(time) => {
                now += Nanos(*time);
                while drive.pop_completion(now).is_some() {}
            }
            Step::SecureErase => {
                while let Some(done) = drive.pop_completion(Nanos::MAX) {
                    now = now.max(done.done);
                }
                now = drive.secure_erase(now.max(drive.now()));
                written.clear();
            }
        }
        drive
            .check()
            .unwrap_or_else(|error| panic!("after step {tag} {step:?}: {error}"));
        now = now.max(drive.now());
    }
    while drive.pop_completion(Nanos::MAX).is_some() {}
    assert_eq!(drive.outstanding(), 0, "every command is served");
    let slots = drive.config().user_slots();
    for slot in 0..slots {
        let mapped = drive.find(slot as u32) != ssdlab_ssd::ftl::Found::Unmapped;
        assert_eq!(mapped, written.contains(&slot), "slot {slot}");
    }
    drive
}

/// So many cases, unless PROPTEST_CASES asks for another number.
fn cases(usual: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return config;
    }
    ProptestConfig {
        cases: usual,
        ..config
    }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn the_drive_agrees_with_a_plain_set(
        kind in 0..5_usize,
        steps in prop::collection::vec(step(120 * 8), 1..250),
    ) {
        run(configs().swap_remove(kind), &steps);
    }

    #[test]
    fn same_commands_same_drive(
        kind in 0..5_usize,
        steps in prop::collection::vec(step(120 * 8), 1..120),
    ) {
        let a = run(configs().swap_remove(kind), &steps);
        let b = run(configs().swap_remove(kind), &steps);
        prop_assert_eq!(format!("{a:?}"), format!("{b:?}"));
    }
}

/// Canary: a check that cannot fail proves nothing.
#[test]
#[should_panic(expected = "slot 7")]
fn a_wrong_reference_is_noticed() {
    let drive = run(
        configs().swap_remove(0),
        &[Step::Command(Command::write(7 * 4096, 4096))],
    );
    let unmapped = ssdlab_ssd::ftl::Found::Unmapped;
    assert_eq!(drive.find(7), unmapped, "slot 7");
}

#[test]
fn a_full_drive_overwritten_at_random_for_long_never_runs_out_of_room() {
    for config in configs() {
        let slots = config.user_slots();
        let mut drive = Drive::new(config).expect("valid");
        let mut rng = ssdlab_ssd::rng::Rng::new(11);
        for write in 0..40 * slots {
            let slot = if write < slots {
                write
            } else {
                rng.below(slots)
            };
            drive.submit(0, &Command::write(slot * 4096, 4096), drive.now());
            drive.pop_completion(Nanos::MAX).expect("a completion");
        }
        drive.check().expect("consistent");
        assert!(drive.counters().superblocks_reclaimed > 20);
    }
}
