//! What to run.

use std::path::PathBuf;
use std::time::Duration;

/// Device models of QEMU.
pub const MODELS: &[&str] = &["virtio-blk", "virtio-scsi", "nvme", "ahci", "ide"];
/// Cache modes of QEMU (`-drive cache=`).
pub const CACHE_MODES: &[&str] = &["none", "writeback", "writethrough", "directsync", "unsafe"];
/// Our own device as a model, which has no cache mode of QEMU's.
pub const VHOST_USER: &str = "vhost-user-blk";

/// How a hypervisor reaches a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Over NBD.
    #[default]
    Nbd,
    /// As a file, under FUSE.
    File,
}

/// What to run.
#[derive(Clone, Debug)]
pub struct ConformPlan {
    /// The hypervisor and its arguments; places in braces are filled in.
    pub command: Vec<String>,
    /// The kernel of the guest.
    pub kernel: PathBuf,
    /// Its modules: `lib/modules/VERSION`. `None` where all that is needed is built in.
    pub modules: Option<PathBuf>,
    /// The program that the guest runs: it calls [`crate::guest::run`] for
    /// [`crate::guest::ARGUMENT`]. With its libraries it goes into the image.
    pub guest: PathBuf,
    /// Device models, of [`MODELS`]; used where `command` is only a program.
    pub models: Vec<String>,
    /// Cache modes, of [`CACHE_MODES`]; likewise.
    pub cache_modes: Vec<String>,
    /// How hypervisors reach the drives.
    pub transport: Transport,
    /// Time that one guest has.
    pub timeout: Duration,
}
