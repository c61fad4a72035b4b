//! Running a script, for so long, and cleaning up behind it.

use crate::LabError;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How a script ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// It said that all is well: exit code 0 in time.
    pub is_good: bool,
    /// It said that it could not do its work: exit code [`COULD_NOT`].
    pub could_not: bool,
    /// How it ended, and the last lines that it said.
    pub text: String,
}

/// The exit code by which a script says that it could not do its work, for want of a loop device
/// say: neither good nor bad. The same as in automake's tests.
pub const COULD_NOT: i32 = 77;

/// Bytes of output that a message quotes.
const QUOTED_MAX: usize = 400;
/// How often a running script is looked after.
const LOOK: Duration = Duration::from_millis(5);

/// Runs `sh -c SCRIPT` in a process group of its own; all that it says goes to the file `output`.
///
/// # Errors
/// When the shell cannot be started or the file not be made.
pub fn run_script(
    script: &str,
    env: &[(&str, String)],
    output: &Path,
    timeout: Duration,
) -> Result<Outcome, LabError> {
    let failed = |error| LabError::file("creating", output, error);
    let out = File::create(output).map_err(failed)?;
    let err = out.try_clone().map_err(failed)?;
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .process_group(0);
    let child = command.spawn();
    let mut child = child.map_err(|error| LabError::file("running", "sh", error))?;
    let status = wait(&mut child, timeout);
    let said = std::fs::read(output).unwrap_or_default();
    let said = String::from_utf8_lossy(&said[said.len().saturating_sub(QUOTED_MAX)..]).into_owned();
    let (is_good, how) = match status {
        Some(status) if status.success() => (true, "exit code 0".to_string()),
        Some(status) => (false, status.to_string()),
        None => (false, format!("not done in {timeout:?}")),
    };
    let could_not = status.is_some_and(|status| status.code() == Some(COULD_NOT));
    Ok(Outcome {
        is_good,
        could_not,
        text: format!("{how}: {}", said.trim()),
    })
}

/// Waits for a child; when its time is over it is killed with all that it has started.
fn wait(child: &mut Child, timeout: Duration) -> Option<ExitStatus> {
    let until = Instant::now() + timeout;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(LOOK),
            _ => {
                if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    let _ = kill_process_group(pid, Signal::KILL);
                }
                let _ = child.wait();
                return None;
            }
        }
    }
}

/// How long the kernel gets to let go of a loop device.
const LET_GO: Duration = Duration::from_secs(5);

/// Unmounts and detaches loop devices that a script has left on files in `folder`, and waits until
/// the kernel has let go of them: it does so some time after `losetup -d`, and until then the file
/// of the drive is busy.
pub fn tidy_loops(folder: &Path) {
    let until = Instant::now() + LET_GO;
    loop {
        let left = loops_on(folder);
        if left.is_empty() || Instant::now() > until {
            return;
        }
        for device in left {
            unmount(&device);
            let _ = quietly("losetup", &["-d", &device.display().to_string()]);
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

/// Unmounts `at` if it is still mounted, as soon as nobody uses it any more.
pub fn unmount_later(at: &Path) {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let name = at.display().to_string();
    if mounts
        .lines()
        .any(|mount| mount.split(' ').nth(1) == Some(&name))
    {
        let _ = quietly("umount", &["-l", &name]);
    }
}

fn unmount(device: &Path) {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    for mount in mounts.lines() {
        let mut words = mount.split(' ');
        if words.next().map(Path::new) == Some(device)
            && let Some(at) = words.next()
        {
            let _ = quietly("umount", &[&at.replace("\\040", " ")]);
        }
    }
}

fn quietly(program: &str, arguments: &[&str]) -> std::io::Result<ExitStatus> {
    let mut command = Command::new(program);
    command.args(arguments);
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).status()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_heard_and_its_time_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out");
        let env = [("WORD", "hello".to_string())];
        let run = |script: &str, ms| {
            let time = Duration::from_millis(ms);
            run_script(script, &env, &output, time).unwrap()
        };
        let good = run("echo $WORD", 10_000);
        assert_eq!(
            (good.is_good, good.text.as_str()),
            (true, "exit code 0: hello")
        );
        let bad = run("echo no >&2; exit 3", 10_000);
        assert!(
            !bad.is_good && bad.text.contains('3') && bad.text.ends_with("no"),
            "{bad:?}"
        );
        let begun = Instant::now();
        let late = run("sleep 60 & sleep 60", 100);
        assert!(
            !late.is_good && late.text.contains("not done in"),
            "{late:?}"
        );
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}
