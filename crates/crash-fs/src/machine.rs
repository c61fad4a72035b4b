//! The crash disk that programs find by its root.

use crate::error::from_crash;
use crate::hooks::Hooks;
use crate::roots::{self, Entered, Machine};
use crate::shadow::Shadow;
use crate::state::DiskState;
use ssdlab_crash::{CrashDisk, CrashFiles, DriveConfig, FileSystemRules, Nanos, RecoveryReport};
use std::fmt;
use std::future::Future;
use std::io::Result;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// A file system on a crash disk. Files of [`mod@crate::std::fs`] whose path lies below its
/// [`CrashFs::root`] are on it, in every thread and task of the process. Clones are the same disk;
/// it is gone when the last one and the last open file are.
///
/// ```
/// use ssdlab_crash_fs::{CrashFs, FileSystemRules, std::fs::{self, File}};
/// use std::io::Write;
///
/// let machine = CrashFs::builder().rules(FileSystemRules::posix()).seed(7).build()?;
/// let path = machine.root().join("log");
/// let mut log = File::create(&path)?;
/// log.write_all(b"one")?;
/// log.sync_all()?;
/// File::open(machine.root())?.sync_all()?; // the name
/// log.write_all(b"two")?; // may be there or not, or in part
/// machine.cut()?;
/// machine.power_on()?.assert_kept();
/// assert!(fs::read(&path)?.starts_with(b"one"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CrashFs {
    machine: Arc<Machine>,
}

impl CrashFs {
    /// Settings of a new one.
    pub fn builder() -> CrashFsBuilder {
        CrashFsBuilder::default()
    }

    /// An empty one with the rules of POSIX and a seed.
    ///
    /// # Errors
    /// When the system has no folder for temporary files.
    pub fn posix(seed: u64) -> Result<CrashFs> {
        CrashFs::builder().seed(seed).build()
    }

    pub(crate) fn mount(files: CrashFiles, seed: u64, hooks: Hooks) -> Result<CrashFs> {
        let shadow = Shadow::new()?;
        let mut files = files;
        shadow.rebuild(&mut files)?;
        let machine = Arc::new(Machine {
            state: Mutex::new(DiskState::new(files, seed)),
            shadow,
            hooks,
        });
        roots::register(&machine);
        Ok(CrashFs { machine })
    }

    pub(crate) fn of(machine: Arc<Machine>) -> CrashFs {
        CrashFs { machine }
    }

    pub(crate) fn is_same(&self, other: &CrashFs) -> bool {
        Arc::ptr_eq(&self.machine, &other.machine)
    }

    /// Paths below it are on this disk. It is a directory of the kernel that has the names and
    /// sizes of the files, and none of their bytes, for what asks the kernel: `Path::exists`.
    pub fn root(&self) -> &Path {
        self.machine.root()
    }

    /// Until it is dropped, this thread's other paths are on this disk as well: `/var/db` and `db`
    /// as in a chroot(2). `Path::exists` does not know of that: `fs::exists` does.
    ///
    /// ```
    /// use ssdlab_crash_fs::{CrashFs, std::fs};
    ///
    /// let machine = CrashFs::posix(1)?;
    /// let entered = machine.enter();
    /// fs::write("log", "one")?;
    /// drop(entered);
    /// assert!(machine.root().join("log").exists());
    /// assert!(fs::read("log").unwrap_err().to_string().contains("on no crash disk"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use = "it ends when it is dropped"]
    pub fn enter(&self) -> Entered {
        Entered::new(Arc::clone(&self.machine))
    }

    /// [`CrashFs::enter`] for a task: while the future is polled.
    pub fn scope<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        let machine = self.clone();
        let mut future = Box::pin(future);
        std::future::poll_fn(move |context| {
            let _entered = machine.enter();
            future.as_mut().poll(context)
        })
    }

    /// Cuts the power now: files that are open are gone, and every call fails.
    ///
    /// # Errors
    /// When power is off.
    pub fn cut(&self) -> Result<()> {
        self.lock().files.cut().map_err(from_crash)
    }

    /// Switches power on, and mounts what is on the disk.
    ///
    /// # Errors
    /// When power is on; when the drive has lost the file system, which an honest one does not.
    pub fn power_on(&self) -> Result<RecoveryReport> {
        let mut state = self.lock();
        let report = state.power_on().map_err(from_crash)?;
        self.machine.shadow.rebuild(&mut state.files)?;
        Ok(report)
    }

    /// Cuts the power inside the nth call from now that changes something, counted from 0.
    pub fn arm(&self, nth: u64) {
        self.lock().arm(nth);
    }

    /// Whether the disk has power.
    pub fn is_on(&self) -> bool {
        self.lock().files.disk().is_on()
    }

    /// A copy of disk and cache, as they are now.
    pub fn files(&self) -> CrashFiles {
        self.lock().files.fork()
    }

    /// What no sync has made durable yet; see [`CrashFiles::pending`].
    ///
    /// ```
    /// use ssdlab_crash_fs::{CrashFs, std::fs};
    ///
    /// let machine = CrashFs::posix(1)?;
    /// fs::write(machine.root().join("log"), "one")?;
    /// assert_eq!(machine.pending(), ["data of `log`", "the name `log`"]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn pending(&self) -> Vec<String> {
        self.lock().files.pending()
    }

    /// Virtual time of the drive.
    pub fn now(&self) -> Nanos {
        self.lock().files.disk().now()
    }

    pub(crate) fn shadow(&self) -> &Shadow {
        &self.machine.shadow
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn sleep(&self, time: Duration) -> Option<crate::hooks::Pause> {
        self.machine.hooks.sleep.as_ref().map(|sleep| sleep(time))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, DiskState> {
        let state = self.machine.state.lock();
        state.unwrap_or_else(|error| error.into_inner())
    }

    /// Every call of a program begins here.
    pub(crate) fn call<T>(&self, call: impl FnOnce(&mut DiskState) -> Result<T>) -> Result<T> {
        if let Some(hook) = &self.machine.hooks.before_each_call {
            hook();
        }
        let clock_time = self.machine.hooks.clock.as_ref().map(|clock| clock());
        let mut state = self.lock();
        if let Some(time) = clock_time {
            state.catch_up(time)?;
        }
        call(&mut state)
    }

    /// Waits a little for another thread's lock.
    pub(crate) fn wait(&self) {
        match &self.machine.hooks.before_each_call {
            Some(hook) => hook(),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Settings of a [`CrashFs`].
///
/// ```
/// use ssdlab_crash_fs::{CrashFs, FileSystemRules};
///
/// let error = CrashFs::builder().faults(&["ignores-all"]).build().unwrap_err();
/// assert!(error.to_string().contains("no fault is named"));
/// let machine = CrashFs::builder().rules(FileSystemRules::xfs()).capacity(4 << 20).build()?;
/// assert!(machine.is_on());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct CrashFsBuilder {
    rules: FileSystemRules,
    seed: u64,
    drive: DriveConfig,
    faults: Vec<String>,
    hooks: Hooks,
}

impl Default for CrashFsBuilder {
    fn default() -> CrashFsBuilder {
        CrashFsBuilder {
            rules: FileSystemRules::posix(),
            seed: 0,
            drive: drive_of(CAPACITY),
            faults: Vec::new(),
            hooks: Hooks::default(),
        }
    }
}

impl fmt::Debug for CrashFsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("CrashFsBuilder");
        fields.field("rules", &self.rules).field("seed", &self.seed);
        fields.field("drive", &self.drive.name).finish()
    }
}

/// Bytes of a disk, if nothing else is given.
const CAPACITY: u64 = 8 << 20;

/// A small drive with room for some bytes.
fn drive_of(capacity: u64) -> DriveConfig {
    let mut drive = DriveConfig::tiny();
    let (blocks, bytes) = (drive.shape.blocks_per_plane, drive.user_bytes);
    let capacity = capacity.next_multiple_of(1 << 16).max(bytes);
    let share = capacity.div_ceil(bytes) as u32;
    drive.shape.blocks_per_plane = blocks * share;
    drive.user_bytes = capacity;
    drive
}

impl CrashFsBuilder {
    /// What the file system promises: [`FileSystemRules::posix`] by default, so that programs that
    /// pass are portable.
    pub fn rules(mut self, rules: FileSystemRules) -> CrashFsBuilder {
        self.rules = rules;
        self
    }

    /// Decides what the file system writes back of its own accord, where cuts strike, and the order
    /// of what is in flight on a ring of io_uring. A simulator's seed belongs here.
    pub fn seed(mut self, seed: u64) -> CrashFsBuilder {
        self.seed = seed;
        self
    }

    /// Bytes of the disk: 8 MiB by default.
    pub fn capacity(mut self, bytes: u64) -> CrashFsBuilder {
        self.drive = drive_of(bytes);
        self
    }

    /// Another drive, such as [`ssdlab_crash::drawn_drive`] of a seed.
    pub fn drive(mut self, drive: DriveConfig) -> CrashFsBuilder {
        self.drive = drive;
        self
    }

    /// Faults of the drive by name, such as `ignores-flush`: see [`ssdlab_crash::DiskFault`].
    pub fn faults(mut self, faults: &[&str]) -> CrashFsBuilder {
        self.faults = faults.iter().map(|&fault| fault.to_owned()).collect();
        self
    }

    /// A simulator's clock: the time since its start. The drive works on while it passes, and files
    /// get their times from it. Without one, time is that of the drive.
    pub fn clock(mut self, clock: impl Fn() -> Duration + Send + Sync + 'static) -> CrashFsBuilder {
        self.hooks.clock = Some(Box::new(clock));
        self
    }

    /// Runs before each call on files, such as a simulator's `yield_now`, so that it may let
    /// another thread run there.
    pub fn before_each_call(mut self, hook: impl Fn() + Send + Sync + 'static) -> CrashFsBuilder {
        self.hooks.before_each_call = Some(Box::new(hook));
        self
    }

    /// How a task sleeps: each call of `ssdlab_crash_fs::tokio::fs` then takes the time that the
    /// drive takes. Without it, such a call takes none.
    pub fn sleep<F>(mut self, sleep: impl Fn(Duration) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.hooks.sleep = Some(Box::new(move |time| Box::pin(sleep(time))));
        self
    }

    /// An empty file system on a new drive.
    ///
    /// # Errors
    /// When the drive cannot exist or has no such fault, and when the system has no folder for
    /// temporary files.
    pub fn build(self) -> Result<CrashFs> {
        let files = self.files(self.seed).map_err(from_crash)?;
        CrashFs::mount(files, self.seed, self.hooks)
    }

    pub(crate) fn files(&self, seed: u64) -> std::result::Result<CrashFiles, crate::CrashError> {
        let faults: Vec<&str> = self.faults.iter().map(String::as_str).collect();
        let mut disk = CrashDisk::with_faults(self.drive.clone(), seed, &faults)?;
        disk.stop_history();
        CrashFiles::format(disk, self.rules)
    }
}
