//! Claiming a target to write to it: one descriptor is opened, looked at, and written to.
//!
//! Nothing that holds data is written without a word that names it:
//! - a file: one that is created here, an empty one, or an existing one with the overwrite flag;
//! - a block device with a serial number: that number, exactly, whatever it holds;
//! - a block device without one: its kernel name while it is blank, as there is nothing to lose.
//!   Else a word that stays with the contents: a UUID on it, the backing file of a loop device, the
//!   device mapper's name, or its exact size. A kernel name changes from boot to boot.
//!
//! What is mounted (in any mount namespace), held, swap space, behind a loop device or open to
//! another writer is refused whatever is typed.
//!
//! The target is opened once, a block device with `O_EXCL`: until it is closed the kernel lets no
//! file system, md, dm, ZFS or other exclusive owner have it. Everything above is then asked of the
//! open descriptor, which is the one that writes. Left out: programs that write to a block device
//! without claiming it.

mod blkid;
mod contents;
mod users;

use super::bypass::bypass_cache;
use super::generic::NvmeGenericDevice;
use super::needs::{OpenOptions, WriteOptions};
use crate::device::system::{DevId, SysfsDevice, SystemPaths};
use rustix::fs::{FileType, Mode, OFlags};
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_ssd::Bytes;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

pub use blkid::FormatSignature;
pub use contents::{DataLooks, DataSample, TargetContents};

/// A kind of target that may be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimedKind {
    /// A file that did not exist.
    NewFile,
    /// An existing file, empty or named with the overwrite flag.
    ExistingFile,
    /// A block device, with its number.
    BlockDevice(DevId),
}

/// A target that may be written to, open.
#[derive(Debug)]
pub struct WriteClaim {
    file: File,
    path: PathBuf,
    kind: ClaimedKind,
}

impl WriteClaim {
    /// The path, symbolic links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What kind of target it is.
    pub fn kind(&self) -> ClaimedKind {
        self.kind
    }

    /// The open target; a block device is claimed as long as this is open.
    pub fn into_file(self) -> File {
        self.file
    }
}

/// Opens `path` to be written to, if the user's words allow it.
///
/// # Errors
/// When they do not: what it holds or who uses it, and what to type. When it cannot be opened.
pub fn claim(path: &Path, options: &OpenOptions) -> Result<WriteClaim, LabError> {
    claim_on(&SystemPaths::live(), path, options)
}

/// As [`claim`], on another machine's `/sys` and `/proc`.
///
/// # Errors
/// As [`claim`].
pub fn claim_on(
    system: &SystemPaths,
    path: &Path,
    options: &OpenOptions,
) -> Result<WriteClaim, LabError> {
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return new_file(path, options),
        Err(error) => return Err(LabError::file("looking at", path, error)),
    };
    refuse_kind(system, path, &meta)?;
    let path = fs::canonicalize(path).map_err(|error| LabError::file("resolving", path, error))?;
    let claim = if meta.file_type().is_block_device() {
        let id = DevId::from_raw(meta.rdev());
        block_device(system, path, id, options)?
    } else {
        existing_file(system, path, options)?
    };
    if !options.buffered {
        bypass_cache(&claim.file, &claim.path)?;
    }
    Ok(claim)
}

/// Refuses what is neither a file nor a block device.
fn refuse_kind(system: &SystemPaths, path: &Path, meta: &fs::Metadata) -> Result<(), LabError> {
    let name = path.display();
    let kind = meta.file_type();
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
    if kind.is_file() || kind.is_block_device() {
        return Ok(());
    }
    Err(LabError::refused(
        format!("{name} is neither a file nor a block device"),
        "name a file or a block device such as /dev/nvme0n1",
    ))
}

fn new_file(path: &Path, options: &OpenOptions) -> Result<WriteClaim, LabError> {
    let path = path_of_new_file(path)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::open(&path, flags, Mode::from_raw_mode(0o600))
        .map_err(|error| LabError::file("creating", &path, error.into()))?;
    let file = File::from(file);
    let direct = if options.buffered {
        Ok(())
    } else {
        bypass_cache(&file, &path)
    };
    if direct.is_err() || !options.keep {
        // Nameless from the start: nothing is left behind, however the program ends.
        fs::remove_file(&path).map_err(|error| LabError::file("unlinking", &path, error))?;
    }
    direct.map(|()| WriteClaim {
        file,
        path,
        kind: ClaimedKind::NewFile,
    })
}

fn path_of_new_file(path: &Path) -> Result<PathBuf, LabError> {
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
    Ok(parent.join(name))
}

fn existing_file(
    system: &SystemPaths,
    path: PathBuf,
    options: &OpenOptions,
) -> Result<WriteClaim, LabError> {
    let file = open_existing(&path, OFlags::empty())?;
    let meta = file
        .metadata()
        .map_err(|error| LabError::file("looking at", &path, error))?;
    if !meta.is_file() {
        return Err(replaced(&path));
    }
    let name = path.display();
    if let Some(user) = users::of_file(system, &file, &path) {
        return Err(LabError::refused(
            format!("{name} is in use: {user}"),
            "name another file; this one is refused whatever is confirmed",
        ));
    }
    if meta.len() > 0 && !options.write.allow_overwrite {
        let contents = TargetContents::look(&file, meta.len())
            .map_err(|error| LabError::file("looking at", &path, error))?;
        let held = if contents.is_blank() {
            "one byte repeated, as far as a sample shows".to_owned()
        } else {
            contents.to_string()
        };
        return Err(LabError::refused(
            format!("{name} exists and holds {} bytes: {held}", meta.len()),
            "name a file that does not exist, or allow this one to be overwritten (--overwrite)",
        ));
    }
    Ok(WriteClaim {
        file,
        path,
        kind: ClaimedKind::ExistingFile,
    })
}

/// Block devices that this process was allowed to write to: data of no known format that it finds
/// there when it opens them again are its own.
static WRITTEN: Mutex<Vec<DeviceInstance>> = Mutex::new(Vec::new());

/// A block device from when it appeared until it is gone.
#[derive(Clone, PartialEq, Eq)]
struct DeviceInstance {
    id: DevId,
    /// The kernel's running number of what appears under a name (Linux 5.15).
    sequence: Option<String>,
}

fn block_device(
    system: &SystemPaths,
    path: PathBuf,
    id: DevId,
    options: &OpenOptions,
) -> Result<WriteClaim, LabError> {
    let name = path.display().to_string();
    let device = system.block_device(id).ok_or_else(|| {
        LabError::refused(
            format!("{name} ({id}) is not in {}", system.sys.display()),
            "without it ssdlab cannot tell who uses the device: mount /sys",
        )
    })?;
    let in_use = |user: &str| {
        LabError::refused(
            format!("{name} is in use: {user}"),
            "unmount or stop what uses it; it is refused whatever is confirmed",
        )
    };
    if let Some(user) = users::of_device(system, &device) {
        return Err(in_use(&user));
    }
    // On a block device O_EXCL alone claims it against every other exclusive owner.
    let file = match open_existing(&path, OFlags::EXCL) {
        Err(LabError::File { source, .. }) if source.kind() == io::ErrorKind::ResourceBusy => {
            return Err(in_use("the kernel says that another owner has claimed it"));
        }
        opened => opened?,
    };
    let unreadable = |error| LabError::file("looking at the contents of", &path, error);
    let meta = file.metadata().map_err(unreadable)?;
    if !meta.file_type().is_block_device() || DevId::from_raw(meta.rdev()) != id {
        return Err(replaced(&path));
    }
    // A user that came between the check and the claim.
    if let Some(user) = users::of_device(system, &device) {
        return Err(in_use(&user));
    }
    let bytes = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0))
        .map_err(|error| unreadable(error.into()))?;
    let mut contents = TargetContents::look(&file, bytes).map_err(unreadable)?;
    contents.partitions = users::family(&device).len() - 1;
    let mut written = WRITTEN.lock().unwrap_or_else(|error| error.into_inner());
    let instance = DeviceInstance {
        id,
        sequence: device.read("diskseq"),
    };
    let is_own =
        written.contains(&instance) && contents.formats.is_empty() && contents.partitions == 0;
    Identity::of(system, &device, bytes).confirm(&name, &contents, is_own, &options.write)?;
    written.push(instance);
    Ok(WriteClaim {
        file,
        path,
        kind: ClaimedKind::BlockDevice(id),
    })
}

/// By what a user can name a block device.
#[derive(Debug)]
struct Identity {
    serial: Option<String>,
    kernel_name: String,
    /// Of a loop device.
    backing_file: Option<String>,
    /// The device mapper's name and UUID.
    mapper: Vec<String>,
    bytes: u64,
}

impl Identity {
    fn of(system: &SystemPaths, device: &SysfsDevice, bytes: u64) -> Identity {
        let mapper = ["dm/name", "dm/uuid"];
        Identity {
            serial: device.serial(system),
            kernel_name: device.name.clone(),
            backing_file: device.backing_file(),
            mapper: mapper.iter().filter_map(|file| device.read(file)).collect(),
            bytes,
        }
    }

    /// Whether what was typed names this device well enough for what it holds.
    fn confirm(
        &self,
        name: &str,
        contents: &TargetContents,
        is_own: bool,
        options: &WriteOptions,
    ) -> Result<(), LabError> {
        let typed = |word: &str| {
            let words = [&options.confirmed_serial, &options.destroy];
            let mut words = words.into_iter().flatten();
            words.any(|typed| typed.trim() == word.trim())
        };
        let blank = contents.is_blank() || is_own;
        let mut words: Vec<(&str, String)> = Vec::new();
        if let Some(serial) = &self.serial {
            words.push(("its serial number", serial.clone()));
        } else if blank {
            words.push(("its kernel name", self.kernel_name.clone()));
        }
        if self.serial.is_none() {
            let uuids = contents
                .formats
                .iter()
                .filter_map(|format| format.uuid.clone());
            words.extend(uuids.map(|uuid| ("the UUID on it", uuid)));
            let backing = self.backing_file.iter().cloned();
            words.extend(backing.map(|file| ("its backing file", file)));
            let mapper = self.mapper.iter().cloned();
            words.extend(mapper.map(|name| ("its name in the device mapper", name)));
        }
        let by_size = self.serial.is_none()
            && options
                .destroy
                .as_deref()
                .is_some_and(|size| parse_size(size).ok() == Some(self.bytes));
        if by_size || words.iter().any(|(_, word)| typed(word)) {
            return Ok(());
        }
        Err(self.refusal(name, contents, &words, options))
    }

    fn refusal(
        &self,
        name: &str,
        contents: &TargetContents,
        words: &[(&str, String)],
        options: &WriteOptions,
    ) -> LabError {
        let holds = if contents.is_blank() {
            "it is blank, as far as a sample shows".to_owned()
        } else {
            format!("it holds {contents}")
        };
        let typed = options
            .destroy
            .as_ref()
            .or(options.confirmed_serial.as_ref());
        let confirmation = match typed {
            Some(typed) => format!("`{}` does not name it", typed.trim()),
            None => "nothing was confirmed".to_owned(),
        };
        let hint = if self.serial.is_some() {
            "to confirm, give exactly the serial number printed on the drive (or shown by \
             lsblk -o NAME,SERIAL) with --serial"
                .to_owned()
        } else if contents.is_blank() {
            format!(
                "it has no serial number: confirm with --serial {}",
                self.kernel_name
            )
        } else {
            let size = format!("its exact size, {}", self.bytes);
            let words = words.iter().filter(|(kind, _)| *kind != "its kernel name");
            let words: Vec<String> = words
                .map(|(kind, word)| format!("{kind}, {word}"))
                .chain([size])
                .collect();
            format!(
                "it has no serial number; if nothing on it is needed, give --destroy with {}",
                words.join("; or ")
            )
        };
        LabError::refused(
            format!(
                "{name} ({}) would be overwritten: {holds}; {confirmation}",
                Bytes(self.bytes)
            ),
            hint,
        )
    }
}

fn open_existing(path: &Path, more: OFlags) -> Result<File, LabError> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
    rustix::fs::open(path, flags, Mode::empty())
        .map(File::from)
        .map_err(|error| LabError::file("opening", path, error.into()))
}

fn replaced(path: &Path) -> LabError {
    LabError::refused(
        format!("{} was replaced while it was opened", path.display()),
        "another process changed it: check the path and try again",
    )
}

/// Whether an open block device is the one numbered `id`.
pub(super) fn is_device(file: &File, id: DevId) -> bool {
    rustix::fs::fstat(file).is_ok_and(|stat| {
        FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
            && DevId::from_raw(stat.st_rdev) == id
    })
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_contents;
#[cfg(test)]
mod tests_races;
