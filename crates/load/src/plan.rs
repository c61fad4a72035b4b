//! What to run: a plan of phases, each a set of jobs, each a seeded stream of commands.
//!
//! A plan comes from a fio job file ([`crate::fio`]) or a DISKSPD command line
//! ([`crate::diskspd`]); both say the same few things, and here they say them alike. A
//! [`crate::stream::JobStream`] turns one copy of one job into commands: the same job, seed and
//! target size give the same commands on every target.

// Errors are made once per run, before it starts: their size costs nothing.
#![allow(clippy::result_large_err)]

mod addresses;

pub use addresses::{AddressSteps, BlockSize, CapacityShares, Distribution, Order, WriteAs, Zones};

use crate::trace::replay::Replay;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_ssd::Nanos;

/// Writes outstanding while a target is filled.
pub const FILL_DEPTH: u32 = 2;

/// A whole run: phases one after another (`stonewall`), the jobs of a phase together.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorkloadPlan {
    /// The language the user wrote, with what its own output format needs back.
    pub language: Language,
    /// In order; never empty, nor is any phase.
    #[schemars(length(min = 1))]
    pub phases: Vec<PlanPhase>,
}

impl WorkloadPlan {
    /// Writes `bytes`, front to back and around again, 1 MiB at a time with two outstanding.
    pub fn fill(bytes: u64) -> WorkloadPlan {
        WorkloadPlan::fill_by(bytes, 1 << 20)
    }

    /// As [`WorkloadPlan::fill`], `block` bytes at a time.
    pub fn fill_by(bytes: u64, block: u32) -> WorkloadPlan {
        let job = JobSpec {
            io_limit: Some(bytes),
            ..JobSpec::sequential_writes("fill", block)
        };
        WorkloadPlan {
            language: Language::Ssdlab,
            phases: vec![PlanPhase { jobs: vec![job] }],
        }
    }
}

/// Jobs that run at the same time.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlanPhase {
    /// Never empty.
    #[schemars(length(min = 1))]
    pub jobs: Vec<JobSpec>,
}

/// The language a plan was written in.
#[derive(Clone, Debug, Serialize, JsonSchema, PartialEq, Eq)]
pub enum Language {
    /// A fio job file: `[global]` options as written, for fio's JSON.
    Fio {
        /// Name and value as the user wrote them; an option without a value has "1".
        globals: Vec<(String, String)>,
    },
    /// A DISKSPD command line, for DISKSPD's XML.
    Diskspd {
        /// The words of the command line, the program's name left out.
        args: Vec<String>,
        /// What the report contains, and its form.
        output: DiskspdOutput,
    },
    /// One of our own procedures.
    Ssdlab,
}

/// What a DISKSPD command line asks of the report.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema, PartialEq, Eq)]
pub struct DiskspdOutput {
    /// `-D`: report IOPS per interval of this many milliseconds; `None` when not asked for.
    pub bucket_ms: Option<u32>,
    /// `-L`: report latencies.
    pub latency: bool,
    /// `-Rxml` rather than `-Rtext`.
    pub xml: bool,
    /// `-Rp...`: print the profile in that format and do not run.
    pub profile_only: bool,
}

/// One job: `copies` streams of commands with the same description.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JobSpec {
    /// The section's name, or DISKSPD's target.
    pub name: String,
    /// The file or device that the user's language names (fio `filename`, a DISKSPD target).
    pub target: Option<String>,
    /// Options as written for this job, globals included: fio's JSON wants them back.
    pub options: Vec<(String, String)>,
    /// Reads, writes, trims, or a mix.
    pub mix: Mix,
    /// Where the next command goes.
    pub order: Order,
    /// Of a random order: percentage of the commands that go to a random address; the others
    /// follow the last command of their kind (fio `percentage_random`). 0 to 100.
    pub random_pct: u8,
    /// What fio adds to order and region.
    #[serde(skip_serializing_if = "AddressSteps::are_plain")]
    pub steps: AddressSteps,
    /// Reads that check earlier writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
    /// How it depends on other jobs and on its own results.
    #[serde(skip_serializing_if = "JobDependencies::are_none")]
    pub ties: JobDependencies,
    /// Command sizes for reads, writes and trims, in this order. Each list is never empty.
    pub block_sizes: [Vec<BlockSize>; 3],
    /// First byte of the region used.
    pub offset: u64,
    /// Bytes of the region; `None`: to the end of the target.
    pub region: Option<u64>,
    /// Sizes that were given in per cent; they take the place of the fields they name.
    pub shares: CapacityShares,
    /// Bytes to transfer per copy before the stream ends, unless `time.time_based`.
    /// `None`: the region's size.
    pub io_limit: Option<u64>,
    /// Commands outstanding per copy, at least 1.
    pub depth: u32,
    /// Once `depth` commands are outstanding, the next is sent when so few are (fio `iodepth_low`,
    /// `iodepth_batch_complete_min`); `None`: as soon as one has completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refill_at: Option<u32>,
    /// Streams of this job (fio `numjobs`, DISKSPD `-t`), at least 1.
    pub copies: u32,
    /// When to start counting and when to stop.
    pub time: JobTiming,
    /// What makes writes durable.
    pub durability: WriteDurability,
    /// Passes, each of which a flush ends unless the last command was one; 0: no such flush (fio
    /// `end_fsync`).
    #[serde(skip_serializing_if = "is_no_pass")]
    pub end_flushes: u64,
    /// Rate limits and pauses.
    pub pace: JobRateLimits,
    /// Contents of writes.
    pub data: WritePayload,
    /// What writes hold, repeated from the start of each; empty: what `data` says (fio
    /// `buffer_pattern`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pattern: Vec<u8>,
    /// How often a write repeats earlier contents (fio `dedupe_percentage`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedupe: Option<Dedupe>,
    /// Bypass the page cache (`direct=1`, `-Su`/`-Sh`). False is an error on real targets
    /// unless the language says buffered I/O is wanted and the target allows it.
    pub direct: bool,
    /// The engine sends NVMe commands to a character device (fio `io_uring_cmd`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub passthrough: bool,
    /// The observer wants each command of its counted part (fio `write_lat_log` and its like).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub log_each: bool,
    /// The workload's own tool makes the job's file and writes all of it before the job reads: fio
    /// does so with files, and DISKSPD with `-c`.
    #[serde(skip)]
    pub creates_file: bool,
    /// Seed of the job's random streams; copies fork it by number.
    pub seed: u64,
    /// The commands come from a trace: of the fields above, the name, the depth and what the
    /// target needs to know hold then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Box<Replay>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_no_pass(passes: &u64) -> bool {
    *passes == 0
}

/// Reads that check earlier writes (fio `verify`).
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
pub struct Verify {
    /// Read everything back after each pass (`do_verify`).
    pub after: bool,
    /// Read back after this many writes; 0 = only after a pass (`verify_backlog`).
    pub backlog: u32,
    /// How many to read back then; 0 = as many as `backlog` (`verify_backlog_batch`).
    pub batch: u32,
    /// Read back by address and each block once, as fio does without a random map. Otherwise in
    /// the order of the writes.
    pub sorted: bool,
    /// Passes; each is verified before the next begins (`loops`). At least 1.
    pub passes: u64,
    /// Go on after blocks that hold something else (`continue_on_error=verify`).
    pub go_on: bool,
}

/// How a job depends on other jobs and on its own results.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema, PartialEq)]
pub struct JobDependencies {
    /// Number of its group of jobs (fio `new_group`, `stonewall`).
    pub group: u32,
    /// Its commands keep a share of those of all jobs with the same number (fio `flow`).
    pub flow: Option<FlowShare>,
    /// Jobs that stop when it exits (fio `exitall`).
    pub exit: Option<ExitScope>,
    /// Ends when its rate is steady (fio `steadystate`).
    pub steady: Option<SteadyRateCriterion>,
    /// Searches the depth at which its latency keeps a limit (fio `latency_target`).
    pub latency: Option<LatencyTarget>,
    /// Its depth is that of all such jobs of its phase together, copy by copy (DISKSPD `-O`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shares_depth: bool,
}

impl JobDependencies {
    fn are_none(&self) -> bool {
        let free = JobDependencies {
            group: self.group,
            ..JobDependencies::default()
        };
        *self == free
    }
}

/// A share of the commands of a flow.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
pub struct FlowShare {
    /// Jobs with the same number share.
    pub id: u32,
    /// Its share is this over the sum of the weights of all copies.
    pub weight: u32,
}

/// Jobs that stop when a job exits.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
pub enum ExitScope {
    /// Jobs of its group that run.
    Group,
    /// All jobs that run, and none of those that wait.
    Phase,
    /// All jobs, those that wait included.
    All,
}

/// When a rate is steady: one criterion over a window of whole seconds.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq)]
pub struct SteadyRateCriterion {
    /// Bytes per second rather than commands per second.
    pub bandwidth: bool,
    /// The slope of a least-squares line rather than the largest deviation from the mean.
    pub slope: bool,
    /// In per cent of the mean rather than in the rate's own unit.
    pub percent: bool,
    /// The criterion must be below this.
    pub limit: f64,
    /// Seconds of the window, at least 1.
    pub window_s: u32,
    /// Time before the first window.
    #[serde(serialize_with = "nanos")]
    #[schemars(with = "u64")]
    pub ramp: Nanos,
}

/// A latency to keep and how to judge it.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq)]
pub struct LatencyTarget {
    /// Commands should complete within this time.
    #[serde(serialize_with = "nanos")]
    #[schemars(with = "u64")]
    pub limit: Nanos,
    /// Time over which a depth is judged.
    #[serde(serialize_with = "nanos")]
    #[schemars(with = "u64")]
    pub window: Nanos,
    /// Per cent of the commands that must keep the limit.
    pub percentile: f64,
    /// Go on searching after a depth was found, rather than end.
    pub run: bool,
}

impl JobSpec {
    /// Sequential writes, `block` bytes at a time, with two outstanding.
    pub fn sequential_writes(name: &str, block: u32) -> JobSpec {
        JobSpec {
            name: name.into(),
            mix: Mix::Write,
            order: Order::Sequential {
                stride: None,
                start_step: 0,
                split_positions: false,
            },
            block_sizes: BlockSize::always(block),
            depth: FILL_DEPTH,
            ..JobSpec::default()
        }
    }
}

impl Default for JobSpec {
    /// Sequential 4 KiB reads of the whole target, one at a time, past the page cache.
    fn default() -> JobSpec {
        JobSpec {
            name: String::new(),
            target: None,
            options: Vec::new(),
            mix: Mix::Read,
            order: Order::Sequential {
                stride: None,
                start_step: 0,
                split_positions: false,
            },
            random_pct: 100,
            steps: AddressSteps::default(),
            verify: None,
            ties: JobDependencies::default(),
            block_sizes: BlockSize::always(4096),
            offset: 0,
            region: None,
            shares: CapacityShares::default(),
            io_limit: None,
            depth: 1,
            refill_at: None,
            copies: 1,
            time: JobTiming::default(),
            end_flushes: 0,
            durability: WriteDurability::default(),
            pace: JobRateLimits::default(),
            data: WritePayload {
                compress_pct: 0,
                refill: false,
            },
            pattern: Vec::new(),
            dedupe: None,
            direct: true,
            passthrough: false,
            log_each: false,
            creates_file: false,
            seed: 0,
            replay: None,
        }
    }
}

/// Which operations, in what share.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
pub enum Mix {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Trims only.
    Trim,
    /// Reads with this probability in per cent, writes otherwise.
    ReadWrite {
        /// 0 to 100.
        read_pct: u8,
    },
}

/// When to start counting and when to stop.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct JobTiming {
    /// From the start of the phase until its first command.
    #[serde(serialize_with = "nanos", skip_serializing_if = "is_zero")]
    #[schemars(with = "u64")]
    pub delay: Nanos,
    /// Run but do not count (fio `ramp_time`, DISKSPD `-W`).
    #[serde(serialize_with = "nanos")]
    #[schemars(with = "u64")]
    pub ramp: Nanos,
    /// Count for this time (fio `runtime`, DISKSPD `-d`); `None`: until `io_limit`.
    #[serde(serialize_with = "optional_nanos")]
    #[schemars(with = "Option<u64>")]
    pub run: Option<Nanos>,
    /// Go on for all of `run`, ignoring `io_limit`.
    pub time_based: bool,
    /// Keep the load up after counting (DISKSPD `-C`).
    #[serde(serialize_with = "nanos")]
    #[schemars(with = "u64")]
    pub cool_down: Nanos,
}

/// What makes writes durable.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema, PartialEq, Eq)]
pub struct WriteDurability {
    /// Every write is durable when it completes (fio `sync`/`dsync`, DISKSPD `-Sw`).
    pub fua: bool,
    /// Writes between two FLUSHes (fio `fsync`/`fdatasync`); 0 = no flushes.
    pub flush_every: u32,
    /// With `flush_every`: fdatasync rather than fsync on a file.
    pub data_only: bool,
}

/// Rate limits and pauses, per copy.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
pub struct JobRateLimits {
    /// Bytes per second for reads, writes, trims; 0 = unlimited.
    pub rate_bytes: [u64; 3],
    /// Commands per second for reads, writes, trims; 0 = unlimited.
    pub rate_iops: [u64; 3],
    /// Pause after every `think_blocks` commands.
    #[serde(serialize_with = "nanos")]
    #[schemars(with = "u64")]
    pub think: Nanos,
    /// Commands between pauses, at least 1 when `think` is not zero.
    pub think_blocks: u32,
    /// Time at work between pauses, instead of a number of commands; zero: by commands.
    #[serde(serialize_with = "nanos")]
    #[schemars(with = "u64")]
    pub think_after: Nanos,
    /// Rates are means: the times between commands are drawn from an exponential distribution
    /// instead of all being the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub poisson: bool,
}

/// Contents of writes.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
pub struct WritePayload {
    /// Per cent of each block that a compressor removes; 0 = random data.
    pub compress_pct: u8,
    /// Fresh contents for every write rather than a rotating pool.
    pub refill: bool,
}

/// Repeated contents of writes, as fio makes them: in units of the smallest write.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, PartialEq, Eq)]
pub struct Dedupe {
    /// Share of the units that repeat earlier contents, 0 to 100.
    pub percent: u8,
    /// Bytes of a unit.
    pub unit: u32,
    /// The repeated units are drawn from the first this many of the units with contents of their
    /// own, in per cent of the region (`dedupe_mode=working_set`). `None`: the last one is
    /// repeated.
    pub working_set_pct: Option<u8>,
}

impl Default for JobRateLimits {
    fn default() -> JobRateLimits {
        JobRateLimits {
            rate_bytes: [0; 3],
            rate_iops: [0; 3],
            think: Nanos::ZERO,
            think_blocks: 1,
            think_after: Nanos::ZERO,
            poisson: false,
        }
    }
}

fn is_zero(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}

fn nanos<S: serde::Serializer>(value: &Nanos, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_u64(value.0)
}

fn optional_nanos<S: serde::Serializer>(value: &Option<Nanos>, s: S) -> Result<S::Ok, S::Error> {
    value.map(|n| n.0).serialize(s)
}
