//! Results of the transactions.

use super::spec::OltpSpec;
use crate::probe::ProbeResult;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::check::SelfCheck;

/// A second of a window; the last may be shorter.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OltpSecond {
    /// Month of the window.
    pub month: u32,
    /// End, seconds since the window began.
    pub t_s: f64,
    /// Transactions committed.
    pub transactions: u64,
    /// Median, ns.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
}

/// A window.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OltpWindow {
    /// Months before it.
    pub month: u32,
    /// Transactions committed per second.
    pub tps: f64,
    /// Half of the transactions took no longer, waiting for a connection included, ns.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Offered and not even begun, because a second's worth was waiting already.
    pub refused: u64,
    /// Bytes read per second.
    pub read_bytes_s: f64,
    /// 99th percentile of the page reads, ns.
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
    pub probe: ProbeResult,
}

/// Result of the transactions.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Oltp {
    /// As run.
    pub spec: OltpSpec,
    /// A window for each month, from 0.
    pub windows: Vec<OltpWindow>,
    /// Over time.
    pub seconds: Vec<OltpSecond>,
    /// Bytes written by the host in all.
    pub host_bytes: u64,
    /// Ended before its last month.
    pub stopped: bool,
    /// Self-checks.
    pub checks: Vec<SelfCheck>,
}
