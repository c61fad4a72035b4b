//! A loop device on the drive's file.

use super::tools;
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use ssdlab_base::LabError;
use std::path::{Path, PathBuf};

/// Major number of loop devices.
const LOOP_MAJOR: u32 = 7;
/// How often another device is tried when somebody else was faster.
const TRIES: usize = 20;

/// A loop device. The campaign detaches one that is left.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
}

impl LoopDevice {
    /// Attaches a file to a free device.
    ///
    /// # Errors
    /// When no device is free.
    pub fn attach(file: &Path) -> Result<LoopDevice, LabError> {
        let words = ["-f", "--show", "--direct-io=on"];
        let mut message = String::new();
        for _ in 0..TRIES {
            make_node()?;
            let output = tools::output(tools::command("losetup").args(words).arg(file))?;
            if output.status.success() {
                let path = String::from_utf8_lossy(&output.stdout).trim().into();
                return Ok(LoopDevice { path });
            }
            message = tools::said(&output);
        }
        Err(LabError::refused(
            format!("no loop device: {message}"),
            "`losetup -l` lists those in use; a container needs --privileged, or /dev/loop*",
        ))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes it off its file.
    ///
    /// # Errors
    /// When losetup cannot be run.
    pub fn detach(self) -> Result<(), LabError> {
        // One that the kernel has detached already is just as good.
        tools::output(tools::command("losetup").arg("-d").arg(&self.path)).map(drop)
    }
}

/// Makes the node of the next free device: in a container, `/dev` knows only the devices that
/// there were when it was started.
fn make_node() -> Result<(), LabError> {
    let output = tools::output(tools::command("losetup").arg("-f"))?;
    let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let number = name.strip_prefix("/dev/loop").and_then(|n| n.parse().ok());
    let Some(number) = number.filter(|_| !Path::new(&name).exists()) else {
        return Ok(());
    };
    let mode = Mode::RUSR | Mode::WUSR;
    let device = makedev(LOOP_MAJOR, number);
    match mknodat(CWD, name.as_str(), FileType::BlockDevice, mode, device) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(error) => Err(LabError::file("creating", Path::new(&name), error.into())),
    }
}
