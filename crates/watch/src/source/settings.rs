//! What the host has set for a disk: scheduler, caches, limits, mounts, and what stands on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file system on the disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MountedFileSystem {
    /// Where it is mounted.
    pub point: String,
    /// ext4, xfs, ...
    pub kind: String,
    /// Mount options, its own and those of the mount.
    pub options: Vec<String>,
    /// Share of its space in use, if it could be asked.
    pub used: Option<f64>,
    /// Its device, which may be a partition or stand above the disk.
    pub device: String,
}

impl MountedFileSystem {
    /// Whether deleted files are discarded at once.
    pub fn discards(&self) -> bool {
        self.options
            .iter()
            .any(|option| option == "discard" || option.starts_with("discard="))
    }
}

/// A device on top of the disk: dm-crypt, LVM, md, bcache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackedDevice {
    /// `dm-0`.
    pub name: String,
    /// What it is: "dm-crypt", "LVM", "md raid1", ...
    pub kind: String,
}

/// Speed and width of a link, against what the device can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkState {
    /// As the kernel prints it: "8.0 GT/s PCIe".
    pub speed: String,
    /// The most the device can do.
    pub speed_max: String,
    /// Lanes; 1 for SATA.
    pub width: u32,
    /// The most the device can do.
    pub width_max: u32,
}

impl LinkState {
    /// Whether it is slower or narrower than the device.
    pub fn is_trained_down(&self) -> bool {
        self.width < self.width_max || gigabits(&self.speed) < gigabits(&self.speed_max)
    }
}

/// The number in "8.0 GT/s PCIe" or "6.0 Gbps".
fn gigabits(speed: &str) -> f64 {
    let number = speed.split_whitespace().next().unwrap_or_default();
    number.parse().unwrap_or(0.0)
}

/// What the host has set for a disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostSettings {
    /// The scheduler in use: none, mq-deadline, bfq, kyber.
    pub scheduler: Option<String>,
    /// Requests that the queue holds (`nr_requests`).
    pub requests_max: Option<u64>,
    /// "write back" or "write through", as the kernel believes.
    pub write_cache: Option<String>,
    /// Whether the device takes forced unit access.
    pub fua: Option<bool>,
    /// Bytes of the largest discard; 0: it takes none.
    pub discard_max_bytes: Option<u64>,
    /// Discards since the machine started.
    pub discards_since_boot: Option<u64>,
    /// Whether it turns.
    pub rotational: Option<bool>,
    /// How it is attached.
    pub interface: String,
    /// The file or device behind a loop device.
    pub backing_file: Option<String>,
    /// Its link, where the kernel says so.
    pub link: Option<LinkState>,
    /// Temperature, C, where the kernel's hardware monitor has it.
    pub temperature_c: Option<f64>,
    /// File systems on it.
    pub file_systems: Vec<MountedFileSystem>,
    /// Devices on top of it.
    pub stack: Vec<StackedDevice>,
    /// Limits of control groups for it.
    pub limits: Vec<CgroupLimit>,
    /// Partitions that do not begin at a multiple of 4 KiB.
    pub misaligned: Vec<String>,
}

/// What is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitedRate {
    /// Bytes read in a second.
    ReadBytes,
    /// Bytes written in a second.
    WriteBytes,
    /// Reads in a second.
    Reads,
    /// Writes in a second.
    Writes,
}

impl LimitedRate {
    /// For sentences, with its value.
    pub fn sentence(self, limit: u64) -> String {
        let bytes = || ssdlab_view::units::throughput(limit as f64);
        match self {
            LimitedRate::ReadBytes => format!("reads of {}", bytes()),
            LimitedRate::WriteBytes => format!("writes of {}", bytes()),
            LimitedRate::Reads => format!("{limit} reads a second"),
            LimitedRate::Writes => format!("{limit} writes a second"),
        }
    }
}

/// A limit of one control group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CgroupLimit {
    /// Its folder below the root of control groups.
    pub group: String,
    /// What is limited.
    pub rate: LimitedRate,
    /// To how much, a second.
    pub limit: u64,
}

impl HostSettings {
    /// Whether the kernel holds the write cache for volatile: it then sends flushes.
    pub fn has_volatile_cache(&self) -> bool {
        self.write_cache.as_deref() == Some("write back")
    }

    /// Whether a server of this machine answers in the device's place, so that times have the
    /// way to it and back in them.
    pub fn is_served_here(&self) -> bool {
        matches!(self.interface.as_str(), "loop" | "network")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_held_against_what_the_device_can_do() {
        let mut link = LinkState {
            speed: "8.0 GT/s PCIe".into(),
            speed_max: "16.0 GT/s PCIe".into(),
            width: 4,
            width_max: 4,
        };
        assert!(link.is_trained_down());
        link.speed = link.speed_max.clone();
        assert!(!link.is_trained_down());
        link.width = 1;
        assert!(link.is_trained_down());
    }
}
