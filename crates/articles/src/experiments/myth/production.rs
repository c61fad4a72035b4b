//! A server's months on drives that differ in one thing each.
//!
//! All start from the same flash, dies and link: the DC S3700's of 200 GB. The earlier drive has a
//! controller with the habits that the article blames; each remedy takes one away. What is
//! measured at each age, on a fork: the random read throughput under the mixed load.

use super::files::ServerFileSystem;
use super::settings::{EARLIER, FLASH, MythSettings};
use crate::experiments::host::{DriveSelfChecks, ExperimentHost, IntervalStats};
use crate::experiments::scale;
use crate::keys::keys;
use crate::outcome::{CurvePoints, level};
use ssdlab_base::LabError;
use ssdlab_ssd::Op;
use ssdlab_ssd::nand::Purpose;
use std::sync::atomic::AtomicBool;

keys! {
    /// The earlier drive as it is, with one thing made better, or more; all but the flat map; and
    /// the drive that the article's authors bought, without TRIM.
    pub(crate) enum Remedy {
        Earlier = "earlier",
        Trim = "trim",
        Op = "op",
        Flat = "flat",
        TrimFlat = "trim_flat",
        TrimOpFlat = "trim_op_flat",
        Tree = "tree",
        All = "all",
        Bought = "bought",
    }
}

impl Remedy {
    /// Parameters changed of the DC S3700.
    fn set(self) -> Vec<&'static str> {
        const FLAT: &str = "ftl.mapping=flat";
        const OP: &str = "op=32%";
        const SPREAD: &str = "ftl.pace=spread";
        const READ_FIRST: &str = "nand.read_first=true";
        let better: &[&str] = match self {
            Remedy::Earlier | Remedy::Trim => &[],
            Remedy::Op => &[OP],
            Remedy::Flat | Remedy::TrimFlat => &[FLAT],
            Remedy::TrimOpFlat => &[OP, FLAT],
            Remedy::Tree => &[OP, SPREAD, READ_FIRST],
            Remedy::All => &[OP, FLAT, SPREAD, READ_FIRST],
            Remedy::Bought => return Vec::new(),
        };
        EARLIER.iter().chain(better).copied().collect()
    }

    /// Whether the file system sends TRIM for what it deletes.
    fn trims(self) -> bool {
        !matches!(
            self,
            Remedy::Earlier | Remedy::Op | Remedy::Flat | Remedy::Bought
        )
    }
}

/// Commands outstanding.
const DEPTH: u32 = 32;
/// Percentage of reads in the mixed load. Assumed.
const READ_PCT: u32 = 90;
/// Looks per user capacity written.
const LOOKS: u32 = 4;

/// One look at a drive's performance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ProductionSample {
    /// User capacities written since installation.
    pub drive_writes: f64,
    /// Random reads in the mixed load, MB/s.
    pub read_mb_s: f64,
    /// Write amplification factor since the look before.
    pub waf: f64,
    /// Share of the dies' busy time that the map took since the look before.
    pub map_share: f64,
    /// Valid data that the drive holds, its map included, in per cent of the user capacity.
    pub held_pct: f64,
}

/// A drive's months.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProductionHistory {
    pub remedy: Remedy,
    /// Looks, the first just after installation.
    pub ages: Vec<ProductionSample>,
}

impl ProductionHistory {
    /// Random reads in the mixed load at installation, MB/s.
    pub fn new_read_mb_s(&self) -> f64 {
        self.ages.first().map_or(0.0, |age| age.read_mb_s)
    }

    /// The same, mean of the looks during the last user capacity written.
    pub fn old_read_mb_s(&self) -> f64 {
        level(&self.throughput(), LOOKS as usize).unwrap_or(0.0)
    }

    /// Write amplification factor during the last user capacity written.
    pub fn old_waf(&self) -> f64 {
        level(&self.line(|age| age.waf), LOOKS as usize).unwrap_or(0.0)
    }

    /// Random reads in the mixed load, MB/s, over user capacities written.
    pub fn throughput(&self) -> CurvePoints {
        self.line(|age| age.read_mb_s)
    }

    /// The map's share of the dies' busy time, per cent, over user capacities written.
    pub fn map_upkeep(&self) -> CurvePoints {
        self.line(|age| 100.0 * age.map_share)
    }

    fn line(&self, metric: impl Fn(&ProductionSample) -> f64) -> CurvePoints {
        let point = |age: &ProductionSample| (age.drive_writes, metric(age));
        self.ages.iter().map(point).collect()
    }
}

/// A drive's end with another share in use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UsedShareResult {
    /// Random reads in the mixed load in the end, MB/s.
    pub old_read_mb_s: f64,
    /// Valid data that the drive holds in the end, its map included, in per cent of the user
    /// capacity.
    pub held_pct: f64,
}

struct ProductionServer<'a> {
    host: ExperimentHost<'a>,
    files: ServerFileSystem,
}

impl<'a> ProductionServer<'a> {
    fn new(
        remedy: Remedy,
        settings: &MythSettings,
        stop: &'a AtomicBool,
    ) -> Result<ProductionServer<'a>, LabError> {
        let config = settings
            .scale
            .apply(&scale::with(FLASH, &remedy.set())?.config)?;
        let mut host = ExperimentHost::new(config)?.watching(stop);
        let user = host.config().user_bytes;
        let files = ServerFileSystem::new(user, settings.used_pct, remedy.trims(), settings.seed);
        host.run(DEPTH, files.install());
        Ok(ProductionServer { host, files })
    }

    /// Plays the server until it has written `bytes`.
    fn write(&mut self, bytes: u64) -> IntervalStats {
        let mut written = 0;
        let files = &mut self.files;
        let commands = std::iter::from_fn(|| {
            let command = (written < bytes).then(|| files.write())?;
            if command.op == Op::Write {
                written += u64::from(command.len);
            }
            Some(command)
        });
        self.host.run(DEPTH, commands)
    }

    fn look(
        &self,
        drive_writes: f64,
        past: Option<&IntervalStats>,
        probe: u32,
        health: &mut DriveSelfChecks,
    ) -> ProductionSample {
        let mut fork = self.host.clone();
        let mut files = self.files.clone();
        // The first quarter lets the mixed load settle.
        fork.run(DEPTH, files.mixed(probe / 4, READ_PCT));
        let mixed = fork.run(DEPTH, files.mixed(probe, READ_PCT));
        health.add("production", &fork);
        ProductionSample {
            drive_writes,
            read_mb_s: mixed.read_mb_s(),
            waf: past.and_then(|span| span.waf).unwrap_or(1.0),
            map_share: past.map_or(0.0, |span| span.die_share[Purpose::Map as usize]),
            held_pct: self.held_pct(),
        }
    }

    fn held_pct(&self) -> f64 {
        let config = self.host.config();
        let held = self.host.valid_slots().0 * u64::from(config.shape.slot_bytes);
        100.0 * held as f64 / config.user_bytes as f64
    }

    /// Looks at installation and after each share of the writes, the last `last` only.
    fn live(
        &mut self,
        settings: &MythSettings,
        last: u32,
        health: &mut DriveSelfChecks,
    ) -> Vec<ProductionSample> {
        let probe = settings.probe_commands;
        let mut ages = vec![self.look(0.0, None, probe, health)];
        let look_count = settings.drive_writes * LOOKS;
        let share = self.host.config().user_bytes / u64::from(LOOKS);
        for n in 1..=look_count {
            let span = self.write(share);
            if n + last > look_count {
                let drive_writes = f64::from(n) / f64::from(LOOKS);
                ages.push(self.look(drive_writes, Some(&span), probe, health));
            }
        }
        health.add("production", &self.host);
        ages
    }
}

pub(super) fn age(
    remedy: Remedy,
    settings: &MythSettings,
    health: &mut DriveSelfChecks,
    stop: &AtomicBool,
) -> Result<ProductionHistory, LabError> {
    let mut server = ProductionServer::new(remedy, settings, stop)?;
    let ages = server.live(settings, u32::MAX / 2, health);
    Ok(ProductionHistory { remedy, ages })
}

/// Mean of the last two looks.
fn swept(ages: &[ProductionSample]) -> UsedShareResult {
    let last = &ages[ages.len().saturating_sub(2)..];
    let sum: f64 = last.iter().map(|age| age.read_mb_s).sum();
    UsedShareResult {
        old_read_mb_s: sum / last.len() as f64,
        held_pct: last.last().map_or(f64::NAN, |age| age.held_pct),
    }
}

/// The drive of `aged` with each of these percentages in use; a percentage that it had itself is
/// not played again.
pub(super) fn by_used(
    aged: &ProductionHistory,
    used: [u32; 2],
    settings: &MythSettings,
    health: &mut DriveSelfChecks,
    stop: &AtomicBool,
) -> Result<[UsedShareResult; 2], LabError> {
    let mut sweep_at = |used_pct: u32| -> Result<UsedShareResult, LabError> {
        if used_pct == settings.used_pct {
            return Ok(swept(&aged.ages));
        }
        let settings = MythSettings {
            used_pct,
            ..*settings
        };
        let mut server = ProductionServer::new(aged.remedy, &settings, stop)?;
        Ok(swept(&server.live(&settings, 2, health)))
    };
    Ok([sweep_at(used[0])?, sweep_at(used[1])?])
}
