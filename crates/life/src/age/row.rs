//! A sample of a life: a row of `series.csv`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_drives::cycles::Cycles;
use ssdlab_ssd::CountingDrive;
use ssdlab_view::units;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// A sample.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgeingSample {
    /// Bytes written by the host.
    pub host_bytes: u64,
    /// Virtual days.
    pub days: f64,
    /// NAND bytes programmed / host bytes written, so far.
    pub waf: f64,
    /// Mean cycles of the blocks in use.
    pub cycles_average: f64,
    /// The least worn.
    pub cycles_min: u32,
    /// The most worn.
    pub cycles_max: u32,
    /// Per cent of the rated cycles left on average.
    pub life_left_pct: f64,
    /// Blocks retired.
    pub blocks_retired: u64,
    /// Reserve blocks left.
    pub reserve_left: u32,
    /// Superblocks given up.
    pub superblocks_retired: u64,
    /// Share of NAND writes made by wear levelling.
    pub levelled_share: f64,
    /// Share of NAND writes made by refresh.
    pub refreshed_share: f64,
}

impl AgeingSample {
    /// Sample of the drive's present state.
    pub fn of(drive: &CountingDrive, days: f64) -> AgeingSample {
        let c = drive.counters();
        let slot = f64::from(drive.config().geometry().slot_bytes);
        let nand = c.slots_programmed() as f64;
        let share = |slots: u64| slots as f64 / nand.max(1.0);
        let mut row = AgeingSample {
            host_bytes: c.host_bytes_written,
            days,
            waf: nand * slot / (c.host_bytes_written as f64).max(1.0),
            cycles_average: 0.0,
            cycles_min: 0,
            cycles_max: 0,
            life_left_pct: 100.0,
            blocks_retired: 0,
            reserve_left: 0,
            superblocks_retired: 0,
            levelled_share: share(c.slots_levelled),
            refreshed_share: share(c.slots_refreshed),
        };
        if let Some(wear) = drive.reliability() {
            let cycles = Cycles::of(wear);
            row.cycles_average = cycles.average;
            (row.cycles_min, row.cycles_max) = (cycles.min, cycles.max);
            row.life_left_pct = cycles.left_pct(wear.config().cycles_rated).max(0.0);
            row.blocks_retired = wear.counters().blocks_retired;
            row.superblocks_retired = wear.counters().superblocks_retired;
            row.reserve_left = wear.reserve_left();
        }
        row
    }
}

impl std::fmt::Display for AgeingSample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} written, WAF {:.2}, {:.0} cycles, {:.1} % left, {} blocks retired",
            units::decimal_bytes(self.host_bytes as f64),
            self.waf,
            self.cycles_average,
            self.life_left_pct,
            self.blocks_retired
        )
    }
}

/// First line of the samples as CSV.
const CSV_HEAD: &str = "host_bytes,days,waf,cycles_average,cycles_min,cycles_max,life_left_pct,\
                        blocks_retired,reserve_left,superblocks_retired,levelled_share,\
                        refreshed_share\n";

/// The samples as CSV.
pub fn csv(rows: &[AgeingSample]) -> String {
    let lines = rows.iter().map(csv_line);
    std::iter::once(CSV_HEAD.to_owned()).chain(lines).collect()
}

/// One sample as a line of it.
fn csv_line(r: &AgeingSample) -> String {
    format!(
        "{},{:.3},{:.5},{:.2},{},{},{:.3},{},{},{},{:.6},{:.6}\n",
        r.host_bytes,
        r.days,
        r.waf,
        r.cycles_average,
        r.cycles_min,
        r.cycles_max,
        r.life_left_pct,
        r.blocks_retired,
        r.reserve_left,
        r.superblocks_retired,
        r.levelled_share,
        r.refreshed_share
    )
}

/// `series.csv` during the life, so that it can be watched. At the end it is written
/// whole, and errors are seen.
#[derive(Debug)]
pub struct AgeingSeriesFile(File);

impl AgeingSeriesFile {
    /// Begins a file with the rows so far.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(path: &Path, rows: &[AgeingSample]) -> Result<AgeingSeriesFile, LabError> {
        let failed = |error| LabError::file("writing", path, error);
        let mut file = File::create(path).map_err(failed)?;
        file.write_all(csv(rows).as_bytes()).map_err(failed)?;
        Ok(AgeingSeriesFile(file))
    }

    /// Appends a row.
    pub fn push(&mut self, row: &AgeingSample) {
        let _ = self.0.write_all(csv_line(row).as_bytes());
    }
}
