//! Counters of the host's layers and of the drive itself, as a judgement reads them.
//!
//! Each value is of the time since the watch began where it counts something, and of this moment
//! where it is a state. What a host does not have is `None` or empty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Share of time in which tasks waited for I/O (PSI).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IoPressure {
    /// Some task waited.
    pub some: f64,
    /// All tasks that could run waited.
    pub full: f64,
}

/// ext4's journal (jbd2). Averages are those of the kernel, since the file system was mounted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JournalCounters {
    /// Its device.
    pub device: String,
    /// Transactions since the watch began.
    pub transactions: u64,
    /// Those that somebody asked for (fsync).
    pub requested: u64,
    /// Time of a commit, moving average, ns.
    pub commit_ns: u64,
    /// Time of which a handle waited for a transaction, average, ms.
    pub waiting_ms: u64,
    /// Time of flushing file data before a commit, average, ms.
    pub flushing_ms: u64,
    /// Time of writing the log, average, ms.
    pub logging_ms: u64,
    /// Blocks of a transaction in the log, average.
    pub logged_blocks: u64,
}

/// XFS's log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct XfsLogCounters {
    /// Its device.
    pub device: String,
    /// Writes to the log.
    pub log_writes: u64,
    /// Times that the log was forced (fsync).
    pub log_forces: u64,
    /// Forces that had to wait.
    pub log_force_sleeps: u64,
    /// Times that no buffer of the log in memory was free.
    pub no_buffer: u64,
    /// Times that a transaction waited for space in the log.
    pub space_sleeps: u64,
}

/// ZFS: intent log and transaction groups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ZfsCounters {
    /// Commits to the intent log (fsync), of all pools.
    pub zil_commits: u64,
    /// Pools with transaction groups in the kernel's list.
    pub pools: Vec<ZfsPoolCounters>,
}

/// Transaction groups of a pool that are in the kernel's list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ZfsPoolCounters {
    /// The pool.
    pub pool: String,
    /// Groups that were committed.
    pub groups: u64,
    /// Mean time of writing one, ns.
    pub sync_ns: u64,
    /// The longest, ns.
    pub sync_ns_max: u64,
    /// Mean bytes of one.
    pub written: u64,
}

/// An md array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArrayState {
    /// `md0`.
    pub name: String,
    /// `raid1`, ...
    pub level: String,
    /// `idle`, or what it does beside: `resync`, `recover`, `check`, `repair`, `reshape`.
    pub action: String,
    /// Bytes a second of that.
    pub action_rate: Option<u64>,
    /// Disks that are missing.
    pub degraded: u64,
}

/// A bcache device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BcacheState {
    /// `bcache0`.
    pub name: String,
    /// `writeback`, `writethrough`, `writearound`, `none`.
    pub mode: String,
    /// `clean`, `dirty`, `inconsistent`, `no cache`.
    pub state: String,
    /// Per cent of requests that the cache answered in the last five minutes.
    pub hit_percent: Option<u64>,
}

/// How the host drives an NVMe controller or another queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueState {
    /// Hardware queues.
    pub hardware_queues: u64,
    /// Requests of each, at most.
    pub tags: Option<u64>,
    /// Target of write-back throttling, us; 0: off.
    pub wbt_us: Option<u64>,
    /// Merging of requests: 0 full, 1 simple, 2 none.
    pub nomerges: Option<u64>,
    /// Bytes of a request, as set and as the device takes.
    pub request_bytes: Option<u64>,
    /// The most that the device takes.
    pub request_bytes_max: Option<u64>,
    /// State of the NVMe controller: `live`, `resetting`, ...
    pub controller: Option<String>,
    /// `pcie`, `tcp`, `rdma`, `fc`.
    pub transport: Option<String>,
    /// How paths are chosen, where there are several: `numa`, `round-robin`, `queue-depth`.
    pub path_policy: Option<String>,
}

/// Temperature, as the kernel's monitor has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThermalState {
    /// Now, C.
    pub celsius: Option<f64>,
    /// Above which the drive warns, C.
    pub warning: Option<f64>,
    /// Above which it is in danger, C.
    pub critical: Option<f64>,
    /// Whether the monitor says that it is too warm.
    pub alarm: bool,
}

/// The drive's own counters (SMART, NVMe log pages), first and last look.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriveCounters {
    /// s between the two looks; 0 after the first one.
    pub seconds: f64,
    /// Minutes above its own limits, since the watch began.
    pub too_warm_minutes: Option<f64>,
    /// Bytes that the host wrote, since the watch began.
    pub host_bytes_written: Option<f64>,
    /// Bytes programmed, since the watch began.
    pub nand_bytes_written: Option<f64>,
    /// The most that either of these may be wrong by.
    pub resolution: f64,
    /// Whether the write cache is on.
    pub write_cache: Option<bool>,
    /// Temperature, C.
    pub celsius: Option<f64>,
    /// Per cent of the rated life used.
    pub used_percent: Option<f64>,
    /// Per cent of the spare left.
    pub spare_percent: Option<f64>,
    /// Errors of the media since the drive was made.
    pub media_errors: Option<u64>,
}

impl DriveCounters {
    /// NAND bytes programmed per host byte written since the watch began; `None` where one of them
    /// is not counted, or less was written than a counter's steps show.
    pub fn write_amplification(&self) -> Option<f64> {
        let (host, nand) = (self.host_bytes_written?, self.nand_bytes_written?);
        (host > 0.0 && host >= 10.0 * self.resolution).then(|| nand / host)
    }
}

/// What a control group moved to and from the disk since the watch began, without the groups in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupBytes {
    /// Its path below the root.
    pub group: String,
    /// Bytes in both directions.
    pub bytes: u64,
}

/// What a process moved to and from block devices since the watch began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessBytes {
    /// Its name.
    pub name: String,
    /// Its number.
    pub pid: u32,
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
}

impl ProcessBytes {
    /// Bytes in both directions.
    pub fn bytes(&self) -> u64 {
        self.read + self.written
    }
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostCounters {
    /// Of the whole system.
    pub pressure: Option<IoPressure>,
    /// Of the control group of the process that is watched.
    pub group_pressure: Option<IoPressure>,
    /// ext4's journals on the disk.
    pub journals: Vec<JournalCounters>,
    /// XFS on the disk.
    pub xfs: Vec<XfsLogCounters>,
    /// ZFS, where it is loaded; its pools need not be on the disk.
    pub zfs: Option<ZfsCounters>,
    /// Arrays on the disk.
    pub arrays: Vec<ArrayState>,
    /// bcache on the disk.
    pub caches: Vec<BcacheState>,
    /// The queue.
    pub queue: QueueState,
    /// Temperature.
    pub thermal: Option<ThermalState>,
    /// The drive's own counters.
    pub drive: Option<DriveCounters>,
    /// Control groups by bytes moved, where they count I/O.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupBytes>,
    /// Processes with files open on the disk, by bytes moved on all devices, where single requests
    /// are not seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessBytes>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_amplification_needs_more_than_the_counters_steps() {
        let mut counters = DriveCounters {
            host_bytes_written: Some(32e6),
            nand_bytes_written: Some(96e6),
            resolution: 32e6,
            ..DriveCounters::default()
        };
        assert_eq!(counters.write_amplification(), None);
        counters.host_bytes_written = Some(3.2e9);
        counters.nand_bytes_written = Some(9.6e9);
        assert_eq!(counters.write_amplification(), Some(3.0));
        counters.nand_bytes_written = None;
        assert_eq!(counters.write_amplification(), None);
    }
}
