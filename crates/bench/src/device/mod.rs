//! Where commands go: one trait for a modelled drive, a file, a block device and nothing at all.

#[cfg(target_os = "linux")]
mod bypass;
#[cfg(target_os = "linux")]
pub mod claim;
#[cfg(target_os = "linux")]
mod contents;
#[cfg(target_os = "linux")]
pub mod direct;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
pub mod files;
#[cfg(target_os = "linux")]
pub mod generic;
pub mod health;
mod modelled;
pub mod named;
mod needs;
pub mod null;
#[cfg(target_os = "linux")]
pub mod nvme;
#[cfg(target_os = "linux")]
pub mod open;
#[cfg(target_os = "linux")]
mod payload;
#[cfg(target_os = "linux")]
mod slab;
#[cfg(target_os = "linux")]
mod stamps;
pub mod status;
#[cfg(target_os = "linux")]
pub mod system;
#[cfg(target_os = "linux")]
pub mod uring;
pub mod volume;
#[cfg(target_os = "linux")]
pub mod way;

pub use modelled::ModelledTarget;
pub use needs::{Needs, OpenOptions, PayloadContents, RepeatedBlocks, WriteOptions};
pub use null::NullTarget;
pub use volume::VolumeTarget;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_ssd::{Command, Nanos, Op};

/// One finished command.
#[derive(Clone, Copy, Debug)]
pub struct TargetCompletion {
    /// As given to [`Target::submit`].
    pub tag: u32,
    /// When the host handed it over.
    pub submitted: Nanos,
    /// When the host learned of its completion.
    pub done: Nanos,
    /// 0, or the error: an errno, or an NVMe status ([`status::errno_of`]).
    pub errno: i32,
}

/// Something that carries out commands, in real or in virtual time.
///
/// Time starts at 0 when the target is opened and never goes back. At most [`Target::depth_max`]
/// commands may be outstanding; each outstanding command has its own tag below that number.
pub trait Target {
    /// What is known of it.
    fn facts(&self) -> &TargetFacts;

    /// Most commands that may be outstanding, at least 1.
    fn depth_max(&self) -> u32;

    /// The time now. In virtual time: of the last event seen.
    fn now(&mut self) -> Nanos;

    /// Hands over a command; the target may hold it back until [`Target::reap`].
    ///
    /// # Errors
    /// Only when the target as a whole failed; a command's own failure is in
    /// [`TargetCompletion::errno`].
    fn submit(&mut self, tag: u32, command: &Command) -> Result<(), LabError>;

    /// Waits until a command completes or the time is `until`, whichever is first; appends what
    /// has completed, in order of time. With nothing outstanding, waits until `until`, which
    /// must then be given. In virtual time "waiting" moves the clock (idle work gets done).
    ///
    /// # Errors
    /// Only when the target as a whole failed.
    fn reap(
        &mut self,
        until: Option<Nanos>,
        completions: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError>;

    /// A hint that `command` will be submitted soon.
    #[inline]
    fn prefetch(&self, _command: &Command) {}

    /// What has reached the device since it was opened.
    fn counters(&mut self) -> Counters;

    /// How warm it was so far, where its temperature is modelled.
    fn heat(&self) -> Option<health::ThermalSummary> {
        None
    }

    /// The target's own consistency check after a run (page conservation and the like).
    ///
    /// # Errors
    /// The first contradiction found.
    fn self_check(&mut self) -> Result<(), LabError> {
        Ok(())
    }
}

/// What kind of thing a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A drive of the catalogue, in virtual time.
    Modelled,
    /// A volume of a cloud, in virtual time.
    Volume,
    /// A file on a file system.
    File,
    /// A block device.
    BlockDevice,
    /// Completes everything at once: measures the generator itself.
    Null,
}

/// What is known of a target before anything is measured. `None` = unknown.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct TargetFacts {
    /// As the user named it; a drive file by the drive's own name.
    pub name: String,
    /// What to type for it, where that is not its name: `drive:FILE.toml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<String>,
    /// What it is.
    pub kind: TargetKind,
    /// Bytes usable.
    pub capacity: u64,
    /// Smallest unit and alignment of a command, in bytes.
    pub block_size: u32,
    /// Maker and model of the drive underneath.
    pub model: Option<String>,
    /// Its serial number (only compared and shown to its owner; never guessed).
    pub serial: Option<String>,
    /// `sata`, `nvme`, `virtio`, `loop`, ...
    pub interface: Option<String>,
    /// What the kernel believes of the cache: `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Whether the kernel uses FUA on it.
    pub fua: Option<bool>,
    /// Power-loss protection as documented (catalogue) or declared by the drive.
    pub power_loss_protection: Option<bool>,
    /// Where `power_loss_protection` comes from.
    pub power_loss_protection_source: Option<String>,
    /// Whether `power_loss_protection` is an assumption.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub power_loss_protection_assumed: bool,
    /// Rated endurance in bytes written.
    pub rated_bytes_written: Option<u64>,
    /// Warranty in years, for DWPD.
    pub warranty_years: Option<f64>,
    /// A rotating disk.
    pub rotational: Option<bool>,
    /// A virtual machine's disk: what is underneath is not visible.
    pub virtualised: Option<bool>,
    /// File system, for a file.
    pub file_system: Option<String>,
    /// What the drive says of its own health; `None`: not asked, or a modelled drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<crate::device::health::DriveHealth>,
    /// How warm it was while it was measured, where its temperature is modelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<crate::device::health::ThermalSummary>,
    /// Anything else that a reader of the report should know.
    pub notes: Vec<String>,
}

impl TargetFacts {
    /// A target with only its name and kind known; capacity 0, blocks of 512 bytes.
    pub fn unknown(name: String, kind: TargetKind) -> TargetFacts {
        TargetFacts {
            name,
            typed: None,
            kind,
            capacity: 0,
            block_size: 512,
            model: None,
            serial: None,
            interface: None,
            write_cache: None,
            fua: None,
            power_loss_protection: None,
            power_loss_protection_source: None,
            power_loss_protection_assumed: false,
            rated_bytes_written: None,
            warranty_years: None,
            rotational: None,
            virtualised: None,
            file_system: None,
            health: None,
            heat: None,
            notes: Vec::new(),
        }
    }
}

/// What reached the device, from its own counters; `None` = the target cannot tell.
#[derive(Clone, Debug, Default, Serialize, JsonSchema, Deserialize)]
pub struct Counters {
    /// Read commands.
    pub reads: Option<u64>,
    /// Write commands.
    pub writes: Option<u64>,
    /// Writes with FUA set.
    pub fua_writes: Option<u64>,
    /// Flush commands.
    pub flushes: Option<u64>,
    /// Discards.
    pub trims: Option<u64>,
    /// Bytes the host wrote.
    pub host_bytes_written: Option<u64>,
    /// Bytes programmed into NAND.
    pub nand_bytes_written: Option<u64>,
    /// Everything else the modelled drive counts, by glossary name.
    pub more: Vec<(String, u64)>,
}

/// Every op that a target counts separately, in `Op` order, as CSV column stems.
pub const OP_NAMES: [&str; Op::COUNT] = ["read", "write", "trim", "flush", "write_zeroes"];
