//! Cleaning up behind a script: mounts, loop devices, remains of a killed run.

use super::loops::{HeldLoop, loops_on};
use super::mounts::{MountInfoLine, has_mounts, mounts, unmount_later};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often the kernel is asked again.
const LOOK: Duration = Duration::from_millis(5);
/// How long the kernel gets to let go of a loop device.
const LET_GO: Duration = Duration::from_secs(5);
/// Prefix of the folders of campaigns in the system's folder for temporary files.
pub const FOLDER_PREFIX: &str = "ssdlab-";
/// Where the drive's file is mounted in such a folder.
pub const FILE_FOLDER: &str = "file";

/// Unmounts and detaches the remains of a script in `folder` or on files in it, but for the drive's
/// own file, and waits until the kernel has let go of the loop devices: it does so some time after
/// `losetup -d`, and until then the file of the drive is busy.
pub fn tidy(folder: &Path) {
    let own = folder.join(FILE_FOLDER);
    let until = Instant::now() + LET_GO;
    loop {
        let loops = loops_on(folder);
        let is_remnant = |mount: &MountInfoLine| {
            let is_inside = mount.at.starts_with(folder) && mount.at != own;
            is_inside || loops.iter().any(|device| device.carries(mount))
        };
        let remnants: Vec<MountInfoLine> = mounts().into_iter().filter(is_remnant).collect();
        if (remnants.is_empty() && loops.is_empty()) || Instant::now() > until {
            return;
        }
        // One mount on another is listed after it.
        remnants.iter().rev().for_each(MountInfoLine::unmount);
        loops.into_iter().for_each(HeldLoop::detach);
        std::thread::sleep(LOOK);
    }
}

/// Unmounts the drives of campaigns that were killed, with all that was on them, and removes their
/// folders; returns those. A mount counts as dead when the kernel says that its server is gone.
pub fn clear_dead() -> Vec<PathBuf> {
    let dead = |mount: &MountInfoLine| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new(program).args(arguments).output();
        let output = output.map_err(|error| format!("{program}: {error}"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() {
            Ok(text(&output.stdout))
        } else {
            Err(format!("{program}: {}", text(&output.stderr)))
        }
    }

    /// A file of a file system in a folder of its own.
    fn image(folder: &Path) -> Result<String, String> {
        let path = folder.join("image");
        let file = File::create(&path).map_err(|error| error.to_string())?;
        file.set_len(1 << 20).map_err(|error| error.to_string())?;
        let path = path.display().to_string();
        run("mkfs.ext4", &["-q", "-F", "-O", "^has_journal", &path])?;
        Ok(path)
    }

    /// Another check: it takes the first free loop device, and finds it taken away or not.
    fn neighbour(folder: &Path, stop: &AtomicBool) -> Result<(usize, usize), String> {
        let path = image(folder)?;
        let (mut rounds, mut ripped) = (0, 0);
        while !stop.load(Ordering::Relaxed) {
            let device = run("losetup", &["-f", "--show", &path])?;
            std::thread::sleep(Duration::from_millis(4));
            let name = Path::new(&device).file_name().unwrap_or_default();
            let sys = Path::new("/sys/block").join(name).join("loop/backing_file");
            let file = std::fs::read_to_string(sys).unwrap_or_default();
            let is_ours = file.trim() == path && run("losetup", &["-d", &device]).is_ok();
            ripped += usize::from(!is_ours);
            rounds += 1;
        }
        Ok((rounds, ripped))
    }

    /// `--jobs 2` blamed an honest LMDB in 2 of 300 cuts: loop devices were listed, unmounted and
    /// detached by the number in the list. A device that freed itself when it was unmounted
    /// belonged to the other check by then, which had found it to be the first that is free.
    #[test]
    fn a_device_that_somebody_has_just_taken_is_left_alone() {
        let (mine, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = match image(mine.path()) {
            Ok(path) if run("losetup", &["-f"]).is_ok() => path,
            other => return ssdlab_skips::skip(format_args!("loop devices and ext4: {other:?}")),
        };
        let at = ["a", "b", "c"].map(|name| mine.path().join(name));
        for at in &at {
            std::fs::create_dir(at).unwrap();
            std::fs::copy(&path, at.with_extension("image")).unwrap();
        }
        let stop = AtomicBool::new(false);
        let (rounds, ripped) = std::thread::scope(|scope| {
            let other = scope.spawn(|| neighbour(other.path(), &stop));
            for _ in 0..20 {
                // The kernel frees these devices when they are unmounted.
                for at in &at {
                    let image = at.with_extension("image").display().to_string();
                    run("mount", &["-o", "loop", &image, at.to_str().unwrap()]).unwrap();
                }
                tidy(mine.path());
                assert!(!has_mounts(mine.path()) && loops_on(mine.path()).is_empty());
            }
            stop.store(true, Ordering::Relaxed);
            other.join().unwrap().unwrap()
        });
        assert!(rounds > 20, "{rounds} rounds beside it");
        assert_eq!(ripped, 0, "of {rounds} devices of another");
    }

    /// What was listed may be somebody else's when it is opened.
    #[test]
    fn a_device_is_looked_at_once_it_is_held() {
        let (mine, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (Ok(path), Ok(_)) = (image(mine.path()), run("losetup", &["-f"])) else {
            return ssdlab_skips::skip("needs loop devices and ext4");
        };
        let device = run("losetup", &["-f", "--show", &path]).unwrap();
        let name = Path::new(&device).file_name().unwrap();
        assert!(HeldLoop::open(name, other.path()).is_none());
        let held = HeldLoop::open(name, mine.path()).expect("it is on our file");
        // Its owner detaches it: no other process gets it while we hold it.
        run("losetup", &["-d", &device]).unwrap();
        let theirs = image(other.path()).unwrap();
        let next = run("losetup", &["-f", "--show", &theirs]).unwrap();
        held.detach();
        assert_ne!(next, device);
        let left = run("losetup", &["-j", &theirs]).unwrap();
        // In another container, a file of the same path is another file.
        run("mount", &["--bind", &path, &theirs]).unwrap();
        let name = Path::new(&next).file_name().unwrap();
        let held = HeldLoop::open(name, other.path());
        run("umount", &[&theirs]).unwrap();
        run("losetup", &["-d", &next]).unwrap();
        assert!(held.is_none(), "{held:?}");
        assert!(left.starts_with(&next), "{left}");
    }
}
