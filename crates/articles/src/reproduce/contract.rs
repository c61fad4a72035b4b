//! Article zil: what a log device promises, with the power cut.
//!
//! The intent log of [`ssdlab_hosts::zil`] writes a log device that remembers. At a random moment
//! its power is cut; after recovery every chain is replayed as ZFS would. A write that had been
//! acknowledged and is not found is lost. Beside it the oracle of the drive looks at every
//! sector. Then a new host begins on the same device, until the next cut.

use super::experiment::{Outcome, Setup, stopped};
use super::figures::number;
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::sized;
use ssdlab_hosts::zil::chain::Block;
use ssdlab_hosts::zil::host::HostModel;
use ssdlab_hosts::zil::replay::replay;
use ssdlab_hosts::zil::{LogHost, Preset};
use ssdlab_ssd::drive::power::{Fault, FaultKind, Oracle, Power, PowerDrive};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Nanos, Op};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// Cuts of each drive.
const CUTS: u64 = 60;
/// Bytes of each drive: small, so that it is written over and over.
const SIZE: u64 = 64 << 20;
/// A host lives for this long at most.
const LIFE_MAX_NS: u64 = 400_000_000;
/// Between a cut and power's return.
const OFF: Nanos = Nanos::from_secs(1);
const WRITERS: usize = 3;

/// A drive of the article (the X25-M and X25-E without, the 320 with capacitors, the X1), and two
/// that do not keep to it.
struct Case {
    drive: &'static str,
    fault: Option<FaultKind>,
}

const fn case(drive: &'static str, fault: Option<FaultKind>) -> Case {
    Case { drive, fault }
}

const CASES: [Case; 6] = [
    case("intel-x25m-g2-80gb", None),
    case("intel-x25e-32gb", None),
    case("intel-320-40gb", None),
    case("ddrdrive-x1", None),
    case("intel-x25m-g2-80gb", Some(FaultKind::IgnoresFlush)),
    case("intel-320-40gb", Some(FaultKind::CapacitorFailed)),
];

/// What the cuts of some drives did.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
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

impl Tally {
    fn add(&mut self, other: Tally) {
        self.cuts += other.cuts;
        self.acknowledged += other.acknowledged;
        self.lost += other.lost;
        self.bad_cuts += other.bad_cuts;
        self.unpromised += other.unpromised;
        self.broken += other.broken;
        self.unexplained += other.unexplained;
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
struct Device {
    drive: PowerDrive,
    oracle: Oracle,
    written: BTreeMap<u64, (u64, u64)>,
}

impl Device {
    fn new(case: &Case, seed: u64) -> Result<Device, LabError> {
        let entry = catalogue::drive(case.drive)?;
        let mut config = sized(&entry.config, SIZE)?.config;
        if entry.config.buffer.hold_bytes >= entry.config.user_bytes {
            // A drive of DRAM stays one.
            config.buffer.hold_bytes = SIZE;
            config.buffer.bytes = SIZE + entry.config.buffer.bytes - entry.config.user_bytes;
        }
        let slot_bytes = config.shape.slot_bytes;
        let protected = config.buffer.protected;
        let faults = case.fault.map(|kind| Fault {
            kind,
            per_mille: 1000,
            seed,
        });
        let power = Power {
            faults: faults.into_iter().collect(),
            ..Power::default()
        };
        let drive = PowerDrive::new(config, power)
            .map_err(|error| LabError::refused(error.to_string(), "see `ssdlab drives show`"))?;
        Ok(Device {
            drive,
            oracle: Oracle::new(slot_bytes, protected),
            written: BTreeMap::new(),
        })
    }

    /// Lets a host live on the device for `life`.
    fn live(&mut self, host: &mut LogHost, life: Nanos) {
        let start = self.drive.now().max(self.drive.ready());
        let mut now = Nanos::ZERO;
        let mut issues = Vec::new();
        while now < life {
            host.poll(now, &mut issues);
            for issue in issues.drain(..) {
                let at = start + now;
                let number = self.drive.submit(issue.tag, &issue.command, None, at);
                self.oracle.submitted(issue.tag, number, &issue.command);
                if issue.command.op == Op::Write {
                    let len = u64::from(issue.command.len);
                    self.written.insert(issue.command.offset, (len, number));
                }
            }
            let wake = host.wake().unwrap_or(Nanos::MAX).min(life);
            now = match self.drive.pop_completion(start + wake) {
                Some(done) => {
                    self.oracle.completed(done.tag);
                    let at = done.done.saturating_sub(start);
                    host.completed(done.tag, at);
                    at
                }
                None => wake,
            };
        }
    }

    /// Whether the device holds what was last written to a block.
    fn kept(&self, block: &Block) -> bool {
        let first = block.extent.offset;
        self.written.get(&first).is_some_and(|&(len, number)| {
            let mut sectors = first / 512..(first + len) / 512;
            sectors.all(|sector| self.drive.sector(sector) == number)
        })
    }

    /// Cuts the power, brings it back, and looks at what is left.
    fn cut(&mut self, host: &LogHost) -> Result<Tally, String> {
        let cut = self.drive.cut(self.drive.now());
        let recovery = self.drive.power_on(cut.at + cut.held_up + OFF);
        self.drive.check()?;
        while self.drive.pop_completion(recovery.ready).is_some() {}
        let mut tally = Tally {
            cuts: 1,
            acknowledged: host.counts().writes,
            ..Tally::default()
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

fn campaign(
    case: &Case,
    cuts: u64,
    setup: &Setup<'_>,
) -> Result<(Tally, Result<(), String>), LabError> {
    let mut device = Device::new(case, setup.seed)?;
    let mut rng = Rng::named(setup.seed, "zil contract");
    let mut sum = Tally::default();
    for cut in 0..cuts {
        if setup.stop.load(Ordering::Relaxed) {
            return Err(stopped());
        }
        let preset = if cut.is_multiple_of(2) {
            Preset::V2010
        } else {
            Preset::V2_1
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
///
/// # Errors
/// When a drive is not in the catalogue or not possible that small, or the run is stopped.
pub fn run(setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let mut outcome = Outcome::default();
    let (mut honest, mut named) = (Tally::default(), BTreeMap::new());
    for case in &CASES {
        let (tally, check) = campaign(case, CUTS, setup)?;
        let fault = case.fault.map(|kind| kind.info().name);
        let who = fault.unwrap_or(case.drive);
        outcome.check(format!("{who} after each recovery"), check);
        outcome.texts.insert(format!("{who}_lost"), tally.text());
        outcome.value(format!("{who}_lost"), tally.lost as f64);
        outcome.value(format!("{who}_bad_cuts"), tally.bad_cuts as f64);
        outcome.value(format!("{who}_unpromised"), tally.unpromised as f64);
        if fault.is_some() {
            named.insert(who, tally);
        } else {
            honest.add(tally);
        }
    }
    let had_to_lose = if honest.unpromised > 0 {
        Ok(())
    } else {
        Err("no cut took anything: nothing was put to the test".into())
    };
    outcome.check("cuts took what was not acknowledged", had_to_lose);
    let unexplained = honest.unexplained + named.values().map(|t| t.unexplained).sum::<u64>();
    let all_agree = if unexplained == 0 {
        Ok(())
    } else {
        Err("the log lost what the drive's oracle did not miss".into())
    };
    outcome.check("the oracle explains every loss", all_agree);
    outcome.value("honest_lost", honest.lost as f64);
    outcome.texts.insert("honest_lost".into(), honest.text());
    outcome.value("honest_broken", honest.broken as f64);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn tally(case: &Case, cuts: u64) -> Tally {
        let setup = Setup {
            seed: 3,
            stop: &AtomicBool::new(false),
            aged: None,
        };
        let (tally, check) = campaign(case, cuts, &setup).unwrap();
        check.unwrap();
        tally
    }

    #[test]
    fn an_honest_drive_loses_only_what_was_not_acknowledged() {
        let found = tally(&CASES[0], 4);
        assert!(found.acknowledged > 20 && found.unpromised > 0, "{found:?}");
        assert_eq!((found.lost, found.bad_cuts, found.broken), (0, 0, 0));
    }

    #[test]
    fn a_drive_that_ignores_flush_loses_what_was_acknowledged() {
        let found = tally(&CASES[4], 4);
        assert!(found.lost > 0 && found.bad_cuts > 0, "{found:?}");
        assert!(found.broken > 0, "the oracle sees it too: {found:?}");
    }

    #[test]
    fn the_article_is_right_about_every_drive() {
        let setup = Setup {
            seed: 1,
            stop: &AtomicBool::new(false),
            aged: None,
        };
        let found = run(&setup).unwrap();
        println!("{:#?} {:#?}", found.texts, found.values);
        let failed = found.checks.iter().find(|check| check.1.is_some());
        assert!(failed.is_none(), "{failed:?}");
        assert!(found.values["honest_lost"] == 0.0 && found.values["honest_broken"] == 0.0);
        for fault in ["ignores-flush", "capacitor-failed"] {
            assert!(found.values[&format!("{fault}_lost")] > 0.0, "{fault}");
        }
    }
}
