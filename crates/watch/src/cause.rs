//! Causes of slowness that can be seen from outside, in whose layer, and what to do about each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why awaited I/O is slow.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LiveCause {
    /// A control group's limit holds requests back.
    CgroupLimit,
    /// Requests wait in the host although the drive could take more.
    HostQueue,
    /// The host flushes when there is nothing to flush.
    DoubledFlushes,
    /// Another process keeps the drive busy.
    Neighbour,
    /// A layer above the drive takes the time: encryption, RAID, a volume.
    LayerAbove,
    /// The host asks for one thing at a time.
    OneAtATime,
    /// Writes do not begin and end at blocks of the drive.
    Misaligned,
    /// The file system is nearly full and the drive does not know what is free.
    FullWithoutTrim,
    /// Other requests wait behind discards.
    Discards,
    /// Each flush waits for the media: the write buffer is volatile.
    VolatileBuffer,
    /// The write cache is off: each write waits for the media.
    WriteCacheOff,
    /// Reads wait behind writes.
    ReadsBehindWrites,
    /// Reclaim moves data for each page written.
    Reclaim,
    /// The pSLC cache is full.
    SlcFull,
    /// Parts of the map are read before the data.
    Map,
    /// The drive slows itself down: heat.
    Throttling,
    /// The link carries less than the drive could.
    Link,
    /// A volume of a cloud, or its instance, counts requests and holds them at a rate.
    VolumeLimit,
    /// The media or the controller is slow.
    SlowMedia,
}

/// Whose matter a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseLayer {
    /// Settings and programs of the host.
    Host,
    /// The way between host and drive.
    Link,
    /// The drive.
    Drive,
}

impl LiveCause {
    /// All of them.
    pub const ALL: [LiveCause; 19] = [
        LiveCause::CgroupLimit,
        LiveCause::HostQueue,
        LiveCause::DoubledFlushes,
        LiveCause::Neighbour,
        LiveCause::LayerAbove,
        LiveCause::OneAtATime,
        LiveCause::Misaligned,
        LiveCause::FullWithoutTrim,
        LiveCause::Discards,
        LiveCause::VolatileBuffer,
        LiveCause::WriteCacheOff,
        LiveCause::ReadsBehindWrites,
        LiveCause::Reclaim,
        LiveCause::SlcFull,
        LiveCause::Map,
        LiveCause::Throttling,
        LiveCause::Link,
        LiveCause::VolumeLimit,
        LiveCause::SlowMedia,
    ];

    /// Whose matter it is.
    pub fn layer(self) -> CauseLayer {
        match self {
            LiveCause::CgroupLimit
            | LiveCause::HostQueue
            | LiveCause::DoubledFlushes
            | LiveCause::Neighbour
            | LiveCause::LayerAbove
            | LiveCause::OneAtATime
            | LiveCause::Misaligned
            | LiveCause::FullWithoutTrim
            | LiveCause::Discards => CauseLayer::Host,
            LiveCause::Link | LiveCause::VolumeLimit => CauseLayer::Link,
            LiveCause::VolatileBuffer
            | LiveCause::WriteCacheOff
            | LiveCause::ReadsBehindWrites
            | LiveCause::Reclaim
            | LiveCause::SlcFull
            | LiveCause::Map
            | LiveCause::Throttling
            | LiveCause::SlowMedia => CauseLayer::Drive,
        }
    }

    /// For tables; the words of `diagnose` where it has the cause.
    pub fn name(self) -> &'static str {
        match self {
            LiveCause::CgroupLimit => "limit of a control group",
            LiveCause::HostQueue => "queue in the host",
            LiveCause::DoubledFlushes => "doubled flushes",
            LiveCause::Neighbour => "another process",
            LiveCause::LayerAbove => "layer above the drive",
            LiveCause::OneAtATime => "one request at a time",
            LiveCause::Misaligned => "alignment",
            LiveCause::FullWithoutTrim => "full without TRIM",
            LiveCause::Discards => "discards",
            LiveCause::VolatileBuffer => "volatile buffer",
            LiveCause::WriteCacheOff => "write cache off",
            LiveCause::ReadsBehindWrites => "reads in order",
            LiveCause::Reclaim => "reclaim",
            LiveCause::SlcFull => "pSLC cache full",
            LiveCause::Map => "map not in DRAM",
            LiveCause::Throttling => "throttling",
            LiveCause::Link => "link",
            LiveCause::VolumeLimit => "limit of a volume",
            LiveCause::SlowMedia => "slow media or controller",
        }
    }

    /// The first sentence of the answer.
    pub fn sentence(self) -> &'static str {
        match self {
            LiveCause::CgroupLimit => {
                "It is not the drive: a control group's limit holds I/O back."
            }
            LiveCause::HostQueue => {
                "It is not the drive: requests wait in the host while the drive could take more."
            }
            LiveCause::DoubledFlushes => "The host flushes twice for what one flush makes durable.",
            LiveCause::Neighbour => "Another process keeps the drive busy.",
            LiveCause::LayerAbove => "It is not the drive: the layer above it takes the time.",
            LiveCause::OneAtATime => {
                "It is not the drive: the host asks for one thing at a time and waits."
            }
            LiveCause::Misaligned => "Writes cut through the drive's blocks of 4 KiB.",
            LiveCause::FullWithoutTrim => {
                "The file system is nearly full, and the drive does not know what is free."
            }
            LiveCause::Discards => "Requests wait behind discards (TRIM).",
            LiveCause::VolatileBuffer => {
                "Each flush waits for the media: the drive's write buffer is volatile."
            }
            LiveCause::WriteCacheOff => "The write cache is off: each write waits for the media.",
            LiveCause::ReadsBehindWrites => "Reads wait behind writes in the drive.",
            LiveCause::Reclaim => "Reclaim: the drive moves data for each page that is written.",
            LiveCause::SlcFull => "The drive's pSLC cache is full.",
            LiveCause::Map => "The drive reads its map before it reads the data.",
            LiveCause::Throttling => "The drive slows itself down: it is too warm.",
            LiveCause::Link => "The link to the drive carries less than the drive could.",
            LiveCause::VolumeLimit => {
                "It is not slow: a volume or its instance counts requests and holds them at a rate."
            }
            LiveCause::SlowMedia => {
                "The drive answers slowly; from outside its media and its controller look alike."
            }
        }
    }

    /// What to do.
    pub fn advice(self) -> &'static str {
        match self {
            LiveCause::CgroupLimit => "Raise or remove the limit (io.max, blkio.throttle).",
            LiveCause::HostQueue => {
                "Set the scheduler to none, and nr_requests to its default, in \
                 /sys/block/DISK/queue."
            }
            LiveCause::DoubledFlushes => {
                "Sync once per commit: fdatasync after the last write, not after each; or O_DSYNC."
            }
            LiveCause::Neighbour => {
                "Limit that process (io.max, ionice), move it to other hours or another drive."
            }
            LiveCause::LayerAbove => {
                "For dm-crypt: --perf-no_read_workqueue --perf-no_write_workqueue, a cipher with \
                 hardware support; else look at that layer."
            }
            LiveCause::OneAtATime => {
                "More writers, larger commits, or group commit; a drive of lower latency helps as \
                 much as its latency is lower."
            }
            LiveCause::Misaligned => "Begin partitions at 1 MiB; blocks and records of 4 KiB.",
            LiveCause::FullWithoutTrim => {
                "Run `fstrim -v MOUNTPOINT` in a quiet hour, keep 10 to 20 % free, enable \
                 fstrim.timer."
            }
            LiveCause::Discards => {
                "Mount without `discard`; run fstrim in quiet hours instead; limit \
                 discard_max_bytes."
            }
            LiveCause::VolatileBuffer => {
                "A drive with power-loss protection answers a flush at once; until then sync less \
                 often or commit in groups."
            }
            LiveCause::WriteCacheOff => {
                "Switch it on if the drive is protected against power loss (hdparm -W1, sdparm \
                 --set WCE, nvme set-feature -f 6 -v 1)."
            }
            LiveCause::ReadsBehindWrites => {
                "Write less at a time (smaller bursts, lower depth), or take a drive that suspends \
                 programs for reads."
            }
            LiveCause::Reclaim => {
                "Leave spare area (a smaller partition after a TRIM of the whole drive), or take a \
                 drive of a higher rating."
            }
            LiveCause::SlcFull => {
                "Let it idle, or write less than the cache holds; a drive without pSLC keeps its \
                 rate."
            }
            LiveCause::Map => "Keep the working set smaller, or take a drive with DRAM.",
            LiveCause::Throttling => "Cool it: airflow, a heat sink, a slot away from warm cards.",
            LiveCause::VolumeLimit => {
                "Ask for less, or rent more: `ssdlab volumes fit` on a trace says what. `--model \
                 volume:TYPE,size=GIB` says how much credit is left."
            }
            LiveCause::Link => "Reseat it, or use a slot or port with the full speed and width.",
            LiveCause::SlowMedia => {
                "Compare with a drive of its kind: `ssdlab qualify` on a spare one; `ssdlab \
                 inspect` shows wear."
            }
        }
    }
}
