//! A program, cut at every place, under several seeds.

use crate::cut::CutAt;
use crate::disk::CrashDisk;
use crate::error::CrashError;
use crate::files::CrashFiles;
use crate::report::RecoveryReport;
use std::fmt;

/// What a program can run on and be cut on: a [`CrashDisk`], or [`CrashFiles`] on one. A store of
/// your own around either can be one too.
///
/// ```
/// use ssdlab_crash::{CrashDisk, DriveConfig, CrashMachine};
///
/// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
/// disk.arm_nth(0);
/// assert!(disk.fua(0, &[1; 512]).is_err());
/// # Ok::<(), ssdlab_crash::CrashError>(())
/// ```
pub trait CrashMachine: Clone {
    /// The disk.
    fn disk(&self) -> &CrashDisk;
    /// Changes the seed.
    fn reseed(&mut self, seed: u64);
    /// Arms a cut at the nth place from now, counted from 0.
    fn arm_nth(&mut self, nth: u64);
    /// Cuts the power now.
    ///
    /// # Errors
    /// When power is off.
    fn cut_now(&mut self) -> Result<(), CrashError>;
    /// Switches power on.
    ///
    /// # Errors
    /// When power is on, or a cut strikes in the recovery.
    fn power_on(&mut self) -> Result<RecoveryReport, CrashError>;
}

/// Its places are events of the drive; see [`CutAt::Event`].
impl CrashMachine for CrashDisk {
    fn disk(&self) -> &CrashDisk {
        self
    }

    fn reseed(&mut self, seed: u64) {
        CrashDisk::reseed(self, seed);
    }

    fn arm_nth(&mut self, nth: u64) {
        self.arm(CutAt::Event(nth));
    }

    fn cut_now(&mut self) -> Result<(), CrashError> {
        self.cut().map(drop)
    }

    fn power_on(&mut self) -> Result<RecoveryReport, CrashError> {
        CrashDisk::power_on(self)
    }
}

/// Its places are calls; see [`CrashFiles::arm_call`].
impl CrashMachine for CrashFiles {
    fn disk(&self) -> &CrashDisk {
        CrashFiles::disk(self)
    }

    fn reseed(&mut self, seed: u64) {
        CrashFiles::reseed(self, seed);
    }

    fn arm_nth(&mut self, nth: u64) {
        self.arm_call(nth);
    }

    fn cut_now(&mut self) -> Result<(), CrashError> {
        self.cut()
    }

    fn power_on(&mut self) -> Result<RecoveryReport, CrashError> {
        CrashFiles::power_on(self)
    }
}

/// Who is at fault.
///
/// ```
/// assert_ne!(ssdlab_crash::Blame::Drive, ssdlab_crash::Blame::Program);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The check failed, and the drive kept its promises.
    Program,
    /// The drive broke a promise.
    Drive,
    /// The program failed without a cut.
    Call,
}

/// The first cut that failed. Its `Debug` is its `Display`: `unwrap` prints one line and not the
/// drive's contents.
#[derive(Clone)]
pub struct CutFailure<M> {
    /// Seed.
    pub seed: u64,
    /// Place of the cut.
    pub nth: u64,
    /// Whether the check was cut too, and ran a second time.
    pub nested: bool,
    /// Who is at fault.
    pub blame: Blame,
    /// Text of the check, or the broken promises.
    pub message: String,
    /// Report of the last recovery.
    pub report: RecoveryReport,
    /// Cuts until then, this one included.
    pub cuts: u64,
    /// The machine after the check.
    pub machine: M,
}

impl<M> fmt::Display for CutFailure<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blame = match self.blame {
            Blame::Program => "the drive kept its promises, the program fails",
            Blame::Drive => "the drive broke its promises",
            Blame::Call => "the program fails without a cut",
        };
        let again = if self.nested { " and in the check" } else { "" };
        let (seed, nth, cuts) = (self.seed, self.nth, self.cuts);
        let message = self.message.trim_end();
        write!(
            f,
            "cut {cuts} (seed {seed}, at place {nth}{again}): {blame}: {message}"
        )
    }
}

impl<M> fmt::Debug for CutFailure<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<CrashError> for String {
    fn from(error: CrashError) -> String {
        error.to_string()
    }
}

/// Runs a program on forks of a machine, under seeds from 0 up, cut at every place in turn until
/// it ends uncut; then at the end. After each cut power returns, the drive's promises are judged,
/// and the check runs. Under odd seeds the check, in which a program recovers, is cut as well, and
/// then runs again. Returns the number of cuts.
///
/// `program` notes in its state what it has acknowledged, and `check` compares.
///
/// # Errors
/// The first cut that fails.
///
/// ```
/// use ssdlab_crash::{Blame, CrashDisk, DriveConfig, crash_test};
///
/// let new = CrashDisk::new(DriveConfig::tiny(), 1)?;
/// let write = |disk: &mut CrashDisk, acknowledged: &mut u8| {
///     for value in 1..5 {
///         disk.write(0, &[value; 512])?;
///         *acknowledged = value; // no flush
///     }
///     Ok(())
/// };
/// let failure = crash_test(&new, 1, write, |disk, &acknowledged| {
///     let found = disk.read(0, 512)?[0];
///     if found >= acknowledged { Ok(()) } else { Err(format!("{found} < {acknowledged}")) }
/// });
/// assert_eq!(failure.unwrap_err().blame, Blame::Program);
/// # Ok::<(), ssdlab_crash::CrashError>(())
/// ```
pub fn crash_test<M: CrashMachine, S: Default>(
    new: &M,
    seeds: u64,
    program: impl Fn(&mut M, &mut S) -> Result<(), CrashError>,
    check: impl Fn(&mut M, &S) -> Result<(), String>,
) -> Result<u64, Box<CutFailure<M>>> {
    let mut cuts = 0;
    for seed in 0..seeds {
        for nth in 0.. {
            cuts += 1;
            let mut state = S::default();
            let mut trial = Trial {
                machine: new.clone(),
                seed,
                nth,
                cuts,
                nested: seed % 2 == 1,
                report: RecoveryReport::default(),
            };
            let seed_of_cut = seed << 32 | nth;
            trial.machine.reseed(seed_of_cut);
            trial.machine.arm_nth(nth);
            let ended = match program(&mut trial.machine, &mut state) {
                Ok(()) => true,
                Err(error) if error.is_power() => false,
                Err(error) => return Err(trial.failed(Blame::Call, error.to_string())),
            };
            let is_last = ended && trial.machine.disk().is_on();
            let result = trial.recover().and_then(|()| trial.check(&check, &state));
            if let Err((blame, message)) = result {
                return Err(trial.failed(blame, message));
            }
            if is_last {
                break;
            }
        }
    }
    Ok(cuts)
}

/// One cut.
struct Trial<M> {
    machine: M,
    seed: u64,
    nth: u64,
    cuts: u64,
    nested: bool,
    report: RecoveryReport,
}

type TrialResult = Result<(), (Blame, String)>;

impl<M: CrashMachine> Trial<M> {
    fn failed(self, blame: Blame, message: String) -> Box<CutFailure<M>> {
        Box::new(CutFailure {
            seed: self.seed,
            nth: self.nth,
            nested: self.nested,
            blame,
            message,
            report: self.report,
            cuts: self.cuts,
            machine: self.machine,
        })
    }

    /// Cuts the power if it is still on, and gives it back.
    fn recover(&mut self) -> TrialResult {
        let on = if self.machine.disk().is_on() {
            self.machine.cut_now()
        } else {
            Ok(())
        };
        let report = on.and_then(|()| self.machine.power_on());
        self.report = report.map_err(|error| (Blame::Drive, error.to_string()))?;
        if self.report.is_kept() {
            Ok(())
        } else {
            Err((Blame::Drive, self.report.to_string()))
        }
    }

    fn check<S>(
        &mut self,
        check: &impl Fn(&mut M, &S) -> Result<(), String>,
        state: &S,
    ) -> TrialResult {
        if self.nested {
            // The places of a recovery are few: one of the first.
            self.machine.arm_nth(self.nth * 7 % 23);
            let first = check(&mut self.machine, state);
            if let (Err(message), true) = (first, self.machine.disk().is_on()) {
                return Err((Blame::Program, message));
            }
            self.recover()?;
        }
        check(&mut self.machine, state).map_err(|message| (Blame::Program, message))
    }
}
