//! A drive that a script can use: an NBD socket, a file if the system lets us, and a folder.

use super::mounts::unmount_later;
use super::run::{ScriptOutcome, run_script};
use super::tidy::{self, FILE_FOLDER, FOLDER_PREFIX};
use ssdlab_base::LabError;
use ssdlab_serve::fuse::FuseFile;
use ssdlab_serve::nbd::{NbdOptions, NbdServer};
use ssdlab_serve::{Address, Lint, SharedDrive, Store};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Numbers the folders of this process: short names, as those of sockets may not be long.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Linux' folder in memory for any user.
const MEMORY: &str = "/dev/shm";

/// A folder of its own, gone with all that is in it when this is.
#[derive(Debug)]
pub struct ScratchFolder {
    path: PathBuf,
}

impl ScratchFolder {
    /// A new one.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> Result<ScratchFolder, LabError> {
        ScratchFolder::new_in(&std::env::temp_dir())
    }

    /// A new one in memory where the system has a place for that: files are made and gone in
    /// microseconds.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn in_memory() -> Result<ScratchFolder, LabError> {
        ScratchFolder::new_in(Path::new(MEMORY)).or_else(|_| ScratchFolder::new())
    }

    /// Lets other users in.
    pub fn open_to_all(&self) {
        let folders = std::fs::read_dir(&self.path)
            .into_iter()
            .flatten()
            .flatten();
        for path in folders.map(|entry| entry.path()).chain([self.path.clone()]) {
            let _ = std::fs::set_permissions(path, PermissionsExt::from_mode(0o755));
        }
    }

    fn new_in(parent: &Path) -> Result<ScratchFolder, LabError> {
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{FOLDER_PREFIX}{}-{number}", std::process::id());
            let path = parent.join(name);
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(ScratchFolder { path }),
                // Left by a process of the same number that was killed.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(LabError::file("creating", &path, error)),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        tidy::remove(&self.path);
    }
}

/// How scripts are run.
#[derive(Clone, Debug)]
pub struct ScriptOptions {
    /// Whether a file is offered (FUSE) beside the socket.
    pub file: bool,
    /// Longest time of a script; it fails then.
    pub timeout: Duration,
    /// Ends scripts when it is set.
    pub stop: Arc<AtomicBool>,
}

/// A drive in use by a script.
pub struct AttachedDrive {
    // In this order: the file goes before the folder that it is in.
    file: Option<FuseFile>,
    nbd: NbdServer,
    folder: ScratchFolder,
    lint: Arc<Lint>,
}

impl AttachedDrive {
    /// Makes a drive usable.
    ///
    /// # Errors
    /// When the socket cannot be made, or the file that is asked for.
    pub fn new(drive: Arc<dyn Store>, options: &ScriptOptions) -> Result<AttachedDrive, LabError> {
        let folder = ScratchFolder::new()?;
        let shared = Arc::new(SharedDrive::new(drive));
        let lint = Arc::new(Lint::default());
        let socket = folder.path().join("nbd");
        let nbd = NbdServer::start(
            shared.clone(),
            lint.clone(),
            &Address::Unix(socket.clone()),
            NbdOptions::default(),
        )
        .map_err(|error| LabError::file("creating", &socket, error))?;
        let mut attached = AttachedDrive {
            file: None,
            nbd,
            folder,
            lint,
        };
        if options.file {
            let mount_folder = attached.folder.path().join(FILE_FOLDER);
            let failed = |error| LabError::File {
                action: "mounting",
                path: mount_folder.clone(),
                source: error,
                hint: "--no-file serves the NBD socket alone; FUSE needs /dev/fuse and the right \
                       to mount"
                    .into(),
            };
            std::fs::create_dir(&mount_folder).map_err(failed)?;
            let lint = attached.lint.clone();
            let mounted = FuseFile::mount(shared, lint, &mount_folder, "drive");
            attached.file = Some(mounted.map_err(failed)?);
        }
        Ok(attached)
    }

    /// The folder that a script may use.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a script on it with more variables in its environment.
    ///
    /// # Errors
    /// When the shell cannot be started.
    pub fn run(
        &self,
        script: &str,
        more: &[(&str, String)],
        output: &Path,
        options: &ScriptOptions,
    ) -> Result<ScriptOutcome, LabError> {
        let socket = self.nbd.address();
        let Address::Unix(socket) = socket else {
            return Err(LabError::refused("the socket is not a unix socket", ""));
        };
        let uri = format!("nbd+unix:///drive?socket={}", socket.display());
        let mut env = vec![
            ("SSDLAB_NBD", uri),
            ("SSDLAB_DIR", self.folder().display().to_string()),
        ];
        if let Some(file) = &self.file {
            env.push(("SSDLAB_FILE", file.path().display().to_string()));
        }
        if let Ok(program) = std::env::current_exe() {
            env.push(("SSDLAB", program.display().to_string()));
        }
        env.extend(more.iter().cloned());
        let outcome = run_script(script, &env, output, options.timeout, &options.stop);
        tidy::tidy(self.folder());
        outcome
    }

    /// Ends it: what each client promised itself, in lines.
    pub fn finish(self) -> String {
        let AttachedDrive {
            file,
            nbd,
            folder,
            lint,
        } = self;
        if let Some(file) = file {
            let mount_point = file.path().parent().map(Path::to_path_buf);
            drop(file);
            // Somebody may have it open for a moment longer.
            if let Some(folder) = mount_point {
                unmount_later(&folder);
            }
        }
        drop(nbd);
        drop(folder);
        lint.render()
    }
}
