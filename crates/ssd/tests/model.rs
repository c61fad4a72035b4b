//! Random commands on tiny drives of every kind against a plain set: the drive agrees on the
//! written slots, serves every command exactly once, and is consistent after every step.
//!
//! Not covered here: contents (the drive holds none) and power cuts.

mod kinds;

use kinds::SLOT;
use kinds::commands::effect;
use proptest::prelude::*;
use ssdlab_ssd::ftl::SlotPlace;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, DriveConfig, Nanos, Op};
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Step {
    Command(Command),
    Wait(u64),
    SecureErase,
}

fn step() -> impl Strategy<Value = Step> {
    let sectors = 300 * 8_u64;
    let span = (0..sectors, 1..64_u64);
    let hot = (0..64_u64, 1..9_u64);
    let whole = (0..sectors / 8, 1..12_u64).prop_map(|(at, len)| (8 * at, 8 * len));
    let span = prop_oneof![span, hot, whole].prop_map(move |(at, len)| {
        let len = len.min(sectors - at);
        (at * 512, (len * 512) as u32)
    });
    let write = (span.clone(), any::<bool>(), 0..=100_u8, any::<u8>());
    let write = write.prop_map(|((offset, len), fua, compress_pct, stream)| Command {
        fua,
        compress_pct,
        stream,
        ..Command::write(offset, len)
    });
    prop_oneof![
        8 => write.clone().prop_map(Step::Command),
        8 => write.clone().prop_map(|command| {
            Step::Command(Command { fua: false, ..command })
        }),
        3 => span.clone().prop_map(|(offset, len)| Step::Command(Command::read(offset, len))),
        2 => span.prop_map(|(offset, len)| Step::Command(Command::trim(offset, len))),
        1 => write.prop_map(|command| {
            Step::Command(Command { op: Op::WriteZeroes, ..command })
        }),
        1 => Just(Step::Command(Command::flush())),
        1 => (0..200_000_000_u64).prop_map(Step::Wait),
        1 => any::<u8>().prop_map(|n| if n < 8 { Step::SecureErase } else { Step::Wait(0) }),
    ]
}

/// The part of a command that lies on a drive of `user_bytes`.
fn within(mut command: Command, user_bytes: u64) -> Command {
    command.offset = command.offset.min(user_bytes);
    let room = user_bytes - command.offset;
    command.len = u64::from(command.len).min(room) as u32;
    command
}

struct Model {
    drive: Drive,
    written: BTreeSet<u64>,
    now: Nanos,
}

impl Model {
    fn new(config: DriveConfig) -> Model {
        Model {
            drive: Drive::new(config).expect("valid"),
            written: BTreeSet::new(),
            now: Nanos::ZERO,
        }
    }

    /// Takes all completions.
    fn settle(&mut self) {
        while self.drive.outstanding() > 0 {
            let done = self.drive.pop_completion(Nanos::MAX).expect("under way");
            assert!(done.done >= done.submitted);
            self.now = self.now.max(done.done);
        }
    }

    fn take(&mut self, tag: u32, step: &Step) {
        match step {
            Step::Command(command) => {
                let command = within(*command, self.drive.config().user_bytes);
                self.drive.submit(tag, &command, self.now);
                // One of three commands overlaps with the next.
                if !tag.is_multiple_of(3) {
                    self.settle();
                }
                match effect(&command, SLOT) {
                    Some((slots, true)) => self.written.extend(slots),
                    Some((slots, false)) => slots.for_each(|slot| {
                        self.written.remove(&slot);
                    }),
                    None => {}
                }
            }
            Step::Wait(time) => {
                self.now += Nanos(*time);
                while self.drive.pop_completion(self.now).is_some() {}
            }
            Step::SecureErase => {
                self.settle();
                let now = self.now.max(self.drive.now());
                self.now = self.drive.secure_erase(now);
                self.written.clear();
            }
        }
        self.now = self.now.max(self.drive.now());
        if let Err(error) = self.drive.check() {
            panic!("after step {tag} {step:?}: {error}");
        }
    }

    fn compare(&self) {
        for slot in 0..self.drive.config().user_slots() {
            let mapped = self.drive.find(slot as u32) != SlotPlace::Unmapped;
            assert_eq!(mapped, self.written.contains(&slot), "slot {slot}");
        }
    }
}

fn run(config: DriveConfig, steps: &[Step]) -> Drive {
    let mut model = Model::new(config);
    for (tag, step) in (0..).zip(steps) {
        model.take(tag, step);
        if model.drive.outstanding() == 0 {
            model.compare();
        }
    }
    model.settle();
    model.compare();
    model.drive
}

/// The usual number of cases, unless PROPTEST_CASES gives another.
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
    #![proptest_config(cases(24))]

    #[test]
    fn every_kind_of_drive_agrees_with_a_plain_set(
        steps in prop::collection::vec(step(), 1..250),
    ) {
        for config in kinds::all() {
            run(config, &steps);
        }
    }

    #[test]
    fn same_commands_same_drive(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        for config in kinds::all() {
            let a = run(config.clone(), &steps);
            let b = run(config, &steps);
            prop_assert_eq!(format!("{a:?}"), format!("{b:?}"));
        }
    }
}

/// Canary: a check that cannot fail proves nothing.
#[test]
#[should_panic(expected = "slot 7")]
fn a_wrong_reference_is_noticed() {
    let mut model = Model::new(kinds::bare());
    model.take(1, &Step::Command(Command::write(7 * SLOT, 4096)));
    model.written.clear();
    model.compare();
}

#[test]
fn a_full_drive_overwritten_at_random_for_long_never_runs_out_of_room() {
    for config in kinds::all() {
        let slots = config.user_slots();
        let name = config.name.clone();
        let mut drive = Drive::new(config).expect("valid");
        let mut rng = Rng::new(11);
        for write in 0..30 * slots {
            let slot = if write < slots {
                write
            } else {
                rng.below(slots)
            };
            drive.submit(0, &Command::write(slot * SLOT, 4096), drive.now());
            drive.pop_completion(Nanos::MAX).expect("a completion");
        }
        drive.check().expect("consistent");
        let c = drive.counters();
        assert!(c.superblocks_reclaimed > 20, "{name}: {c:?}");
    }
}

/// The trigger: reclaim waits until no more than `free_superblocks_low` are free, and from then on
/// keeps nearly as many free, whatever is overwritten.
#[test]
fn reclaim_begins_when_few_superblocks_are_free_and_keeps_them_free() {
    let config = kinds::bare();
    let (slots, low) = (config.user_slots(), config.ftl.reclaim.free_superblocks_low);
    let mut drive = Drive::new(config).expect("valid");
    let mut rng = Rng::new(3);
    for _ in 0..20 * slots {
        let command = Command::write(rng.below(slots) * SLOT, 4096);
        drive.submit(0, &command, drive.now());
        drive.pop_completion(Nanos::MAX).expect("a completion");
        let (free, low) = (drive.free_superblocks(), low as usize);
        let victims = drive.counters().victims;
        assert!(
            victims == 0 || free <= low + 1,
            "{free} free after {victims}"
        );
        // A frontier of the host and one of reclaim may have opened the last two.
        assert!(free + 2 >= low, "{free} free after {victims}");
    }
    assert!(drive.counters().superblocks_reclaimed > 20);
}

/// Units of two mapping units, of which data that compresses by a quarter leaves two eighths empty,
/// and no data is small enough to fill them: emptying them gains nothing, and a policy that assumes
/// otherwise never ends.
#[test]
fn data_that_packs_badly_does_not_stop_reclaim() {
    for cold in [20, 50, 100, 200, 300] {
        for percent in [25, 50] {
            let mut config = kinds::bare();
            config.ftl.compression_pack = 4;
            config.user_bytes = 370 * SLOT;
            let mut drive = Drive::new(config).expect("valid");
            let mut rng = Rng::new(5);
            let write = |drive: &mut Drive, slot: u64, compress_pct: u8| {
                let command = Command {
                    compress_pct,
                    ..Command::write(slot * SLOT, 4096)
                };
                drive.submit(0, &command, drive.now());
                drive.pop_completion(Nanos::MAX).expect("completes");
            };
            for slot in 0..370 {
                write(&mut drive, slot, if slot < cold { percent } else { 0 });
            }
            for _ in 0..10_000 {
                write(&mut drive, cold + rng.below(370 - cold), 0);
            }
            drive.check().expect("consistent");
        }
    }
}
