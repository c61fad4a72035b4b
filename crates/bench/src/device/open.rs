//! Opening a file or block device as a target, and preparing a file.
//!
//! A file that does not exist is created, reserved, and filled with random data before anything
//! is measured: reads of unwritten blocks never reach the device, and first writes of them also
//! change the file system's own tables. It loses its name as soon as it is open, and is gone with
//! the target.

use super::bypass::no_direct;
use super::claim::{ClaimedKind, claim};
use super::contents::fill;
use super::files::{FileBackend, FileTarget};
use super::generic::refuse_passthrough;
use super::needs::{Needs, OpenOptions, PayloadContents};
use super::slab::Slab;
use super::uring::{UringOptions, UringTarget};
use super::{TargetFacts, TargetKind};
use crate::device::system;
use crate::device::system::{DeviceCounters, SystemPaths};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, SeekFrom, StatxFlags};
use rustix::io::Errno;
use ssdlab_base::LabError;
use ssdlab_ssd::Bytes;
use ssdlab_ssd::rng::Rng;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const FILL_BYTES: usize = 4 << 20;
const TMPFS_MAGIC: i64 = 0x0102_1994;
const RAMFS_MAGIC: i64 = 0x8584_58f6;

/// Opens `path` for what `needs` says. `progress` hears of bytes filled, of how many; `stop`
/// ends the filling.
///
/// # Errors
/// When it may not be written ([`claim`]), cannot be opened or does not fit.
pub fn open(
    path: &Path,
    needs: &Needs,
    options: &OpenOptions,
    progress: &mut dyn FnMut(u64, u64),
    stop: &AtomicBool,
) -> Result<FileTarget, LabError> {
    if needs.passthrough {
        return Err(refuse_passthrough(&SystemPaths::live(), path));
    }
    if !needs.direct && !options.buffered {
        return Err(LabError::refused(
            "the workload asks for buffered I/O (direct=0): that measures the page cache",
            "set direct=1 (-Su for DISKSPD), or allow buffered I/O on this target (--buffered)",
        ));
    }
    refuse_contents(needs)?;
    let missing = !path.try_exists().unwrap_or(true);
    let (file, path, kind) = if needs.changes || missing {
        let claim = claim(path, options)?;
        let (path, kind) = (claim.path().to_owned(), claim.kind());
        (claim.into_file(), path, Some(kind))
    } else {
        (open_to_read(path, options)?, path.to_owned(), None)
    };
    let path = path.as_path();
    let stat = rustix::fs::fstat(&file).map_err(|error| failed("looking at", path, error))?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
        refuse_memory(&file, path, options)?;
    }
    let (mut facts, counters) = describe(&file, path, &stat, options);
    if !options.buffered {
        refuse_unaligned(path, needs, &facts)?;
    }
    let len =
        rustix::fs::seek(&file, SeekFrom::End(0)).map_err(|error| failed("sizing", path, error))?;
    facts.capacity = match kind {
        Some(ClaimedKind::NewFile | ClaimedKind::ExistingFile) => {
            let size = size_wanted(path, len, needs, options)?;
            if size > len {
                prepare(&file, path, len..size, progress, stop)?;
            }
            size
        }
        _ => len,
    };
    if facts.kind == TargetKind::File && needs.read_bytes > 0 && holes(&file) {
        facts.notes.push(String::from(
            "the file has holes: reads of them never reach the device",
        ));
    }
    let way = FileBackend::new(facts.kind, counters, needs.write_bytes > 0, needs.data_only);
    UringTarget::new(file, facts, way, UringOptions::of(needs), &written(needs))
}

/// What the writes of one target hold.
pub(super) fn written(needs: &Needs) -> PayloadContents {
    needs.contents.first().cloned().unwrap_or_default()
}

/// What a modelled drive takes and a real one cannot be given.
pub(super) fn refuse_contents(needs: &Needs) -> Result<(), LabError> {
    if needs.contents.len() > 1 {
        return Err(LabError::refused(
            "jobs write different contents (buffer_pattern or dedupe_percentage), which share \
             their buffers here",
            "give all jobs that write the same contents and smallest block, or run them one by one",
        ));
    }
    Ok(())
}

/// Direct I/O takes whole blocks only, and so does an NVMe namespace.
pub(super) fn refuse_unaligned(
    path: &Path,
    needs: &Needs,
    facts: &TargetFacts,
) -> Result<(), LabError> {
    if needs.granule.is_multiple_of(u64::from(facts.block_size)) {
        return Ok(());
    }
    Err(LabError::refused(
        format!(
            "{} takes multiples of {} bytes; the workload's addresses and sizes are \
             multiples of {}",
            path.display(),
            facts.block_size,
            needs.granule
        ),
        "use larger or aligned blocks (bs, blockalign; -b, -r, -si)",
    ))
}

/// What is known of the drive underneath, and its counters.
pub(super) fn describe(
    file: &File,
    path: &Path,
    stat: &rustix::fs::Stat,
    options: &OpenOptions,
) -> (TargetFacts, Option<DeviceCounters>) {
    let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    let kind = if is_device {
        TargetKind::BlockDevice
    } else {
        TargetKind::File
    };
    let mut facts = TargetFacts::unknown(path.display().to_string(), kind);
    let counters = system::describe(&SystemPaths::live(), stat, &mut facts);
    if options.buffered {
        facts.notes.push(String::from(
            "buffered: reads and writes go through the page cache, not straight to the drive",
        ));
    } else if let Some(block) = direct_alignment(file).filter(|_| !is_device) {
        facts.block_size = block;
    }
    (facts, counters)
}

pub(super) fn failed(action: &'static str, path: &Path, error: Errno) -> LabError {
    LabError::file(action, path, error.into())
}

pub(super) fn open_to_read(path: &Path, options: &OpenOptions) -> Result<File, LabError> {
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    if !options.buffered {
        flags |= OFlags::DIRECT;
    }
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => Ok(File::from(file)),
        Err(Errno::INVAL) if !options.buffered => Err(no_direct(path)),
        Err(error) => Err(failed("opening", path, error)),
    }
}

/// Recent kernels accept O_DIRECT on tmpfs and ignore it.
pub(super) fn refuse_memory(
    file: &File,
    path: &Path,
    options: &OpenOptions,
) -> Result<(), LabError> {
    let fs = rustix::fs::fstatfs(file).map_err(|error| failed("looking at", path, error))?;
    let memory = [TMPFS_MAGIC, RAMFS_MAGIC].contains(&(fs.f_type as i64));
    if memory && !options.buffered {
        return Err(no_direct(path));
    }
    Ok(())
}

/// What direct I/O on this file must be aligned to, as the file system says (Linux 6.1).
fn direct_alignment(file: &File) -> Option<u32> {
    let stat = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let known = stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    (known && stat.stx_dio_offset_align > 0).then_some(stat.stx_dio_offset_align)
}

fn holes(file: &File) -> bool {
    rustix::fs::fstat(file).is_ok_and(|stat| (stat.st_blocks * 512) < stat.st_size)
}

fn size_wanted(
    path: &Path,
    len: u64,
    needs: &Needs,
    options: &OpenOptions,
) -> Result<u64, LabError> {
    let size = options
        .size
        .unwrap_or_else(|| needs.extent.unwrap_or(0).next_multiple_of(4096).max(len));
    if size == 0 || !size.is_multiple_of(4096) {
        return Err(LabError::refused(
            format!("{} would have {size} bytes", path.display()),
            "give a size that is a multiple of 4096 (size=1g in the job, or --size)",
        ));
    }
    Ok(size)
}

/// Refuses what cannot fit before the file system looks for room, which takes long.
fn fits(file: &File, path: &Path, more: u64) -> Result<(), LabError> {
    let (Ok(system), Ok(stat)) = (rustix::fs::fstatvfs(file), rustix::fs::fstat(file)) else {
        return Ok(());
    };
    let own = u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
    let free = system.f_bavail.saturating_mul(system.f_frsize);
    if more <= free.saturating_add(own) {
        return Ok(());
    }
    Err(LabError::refused(
        format!(
            "{} of {} do not fit: the file system has {} free",
            Bytes(more),
            path.display(),
            Bytes(free)
        ),
        "choose a smaller --size, or free some space",
    ))
}

/// Reserves and writes `range` of the file with random data, and makes it durable.
fn prepare(
    file: &File,
    path: &Path,
    range: std::ops::Range<u64>,
    progress: &mut dyn FnMut(u64, u64),
    stop: &AtomicBool,
) -> Result<(), LabError> {
    let total = range.end - range.start;
    let full = |error: io::Error| {
        let full = error.kind() == io::ErrorKind::StorageFull;
        let hint = if full {
            "choose a smaller --size, or free some space"
        } else {
            ""
        };
        LabError::File {
            action: "filling",
            path: path.to_owned(),
            source: error,
            hint: String::from(hint),
        }
    };
    fits(file, path, total)?;
    let none = rustix::fs::FallocateFlags::empty();
    match rustix::fs::fallocate(file, none, range.start, total) {
        Ok(()) | Err(Errno::OPNOTSUPP) => {}
        Err(error) => return Err(full(error.into())),
    }
    let mut slab = Slab::new(FILL_BYTES).map_err(full)?;
    let mut rng = Rng::named(range.end, "filling");
    let mut offset = range.start;
    while offset < range.end {
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::refused(
                format!(
                    "stopped after {} of {} of {} were filled",
                    Bytes(offset - range.start),
                    Bytes(total),
                    path.display()
                ),
                "nothing was measured; a file created for the run is removed",
            ));
        }
        let len = (range.end - offset).min(FILL_BYTES as u64);
        let bytes = &mut slab.bytes()[..len as usize];
        fill(&mut rng, bytes);
        file.write_all_at(bytes, offset).map_err(full)?;
        offset += len;
        progress(offset - range.start, total);
    }
    file.sync_all().map_err(full)
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;
