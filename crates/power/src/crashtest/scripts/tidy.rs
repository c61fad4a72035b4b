//! Cleaning up behind a script: mounts, loop devices, remains of a killed run.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often the kernel is asked again.
const LOOK: Duration = Duration::from_millis(5);
/// How long the kernel gets to let go of a loop device.
const LET_GO: Duration = Duration::from_secs(5);
/// Prefix of the folders of campaigns in the system's folder for temporary files.
pub const FOLDER_PREFIX: &str = "ssdlab-";
/// Where the drive's file is mounted in such a folder.
pub const FILE_FOLDER: &str = "file";

/// A line of `/proc/mounts`.
struct Mount {
    source: String,
    at: PathBuf,
    kind: String,
}

fn mounts() -> Vec<Mount> {
    let text = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split(' ').map(|word| word.replace("\\040", " "));
        Some(Mount {
            source: words.next()?,
            at: words.next()?.into(),
            kind: words.next()?,
        })
    });
    lines.collect()
}

/// Unmounts and detaches the remains of a script in `folder` or on files in it, but for the drive's
/// own file, and waits until the kernel has let go of the loop devices: it does so some time after
/// `losetup -d`, and until then the file of the drive is busy.
pub fn tidy(folder: &Path) {
    let own = folder.join(FILE_FOLDER);
    let until = Instant::now() + LET_GO;
    loop {
        let loops = loops_on(folder);
        let left = mounts().into_iter().filter(|mount| {
            let is_on_loop = loops
                .iter()
                .any(|device| Path::new(&mount.source) == device);
            is_on_loop || (mount.at.starts_with(folder) && mount.at != own)
        });
        // What is mounted on another mount is listed after it.
        let left: Vec<Mount> = left.collect();
        if (left.is_empty() && loops.is_empty()) || Instant::now() > until {
            return;
        }
        for mount in left.iter().rev() {
            unmount(&mount.at);
        }
        for device in loops {
            let _ = quietly("losetup", &[OsStr::new("-d"), device.as_os_str()]);
        }
        std::thread::sleep(LOOK);
    }
}

/// Loop devices on files in `folder`.
fn loops_on(folder: &Path) -> Vec<PathBuf> {
    let Ok(devices) = std::fs::read_dir("/sys/block") else {
        return Vec::new();
    };
    let devices = devices.flatten().filter(|device| {
        let backing = device.path().join("loop/backing_file");
        let file = std::fs::read_to_string(backing);
        file.is_ok_and(|file| Path::new(file.trim()).starts_with(folder))
    });
    devices
        .map(|device| Path::new("/dev").join(device.file_name()))
        .collect()
}

/// Whether anything is mounted in `folder` or deeper.
pub fn has_mounts(folder: &Path) -> bool {
    mounts().iter().any(|mount| mount.at.starts_with(folder))
}

/// Unmounts `at` if it is still mounted, as soon as nobody uses it any more.
pub fn unmount_later(at: &Path) {
    if mounts().iter().any(|mount| mount.at == at) {
        let _ = quietly("umount", &[OsStr::new("-l"), at.as_os_str()]);
    }
}

fn unmount(at: &Path) {
    let done = quietly("umount", &[at.as_os_str()]);
    if !done.is_ok_and(|status| status.success()) {
        unmount_later(at);
    }
}

fn quietly(program: &str, arguments: &[&OsStr]) -> std::io::Result<ExitStatus> {
    let mut command = Command::new(program);
    command.args(arguments);
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).status()
}

/// Unmounts the drives of campaigns that were killed, with all that was on them, and removes their
/// folders; returns those. A mount counts as dead when the kernel says that nobody serves it.
pub fn clear_dead() -> Vec<PathBuf> {
    let dead = |mount: &Mount| {
        let folder = mount.at.parent()?.to_owned();
        let name = folder.file_name()?.to_str()?;
        let is_ours = mount.source == "ssdlab"
            && mount.kind.starts_with("fuse")
            && mount.at.file_name()? == FILE_FOLDER
            && name.starts_with(FOLDER_PREFIX)
            && folder.parent()? == std::env::temp_dir();
        (is_ours && is_dead(&mount.at)).then_some(folder)
    };
    let folders: Vec<PathBuf> = mounts().iter().filter_map(dead).collect();
    for folder in &folders {
        tidy(folder);
        unmount_later(&folder.join(FILE_FOLDER));
        remove(folder);
    }
    folders
}

/// Whether the kernel says "transport endpoint is not connected".
fn is_dead(at: &Path) -> bool {
    let error = std::fs::metadata(at).err().and_then(|e| e.raw_os_error());
    error == Some(rustix::io::Errno::NOTCONN.raw_os_error())
}

/// Removes a folder of a campaign, unless something is mounted in it: that is not ours to remove.
pub fn remove(folder: &Path) {
    if !has_mounts(folder) {
        let _ = std::fs::remove_dir_all(folder);
    }
}
