//! The drive keeps its promises, as far as its map and buffer show.
//!
//! After every command of random mixes on several drives:
//! - a write that completed is mapped: nothing acknowledged is lost;
//! - when a FLUSH completes, no write that completed before the FLUSH was submitted is still only
//!   in the volatile buffer;
//! - when a FUA write completes, its slots are on media;
//! - once durable, a slot has a copy on media for as long as it is not trimmed: the older one
//!   stays until the newer one is programmed.
//!
//! "On media" here means booked for programming. A separate test, on an otherwise idle drive,
//! checks that the program has also *ended*. Not covered: contents, power cuts, the map's own
//! durability, commands that overlap a TRIM in progress.

mod kinds;

use ssdlab_ssd::drive::power::{DataDrive, Power};
use ssdlab_ssd::ftl::SlotPlace;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Completion, Drive, DriveConfig, Nanos, Op};

const SLOT: u64 = 4096;
const TAGS: u32 = 40;

/// Knowledge of the host about a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Writes ever submitted.
    submitted: u64,
    /// Writes submitted and not completed.
    outstanding: u32,
    /// Holds data: a write completed, and no trim since.
    written: bool,
    /// A FUA write of it completed, or a FLUSH after a write of it.
    durable: bool,
}

/// A command in progress.
#[derive(Clone, Debug)]
struct Pending {
    command: Command,
    /// Slots whose durability depends on it, with their `Known::submitted` at that time; `None` if
    /// another write of the slot was in progress, so that either may be the last.
    slots: Vec<(u32, Option<u64>)>,
}

/// Assumptions of the host about the drive; wrong ones must be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Belief {
    True,
    BufferIsVolatile,
    TrimForgetsNothing,
}

struct Host {
    drive: Drive,
    rng: Rng,
    belief: Belief,
    volatile: bool,
    known: Vec<Known>,
    pending: Vec<Option<Pending>>,
}

impl Host {
    fn new(config: DriveConfig, seed: u64, belief: Belief) -> Host {
        let slots = config.user_slots() as usize;
        Host {
            volatile: !config.buffer.protected || belief == Belief::BufferIsVolatile,
            drive: Drive::new(config).expect("valid"),
            rng: Rng::named(seed, "durability"),
            belief,
            known: vec![Known::default(); slots],
            pending: vec![None; TAGS as usize],
        }
    }

    /// Takes completions up to `until`.
    fn take(&mut self, until: Nanos) {
        while let Some(done) = self.drive.pop_completion(until) {
            self.completed(done);
            self.check_slots();
        }
    }

    fn completed(&mut self, done: Completion) {
        let pending = self.pending[done.tag as usize].take();
        let Pending { command, slots } = pending.expect("was submitted");
        let fua = command.op == Op::Write && command.fua;
        for &(slot, submitted) in &slots {
            let known = &mut self.known[slot as usize];
            if command.op == Op::Write {
                known.outstanding -= 1;
                known.written = true;
            }
            if !(fua || command.op == Op::Flush) {
                continue;
            }
            known.durable |= self.volatile;
            if self.volatile && submitted == Some(known.submitted) {
                let found = self.drive.find(slot);
                assert!(
                    matches!(found, SlotPlace::Media(_)),
                    "slot {slot} is only in the volatile buffer after {command:?}"
                );
            }
        }
    }

    fn check_slots(&self) {
        for (slot, known) in (0..).zip(&self.known) {
            let ftl = &self.drive;
            if known.written {
                assert_ne!(ftl.find(slot), SlotPlace::Unmapped, "slot {slot} is lost");
            }
            if known.durable {
                let copy = ftl.media_copy(slot);
                assert!(copy.is_some(), "slot {slot} has no copy on media any more");
            }
        }
    }

    fn command(&mut self) -> Command {
        let sectors = self.known.len() as u64 * 8;
        // Often few slots, so that commands overlap in the buffer.
        let span = if self.rng.percent(60) { 64 } else { sectors };
        let offset = self.rng.below(span) * 512;
        let most = (sectors * 512 - offset).min(40 * 512);
        let len = (1 + self.rng.below(most / 512)) * 512;
        let len = u32::try_from(len).expect("small");
        match self.rng.below(100) {
            0..12 => Command::write_fua(offset, len),
            12..20 => Command::flush(),
            20..26 => Command::trim(offset, len),
            26..40 => Command::read(offset, len),
            _ => Command::write(offset, len),
        }
    }

    fn submit(&mut self, command: Command, at: Nanos) {
        let free = self.pending.iter().position(Option::is_none);
        let tag = free.expect("a free tag");
        let slots = match command.op {
            Op::Write => self.start_write(&command),
            Op::Flush => self.written_slots(),
            _ => Vec::new(),
        };
        if command.op == Op::Trim {
            self.start_trim(&command);
        }
        self.pending[tag] = Some(Pending { command, slots });
        self.drive.submit(tag as u32, &command, at);
    }

    fn start_write(&mut self, command: &Command) -> Vec<(u32, Option<u64>)> {
        let end = command.offset + u64::from(command.len);
        let slots = (command.offset / SLOT) as u32..end.div_ceil(SLOT) as u32;
        let mut start = |slot| {
            let known: &mut Known = &mut self.known[slot as usize];
            known.submitted += 1;
            known.outstanding += 1;
            (slot, (known.outstanding == 1).then_some(known.submitted))
        };
        slots.map(&mut start).collect()
    }

    /// Slots that a FLUSH submitted now must make durable.
    fn written_slots(&self) -> Vec<(u32, Option<u64>)> {
        let slots = (0..).zip(&self.known);
        let settled = slots.filter(|(_, known)| known.written && known.outstanding == 0);
        settled
            .map(|(slot, known)| (slot, Some(known.submitted)))
            .collect()
    }

    fn start_trim(&mut self, command: &Command) {
        let end = command.offset + u64::from(command.len);
        if self.belief == Belief::TrimForgetsNothing {
            return;
        }
        for slot in command.offset.div_ceil(SLOT)..end / SLOT {
            self.known[slot as usize].written = false;
            self.known[slot as usize].durable = false;
        }
    }

    /// Random commands, some at once, some after a pause long enough for idle work.
    fn run(&mut self, count: u32) {
        for n in 0..count {
            let pause = match self.rng.below(20) {
                0 => self.rng.below(200_000_000),
                1..8 => self.rng.below(3_000_000),
                _ => self.rng.below(20_000),
            };
            let at = Nanos(self.drive.now().0 + pause);
            self.take(at);
            let command = self.command();
            if command.op == Op::Trim || self.pending.iter().all(Option::is_some) {
                self.settle();
            }
            let at = at.max(self.drive.now());
            self.submit(command, at);
            if command.op == Op::Trim {
                self.settle();
            }
            self.check_slots();
            if n % 64 == 0 {
                self.drive.check().expect("consistent");
            }
        }
        self.settle();
        self.drive.check().expect("consistent");
    }

    /// Waits for everything outstanding, but not for idle work.
    fn settle(&mut self) {
        while self.drive.outstanding() > 0 {
            let done = self.drive.pop_completion(Nanos::MAX).expect("completes");
            self.completed(done);
        }
    }
}

fn configs() -> Vec<DriveConfig> {
    let tiny = DriveConfig::tiny();
    let mut no_cache = tiny.clone();
    no_cache.ftl.slc.superblocks = 0;
    no_cache.user_bytes = 700 * SLOT;
    let mut bare = no_cache.clone();
    bare.ftl.journal.entry_bytes = 0;
    bare.ftl.journal.commit_map_programs = 0;
    bare.ftl.journal.commit_closes_word_lines = false;
    let mut shallow = tiny.clone();
    shallow.host.queue_depth = 2;
    shallow.buffer.bytes = 64 * SLOT;
    let mut slow_map = no_cache.clone();
    slow_map.ftl.journal.commit_map_programs = 3;
    slow_map.host.queue_depth = 64;
    vec![tiny, no_cache, bare, shallow, slow_map]
}

#[test]
fn flush_and_fua_mean_what_they_say() {
    for (kind, config) in configs().into_iter().enumerate() {
        for seed in 0..4 {
            let mut host = Host::new(config.clone(), seed, Belief::True);
            host.run(2_500);
            let c = host.drive.counters();
            assert!(c.commits > 100 && c.slots_coalesced > 100, "{kind}: {c:?}");
            assert!(c.superblocks_reclaimed > 20, "{kind}: {c:?}");
        }
    }
}

#[test]
fn flush_and_fua_mean_the_same_on_every_kind_of_drive() {
    for config in kinds::all() {
        for seed in 0..2 {
            Host::new(config.clone(), seed, Belief::True).run(800);
        }
    }
}

#[test]
fn a_protected_drive_loses_nothing_acknowledged() {
    for mut config in configs() {
        config.buffer.protected = true;
        let mut host = Host::new(config, 9, Belief::True);
        host.run(2_500);
        assert_eq!(host.drive.counters().commits, 0);
    }
}

/// Canary: a drive that keeps data in its buffer across a FLUSH, checked as if the buffer were
/// volatile.
#[test]
#[should_panic(expected = "only in the volatile buffer")]
fn a_flush_that_does_nothing_is_noticed() {
    let mut config = DriveConfig::tiny();
    config.buffer.protected = true;
    Host::new(config, 1, Belief::BufferIsVolatile).run(2_500);
}

/// Canary: a host that expects trimmed slots to remain.
#[test]
#[should_panic(expected = "is lost")]
fn a_slot_that_vanishes_is_noticed() {
    Host::new(DriveConfig::tiny(), 1, Belief::TrimForgetsNothing).run(2_500);
}

/// When a FLUSH completes, every program has ended, not only begun: bursts of writes, then one
/// FLUSH, on a drive too large to need reclaim, whose dies do nothing else.
#[test]
fn a_flush_waits_for_programs_to_end() {
    for seed in 0..4 {
        let mut config = DriveConfig::tiny();
        config.shape.blocks_per_plane = 1_000;
        config.ftl.slc.superblocks = [0, 3][seed as usize % 2];
        config.ftl.journal.commit_map_programs = [0, 1][seed as usize / 2];
        config.shape.dies_per_channel = 2;
        let latency = config.host.latency.0;
        let dies = config.shape.channel_count * config.shape.dies_per_channel;
        let slots = config.user_slots();
        let mut drive = Drive::new(config).expect("valid");
        let mut rng = Rng::named(seed, "programs end");
        for _ in 0..200 {
            let start = drive.now();
            let count = rng.below(30) as u32;
            for tag in 0..count {
                drive.submit(tag, &Command::write(rng.below(slots) * SLOT, 4096), start);
            }
            // After all are acknowledged, so that the FLUSH covers them all.
            for _ in 0..count {
                drive.pop_completion(Nanos::MAX).expect("completes");
            }
            drive.submit(0, &Command::flush(), drive.now());
            let done = drive.pop_completion(Nanos::MAX).expect("completes");
            let ends = (0..dies).map(|die| drive.die_free_at(die).0);
            let last = ends.max().expect("dies");
            assert!(
                last + latency <= done.done.0,
                "{last} + {latency}: {done:?}"
            );
            assert_eq!(drive.buffered_slots(), 0);
        }
        assert_eq!(drive.counters().superblocks_reclaimed, 0);
    }
}

/// Power fails before the aimed cut: the target is never struck, and recovery runs.
#[test]
fn a_cut_that_comes_before_the_aimed_one_disarms_it() {
    let mut drive = DataDrive::new(DriveConfig::tiny(), Power::default()).expect("possible");
    drive.aim_at(Some(1));
    drive.write(0, &[1; 4096], false).expect("written");
    drive.cut_inside_flush(500).expect("cut");
    drive.power_on();
    assert_eq!(drive.take_struck(), None);
    drive.write(0, &[2; 4096], true).expect("written");
    let mut bytes = [0; 4096];
    drive.read(0, &mut bytes).expect("read");
    assert_eq!(bytes, [2; 4096]);
}

/// A drive with a pSLC cache that was used and erased takes the same time as a new one, and its
/// superblocks have the sizes that they had.
#[test]
fn an_erased_drive_has_its_fast_cache_again() {
    let mut config = DriveConfig::tiny();
    config.ftl.slc.superblocks = 3;
    let slots = config.user_bytes / SLOT;
    let mut drive = Drive::new(config).expect("possible");
    let fill = |drive: &mut Drive, from: Nanos| -> Vec<u64> {
        let mut now = from;
        let times = (0..slots).map(|slot| {
            drive.submit(0, &Command::write_fua(slot * SLOT, SLOT as u32), now);
            let done = drive.pop_completion(Nanos::MAX).expect("written");
            let took = done.done - now;
            now = done.done;
            took.0
        });
        times.collect()
    };
    let sizes = |drive: &Drive| -> Vec<u32> {
        let superblocks = drive.superblocks();
        superblocks.iter().map(|each| each.slots).collect()
    };
    let fresh = sizes(&drive);
    // Two dies of units of four slots, and two or six rows.
    assert_eq!([fresh[0], fresh[3]], [16, 48]);
    let new = fill(&mut drive, Nanos::ZERO);
    assert!(new.iter().max() > new.iter().min(), "the cache is not seen");
    let used = drive.now();
    fill(&mut drive, used);
    let erased = drive.secure_erase(drive.now());
    assert_eq!(sizes(&drive), fresh);
    assert_eq!(fill(&mut drive, erased), new);
}
