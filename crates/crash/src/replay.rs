//! A history done again: in whole, in part, or without the writes that a cut lost.

use crate::disk::CrashDisk;
use crate::error::CrashError;
use crate::history::{History, HistoryStep};
use crate::report::RecoveryReport;
use crate::search::{FailingSet, smallest};
use ssdlab_ssd::command::{Command, Op};
use ssdlab_ssd::drive::power::LostPart;
use ssdlab_ssd::nand::media::Payload;
use std::fmt;

/// A disk after its history was done again.
#[derive(Clone, Debug)]
pub struct ReplayedDisk {
    /// The disk.
    pub disk: CrashDisk,
    /// Reports of its recoveries, in order.
    pub reports: Vec<RecoveryReport>,
}

impl ReplayedDisk {
    /// Fails when a promise was broken: a check for [`History::minimise`].
    ///
    /// # Errors
    /// The first broken promise, in words.
    pub fn kept(&self) -> Result<(), String> {
        match self.reports.iter().find(|report| !report.is_kept()) {
            None => Ok(()),
            Some(report) => Err(report.to_string()),
        }
    }
}

/// The smallest part of a history that still fails.
#[derive(Clone, Debug)]
pub struct MinimalHistory {
    /// Steps that are needed, all of them.
    pub steps: Vec<HistoryStep>,
    /// How they fail.
    pub message: String,
    /// Replays that it took.
    pub replays: usize,
}

impl fmt::Display for MinimalHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            writeln!(f, "{step}")?;
        }
        f.write_str(&self.message)
    }
}

impl History<CrashDisk> {
    /// Does everything again.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig};
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// disk.fua(0, &[1; 512])?;
    /// let mut again = disk.history()?.replay();
    /// assert_eq!(again.disk.read(0, 512)?, disk.read(0, 512)?);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn replay(&self) -> ReplayedDisk {
        let steps: Vec<&HistoryStep> = self.steps().collect();
        self.replay_part(&steps)
    }

    fn replay_part(&self, steps: &[&HistoryStep]) -> ReplayedDisk {
        let mut disk = self.base.fork();
        disk.start_history();
        let mut reports = Vec::new();
        for step in steps {
            // What a missing step has made impossible is passed over.
            if let Ok(Some(report)) = apply(&mut disk, step) {
                reports.push(report);
            }
        }
        ReplayedDisk { disk, reports }
    }

    /// Looks for the smallest part of this history that fails a check, by delta debugging, with at
    /// most `replays_max` replays. `None`: the whole does not fail.
    ///
    /// ```
    /// use ssdlab_crash::{CrashDisk, DriveConfig, ReplayedDisk};
    ///
    /// let mut disk = CrashDisk::with_faults(DriveConfig::tiny(), 1, &["ignores-flush"])?;
    /// for page in 0..50 {
    ///     disk.write(page * 4096, &[7; 4096])?;
    ///     disk.flush()?;
    /// }
    /// disk.cut()?;
    /// assert!(!disk.power_on()?.is_kept());
    /// let minimal = disk.history()?.minimise(1000, |again| again.kept()).unwrap();
    /// assert_eq!(minimal.steps.len(), 4, "a write, a flush, the cut, power on: {minimal}");
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn minimise(
        &self,
        replays_max: usize,
        mut check: impl FnMut(&mut ReplayedDisk) -> Result<(), String>,
    ) -> Option<MinimalHistory> {
        let steps: Vec<&HistoryStep> = self.steps().collect();
        let minimal = smallest(&steps, &[], replays_max, |steps| {
            check(&mut self.replay_part(steps))
        })?;
        Some(MinimalHistory {
            steps: minimal.pieces.into_iter().cloned().collect(),
            message: minimal.message,
            replays: minimal.checks,
        })
    }

    /// Looks for the fewest lost writes without which a check of a program fails: the last cut's
    /// `lost` of its [`RecoveryReport`], fewer and fewer of them, are left out of a history without
    /// that cut. `None`: the check does not fail without all of them, or there was no recovery.
    ///
    /// ```
    /// use ssdlab_crash::{CrashDisk, DriveConfig};
    ///
    /// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// for page in 0..20 {
    ///     disk.write(page * 4096, &[7; 4096])?;
    /// }
    /// disk.cut()?;
    /// let lost = disk.power_on()?.lost;
    /// let found = disk.history()?.smallest_loss(&lost, 100, |disk| {
    ///     let page = disk.read(5 * 4096, 512)?;
    ///     if page[0] == 7 { Ok(()) } else { Err("page 5 is gone".into()) }
    /// });
    /// assert_eq!(found.unwrap().pieces[0].number, 6);
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn smallest_loss(
        &self,
        lost: &[LostPart],
        checks_max: usize,
        mut check: impl FnMut(&mut CrashDisk) -> Result<(), String>,
    ) -> Option<FailingSet<LostPart>> {
        let steps: Vec<&HistoryStep> = self.steps().collect();
        let ons = (0..steps.len()).filter(|&at| matches!(steps[at], HistoryStep::PowerOn(true)));
        let ons: Vec<usize> = ons.collect();
        let (&last, before) = ons.split_last()?;
        let from = before.last().map_or(0, |at| at + 1);
        let base = self.replay_part(&steps[..from]).disk;
        smallest(lost, &[], checks_max, |missing| {
            let mut disk = base.fork();
            for step in &steps[from..last] {
                apply_without(&mut disk, step, missing).map_err(|error| error.to_string())?;
            }
            disk.flush().map_err(|error| error.to_string())?;
            check(&mut disk)
        })
    }
}

/// Does a step again; returns the report of a recovery.
fn apply(disk: &mut CrashDisk, step: &HistoryStep) -> Result<Option<RecoveryReport>, CrashError> {
    match step {
        HistoryStep::Command {
            command,
            bytes,
            waited,
            ..
        } => {
            disk.powered()?;
            if *waited {
                disk.run(command, bytes.clone())?;
            } else {
                let _ = disk.send(command, bytes.clone(), false);
            }
        }
        HistoryStep::Complete => drop(disk.complete()?),
        HistoryStep::Rest(time) => disk.rest(*time)?,
        HistoryStep::Arm(cut) => disk.arm(*cut),
        HistoryStep::Reseed(seed) => disk.reseed(*seed),
        HistoryStep::Cut => drop(disk.cut()?),
        HistoryStep::PowerOn(_) => return disk.power_on().map(Some),
    }
    Ok(None)
}

/// Does a command again, without the parts that are missing.
fn apply_without(
    disk: &mut CrashDisk,
    step: &HistoryStep,
    missing: &[LostPart],
) -> Result<(), CrashError> {
    let HistoryStep::Command {
        number,
        command,
        bytes,
        ..
    } = step
    else {
        return Ok(());
    };
    if command.op == Op::Read {
        return Ok(());
    }
    let of_command = missing.iter().filter(|part| part.number == *number);
    let units: Vec<u64> = of_command.map(|part| part.unit).collect();
    if units.is_empty() {
        return disk.run(command, bytes.clone());
    }
    let slot_bytes = u64::from(disk.drive().config().shape.slot_bytes);
    let end = command.offset + u64::from(command.len);
    let mut position = command.offset;
    while position < end {
        let unit = position / slot_bytes;
        let until = end.min((unit + 1) * slot_bytes);
        if !units.contains(&unit) {
            let part = Command {
                offset: position,
                len: (until - position) as u32,
                ..*command
            };
            let from = (position - command.offset) as usize..(until - command.offset) as usize;
            let bytes = bytes.as_ref().map(|bytes| Payload::from(bytes.part(from)));
            disk.run(&part, bytes)?;
        }
        position = until;
    }
    Ok(())
}
