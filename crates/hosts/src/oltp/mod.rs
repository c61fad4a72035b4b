//! A database under transactions, as MySQL with InnoDB loads a drive, over months.
//!
//! ```text
//! arrivals -> connection -> page reads (not in the buffer pool), one after another -> CPU
//!          -> pages made dirty, log record -> group commit: log write, flush -> committed
//! page cleaner: a batch of the oldest dirty pages -> doublewrite area -> flush -> in place
//!          -> flush
//! other files (binary logs, dumps, temporary tables): written in turn, the oldest deleted
//! ```
//! A window of transactions is measured on a new drive and then once a month; between windows the
//! month's writing is made up for at full speed (page writes in place and other files, in the
//! shares of the spec), since what ages a drive is what was written and not the time.
//!
//! Left out: the server's locks and its CPUs, changes of the tables' size, skew of the pages (the
//! buffer pool takes the hottest), checkpoints, backups' reads.

mod age;
mod engine;
pub mod show;
#[cfg(test)]
mod tests;

use super::months::Trim;
use super::probe::{Probe, ProbeSpec};
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::check::Check;
use ssdlab_ssd::{DriveConfig, Nanos};
use std::sync::atomic::AtomicBool;

/// A server and its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OltpSpec {
    /// Transactions offered per second.
    pub offered_s: u32,
    /// Transactions at work at once; more wait.
    pub connections: u32,
    /// Bytes of a page.
    pub page: u32,
    /// Page reads of 100 transactions.
    pub reads_per_100: u32,
    /// Pages made dirty by 100 transactions.
    pub dirtied_per_100: u32,
    /// Bytes of log of each transaction.
    pub log_bytes: u32,
    /// CPU time of each transaction.
    #[serde(rename = "cpu_ns", serialize_with = "crate::scenario::as_ns")]
    pub cpu: Nanos,
    /// Flushes reach the drive: a commit waits for one (innodb_flush_log_at_trx_commit = 1), and
    /// so does the page cleaner. Without: as behind a RAID card with a battery of its own.
    pub flushes: bool,
    /// Pages go to the doublewrite area first (innodb_doublewrite).
    pub doublewrite: bool,
    /// Pages written at once.
    pub batch: u32,
    /// Dirty pages from which batches are written, and at which transactions wait.
    pub dirty_pages: (u32, u32),
    /// Tables, as a share of the drive. Unit: %.
    pub tables_pct: u32,
    /// Tables and all other files, as a share of the drive. Unit: %.
    pub used_pct: u32,
    /// What the drive is told of deleted files.
    pub trim: Trim,
    /// Months.
    pub months: u32,
    /// Bytes written each month, as a share of the drive. Unit: %.
    pub monthly_pct: u32,
    /// Share of them that goes to other files. Unit: %.
    pub other_pct: u32,
    /// Length of a window.
    #[serde(rename = "window_ns", serialize_with = "crate::scenario::as_ns")]
    pub window: Nanos,
    /// What is measured on a fork of the drive before each window, over the tables.
    pub probe: ProbeSpec,
    /// Seed.
    pub seed: u64,
}

impl Default for OltpSpec {
    /// * 15,000 transactions a second: article myth (`myth.tps`); 70 % used: `myth.full70`.
    /// * Pages of 16 KiB, doublewrite, batches of 64 pages (1 MiB), a flush with each group of
    ///   commits: InnoDB's defaults.
    /// * One page read for two transactions, one page made dirty for ten, 500 B of log, 100 us of
    ///   CPU, 64 connections, twice the drive's capacity written a month, 30 % of it to other
    ///   files, half of the drive tables: assumed, so that a new drive of article myth's time has
    ///   some, but not much, room above 15,000.
    fn default() -> OltpSpec {
        OltpSpec {
            offered_s: 15_000,
            connections: 64,
            page: 16 << 10,
            reads_per_100: 50,
            dirtied_per_100: 10,
            log_bytes: 500,
            cpu: Nanos::from_micros(100),
            flushes: true,
            doublewrite: true,
            batch: 64,
            dirty_pages: (256, 4096),
            tables_pct: 50,
            used_pct: 70,
            trim: Trim::Never,
            months: 6,
            monthly_pct: 200,
            other_pct: 30,
            window: Nanos::from_secs(5),
            probe: ProbeSpec {
                block: 16 << 10,
                ..ProbeSpec::default()
            },
            seed: 1,
        }
    }
}

impl OltpSpec {
    /// Whether it can be run on a drive of `user_bytes`.
    ///
    /// # Errors
    /// What is impossible.
    pub fn validate(&self, user_bytes: u64) -> Result<(), LabError> {
        let within = |option: &str, given: u32, least: u32, most: u32| {
            if (least..=most).contains(&given) {
                return Ok(());
            }
            Err(LabError::bad_option(
                option,
                &given.to_string(),
                &format!("{least} to {most} is allowed"),
                "see `ssdlab oltp --help`",
            ))
        };
        within("--tps", self.offered_s, 1, 1_000_000)?;
        within("--connections", self.connections, 1, 10_000)?;
        within("--reads-per-100", self.reads_per_100, 0, 10_000)?;
        within("--dirtied-per-100", self.dirtied_per_100, 0, 10_000)?;
        within("--tables", self.tables_pct, 5, 90)?;
        within("--used", self.used_pct, self.tables_pct, 97)?;
        within("--months", self.months, 0, 240)?;
        within("--monthly", self.monthly_pct, 1, 10_000)?;
        within("--other", self.other_pct, 0, 99)?;
        within("--read-pct", self.probe.read_pct, 1, 99)?;
        let (low, high) = self.dirty_pages;
        within("dirty pages", low, self.batch.max(1), high)?;
        if self.window == Nanos::ZERO || self.window > Nanos::from_secs(3600) {
            return Err(LabError::bad_option(
                "--window",
                &self.window.to_string(),
                "up to an hour is allowed, not zero",
                "try --window 5s",
            ));
        }
        let least = 16 * u64::from(high) * u64::from(self.page);
        if user_bytes < least {
            return Err(LabError::refused(
                format!(
                    "a drive of {user_bytes} bytes for a database with up to {high} dirty pages: \
                     at least {least} bytes are needed"
                ),
                "choose a larger --capacity",
            ));
        }
        Ok(())
    }
}

/// A second, or what is left of one, of a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Second {
    /// Month of the window.
    pub month: u32,
    /// End, seconds since the window began.
    pub t_s: f64,
    /// Transactions committed.
    pub transactions: u64,
    /// Half of them took no longer, ns.
    pub p50_ns: u64,
    /// 99 %.
    pub p99_ns: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
}

/// A window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Window {
    /// Months before it.
    pub month: u32,
    /// Transactions committed per second.
    pub tps: f64,
    /// Half of the transactions took no longer, waiting for a connection included, ns.
    pub p50_ns: u64,
    /// 99 %.
    pub p99_ns: u64,
    /// 99.9 %.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Offered and not even begun, because a second's worth was waiting already.
    pub refused: u64,
    /// Bytes read per second.
    pub read_bytes_s: f64,
    /// 99 % of the page reads took no longer, ns.
    pub read_p99_ns: u64,
    /// Bytes written per second: log, doublewrite, pages, other files.
    pub write_bytes_s: f64,
    /// Group commits per second.
    pub groups_s: f64,
    /// NAND bytes programmed / host bytes written in the window.
    pub waf: Option<f64>,
    /// The same while the month before was made up for.
    pub waf_month: Option<f64>,
    /// Share of the drive that it takes for valid data.
    pub mapped_share: f64,
    /// Measured on a fork.
    pub probe: Probe,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Oltp {
    /// As run.
    pub spec: OltpSpec,
    /// A window for each month, from 0.
    pub windows: Vec<Window>,
    /// Over time.
    pub seconds: Vec<Second>,
    /// Bytes written by the host in all.
    pub host_bytes: u64,
    /// Ended before its last month.
    pub stopped: bool,
    /// Self-checks.
    pub checks: Vec<Check>,
}

/// Lives the months on a new drive.
///
/// # Errors
/// When spec or drive is impossible, or a probe fails its self-check.
pub fn run(spec: &OltpSpec, drive: &DriveConfig) -> Result<Oltp, LabError> {
    run_until(spec, drive, &AtomicBool::new(false))
}

/// The same until its end or until `stop` is set: the windows of whole months are the result.
///
/// # Errors
/// As [`run`].
pub fn run_until(
    spec: &OltpSpec,
    drive: &DriveConfig,
    stop: &AtomicBool,
) -> Result<Oltp, LabError> {
    spec.validate(drive.user_bytes)?;
    age::Life::new(spec, drive)?.run(stop)
}
