//! A program in a file system on the drive of a campaign: what `ssdlab crashtest run` has its
//! scripts do.
//!
//! ```text
//!  campaign --script--> inside: loop device -> mkfs or mount -> program in the folder -> unmount
//!                         |                                        |
//!                         +--- marks <--- lines that it prints <---+
//! ```
//! It runs as a process of its own, a child of the campaign, which cleans up behind it: whatever
//! ends it, no mount and no loop device is left. Left out: file systems of several devices.

mod file_system;
mod loop_device;
mod plan;
mod posix;
mod preset;
mod program;
pub(crate) mod terminal;
mod tools;
mod tracer;

pub use file_system::DriveFileSystem;
pub use plan::{CheckMethod, Scripts};
pub(crate) use preset::chosen;
pub use preset::{DatabasePreset, DurabilityClaim, PresetSetting, preset_size, presets};
pub use program::MarkSource;
pub(crate) use program::missing;

use crate::crashtest::scripts::{
    COULD_NOT, END_OF_RECORDING, MOUNT_FOLDER, NAMES_FILE, TRACE_FILE, mark,
};
use file_system::MountFailure;
use loop_device::LoopDevice;
use program::WorkloadProgram;
use rustix::fs::{Mode, OFlags};
use ssdlab_base::LabError;
use std::path::{Path, PathBuf};

/// The mark that is made when the file system is mounted, before the program begins. It is the
/// first of a recording, and the check does not see it.
pub const MOUNTED: &str = "mounted";

/// What is run in the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InsideTask {
    /// A program and its arguments, on a new file system; how it says what it acknowledges.
    Work(Vec<String>, MarkSource),
    /// A command line of the shell, after a cut; exit code 0: nothing is missing.
    Check(String),
    /// A command line of the shell, after a cut, which prints what it finds: every line that was
    /// marked must be among its lines.
    Found(String),
    /// The workload of a preset, with its setting.
    Fill(String, String),
    /// The check of a preset, with its setting.
    Verify(String, String),
}

impl InsideTask {
    /// The task of that name, with its words.
    ///
    /// # Errors
    /// When no task has that name and takes these words.
    pub fn named(name: &str, words: &[String]) -> Result<InsideTask, LabError> {
        Ok(match (name, words) {
            ("work", words) => InsideTask::Work(words.to_vec(), MarkSource::Stdout),
            ("work-quiet", words) => InsideTask::Work(words.to_vec(), MarkSource::Socket),
            ("check", [command]) => InsideTask::Check(command.clone()),
            ("found", [command]) => InsideTask::Found(command.clone()),
            ("fill", [preset, setting]) => InsideTask::Fill(preset.clone(), setting.clone()),
            ("verify", [preset, setting]) => InsideTask::Verify(preset.clone(), setting.clone()),
            _ => {
                let problem = format!("`{name}` does not take {} words", words.len());
                return Err(LabError::refused(problem, ""));
            }
        })
    }

    /// Whether it works on a new file system, and not on what a cut has left.
    fn is_work(&self) -> bool {
        matches!(self, InsideTask::Work(..) | InsideTask::Fill(..))
    }
}

/// The drive of a campaign as its scripts see it.
struct ScriptDrive {
    /// The drive as a file.
    file: PathBuf,
    /// A private folder.
    folder: PathBuf,
}

fn variable(name: &str) -> Result<PathBuf, LabError> {
    std::env::var_os(name).map(PathBuf::from).ok_or_else(|| {
        LabError::refused(
            format!("{name} is not set"),
            "this command is for the scripts of `ssdlab crashtest run`",
        )
    })
}

/// Runs a task in a file system of that kind on the drive of the script that this process is;
/// returns the script's exit code. What was found goes to standard output.
///
/// # Errors
/// When a task could not be done, though neither the drive nor the program failed.
pub fn run(kind: DriveFileSystem, task: &InsideTask) -> Result<i32, LabError> {
    let place = ScriptDrive {
        file: variable("SSDLAB_FILE")?,
        folder: variable("SSDLAB_DIR")?,
    };
    let Some(tools) = kind.tools() else {
        return work(task, &place, &place.file, &place.folder);
    };
    let device = LoopDevice::attach(&place.file)?;
    if task.is_work() {
        tools.make(device.path())?;
    }
    let mount_point = place.folder.join(MOUNT_FOLDER);
    std::fs::create_dir(&mount_point)
        .map_err(|error| LabError::file("creating", &mount_point, error))?;
    match tools.mount(device.path(), &mount_point) {
        Ok(()) => {}
        Err(MountFailure::Damaged(why)) => {
            println!("damaged: the file system does not mount: {why}");
            return device.detach().map(|()| 1);
        }
        Err(MountFailure::Failed(error)) => return Err(error),
    }
    if let (false, Some(names)) = (task.is_work(), std::env::var_os(NAMES_FILE)) {
        let marks = lines_of(&variable("SSDLAB_MARKS")?)?;
        let cut = variable("SSDLAB_CUT")?;
        posix::take_names(
            Path::new(&names),
            marks,
            &cut.to_string_lossy(),
            &mount_point,
        )?;
    }
    let code = work(task, &place, &mount_point, &mount_point)?;
    if task.is_work() {
        // Unmounting writes everything: no cut is to come so late.
        mark(&variable("SSDLAB_MARK")?, END_OF_RECORDING)?;
    }
    file_system::unmount(&mount_point)?;
    let damage = if task.is_work() || code != 0 {
        None
    } else {
        tools.check(device.path())?
    };
    device.detach()?;
    if let Some(damage) = damage {
        println!("damaged: the file system: {damage}");
        return Ok(1);
    }
    Ok(code)
}

/// Does the task on `subject`, the folder or file with the program's data, in the folder `at`.
fn work(
    task: &InsideTask,
    place: &ScriptDrive,
    subject: &Path,
    at: &Path,
) -> Result<i32, LabError> {
    let mut program = WorkloadProgram::new(subject, at);
    if !task.is_work() {
        let own = place.folder.join("marks-of-program");
        let marks = marks_without_ours()?;
        std::fs::write(&own, &marks).map_err(|error| LabError::file("writing", &own, error))?;
        program.set("SSDLAB_MARKS", &own);
    }
    // Of the drive itself there are no names to watch.
    let trace = std::env::var_os(TRACE_FILE).filter(|_| task.is_work() && subject.is_dir());
    if let Some(trace) = trace {
        program.watch(Path::new(&trace))?;
    }
    match task {
        InsideTask::Work(words, marks) => {
            let socket = variable("SSDLAB_MARK")?;
            make_durable(at)?;
            mark(&socket, MOUNTED)?;
            program.work(words, *marks, &socket)
        }
        InsideTask::Check(command) => program.shell(command),
        InsideTask::Found(command) => program.found(command, &marks_without_ours()?),
        InsideTask::Fill(name, setting) => {
            let (preset, row) = preset::chosen(&format!("{name}:{setting}"))?;
            mark(&variable("SSDLAB_MARK")?, MOUNTED)?;
            program.preset(&preset, &row, true, &place.folder)
        }
        InsideTask::Verify(name, setting) => {
            let (preset, row) = preset::chosen(&format!("{name}:{setting}"))?;
            program.preset(&preset, &row, false, &place.folder)
        }
    }
}

/// How many lines a file has.
fn lines_of(path: &Path) -> Result<usize, LabError> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| LabError::file("reading", path, error))?;
    Ok(text.lines().count())
}

/// The marks of the program, one per line: all but the first, which is [`MOUNTED`].
fn marks_without_ours() -> Result<String, LabError> {
    let path = variable("SSDLAB_MARKS")?;
    let text = std::fs::read_to_string(&path);
    let text = text.map_err(|error| LabError::file("reading", &path, error))?;
    let own = text
        .strip_prefix(MOUNTED)
        .and_then(|rest| rest.strip_prefix('\n'));
    Ok(own.unwrap_or(&text).to_owned())
}

/// Makes durable what making and mounting the file system has left in memory.
fn make_durable(folder: &Path) -> Result<(), LabError> {
    let open = rustix::fs::open(folder, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let synced = open.and_then(rustix::fs::syncfs);
    synced.map_err(|error| LabError::file("syncing", folder, error.into()))
}

/// Refuses what this machine cannot do, before anything runs.
///
/// # Errors
/// When a right, a device or a program is missing.
pub fn check_machine(kind: DriveFileSystem) -> Result<(), LabError> {
    const CONTAINER: &str = "in a container: --privileged, or --cap-add SYS_ADMIN with the devices \
                             /dev/fuse, /dev/loop-control and /dev/loop*";
    let open = |path: &str| {
        let mut options = std::fs::File::options();
        options.read(true).write(true).open(path)
    };
    if let Err(error) = open("/dev/fuse") {
        let problem =
            format!("the drive is served by FUSE, and /dev/fuse cannot be opened: {error}");
        return Err(LabError::refused(
            problem,
            format!("`modprobe fuse` as root; {CONTAINER}"),
        ));
    }
    let Some(file_system) = kind.tools() else {
        return Ok(());
    };
    if !rustix::process::geteuid().is_root() {
        let problem = format!("only root can mount {}", kind.name());
        return Err(LabError::refused(
            problem,
            "run it as root; or --mount none, whose program gets the drive as a file",
        ));
    }
    if let Err(error) = open("/dev/loop-control") {
        let problem = format!("loop devices cannot be had: /dev/loop-control: {error}");
        let hint = format!(
            "`modprobe loop` as root; {CONTAINER}; or --mount none, whose program gets the drive \
             as a file"
        );
        return Err(LabError::refused(problem, hint));
    }
    let programs = [("losetup", "mount"), file_system.maker];
    for (program, package) in programs {
        if !tools::is_there(program) {
            return Err(LabError::refused(
                format!("{program} is not installed"),
                format!("Debian's package {package} has it"),
            ));
        }
    }
    Ok(())
}

/// The exit code by which a task that ended with an error says that it could not do its work.
pub const FAILED: i32 = COULD_NOT;
