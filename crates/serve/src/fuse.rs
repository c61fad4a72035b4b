//! The drive as one file in a folder of its own, served by this process.
//!
//! `losetup --direct-io=on` turns the file into a block device without the nbd module. The file has
//! the drive's size and cannot be resized; fsync is a flush and punching a hole a trim. The page
//! cache of the file is bypassed, so that no stale page survives a cut.

mod watch;

use crate::lint::{Lint, SessionNotes};
use crate::sectors::SharedDrive;
use crate::store::{StoreError, ZeroFlags};
use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem,
    FopenFlags, Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags,
    ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request,
    Session, TimeOrNow, WriteFlags,
};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use watch::{FusePollWatcher, FusePolling};

const FILE: INodeNo = INodeNo(2);
/// Time for which the kernel may cache names and sizes, which never change.
const CACHE_TIME: Duration = Duration::from_secs(3600);
/// Maximum number of requests outstanding in a drive whose commands take time, as with NCQ; the
/// kernel's limit is the same.
const QUEUE_DEPTH: u16 = 32;

/// Linux's O_DSYNC, which O_SYNC contains.
const O_DSYNC: i32 = 0o10000;
/// Linux's modes of fallocate.
const KEEP_SIZE: i32 = 1;
const PUNCH_HOLE: i32 = 2;
const ZERO_RANGE: i32 = 0x10;

/// A mounted drive; dropping it unmounts it.
pub struct FuseFile {
    session: Option<BackgroundSession>,
    /// `None` when requests take time: several threads then wait for them.
    watcher: Option<FusePollWatcher>,
    path: PathBuf,
    lint: Arc<Lint>,
    notes: Arc<Mutex<SessionNotes>>,
}

impl FuseFile {
    /// Mounts the drive as the file `name` at the empty folder `folder`. Needs `/dev/fuse` and
    /// the right to mount.
    pub fn mount(
        drive: Arc<SharedDrive>,
        lint: Arc<Lint>,
        folder: &Path,
        name: &str,
    ) -> io::Result<Self> {
        let notes = SessionNotes::new(format!("fuse {}", folder.display()), false);
        let notes = Arc::new(Mutex::new(notes));
        let watch = Arc::new(FusePolling::new());
        let takes_time = drive.takes_time();
        let file = SingleFileFs {
            name: name.to_string(),
            drive,
            lint: lint.clone(),
            notes: notes.clone(),
            watch: watch.clone(),
        };
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("ssdlab".to_string()),
            MountOption::NoAtime,
            MountOption::NoDev,
            MountOption::NoSuid,
        ];
        if file.drive.is_read_only() {
            config.mount_options.push(MountOption::RO);
        }
        // Commands run one after another: a second thread would only wake up to wait.
        config.n_threads = Some(if takes_time { QUEUE_DEPTH.into() } else { 1 });
        let session = Session::new(file, folder, &config)?;
        let watcher = (!takes_time).then(|| watch.begin(&session)).transpose()?;
        let session = Some(session.spawn()?);
        Ok(Self {
            session,
            watcher,
            path: folder.join(name),
            lint,
            notes,
        })
    }

    /// Path of the file that is the drive.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for FuseFile {
    fn drop(&mut self) {
        drop(self.watcher.take());
        if let Some(session) = self.session.take()
            && session.umount_and_join().is_err()
        {
            detach(&self.path);
        }
        let mut notes = self
            .notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        notes.said_goodbye = true;
        self.lint.keep(notes);
    }
}

/// Takes a file that somebody has open out of the tree. It is not there for others any more, and
/// its users get errors once this process ends.
fn detach(path: &Path) {
    #[cfg(target_os = "linux")]
    if let Some(folder) = path.parent() {
        // An error has no receiver.
        let _ = rustix::mount::unmount(folder, rustix::mount::UnmountFlags::DETACH);
    }
}

struct SingleFileFs {
    name: String,
    drive: Arc<SharedDrive>,
    lint: Arc<Lint>,
    notes: Arc<Mutex<SessionNotes>>,
    watch: Arc<FusePolling>,
}

impl SingleFileFs {
    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let is_file = inode == FILE;
        let write = if self.drive.is_read_only() { 0 } else { 0o200 };
        FileAttr {
            ino: inode,
            size: if is_file { self.drive.size() } else { 0 },
            blocks: if is_file { self.drive.size() / 512 } else { 0 },
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if is_file {
                FileType::RegularFile
            } else {
                FileType::Directory
            },
            perm: write | if is_file { 0o400 } else { 0o500 },
            nlink: if is_file { 1 } else { 2 },
            uid: 0,
            gid: 0,
            rdev: 0,
            flags: 0,
            blksize: self.drive.sector_size() as u32,
        }
    }

    /// Updates the notes and converts the drive's error into the kernel's.
    fn note<T>(
        &self,
        result: Result<T, StoreError>,
        add: impl FnOnce(&mut SessionNotes),
    ) -> Result<T, Errno> {
        let result = result.and_then(|value| self.drive.settle().map(|()| value));
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(value) => {
                add(&mut notes);
                Ok(value)
            }
            Err(error) => {
                notes.errors += 1;
                Err(errno(&error))
            }
        }
    }

    fn flush_drive(&self) -> Result<(), Errno> {
        let coverage = &self.lint.coverage;
        let number = coverage.begin_flush();
        self.note(self.drive.flush(), |notes| notes.flushed(coverage, number))
    }

    fn allocate(&self, offset: u64, length: u64, mode: i32) -> Result<(), Errno> {
        let size = self.drive.size();
        if length == 0 {
            return Err(Errno::EINVAL);
        }
        if offset.checked_add(length).is_none_or(|end| end > size) {
            return Err(Errno::ENOSPC);
        }
        let zeroes = |no_hole| {
            let flags = ZeroFlags {
                fua: false,
                no_hole,
                fast: false,
            };
            self.note(self.drive.write_zeroes(offset, length, flags), |notes| {
                notes.wrote(&self.lint.coverage, length, false);
            })
        };
        match mode {
            // Every byte of the file is allocated from the beginning.
            0 | KEEP_SIZE => Ok(()),
            // A trim keeps partial sectors; a hole in a file must read as zeroes.
            _ if mode == PUNCH_HOLE | KEEP_SIZE => {
                if self.drive.is_aligned(offset, length) {
                    let result = self.drive.trim(offset, length, false);
                    self.note(result, |notes| notes.trims += 1)
                } else {
                    zeroes(false)
                }
            }
            _ if mode & !KEEP_SIZE == ZERO_RANGE => zeroes(true),
            _ => Err(Errno::EOPNOTSUPP),
        }
    }
}

/// The error that a program sees: no power is an I/O error, as with a drive that left its bus.
fn errno(error: &StoreError) -> Errno {
    match error {
        StoreError::Off | StoreError::Io(_) => Errno::EIO,
        StoreError::ReadOnly => Errno::EROFS,
        StoreError::OutOfRange { .. } => Errno::EINVAL,
        StoreError::NoSpace(_) => Errno::ENOSPC,
        StoreError::Unsupported => Errno::EOPNOTSUPP,
    }
}

fn answer(reply: ReplyEmpty, result: Result<(), Errno>) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

impl Filesystem for SingleFileFs {
    /// Lets several requests of one program, or of a loop device, be outstanding.
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // A kernel without support sends them one after another, which is correct too.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.set_max_background(QUEUE_DEPTH);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == self.name.as_str() {
            reply.entry(&CACHE_TIME, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&CACHE_TIME, &self.attributes(inode));
    }

    #[allow(clippy::too_many_arguments)]
    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        // As on a block device, O_TRUNC changes nothing, and a new size is refused.
        match size {
            Some(size) if size != 0 && size != self.drive.size() => reply.error(Errno::EINVAL),
            _ => reply.attr(&CACHE_TIME, &self.attributes(inode)),
        }
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        if inode == FILE {
            let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
            reply.opened(FileHandle(0), flags);
        } else {
            reply.error(Errno::EISDIR);
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let _request = self.watch.request();
        let readable = self.drive.size().saturating_sub(offset);
        let mut bytes = vec![0; readable.min(size.into()) as usize];
        let result = if bytes.is_empty() {
            Ok(())
        } else {
            self.drive.read(offset, &mut bytes)
        };
        match self.note(result, |notes| notes.reads += 1) {
            Ok(()) => reply.data(&bytes),
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let _request = self.watch.request();
        let writable = self.drive.size().saturating_sub(offset);
        let part = &data[..data.len().min(writable.min(usize::MAX as u64) as usize)];
        if part.is_empty() && !data.is_empty() {
            return reply.error(Errno::ENOSPC);
        }
        let fua = flags.0 & O_DSYNC != 0;
        let length = part.len() as u64;
        let is_unaligned = !self.drive.is_aligned(offset, length);
        let result = self.drive.write(offset, part, fua);
        let noted = self.note(result, |notes| {
            notes.unaligned += u64::from(is_unaligned);
            notes.wrote(&self.lint.coverage, length, fua);
        });
        match noted {
            Ok(()) => reply.written(part.len() as u32),
            Err(error) => reply.error(error),
        }
    }

    /// Called by close, which makes no promise.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let _request = self.watch.request();
        answer(reply, self.flush_drive());
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let _request = self.watch.request();
        answer(reply, self.allocate(offset, length, mode));
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (FILE, FileType::RegularFile, self.name.as_str()),
        ];
        for (next, (inode, kind, name)) in (1..).zip(entries).skip(offset.min(3) as usize) {
            if reply.add(inode, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
