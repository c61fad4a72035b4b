//! Parts of a host.

use super::block_size::SizeRule;
use super::chain::LogBlockFormat;
use super::space::SpaceRules;
use super::writer::WriterSpec;
use ssdlab_ssd::Nanos;

/// When transaction groups close and how long they take.
#[derive(Clone, Copy, Debug)]
pub struct GroupRules {
    /// Maximum time from one group's close to the next.
    pub timeout: Nanos,
    /// Bytes written to files at which it closes earlier.
    pub bytes_max: Option<u64>,
    /// Time from closing to synced.
    pub sync: Nanos,
}

/// The host's path to the device: one command at a time, in order.
#[derive(Clone, Copy, Debug)]
pub struct PathRules {
    /// Mean time per write.
    pub per_write: Nanos,
    /// Mean time besides, per KiB.
    pub per_kib: Nanos,
    /// Share of both that is drawn for each write. Unit: %.
    pub jitter_pct: u32,
    /// Time for a flush.
    pub per_flush: Nanos,
}

/// How a log commits.
#[derive(Clone, Copy, Debug)]
pub struct CommitRules {
    /// Part of a block that is written.
    pub format: LogBlockFormat,
    /// Size of the next block.
    pub size_rule: SizeRule,
    /// Chunks that larger writes are logged in; `None`: cut to fit the blocks.
    pub chunk: Option<u64>,
    /// A commit may begin while the one before waits for the device.
    pub pipelined: bool,
    /// A block that is not full waits for more, this share of the last commit's latency. Unit: %.
    pub open_wait_pct: u64,
    /// Time to put 1 KiB of data into a block.
    pub copy_per_kib: Nanos,
}

/// Everything about a host.
#[derive(Clone, Debug)]
pub struct HostSpec {
    /// Streams of random numbers are forked from it.
    pub seed: u64,
    /// Writers; number *w* writes to dataset *w* modulo `datasets`.
    pub writers: usize,
    /// Datasets, with a log each.
    pub datasets: usize,
    /// Allocator of each dataset; by hash of the number when empty.
    pub allocator_of: Vec<usize>,
    /// What every writer does.
    pub writer: WriterSpec,
    /// Commits.
    pub commit: CommitRules,
    /// Transaction groups.
    pub group: GroupRules,
    /// Path to the device.
    pub path: PathRules,
    /// The log device's space.
    pub space: SpaceRules,
    /// Bytes of the log device (of the smallest side of a mirror).
    pub capacity: u64,
    /// Log devices that all get every block and flush: 1, or more for a mirror.
    pub sides: u32,
    /// Freed blocks are trimmed before their place is used again (the pool's `autotrim`).
    pub autotrim: bool,
}

/// Counts and latencies of the writers.
#[derive(Clone, Debug, Default)]
pub struct HostCounts {
    /// Synchronous writes acknowledged.
    pub writes: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their latencies, in order.
    pub latencies: Vec<Nanos>,
    /// Log blocks written.
    pub blocks: u64,
    /// Flushes.
    pub flushes: u64,
    /// Trims of freed blocks.
    pub trims: u64,
    /// Their bytes.
    pub trimmed_bytes: u64,
    /// Groups synced.
    pub groups: u64,
    /// Times the log device was full.
    pub full: u64,
}
