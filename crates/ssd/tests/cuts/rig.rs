//! A host that writes at random, cuts the power at random, and consults the oracle.

use crate::kinds::commands::Mix;
use ssdlab_ssd::config::RecoverBy;
use ssdlab_ssd::drive::power::{
    Cut, Fault, Lie, Oracle, Power, PowerDrive, RecoveredState, Recovery, Report,
};
use ssdlab_ssd::nand::Purpose;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, DriveConfig, Nanos, Op};
use std::collections::BTreeMap;

/// Maximum number of commands in progress.
const TAGS: u32 = 24;

/// Occasions of a cut, besides those named after the steps of recovery. A campaign over all kinds
/// must meet each of them.
pub const OCCASIONS: [&str; 18] = [
    "program of host data",
    "program of relocated data (reclaim)",
    "program of folded data",
    "program of refreshed data",
    "program of parity",
    "program of a journal page",
    "program of a map page or checkpoint",
    "erase",
    "program in recovery",
    "FLUSH under way",
    "FUA write under way",
    "TRIM or write zeroes under way",
    "buffer not empty",
    "work on the capacitor",
    "lower pages lost",
    "lower pages saved",
    "booked, not begun",
    "again, before recovery was over",
];

/// The occasion of a cut within a step of recovery.
pub fn in_step(step: &str) -> String {
    format!("recovery: {step}")
}

/// Findings of many cuts.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub cuts: u64,
    pub broken: u64,
    pub dead: bool,
    /// Cuts after which both kinds of recovery were compared.
    pub compared: u64,
    /// Number of blocks of the drives, and of their erases.
    pub blocks: u64,
    pub erases: u64,
    /// Sectors that read as an older value after a recovery.
    pub older: u64,
    /// Cuts by occasion; one may have several.
    pub met: BTreeMap<String, u64>,
    /// The first broken promise, in words.
    pub first: Option<String>,
}

impl Found {
    /// Adds the findings of another drive.
    pub fn add(&mut self, other: &Found) {
        self.cuts += other.cuts;
        self.broken += other.broken;
        self.dead |= other.dead;
        self.older += other.older;
        self.compared += other.compared;
        self.blocks += other.blocks;
        self.erases += other.erases;
        for (name, count) in &other.met {
            *self.met.entry(name.clone()).or_default() += count;
        }
        if self.first.is_none() {
            self.first.clone_from(&other.first);
        }
    }

    /// Number of cuts on an occasion.
    pub fn met(&self, name: &str) -> u64 {
        self.met.get(name).copied().unwrap_or(0)
    }

    fn meet(&mut self, name: &str, happened: bool) {
        if happened {
            *self.met.entry(name.into()).or_default() += 1;
        }
    }

    fn meet_damage(&mut self, cut: &Cut) {
        let damage = &cut.damage;
        let torn = |purpose: Purpose| damage.torn_by_purpose[purpose as usize];
        let map_pages = torn(Purpose::Map) - damage.torn_records;
        for (name, count) in OCCASIONS.into_iter().zip([
            torn(Purpose::Host),
            torn(Purpose::Relocation),
            torn(Purpose::Fold),
            torn(Purpose::Refresh),
            torn(Purpose::Parity),
            damage.torn_records,
            map_pages,
            damage.torn_erases,
        ]) {
            self.meet(name, count > 0);
        }
        self.meet("buffer not empty", cut.buffered > 0);
        self.meet("work on the capacitor", cut.saved > 0);
        self.meet("lower pages lost", damage.lower_pages_lost > 0);
        self.meet("lower pages saved", damage.lower_pages_saved > 0);
        self.meet("booked, not begun", damage.not_begun > 0);
    }
}

/// The first difference between two recovered states.
fn differ(one: &RecoveredState, other: &RecoveredState) -> String {
    let mut map = (0..).zip(one.map.iter().zip(&other.map));
    if let Some((address, (one, other))) = map.find(|(_, (one, other))| one != other) {
        return format!("address {address} at {one} and at {other}");
    }
    let mut parts = one.parts.iter().zip(&other.parts);
    if let Some((one, other)) = parts.find(|(one, other)| one != other) {
        let mut bytes = one.bytes().zip(other.bytes());
        let same = bytes.position(|(one, other)| one != other).unwrap_or(0);
        let excerpt = |text: &str| text[same.saturating_sub(80)..].chars().take(160).collect();
        let (one, other): (String, String) = (excerpt(one), excerpt(other));
        return format!("{one} and {other}");
    }
    let rest = |state: &RecoveredState| RecoveredState {
        map: Vec::new(),
        parts: Vec::new(),
        ..state.clone()
    };
    format!("{:?} and {:?}", rest(one), rest(other))
}

#[derive(Clone)]
pub struct Rig {
    pub drive: PowerDrive,
    pub oracle: Oracle,
    rng: Rng,
    mix: Mix,
    slot: u64,
    /// Commands in progress, by tag.
    busy: Vec<Option<Command>>,
    recovery: Recovery,
    found: Found,
    name: String,
    power: Power,
}

impl Rig {
    pub fn new(config: &DriveConfig, seed: u64, faults: &[Fault]) -> Rig {
        let power = Power::with_faults(faults.to_vec());
        Rig {
            drive: PowerDrive::new(config.clone(), power.clone()).expect("valid"),
            power,
            oracle: Oracle::new(config.shape.slot_bytes, config.buffer.completes_durably()),
            rng: Rng::named(seed, "cuts"),
            mix: Mix::new(config, seed),
            slot: config.shape.slot_bytes.into(),
            busy: vec![None; TAGS as usize],
            recovery: Recovery::default(),
            found: Found::default(),
            name: format!("{} seed {seed}", config.name),
        }
    }

    /// Sets the time that the capacitor lasts.
    pub fn with_hold(config: &DriveConfig, seed: u64, hold: Nanos) -> Rig {
        let mut power = Power::default();
        power.hold = Some(hold);
        let drive = PowerDrive::new(config.clone(), power.clone()).expect("valid");
        Rig {
            drive,
            power,
            ..Rig::new(config, seed, &[])
        }
    }

    pub fn lie(mut self, lie: Lie) -> Rig {
        self.oracle.lie(lie);
        self
    }

    fn take(&mut self, until: Nanos) {
        while let Some(done) = self.drive.pop_completion(until) {
            self.busy[done.tag as usize] = None;
            self.oracle.completed(done.tag);
        }
    }

    fn wait_for_one(&mut self) {
        let done = self
            .drive
            .pop_completion(Nanos::MAX)
            .expect("one completes");
        self.busy[done.tag as usize] = None;
        self.oracle.completed(done.tag);
    }

    /// Write zeroes does whole mapping units only.
    fn command(&mut self) -> Command {
        let mut command = self.mix.next().expect("endless");
        if command.op == Op::WriteZeroes {
            let end = (command.offset + u64::from(command.len)) / self.slot * self.slot;
            command.offset = command.offset.next_multiple_of(self.slot).min(end);
            command.len = (end - command.offset) as u32;
        }
        if self.rng.percent(4) {
            command = Command::flush();
        }
        command
    }

    fn submit_one(&mut self) {
        if self.busy.iter().all(Option::is_some) {
            self.wait_for_one();
        }
        let pause = match self.rng.below(20) {
            0 => self.rng.below(200_000_000),
            1..6 => self.rng.below(3_000_000),
            _ => self.rng.below(30_000),
        };
        let at = Nanos(self.drive.now().0 + pause);
        self.take(at);
        let tag = self
            .busy
            .iter()
            .position(Option::is_none)
            .expect("a free tag");
        let command = self.command();
        let number = self.drive.submit(tag as u32, &command, None, at);
        self.oracle.submitted(tag as u32, number, &command);
        self.busy[tag] = Some(command);
    }

    /// One round: some commands, a cut after them, and recovery, which may be cut too.
    pub fn round(&mut self) {
        let count = 1 + self.rng.below(40);
        for _ in 0..count {
            self.submit_one();
        }
        let after = match self.rng.below(6) {
            0 => 0,
            1 => self.rng.below(100_000),
            2..5 => self.rng.below(5_000_000),
            _ => self.rng.below(200_000_000),
        };
        let at = Nanos(self.drive.now().0 + after);
        self.take(at);
        self.cut(at);
        while !self.found.dead && self.rng.percent(15) {
            // Again, before it is ready.
            let (from, ready) = (self.drive.now().0, self.drive.ready().0);
            let at = from + self.rng.below(ready.saturating_sub(from) + 1);
            self.take(Nanos(at));
            self.cut(Nanos(at));
        }
        if self.found.dead {
            self.look();
            return;
        }
        if self.rng.percent(50) {
            let ready = self.drive.ready();
            self.take(ready.max(self.drive.now()));
        }
        self.look();
    }

    /// Runs commands and, after each retirement of a superblock, cuts forks of the drive while the
    /// next programs are in progress. Returns the retirements and the first failure.
    pub fn cut_after_retirements(mut self, commands: u64) -> (u64, Option<String>) {
        let retired = |drive: &PowerDrive| drive.worn_out().1;
        let (mut retirements, mut cuts_due) = (0, 0);
        for _ in 0..commands {
            let before = retired(&self.drive);
            self.submit_one();
            if retired(&self.drive) > before {
                retirements += 1;
                cuts_due = 30;
            }
            if cuts_due == 0 {
                continue;
            }
            cuts_due -= 1;
            for _ in 0..8 {
                let mut fork = self.clone();
                let at = Nanos(fork.drive.now().0 + self.rng.below(3_000_000));
                fork.take(at);
                fork.cut(at);
                fork.look();
                if fork.found.broken > 0 {
                    return (retirements, fork.found.first);
                }
            }
        }
        (retirements, None)
    }

    /// Lets the drive finish everything, cuts it and switches it on again; returns its state before
    /// and after.
    pub fn cut_at_rest(&mut self) -> (RecoveredState, RecoveredState) {
        while self.busy.iter().any(Option::is_some) {
            self.wait_for_one();
        }
        let command = Command::flush();
        let number = self.drive.submit(0, &command, None, self.drive.now());
        self.oracle.submitted(0, number, &command);
        self.busy[0] = Some(command);
        self.wait_for_one();
        let at = Nanos(self.drive.now().0 + 10_000_000_000);
        self.take(at);
        let before = self.drive.state();
        self.cut(at);
        self.take(self.drive.ready());
        (before, self.drive.state())
    }

    fn cut(&mut self, at: Nanos) {
        self.meet_commands();
        let in_recovery = at < self.drive.ready();
        let step = self.recovery.steps.iter().find(|step| step.end > at.0);
        let step = step.filter(|_| in_recovery).map(|step| step.name);
        let cut = self.drive.cut(at);
        self.busy.fill(None);
        let found = &mut self.found;
        found.cuts += 1;
        found.meet_damage(&cut);
        found.meet("again, before recovery was over", in_recovery);
        found.meet(
            "program in recovery",
            in_recovery && cut.damage.torn_programs > 0,
        );
        if let Some(step) = step {
            found.meet(&in_step(step), true);
        }
        let at = Nanos(at.0 + cut.held_up.0 + 1_000_000_000);
        if self.drive.config().recovers_by_journal() {
            self.compare(at);
        }
        if self.found.cuts % 8 == 1 && !self.drive.has_faults() {
            self.compare_stored(at);
        }
        self.recovery = self.drive.power_on(at);
        self.found.dead = self.recovery.dead;
        if !self.found.dead
            && let Err(what) = self.drive.check()
        {
            self.found.broken += 1;
            self.first(format!("check: {what}"));
        }
    }

    /// The places of parity, one die of each row in turn, hold no data.
    fn check_parity(&mut self) {
        let config = self.drive.config();
        let dies = config.geometry().die_count as usize;
        let mut blocks = self.drive.media().blocks().iter().enumerate();
        let data_there = blocks.any(|(block, at)| {
            let rows = at.pages.iter().enumerate();
            let mut parity = rows.filter(|(row, _)| row % dies == block % dies);
            parity.any(|(_, page)| !page.slots.is_empty())
        });
        if config.ftl.parity && data_there {
            self.found.broken += 1;
            self.first("data in the place of parity".into());
        }
    }

    /// A drive made from the stored media and SMART state recovers the same state: nothing else
    /// survives a cut.
    fn compare_stored(&mut self, at: Nanos) {
        self.check_parity();
        let events = self.drive.all_events();
        let config = self.drive.config().clone();
        let (smart, by) = (self.drive.smart(), config.ftl.recovery);
        let made = PowerDrive::stored(config, self.power.clone(), &smart, events, Vec::new());
        let made = made.expect("possible");
        if made.counters() != &smart.counters || made.power_counters() != smart.power {
            self.found.broken += 1;
            self.first(format!(
                "SMART state of the stored drive: {:?}",
                made.smart()
            ));
        }
        let blocks = |drive: &PowerDrive| -> Vec<(usize, bool)> {
            let blocks = drive.media().blocks().iter();
            blocks.map(|at| (at.pages.len(), at.unstable)).collect()
        };
        if blocks(&made) != blocks(&self.drive) {
            self.found.broken += 1;
            self.first("a block of the stored media, or its interrupted erase".into());
        }
        let made = made.recovered_by(by, at).0;
        let kept = self.drive.recovered_by(by, at).0;
        if made != kept {
            self.found.broken += 1;
            self.first(format!(
                "recovery from stored media: {}",
                differ(&kept, &made)
            ));
        }
    }

    /// Both kinds of recovery restore the same state.
    fn compare(&mut self, at: Nanos) {
        let recovered = |by| self.drive.recovered_by(by, at).0;
        let (scan, journal) = (recovered(RecoverBy::Scan), recovered(RecoverBy::Journal));
        self.found.compared += 1;
        if scan != journal {
            self.found.broken += 1;
            self.first(format!(
                "recovery by scan and by journal: {}",
                differ(&scan, &journal)
            ));
        }
    }

    fn meet_commands(&mut self) {
        let is = |wanted: fn(&Command) -> bool| self.busy.iter().flatten().any(wanted);
        let flush = is(|command| command.op == Op::Flush);
        let fua = is(|command| command.op == Op::Write && command.fua);
        let forgets = is(|command| matches!(command.op, Op::Trim | Op::WriteZeroes));
        self.found.meet("FLUSH under way", flush);
        self.found.meet("FUA write under way", fua);
        self.found.meet("TRIM or write zeroes under way", forgets);
    }

    /// Keeps the first failure.
    fn first(&mut self, what: String) {
        let text = format!("{}, cut {}: {what}", self.name, self.found.cuts);
        self.found.first.get_or_insert(text);
    }

    fn look(&mut self) {
        let (drive, dead) = (&self.drive, self.found.dead);
        let read = |sector| if dead { 0 } else { drive.sector(sector) };
        let report: Report = self.oracle.after_recovery(read);
        self.found.broken += report.broken.len() as u64;
        let older = ssdlab_ssd::drive::power::SectorClass::Older;
        self.found.older += report.count(older) as u64;
        if let Some(broken) = report.broken.first() {
            self.first(format!("{broken:?}"));
        }
    }

    /// Runs rounds until `cuts` cuts are done or a failure is found.
    pub fn run(mut self, cuts: u64) -> Found {
        while self.found.cuts < cuts && self.found.broken == 0 && !self.found.dead {
            self.round();
        }
        let geometry = self.drive.config().geometry();
        self.found.blocks = u64::from(geometry.die_count * geometry.superblock_count);
        self.found.erases = self.drive.counters().nand_erases;
        self.found
    }
}
