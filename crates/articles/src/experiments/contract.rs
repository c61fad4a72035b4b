//! Article zil: what a log device promises, with the power cut.
//!
//! The intent log of [`ssdlab_hosts::zil`] writes a log device that keeps its contents. At a random
//! moment its power is cut; after recovery every chain is replayed as ZFS would. A write that had
//! been acknowledged and is not found is lost. The oracle of the drive checks every sector besides.
//! Then a new host begins on the same device, until the next cut.

use crate::keys::{ExperimentKey, keys};
use crate::number::number;
use crate::outcome::{Experiment, ExperimentInfo, ExperimentOutcome, ExperimentSetup, stopped};
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::sized;
use ssdlab_hosts::zil::chain::LogBlock;
use ssdlab_hosts::zil::host::HostModel;
use ssdlab_hosts::zil::replay::replay;
use ssdlab_hosts::zil::{LogHost, ZfsPreset};
use ssdlab_ssd::drive::power::{Fault, FaultKind, Oracle, Power, PowerDrive};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Nanos, Op};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// Cuts of each drive.
const CUTS: u64 = 60;
/// Bytes of each drive: small, so that it is written over and over.
const SIZE: u64 = 64 << 20;
/// Longest run of a host between two cuts.
const LIFE_MAX_NS: u64 = 400_000_000;
/// Between a cut and power's return.
const OFF: Nanos = Nanos::from_secs(1);
const WRITERS: usize = 3;

keys! {
    /// A drive of the article (the X25-M and X25-E without, the 320 with capacitors, the X1), or a
    /// fault that makes one break its promise.
    pub(crate) enum LogDeviceCase {
        X25m = "intel-x25m-g2-80gb",
        X25e = "intel-x25e-32gb",
        I320 = "intel-320-40gb",
        X1 = "ddrdrive-x1",
        IgnoresFlush = "ignores-flush",
        CapacitorFailed = "capacitor-failed",
    }

    pub(crate) enum LogLossCount {
        Lost = "lost",
        BadCuts = "bad_cuts",
        Unpromised = "unpromised",
    }

    pub(crate) enum ContractMeasure {
        HonestLost = "honest_lost",
        HonestBroken = "honest_broken",
        ;
        Of((LogDeviceCase, LogLossCount)) = "{}",
    }
}

pub(crate) static CONTRACT: Experiment<ContractMeasure> = Experiment {
    about: ExperimentInfo {
        name: "zil.contract",
        what: "three synchronous writers on log devices of 64 MiB whose power is cut at random; \
               after each recovery every log is replayed",
        weight: 6,
    },
    run,
};

impl LogDeviceCase {
    /// The drive, and its fault.
    fn case(self) -> (String, Option<FaultKind>) {
        match self {
            LogDeviceCase::IgnoresFlush => {
                (LogDeviceCase::X25m.name(), Some(FaultKind::IgnoresFlush))
            }
            LogDeviceCase::CapacitorFailed => {
                (LogDeviceCase::I320.name(), Some(FaultKind::CapacitorFailed))
            }
            honest => (honest.name(), None),
        }
    }
}

/// Losses in the cuts of some drives.
#[derive(Clone, Copy, Debug, Default)]
struct LogLossTally {
    cuts: u64,
    /// Synchronous writes acknowledged.
    acknowledged: u64,
    /// Of these, those that no replay finds.
    lost: u64,
    /// Cuts after which any was lost.
    bad_cuts: u64,
    /// Blocks handed over, never acknowledged, and gone: what a cut may take.
    unpromised: u64,
    /// Promises broken by the oracle's account, in sectors.
    broken: u64,
    /// Cuts after which the log had lost what the oracle did not miss.
    unexplained: u64,
}

impl LogLossTally {
    fn add(&mut self, tally: LogLossTally) {
        self.cuts += tally.cuts;
        self.acknowledged += tally.acknowledged;
        self.lost += tally.lost;
        self.bad_cuts += tally.bad_cuts;
        self.unpromised += tally.unpromised;
        self.broken += tally.broken;
        self.unexplained += tally.unexplained;
    }

    fn text(&self) -> String {
        let n = |count: u64| number(count as f64);
        format!(
            "{} of {} in {} cuts",
            n(self.lost),
            n(self.acknowledged),
            n(self.cuts)
        )
    }
}

/// A log device, its oracle, and which write each block was last written by.
struct LogDeviceUnderTest {
    drive: PowerDrive,
    oracle: Oracle,
    written: BTreeMap<u64, (u64, u64)>,
}

impl LogDeviceUnderTest {
    fn new(who: LogDeviceCase, seed: u64) -> Result<LogDeviceUnderTest, LabError> {
        let (name, fault) = who.case();
        let faults = fault.map(|kind| Fault {
            kind,
            per_mille: 1000,
            seed,
        });
        let power = Power::with_faults(faults.into_iter().collect());
        let drive = small_drive(&name, SIZE, power)?;
        let config = drive.config();
        let oracle = Oracle::new(config.shape.slot_bytes, config.buffer.completes_durably());
        Ok(LogDeviceUnderTest {
            drive,
            oracle,
            written: BTreeMap::new(),
        })
    }

    /// Runs a host on the device for `life`.
    fn live(&mut self, host: &mut LogHost, life: Nanos) {
        let start = self.drive.now().max(self.drive.ready());
        let mut elapsed = Nanos::ZERO;
        let mut issues = Vec::new();
        while elapsed < life {
            host.poll(elapsed, &mut issues);
            for issue in issues.drain(..) {
                let submitted_at = start + elapsed;
                let number = self
                    .drive
                    .submit(issue.tag, &issue.command, None, submitted_at);
                self.oracle.submitted(issue.tag, number, &issue.command);
                if issue.command.op == Op::Write {
                    let len = u64::from(issue.command.len);
                    self.written.insert(issue.command.offset, (len, number));
                }
            }
            let wake = host.wake().unwrap_or(Nanos::MAX).min(life);
            elapsed = match self.drive.pop_completion(start + wake) {
                Some(completion) => {
                    self.oracle.completed(completion.tag);
                    let completed_at = completion.done.saturating_sub(start);
                    host.completed(completion.tag, completed_at);
                    completed_at
                }
                None => wake,
            };
        }
    }

    /// Whether the device holds what was last written to a block.
    fn kept(&self, block: &LogBlock) -> bool {
        let first = block.extent.offset;
        self.written.get(&first).is_some_and(|&(len, number)| {
            let mut sectors = first / 512..(first + len) / 512;
            sectors.all(|sector| self.drive.sector(sector) == number)
        })
    }

    /// Cuts the power, brings it back, and checks every log and sector.
    fn cut(&mut self, host: &LogHost) -> Result<LogLossTally, String> {
        let cut = self.drive.cut(self.drive.now());
        let recovery = self.drive.power_on(cut.at + cut.held_up + OFF);
        self.drive.check()?;
        while self.drive.pop_completion(recovery.ready).is_some() {}
        let mut tally = LogLossTally {
            cuts: 1,
            acknowledged: host.counts().writes,
            ..LogLossTally::default()
        };
        for chain in host.chains() {
            tally.lost += replay(chain, |block| self.kept(block)).acknowledged_lost;
            let loose = chain.blocks().filter(|b| b.issued && !b.acknowledged);
            tally.unpromised += loose.filter(|b| !self.kept(b)).count() as u64;
        }
        tally.bad_cuts = u64::from(tally.lost > 0);
        let drive = &self.drive;
        let report = self.oracle.after_recovery(|sector| drive.sector(sector));
        tally.broken = report.broken.len() as u64;
        tally.unexplained = u64::from(tally.lost > 0 && tally.broken == 0);
        Ok(tally)
    }
}

/// A drive of the catalogue made small, with a power switch.
pub(super) fn small_drive(name: &str, bytes: u64, power: Power) -> Result<PowerDrive, LabError> {
    let entry = catalogue::drive(name)?;
    let mut config = sized(&entry.config, bytes)?.config;
    if entry.config.buffer.hold_bytes >= entry.config.user_bytes {
        // A drive of DRAM stays one.
        config.buffer.hold_bytes = bytes;
        config.buffer.bytes = bytes + entry.config.buffer.bytes - entry.config.user_bytes;
    }
    PowerDrive::new(config, power)
        .map_err(|error| LabError::refused(error.to_string(), "see `ssdlab drives show`"))
}

fn campaign(
    who: LogDeviceCase,
    cuts: u64,
    setup: &ExperimentSetup<'_>,
) -> Result<(LogLossTally, Result<(), String>), LabError> {
    let mut device = LogDeviceUnderTest::new(who, setup.seed)?;
    let mut rng = Rng::named(setup.seed, "zil contract");
    let mut sum = LogLossTally::default();
    for cut in 0..cuts {
        if setup.stop.load(Ordering::Relaxed) {
            return Err(stopped());
        }
        let preset = if cut.is_multiple_of(2) {
            ZfsPreset::V2010
        } else {
            ZfsPreset::V2_1
        };
        let spec = preset.host(WRITERS, WRITERS, SIZE, setup.seed ^ cut)?;
        let mut host = LogHost::new(spec);
        device.live(&mut host, Nanos(1_000_000 + rng.below(LIFE_MAX_NS)));
        match device.cut(&host) {
            Ok(tally) => sum.add(tally),
            Err(what) => return Ok((sum, Err(format!("cut {cut}: {what}")))),
        }
    }
    Ok((sum, Ok(())))
}

/// Cuts the power of every drive many times.
fn run(setup: &ExperimentSetup<'_>) -> Result<ExperimentOutcome<ContractMeasure>, LabError> {
    let mut outcome = ExperimentOutcome::new();
    let (mut honest, mut unexplained) = (LogLossTally::default(), 0);
    for who in LogDeviceCase::all() {
        let (tally, check) = campaign(who, CUTS, setup)?;
        outcome.check(format!("{} after each recovery", who.name()), check);
        outcome.text(ContractMeasure::Of((who, LogLossCount::Lost)), tally.text());
        for (count, value) in [
            (LogLossCount::Lost, tally.lost),
            (LogLossCount::BadCuts, tally.bad_cuts),
            (LogLossCount::Unpromised, tally.unpromised),
        ] {
            outcome.value(ContractMeasure::Of((who, count)), value as f64);
        }
        unexplained += tally.unexplained;
        if who.case().1.is_none() {
            honest.add(tally);
        }
    }
    let check = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
    let tested = check(
        honest.unpromised > 0,
        "no cut took anything: nothing was put to the test",
    );
    outcome.check("cuts took what was not acknowledged", tested);
    let agreed = check(
        unexplained == 0,
        "the log lost what the drive's oracle did not miss",
    );
    outcome.check("the oracle explains every loss", agreed);
    outcome.value(ContractMeasure::HonestLost, honest.lost as f64);
    outcome.text(ContractMeasure::HonestLost, honest.text());
    outcome.value(ContractMeasure::HonestBroken, honest.broken as f64);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn tally(who: LogDeviceCase, cuts: u64) -> LogLossTally {
        let setup = ExperimentSetup {
            seed: 3,
            stop: &AtomicBool::new(false),
            aged: None,
        };
        let (tally, check) = campaign(who, cuts, &setup).unwrap();
        check.unwrap();
        tally
    }

    #[test]
    fn an_honest_drive_loses_only_what_was_not_acknowledged() {
        let found = tally(LogDeviceCase::X25m, 4);
        assert!(found.acknowledged > 20 && found.unpromised > 0, "{found:?}");
        assert_eq!((found.lost, found.bad_cuts, found.broken), (0, 0, 0));
    }

    #[test]
    fn a_drive_that_ignores_flush_loses_what_was_acknowledged() {
        let found = tally(LogDeviceCase::IgnoresFlush, 4);
        assert!(found.lost > 0 && found.bad_cuts > 0, "{found:?}");
        assert!(found.broken > 0, "the oracle sees it too: {found:?}");
    }

    #[test]
    fn the_article_is_right_about_every_drive() {
        let setup = ExperimentSetup {
            seed: 1,
            stop: &AtomicBool::new(false),
            aged: None,
        };
        let found = run(&setup).unwrap();
        let of = |measure| found.get(measure).unwrap();
        assert_eq!(of(ContractMeasure::HonestLost), 0.0);
        assert_eq!(of(ContractMeasure::HonestBroken), 0.0);
        for fault in [LogDeviceCase::IgnoresFlush, LogDeviceCase::CapacitorFailed] {
            assert!(
                of(ContractMeasure::Of((fault, LogLossCount::Lost))) > 0.0,
                "{fault:?}"
            );
            let kind = fault.case().1.unwrap();
            assert_eq!(kind.info().name, fault.name());
        }
        let failed = found
            .finish()
            .checks
            .into_iter()
            .find(|check| check.1.is_some());
        assert!(failed.is_none(), "{failed:?}");
    }
}
