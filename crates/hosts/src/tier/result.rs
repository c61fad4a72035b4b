//! Results of a tier, and the share of the first device's life that they cost.

use super::spec::TierSpec;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::check::SelfCheck;

/// Latency of a kind of access in front of the tier, ns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct AccessLatency {
    /// Number of accesses.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// Counts of an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TierSample {
    /// End of the interval, seconds since the load began.
    pub t_s: f64,
    /// Reads found in the cache.
    pub hits: u64,
    /// Reads from a disk.
    pub misses: u64,
    /// Writes acknowledged.
    pub writes: u64,
    /// Mean latency of the writes, ns.
    pub write_mean_ns: f64,
    /// Bytes destaged, all sides.
    pub destaged_bytes: u64,
    /// Bytes that wait to be destaged, all sides, at the end.
    pub backlog_bytes: u64,
    /// Share of the slots that are dirty, mean over the sides, at the end.
    pub dirty_share: f64,
    /// Bytes programmed in all cache devices.
    pub nand_bytes: u64,
    /// Bytes written to all cache devices.
    pub device_bytes: u64,
}

/// Work of a cache device under the load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DeviceWork {
    /// Bytes written to it: host writes and copies of blocks read from a disk.
    pub written_bytes: u64,
    /// Bytes programmed.
    pub nand_bytes: u64,
    /// Flushes and FUA writes that had to reach media.
    pub commits: u64,
    /// Slots programmed with nothing, because a commit could not wait.
    pub padding_bytes: u64,
}

/// Result of a load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tier {
    /// As run; when stopped, the duration is what it came to.
    pub spec: TierSpec,
    /// Ended before its time.
    pub stopped: bool,
    /// Sides.
    pub sides: usize,
    /// Bytes of cache on each side.
    pub cache_bytes: u64,
    /// Bytes that the load touches.
    pub working_set_bytes: u64,
    /// Reads and writes served per second in front of the tier.
    pub iops: f64,
    /// Writes acknowledged per second.
    pub writes_s: f64,
    /// Reads found in the cache.
    pub hits: AccessLatency,
    /// Reads from a disk.
    pub misses: AccessLatency,
    /// Writes.
    pub writes: AccessLatency,
    /// Writes that had to wait because every slot of a side was dirty.
    pub stalls: u64,
    /// Acknowledged writes that were not durable on all their copies at that moment.
    pub not_durable: u64,
    /// Bytes destaged, all sides.
    pub destaged_bytes: u64,
    /// Bytes left to be destaged at the end, all sides.
    pub backlog_bytes: u64,
    /// Each cache device's work under the load.
    pub devices: Vec<DeviceWork>,
    /// NAND bytes programmed on one device / bytes that the host wrote to it, mean over devices.
    pub nand_per_host_byte: Option<f64>,
    /// Over time.
    pub samples: Vec<TierSample>,
    /// Self-checks.
    pub checks: Vec<SelfCheck>,
}

/// Share of a drive's rated life that a load uses up.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LifeCost {
    /// Bytes programmed that the rating allows.
    pub rated_nand_bytes: f64,
    /// Where that comes from.
    pub why: String,
    /// Bytes that the host can write to the device until then.
    pub host_bytes: f64,
    /// Days until then at the load's speed, without a pause.
    pub days: f64,
    /// Years until then when the host writes this much of the rating's daily allowance.
    pub years_at_rated_pace: Option<f64>,
}

/// Share of the first device's rated life that the load uses up. A rating in bytes of the host is
/// taken to allow as many bytes programmed: a maker must allow for more, so the figure is on the
/// dark side; rated cycles, where the drive's papers give them, are not.
pub fn life_cost(tier: &Tier, drive: &crate::HostDrive) -> Option<LifeCost> {
    let (rated, why) = drive.rated_nand()?;
    let ratio = tier.nand_per_host_byte?;
    let device = tier.devices.first()?;
    let per_day = device.nand_bytes as f64 / tier.spec.duration.as_secs_f64() * 86_400.0;
    let host_bytes = rated / ratio;
    let pace = drive.rated_bytes.zip(drive.warranty_years);
    Some(LifeCost {
        rated_nand_bytes: rated,
        why,
        host_bytes,
        days: rated / per_day,
        years_at_rated_pace: pace.map(|(bytes, years)| host_bytes / (bytes as f64 / years)),
    })
}

/// Runs of a tier, each with what it costs of the drive's life.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TierRuns<'a> {
    /// The runs.
    pub tiers: &'a [Tier],
    /// Cost of each run; `None` where the drive has no rating.
    pub life_costs: &'a [Option<LifeCost>],
}
