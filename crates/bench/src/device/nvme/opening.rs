//! Opening an NVMe generic device as a target.
//!
//! In this order, each step only if the ones before succeeded: find the device and the block device
//! of the same namespace (sysfs); ask the drive about it (Identify); check that the block device
//! may be written to ([`check_on`]); claim it; check again that all of that still fits together.

use super::calls::{identify, namespace_id};
use super::command::NamespaceFormat;
use super::{NvmeTarget, Passthrough};
use crate::device::claim::{claim_on, is_device};
use crate::device::generic::{NvmeGenericDevice, refuse_passthrough};
use crate::device::needs::{Needs, OpenOptions};
use crate::device::open::{failed, refuse_contents, refuse_unaligned, written};
use crate::device::status::NvmeStatus;
use crate::device::system::{DevId, SysfsDevice, SystemPaths};
use crate::device::uring::{UringOptions, UringTarget};
use crate::device::{TargetFacts, TargetKind};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use ssdlab_base::LabError;
use ssdlab_ssd::Bytes;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Bytes of a page of memory.
const PAGE: u64 = 4096;

/// Opens the NVMe generic device at `path` for what `needs` says.
///
/// # Errors
/// When it is not an NVMe generic device, has no block device, may not be written, or cannot take
/// the commands.
pub fn open(path: &Path, needs: &Needs, options: &OpenOptions) -> Result<NvmeTarget, LabError> {
    let system = SystemPaths::live();
    let namespace = Namespace::find(&system, path)?;
    if options.buffered {
        return Err(LabError::refused(
            format!("{}: NVMe commands pass no page cache", path.display()),
            "leave out --buffered, or name the block device",
        ));
    }
    refuse_contents(needs)?;
    let file = open_generic(path, needs.changes)?;
    let nsid = number_of(&file, path)?;
    let format = format_of(&file, path, nsid)?;
    namespace.refuse_format(path, &format, needs)?;
    let mut facts = namespace.facts(&system, path, &format);
    refuse_unaligned(path, needs, &facts)?;
    facts.notes.extend(namespace.limits(path, needs)?);
    let claim = if needs.changes {
        Some(namespace.claim(&system, path, options)?)
    } else {
        None
    };
    namespace.refuse_changed(&system, path, &file, nsid, claim.as_ref())?;
    let way = Passthrough::new(nsid, format.block_shift, claim, needs.depth);
    UringTarget::new(file, facts, way, UringOptions::of(needs), &written(needs))
}

/// Bytes of the largest command that the namespace behind the NVMe generic device at `path` takes;
/// `None` if it is not a generic device or the limit is not known.
pub fn len_max(path: &Path) -> Option<u64> {
    let system = SystemPaths::live();
    let (generic, _) = NvmeGenericDevice::at(&system, path)?;
    command_max(&generic.block_device(&system)?)
}

fn command_max(block: &SysfsDevice) -> Option<u64> {
    block.queue("max_hw_sectors_kb")?.checked_mul(1024)
}

/// A namespace: its generic device, and the block device that shows the same.
struct Namespace {
    generic: NvmeGenericDevice,
    id: DevId,
    block: SysfsDevice,
    /// Of the block device.
    block_path: PathBuf,
}

impl Namespace {
    /// The one whose generic device is at `path`.
    fn find(system: &SystemPaths, path: &Path) -> Result<Namespace, LabError> {
        let (generic, id) =
            NvmeGenericDevice::at(system, path).ok_or_else(|| refuse_passthrough(system, path))?;
        let Some(block) = generic.block_device(system) else {
            return Err(LabError::refused(
                format!("{}: the namespace has no block device", path.display()),
                "without one ssdlab cannot tell what is on it or who uses it, and refuses it",
            ));
        };
        let block_path = Path::new("/dev").join(&block.name);
        Ok(Namespace {
            generic,
            id,
            block,
            block_path,
        })
    }

    /// Refuses namespaces that this target does not know how to use.
    fn refuse_format(
        &self,
        path: &Path,
        format: &NamespaceFormat,
        needs: &Needs,
    ) -> Result<(), LabError> {
        let (name, block) = (path.display(), &self.block.name);
        if format.metadata_bytes > 0 {
            return Err(LabError::refused(
                format!(
                    "{name} is formatted with {} bytes of metadata for each block",
                    format.metadata_bytes
                ),
                "commands carry none here: choose another format with `nvme format`, which erases \
                 everything, or another namespace",
            ));
        }
        let bytes = format.blocks.checked_mul(1 << format.block_shift);
        let same_blocks = self.block.queue("logical_block_size") == Some(1 << format.block_shift);
        if !same_blocks || bytes.is_none() || self.block.capacity() != bytes {
            return Err(LabError::refused(
                format!(
                    "{name} has {} blocks of {} bytes, and its block device {block} is another \
                     size",
                    format.blocks,
                    1_u64 << format.block_shift
                ),
                "the kernel does not show this namespace as it is: let it look again with \
                 `nvme ns-rescan`",
            ));
        }
        if format.write_protected && needs.changes {
            return Err(LabError::refused(
                format!("{name}: the namespace is write-protected"),
                "see `nvme get-feature -f 0x84 -H`; it can be read",
            ));
        }
        Ok(())
    }

    /// Refuses commands that are too large for the drive. Returns what may make others fail.
    fn limits(&self, path: &Path, needs: &Needs) -> Result<Option<String>, LabError> {
        let largest = u64::from(needs.len_max());
        let Some(max) = command_max(&self.block) else {
            return Err(LabError::refused(
                format!(
                    "{}: the largest command is not in sysfs",
                    self.block_path.display()
                ),
                "mount /sys",
            ));
        };
        if largest > max {
            return Err(LabError::refused(
                format!(
                    "{} takes commands of {} at most, and the workload has some of {}",
                    path.display(),
                    Bytes(max),
                    Bytes(largest)
                ),
                format!(
                    "NVMe commands are not split: use smaller ones (bs), or name {} with \
                     ioengine=io_uring, where the kernel splits them",
                    self.block_path.display()
                ),
            ));
        }
        let segments = self.block.queue("max_segments").unwrap_or(u64::MAX);
        Ok((largest > segments.saturating_mul(PAGE)).then(|| {
            format!(
                "a command of {} fails with EINVAL if its buffer is scattered over more than \
                 {segments} places in memory; huge pages were asked for",
                Bytes(largest)
            )
        }))
    }

    /// Checks that the block device may be written to, and claims it.
    fn claim(
        &self,
        system: &SystemPaths,
        path: &Path,
        options: &OpenOptions,
    ) -> Result<File, LabError> {
        let through = |error: LabError| match error {
            LabError::Refused { what, hint } => LabError::Refused {
                what: format!("{}: {what}", path.display()),
                hint,
            },
            error => error,
        };
        let claim = claim_on(system, &self.block_path, options).map_err(through)?;
        let claim = claim.into_file();
        if is_device(&claim, self.block.id) {
            Ok(claim)
        } else {
            Err(self.changed(path))
        }
    }

    /// Refuses an open device that is not the one that was found.
    fn refuse_changed(
        &self,
        system: &SystemPaths,
        path: &Path,
        file: &File,
        nsid: u32,
        claim: Option<&File>,
    ) -> Result<(), LabError> {
        let stat = rustix::fs::fstat(file).map_err(|error| failed("looking at", path, error))?;
        let same_device = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice
            && DevId::from_raw(stat.st_rdev) == self.id;
        let current_block = NvmeGenericDevice::numbered(system, self.id).and_then(|device| {
            let block = device.block_device(system)?;
            (device.name == self.generic.name).then_some(block.id)
        });
        let same_namespace = match claim {
            Some(claim) => number_of(claim, &self.block_path)? == nsid,
            None => true,
        };
        if same_device && same_namespace && current_block == Some(self.block.id) {
            Ok(())
        } else {
            Err(self.changed(path))
        }
    }

    fn changed(&self, path: &Path) -> LabError {
        LabError::refused(
            format!(
                "{} and {} are not, or no longer, the same namespace",
                path.display(),
                self.block_path.display()
            ),
            "the drive may just have been plugged or reset: look again",
        )
    }

    /// Facts about it, all from its block device.
    fn facts(&self, system: &SystemPaths, path: &Path, format: &NamespaceFormat) -> TargetFacts {
        let name = path.display().to_string();
        let mut facts = TargetFacts::unknown(name, TargetKind::BlockDevice);
        self.block.describe(system, &mut facts);
        facts.block_size = 1 << format.block_shift;
        facts.capacity = format.blocks << format.block_shift;
        facts.notes.push(format!(
            "NVMe commands through the generic device of {}, past the kernel's block layer: each \
             is one command to the drive, and counted when the drive has completed it",
            self.block.name
        ));
        facts
    }
}

fn open_generic(path: &Path, changes: bool) -> Result<File, LabError> {
    let access = if changes {
        OFlags::RDWR
    } else {
        OFlags::RDONLY
    };
    let opened = rustix::fs::open(path, access | OFlags::CLOEXEC, Mode::empty());
    opened
        .map(File::from)
        .map_err(|error| failed("opening", path, error))
}

fn number_of(device: &File, path: &Path) -> Result<u32, LabError> {
    namespace_id(device).map_err(|error| failed("asking for the namespace of", path, error))
}

fn format_of(device: &File, path: &Path, nsid: u32) -> Result<NamespaceFormat, LabError> {
    let name = path.display();
    match identify(device, nsid) {
        Ok((0, answer)) => NamespaceFormat::read(&answer).ok_or_else(|| {
            LabError::refused(
                format!("{name}: Identify Namespace gives no format"),
                "see `nvme id-ns`",
            )
        }),
        Ok((status, _)) => Err(LabError::refused(
            format!("{name} does not say what it is: {}", NvmeStatus(status)),
            NvmeStatus(status).hint(),
        )),
        Err(Errno::ACCESS | Errno::PERM) => Err(LabError::refused(
            format!("{name}: NVMe commands are not allowed"),
            "run as root: before Linux 6.2 NVMe commands take CAP_SYS_ADMIN",
        )),
        Err(error) => Err(failed("identifying", path, error)),
    }
}

#[cfg(test)]
#[path = "opening_tests.rs"]
mod tests;
