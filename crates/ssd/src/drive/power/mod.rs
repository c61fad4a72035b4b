//! A drive whose power can be cut at any instant, and that recovers from its media alone.
//!
//! ```text
//!  on --cut(at)--> off --power_on(at)--> on, ready after recovery --...
//! ```
//! A [`PowerDrive`] is a [`super::Drive`] over media that keep data: every sector carries the
//! number of the write that it comes from, and bytes if the host gives them. It takes the same
//! commands in the same virtual time, except for erases, which wait for programs that they must not
//! overtake.
//!
//! A cut loses the write buffer, tears programs and erases in progress, and drops those that have
//! not begun; see [`crate::nand::media`]. A protected drive runs on its capacitor for
//! [`Power::hold`]: it finishes the operations in progress, then saves its buffer to a dump area,
//! oldest first, as far as the energy lasts. Power-on recovers ([`crate::ftl::recover`]), then
//! restores the dump to the buffer; the dump is kept until recovery is over. A cut may come during
//! recovery.
//!
//! TRIM and write zeroes are changes of the map: durable when a FLUSH issued after them has
//! completed, as writes are. On drives whose map costs nothing they are recorded outside the array.

mod faults;
mod oracle;

pub use crate::ftl::recover::{RecoveredState, RecoveryStep};
pub use data::{DataDrive, DataError};
pub use faults::{FAULTS, Fault, FaultInfo, FaultKind};
pub use oracle::{BrokenPromise, Lie, LostPart, Oracle, Promise, Report, SectorClass};
pub use stored::Smart;

use super::engine::Engine;
use super::{ByLayer, Completion, LayerKind};
use crate::command::{Command, Op};
use crate::config::{ConfigError, DriveConfig, RecoverBy};
use crate::counters::DriveCounters;
use crate::ftl::recover::Recoverable;
use crate::ftl::{BlockFtl, Full, Lean, PageFtl, SuperblockView, Translation};
use crate::image::image_of;
use crate::nand::Recorder;
use crate::nand::media::{
    Content, CutDamage, Event, Media, Payload, SECTOR_BYTES, SlotContent, Staged, forget,
};
use crate::units::Nanos;
use faults::Faults;
use std::collections::BTreeMap;

/// Power configuration of a drive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Power {
    /// Time that the capacitor of a protected drive lasts after a cut; `None`: as long as it takes
    /// to save everything. Ignored without protection.
    pub hold: Option<Nanos>,
    /// Faults of the drive; empty: it is honest.
    pub faults: Vec<Fault>,
}

impl Power {
    /// A drive with these faults.
    pub fn with_faults(faults: Vec<Fault>) -> Power {
        Power { hold: None, faults }
    }
}

/// Effects of a cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Time of the cut.
    pub at: Nanos,
    /// Effects on the media.
    pub damage: CutDamage,
    /// Number of commands outstanding.
    pub outstanding: u64,
    /// Mapping units that were only in the controller.
    pub buffered: u64,
    /// Such mapping units that the capacitor saved.
    pub saved: u64,
    /// Time that the drive ran on its capacitor.
    pub held_up: Nanos,
}

/// Course of a recovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Time at which power returned.
    pub at: Nanos,
    /// Time at which the drive was ready.
    pub ready: Nanos,
    /// Steps, in order.
    pub steps: Vec<RecoveryStep>,
    /// Whether the drive is dead and will never be ready.
    pub dead: bool,
}

image_of! {
    /// SMART counters of power.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PowerCounters {
        /// Number of times that power was switched on.
        pub power_cycles: u64,
        /// Number of power losses without notice.
        pub unsafe_shutdowns: u64,
    }
}

type PowerEngine = ByLayer<
    Engine<PageFtl<Recorder, Lean>>,
    Engine<PageFtl<Recorder, Full>>,
    Engine<BlockFtl<Recorder>>,
>;

mod data;
mod stored;

/// Mapping units in the controller, by address, oldest first.
type Saved = Vec<(u32, Content)>;

/// See the module's documentation. Cloning it forks its whole state.
#[derive(Clone, Debug)]
pub struct PowerDrive {
    kind: Box<PowerEngine>,
    power: Power,
    faults: Faults,
    on: bool,
    /// End of the last recovery.
    ready: Nanos,
    counters: PowerCounters,
    /// Number of the last command.
    number: u64,
    /// Mapping units that the capacitor saved.
    dump: Saved,
    /// Whether the content before each cut is kept, and the content before the last one.
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
        let journalled = config.recovers_by_journal();
        if journalled {
            faults::allowed_with_journal(&power.faults)?;
        }
        let kind = kind_of!(&config, Engine::new(config, None));
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
        drive.media_mut().journalled = journalled;
        Ok(drive)
    }

    /// A drive in the same state, which takes the same time for the same commands and holds no
    /// bytes.
    pub fn without_bytes(&self) -> PowerDrive {
        let mut copy = self.clone();
        copy.media_mut().forget_bytes();
        copy.dump.iter_mut().for_each(|saved| forget(&mut saved.1));
        (copy.keeps_before, copy.before) = (false, None);
        copy
    }

    /// The drive's configuration.
    pub fn config(&self) -> &DriveConfig {
        each!(self, engine => &engine.config)
    }

    /// Counters since the drive was created.
    pub fn counters(&self) -> &DriveCounters {
        each!(self, engine => engine.ftl.counted())
    }

    /// SMART counters of power.
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

    /// Number of the last command; see [`PowerDrive::submit`].
    pub fn last_number(&self) -> u64 {
        self.number
    }

    /// Makes each cut keep the content of every mapping unit just before it, for
    /// [`PowerDrive::take_before`].
    pub fn keep_before_cuts(&mut self) {
        self.keeps_before = true;
    }

    /// Takes the content just before the last cut, by address, without empty units.
    pub fn take_before(&mut self) -> Option<Vec<(u32, Content)>> {
        self.before.take()
    }

    /// Whether the drive has faults, so that a cut may leave anything on media.
    pub fn has_faults(&self) -> bool {
        !self.power.faults.is_empty()
    }

    /// Mapping units that the capacitor saved at the last cut, oldest first.
    pub fn saved(&self) -> &[(u32, Content)] {
        &self.dump
    }

    /// End of the last recovery, past or to come.
    pub fn ready(&self) -> Nanos {
        self.ready
    }

    /// Time of the next event: a completion, or internal work; [`Nanos::MAX`] if there is none.
    pub fn next_event(&self) -> Nanos {
        Nanos(each!(self, engine => engine.next_event()))
    }

    /// Aims at the `nth` program or erase booked from now on, counted from 1; `None` clears the
    /// aim. The caller then checks [`PowerDrive::aimed_at`] before each step in time.
    pub fn aim_at(&mut self, nth: Option<u64>) {
        self.media_mut().aim_at(nth);
    }

    /// Currently known middle of the target operation, once it is booked.
    pub fn aimed_at(&self) -> Option<Nanos> {
        let aimed = self.media().aimed()?;
        Some(Nanos(aimed.start + (aimed.end - aimed.start) / 2))
    }

    /// Number of commands submitted and not yet popped.
    pub fn outstanding(&self) -> usize {
        each!(self, engine => engine.outstanding())
    }

    /// State of every superblock.
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

    /// Checks the drive; see [`super::Drive::check`].
    ///
    /// # Errors
    /// The first contradiction found, in a sentence.
    pub fn check(&self) -> Result<(), String> {
        each!(self, engine => engine.check())
    }

    /// Submits a command at time `now`; returns the number that its sectors carry. The rules of
    /// [`super::Drive::submit`] apply. A command that arrives before the drive is ready waits.
    /// `bytes`: the data of a write, where it matters.
    ///
    /// # Panics
    /// As [`super::Drive::submit`], when power is off, and when `bytes` do not have the command's
    /// length.
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
            let payload_bytes = bytes.as_ref().map(Payload::len);
            let len = command.len as usize;
            assert!(
                payload_bytes.is_none_or(|given| given == len),
                "{payload_bytes:?} bytes"
            );
            let staged = Staged {
                number,
                offset: command.offset,
                len: command.len.into(),
                bytes,
            };
            self.media_mut().stage(tag, staged);
        }
        let executed = self.faults.as_done(command);
        each_mut!(self, engine => engine.submit(tag, &executed, now));
        number
    }

    /// Takes the next command that completes by `until`; see [`super::Drive::pop_completion`].
    pub fn pop_completion(&mut self, until: Nanos) -> Option<Completion> {
        let completion = each_mut!(self, engine => engine.pop_completion(until))?;
        self.media_mut().unstage(completion.tag);
        Some(completion)
    }

    /// Whether the last read command of `tag` met data that the drive cannot correct; see
    /// [`super::Drive::take_unreadable`].
    pub fn take_unreadable(&mut self, tag: u32) -> bool {
        each_mut!(self, engine => engine.take_unreadable(tag))
    }

    /// Content of a mapping unit: the numbers of the writes that its sectors come from, zero for
    /// none, and its bytes where they are kept.
    pub fn content(&self, lpn: u32) -> Option<&SlotContent> {
        each!(self, engine => engine.ftl.content(lpn))
    }

    /// Number of the write that a sector comes from; zero: never written, or trimmed.
    pub fn sector(&self, sector: u64) -> u64 {
        let per_slot = u64::from(self.config().shape.slot_bytes) / SECTOR_BYTES as u64;
        let content = self.content((sector / per_slot) as u32);
        content.map_or(0, |content| content.numbers[(sector % per_slot) as usize])
    }

    /// Cuts the power at `at`, which must not lie before any event already seen. Completions up to
    /// then must have been taken: others do not count as acknowledged.
    ///
    /// # Panics
    /// When power is off, or `at` is before the last event.
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
        // Recovery has taken nothing from the host yet: the dump remains as it is.
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

    /// Kinds of faults that have done something so far, once each.
    pub fn struck_faults(&self) -> &[FaultKind] {
        self.faults.struck()
    }

    /// Changes all further draws of faults by `by`: otherwise, forks of one drive that are cut at
    /// different instants would all draw the same.
    pub fn stir_faults(&mut self, by: u64) {
        self.faults.stir(by);
    }

    /// Time that the drive runs on after a cut.
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
        let on_media = self
            .media()
            .newest_of(dropped.iter().map(|slot| slot.address));
        for slot in dropped {
            // Slots trimmed since, or written on a faster die, are not restored.
            let later = on_media.get(&slot.address).copied().unwrap_or(0);
            if slot.seq > later.max(self.media().forgotten_at(slot.address)) {
                newest.insert(slot.address, (slot.seq, slot.content));
            }
        }
        for (order, (lpn, content)) in (0..).zip(buffered) {
            newest.insert(lpn, (u64::MAX / 2 + order, content));
        }
        let mut entries: Vec<(u64, u32, Content)> = newest
            .into_iter()
            .map(|(lpn, (order, content))| (order, lpn, content))
            .collect();
        entries.sort_by_key(|&(order, lpn, _)| (order, lpn));
        entries.truncate(self.slots_saved_in(hold));
        cut.saved = entries.len() as u64;
        cut.held_up = self.time_to_save(entries.len() as u64).min(hold);
        self.dump = entries
            .into_iter()
            .map(|(_, lpn, content)| (lpn, content))
            .collect();
    }

    /// Time to program `slots` mapping units on all dies in parallel, in SLC mode.
    fn time_to_save(&self, slots: u64) -> Nanos {
        let (per_round, each) = self.save_rate();
        Nanos(slots.div_ceil(per_round) * each)
    }

    fn slots_saved_in(&self, hold: Nanos) -> usize {
        let (per_round, each) = self.save_rate();
        (hold.0 / each).saturating_mul(per_round).min(1 << 40) as usize
    }

    /// Mapping units programmed at once, and the time that this takes, ns.
    fn save_rate(&self) -> (u64, u64) {
        let config = self.config();
        let geometry = config.geometry();
        let unit = geometry.unit_bytes();
        let slots = u64::from(geometry.die_count) * unit / u64::from(config.shape.slot_bytes);
        let timing = &config.nand.timing;
        let dies = u128::from(config.shape.dies_per_channel);
        let move_ns =
            u128::from(unit) * dies * 1_000_000_000 / u128::from(timing.channel_bytes_per_second);
        let round_ns = timing.slc_program.0.max(move_ns as u64).max(1);
        (slots, round_ns)
    }

    /// Switches power on at `at`, not before the cut. The drive accepts commands at once and starts
    /// them when it is ready.
    ///
    /// # Panics
    /// When power is on, or `at` is before the cut.
    pub fn power_on(&mut self, at: Nanos) -> Recovery {
        self.power_on_by(self.config().ftl.recovery, at)
    }

    /// The state that a recovery of the given kind restores from the media as they are, and the
    /// course of it: for comparing both kinds, without power and with no effect on the drive.
    ///
    /// # Panics
    /// As [`PowerDrive::power_on`], and for a recovery by a journal that the drive does not keep.
    pub fn recovered_by(&self, by: RecoverBy, at: Nanos) -> (RecoveredState, Recovery) {
        let has_records = by == RecoverBy::Scan || self.config().recovers_by_journal();
        assert!(has_records, "the drive keeps no journal to recover by");
        let mut fork = self.clone();
        fork.dump.clear();
        let recovery = fork.power_on_by(by, at);
        (fork.state(), recovery)
    }

    /// The state that the last recovery has restored, as far as it has not changed since.
    pub fn state(&self) -> RecoveredState {
        each!(self, engine => engine.ftl.recovered_state())
    }

    fn power_on_by(&mut self, by: RecoverBy, at: Nanos) -> Recovery {
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
            engine.ftl.recover(&config, by, at.0)
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

    /// Restores the dump that the capacitor saved; returns the end.
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

    /// Time to read `slots` mapping units of the dump on all dies in parallel.
    fn time_to_read(&self, slots: u64) -> Nanos {
        let (per_round, each) = self.save_rate();
        let timing = &self.config().nand.timing;
        let read = timing.slc_read.0;
        Nanos(slots.div_ceil(per_round) * each.saturating_sub(timing.slc_program.0).max(read))
    }

    /// Takes the changes of the media since the last call, for storing them in files. They are kept
    /// from [`PowerDrive::keep_events`] on.
    pub fn take_events(&mut self) -> Vec<Event> {
        each_mut!(self, engine => engine.ftl.settle());
        self.media_mut().take_events()
    }
}
