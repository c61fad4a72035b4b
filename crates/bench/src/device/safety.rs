//! Whether a target may be written to: checked before it is opened for writing.
//!
//! A file: one that we create, or an existing one that the user names with the overwrite flag.
//! A block device: only after the owner has typed the drive's exact serial number
//! (for a device without one, such as a loop device: its kernel name, and only when it is blank).
//! A device that is mounted, held, used for swap or behind a loop device is always refused.
//!
//! The answer is a [`WritePermission`], without which no target opens for writing. Between question
//! and opening the world may change, so a block device is also opened with `O_EXCL`: the kernel
//! itself refuses what a file system, md, dm, ZFS or another exclusive owner holds, mounts of
//! other namespaces included.
//!
//! Left out: users that only have the device open (they hold no claim), and formats that
//! [`super::signature`] does not know.

use super::generic::NvmeGenericDevice;
use super::needs::WriteOptions;
use super::signature::signatures;
use crate::device::system::{DevId, SysfsDevice, SystemPaths, unescape};
use rustix::fs::{FileType, Mode, OFlags};
use ssdlab_base::LabError;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A kind of target that may be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermittedTarget {
    /// A file that does not exist yet; it is created exclusively.
    NewFile,
    /// An existing file, empty or named with the overwrite flag.
    ExistingFile,
    /// A block device, with its number.
    BlockDevice(DevId),
}

/// Permission to write to one path. Only [`check_write_allowed`] makes one.
#[derive(Debug)]
pub struct WritePermission {
    path: PathBuf,
    target: PermittedTarget,
}

impl WritePermission {
    /// The path, symbolic links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What kind of target is there.
    pub fn target(&self) -> PermittedTarget {
        self.target
    }
}

/// Whether `path` may be written to, given what the user has said.
///
/// # Errors
/// When it may not: why, and what to do about it.
pub fn check_write_allowed(
    path: &Path,
    options: &WriteOptions,
) -> Result<WritePermission, LabError> {
    check_on(&SystemPaths::live(), path, options)
}

/// As [`check_write_allowed`], on another machine's `/sys` and `/proc`.
///
/// # Errors
/// As [`check_write_allowed`].
pub fn check_on(
    system: &SystemPaths,
    path: &Path,
    options: &WriteOptions,
) -> Result<WritePermission, LabError> {
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return new_file(path),
        Err(error) => return Err(LabError::file("looking at", path, error)),
    };
    let kind = meta.file_type();
    let path = fs::canonicalize(path).map_err(|error| LabError::file("resolving", path, error))?;
    let name = path.display();
    if kind.is_block_device() {
        return block_device(system, path, DevId::from_raw(meta.rdev()), options);
    }
    if kind.is_dir() {
        return Err(LabError::refused(
            format!("{name} is a directory"),
            "name a file in it; it is created, used and removed again",
        ));
    }
    if kind.is_char_device()
        && let Some(block) = NvmeGenericDevice::numbered(system, DevId::from_raw(meta.rdev()))
            .and_then(|generic| generic.block_name())
    {
        return Err(LabError::refused(
            format!("{name} is an NVMe generic device, which takes commands and no writes"),
            format!("name the block device of the same namespace, /dev/{block}"),
        ));
    }
    if !kind.is_file() {
        return Err(LabError::refused(
            format!("{name} is neither a file nor a block device"),
            "name a file or a block device such as /dev/nvme0n1",
        ));
    }
    existing_file(system, path, &meta, options)
}

fn new_file(path: &Path) -> Result<WritePermission, LabError> {
    let dangling = fs::symlink_metadata(path).is_ok();
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let (parent, name) = match (fs::canonicalize(parent), path.file_name()) {
        (Ok(parent), Some(name)) if parent.is_dir() && !dangling => (parent, name),
        _ => {
            let problem = if dangling {
                format!("{} is a symbolic link to nothing", path.display())
            } else {
                format!(
                    "{} cannot be created: there is no directory {}",
                    path.display(),
                    parent.display()
                )
            };
            return Err(LabError::refused(
                problem,
                "check the spelling, or create it",
            ));
        }
    };
    if parent.starts_with("/dev") && !parent.starts_with("/dev/shm") {
        return Err(LabError::refused(
            format!("there is no device {}", path.display()),
            "a file in /dev would be in memory: check the device's name (lsblk)",
        ));
    }
    Ok(WritePermission {
        path: parent.join(name),
        target: PermittedTarget::NewFile,
    })
}

fn existing_file(
    system: &SystemPaths,
    path: PathBuf,
    meta: &fs::Metadata,
    options: &WriteOptions,
) -> Result<WritePermission, LabError> {
    let name = path.display();
    if let Some(user) = user_of_path(system, &path) {
        return Err(LabError::refused(
            format!("{name} is in use: {user}"),
            "name another file; this one is refused whatever is confirmed",
        ));
    }
    if meta.len() > 0 && !options.allow_overwrite {
        return Err(LabError::refused(
            format!("{name} exists and holds {} bytes", meta.len()),
            "name a file that does not exist, or allow this one to be overwritten (--overwrite)",
        ));
    }
    Ok(WritePermission {
        path,
        target: PermittedTarget::ExistingFile,
    })
}

fn block_device(
    system: &SystemPaths,
    path: PathBuf,
    id: DevId,
    options: &WriteOptions,
) -> Result<WritePermission, LabError> {
    let name = path.display().to_string();
    let device = system.block_device(id).ok_or_else(|| {
        LabError::refused(
            format!("{name} ({id}) is not in {}", system.sys.display()),
            "without it ssdlab cannot tell who uses the device: mount /sys",
        )
    })?;
    if let Some(why) = in_use(system, &device, &path) {
        return Err(LabError::refused(
            format!("{name} is in use: {why}"),
            "unmount or stop what uses it; it is refused whatever is confirmed",
        ));
    }
    let contents = contents(&device, &path)?;
    confirm(&name, &device, device.serial(system), &contents, options)?;
    Ok(WritePermission {
        path,
        target: PermittedTarget::BlockDevice(id),
    })
}

/// Whether the typed confirmation fits a device with this serial number and these contents.
fn confirm(
    name: &str,
    device: &SysfsDevice,
    serial: Option<String>,
    contents: &[String],
    options: &WriteOptions,
) -> Result<(), LabError> {
    let holds = if contents.is_empty() {
        String::from("its contents would be lost")
    } else {
        format!("it holds: {}", contents.join(", "))
    };
    let Some(word) = serial.clone().or_else(|| {
        // Without a serial number only a blank device can be confirmed, by its kernel name.
        contents.is_empty().then(|| device.name.clone())
    }) else {
        return Err(LabError::refused(
            format!("{name} would be overwritten and {holds}; it has no serial number to confirm"),
            format!("if nothing of it is needed, blank it first: wipefs --all {name}"),
        ));
    };
    let typed = options.confirmed_serial.as_deref().map(str::trim);
    if typed == Some(word.trim()) {
        return Ok(());
    }
    let identifier = if serial.is_some() {
        "the serial number printed on the drive (or shown by lsblk -o NAME,SERIAL)"
    } else {
        "its kernel name, as it has no serial number"
    };
    let confirmation = match typed {
        Some(typed) => format!("`{typed}` does not name this device"),
        None => String::from("nothing was confirmed"),
    };
    Err(LabError::refused(
        format!("{name} would be overwritten and {holds}; {confirmation}"),
        format!("to confirm, give exactly {identifier} with --serial"),
    ))
}

/// Who uses the device, its partitions or, for a partition, the part itself.
fn in_use(system: &SystemPaths, device: &SysfsDevice, path: &Path) -> Option<String> {
    let family = family(device);
    let ids: Vec<DevId> = family.iter().map(|(_, id)| *id).collect();
    for mount in system.mounts() {
        let by_source = || {
            // File systems over several devices (btrfs) have a number of their own.
            let meta = fs::metadata(&mount.source).ok()?;
            let block = meta.file_type().is_block_device();
            block.then(|| DevId::from_raw(meta.rdev()))
        };
        let on_it = ids.contains(&mount.id)
            || (mount.source.starts_with('/') && by_source().is_some_and(|id| ids.contains(&id)));
        if on_it {
            return Some(format!("{} is mounted at {}", mount.source, mount.point));
        }
    }
    for (dir, _) in &family {
        let holders = fs::read_dir(dir.join("holders")).into_iter().flatten();
        if let Some(holder) = holders.flatten().next() {
            let part = dir.file_name().unwrap_or_default().to_string_lossy();
            let holder = holder.file_name();
            return Some(format!("{part} belongs to {}", holder.to_string_lossy()));
        }
    }
    if let Some(swap) = swap_on(system, |meta| {
        meta.file_type().is_block_device() && ids.contains(&DevId::from_raw(meta.rdev()))
    }) {
        return Some(format!("{swap} is swap space"));
    }
    let names: Vec<PathBuf> = family
        .iter()
        .filter_map(|(dir, _)| Some(Path::new("/dev").join(dir.file_name()?)))
        .chain([path.to_path_buf()])
        .collect();
    let behind_loop = loops(system)
        .into_iter()
        .find(|(_, file)| names.contains(file));
    if let Some((name, _)) = behind_loop {
        return Some(format!("{name} is a loop device on it"));
    }
    exclusive_owner(path)
}

/// Directories and numbers of a device and its partitions.
fn family(device: &SysfsDevice) -> Vec<(PathBuf, DevId)> {
    let mut family = vec![(device.dir.clone(), device.id)];
    for entry in fs::read_dir(&device.dir).into_iter().flatten().flatten() {
        let dir = entry.path();
        if dir.join("partition").exists() {
            let id = fs::read_to_string(dir.join("dev")).unwrap_or_default();
            family.extend(DevId::parse(&id).map(|id| (dir, id)));
        }
    }
    family
}

/// Whether the kernel refuses an exclusive claim: a file system, md, dm, ZFS... has one.
fn exclusive_owner(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Err(rustix::io::Errno::BUSY) => Some(String::from(
            "the kernel says that another owner has claimed it",
        )),
        _ => None,
    }
}

/// What is on the device, from its partitions and its signatures.
fn contents(device: &SysfsDevice, path: &Path) -> Result<Vec<String>, LabError> {
    let partitions = family(device).len() - 1;
    let mut contents = Vec::new();
    if partitions > 0 {
        contents.push(format!("{partitions} partitions"));
    }
    let unreadable = |error| LabError::file("reading the signatures of", path, error);
    let file = File::open(path).map_err(unreadable)?;
    let size = device.capacity().ok_or_else(|| {
        let error = io::Error::other("its size is not in /sys");
        LabError::file("reading the signatures of", path, error)
    })?;
    let names = signatures(&file, size).map_err(unreadable)?;
    contents.extend(names.into_iter().map(str::to_owned));
    Ok(contents)
}

/// How a file is in use, if it is swap space or behind a loop device.
fn user_of_path(system: &SystemPaths, path: &Path) -> Option<String> {
    let this = fs::metadata(path).ok()?;
    let same = |meta: &fs::Metadata| meta.dev() == this.dev() && meta.ino() == this.ino();
    if swap_on(system, same).is_some() {
        return Some(String::from("it is swap space"));
    }
    loops(system)
        .into_iter()
        .find(|(_, file)| file == path || fs::metadata(file).is_ok_and(|meta| same(&meta)))
        .map(|(name, _)| format!("{name} is a loop device on it"))
}

/// The first swap space whose file or device `matches`.
fn swap_on(system: &SystemPaths, matches: impl Fn(&fs::Metadata) -> bool) -> Option<String> {
    let text = fs::read_to_string(system.proc.join("swaps")).ok()?;
    let mut names = text.lines().skip(1).filter_map(|line| {
        let name = line.split_whitespace().next()?;
        Some(unescape(name))
    });
    names.find(|name| fs::metadata(name).is_ok_and(|meta| matches(&meta)))
}

/// Loop devices with their backing files.
fn loops(system: &SystemPaths) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(system.sys.join("block")).into_iter().flatten();
    entries
        .flatten()
        .filter_map(|entry| {
            let file = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            Some((name, PathBuf::from(file.trim_end())))
        })
        .collect()
}

/// Whether an opened file is still what was permitted.
pub(super) fn still_permitted(permission: &WritePermission, stat: &rustix::fs::Stat) -> bool {
    let kind = FileType::from_raw_mode(stat.st_mode);
    match permission.target {
        PermittedTarget::NewFile | PermittedTarget::ExistingFile => kind == FileType::RegularFile,
        PermittedTarget::BlockDevice(id) => {
            kind == FileType::BlockDevice && DevId::from_raw(stat.st_rdev) == id
        }
    }
}

#[cfg(test)]
#[path = "safety_tests.rs"]
mod tests;
