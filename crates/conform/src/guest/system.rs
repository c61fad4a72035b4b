//! Files and mounts of the guest, with errors as text.

use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountFlags, mount};
use std::ffi::CStr;

/// Where the file system of a disk is mounted.
pub const MOUNT: &str = "/run/mnt";

/// Mounts a file system.
pub fn mount_at(what: &str, at: &str, kind: &CStr) -> Result<(), String> {
    match mount(what, at, kind, MountFlags::NOATIME, None) {
        // Linux may have mounted /dev itself.
        Ok(()) | Err(rustix::io::Errno::BUSY) => Ok(()),
        Err(error) => Err(format!("mounting {what} at {at}: {error}")),
    }
}

/// Opens a path of the guest.
pub fn open(path: &str, flags: OFlags) -> Result<std::fs::File, String> {
    let mode = Mode::RUSR | Mode::WUSR;
    let opened = rustix::fs::open(path, flags | OFlags::CLOEXEC, mode);
    opened
        .map(std::fs::File::from)
        .map_err(|error| format!("{path}: {error}"))
}

/// Mounts the file system of a disk.
pub fn mount_ext4(device: &str) -> Result<(), String> {
    let _ = std::fs::create_dir_all(MOUNT);
    mount_at(device, MOUNT, c"ext4")
}
