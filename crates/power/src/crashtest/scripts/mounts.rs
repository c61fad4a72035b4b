//! The mounts that this process sees, and their end.

use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};
use rustix::mount::UnmountFlags;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// A line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountInfoLine {
    id: u64,
    /// Major and minor number of the device, as `7:0`.
    pub number: String,
    /// Where it is mounted.
    pub at: PathBuf,
    /// Type of the file system.
    pub kind: String,
    /// Device or name.
    pub source: String,
}

/// All mounts; one on another comes after it.
pub fn mounts() -> Vec<MountInfoLine> {
    let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(parse).collect()
}

/// `36 35 98:0 /root /at options... - type source more`
fn parse(line: &str) -> Option<MountInfoLine> {
    let (head, tail) = line.split_once(" - ")?;
    let head: Vec<&str> = head.split(' ').collect();
    let mut tail = tail.split(' ');
    Some(MountInfoLine {
        id: head.first()?.parse().ok()?,
        number: (*head.get(2)?).to_owned(),
        at: unescaped(head.get(4)?).into(),
        kind: tail.next()?.to_owned(),
        source: unescaped(tail.next()?),
    })
}

/// The kernel writes blanks, line ends and backslashes of a path in octal.
fn unescaped(word: &str) -> String {
    let pairs = [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ];
    let start = word.to_owned();
    let replace = |text: String, (from, to): (&str, &str)| text.replace(from, to);
    pairs.into_iter().fold(start, replace)
}

/// Whether anything is mounted in `folder` or deeper.
pub fn has_mounts(folder: &Path) -> bool {
    mounts().iter().any(|mount| mount.at.starts_with(folder))
}

/// Unmounts what is at `at`, as soon as no process uses it any more.
pub fn unmount_later(at: &Path) {
    if mounts().iter().any(|mount| mount.at == at) {
        let _ = rustix::mount::unmount(at, UnmountFlags::DETACH);
    }
}

impl MountInfoLine {
    /// Unmounts this mount: at once, or as soon as no process uses it any more.
    pub fn unmount(&self) {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let Ok(open) = rustix::fs::open(&self.at, flags, Mode::empty()) else {
            // Its drive is dead: nothing of it can be looked at.
            return unmount_later(&self.at);
        };
        let status = rustix::fs::statx(&open, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID);
        // Something else may have been mounted over it since it was listed.
        if status.is_ok_and(|status| status.stx_mnt_id == self.id) {
            let held = format!("/proc/self/fd/{}", open.as_raw_fd());
            let _ = rustix::mount::unmount(held, UnmountFlags::DETACH);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_is_read() {
        let line = r"36 35 98:0 /m /a\040b\134c rw,noatime shared:1 - ext4 /dev/root rw";
        let mount = parse(line).expect("a line");
        assert_eq!(mount.id, 36);
        assert_eq!(mount.at, Path::new(r"/a b\c"));
        let rest = [&mount.number, &mount.kind, &mount.source];
        assert_eq!(rest, ["98:0", "ext4", "/dev/root"]);
        assert_eq!(parse("nothing"), None);
        assert!(mounts().iter().any(|mount| mount.at == Path::new("/")));
    }
}
