//! The disk.

use crate::{SsdlabStatus, bytes, keep, put, refused, status, status_of, text};
use crash::{CrashDisk, CrashError, CutAt, DriveConfig, Nanos, RecoveryReport, drawn_drive};
use std::ffi::c_char;

/// A crash disk: a modelled drive, and a ledger of its promises.
pub struct SsdlabDisk(pub(crate) CrashDisk);

/// Bytes of a superblock of the smallest drive, and of what it offers.
const SUPERBLOCK: u64 = 196_608;
const TINY: u64 = 448 * 4096;

/// A drive of at least this size; 0: of 1.75 MiB, or as it is drawn.
fn config(kind: u64, size: u64) -> DriveConfig {
    let mut config = match kind {
        0 => DriveConfig::tiny(),
        kind => drawn_drive(kind),
    };
    if kind == 0 && size > TINY {
        config.user_bytes = size.next_multiple_of(4096);
        // More blocks of the same drive, and a third of them in reserve.
        let more = (config.user_bytes - TINY) * 4 / 3 / SUPERBLOCK + 1;
        config.shape.blocks_per_plane += more as u32;
    }
    config
}

/// A new disk, switched on. `kind` 0 is a drive of 1.75 MiB or, of the same kind, of `size` bytes;
/// other numbers draw small drives of many kinds (384 KiB). `seed` decides where armed cuts strike.
/// `faults` are names with commas between, such as "ignores-flush" or
/// "ignores-fua:500,lost-writes"; null or empty: an honest drive. Returns null when there is no
/// such drive or fault.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_new(
    kind: u64,
    size: u64,
    seed: u64,
    faults: *const c_char,
) -> *mut SsdlabDisk {
    // SAFETY: the caller's text.
    let faults = unsafe { text(faults) };
    let faults: Vec<&str> = faults.split(',').filter(|name| !name.is_empty()).collect();
    match CrashDisk::with_faults(config(kind, size), seed, &faults) {
        Ok(mut disk) => {
            disk.stop_history();
            Box::into_raw(Box::new(SsdlabDisk(disk)))
        }
        Err(error) => {
            keep(&error.to_string());
            std::ptr::null_mut()
        }
    }
}

/// A disk in the same state, which goes its own way from here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_fork(disk: *const SsdlabDisk) -> *mut SsdlabDisk {
    // SAFETY: a disk of ours.
    let fork = unsafe { &*disk }.0.fork();
    Box::into_raw(Box::new(SsdlabDisk(fork)))
}

/// Frees a disk. Null does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_free(disk: *mut SsdlabDisk) {
    if !disk.is_null() {
        // SAFETY: a disk of ours that nobody uses any more.
        drop(unsafe { Box::from_raw(disk) });
    }
}

/// The disk behind a handle.
///
/// # Safety
/// It is a disk of ours, and no other thread uses it.
unsafe fn of<'a>(disk: *mut SsdlabDisk) -> &'a mut CrashDisk {
    // SAFETY: as above.
    unsafe { &mut (*disk).0 }
}

/// Bytes that the disk offers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_capacity(disk: *const SsdlabDisk) -> u64 {
    // SAFETY: a disk of ours.
    unsafe { &*disk }.0.capacity()
}

/// Changes the seed, so that forks of one disk draw differently.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_reseed(disk: *mut SsdlabDisk, seed: u64) {
    // SAFETY: a disk of ours.
    unsafe { of(disk) }.reseed(seed);
}

/// Writes whole sectors of 512 bytes; they are not durable yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_write(
    disk: *mut SsdlabDisk,
    offset: u64,
    from: *const u8,
    len: usize,
) -> SsdlabStatus {
    // SAFETY: a disk of ours, and the caller's bytes.
    status(unsafe { of(disk).write(offset, bytes(from, len)) })
}

/// The same with FUA: durable when this returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_write_fua(
    disk: *mut SsdlabDisk,
    offset: u64,
    from: *const u8,
    len: usize,
) -> SsdlabStatus {
    // SAFETY: a disk of ours, and the caller's bytes.
    status(unsafe { of(disk).fua(offset, bytes(from, len)) })
}

/// Reads whole sectors: zeroes where nothing was written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_read(
    disk: *mut SsdlabDisk,
    offset: u64,
    to: *mut u8,
    len: usize,
) -> SsdlabStatus {
    // SAFETY: a disk of ours.
    match unsafe { of(disk) }.read(offset, len) {
        Ok(read) => {
            // SAFETY: the caller has room for `len` bytes.
            unsafe { to.copy_from_nonoverlapping(read.as_ptr(), len) };
            SsdlabStatus::SSDLAB_OK
        }
        Err(error) => status_of(&error),
    }
}

/// Makes every acknowledged write durable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_flush(disk: *mut SsdlabDisk) -> SsdlabStatus {
    // SAFETY: a disk of ours.
    status(unsafe { of(disk) }.flush())
}

/// Trims: whole units of 4 KiB read as zeroes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_trim(
    disk: *mut SsdlabDisk,
    offset: u64,
    len: u64,
) -> SsdlabStatus {
    // SAFETY: a disk of ours.
    status(unsafe { of(disk) }.trim(offset, len))
}

/// Arms a cut after `events` events from now: completions, and ends of NAND operations.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_arm_event(disk: *mut SsdlabDisk, events: u64) {
    // SAFETY: a disk of ours.
    unsafe { of(disk) }.arm(CutAt::Event(events));
}

/// Arms a cut after this number of nanoseconds of the disk's time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_arm_after(disk: *mut SsdlabDisk, nanoseconds: u64) {
    // SAFETY: a disk of ours.
    unsafe { of(disk) }.arm(CutAt::After(Nanos(nanoseconds)));
}

/// Arms a cut in the middle of the nth NAND program or erase from now, from 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_arm_program(disk: *mut SsdlabDisk, nth: u64) {
    // SAFETY: a disk of ours.
    unsafe { of(disk) }.arm(CutAt::Program(nth));
}

/// Arms a cut inside the next recovery, after this share of it in thousandths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_arm_recovery(disk: *mut SsdlabDisk, share: u16) {
    // SAFETY: a disk of ours.
    unsafe { of(disk) }.arm(CutAt::Recovery(share));
}

/// Cuts the power now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_cut(disk: *mut SsdlabDisk) -> SsdlabStatus {
    // SAFETY: a disk of ours.
    status(unsafe { of(disk) }.cut())
}

/// Judges a recovery: SSDLAB_BROKEN if a promise was not kept.
pub(crate) fn judged(report: Result<RecoveryReport, CrashError>, broken: *mut u64) -> SsdlabStatus {
    match report {
        Ok(report) => {
            // SAFETY: the caller's pointer, or null.
            unsafe { put(broken, report.broken.len() as u64) };
            if report.is_kept() {
                return SsdlabStatus::SSDLAB_OK;
            }
            keep(&report.to_string());
            SsdlabStatus::SSDLAB_BROKEN
        }
        Err(error) => status_of(&error),
    }
}

/// Switches the power on and holds the drive against its promises; `broken` gets the number that
/// were not kept, and may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_power_on(
    disk: *mut SsdlabDisk,
    broken: *mut u64,
) -> SsdlabStatus {
    // SAFETY: a disk of ours.
    judged(unsafe { of(disk) }.power_on(), broken)
}

/// Whether the disk has power.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_is_on(disk: *const SsdlabDisk) -> bool {
    // SAFETY: a disk of ours.
    unsafe { &*disk }.0.is_on()
}

/// The ledger: number of the write that a sector holds now; 0: none. Commands count from 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_holds(disk: *const SsdlabDisk, sector: u64) -> u64 {
    // SAFETY: a disk of ours.
    unsafe { &*disk }.0.holds(sector)
}

/// The ledger: number of the oldest write that a sector may hold after a cut now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_promised(disk: *const SsdlabDisk, sector: u64) -> u64 {
    // SAFETY: a disk of ours.
    unsafe { &*disk }.0.promised(sector).0
}

/// The ledger: the writes of which a sector may hold one after a cut now, oldest first, as far as
/// `room` of them go to `to`; returns how many there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssdlab_disk_may_read(
    disk: *const SsdlabDisk,
    sector: u64,
    to: *mut u64,
    room: usize,
) -> usize {
    // SAFETY: a disk of ours.
    let writes = unsafe { &*disk }.0.may_read(sector);
    for (index, &write) in writes.iter().take(room).enumerate() {
        // SAFETY: the caller has room for it.
        unsafe { to.add(index).write(write) };
    }
    writes.len()
}

/// A null pointer in place of a disk.
pub(crate) fn no_disk() -> SsdlabStatus {
    refused("no disk is given", "ssdlab_disk_new() makes one")
}
