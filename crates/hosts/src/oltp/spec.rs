//! A server and its load, with units and defaults.

use crate::months::TrimSchedule;
use crate::probe::ProbeSpec;
use crate::scenario::within;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;

/// A server and its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OltpSpec {
    /// Transactions offered per second.
    pub offered_s: u32,
    /// Maximum number of transactions under way; others wait.
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
    #[schemars(with = "u64")]
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
    /// When deleted files are trimmed.
    pub trim: TrimSchedule,
    /// Months.
    pub months: u32,
    /// Bytes written each month, as a share of the drive. Unit: %.
    pub monthly_pct: u32,
    /// Share of them that goes to other files. Unit: %.
    pub other_pct: u32,
    /// Length of a window.
    #[serde(rename = "window_ns", serialize_with = "crate::scenario::as_ns")]
    #[schemars(with = "u64")]
    pub window: Nanos,
    /// Measurement on a fork of the drive before each window, over the tables.
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
            trim: TrimSchedule::Never,
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
    /// The spec on a drive of `user_bytes`: on a small one, fewer pages may be dirty.
    pub fn fitted(mut self, user_bytes: u64) -> OltpSpec {
        let (low, high) = self.dirty_pages;
        let most = user_bytes / 16 / u64::from(self.page);
        let high = high.min(u32::try_from(most).unwrap_or(high));
        self.dirty_pages = (low.min(high / 2).max(self.batch), high);
        self
    }

    /// Checks that it can be run on a drive of `user_bytes`.
    ///
    /// # Errors
    /// The first value that is impossible, with those allowed.
    pub fn validate(&self, user_bytes: u64) -> Result<(), LabError> {
        let within =
            |option: &str, given: u32, allowed| within("oltp", option, given.into(), allowed);
        within("--tps", self.offered_s, 1..=1_000_000)?;
        within("--connections", self.connections, 1..=10_000)?;
        within("--reads-per-100", self.reads_per_100, 0..=10_000)?;
        within("--dirtied-per-100", self.dirtied_per_100, 0..=10_000)?;
        within("--tables", self.tables_pct, 5..=90)?;
        within("--used", self.used_pct, self.tables_pct.into()..=97)?;
        within("--months", self.months, 0..=240)?;
        within("--monthly", self.monthly_pct, 1..=10_000)?;
        within("--other", self.other_pct, 0..=99)?;
        within("--read-pct", self.probe.read_pct, 1..=99)?;
        let (low, high) = self.dirty_pages;
        within("dirty pages", low, self.batch.max(1).into()..=high.into())?;
        if self.window == Nanos::ZERO || self.window > Nanos::from_secs(3600) {
            return Err(LabError::bad_option(
                "--window",
                self.window.to_string(),
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
