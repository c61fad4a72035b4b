//! Results of the months.

use super::spec::MonthsSpec;
use crate::probe::ProbeResult;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::check::SelfCheck;

/// State at the end of a day. Rates and WAF are of the time since the sample before.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DaySample {
    /// The day; 0 = the files are there, nothing was deleted yet.
    pub day: u32,
    /// Bytes written by the host since the drive was new.
    pub host_bytes: u64,
    /// NAND bytes programmed / host bytes written.
    pub waf: Option<f64>,
    /// Bytes written per second while there was something to write.
    pub write_bytes_s: f64,
    /// 99th percentile of the write commands, ns.
    pub write_p99_ns: u64,
    /// The longest write command, ns.
    pub write_max_ns: u64,
    /// Share of its blocks that the file system uses.
    pub used_share: f64,
    /// Share of the same blocks that the drive takes for valid data.
    pub mapped_share: f64,
    /// TRIM commands.
    pub trims: u64,
    /// Superblocks free for data.
    pub free_superblocks: usize,
    /// Measured on a fork.
    pub probe: ProbeResult,
}

/// Result of the months.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Months {
    /// As run.
    pub spec: MonthsSpec,
    /// Bytes of the file system.
    pub fs_bytes: u64,
    /// Over time.
    pub samples: Vec<DaySample>,
    /// Bytes written by the host after day 0.
    pub host_bytes: u64,
    /// NAND bytes programmed / host bytes written, after day 0.
    pub waf: Option<f64>,
    /// Virtual seconds in all.
    pub virtual_s: f64,
    /// Ended before its last day.
    pub stopped: bool,
    /// Self-checks.
    pub checks: Vec<SelfCheck>,
}
