//! The disk: a modelled drive, the ledger of its promises, a cut that may be armed, a history.

use crate::cut::{ArmedCut, CutAt, NextInstant};
use crate::error::CrashError;
use crate::fault::{DiskFault, PathFaults};
use crate::history::{History, HistoryStep};
use crate::report::RecoveryReport;
use ssdlab_ssd::command::Command;
use ssdlab_ssd::drive::Completion;
use ssdlab_ssd::drive::power::{Cut, Oracle, Power, PowerDrive, Promise, Recovery};
use ssdlab_ssd::nand::media::SlotContent;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{DriveConfig, Nanos};
use std::cell::Cell;
use std::collections::VecDeque;

/// A completed command; see [`CrashDisk::complete`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashCompletion {
    /// Number that [`CrashDisk::submit`] returned.
    pub number: u64,
    /// The command.
    pub command: Command,
    /// Time of submission.
    pub submitted: Nanos,
    /// Time of completion.
    pub done: Nanos,
    /// What a read has read.
    pub bytes: Vec<u8>,
}

/// A command in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlightCommand {
    pub number: u64,
    pub command: Command,
}

/// An in-process block device whose power is cut anywhere; see the crate's documentation.
///
/// ```
/// use ssdlab_crash::{CrashDisk, DriveConfig};
///
/// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
/// disk.write(0, &[7; 4096])?;
/// disk.flush()?;
/// disk.cut()?;
/// disk.power_on()?.assert_kept();
/// assert_eq!(disk.read(0, 4096)?, [7; 4096]);
/// # Ok::<(), ssdlab_crash::CrashError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CrashDisk {
    pub(crate) drive: PowerDrive,
    pub(crate) oracle: Oracle,
    pub(crate) path: PathFaults,
    seed: u64,
    rng: Rng,
    armed: Option<ArmedCut>,
    /// Commands in flight, by tag.
    pub(crate) flights: Vec<Option<InFlightCommand>>,
    /// Completions not yet taken by the caller.
    pub(crate) done: VecDeque<CrashCompletion>,
    history: Option<History<CrashDisk>>,
    last_cut: Option<Cut>,
    dead: bool,
}

/// How long the power stays off.
const OFF: Nanos = Nanos::from_secs(1);

impl CrashDisk {
    /// An honest disk, factory-new and switched on. The same configuration, seed and calls give
    /// the same bytes. The seed decides nothing but the exact instants of armed cuts.
    ///
    /// # Errors
    /// When the drive cannot exist.
    ///
    /// ```
    /// use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let mut impossible = DriveConfig::tiny();
    /// impossible.user_bytes = 1 << 40;
    /// assert!(CrashDisk::new(impossible, 1).is_err());
    /// ```
    pub fn new(config: DriveConfig, seed: u64) -> Result<CrashDisk, CrashError> {
        CrashDisk::with_faults(config, seed, &[])
    }

    /// The same with faults by name, as [`DiskFault::parse`] reads them.
    ///
    /// # Errors
    /// When the drive cannot exist, or a fault has another name.
    ///
    /// ```
    /// use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let disk = CrashDisk::with_faults(DriveConfig::tiny(), 1, &["ignores-fua:500"])?;
    /// assert!(CrashDisk::with_faults(DriveConfig::tiny(), 1, &["ignores-all"]).is_err());
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn with_faults(
        config: DriveConfig,
        seed: u64,
        faults: &[&str],
    ) -> Result<CrashDisk, CrashError> {
        let mut power = Power::default();
        let mut path = PathFaults::default();
        for text in faults {
            let fault = DiskFault::parse(text, seed)?;
            path.add(fault);
            if let DiskFault::Drive(fault) = fault {
                power.faults.push(fault);
            }
        }
        let oracle = Oracle::new(config.shape.slot_bytes, config.buffer.completes_durably());
        let mut disk = CrashDisk {
            drive: PowerDrive::new(config, power)?,
            oracle,
            path,
            seed,
            rng: Rng::named(seed, "crash disk"),
            armed: None,
            flights: Vec::new(),
            done: VecDeque::new(),
            history: None,
            last_cut: None,
            dead: false,
        };
        disk.start_history();
        Ok(disk)
    }

    /// A disk in the same state, which goes its own way from here: commands in flight and an armed
    /// cut included. Bytes are shared until they change; a small drive forks in microseconds.
    ///
    /// ```
    /// use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.fua(0, &[1; 512])?;
    /// let mut other = disk.fork();
    /// other.fua(0, &[2; 512])?;
    /// assert_eq!((disk.read(0, 512)?[0], other.read(0, 512)?[0]), (1, 2));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn fork(&self) -> CrashDisk {
        self.clone()
    }

    /// Changes the seed, so that forks of one disk draw differently.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, CutAt, DriveConfig};
    /// let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let at = |seed| {
    ///     let mut fork = disk.fork();
    ///     fork.reseed(seed);
    ///     fork.arm(CutAt::Event(1));
    ///     fork.fua(0, &[1; 512]).unwrap_err()
    /// };
    /// assert_ne!(at(2), at(3));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn reseed(&mut self, seed: u64) {
        self.record(|| HistoryStep::Reseed(seed));
        self.seed = seed;
        self.rng = Rng::named(seed, "crash disk");
    }

    /// Starts the history here: it is replayed from a fork of this state.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.fua(0, &[1; 512])?;
    /// disk.start_history();
    /// disk.flush()?;
    /// assert_eq!(disk.history()?.steps().count(), 1);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn start_history(&mut self) {
        self.history = None;
        self.history = Some(History::new(self.clone()));
    }

    /// Records no history from now on: a little faster, and nothing can be minimised.
    pub fn stop_history(&mut self) {
        self.history = None;
    }

    /// What was done since the history was started.
    ///
    /// # Errors
    /// When none is recorded.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.cut()?;
    /// assert_eq!(disk.history()?.to_string(), "cut\n");
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn history(&self) -> Result<&History<CrashDisk>, CrashError> {
        self.history.as_ref().ok_or(CrashError::NoHistory)
    }

    pub(crate) fn record(&mut self, step: impl FnOnce() -> HistoryStep) {
        if let Some(history) = &mut self.history {
            history.push(step());
        }
    }

    /// Bytes that the host may address.
    pub fn capacity(&self) -> u64 {
        self.drive.config().user_bytes
    }

    /// Virtual time.
    pub fn now(&self) -> Nanos {
        self.drive.now()
    }

    /// Whether the disk has power.
    pub fn is_on(&self) -> bool {
        self.drive.is_on()
    }

    /// The modelled drive: its media, counters, superblocks.
    pub fn drive(&self) -> &PowerDrive {
        &self.drive
    }

    /// The ledger: the writes, by number and oldest first, of which a sector may hold one after a
    /// cut now; zero for no write.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.write(0, &[1; 512])?; // #1
    /// disk.write(0, &[2; 512])?; // #2
    /// assert_eq!(disk.may_read(0), [0, 1, 2]);
    /// disk.flush()?;
    /// assert_eq!(disk.may_read(0), [2]);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn may_read(&self, sector: u64) -> Vec<u64> {
        self.oracle.allowed(sector)
    }

    /// The ledger: the oldest write that a sector may hold after a cut now, and who promised it.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, Promise};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.write(0, &[1; 512])?;
    /// disk.flush()?;
    /// assert_eq!(disk.promised(0), (1, Promise::Flush(2)));
    /// assert_eq!(disk.promised(1), (0, Promise::Factory));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn promised(&self, sector: u64) -> (u64, Promise) {
        self.oracle.promised(sector)
    }

    /// Number of the write that a sector holds now; zero: none.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.write(512, &[1; 512])?;
    /// assert_eq!((disk.holds(0), disk.holds(1)), (0, 1));
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn holds(&self, sector: u64) -> u64 {
        self.drive.sector(sector)
    }

    /// Arms a cut: the call in which it strikes returns [`CrashError::PowerLost`]. A new one
    /// replaces an old one.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, CutAt, DriveConfig, Nanos};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.arm(CutAt::After(Nanos::from_micros(100)));
    /// disk.write(0, &[1; 512])?;
    /// assert!(disk.flush().unwrap_err().is_power());
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn arm(&mut self, cut: CutAt) {
        self.record(|| HistoryStep::Arm(cut));
        self.drive.aim_at(None);
        self.armed = Some(match cut {
            CutAt::After(time) => ArmedCut::At(self.now().saturating_add(time)),
            CutAt::Event(count) => ArmedCut::Event(count, self.rng.below(1000)),
            CutAt::Program(nth) => {
                self.drive.aim_at(Some(nth.max(1)));
                ArmedCut::Program
            }
            CutAt::Recovery(share) => ArmedCut::Recovery(share.min(999)),
        });
    }

    /// Takes back an armed cut that has not struck; true if there was one.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, CutAt, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.arm(CutAt::Program(1000));
    /// assert!(disk.disarm() && !disk.disarm());
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn disarm(&mut self) -> bool {
        self.drive.aim_at(None);
        self.armed.take().is_some()
    }

    /// Cuts the power now: commands in flight are not acknowledged.
    ///
    /// # Errors
    /// When power is off.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.write(0, &[1; 4096])?;
    /// let cut = disk.cut()?;
    /// assert_eq!(cut.buffered, 1);
    /// assert!(disk.cut().is_err());
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn cut(&mut self) -> Result<Cut, CrashError> {
        self.powered()?;
        self.record(|| HistoryStep::Cut);
        let cut_time = self.now();
        while let Some(done) = self.drive.pop_completion(cut_time) {
            self.finish(&done);
        }
        Ok(self.cut_at(cut_time))
    }

    fn cut_at(&mut self, at: Nanos) -> Cut {
        self.disarm();
        self.drive.stir_faults(at.0 ^ self.seed.rotate_left(32));
        let cut = self.drive.cut(at);
        self.flights.clear();
        self.done.clear();
        self.last_cut = Some(cut.clone());
        cut
    }

    /// Switches power on, a second after the drive went dark, waits for the recovery, and reports
    /// every broken promise. The values found are promised from now on.
    ///
    /// # Errors
    /// When power is on; when a cut armed for the recovery, or for an instant in it, strikes.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, CutAt, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.fua(0, &[1; 4096])?;
    /// disk.cut()?;
    /// disk.arm(CutAt::Recovery(500));
    /// let error = disk.power_on().unwrap_err();
    /// assert!(error.to_string().contains("inside recovery"));
    /// disk.power_on()?.assert_kept();
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn power_on(&mut self) -> Result<RecoveryReport, CrashError> {
        if self.dead {
            return Err(CrashError::Dead);
        }
        if self.is_on() {
            return Err(CrashError::On);
        }
        let cut = self.last_cut.clone().unwrap_or_default();
        let dark = self.now().saturating_add(cut.held_up);
        let recovery = self.drive.power_on(dark.saturating_add(OFF));
        self.dead = recovery.dead;
        let report = if self.dead {
            Ok(())
        } else {
            self.wait_for(&recovery)
        };
        let is_over = report.is_ok();
        self.record(|| HistoryStep::PowerOn(is_over));
        report?;
        Ok(self.look(cut, recovery))
    }

    fn wait_for(&mut self, recovery: &Recovery) -> Result<(), CrashError> {
        if let Some(ArmedCut::Recovery(share)) = self.armed {
            let length = recovery.ready.0 - recovery.at.0;
            self.armed = Some(ArmedCut::At(Nanos(
                recovery.at.0 + length / 1000 * u64::from(share),
            )));
        }
        match self.step(recovery.ready) {
            Err(CrashError::PowerLost { at, .. }) => {
                let mut steps = recovery.steps.iter();
                let step = steps.find(|step| step.end > at.0);
                Err(CrashError::PowerLost {
                    at,
                    recovery: Some(step.map_or("end", |step| step.name)),
                })
            }
            other => other.map(|_| ()),
        }
    }

    fn look(&mut self, cut: Cut, recovery: Recovery) -> RecoveryReport {
        let (drive, dead) = (&self.drive, self.dead);
        let per_unit = u64::from(drive.config().shape.slot_bytes) / 512;
        let last: Cell<(u64, Option<&SlotContent>)> = Cell::new((u64::MAX, None));
        let recovered = self.oracle.after_recovery(|sector| {
            let (unit, within) = (sector / per_unit, (sector % per_unit) as usize);
            if last.get().0 != unit {
                let content = (!dead).then(|| drive.content(unit as u32));
                last.set((unit, content.flatten()));
            }
            last.get().1.map_or(0, |content| content.numbers[within])
        });
        RecoveryReport {
            cut,
            recovery,
            sectors: recovered.sectors,
            broken: recovered.broken,
            lost: recovered.lost,
        }
    }

    /// A named stream of random numbers of this disk's seed.
    pub(crate) fn stream(&self, name: &str) -> Rng {
        Rng::named(self.seed, name)
    }

    pub(crate) fn powered(&self) -> Result<(), CrashError> {
        match (self.dead, self.is_on()) {
            (true, _) => Err(CrashError::Dead),
            (false, true) => Ok(()),
            (false, false) => Err(CrashError::Off),
        }
    }

    /// The next completion until a time, unless an armed cut strikes before it.
    pub(crate) fn step(&mut self, until: Nanos) -> Result<Option<Completion>, CrashError> {
        loop {
            let Some(armed) = &self.armed else {
                return Ok(self.drive.pop_completion(until));
            };
            let (next, is_event) = match armed.next(&self.drive, until) {
                NextInstant::Strike(at) => {
                    self.cut_at(at);
                    return Err(CrashError::PowerLost { at, recovery: None });
                }
                NextInstant::Pass(next, is_event) => (next, is_event),
            };
            let completion = self.drive.pop_completion(next);
            if let Some(armed) = self.armed.as_mut().filter(|_| is_event) {
                armed.count();
            }
            if completion.is_some() || next == until {
                return Ok(completion);
            }
        }
    }

    /// Notes a completion in the ledger.
    pub(crate) fn finish(&mut self, done: &Completion) -> Option<InFlightCommand> {
        self.oracle.completed(done.tag);
        self.flights.get_mut(done.tag as usize)?.take()
    }
}
