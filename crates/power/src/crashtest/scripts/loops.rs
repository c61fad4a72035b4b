//! Loop devices on files of a folder, held open while anything is done to them.
//!
//! A loop device's number says nothing: as soon as one is free, the next `losetup -f` of any
//! process takes the same number. The kernel gives a device no other file while somebody has it
//! open, so a [`HeldLoop`] is opened first and looked at afterwards: as long as it is held, it is
//! the same device on the same file, and a detachment by anybody takes effect when the last
//! opener has closed it.

use super::mounts::MountInfoLine;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A loop device on a file in our folder, held open.
#[derive(Debug)]
pub struct HeldLoop {
    path: PathBuf,
    /// Major and minor number, as `7:0`.
    number: String,
    /// Keeps the device on its file.
    _open: File,
}

impl HeldLoop {
    /// Opens the device of that name, `loop0`, and holds it if it is on a file in `folder` then.
    pub fn open(name: &OsStr, folder: &Path) -> Option<HeldLoop> {
        let path = Path::new("/dev").join(name);
        let open = File::open(&path).ok()?;
        let file = backing_file(name)?;
        let number = std::fs::read_to_string(in_sys(name).join("dev")).ok()?;
        let is_ours = file.starts_with(folder) && is_on(&path, &file);
        is_ours.then(|| HeldLoop {
            path,
            number: number.trim().to_owned(),
            _open: open,
        })
    }

    /// Whether a file system on it is mounted there.
    pub fn carries(&self, mount: &MountInfoLine) -> bool {
        mount.number == self.number || Path::new(&mount.source) == self.path
    }

    /// Takes it off its file, as soon as no process uses it any more.
    pub fn detach(self) {
        let mut losetup = Command::new("losetup");
        losetup.arg("-d").arg(&self.path).stdin(Stdio::null());
        // A device that somebody else has detached in the meantime is just as good.
        let _ = losetup.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

fn in_sys(name: &OsStr) -> PathBuf {
    Path::new("/sys/block").join(name)
}

/// The path of the file that a device is on now.
fn backing_file(name: &OsStr) -> Option<PathBuf> {
    let text = std::fs::read_to_string(in_sys(name).join("loop/backing_file")).ok()?;
    Some(text.trim_end_matches('\n').into())
}

/// Whether the device is on the very file that has this path here. In another container a file may
/// have the same path. A file that is removed, or whose drive is dead, cannot be compared.
fn is_on(device: &Path, file: &Path) -> bool {
    let mut losetup = Command::new("losetup");
    losetup.args(["--list", "--noheadings", "--raw", "--output"]);
    losetup.arg("BACK-INO,BACK-MAJ:MIN").arg(device);
    let output = losetup.stdin(Stdio::null()).stderr(Stdio::null()).output();
    // It pads columns, and writes the blanks in hexadecimal.
    let columns =
        output.map(|output| String::from_utf8_lossy(&output.stdout).replace("\\x20", " "));
    let columns = columns.unwrap_or_default();
    let words: Vec<&str> = columns.split_whitespace().collect();
    match (words.as_slice(), std::fs::metadata(file)) {
        ([inode, device], Ok(file)) => [*inode, *device] == identity(&file),
        _ => true,
    }
}

/// Inode and device number of a file, as losetup writes them.
fn identity(file: &Metadata) -> [String; 2] {
    let device = file.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    [file.ino().to_string(), format!("{major}:{minor}")]
}

/// Every loop device on a file in `folder`, held.
pub fn loops_on(folder: &Path) -> Vec<HeldLoop> {
    let Ok(devices) = std::fs::read_dir("/sys/block") else {
        return Vec::new();
    };
    let names = devices.flatten().map(|device| device.file_name());
    // Devices of others are not even opened.
    let near = names.filter(|name| backing_file(name).is_some_and(|file| file.starts_with(folder)));
    near.filter_map(|name| HeldLoop::open(&name, folder))
        .collect()
}
