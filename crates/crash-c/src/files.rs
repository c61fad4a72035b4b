//! Files on a disk.

use crate::disk::{SsdlabDisk, judged, no_disk};
use crate::{SsdlabStatus, bytes, keep, put, refused, status, status_of, text};
use crash::{CrashError, CrashFiles, FileId, FileSystemRules};
use std::ffi::c_char;

/// What a file system promises.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "callers in C make its values")]
pub enum SsdlabRules {
    /// What POSIX promises, and no more: a name needs a sync of its directory.
    SSDLAB_POSIX = 0,
    /// ext4 with its defaults.
    SSDLAB_EXT4 = 1,
    /// XFS.
    SSDLAB_XFS = 2,
    /// btrfs.
    SSDLAB_BTRFS = 3,
}

/// Files on a crash disk, with a page cache that is written back when the seed says so. Paths are
/// such as "db/wal"; "" is the directory at the top.
pub struct SsdlabFiles {
    files: CrashFiles,
    /// Open files by their handle.
    ids: Vec<FileId>,
}

/// Makes an empty file system on a disk, which is freed with it. `rules` is one of SsdlabRules.
/// Null when the disk is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_format(
    disk: *mut SsdlabDisk,
    rules: u32,
) -> *mut SsdlabFiles {
    if disk.is_null() {
        no_disk();
        return std::ptr::null_mut();
    }
    // SAFETY: a disk of ours that the caller gives up.
    let disk = unsafe { Box::from_raw(disk) }.0;
    let known = [
        (SsdlabRules::SSDLAB_POSIX, FileSystemRules::posix()),
        (SsdlabRules::SSDLAB_EXT4, FileSystemRules::ext4()),
        (SsdlabRules::SSDLAB_XFS, FileSystemRules::xfs()),
        (SsdlabRules::SSDLAB_BTRFS, FileSystemRules::btrfs()),
    ];
    let Some((_, rules)) = known.into_iter().find(|(name, _)| *name as u32 == rules) else {
        refused(
            "these rules are of no file system",
            "SSDLAB_POSIX, _EXT4, _XFS or _BTRFS",
        );
        return std::ptr::null_mut();
    };
    match CrashFiles::format(disk, rules) {
        Ok(files) => Box::into_raw(Box::new(SsdlabFiles {
            files,
            ids: Vec::new(),
        })),
        Err(error) => {
            keep(&error.to_string());
            std::ptr::null_mut()
        }
    }
}

/// The same files and disk, which go their own way from here; open files stay open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_fork(files: *const SsdlabFiles) -> *mut SsdlabFiles {
    // SAFETY: files of ours.
    let files = unsafe { &*files };
    Box::into_raw(Box::new(SsdlabFiles {
        files: files.files.fork(),
        ids: files.ids.clone(),
    }))
}

/// Frees files and their disk. Null does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_free(files: *mut SsdlabFiles) {
    if !files.is_null() {
        // SAFETY: files of ours that nobody uses any more.
        drop(unsafe { Box::from_raw(files) });
    }
}

/// The files behind a handle.
///
/// # Safety
/// They are ours, and no other thread uses them.
unsafe fn of<'a>(files: *mut SsdlabFiles) -> &'a mut SsdlabFiles {
    // SAFETY: as above.
    unsafe { &mut *files }
}

impl SsdlabFiles {
    fn id(&self, file: u64) -> Result<FileId, CrashError> {
        let id = usize::try_from(file).ok().and_then(|at| self.ids.get(at));
        id.copied().ok_or_else(|| CrashError::File {
            what: format!("{file} is no open file"),
            hint: "ssdlab_files_open() gives one".into(),
        })
    }

    /// A handle for a file; one file has one.
    fn handle(&mut self, id: FileId) -> u64 {
        let known = self.ids.iter().position(|&other| other == id);
        known.unwrap_or_else(|| {
            self.ids.push(id);
            self.ids.len() - 1
        }) as u64
    }
}

/// Changes the seed of write-back and of the disk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_reseed(files: *mut SsdlabFiles, seed: u64) {
    // SAFETY: files of ours.
    unsafe { of(files) }.files.reseed(seed);
}

/// Makes an empty file, which must not exist; `file` gets its handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_create(
    files: *mut SsdlabFiles,
    path: *const c_char,
    file: *mut u64,
) -> SsdlabStatus {
    // SAFETY: files of ours, and the caller's text and pointer.
    unsafe {
        let files = of(files);
        match files.files.create(text(path)) {
            Ok(id) => put(file, files.handle(id)),
            Err(error) => return status_of(&error),
        }
    }
    SsdlabStatus::SSDLAB_OK
}

/// Opens a file; `file` gets its handle. It is good until power is lost or the file loses its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_open(
    files: *mut SsdlabFiles,
    path: *const c_char,
    file: *mut u64,
) -> SsdlabStatus {
    // SAFETY: files of ours, and the caller's text and pointer.
    unsafe {
        let files = of(files);
        match files.files.open(text(path)) {
            Ok(id) => put(file, files.handle(id)),
            Err(error) => return status_of(&error),
        }
    }
    SsdlabStatus::SSDLAB_OK
}

/// Bytes of an open file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_size(
    files: *mut SsdlabFiles,
    file: u64,
    size: *mut u64,
) -> SsdlabStatus {
    // SAFETY: files of ours.
    let files = unsafe { of(files) };
    match files.id(file).and_then(|id| files.files.size(id)) {
        Ok(bytes) => {
            // SAFETY: the caller's pointer.
            unsafe { put(size, bytes) };
            SsdlabStatus::SSDLAB_OK
        }
        Err(error) => status_of(&error),
    }
}

/// Writes into an open file, which grows when it has to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_write(
    files: *mut SsdlabFiles,
    file: u64,
    offset: u64,
    from: *const u8,
    len: usize,
) -> SsdlabStatus {
    // SAFETY: files of ours, and the caller's bytes.
    let (files, bytes) = unsafe { (of(files), bytes(from, len)) };
    let id = files.id(file);
    status(id.and_then(|id| files.files.write_at(id, offset, bytes)))
}

/// Reads from an open file; `count` gets the number of bytes, fewer than `len` at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_read(
    files: *mut SsdlabFiles,
    file: u64,
    offset: u64,
    to: *mut u8,
    len: usize,
    count: *mut usize,
) -> SsdlabStatus {
    // SAFETY: files of ours.
    let files = unsafe { of(files) };
    let id = files.id(file);
    match id.and_then(|id| files.files.read_at(id, offset, len)) {
        Ok(read) => {
            // SAFETY: the caller has room for `len` bytes, and a pointer.
            unsafe {
                to.copy_from_nonoverlapping(read.as_ptr(), read.len());
                put(count, read.len());
            }
            SsdlabStatus::SSDLAB_OK
        }
        Err(error) => status_of(&error),
    }
}

/// Makes an open file shorter, or longer by zeroes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_truncate(
    files: *mut SsdlabFiles,
    file: u64,
    len: u64,
) -> SsdlabStatus {
    // SAFETY: files of ours.
    let files = unsafe { of(files) };
    let id = files.id(file);
    status(id.and_then(|id| files.files.set_len(id, len)))
}

/// Makes the bytes and the size of an open file durable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_fsync(files: *mut SsdlabFiles, file: u64) -> SsdlabStatus {
    // SAFETY: files of ours.
    let files = unsafe { of(files) };
    let id = files.id(file);
    status(id.and_then(|id| files.files.fsync(id)))
}

/// The same as fdatasync() does it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_fdatasync(
    files: *mut SsdlabFiles,
    file: u64,
) -> SsdlabStatus {
    // SAFETY: files of ours.
    let files = unsafe { of(files) };
    let id = files.id(file);
    status(id.and_then(|id| files.files.fdatasync(id)))
}

/// Makes the names in a directory durable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_sync_dir(
    files: *mut SsdlabFiles,
    path: *const c_char,
) -> SsdlabStatus {
    // SAFETY: files of ours, and the caller's text.
    status(unsafe { of(files).files.sync_dir(text(path)) })
}

/// Makes everything durable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_sync_all(files: *mut SsdlabFiles) -> SsdlabStatus {
    // SAFETY: files of ours.
    status(unsafe { of(files) }.files.sync_all())
}

/// Gives a file or directory another name, atomically; a file replaces a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_rename(
    files: *mut SsdlabFiles,
    from: *const c_char,
    to: *const c_char,
) -> SsdlabStatus {
    // SAFETY: files of ours, and the caller's texts.
    status(unsafe { of(files).files.rename(text(from), text(to)) })
}

/// Gives a file one more name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_link(
    files: *mut SsdlabFiles,
    path: *const c_char,
    name: *const c_char,
) -> SsdlabStatus {
    // SAFETY: files of ours, and the caller's texts.
    status(unsafe { of(files).files.hard_link(text(path), text(name)) })
}

/// Removes a name, and the file if it has no other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_unlink(
    files: *mut SsdlabFiles,
    path: *const c_char,
) -> SsdlabStatus {
    // SAFETY: files of ours, and the caller's text.
    status(unsafe { of(files).files.unlink(text(path)) })
}

/// Makes an empty directory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_mkdir(
    files: *mut SsdlabFiles,
    path: *const c_char,
) -> SsdlabStatus {
    // SAFETY: files of ours, and the caller's text.
    status(unsafe { of(files).files.mkdir(text(path)) })
}

/// Removes an empty directory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_rmdir(
    files: *mut SsdlabFiles,
    path: *const c_char,
) -> SsdlabStatus {
    // SAFETY: files of ours, and the caller's text.
    status(unsafe { of(files).files.rmdir(text(path)) })
}

/// Whether a file or directory has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_exists(
    files: *const SsdlabFiles,
    path: *const c_char,
) -> bool {
    // SAFETY: files of ours, and the caller's text.
    unsafe { (*files).files.exists(text(path)) }
}

/// Whether a directory has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_is_dir(
    files: *const SsdlabFiles,
    path: *const c_char,
) -> bool {
    // SAFETY: files of ours, and the caller's text.
    unsafe { (*files).files.is_dir(text(path)) }
}

/// The paths in a directory, each ended by a zero, as far as `room` bytes go; `count` gets the
/// bytes of all of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_list(
    files: *const SsdlabFiles,
    path: *const c_char,
    to: *mut c_char,
    room: usize,
    count: *mut usize,
) -> SsdlabStatus {
    // SAFETY: files of ours, and the caller's text.
    let (files, path) = unsafe { (&(*files).files, text(path)) };
    if !files.is_dir(path) {
        return refused(
            &format!("no directory is named `{path}`"),
            "ssdlab_files_mkdir() makes one",
        );
    }
    let paths: String = files
        .list(path)
        .iter()
        .map(|path| format!("{path}\0"))
        .collect();
    let copied = paths.len().min(room);
    // SAFETY: the caller has room for these bytes, and a pointer.
    unsafe {
        to.copy_from_nonoverlapping(paths.as_ptr().cast(), copied);
        put(count, paths.len());
    }
    SsdlabStatus::SSDLAB_OK
}

/// Arms a cut at the nth call from now, counted from 0: just before it, or in it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_arm_call(files: *mut SsdlabFiles, nth: u64) {
    // SAFETY: files of ours.
    unsafe { of(files) }.files.arm_call(nth);
}

/// Arms a cut inside the next recovery, after this share of it in thousandths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_arm_recovery(files: *mut SsdlabFiles, share: u16) {
    // SAFETY: files of ours.
    unsafe { of(files) }.files.arm_recovery(share);
}

/// Cuts the power now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_cut(files: *mut SsdlabFiles) -> SsdlabStatus {
    // SAFETY: files of ours.
    status(unsafe { of(files) }.files.cut())
}

/// Switches the power on, mounts what is there, and holds the drive against its promises; `broken`
/// gets the number that were not kept, and may be null. Open files are closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_power_on(
    files: *mut SsdlabFiles,
    broken: *mut u64,
) -> SsdlabStatus {
    // SAFETY: files of ours.
    let files = unsafe { of(files) };
    files.ids.clear();
    judged(files.files.power_on(), broken)
}

/// Whether the disk has power.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_files_is_on(files: *const SsdlabFiles) -> bool {
    // SAFETY: files of ours.
    unsafe { &*files }.files.disk().is_on()
}
