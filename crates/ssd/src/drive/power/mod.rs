//! A drive whose power can be cut at any instant, and that recovers from its media alone.
//!
//! ```text
//!  on --cut(at)--> off --power_on(at)--> on, ready after recovery --...
//! ```
//! A [`PowerDrive`] is a [`super::Drive`] over media that remember: every sector carries the number
//! of the write that it comes from, and bytes if the host gives them. It takes the same commands
//! in the same virtual time, but for erases, which wait for what they must not overtake.
//!
//! A cut takes the write buffer, tears what programs and erases are at work, and drops what has
//! not begun; see [`crate::nand::media`]. A protected drive lives on its capacitor for
//! [`Power::hold`]: it finishes what is at work, then saves its buffer in a dump area of its
//! own, oldest first, as far as the energy goes. Power-on recovers ([`crate::ftl::recover`]), then
//! brings the dump back into the buffer; the dump stays until recovery is over. A cut may come
//! during recovery.
//!
//! TRIM and write zeroes are changes of the map: durable when a FLUSH issued after them has
//! completed, as writes are. On drives whose map costs nothing they are recorded beside the array.

mod faults;
mod oracle;

pub use data::{DataDrive, DataError};
pub use faults::{FAULTS, Fault, FaultInfo, FaultKind};
pub use oracle::{BrokenPromise, Lie, Oracle, Promise, Report, SectorClass};
pub use stored::Smart;

use super::engine::Engine;
use super::{Completion, KindOf};
use crate::command::{Command, Op};
use crate::config::{ConfigError, DriveConfig};
use crate::counters::DriveCounters;
use crate::ftl::recover::{Recoverable, RecoveryStep};
use crate::ftl::{BlockFtl, Full, HybridFtl, Lean, PageFtl, SuperblockView, Translation};
use crate::nand::Recorder;
use crate::nand::media::{
    Content, CutDamage, Event, Media, Payload, SECTOR_BYTES, SlotContent, Staged,
};
use crate::units::Nanos;
use faults::Faults;
use std::collections::BTreeMap;

/// What a drive does about power.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Power {
    /// How long the capacitor of a protected drive lasts after a cut; `None`: as long as it takes
    /// to save everything (the maker has made it large enough). Not used without protection.
    pub hold: Option<Nanos>,
    /// What is wrong with the drive; empty: it is honest.
    pub faults: Vec<Fault>,
}

/// What a cut did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// When.
    pub at: Nanos,
    /// What it did to the media.
    pub damage: CutDamage,
    /// Commands outstanding.
    pub outstanding: u64,
    /// Mapping units that were only in the controller.
    pub buffered: u64,
    /// Of these, how many the capacitor saved.
    pub saved: u64,
    /// How long it worked on its capacitor.
    pub held_up: Nanos,
}

/// What power-on did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// When power came back.
    pub at: Nanos,
    /// When the drive was ready.
    pub ready: Nanos,
    /// Steps, in order.
    pub steps: Vec<RecoveryStep>,
    /// Why it is not ready and never will be.
    pub dead: bool,
}

/// What SMART tells of power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerCounters {
    /// Times that power was switched on.
    pub power_cycles: u64,
    /// Times that it went without notice.
    pub unsafe_shutdowns: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Lean(Engine<PageFtl<Recorder, Lean>>),
    Full(Engine<PageFtl<Recorder, Full>>),
    Block(Engine<BlockFtl<Recorder>>),
    Hybrid(Engine<HybridFtl<Recorder>>),
}

mod data;
mod stored;

/// Mapping units in the controller, by address, oldest first.
type Saved = Vec<(u32, Content)>;

/// See the module's text. Cloning it forks its whole state.
#[derive(Clone, Debug)]
pub struct PowerDrive {
    kind: Box<Kind>,
    power: Power,
    faults: Faults,
    on: bool,
    /// When the last recovery is over.
    ready: Nanos,
    counters: PowerCounters,
    /// Number of the last command that changes something.
    number: u64,
    /// What the capacitor saved.
    dump: Saved,
    /// Whether what the drive held is kept at each cut, and what that was at the last one.
    keeps_before: bool,
    before: Option<Saved>,
}

impl PowerDrive {
    /// A drive as it comes from the factory, switched on.
    ///
    /// # Errors
    /// When the configuration is impossible; see [`DriveConfig::validate`].
    pub fn new(config: DriveConfig, power: Power) -> Result<PowerDrive, ConfigError> {
        config.validate()?;
        let saves = !config.ftl.journal.commit_closes_word_lines;
        let kind = match KindOf::of(&config) {
            KindOf::Lean => Kind::Lean(Engine::new(config, None)),
            KindOf::Full => Kind::Full(Engine::new(config, None)),
            KindOf::Block => Kind::Block(Engine::new(config, None)),
            KindOf::Hybrid => Kind::Hybrid(Engine::new(config, None)),
        };
        let mut drive = PowerDrive {
            kind: Box::new(kind),
            faults: Faults::new(&power.faults),
            power,
            on: true,
            ready: Nanos::ZERO,
            counters: PowerCounters {
                power_cycles: 1,
                unsafe_shutdowns: 0,
            },
            number: 0,
            dump: Saved::new(),
            keeps_before: false,
            before: None,
        };
        drive.media_mut().always_saves_lower = saves;
        Ok(drive)
    }

    /// The drive's configuration.
    pub fn config(&self) -> &DriveConfig {
        each!(self, engine => &engine.config)
    }

    /// Counters since the drive was made.
    pub fn counters(&self) -> &DriveCounters {
        each!(self, engine => engine.ftl.counted())
    }

    /// What SMART tells of power.
    pub fn power_counters(&self) -> PowerCounters {
        self.counters
    }

    /// Whether power is on.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Time of the last event.
    pub fn now(&self) -> Nanos {
        each!(self, engine => Nanos(engine.now))
    }

    /// Number of the last command that changed something; see [`PowerDrive::submit`].
    pub fn last_number(&self) -> u64 {
        self.number
    }

    /// From now on each cut keeps what every mapping unit held just before, for
    /// [`PowerDrive::take_before`]: for who tells the host what it has lost.
    pub fn keep_before_cuts(&mut self) {
        self.keeps_before = true;
    }

    /// What the drive held just before the last cut, by address; units that held nothing are left
    /// out.
    pub fn take_before(&mut self) -> Option<Vec<(u32, Content)>> {
        self.before.take()
    }

    /// Whether something is wrong with it: what a cut leaves on media may then be anything.
    pub fn has_faults(&self) -> bool {
        !self.power.faults.is_empty()
    }

    /// What the capacitor saved at the last cut, oldest first.
    pub fn saved(&self) -> &[(u32, Content)] {
        &self.dump
    }

    /// When the last recovery is, or was, over.
    pub fn ready(&self) -> Nanos {
        self.ready
    }

    /// When something next happens of itself: a completion, or work of the drive's own;
    /// [`Nanos::MAX`] when nothing will.
    pub fn next_event(&self) -> Nanos {
        Nanos(each!(self, engine => engine.next_event()))
    }

    /// Aims at the `nth` program or erase booked from now on, counted from 1; `None`: at nothing.
    /// Who has aimed asks [`PowerDrive::aimed_at`] before each step in time.
    pub fn aim_at(&mut self, nth: Option<u64>) {
        self.media_mut().aim_at(nth);
    }

    /// The middle of the operation aimed at, once it is booked, as is now known.
    pub fn aimed_at(&self) -> Option<Nanos> {
        let aimed = self.media().aimed()?;
        Some(Nanos(aimed.start + (aimed.end - aimed.start) / 2))
    }

    /// Commands submitted and not yet popped.
    pub fn outstanding(&self) -> usize {
        each!(self, engine => engine.outstanding())
    }

    /// Every superblock, to look at.
    pub fn superblocks(&self) -> Vec<SuperblockView> {
        each!(self, engine => {
            (0..engine.ftl.superblock_count()).map(|s| engine.ftl.superblock(s)).collect()
        })
    }

    /// The media.
    pub fn media(&self) -> &Media {
        each!(self, engine => engine.ftl.media())
    }

    fn media_mut(&mut self) -> &mut Media {
        each_mut!(self, engine => engine.ftl.media_mut())
    }

    /// The drive checks itself; see [`super::Drive::check`].
    ///
    /// # Errors
    /// The first contradiction found, in a sentence.
    pub fn check(&self) -> Result<(), String> {
        each!(self, engine => engine.check())
    }

    /// Hands over a command at time `now`; returns the number that its sectors carry. Rules as for
    /// [`super::Drive::submit`]. A command before the drive is ready waits in it. `bytes`: the data
    /// of a write, where it matters.
    ///
    /// # Panics
    /// As [`super::Drive::submit`], when power is off, and when `bytes` are not as many as the
    /// command says.
    pub fn submit(
        &mut self,
        tag: u32,
        command: &Command,
        bytes: Option<Payload>,
        now: Nanos,
    ) -> u64 {
        assert!(self.on, "command for a drive without power");
        self.number += 1;
        let number = self.number;
        if command.op == Op::Write {
            let given = bytes.as_ref().map(Payload::len);
            let len = command.len as usize;
            assert!(given.is_none_or(|given| given == len), "{given:?} bytes");
            let staged = Staged {
                number,
                offset: command.offset,
                len: command.len.into(),
                bytes,
            };
            self.media_mut().stage(tag, staged);
        }
        let done = self.faults.as_done(command);
        each_mut!(self, engine => engine.submit(tag, &done, now));
        number
    }

    /// Takes the next command that completes by `until`; see [`super::Drive::pop_completion`].
    pub fn pop_completion(&mut self, until: Nanos) -> Option<Completion> {
        let done = each_mut!(self, engine => engine.pop_completion(until))?;
        self.media_mut().unstage(done.tag);
        Some(done)
    }

    /// The numbers of the writes that a mapping unit's sectors come from, zero for none; and its
    /// bytes where they are kept.
    pub fn content(&self, lpn: u32) -> Option<&SlotContent> {
        each!(self, engine => engine.ftl.content(lpn))
    }

    /// The number of the write that a sector comes from; zero: never written, or forgotten.
    pub fn sector(&self, sector: u64) -> u64 {
        let per_slot = u64::from(self.config().shape.slot_bytes) / SECTOR_BYTES as u64;
        let content = self.content((sector / per_slot) as u32);
        content.map_or(0, |content| content.numbers[(sector % per_slot) as usize])
    }

    /// Cuts the power at `at`, which must not lie before any event already seen. Completions up to
    /// then must have been taken: what the host has not been told is not acknowledged.
    ///
    /// # Panics
    /// When power is off, or time runs backwards.
    pub fn cut(&mut self, at: Nanos) -> Cut {
        assert!(self.on, "power is cut twice");
        assert!(
            at >= self.now(),
            "cut at {at}, the drive is at {}",
            self.now()
        );
        self.on = false;
        self.counters.unsafe_shutdowns += 1;
        if self.keeps_before {
            self.before = Some(self.held());
        }
        each_mut!(self, engine => engine.ftl.set_now(at.0));
        let outstanding = self.outstanding() as u64;
        let addresses = each!(self, engine => engine.ftl.buffered());
        let buffered: Saved = addresses
            .into_iter()
            .map(|lpn| (lpn, self.media().buffered(lpn).cloned()))
            .collect();
        let hold = self.hold();
        let damage = each_mut!(self, engine => engine.ftl.cut(hold.map(|hold| hold.0)));
        let mut cut = Cut {
            at,
            outstanding,
            buffered: buffered.len() as u64,
            damage,
            ..Cut::default()
        };
        // Recovery has taken nothing from the host yet: what is saved is saved.
        if at >= self.ready {
            self.save_buffer(buffered, hold, &mut cut);
        }
        self.media_mut().lose_buffer();
        let mut faults = self.faults.clone();
        faults.strike(self.media_mut());
        self.faults = faults;
        cut
    }

    fn held(&self) -> Saved {
        let slots = self.config().user_bytes / u64::from(self.config().shape.slot_bytes);
        let held = |lpn| {
            self.content(lpn)
                .map(|content| (lpn, Some(content.clone())))
        };
        (0..slots as u32).filter_map(held).collect()
    }

    /// Faults strike otherwise from now on, as `by` says: forks of one drive that are cut at
    /// different instants would all draw the same.
    pub fn stir_faults(&mut self, by: u64) {
        self.faults.stir(by);
    }

    /// How long the drive lives on after a cut.
    fn hold(&mut self) -> Option<Nanos> {
        let protected = self.config().buffer.protected && !self.faults.capacitor_fails();
        protected.then(|| self.power.hold.unwrap_or(Nanos::MAX))
    }

    fn save_buffer(&mut self, buffered: Saved, hold: Option<Nanos>, cut: &mut Cut) {
        self.dump.clear();
        let Some(hold) = hold else {
            return;
        };
        let dropped = std::mem::take(&mut cut.damage.dropped);
        cut.buffered += dropped.len() as u64;
        let mut newest: BTreeMap<u32, (u64, Content)> = BTreeMap::new();
        let there = self
            .media()
            .newest_of(dropped.iter().map(|slot| slot.address));
        for slot in dropped {
            // What was forgotten, or written on a faster die, since is not brought back.
            let later = there.get(&slot.address).copied().unwrap_or(0);
            if slot.seq > later.max(self.media().forgotten_at(slot.address)) {
                newest.insert(slot.address, (slot.seq, slot.content));
            }
        }
        for (order, (lpn, content)) in (0..).zip(buffered) {
            newest.insert(lpn, (u64::MAX / 2 + order, content));
        }
        let mut all: Vec<(u64, u32, Content)> = newest
            .into_iter()
            .map(|(lpn, (order, content))| (order, lpn, content))
            .collect();
        all.sort_by_key(|&(order, lpn, _)| (order, lpn));
        all.truncate(self.slots_saved_in(hold));
        cut.saved = all.len() as u64;
        cut.held_up = self.time_to_save(all.len() as u64).min(hold);
        self.dump = all
            .into_iter()
            .map(|(_, lpn, content)| (lpn, content))
            .collect();
    }

    /// Time to program so many mapping units, on all dies at once, in SLC mode.
    fn time_to_save(&self, slots: u64) -> Nanos {
        let (per_round, each) = self.save_rate();
        Nanos(slots.div_ceil(per_round) * each)
    }

    fn slots_saved_in(&self, hold: Nanos) -> usize {
        let (per_round, each) = self.save_rate();
        (hold.0 / each).saturating_mul(per_round).min(1 << 40) as usize
    }

    /// Mapping units programmed at once, and the ns that takes.
    fn save_rate(&self) -> (u64, u64) {
        let config = self.config();
        let geometry = config.geometry();
        let unit = geometry.unit_bytes();
        let slots = u64::from(geometry.die_count) * unit / u64::from(config.shape.slot_bytes);
        let timing = &config.nand.timing;
        let dies = u128::from(config.shape.dies_per_channel);
        let move_ns =
            u128::from(unit) * dies * 1_000_000_000 / u128::from(timing.channel_bytes_per_second);
        let each = timing.slc_program.0.max(move_ns as u64).max(1);
        (slots, each)
    }

    /// Switches power on at `at`, not before the cut. The drive takes commands at once and works
    /// on them when it is ready.
    ///
    /// # Panics
    /// When power is on, or time runs backwards.
    pub fn power_on(&mut self, at: Nanos) -> Recovery {
        assert!(!self.on, "power is on");
        assert!(
            at >= self.now(),
            "on at {at}, the drive is at {}",
            self.now()
        );
        self.counters.power_cycles += 1;
        if self.faults.is_dead(self.counters.unsafe_shutdowns) {
            return Recovery {
                at,
                ready: Nanos::MAX,
                steps: Vec::new(),
                dead: true,
            };
        }
        self.on = true;
        let mut steps = each_mut!(self, engine => {
            let config = engine.config.clone();
            engine.ftl.set_now(at.0);
            engine.ftl.recover(&config, at.0)
        });
        let read = steps.last().map_or(at.0, |step| step.end);
        let end = self.restore(at, read, &mut steps);
        self.ready = Nanos(end);
        each_mut!(self, engine => engine.ready_at(end));
        Recovery {
            at,
            ready: self.ready,
            steps,
            dead: false,
        }
    }

    /// Brings back what the capacitor saved; returns when all is done.
    fn restore(&mut self, at: Nanos, from: u64, steps: &mut Vec<RecoveryStep>) -> u64 {
        each_mut!(self, engine => engine.restart(at.0, from));
        if self.dump.is_empty() {
            return from;
        }
        let slots = self.dump.len() as u64;
        let mut end = from + self.time_to_read(slots).0;
        for (lpn, content) in self.dump.clone() {
            self.media_mut().put_in_buffer(lpn, content);
            end = each_mut!(self, engine => engine.restore(end, lpn));
        }
        steps.push(RecoveryStep {
            name: "restore the buffer",
            operations: slots,
            end,
        });
        end
    }

    /// Time to read so many mapping units of the dump, on all dies at once.
    fn time_to_read(&self, slots: u64) -> Nanos {
        let (per_round, each) = self.save_rate();
        let timing = &self.config().nand.timing;
        let read = timing.slc_read.0;
        Nanos(slots.div_ceil(per_round) * each.saturating_sub(timing.slc_program.0).max(read))
    }

    /// What has happened to the media since the last call, for who keeps them in files; the first
    /// call begins the list.
    pub fn take_events(&mut self) -> Vec<Event> {
        each_mut!(self, engine => engine.ftl.settle());
        self.media_mut().take_events()
    }
}
