//! Open files of a crash disk, and the calls on them.

mod flags;
mod locks;
mod names;

pub(crate) use flags::{OpenFlags, SyncKind};

use crate::error::{CrashFsError, bad_descriptor, from_crash, system};
use crate::recorder::{CutRecorder, mixed};
use crate::shadow::Shadow;
use locks::FileLock;
use ssdlab_crash::{CrashError, CrashFiles, FileId, Nanos, RecoveryReport};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Result};
use std::time::{Duration, SystemTime};

/// 2026-01-01: when the virtual time of a drive began.
const BEGAN: Duration = Duration::from_secs(1_767_225_600);

/// What an open file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenTarget {
    File(FileId),
    /// A number of the table of open directories.
    Directory(u64),
}

/// Mode and times. They are in memory only: a cut brings their first values back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attributes {
    pub mode: u32,
    pub created: SystemTime,
    pub modified: SystemTime,
    pub accessed: SystemTime,
}

/// What a call of `metadata` answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stat {
    pub is_directory: bool,
    pub len: u64,
    pub inode: u64,
    pub links: u64,
    pub attributes: Attributes,
}

/// A file that somebody has open.
#[derive(Debug)]
struct OpenInode {
    handles: usize,
    /// The bytes of a file that has lost its last name; it is gone with its last handle, and with
    /// the power.
    orphan: Option<Vec<u8>>,
    /// The file of the shadow, which has the same length.
    mirror: std::fs::File,
}

#[derive(Debug)]
pub(crate) struct DiskState {
    pub files: CrashFiles,
    pub recorder: Option<CutRecorder>,
    /// Calls that changed something.
    pub calls: u64,
    /// The first call that a test may cut.
    pub cut_from: u64,
    open: BTreeMap<FileId, OpenInode>,
    directories: BTreeMap<u64, Option<String>>,
    locks: BTreeMap<FileId, FileLock>,
    attributes: BTreeMap<FileId, Attributes>,
    /// Number of times that power came back: older files are stale.
    boot: u64,
    number_last: u64,
    armed: Option<u64>,
    began: Nanos,
    seed: u64,
    /// Number of decisions about the order of requests in flight.
    draws: u64,
}

impl DiskState {
    pub fn new(files: CrashFiles, seed: u64) -> DiskState {
        DiskState {
            began: files.disk().now(),
            files,
            recorder: None,
            calls: 0,
            cut_from: 0,
            open: BTreeMap::new(),
            directories: BTreeMap::new(),
            locks: BTreeMap::new(),
            attributes: BTreeMap::new(),
            boot: 0,
            number_last: 0,
            armed: None,
            seed,
            draws: 0,
        }
    }

    /// A number below a bound, for the order of requests in flight.
    #[cfg_attr(not(feature = "io-uring"), allow(dead_code))]
    pub fn draw(&mut self, bound: u64) -> u64 {
        self.draws += 1;
        mixed(mixed(self.seed).wrapping_add(self.draws)) % bound.max(1)
    }

    /// Where an open directory is; none if it was removed.
    #[cfg_attr(not(feature = "io-uring"), allow(dead_code))]
    pub fn directory(&self, target: OpenTarget) -> Result<Option<String>> {
        match target {
            OpenTarget::File(_) => Err(system(ErrorKind::NotADirectory)),
            OpenTarget::Directory(number) => Ok(self.directories.get(&number).cloned().flatten()),
        }
    }

    pub fn boot(&self) -> u64 {
        self.boot
    }

    /// A number for an open file.
    pub fn number(&mut self) -> u64 {
        self.number_last += 1;
        self.number_last
    }

    pub fn power_on(&mut self) -> std::result::Result<RecoveryReport, CrashError> {
        let report = self.files.power_on()?;
        self.boot += 1;
        self.open.clear();
        self.directories.clear();
        self.locks.clear();
        self.attributes.clear();
        self.armed = None;
        Ok(report)
    }

    pub fn arm(&mut self, nth: u64) {
        self.armed = Some(nth);
    }

    /// The drive works on until a simulator's time.
    pub fn catch_up(&mut self, time: Duration) -> Result<()> {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let until = self.began.saturating_add(Nanos(nanos));
        let disk_time = self.files.disk().now();
        if until > disk_time && self.files.disk().is_on() {
            let result = self.files.rest(Nanos(until.0 - disk_time.0));
            result.map_err(from_crash)?;
        }
        Ok(())
    }

    pub fn time(&self) -> SystemTime {
        let since = self.files.disk().now().0 - self.began.0;
        SystemTime::UNIX_EPOCH + BEGAN + Duration::from_nanos(since)
    }

    /// A call that changes something: a place at which the power may be cut.
    fn change<T>(
        &mut self,
        call: impl FnOnce() -> String,
        run: impl Fn(&mut CrashFiles) -> std::result::Result<T, CrashError>,
    ) -> Result<T> {
        let place = self.calls;
        self.calls += 1;
        if let Some(recorder) = &mut self.recorder
            && recorder.plan.contains(&place)
        {
            recorder.cut(place, call(), &self.files, &run);
        }
        match self.armed {
            Some(0) => {
                self.armed = None;
                self.files.arm_call(0);
                let _ = run(&mut self.files);
                if self.files.disk().is_on() {
                    self.files.cut().map_err(from_crash)?;
                }
                Err(CrashFsError::Power(CrashError::Off).into())
            }
            armed => {
                self.armed = armed.map(|left| left - 1);
                run(&mut self.files).map_err(from_crash)
            }
        }
    }

    /// Whether an open file of a number of power-ons is still good.
    pub fn check(&self, boot: u64) -> Result<()> {
        self.powered()?;
        if boot == self.boot {
            Ok(())
        } else {
            Err(CrashFsError::Stale.into())
        }
    }

    pub fn powered(&self) -> Result<()> {
        if self.files.disk().is_on() {
            Ok(())
        } else {
            Err(CrashFsError::Power(CrashError::Off).into())
        }
    }

    /// Whether a path names a directory; an error if it names nothing.
    pub fn is_directory(&self, path: &str) -> Result<bool> {
        self.powered()?;
        self.above(path)?;
        if self.files.is_dir(path) {
            Ok(true)
        } else if self.files.exists(path) {
            Ok(false)
        } else {
            Err(system(ErrorKind::NotFound))
        }
    }

    /// Every directory above a path must be one.
    fn above(&self, path: &str) -> Result<()> {
        for (end, _) in path.match_indices('/') {
            let directory = &path[..end];
            if !self.files.exists(directory) {
                return Err(system(ErrorKind::NotFound));
            }
            if !self.files.is_dir(directory) {
                return Err(system(ErrorKind::NotADirectory));
            }
        }
        Ok(())
    }

    /// A name that must be free, in a directory that must be there.
    fn free(&self, path: &str) -> Result<()> {
        match self.is_directory(path) {
            Ok(_) => Err(system(ErrorKind::AlreadyExists)),
            Err(error) if error.kind() == ErrorKind::NotFound => self.above(path),
            Err(error) => Err(error),
        }
    }

    pub fn open(&mut self, shadow: &Shadow, path: &str, flags: &OpenFlags) -> Result<OpenTarget> {
        flags.check()?;
        match self.is_directory(path) {
            Ok(_) if flags.create_new => Err(system(ErrorKind::AlreadyExists)),
            Ok(true) if flags.is_writing() => Err(system(ErrorKind::IsADirectory)),
            Ok(true) => {
                let number = self.number();
                self.directories.insert(number, Some(path.to_owned()));
                Ok(OpenTarget::Directory(number))
            }
            Ok(false) => self.open_file(shadow, path, flags),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.above(path)?;
                if flags.create || flags.create_new {
                    self.create(shadow, path, flags)
                } else {
                    Err(error)
                }
            }
            Err(error) => Err(error),
        }
    }

    /// What a path that ends with a slash names.
    pub fn must_be_directory(&self, path: &str, flags: &OpenFlags) -> Result<()> {
        let is_made = flags.create || flags.create_new;
        match self.is_directory(path) {
            Ok(true) => Ok(()),
            Ok(false) if !is_made => Err(system(ErrorKind::NotADirectory)),
            Err(error) if !is_made => Err(error),
            _ => Err(system(ErrorKind::IsADirectory)),
        }
    }

    fn open_file(&mut self, shadow: &Shadow, path: &str, flags: &OpenFlags) -> Result<OpenTarget> {
        let file = self.files.open(path).map_err(from_crash)?;
        if flags.is_writing() && self.attributes(file).mode & 0o200 == 0 {
            return Err(system(ErrorKind::PermissionDenied));
        }
        self.hold(shadow, path, file)?;
        if flags.truncate
            && let Err(error) = self.set_len(OpenTarget::File(file), 0)
        {
            self.close(OpenTarget::File(file));
            return Err(error);
        }
        Ok(OpenTarget::File(file))
    }

    fn create(&mut self, shadow: &Shadow, path: &str, flags: &OpenFlags) -> Result<OpenTarget> {
        let file = self.change(
            || format!("creation of `{path}`"),
            |files| files.create(path),
        )?;
        shadow.create(path)?;
        // A number may be that of a file that is gone.
        self.attributes.remove(&file);
        let mode = flags.mode.unwrap_or(0o666) & !0o022;
        self.attributes_mut(file).mode = mode;
        self.hold(shadow, path, file)?;
        Ok(OpenTarget::File(file))
    }

    fn hold(&mut self, shadow: &Shadow, path: &str, file: FileId) -> Result<()> {
        if let Some(open) = self.open.get_mut(&file) {
            open.handles += 1;
            return Ok(());
        }
        let open = OpenInode {
            handles: 1,
            orphan: None,
            mirror: shadow.open(path)?,
        };
        self.open.insert(file, open);
        Ok(())
    }

    pub fn close(&mut self, target: OpenTarget) {
        match target {
            OpenTarget::Directory(number) => {
                self.directories.remove(&number);
            }
            OpenTarget::File(file) => {
                let Some(open) = self.open.get_mut(&file) else {
                    return;
                };
                open.handles -= 1;
                if open.handles == 0 {
                    self.open.remove(&file);
                }
            }
        }
    }

    fn attributes(&self, file: FileId) -> Attributes {
        let first = SystemTime::UNIX_EPOCH + BEGAN;
        self.attributes.get(&file).copied().unwrap_or(Attributes {
            mode: 0o644,
            created: first,
            modified: first,
            accessed: first,
        })
    }

    pub fn attributes_mut(&mut self, file: FileId) -> &mut Attributes {
        let time = self.time();
        self.attributes.entry(file).or_insert(Attributes {
            mode: 0o644,
            created: time,
            modified: time,
            accessed: time,
        })
    }

    fn file(target: OpenTarget) -> Result<FileId> {
        match target {
            OpenTarget::File(file) => Ok(file),
            OpenTarget::Directory(_) => Err(system(ErrorKind::IsADirectory)),
        }
    }

    fn orphan(&mut self, file: FileId) -> Option<&mut Vec<u8>> {
        self.open.get_mut(&file)?.orphan.as_mut()
    }

    pub fn size(&mut self, target: OpenTarget) -> Result<u64> {
        let file = DiskState::file(target)?;
        match self.orphan(file) {
            Some(bytes) => Ok(bytes.len() as u64),
            None => self.files.size(file).map_err(from_crash),
        }
    }

    pub fn read_at(&mut self, target: OpenTarget, offset: u64, out: &mut [u8]) -> Result<usize> {
        let file = DiskState::file(target)?;
        let bytes = match self.orphan(file) {
            Some(bytes) => {
                let start = bytes.len().min(offset as usize);
                let end = bytes.len().min(start + out.len());
                bytes[start..end].to_vec()
            }
            None => {
                let read = self.files.read_at(file, offset, out.len());
                read.map_err(from_crash)?
            }
        };
        out[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    /// Writes, and returns where; `None` appends.
    pub fn write(&mut self, target: OpenTarget, offset: Option<u64>, bytes: &[u8]) -> Result<u64> {
        let file = DiskState::file(target)?;
        let offset = match offset {
            Some(offset) => offset,
            None => self.size(target)?,
        };
        if bytes.is_empty() {
            return Ok(offset);
        }
        let Some(end) = offset.checked_add(bytes.len() as u64) else {
            return Err(system(ErrorKind::InvalidInput));
        };
        if let Some(orphan) = self.orphan(file) {
            let (start, end) = (offset as usize, end as usize);
            orphan.resize(orphan.len().max(end), 0);
            orphan[start..end].copy_from_slice(bytes);
            return Ok(offset);
        }
        let label = self.label(file);
        self.change(
            || format!("write of {} bytes at {offset} of {label}", bytes.len()),
            |files| files.write_at(file, offset, bytes),
        )?;
        self.changed(file)?;
        Ok(offset)
    }

    pub fn set_len(&mut self, target: OpenTarget, bytes: u64) -> Result<()> {
        let file = DiskState::file(target)?;
        if let Some(orphan) = self.orphan(file) {
            orphan.resize(bytes as usize, 0);
            return Ok(());
        }
        let label = self.label(file);
        self.change(
            || format!("set_len to {bytes} of {label}"),
            |files| files.set_len(file, bytes),
        )?;
        self.changed(file)
    }

    /// A name for a file in messages. Paths are looked for only where one is shown.
    fn label(&self, file: FileId) -> String {
        if self.recorder.is_none() {
            return String::new();
        }
        match self.files.name_of(file) {
            Some(path) => format!("`{path}`"),
            None => "a file without a name".into(),
        }
    }

    /// The content of a file is new.
    fn changed(&mut self, file: FileId) -> Result<()> {
        let time = self.time();
        self.attributes_mut(file).modified = time;
        let size = self.files.size(file).map_err(from_crash)?;
        let Some(open) = self.open.get(&file) else {
            return Ok(());
        };
        if open.mirror.metadata()?.len() != size {
            open.mirror.set_len(size)?;
        }
        Ok(())
    }

    pub fn sync(&mut self, target: OpenTarget, kind: SyncKind) -> Result<()> {
        let file = match target {
            OpenTarget::File(file) => file,
            OpenTarget::Directory(number) => {
                let Some(path) = self.directories.get(&number).cloned().flatten() else {
                    return Ok(()); // removed: nothing is left to be made durable
                };
                return self.change(
                    || format!("sync of the directory `{path}`"),
                    |files| files.sync_dir(&path),
                );
            }
        };
        if self.orphan(file).is_some() {
            return Ok(());
        }
        let label = self.label(file);
        match kind {
            SyncKind::All => {
                self.change(|| format!("sync_all of {label}"), |files| files.fsync(file))
            }
            SyncKind::Data => self.change(
                || format!("sync_data of {label}"),
                |files| files.fdatasync(file),
            ),
        }
    }

    pub fn write_out(&mut self, target: OpenTarget) -> Result<()> {
        let file = DiskState::file(target)?;
        if self.orphan(file).is_some() {
            return Ok(());
        }
        let label = self.label(file);
        self.change(
            || format!("sync_file_range of {label}"),
            |files| files.write_out(file),
        )
    }

    pub fn stat(&mut self, target: OpenTarget) -> Result<Stat> {
        match target {
            OpenTarget::Directory(number) => Ok(self.stat_of_directory(number)),
            OpenTarget::File(file) => {
                let len = self.size(target)?;
                Ok(Stat {
                    is_directory: false,
                    len,
                    inode: file.number(),
                    links: self.files.links(file) as u64,
                    attributes: self.attributes(file),
                })
            }
        }
    }

    fn stat_of_directory(&self, number: u64) -> Stat {
        let first = SystemTime::UNIX_EPOCH + BEGAN;
        Stat {
            is_directory: true,
            len: 4096,
            inode: number,
            links: 2,
            attributes: Attributes {
                mode: 0o755,
                created: first,
                modified: first,
                accessed: first,
            },
        }
    }

    pub fn stat_path(&mut self, path: &str) -> Result<Stat> {
        if self.is_directory(path)? {
            // Directories have no number that a program could see otherwise.
            let hash = path.bytes().fold(1_u64 << 40, |hash, byte| {
                hash.wrapping_mul(31).wrapping_add(u64::from(byte))
            });
            return Ok(self.stat_of_directory(hash | 1 << 40));
        }
        let file = self.files.open(path).map_err(from_crash)?;
        self.stat(OpenTarget::File(file))
    }

    /// The file of a path, for what is not opened.
    pub fn file_of(&mut self, path: &str) -> Result<FileId> {
        if self.is_directory(path)? {
            return Err(system(ErrorKind::IsADirectory));
        }
        self.files.open(path).map_err(from_crash)
    }

    pub fn lock(&mut self, target: OpenTarget, holder: u64, exclusive: bool) -> Result<bool> {
        let file = DiskState::file(target).map_err(|_| bad_descriptor())?;
        Ok(self.locks.entry(file).or_default().take(holder, exclusive))
    }

    pub fn unlock(&mut self, target: OpenTarget, holder: u64) {
        let OpenTarget::File(file) = target else {
            return;
        };
        let Some(lock) = self.locks.get_mut(&file) else {
            return;
        };
        lock.release(holder);
        if lock.is_free() {
            self.locks.remove(&file);
        }
    }
}
