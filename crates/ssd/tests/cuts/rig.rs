//! A host that writes at random, cuts the power at random, and asks the oracle.

use crate::kinds::commands::Mix;
use ssdlab_ssd::drive::power::{Fault, Lie, Oracle, Power, PowerDrive, Report};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, DriveConfig, Nanos, Op};

/// Most commands under way.
const TAGS: u32 = 24;

/// What many cuts found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub cuts: u64,
    pub cuts_in_recovery: u64,
    pub broken: u64,
    pub dead: bool,
    pub torn_programs: u64,
    pub torn_erases: u64,
    pub lower_pages_lost: u64,
    pub lower_pages_saved: u64,
    pub saved: u64,
    pub older: u64,
    pub recovery_programs: u64,
    /// The first broken promise, in words.
    pub first: Option<String>,
}

impl Found {
    pub fn add(&mut self, other: &Found) {
        self.cuts += other.cuts;
        self.cuts_in_recovery += other.cuts_in_recovery;
        self.broken += other.broken;
        self.dead |= other.dead;
        self.torn_programs += other.torn_programs;
        self.torn_erases += other.torn_erases;
        self.lower_pages_lost += other.lower_pages_lost;
        self.lower_pages_saved += other.lower_pages_saved;
        self.saved += other.saved;
        self.older += other.older;
        self.recovery_programs += other.recovery_programs;
        if self.first.is_none() {
            self.first.clone_from(&other.first);
        }
    }
}

pub struct Rig {
    pub drive: PowerDrive,
    pub oracle: Oracle,
    rng: Rng,
    mix: Mix,
    slot: u64,
    busy: Vec<bool>,
    found: Found,
    name: String,
}

impl Rig {
    pub fn new(config: &DriveConfig, seed: u64, faults: &[Fault]) -> Rig {
        let power = Power {
            faults: faults.to_vec(),
            ..Power::default()
        };
        Rig {
            drive: PowerDrive::new(config.clone(), power).expect("valid"),
            oracle: Oracle::new(config.shape.slot_bytes, config.buffer.protected),
            rng: Rng::named(seed, "cuts"),
            mix: Mix::new(config, seed),
            slot: config.shape.slot_bytes.into(),
            busy: vec![false; TAGS as usize],
            found: Found::default(),
            name: format!("{} seed {seed}", config.name),
        }
    }

    /// With a capacitor that lasts so long.
    pub fn with_hold(config: &DriveConfig, seed: u64, hold: Nanos) -> Rig {
        let power = Power {
            hold: Some(hold),
            ..Power::default()
        };
        let drive = PowerDrive::new(config.clone(), power).expect("valid");
        Rig {
            drive,
            ..Rig::new(config, seed, &[])
        }
    }

    pub fn lie(mut self, lie: Lie) -> Rig {
        self.oracle.lie(lie);
        self
    }

    fn take(&mut self, until: Nanos) {
        while let Some(done) = self.drive.pop_completion(until) {
            self.busy[done.tag as usize] = false;
            self.oracle.completed(done.tag);
        }
    }

    fn wait_for_one(&mut self) {
        let done = self
            .drive
            .pop_completion(Nanos::MAX)
            .expect("one completes");
        self.busy[done.tag as usize] = false;
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
        if self.busy.iter().all(|&busy| busy) {
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
            .position(|&busy| !busy)
            .expect("a free tag");
        let command = self.command();
        let number = self.drive.submit(tag as u32, &command, None, at);
        self.oracle.submitted(tag as u32, number, &command);
        self.busy[tag] = true;
    }

    /// One round: some commands, a cut somewhere behind them, recovery, perhaps cut short.
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
            self.found.cuts_in_recovery += 1;
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

    fn cut(&mut self, at: Nanos) {
        let before = self.drive.counters().nand_programs;
        let cut = self.drive.cut(at);
        self.busy.fill(false);
        self.found.cuts += 1;
        self.found.torn_programs += cut.damage.torn_programs;
        self.found.torn_erases += cut.damage.torn_erases;
        self.found.lower_pages_lost += cut.damage.lower_pages_lost;
        self.found.lower_pages_saved += cut.damage.lower_pages_saved;
        self.found.saved += cut.saved;
        let at = Nanos(at.0 + cut.held_up.0 + 1_000_000_000);
        let recovery = self.drive.power_on(at);
        self.found.dead = recovery.dead;
        self.found.recovery_programs += self.drive.counters().nand_programs - before;
        if !recovery.dead
            && let Err(what) = self.drive.check()
        {
            panic!("{}, cut {}: {what}", self.name, self.found.cuts);
        }
    }

    fn look(&mut self) {
        let (drive, dead) = (&self.drive, self.found.dead);
        let read = |sector| if dead { 0 } else { drive.sector(sector) };
        let report: Report = self.oracle.after_recovery(read);
        self.found.broken += report.broken.len() as u64;
        let older = ssdlab_ssd::drive::power::SectorClass::Older;
        self.found.older += report.count(older) as u64;
        if self.found.first.is_none() {
            let first = report.broken.first();
            self.found.first =
                first.map(|broken| format!("{}, cut {}: {broken:?}", self.name, self.found.cuts));
        }
    }

    /// So many rounds, or until something is found wrong.
    pub fn run(mut self, cuts: u64) -> Found {
        while self.found.cuts < cuts && self.found.broken == 0 && !self.found.dead {
            self.round();
        }
        self.found
    }
}
