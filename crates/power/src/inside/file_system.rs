//! Making, mounting and checking a file system.

use super::tools;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use ssdlab_base::LabError;
use std::ffi::CStr;
use std::path::Path;
use std::time::{Duration, Instant};

/// What is on the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveFileSystem {
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// None: the program gets the drive itself, as a file.
    None,
}

/// The programs of a file system.
#[derive(Debug)]
pub struct FileSystemTools {
    kind: &'static str,
    /// How it is mounted. Copies of one XFS are mounted at once, by checks that run at once, and
    /// have one UUID.
    mount_options: Option<&'static CStr>,
    /// What makes it, and Debian's package with it.
    pub maker: (&'static str, &'static str),
    maker_options: &'static [&'static str],
    checker: &'static str,
    /// Options that only look; statuses below this one that are not 0 and not 8 say that it is
    /// damaged (e2fsck: a sum of 1, 2 and 4, and 8 for a failure of its own; xfs_repair: 1).
    checker_options: &'static [&'static str],
    damaged_below: i32,
}

const EXT4: FileSystemTools = FileSystemTools {
    kind: "ext4",
    mount_options: None,
    maker: ("mkfs.ext4", "e2fsprogs"),
    // A small journal is reused within a short workload.
    maker_options: &[
        "-q",
        "-F",
        "-E",
        "nodiscard,lazy_itable_init=1",
        "-J",
        "size=4",
    ],
    checker: "e2fsck",
    checker_options: &["-fn"],
    damaged_below: 16,
};

const XFS: FileSystemTools = FileSystemTools {
    kind: "xfs",
    mount_options: Some(c"nouuid"),
    maker: ("mkfs.xfs", "xfsprogs"),
    maker_options: &["-q", "-f", "-K"],
    checker: "xfs_repair",
    checker_options: &["-n"],
    damaged_below: 2,
};

/// Status of e2fsck when it could not do its work.
const CHECKER_FAILED: i32 = 8;
/// How long the last process of a program gets to let go of the file system.
const LET_GO: Duration = Duration::from_secs(60);
/// How often unmounting is tried again.
const LOOK: Duration = Duration::from_millis(10);

/// Why a file system cannot be used.
pub enum MountFailure {
    /// The kernel refuses what it reads on the device.
    Damaged(Errno),
    /// Something else is missing.
    Failed(LabError),
}

impl DriveFileSystem {
    /// Each of them.
    pub const ALL: [DriveFileSystem; 3] = [
        DriveFileSystem::Ext4,
        DriveFileSystem::Xfs,
        DriveFileSystem::None,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.tools().map_or("none", |tools| tools.kind)
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<DriveFileSystem> {
        DriveFileSystem::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    /// Bytes of a drive for it: XFS takes none below 300 MB.
    pub fn drive_bytes(self) -> u64 {
        let mebibytes = match self {
            DriveFileSystem::Xfs => 512,
            DriveFileSystem::Ext4 | DriveFileSystem::None => 64,
        };
        mebibytes << 20
    }

    pub(super) fn tools(self) -> Option<&'static FileSystemTools> {
        match self {
            DriveFileSystem::Ext4 => Some(&EXT4),
            DriveFileSystem::Xfs => Some(&XFS),
            DriveFileSystem::None => None,
        }
    }
}

impl FileSystemTools {
    /// Makes an empty file system.
    pub fn make(&self, device: &Path) -> Result<(), LabError> {
        let (maker, _) = self.maker;
        let mut command = tools::command(maker);
        let output = tools::output(command.args(self.maker_options).arg(device))?;
        if output.status.success() {
            Ok(())
        } else {
            Err(LabError::refused(
                format!("{maker} fails: {}", tools::said(&output)),
                "--size SIZE makes a larger drive",
            ))
        }
    }

    /// Mounts it; the kernel replays its journal.
    pub fn mount(&self, device: &Path, at: &Path) -> Result<(), MountFailure> {
        let flags = MountFlags::NOATIME;
        let Err(error) = rustix::mount::mount(device, at, self.kind, flags, self.mount_options)
        else {
            return Ok(());
        };
        let hint = match error {
            Errno::NODEV => format!("this kernel has no {}: `modprobe {0}`", self.kind),
            Errno::PERM | Errno::ACCESS => {
                "only root may mount; a container needs --privileged, or --cap-add SYS_ADMIN".into()
            }
            Errno::NOENT | Errno::BUSY | Errno::NOTBLK | Errno::NXIO | Errno::NOMEM => {
                String::new()
            }
            _ => return Err(MountFailure::Damaged(error)),
        };
        let problem = format!("mounting {}: {error}", device.display());
        Err(MountFailure::Failed(LabError::refused(problem, hint)))
    }

    /// Runs its own check, which changes nothing, on an unmounted device; what it says when the
    /// file system is damaged. Not installed, it is left out.
    pub fn check(&self, device: &Path) -> Result<Option<String>, LabError> {
        if !tools::is_there(self.checker) {
            return Ok(None);
        }
        let mut command = tools::command(self.checker);
        let output = tools::output(command.args(self.checker_options).arg(device))?;
        match output.status.code() {
            Some(0) => Ok(None),
            Some(code) if code < self.damaged_below && code != CHECKER_FAILED => {
                Ok(Some(format!("{}: {}", self.checker, tools::said(&output))))
            }
            _ => Err(LabError::refused(
                format!("{} fails: {}", self.checker, tools::said(&output)),
                "",
            )),
        }
    }
}

/// Unmounts, as soon as no process uses it any more.
///
/// # Errors
/// When a process keeps it.
pub fn unmount(at: &Path) -> Result<(), LabError> {
    let until = Instant::now() + LET_GO;
    loop {
        match rustix::mount::unmount(at, UnmountFlags::empty()) {
            Ok(()) => return Ok(()),
            Err(Errno::BUSY) if Instant::now() < until => std::thread::sleep(LOOK),
            Err(error) => {
                return Err(LabError::refused(
                    format!("unmounting {}: {error}", at.display()),
                    "a process that the program has started is still using it",
                ));
            }
        }
    }
}
