//! What the tests gave: measured points, tracked variables, histograms.

use super::load::SniaClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_bench::analysis::SteadyState;
use ssdlab_bench::device::TargetFacts;
use ssdlab_drives::rests_on::RestsOn;
use std::fmt::Write;

/// The tests of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SniaTest {
    /// Commands per second by mix and size.
    Iops,
    /// Bytes per second, sequential.
    Throughput,
    /// Response time of one command at a time.
    Latency,
    /// Random writes from a purged drive on.
    WriteSaturation,
    /// Writes after waits.
    HostIdleRecovery,
    /// From sequential to random writes and back.
    CrossStimulusRecovery,
    /// JESD219's sizes and skew at 49 demands.
    Composite,
    /// One size and mix at 49 demands.
    DemandIntensity,
}

impl SniaTest {
    /// Every one, in the order of the specification.
    pub const ALL: [SniaTest; 8] = [
        SniaTest::Iops,
        SniaTest::Throughput,
        SniaTest::Latency,
        SniaTest::WriteSaturation,
        SniaTest::HostIdleRecovery,
        SniaTest::CrossStimulusRecovery,
        SniaTest::Composite,
        SniaTest::DemandIntensity,
    ];

    /// Its name on the command line and of its page.
    pub fn name(self) -> &'static str {
        match self {
            SniaTest::Iops => "iops",
            SniaTest::Throughput => "throughput",
            SniaTest::Latency => "latency",
            SniaTest::WriteSaturation => "write-saturation",
            SniaTest::HostIdleRecovery => "host-idle-recovery",
            SniaTest::CrossStimulusRecovery => "cross-stimulus-recovery",
            SniaTest::Composite => "composite",
            SniaTest::DemandIntensity => "demand-intensity",
        }
    }

    /// Its title in the specification.
    pub fn title(self) -> &'static str {
        match self {
            SniaTest::Iops => "IOPS",
            SniaTest::Throughput => "Throughput",
            SniaTest::Latency => "Latency",
            SniaTest::WriteSaturation => "Write Saturation",
            SniaTest::HostIdleRecovery => "Host Idle Recovery",
            SniaTest::CrossStimulusRecovery => "Cross Stimulus Recovery",
            SniaTest::Composite => "Enterprise Composite Workload",
            SniaTest::DemandIntensity => "Demand Intensity / Response Time Histogram",
        }
    }

    /// The test called `name`.
    ///
    /// # Errors
    /// When no test has that name.
    pub fn named(name: &str) -> Result<SniaTest, LabError> {
        let named = SniaTest::ALL.into_iter().find(|test| test.name() == name);
        named.ok_or_else(|| {
            let names = SniaTest::ALL.map(SniaTest::name).join(", ");
            LabError::refused(
                format!("`{name}` is no test of the specification"),
                format!("there are {names}"),
            )
        })
    }
}

/// A measured point: a row of `rounds.csv`.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize, PartialEq)]
pub struct SniaPoint {
    /// Part of the test: `round`, `precondition`, `wait-5s`, ...
    pub part: String,
    /// Number of the round within the part, from 1.
    pub round: usize,
    /// Threads.
    pub threads: u32,
    /// Commands outstanding per thread.
    pub depth: u32,
    /// Per cent of reads.
    pub read_pct: u8,
    /// Bytes of a command; `None`: the mix of JESD219.
    pub block_bytes: Option<u32>,
    /// Length, s on the drive's clock.
    pub length_s: f64,
    /// Reads completed.
    pub read_count: u64,
    /// Writes completed.
    pub write_count: u64,
    /// Bytes completed.
    pub bytes: u64,
    /// Commands per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Mean response time, ns.
    pub mean_ns: f64,
    /// 99.999th percentile of the response time, ns.
    pub p99999_ns: u64,
    /// Longest response time, ns.
    pub max_ns: u64,
}

impl SniaPoint {
    /// Commands outstanding, all threads together.
    pub fn outstanding(&self) -> u32 {
        self.threads * self.depth
    }
}

/// A tracking variable: one number per round.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct TrackingVariable {
    /// What it is, for people.
    pub name: String,
    /// Part of the test whose rounds it follows.
    pub part: String,
    /// Its column in `rounds.csv`.
    #[schemars(extend("enum" = ["iops", "bytes_per_second", "mean_ns"]))]
    pub column: String,
    /// The rows it is taken from: per cent of reads.
    pub read_pct: u8,
    /// Bytes of a command; `None`: the mix of JESD219.
    pub block_bytes: Option<u32>,
    /// Commands outstanding of these rows.
    pub outstanding: u32,
    /// Steady state; `None`: fewer than five rounds.
    pub steady: Option<SteadyState>,
}

/// Response times of one load.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct ResponseHistogram {
    /// Which load.
    pub title: String,
    /// Its row.
    pub row: SniaPoint,
    /// Median, 99 %, 99.9 %, 99.99 %, 99.999 %, ns.
    pub percentiles_ns: Vec<(f64, u64)>,
    /// Buckets of half an octave: shortest latency in ns, and commands.
    pub buckets: Vec<(u64, u64)>,
}

/// A test that was run.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct SniaTestResult {
    /// Which.
    pub test: SniaTest,
    /// Every measured point, in order.
    pub rows: Vec<SniaPoint>,
    /// Tracked variables.
    pub tracked: Vec<TrackingVariable>,
    /// Response times.
    pub histograms: Vec<ResponseHistogram>,
    /// What the reader should know: why it ended, what was reduced.
    pub notes: Vec<String>,
    /// It came to its end: not stopped.
    pub complete: bool,
    /// Self-checks that failed.
    pub failures: Vec<String>,
}

/// The tests of one drive.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct Suite {
    /// Version of the format.
    #[schemars(extend("const" = 1))]
    pub version: u32,
    /// Version of the program.
    pub ssdlab: String,
    /// When it started (RFC 3339).
    pub started_at: String,
    /// The command line.
    pub arguments: Vec<String>,
    /// Class of the tests.
    pub class: SniaClass,
    /// Seed of every random stream.
    pub seed: u64,
    /// The drive.
    pub facts: TargetFacts,
    /// All times of the specification were divided by this; 1: none was.
    pub reduction: f64,
    /// What was reduced, in a sentence; `None`: nothing.
    pub reduced: Option<String>,
    /// Calibrated and assumed values that the figures rest on.
    pub rests_on: Vec<RestsOn>,
    /// The tests.
    pub tests: Vec<SniaTestResult>,
}

/// `rounds.csv`: every measured point of every test.
pub fn csv(tests: &[SniaTestResult]) -> String {
    let mut text = "test,part,round,threads,depth,read_pct,block_bytes,length_s,read_count,\
                    write_count,bytes,iops,bytes_per_second,mean_ns,p99999_ns,max_ns\n"
        .to_owned();
    for tested in tests {
        for row in &tested.rows {
            let block = row.block_bytes.map(|b| b.to_string()).unwrap_or_default();
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{block},{:?},{},{},{},{:?},{:?},{:?},{},{}",
                tested.test.name(),
                row.part,
                row.round,
                row.threads,
                row.depth,
                row.read_pct,
                row.length_s,
                row.read_count,
                row.write_count,
                row.bytes,
                row.iops,
                row.bytes_per_second,
                row.mean_ns,
                row.p99999_ns,
                row.max_ns
            );
        }
    }
    text
}
