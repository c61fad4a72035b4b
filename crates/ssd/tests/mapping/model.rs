//! Random commands on block-mapped drives against a plain set: the drive agrees on the written
//! slots and is consistent after every step, both gears produce the same map, and flushed data is
//! on media.

use proptest::prelude::*;
use ssdlab_ssd::config::MappingKind;
use ssdlab_ssd::ftl::SlotPlace;
use ssdlab_ssd::{Command, CountingDrive, Drive, DriveConfig, Nanos, Op};
use std::collections::BTreeSet;

const SLOT: u64 = 4096;
/// Few segments (48 slots each on the tiny drive), so that commands overlap.
const SLOTS: u64 = 220;

#[derive(Clone, Debug)]
enum Step {
    Command(Command),
    SaveAndLoad,
    SecureErase,
}

fn step() -> impl Strategy<Value = Step> {
    let sectors = SLOTS * 8;
    let any_span = (0..sectors, 1..64_u64).prop_map(move |(at, len)| {
        let len = len.min(sectors - at);
        (at * 512, (len * 512) as u32)
    });
    // Whole units in order, as a host that copies files.
    let aligned = (0..SLOTS / 4, 1..13_u64).prop_map(|(at, units)| {
        let units = units.min(SLOTS / 4 - at);
        (at * 4 * SLOT, (units * 4 * SLOT) as u32)
    });
    let segment = (0..SLOTS / 48).prop_map(|at| (at * 48 * SLOT, (48 * SLOT) as u32));
    let span = prop_oneof![3 => any_span, 2 => aligned, 1 => segment];
    prop_oneof![
        8 => span.clone().prop_map(|(offset, len)| Step::Command(Command::write(offset, len))),
        3 => span.clone().prop_map(|(offset, len)| Step::Command(Command::write_fua(offset, len))),
        2 => span.clone().prop_map(|(offset, len)| Step::Command(Command::read(offset, len))),
        3 => span.prop_map(|(offset, len)| Step::Command(Command::trim(offset, len))),
        1 => Just(Step::Command(Command::flush())),
        1 => prop::num::u8::ANY.prop_map(|n| match n {
            0..8 => Step::SecureErase,
            _ => Step::SaveAndLoad,
        }),
    ]
}

fn configs() -> Vec<DriveConfig> {
    let mut block = DriveConfig::tiny();
    block.user_bytes = SLOTS * SLOT;
    block.shape.blocks_per_plane = 5 + 3;
    block.ftl.slc.superblocks = 0;
    block.ftl.journal = Default::default();
    block.ftl.mapping.kind = MappingKind::Block;
    let mut journal = block.clone();
    journal.ftl.journal.entry_bytes = 1024;
    journal.ftl.journal.commit_map_programs = 2;
    let mut held = block.clone();
    held.buffer.hold_bytes = 8 * SLOT;
    held.buffer.protected = true;
    vec![block, journal, held]
}

fn reloaded(drive: &Drive) -> Drive {
    let mut image = Vec::new();
    drive.save(&mut image).expect("nothing is outstanding");
    let length = image.len() as u64;
    Drive::load(&mut image.as_slice(), length).expect("an image")
}

/// Takes all completions without time for idle work after the last.
fn settle(drive: &mut Drive) {
    while drive.outstanding() > 0 {
        drive.pop_completion(Nanos::MAX).expect("a completion");
    }
}

/// Whole mapping units that a command covers, or touches when it writes.
fn touched(command: &Command) -> std::ops::Range<u64> {
    let end = command.offset + u64::from(command.len);
    match command.op {
        Op::Trim => command.offset.div_ceil(SLOT)..end / SLOT,
        _ => command.offset / SLOT..end.div_ceil(SLOT),
    }
}

struct Pair {
    timed: Drive,
    counting: CountingDrive,
    written: BTreeSet<u64>,
}

impl Pair {
    fn command(&mut self, tag: usize, command: &Command) {
        self.timed.submit(tag as u32, command, self.timed.now());
        self.counting.apply(command);
        // Every third command overlaps with the next one.
        if !tag.is_multiple_of(3) || command.op == Op::Flush {
            settle(&mut self.timed);
        }
        match command.op {
            Op::Write => self.written.extend(touched(command)),
            Op::Trim => touched(command).for_each(|slot| {
                self.written.remove(&slot);
            }),
            _ => {}
        }
        if command.op == Op::Flush && !self.timed.config().buffer.protected {
            for &slot in &self.written {
                let copy = self.timed.media_copy(slot as u32);
                assert!(copy.is_some(), "slot {slot} was flushed");
                assert_eq!(self.timed.buffered_slots(), 0);
            }
        }
    }

    fn step(&mut self, tag: usize, step: &Step) {
        match step {
            Step::Command(command) => self.command(tag, command),
            Step::SaveAndLoad => {
                settle(&mut self.timed);
                self.timed = reloaded(&self.timed);
            }
            Step::SecureErase => {
                settle(&mut self.timed);
                self.timed.secure_erase(self.timed.now());
                self.counting = CountingDrive::new(self.timed.config().clone()).expect("valid");
                self.timed = Drive::new(self.timed.config().clone()).expect("valid");
                self.written.clear();
            }
        }
        let found = self.timed.check().and_then(|()| self.counting.check());
        found.unwrap_or_else(|error| panic!("after step {tag} {step:?}: {error}"));
    }

    fn compare(&mut self) {
        settle(&mut self.timed);
        assert_eq!(self.timed.outstanding(), 0, "every command is served");
        for slot in 0..SLOTS {
            let found = self.timed.find(slot as u32);
            assert_eq!(found, self.counting.find(slot as u32), "slot {slot}");
            assert_eq!(
                found != SlotPlace::Unmapped,
                self.written.contains(&slot),
                "slot {slot}"
            );
        }
        assert_eq!(self.timed.superblocks(), self.counting.superblocks());
        let (a, b) = (self.timed.counters(), self.counting.counters());
        assert_eq!(a.slots_programmed(), b.slots_programmed());
        assert_eq!(a.slots_relocated, b.slots_relocated);
    }
}

fn run(config: DriveConfig, steps: &[Step]) {
    let mut pair = Pair {
        timed: Drive::new(config.clone()).expect("valid"),
        counting: CountingDrive::new(config).expect("valid"),
        written: BTreeSet::new(),
    };
    for (tag, step) in steps.iter().enumerate() {
        pair.step(tag, step);
    }
    pair.compare();
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
    #![proptest_config(cases(128))]

    #[test]
    fn block_mapped_drives_agree_with_a_plain_set_in_both_gears(
        kind in 0..3_usize,
        steps in prop::collection::vec(step(), 1..200),
    ) {
        run(configs().swap_remove(kind), &steps);
    }
}

#[test]
fn a_secure_erased_drive_equals_a_fresh_one() {
    for config in configs() {
        let mut drive = Drive::new(config).expect("valid");
        for round in 0..2 {
            for at in 0..600 {
                let slot = at * 7 % SLOTS;
                drive.submit(0, &Command::write(slot * SLOT, SLOT as u32), drive.now());
                settle(&mut drive);
            }
            drive.check().expect("consistent");
            drive.secure_erase(drive.now());
            drive.check().expect("consistent");
            assert_eq!(drive.find(0), SlotPlace::Unmapped, "round {round}");
            let all = drive.config().shape.blocks_per_plane as usize;
            assert_eq!(drive.free_superblocks(), all);
        }
    }
}
