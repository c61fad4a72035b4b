//! NVMe generic devices (`/dev/ng0n1`): which they are, and the block device of the same namespace.
//!
//! The kernel makes both of one namespace, with the same numbers in their names, side by side below
//! the controller or, with several paths, below the subsystem. They are matched by their places in
//! sysfs, never by the name that the user has typed.

use super::system::{DevId, SysfsDevice, SystemPaths};
use rustix::fs::FileType;
use ssdlab_base::LabError;
use std::fs;
use std::path::{Path, PathBuf};

/// The class of generic devices (Linux 5.13 and later).
const CLASS: &str = "nvme-generic";

/// An NVMe generic device as sysfs shows it.
#[derive(Clone, Debug)]
pub struct NvmeGenericDevice {
    /// `ng0n1`.
    pub name: String,
    /// Its directory in sysfs.
    dir: PathBuf,
}

impl NvmeGenericDevice {
    /// The generic device that is numbered `id`, if it is one.
    pub fn numbered(system: &SystemPaths, id: DevId) -> Option<NvmeGenericDevice> {
        let link = system.sys.join("dev/char").join(id.to_string());
        let dir = fs::canonicalize(link).ok()?;
        let class = fs::canonicalize(dir.join("subsystem")).ok()?;
        if class.file_name()? != CLASS {
            return None;
        }
        let name = dir.file_name()?.to_str()?.to_owned();
        Some(NvmeGenericDevice { name, dir })
    }

    /// The generic device at `path`, with its number.
    pub fn at(system: &SystemPaths, path: &Path) -> Option<(NvmeGenericDevice, DevId)> {
        let stat = rustix::fs::stat(path).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::CharacterDevice {
            return None;
        }
        let id = DevId::from_raw(stat.st_rdev);
        NvmeGenericDevice::numbered(system, id).map(|generic| (generic, id))
    }

    /// The name that the block device of the namespace has, if there is one.
    pub fn block_name(&self) -> Option<String> {
        let numbers = self.name.strip_prefix("ng")?;
        Some(format!("nvme{numbers}"))
    }

    /// The block device of the same namespace.
    pub fn block_device(&self, system: &SystemPaths) -> Option<SysfsDevice> {
        let dir = self.dir.parent()?.join(self.block_name()?);
        let id = DevId::parse(&fs::read_to_string(dir.join("dev")).ok()?)?;
        let device = system.block_device(id)?;
        (fs::canonicalize(dir).ok()? == device.dir).then_some(device)
    }
}

/// The generic device of the namespace that is this block device.
fn generic_of(device: &SysfsDevice) -> Option<String> {
    let numbers = device.disk_name().strip_prefix("nvme")?.to_owned();
    let name = format!("ng{numbers}");
    device.disk.parent()?.join(&name).exists().then_some(name)
}

/// `path`, or the block device of the namespace if `path` is an NVMe generic device.
pub fn block_path(system: &SystemPaths, path: &Path) -> PathBuf {
    let block = NvmeGenericDevice::at(system, path).and_then(|(generic, _)| generic.block_name());
    block.map_or_else(|| path.to_owned(), |name| Path::new("/dev").join(name))
}

/// Why NVMe commands cannot be sent to `path`, which is no NVMe generic device.
pub(super) fn refuse_passthrough(system: &SystemPaths, path: &Path) -> LabError {
    let name = path.display();
    let stat = rustix::fs::stat(path).ok();
    let kind = stat.map(|stat| (FileType::from_raw_mode(stat.st_mode), stat.st_rdev));
    let refused = |actual: &str, hint: String| {
        LabError::refused(
            format!(
                "{name}: io_uring_cmd takes an NVMe generic device such as /dev/ng0n1, and this \
                 is {actual}"
            ),
            hint,
        )
    };
    let usual = String::from(
        "write ioengine=io_uring to measure files and block devices; a modelled drive takes \
         io_uring_cmd as it is",
    );
    let Some((FileType::BlockDevice, id)) = kind else {
        return match kind {
            Some((FileType::CharacterDevice, _)) => refused("another character device", usual),
            _ => refused("none", usual),
        };
    };
    let device = system.block_device(DevId::from_raw(id));
    let Some((device, generic)) = device.and_then(|it| generic_of(&it).map(|name| (it, name)))
    else {
        return refused("a block device", usual);
    };
    if device.dir == device.disk {
        refused(
            "the block device of a namespace",
            format!("name /dev/{generic}, which is the same namespace; or write ioengine=io_uring"),
        )
    } else {
        refused(
            "a partition",
            format!("write ioengine=io_uring: /dev/{generic} is the whole namespace"),
        )
    }
}

#[cfg(test)]
#[path = "generic_tests.rs"]
pub(super) mod tests;
