//! Who uses a file or block device: mounts in every mount namespace, holders, swap, loop devices,
//! other programs. By numbers of devices and inodes; names only where the kernel gives no number.

use crate::device::system::{DevId, SysfsDevice, SystemPaths, unescape};
use std::fs::{self, File, Metadata};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file or block device, as its users are compared with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileIdentity {
    /// By the number of its file system and its inode.
    File { file_system: u64, inode: u64 },
    /// By its own number.
    Device(DevId),
}

impl FileIdentity {
    fn of(meta: &Metadata) -> FileIdentity {
        if meta.file_type().is_block_device() {
            FileIdentity::Device(DevId::from_raw(meta.rdev()))
        } else {
            FileIdentity::File {
                file_system: meta.dev(),
                inode: meta.ino(),
            }
        }
    }
}

/// Who uses the device or its partitions, if anyone can be named.
pub(super) fn of_device(system: &SystemPaths, device: &SysfsDevice) -> Option<String> {
    let family = family(device);
    let is_family = |id: DevId| family.iter().any(|(_, member)| *member == id);
    for mount in system.mounts_everywhere() {
        let by_source = || {
            // File systems over several devices (btrfs) have a number of their own.
            let meta = fs::metadata(&mount.source).ok()?;
            let is_block = meta.file_type().is_block_device();
            is_block.then(|| DevId::from_raw(meta.rdev()))
        };
        if is_family(mount.id)
            || (mount.source.starts_with('/') && by_source().is_some_and(is_family))
        {
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
    let is_same = |meta: &Metadata| match FileIdentity::of(meta) {
        FileIdentity::Device(id) => is_family(id),
        FileIdentity::File { .. } => false,
    };
    if let Some(swap) = swap_on(system, is_same) {
        return Some(format!("{swap} is swap space"));
    }
    let behind = loops(system).into_iter().find(|entry| {
        let by_name = || fs::metadata(&entry.backing_file).is_ok_and(|meta| is_same(&meta));
        match entry.backing {
            Some(FileIdentity::Device(id)) => is_family(id),
            Some(FileIdentity::File { .. }) => false,
            None => by_name() || names_one_of(&family, &entry.backing_file),
        }
    });
    behind.map(|entry| format!("{} is a loop device on it", entry.name))
}

/// Whether `path` is `/dev/` and the name of one of the `family`.
fn names_one_of(family: &[(PathBuf, DevId)], path: &Path) -> bool {
    let mut names = family.iter().filter_map(|(dir, _)| dir.file_name());
    names.any(|name| path == Path::new("/dev").join(name))
}

/// Directories and numbers of a device and its partitions.
pub(super) fn family(device: &SysfsDevice) -> Vec<(PathBuf, DevId)> {
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

/// Who uses an open file, if it is swap space, behind a loop device, or open elsewhere to be
/// written to. Needs `file` open for writing, and no other descriptor of it in this process.
pub(super) fn of_file(system: &SystemPaths, file: &File, path: &Path) -> Option<String> {
    let meta = file.metadata().ok()?;
    let identity = FileIdentity::of(&meta);
    let is_same = |other: &Metadata| FileIdentity::of(other) == identity;
    if swap_on(system, is_same).is_some() {
        return Some("it is swap space".to_owned());
    }
    let behind = loops(system).into_iter().find(|entry| match entry.backing {
        Some(backing) => backing == identity,
        None => match fs::metadata(&entry.backing_file) {
            Ok(other) => is_same(&other),
            // Another mount namespace's name, or a name that is gone: nothing better is known.
            Err(_) => {
                entry.backing_file.file_name() == path.file_name()
                    && entry.bytes == Some(meta.len() & !511)
            }
        },
    });
    if let Some(entry) = behind {
        return Some(format!("{} is a loop device on it", entry.name));
    }
    if !is_open_elsewhere(file) {
        return None;
    }
    match program_with(system, file, &meta) {
        OpenElsewhere::ToRead => None,
        OpenElsewhere::ToWrite(program) => Some(format!("{program} has it open to write to it")),
        OpenElsewhere::Unseen => {
            Some("another program or the kernel has it open to write to it".to_owned())
        }
    }
}

/// Whether anything else has `file` open: a lease says so, as the kernel counts all writers (some
/// kernels readers, too), a loop device or a virtual machine's image included. `false` where the
/// file system knows no leases or the file is somebody else's.
fn is_open_elsewhere(file: &File) -> bool {
    // A child that this process has just forked has its files until it runs its own program, and a
    // ring that was closed lets go of its files a little later.
    let tries = [0, 2, 8, 30, 100, 300, 600];
    tries.iter().all(|wait_ms| {
        std::thread::sleep(Duration::from_millis(*wait_ms));
        has_other_user(file)
    })
}

fn has_other_user(file: &File) -> bool {
    let lease = |kind: libc::c_int| {
        // SAFETY: F_SETLEASE takes a number; the descriptor is open.
        unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, kind) }
    };
    if lease(libc::F_WRLCK) == 0 {
        lease(libc::F_UNLCK);
        return false;
    }
    std::io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)
}

/// Who else has a file open.
enum OpenElsewhere {
    /// Programs that only read it.
    ToRead,
    /// A program, by its name and number.
    ToWrite(String),
    /// No program that this one may see.
    Unseen,
}

fn program_with(system: &SystemPaths, file: &File, meta: &Metadata) -> OpenElsewhere {
    let own = (std::process::id().to_string(), file.as_raw_fd().to_string());
    let mut user = OpenElsewhere::Unseen;
    for process in fs::read_dir(&system.proc).into_iter().flatten().flatten() {
        let number = process.file_name().to_string_lossy().into_owned();
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let descriptors = fs::read_dir(process.path().join("fd"))
            .into_iter()
            .flatten();
        for descriptor in descriptors.flatten() {
            let name = descriptor.file_name().to_string_lossy().into_owned();
            let is_it = fs::metadata(descriptor.path())
                .is_ok_and(|other| FileIdentity::of(&other) == FileIdentity::of(meta));
            if !is_it || own == (number.clone(), name.clone()) {
                continue;
            }
            let info = process.path().join("fdinfo").join(name);
            if is_read_only(&fs::read_to_string(info).unwrap_or_default()) {
                user = OpenElsewhere::ToRead;
            } else {
                let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
                let name = name.trim_end();
                return OpenElsewhere::ToWrite(format!("{name} (process {number})"));
            }
        }
    }
    user
}

/// Whether the flags in an `fdinfo`, in octal, have no access to write (proc_pid_fdinfo(5)).
fn is_read_only(fdinfo: &str) -> bool {
    let flags = fdinfo.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & libc::O_ACCMODE == libc::O_RDONLY)
}

/// The first swap space whose file or device `matches`.
fn swap_on(system: &SystemPaths, matches: impl Fn(&Metadata) -> bool) -> Option<String> {
    let text = fs::read_to_string(system.proc.join("swaps")).ok()?;
    let mut names = text.lines().skip(1).filter_map(|line| {
        let name = line.split_whitespace().next()?;
        Some(unescape(name))
    });
    names.find(|name| fs::metadata(name).is_ok_and(|meta| matches(&meta)))
}

/// A loop device in use.
struct LoopDevice {
    name: String,
    /// As sysfs has it: another process's name for the file, which may be gone.
    backing_file: PathBuf,
    /// As the loop device says; `None` when it may not be asked.
    backing: Option<FileIdentity>,
    bytes: Option<u64>,
}

fn loops(system: &SystemPaths) -> Vec<LoopDevice> {
    let entries = fs::read_dir(system.sys.join("block")).into_iter().flatten();
    entries
        .flatten()
        .filter_map(|entry| {
            let text = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
            let sectors = fs::read_to_string(entry.path().join("size")).unwrap_or_default();
            let name = entry.file_name().to_string_lossy().into_owned();
            Some(LoopDevice {
                backing: backing(&name),
                // Only the line's end: a name may end with a blank.
                backing_file: PathBuf::from(text.strip_suffix('\n').unwrap_or(&text)),
                bytes: sectors.trim().parse::<u64>().ok().map(|count| count * 512),
                name,
            })
        })
        .collect()
}

/// What the loop device `name` is on, asked of the device itself (loop(4), `LOOP_GET_STATUS64`).
fn backing(name: &str) -> Option<FileIdentity> {
    const LOOP_GET_STATUS64: rustix::ioctl::Opcode = 0x4c05;
    let device = File::open(Path::new("/dev").join(name)).ok()?;
    // SAFETY: the kernel fills a `loop_info64`, 232 bytes, that begins with three numbers: the
    // device of the backing file, its inode, and its own device number.
    let info: [u64; 29] = unsafe {
        rustix::ioctl::ioctl(
            &device,
            rustix::ioctl::Getter::<LOOP_GET_STATUS64, [u64; 29]>::new(),
        )
    }
    .ok()?;
    let [file_system, inode, own, ..] = info;
    // A file has no number of its own: 0, or that of its file system again, by kernel.
    let is_device = own != 0 && own != file_system;
    Some(if is_device {
        FileIdentity::Device(DevId::from_raw(own))
    } else {
        FileIdentity::File { file_system, inode }
    })
}
