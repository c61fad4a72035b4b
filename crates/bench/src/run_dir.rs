//! A run directory: everything a run was and measured, in files that other tools can read.
//!
//! | file                     | what                                              | written     |
//! |--------------------------|---------------------------------------------------|-------------|
//! | `run.json`               | [`RunHeader`]: plan, target, seed, arguments      | before      |
//! | `series.csv`             | one row per second, all jobs together ([`Second`])| each second |
//! | `histograms/latency.csv` | each second's histograms, one row per bucket      | each second |
//! | `result.json`            | [`RunResult`]: totals, checks, steady state, cliff| at the end  |
//! | `series.parquet`         | `series.csv` again, in columns with types         | at the end  |
//!
//! The CSV files at the top of a run directory have one set of columns, the same for every run: a
//! glob over them, or over those of many runs, is one table. Histograms have other columns and
//! therefore a folder of their own; version 1 of the format had them as `histograms.csv`.
//!
//! The first three exist before the first command is sent, so that an unwritable place is found
//! in the first second. Rows are flushed every second: a killed run is readable up to its last
//! whole row. `result.json` is renamed into place, so it is whole or absent.
//!
//! [`Second`]: crate::record::Second

mod columns;
mod csv;
#[cfg(feature = "parquet")]
mod parquet;
mod reader;
mod result;
#[cfg(test)]
mod tests;
mod writer;

pub use columns::write_columns;
pub use csv::HistogramRow;
pub use reader::RunDir;
pub use result::{
    CheckRow, JobResult, LatencySummary, OpResult, Percentile, PhaseResult, RunResult,
};
pub use writer::{Existing, RunWriter, write_bytes, write_json, write_text};

use crate::device::TargetFacts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_load::plan::WorkloadPlan;

/// Version of all files; raised when a reader of the old ones would go wrong. All versions up to
/// this one are read.
pub const FORMAT_VERSION: u32 = 2;

const RUN_FILE: &str = "run.json";
const SERIES_FILE: &str = "series.csv";
const HISTOGRAMS_DIR: &str = "histograms";
const HISTOGRAMS_FILE: &str = "histograms/latency.csv";
/// Where version 1 of the format had it.
const HISTOGRAMS_FILE_1: &str = "histograms.csv";
const PARQUET_FILE: &str = "series.parquet";
const RESULT_FILE: &str = "result.json";

/// What was run: `run.json`.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct RunHeader {
    /// [`FORMAT_VERSION`] of the writer.
    #[schemars(extend("enum" = [1, 2]))]
    pub version: u32,
    /// Version of the program.
    pub ssdlab: String,
    /// When the run started, as the caller wrote it (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// The command line, program name left out.
    pub arguments: Vec<String>,
    /// Seed of every random stream.
    pub seed: u64,
    /// What was known of the target.
    pub target: TargetFacts,
    /// The plan, all defaults filled in ([`WorkloadPlan`] as JSON).
    #[schemars(with = "RunHeaderPlan")]
    pub plan: serde_json::Value,
}

/// Plans of run headers, for their schema.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum RunHeaderPlan {
    /// Of `ssdlab run`.
    Run(WorkloadPlan),
    /// Of `ssdlab qualify`.
    Qualify {
        /// Role and profile.
        qualify: QualifyHeader,
    },
}

/// What a qualification judges by.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct QualifyHeader {
    /// Name of the role.
    role: String,
    /// Name of the profile.
    #[schemars(extend("enum" = ["quick", "standard", "full"]))]
    profile: String,
}

impl RunHeader {
    /// The header of a run of `plan` that is about to start.
    ///
    /// # Errors
    /// When the plan holds a number that JSON has no way to write.
    pub fn new(
        plan: &WorkloadPlan,
        target: &TargetFacts,
        seed: u64,
        started_at: &str,
        arguments: &[String],
    ) -> Result<RunHeader, LabError> {
        let plan = serde_json::to_value(plan).map_err(|error| {
            LabError::refused(format!("the plan cannot be written as JSON: {error}"), "")
        })?;
        Ok(RunHeader {
            version: FORMAT_VERSION,
            ssdlab: env!("CARGO_PKG_VERSION").to_string(),
            started_at: started_at.to_string(),
            arguments: arguments.to_vec(),
            seed,
            target: target.clone(),
            plan,
        })
    }
}
